//! What snapshots of whole pages do not show: other media, sweeps, and what is missing.

use plimsoll_analysis::summarise;
use plimsoll_analysis::summary::{BlockSummary, Verdict};
use plimsoll_record::message::DoctorFinding;
use plimsoll_record::{DiagnosisLevel, Record, fixture};

use super::super::doctor;
use super::*;
use crate::chart::{DrawnChart, LineChart, ScriptChart};
use crate::run::page;
use crate::table::Grid;

const NO_MEDIA: MediumColors<'_> = MediumColors { media: &[] };
const CORNERS: &str = "Block I/O: corners (four)";

/// A run about media alone.
fn run() -> (Record, Summary) {
    let record = fixture::block();
    let summary = summarise(&record);
    (record, summary)
}

/// The section of a step that `change` changes.
fn changed(place: usize, change: impl FnOnce(&mut BlockSummary)) -> ReportSection {
    let mut summary = run().1;
    change(&mut summary.figures.blocks[place]);
    sections(&Messages::english(), &summary, NO_MEDIA).swap_remove(place)
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
fn grid<'a>(section: &'a ReportSection, label: &str) -> &'a Grid {
    let mut blocks = blocks(section).into_iter();
    let found = blocks.find_map(|block| match block {
        ReportBlock::Table {
            label: own, grid, ..
        } if own == label => Some(grid),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no table {label}"))
}

fn cells(grid: &Grid) -> Vec<Vec<&str>> {
    let rows = grid.rows.iter();
    rows.map(|row| row.cells.iter().map(|cell| cell.text.as_str()).collect())
        .collect()
}

/// Charts of this kind.
fn charts<'a>(section: &'a ReportSection, kind: &str) -> Vec<&'a ScriptChart> {
    let blocks = blocks(section).into_iter();
    let charts = blocks.filter_map(|block| match block {
        ReportBlock::Chart(chart) if chart.name == kind => Some(chart),
        _ => None,
    });
    charts.collect()
}

fn lines<'a>(section: &'a ReportSection, kind: &str) -> &'a LineChart {
    match &charts(section, kind)[0].drawn {
        DrawnChart::Lines(lines) => lines,
        DrawnChart::Bars(_) => panic!("{kind}: bars"),
    }
}

#[test]
fn where_transactions_were_run_too_theirs_is_the_headline() {
    let (block_record, block) = run();
    let alone = page(&block_record, &block, "");
    for word in ["TPC", "NOPM", "Consistency", "data-chart=\"throughput\""] {
        assert!(!alone.contains(word), "{word}");
    }
    let record = fixture::record();
    let mut summary = summarise(&record);
    summary.figures.blocks = block.figures.blocks;
    let html = page(&record, &summary, "");
    assert!(html.contains("class=\"sentence\"") && html.contains(CORNERS));
    assert!(html.find("data-chart=\"block-bars\"") < html.find("data-chart=\"nopm\""));
}

#[test]
fn one_medium_has_no_ratios_and_no_column_of_its_own() {
    let corners = changed(0, |step| step.media.truncate(1));
    let header = grid(&corners, CORNERS).header.iter();
    let header: Vec<&str> = header.map(|cell| cell.text.as_str()).collect();
    assert!(
        !header.contains(&"Medium") && !header.contains(&"Ratio"),
        "{header:?}"
    );
    assert_eq!(charts(&corners, "block-latency-time")[0].title, "Latency");
}

#[test]
fn jobs_that_differ_in_size_or_depth_alone_are_drawn_by_it() {
    let sweep = changed(0, |step| {
        for medium in &mut step.media {
            let job = medium.jobs[0].clone();
            let variants = [(4096, 1), (512, 1), (65_536, 1), (4096, 8), (4096, 32)];
            medium.jobs = variants
                .into_iter()
                .zip(0..)
                .map(|((bytes, depth), index)| {
                    let mut job = job.clone();
                    (job.job, job.job_index) = (format!("{bytes} Q{depth}"), index);
                    let stream = &mut job.streams[0];
                    (stream.read_sizes, stream.depth) = (vec![(bytes, 100)], depth);
                    job
                })
                .collect();
        }
    });
    let bars = charts(&sweep, "block-bars");
    let titles: Vec<&str> = bars.iter().map(|chart| chart.title.as_str()).collect();
    assert_eq!(
        titles,
        [
            "IOPS by request size: random reads, Q1T2",
            "MB/s by request size: random reads, Q1T2",
            "IOPS by depth: random reads of 4 KiB",
            "MB/s by depth: random reads of 4 KiB",
        ]
    );
    let categories = bars.iter().map(|chart| match &chart.drawn {
        DrawnChart::Bars(bars) => bars.categories.join(", "),
        DrawnChart::Lines(_) => panic!("lines"),
    });
    let categories: Vec<String> = categories.collect();
    assert_eq!(categories[0], "512 B, 4 KiB, 64 KiB");
    assert_eq!(categories[2], "Q1T2, Q8T2, Q32T2");
}

