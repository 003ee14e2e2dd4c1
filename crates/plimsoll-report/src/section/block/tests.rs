use plimsoll_analysis::summarise;
use plimsoll_analysis::summary::Verdict;
use plimsoll_record::fixture;
use plimsoll_record::message::DoctorFinding;
use plimsoll_record::{DiagnosisLevel, Record};

use super::super::doctor;
use super::*;
use crate::chart::{BarChart, DrawnChart, LineChart, PointMark};
use crate::run::page;
use crate::table::Grid;

/// A run about media alone.
fn only_blocks() -> (Record, Summary) {
    let mut record = fixture::nothing_measured();
    record.points.clear();
    record.seconds.clear();
    record.checks.clear();
    (record.run.command, record.plan_written) =
        ("plimsoll run plans/media.toml".to_owned(), String::new());
    let mut summary = summarise(&record);
    (summary.figures.blocks, summary.figures.diagnoses) = (made::blocks(), made::diagnoses());
    (record, summary)
}

fn cells(grid: &Grid) -> Vec<Vec<&str>> {
    grid.rows
        .iter()
        .map(|row| row.cells.iter().map(|cell| cell.text.as_str()).collect())
        .collect()
}

fn header(grid: &Grid) -> Vec<&str> {
    grid.header.iter().map(|cell| cell.text.as_str()).collect()
}

fn step(index: usize) -> ReportSection {
    sections(&Messages::english(), &only_blocks().1, NO_MEDIA).swap_remove(index)
}

/// All blocks on a page, also within others.
fn blocks(section: &ReportSection) -> Vec<&ReportBlock> {
    let mut all = Vec::new();
    section
        .on_page()
        .for_each(|block| add_with_inner(block, &mut all));
    all
}

fn add_with_inner<'a>(block: &'a ReportBlock, all: &mut Vec<&'a ReportBlock>) {
    all.push(block);
    if let ReportBlock::Group { blocks, .. } | ReportBlock::Details { blocks, .. } = block {
        blocks.iter().for_each(|block| add_with_inner(block, all));
    }
}

/// The table with this label.
fn grid<'a>(section: &'a ReportSection, label: &str) -> Option<&'a Grid> {
    let mut blocks = blocks(section).into_iter();
    blocks.find_map(|block| match block {
        ReportBlock::Table {
            label: own, grid, ..
        } if own == label => Some(grid),
        _ => None,
    })
}

/// Of charts of this kind.
fn titles<'a>(section: &'a ReportSection, kind: &str) -> Vec<&'a str> {
    let blocks = blocks(section).into_iter();
    let titles = blocks.filter_map(|block| match block {
        ReportBlock::Chart(chart) if chart.name == kind => Some(chart.title.as_str()),
        _ => None,
    });
    titles.collect()
}

/// Paragraphs of this style.
fn texts<'a>(section: &'a ReportSection, style: &str) -> Vec<&'a str> {
    let blocks = blocks(section).into_iter();
    let texts = blocks.filter_map(|block| match block {
        ReportBlock::Text { class, text } if class.starts_with(style) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

const NO_MEDIA: MediumColors<'_> = MediumColors { media: &[] };
const CORNERS: &str = "Block I/O: corners (corners)";
const ROUNDS: &str = "Rounds until steady";
const FSYNC: &str = "Durable writes by number of writers";
const WORKERS: &str = "Workers";

/// Charts of this kind.
fn charts<'a>(section: &'a ReportSection, kind: &str) -> Vec<&'a DrawnChart> {
    let blocks = blocks(section).into_iter();
    let charts = blocks.filter_map(|block| match block {
        ReportBlock::Chart(chart) if chart.name == kind => Some(&chart.drawn),
        _ => None,
    });
    charts.collect()
}

fn lines<'a>(section: &'a ReportSection, kind: &str, place: usize) -> &'a LineChart {
    match charts(section, kind)[place] {
        DrawnChart::Lines(lines) => lines,
        DrawnChart::Bars(_) => panic!("{kind}: bars"),
    }
}

fn bars(section: &ReportSection, place: usize) -> &BarChart {
    match charts(section, "block-bars")[place] {
        DrawnChart::Bars(bars) => bars,
        DrawnChart::Lines(_) => panic!("lines"),
    }
}

#[test]
fn a_run_of_block_io_alone_has_no_sections_on_transactions() {
    let (record, summary) = only_blocks();
    let html = page(&record, &summary, "");
    let (before, after) = html
        .split_once("<script type=\"application/json\"")
        .unwrap();
    for word in ["transaction", "TPC", "NOPM", "Consistency", "committed"] {
        assert!(!before.contains(word), "{word}");
    }
    assert!(before.contains("Emulated drive: Kingston DC1500M 960 GB"));
    assert!(
        !before.contains("data-chart=\"throughput\"")
            && !before.contains("NaN")
            && !after.contains("NaN")
    );
}

#[test]
fn where_transactions_were_run_too_theirs_is_the_headline() {
    let record = fixture::record();
    let mut summary = summarise(&record);
    summary.figures.blocks = made::blocks();
    let html = page(&record, &summary, "");
    assert!(html.contains("class=\"sentence\""));
    assert!(
        html.contains("data-chart=\"throughput\"") && html.contains("Block I/O: corners (corners)")
    );
    assert!(html.find("data-chart=\"block-bars\"") < html.find("data-chart=\"nopm\""));
}