#[test]
fn rounds_too_few_for_a_window_are_drawn_without_one() {
    let corners = changed(0, |step| {
        let rounds = step.media[0].rounds.as_mut().unwrap();
        (rounds.jobs[0].fit, rounds.jobs[0].iops) = (None, vec![5.0, 4.0]);
    });
    let rounds = cells(grid(&corners, "Rounds until steady"));
    assert_eq!(rounds[0][2..], ["2", "–", "–", "–", "–", "–"]);
    let chart = lines(&corners, "block-rounds");
    assert_eq!((chart.lines.len(), chart.ground.areas.len()), (1, 0));
}

#[test]
fn writers_count_over_all_workers() {
    let syncs = changed(1, |step| {
        step.media[0].workers = 2;
        step.media[0].jobs.reverse();
    });
    let writers = grid(&syncs, "Durable writes by number of writers");
    let writers: Vec<&str> = cells(writers).iter().map(|row| row[1]).collect();
    assert_eq!(writers, ["2", "10"]);
}

#[test]
fn a_missing_second_breaks_the_line() {
    let gaps = |section: &ReportSection| {
        let line = &lines(section, "block-iops-time").lines[0];
        line.y.iter().filter(|value| value.is_none()).count()
    };
    let whole = changed(0, |_| {});
    let broken = changed(0, |step| {
        step.media[0].jobs[0].points[0].seconds.remove(3);
    });
    assert_eq!(gaps(&broken), gaps(&whole) + 1);
}

#[test]
fn whatever_is_missing_of_block_io_the_rest_is_shown() {
    let spoils: [fn(&mut BlockMedium); 7] = [
        |medium| medium.jobs.clear(),
        |medium| {
            let jobs = medium.jobs.iter_mut();
            jobs.for_each(|job| (job.figures, job.typical) = (None, None));
        },
        |medium| medium.jobs.iter_mut().for_each(|job| job.points.clear()),
        |medium| medium.jobs.iter_mut().for_each(|job| job.streams.clear()),
        |medium| medium.jobs[0].points[0].by_op.clear(),
        |medium| medium.jobs[0].points[0].seconds.clear(),
        |medium| {
            let jobs = medium.jobs.iter_mut();
            jobs.for_each(|job| job.verdict = Verdict::Invalid);
        },
    ];
    for (i, spoil) in spoils.into_iter().enumerate() {
        let (record, mut summary) = run();
        let media = summary.figures.blocks.iter_mut();
        media.flat_map(|step| &mut step.media).for_each(spoil);
        let html = page(&record, &summary, "");
        assert!(html.contains(CORNERS) && !html.contains("NaN"), "{i}");
    }
    let (record, mut summary) = run();
    let steps = summary.figures.blocks.iter_mut();
    steps.for_each(|step| step.media.clear());
    assert!(page(&record, &summary, "").contains(CORNERS));
}

#[test]
fn the_doctor_marks_levels_by_sign_and_text_the_worst_first() {
    let m = Messages::english();
    let (record, mut summary) = run();
    let section = doctor::section(&m, &summary).unwrap();
    let findings = cells(grid(&section, "Doctor: checks before the load"));
    let signs: Vec<char> = findings
        .iter()
        .filter_map(|row| row[0].chars().next())
        .collect();
    let rank = |sign: &char| "✕!?".find(*sign);
    assert!(
        !signs.is_empty() && signs.is_sorted_by_key(rank),
        "{signs:?}"
    );
    let passed = cells(grid(&section, "Checks passed"));
    assert!(passed.iter().all(|row| row[0] == "✓ ok"));
    summary
        .figures
        .diagnoses
        .retain(|found| found.diagnosis.level == DiagnosisLevel::Ok);
    assert!(page(&record, &summary, "").contains("Checks passed"));
    summary.figures.diagnoses.clear();
    assert!(!page(&record, &summary, "").contains("checks before the load"));
}

#[test]
fn nothing_that_media_or_jobs_are_called_breaks_the_page() {
    let (record, mut summary) = run();
    let evil = "</script><script>alert(1)</script>\"'&";
    for step in &mut summary.figures.blocks {
        (step.step, step.workload, step.profile) = (evil.into(), evil.into(), evil.into());
        for medium in &mut step.media {
            (medium.medium, medium.drive) = (evil.into(), Some(evil.into()));
            for job in &mut medium.jobs {
                job.job = evil.into();
                let streams = job.streams.iter_mut();
                streams.for_each(|stream| stream.access = evil.into());
            }
        }
    }
    for found in &mut summary.figures.diagnoses {
        found.diagnosis.code = evil.into();
        found.diagnosis.finding = DoctorFinding::TooSmallToRead {
            path: evil.into(),
            block_bytes: 4096,
        };
    }
    let html = page(&record, &summary, "");
    assert!(!html.contains("<script>alert"));
    assert_eq!(html.matches("</script>").count(), 2);
}