#[test]
fn media_stand_side_by_side_with_their_ratios() {
    let corners = step(0);
    let jobs = grid(&corners, CORNERS).unwrap();
    let lines: Vec<String> = [header(jobs)]
        .into_iter()
        .chain(cells(jobs))
        .map(|row| row.join(" | "))
        .collect();
    insta::assert_snapshot!(lines[..7].join("\n"), @r"
    Job | Medium | IOPS | ± % | MB/s | Ratio | Ratio, 95 % | Mean, µs | p99, µs | Mean latency ratio | Verdict
    RND4K Q32T1 read | nvme (emulated) | 480,000 | 3.7 | 1,970 | – | – | 398 | 4,530 | – | valid
    RND4K Q32T1 read | sata | 101,000 | 3.7 | 413 | 0.210 | 0.197 to 0.223 | 1,890 | 21,600 | 4.76 | valid
    RND4K Q32T1 read | disk (emulated) | 1,920 | 3.8 | 7.86 | 0.00400 | 0.00376 to 0.00424 | 99,500 | 1,130,000 | 250 | valid
    RND4K Q32T1 write | nvme (emulated) | 150,000 | 3.8 | 614 | – | – | 1,270 | 14,500 | – | valid
    RND4K Q32T1 write | sata | 31,500 | 3.7 | 129 | 0.210 | 0.197 to 0.223 | 6,060 | 69,100 | 4.76 | valid
    RND4K Q32T1 write | disk (emulated) | 600 | 3.8 | 2.46 | – | – | 318,000 | 3,630,000 | – | invalid
    ");
    // Invalid jobs have no ratio, and are marked.
    let disk = &jobs.rows[5];
    assert_eq!(
        disk.cells
            .last()
            .map(|cell| (cell.text.as_str(), cell.class.as_str())),
        Some(("invalid", "invalid"))
    );
    assert_eq!(
        jobs.rows.iter().filter(|row| row.class == "group").count(),
        4
    );
    assert_eq!(texts(&corners, "emulated").len(), 2);
}

#[test]
fn one_medium_has_no_ratios_and_no_column_of_its_own() {
    let mut summary = only_blocks().1;
    summary.figures.blocks[0].media.truncate(1);
    let corners = sections(&Messages::english(), &summary, NO_MEDIA).swap_remove(0);
    assert_eq!(
        header(grid(&corners, CORNERS).unwrap()),
        [
            "Job",
            "IOPS",
            "±\u{a0}%",
            "MB/s",
            "Mean, µs",
            "p99, µs",
            "Verdict"
        ]
    );
    assert!(
        texts(&corners, "note")
            .iter()
            .all(|note| !note.contains("Ratio"))
    );
    assert_eq!(titles(&corners, "block-latency-time")[0], "Latency");
}

#[test]
fn jobs_that_differ_in_size_or_depth_alone_are_drawn_by_it() {
    let sweep = step(1);
    let bars = titles(&sweep, "block-bars");
    assert_eq!(bars.len(), 2 * (3 + 4));
    assert_eq!(bars[0], "IOPS by request size: random writes, Q1T1");
    assert_eq!(bars[7], "MB/s by depth: random writes of 512 B");
    assert_eq!(
        titles(&step(0), "block-bars"),
        ["IOPS by job", "MB/s by job"]
    );
    let sizes = self::bars(&sweep, 0);
    assert_eq!(sizes.categories, ["512 B", "4 KiB", "16 KiB", "128 KiB"]);
    // Median, ends of the interval, usable: the disk's random writes are not.
    let corners = step(0);
    let by_job = self::bars(&corners, 0);
    let first = by_job.groups[0].bars[0].as_ref().unwrap();
    assert_eq!(
        (first.value, first.range),
        (480_000.0, Some([460_800.0, 496_800.0]))
    );
    assert!(first.flaw.is_none());
    assert!(by_job.groups[2].bars[1].as_ref().unwrap().flaw.is_some());
}

#[test]
fn a_curve_goes_by_the_rate_that_was_achieved() {
    let corners = step(0);
    assert_eq!(
        titles(&corners, "block-curve"),
        ["RND4K Q32T1 read", "SEQ128K Q8T1 read"]
    );
    assert_eq!(
        grid(&corners, "Latency against throughput")
            .unwrap()
            .rows
            .len(),
        2 * 3 * 11
    );
    // Sequential: MB/s. Random: IOPS. Offered 120 %, achieved 98.5 %.
    let random = lines(&corners, "block-curve", 0);
    let sequential = lines(&corners, "block-curve", 1);
    assert_eq!(
        (random.x.name.as_str(), sequential.x.name.as_str()),
        ("IOPS", "MB/s")
    );
    // Of each medium its curve and full speed, by mean and by p99.
    let (sata, full) = (&random.lines[4], &random.lines[5]);
    assert_eq!((sata.x[10], full.x[0]), (99_290.0, 100_800.0));
    assert_eq!(sata.marks[9..], [PointMark::Full, PointMark::Hollow]);
    assert!(sata.tips[10].starts_with("sata 120 % offered"));
    assert!(full.tips[0].starts_with("sata full speed"));
}

#[test]
fn rounds_that_do_not_become_steady_are_marked() {
    let sweep = step(1);
    let outcomes = texts(&sweep, "outcome");
    assert_eq!(
        outcomes[0],
        "nvme (emulated): steady with round 8. Figures are those of rounds 4 to 8."
    );
    assert_eq!(
        texts(&sweep, "outcome doubtful")[0],
        "sata: STEADY STATE NOT REACHED after 25 rounds (at most 25)."
    );
    assert_eq!(
        titles(&sweep, "block-rounds")[1],
        "random write 512 B Q1 · sata: not steady"
    );
    let rounds = cells(grid(&sweep, ROUNDS).unwrap());
    assert_eq!(
        rounds[1][..4],
        ["random write 512 B Q1", "sata", "25", "21 to 25"]
    );
    assert_eq!(rounds[1][7], "no");
    let chart = lines(&sweep, "block-rounds", 0);
    let window = &chart.ground.areas[0];
    assert_eq!((window.from, window.to), (4.0, 8.0));
    // Ten percent to both sides of the mean: the range allowed is twenty.
    let [low, high] = [2, 3].map(|line: usize| chart.lines[line].y[0].unwrap());
    assert!((high / low - 1.1 / 0.9).abs() < 1e-3);
    assert!(grid(&step(0), ROUNDS).is_none());
}

#[test]
fn rounds_too_few_for_a_window_are_drawn_without_one() {
    let mut summary = only_blocks().1;
    let job = summary.figures.blocks[1].media[0]
        .rounds
        .as_mut()
        .map(|rounds| &mut rounds.jobs[0])
        .unwrap();
    (job.fit, job.iops) = (None, vec![5.0, 4.0]);
    let sweep = sections(&Messages::english(), &summary, NO_MEDIA).swap_remove(1);
    assert_eq!(
        cells(grid(&sweep, ROUNDS).unwrap())[0][2..],
        ["2", "–", "–", "–", "–", "–"]
    );
}

#[test]
fn writers_count_over_all_workers() {
    let mut summary = only_blocks().1;
    summary.figures.blocks[2]
        .media
        .iter_mut()
        .for_each(|medium| medium.workers = 2);
    summary.figures.blocks[2].media[0].jobs.reverse();
    let writers = sections(&Messages::english(), &summary, NO_MEDIA).swap_remove(2);
    let fsync = grid(&writers, FSYNC).unwrap();
    let writers: Vec<&str> = cells(fsync).iter().map(|row| row[2]).collect();
    assert_eq!(
        writers,
        [
            "2", "2", "2", "4", "4", "4", "8", "8", "8", "16", "16", "16", "32", "32", "32"
        ]
    );
    assert_eq!(
        cells(fsync)[0][..6],
        [
            "fsync, 1 writers",
            "nvme (emulated)",
            "2",
            "fdatasync, each write",
            "5,250",
            "5,250"
        ]
    );
    assert!(grid(&step(0), FSYNC).is_none());
}

#[test]
fn workers_have_their_sum_and_their_ends() {
    let corners = step(0);
    let workers = grid(&corners, WORKERS).unwrap();
    let each = grid(&corners, "Each worker").unwrap();
    let expected = [
        "RND4K Q32T1 read",
        "nvme (emulated)",
        "6",
        "480,000",
        "1,970",
        "76,000",
        "84,000",
        "4.2",
        "1,900",
        "2,110",
    ];
    assert_eq!(cells(workers)[0], expected);
    assert_eq!(each.rows.len(), 4 * 3 * 6);
    assert_eq!(cells(each)[5][..3], ["RND4K Q32T1 read", "nvme", "6"]);
    assert!(grid(&step(2), WORKERS).is_none());
}

#[test]
fn seconds_of_rounds_and_rates_follow_each_other() {
    let corners = step(0);
    let chart = lines(&corners, "block-iops-time", 0);
    let ends: Vec<(f64, f64, &str)> = slots(chart);
    assert_eq!(ends.len(), 12);
    assert_eq!(ends[0], (0.0, 18.0, "full"));
    assert_eq!(ends[11], (198.0, 216.0, "120 %"));
    let warm = chart
        .ground
        .areas
        .iter()
        .find(|area| area.is_shaded)
        .unwrap();
    assert_eq!((warm.from, warm.to), (0.0, 3.0));
    let line = &chart.lines[0];
    // A break between one and the next, and where nothing ended in a second.
    assert_eq!((line.x[18], line.y[18], line.x[19]), (18.0, None, 19.0));
    assert!(line.y[6].unwrap() > 0.0);
    let latency = lines(&corners, "block-latency-time", 0);
    assert_eq!(latency.lines[0].y[6], None);
    assert_eq!(slots(lines(&step(1), "block-iops-time", 0)).len(), 25);
    let open = |section: &ReportSection| {
        let blocks = blocks(section).into_iter();
        let open =
            blocks.filter(|block| matches!(block, ReportBlock::Details { is_open: true, .. }));
        open.count()
    };
    assert_eq!((open(&step(0)), open(&step(1))), (4, 0));
}

/// Rounds and rates: begin, end and name.
fn slots(chart: &LineChart) -> Vec<(f64, f64, &str)> {
    let areas = chart.ground.areas.iter().filter(|area| !area.is_shaded);
    areas
        .map(|area| (area.from, area.to, area.title.as_str()))
        .collect()
}

#[test]
fn a_missing_second_breaks_the_line() {
    let mut summary = only_blocks().1;
    summary.figures.blocks[0].media[0].jobs[1].points[0]
        .seconds
        .remove(10);
    let corners = sections(&Messages::english(), &summary, NO_MEDIA).swap_remove(0);
    let line = &lines(&corners, "block-iops-time", 1).lines[0];
    assert_eq!((line.x[10], line.y[10]), (11.0, None));
    assert_eq!(line.x.len(), 18);
}

#[test]
fn whatever_is_missing_of_block_io_the_rest_is_shown() {
    let spoils: [fn(&mut BlockSummary); 9] = [
        |step| step.media.clear(),
        |step| step.media.iter_mut().for_each(|medium| medium.jobs.clear()),
        |step| step.media[0].jobs.clear(),
        |step| {
            let jobs = step.media.iter_mut().flat_map(|medium| &mut medium.jobs);
            jobs.for_each(|job| (job.figures, job.typical) = (None, None));
        },
        |step| {
            step.media
                .iter_mut()
                .flat_map(|medium| &mut medium.jobs)
                .for_each(|job| job.points.clear())
        },
        |step| {
            step.media
                .iter_mut()
                .flat_map(|medium| &mut medium.jobs)
                .for_each(|job| job.streams.clear())
        },
        |step| step.media[0].jobs[0].points[0].by_op.clear(),
        |step| step.media[0].jobs[0].points[0].seconds.clear(),
        |step| {
            step.media
                .iter_mut()
                .flat_map(|medium| &mut medium.jobs)
                .for_each(|job| job.verdict = Verdict::Invalid)
        },
    ];
    for (i, spoil) in spoils.into_iter().enumerate() {
        let (record, mut summary) = only_blocks();
        summary.figures.blocks.iter_mut().for_each(spoil);
        let html = page(&record, &summary, "");
        assert!(
            html.contains("Block I/O: fsync (fsync)") && !html.contains("NaN"),
            "{i}"
        );
    }
}

#[test]
fn the_doctor_marks_levels_by_sign_and_text_the_worst_first() {
    let m = Messages::english();
    let (record, mut summary) = only_blocks();
    let section = doctor::section(&m, &summary).unwrap();
    let findings = cells(grid(&section, "Doctor: checks before the load").unwrap());
    let levels: Vec<&str> = findings.iter().map(|row| row[0]).collect();
    assert_eq!(levels, ["✕ error", "! warning", "? unknown"]);
    assert!(
        cells(grid(&section, "Checks passed").unwrap())
            .iter()
            .all(|row| row[0] == "✓ ok")
    );
    assert_eq!(
        texts(&section, "")[0],
        "Errors: 1; warnings: 1; not evaluated: 1; passed: 3."
    );
    assert_eq!(findings[1][1..3], ["Machine", "steal"]);
    summary
        .figures
        .diagnoses
        .retain(|found| found.diagnosis.level == DiagnosisLevel::Ok);
    let html = page(&record, &summary, "");
    assert!(html.contains("Checks passed") && html.contains("passed: 3."));
    summary.figures.diagnoses.clear();
    assert!(!page(&record, &summary, "").contains("checks before the load"));
}

#[test]
fn nothing_that_media_or_jobs_are_called_breaks_the_page() {
    let (record, mut summary) = only_blocks();
    let evil = "</script><script>alert(1)</script>\"'&";
    for step in &mut summary.figures.blocks {
        (step.step, step.workload, step.profile) = (evil.into(), evil.into(), evil.into());
        for medium in &mut step.media {
            (medium.medium, medium.drive) = (evil.into(), Some(evil.into()));
            for job in &mut medium.jobs {
                job.job = evil.into();
                job.streams
                    .iter_mut()
                    .for_each(|stream| stream.access = evil.into());
            }
        }
    }
    summary.figures.diagnoses.iter_mut().for_each(|found| {
        found.diagnosis.code = evil.into();
        found.diagnosis.finding = DoctorFinding::TooSmallToRead {
            path: evil.into(),
            block_bytes: 4096,
        };
    });
    let html = page(&record, &summary, "");
    assert!(!html.contains("<script>alert"));
    assert_eq!(html.matches("</script>").count(), 2);
}
