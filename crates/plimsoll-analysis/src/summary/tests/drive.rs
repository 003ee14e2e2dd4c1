//! Emulated drives, and media side by side.

use super::cut::{cut, receipt};
use super::*;
use crate::summarise;
use plimsoll_record::drive::DriveOp;
use plimsoll_record::message::EventKind;
use plimsoll_record::metric::Metric;
use plimsoll_record::{DEVICE_FACT, DriveRow, Fact, Sample, Series, Subject, SubjectKind};

const MEDIUM: SubjectId = SubjectId(4);

/// Ten steady seconds from 1 s on, on an emulated drive that reports each of them: 100 reads of 200 µs, `late_us` late.
pub(super) fn emulated(late_us: u64) -> Record {
    let mut record = by_hand(&[(orders(10, 0), 0); 10]);
    let fact = |key: &str, value: &str| Fact {
        subject: MEDIUM,
        key: key.into(),
        value: value.into(),
    };
    record.facts = vec![
        fact(DRIVE_FACT, "example"),
        fact(DRIVE_TITLE_FACT, "Example 1 TB"),
    ];
    record.drive = (0..12)
        .map(|s| {
            row(
                DriveOp::Read,
                Nanos::from_millis(400 + s * 1000),
                100,
                200,
                late_us,
            )
        })
        .collect();
    record
}

fn row(op: DriveOp, start: Nanos, ops: u64, modelled_us: u64, late_us: u64) -> DriveRow {
    let hist = |us: u64| {
        let mut hist = Hist::new();
        (0..ops).for_each(|_| hist.record(Nanos::from_micros(us)));
        hist.coarse()
    };
    DriveRow {
        subject: MEDIUM,
        start,
        end: start + Nanos::SECOND,
        op,
        ops,
        bytes: ops * 4096,
        errors: 0,
        modelled: hist(modelled_us),
        real: hist(modelled_us + late_us),
        late: hist(late_us),
        beyond: 0,
    }
}

pub(super) fn verdict(record: &Record) -> (Vec<String>, Verdict) {
    let point = only(record);
    (kinds(&point), point.verdict)
}

#[test]
fn a_drive_that_keeps_up_has_figures_and_no_findings() {
    let mut record = emulated(4);
    record
        .drive
        .push(row(DriveOp::Flush, Nanos::from_millis(1400), 30, 900, 9));
    let point = only(&record);
    assert_eq!((kinds(&point), point.verdict), (Vec::new(), Verdict::Valid));
    let drive = point.drive.unwrap();
    assert_eq!(
        (drive.drive.as_str(), drive.reported_s),
        ("Example 1 TB", 10.0)
    );
    let [read, flush] = drive.ops.as_slice() else {
        panic!("{:?}", drive.ops)
    };
    // The rows from 1.4 s to 10.4 s lie in the window by more than half; the first and the last do not.
    assert_eq!((read.op, read.ops, read.errors), (DriveOp::Read, 1000, 0));
    assert_eq!(
        (read.per_second, read.mb_per_second),
        (Some(100.0), Some(0.4096))
    );
    let (modelled, real) = (read.modelled.unwrap(), read.real.unwrap());
    assert_eq!((modelled.mean_us, real.mean_us), (200.0, 204.0));
    assert!(
        (modelled.p50_us / 200.0 - 1.0).abs() < 0.032 && (real.p99_us / 204.0 - 1.0).abs() < 0.032
    );
    assert!(
        (read.late_p50_us.unwrap() - 4.0).abs() < 0.13
            && (read.late_percent.unwrap() - 2.0).abs() < 0.1
    );
    assert_eq!(
        (read.beyond_percent, read.kept_up()),
        (Some(0.0), Some(true))
    );
    assert_eq!(
        (flush.ops, flush.kept_up()),
        (30, None),
        "30 flushes are too few to evaluate"
    );
    assert_eq!(
        summarise(&record).figures.ladders[0].drive.as_deref(),
        Some("Example 1 TB")
    );
}

#[test]
fn a_median_lateness_of_more_than_a_tenth_is_emulated() {
    assert_eq!(verdict(&emulated(18)), (vec![], Verdict::Valid), "9 %");
    assert_eq!(
        verdict(&emulated(24)),
        (vec!["emulated".to_owned()], Verdict::Invalid),
        "12 %"
    );
    let point = only(&emulated(24));
    let FindingKind::Emulated {
        op,
        ops,
        late_percent,
        ..
    } = &point.findings[0].kind
    else {
        panic!()
    };
    assert_eq!((*op, *ops), (DriveOp::Read, 1000));
    assert!((late_percent - 12.0).abs() < 0.8, "{late_percent}");
}

#[test]
fn more_than_one_in_a_hundred_beyond_is_emulated() {
    let mut record = emulated(4);
    record.drive.iter_mut().for_each(|row| row.beyond = 1);
    assert_eq!(verdict(&record).1, Verdict::Valid, "1 % is what is allowed");
    record.drive[5].beyond = 2;
    assert_eq!(
        verdict(&record),
        (vec!["emulated".to_owned()], Verdict::Doubtful),
        "it adds 2 %"
    );
}

#[test]
fn each_kind_is_evaluated_by_itself() {
    let mut record = emulated(4);
    let late = |s: u64| {
        row(
            DriveOp::Write,
            Nanos::from_millis(400 + s * 1000),
            40,
            30,
            6,
        )
    };
    record.drive.extend((0..12).map(late));
    let point = only(&record);
    let FindingKind::Emulated { op, ops, .. } = &point.findings[0].kind else {
        panic!("{:?}", point.findings)
    };
    assert_eq!((point.findings.len(), *op, *ops), (1, DriveOp::Write, 400));
}

/// Acknowledgements of a disk's write cache, beside flushes that wait for the platter.
#[test]
fn late_answers_weigh_as_much_as_the_time_they_add() {
    let evaluated = |writes: u64| {
        let mut record = emulated(0);
        record.drive = (0..12)
            .flat_map(|s| {
                let at = Nanos::from_millis(400 + s * 1000);
                [
                    row(DriveOp::Write, at, writes, 100, 30),
                    row(DriveOp::Flush, at, 50, 10_000, 100),
                ]
            })
            .collect();
        let point = only(&record);
        let added = point.drive.unwrap().ops[0].added_percent.unwrap();
        (
            kinds(&only(&record)),
            point.verdict,
            (added * 100.0).round() / 100.0,
        )
    };
    let emulated = vec!["emulated".to_owned()];
    // 100 x 30 us of 100 x 100 us + 50 x 10 ms.
    assert_eq!(evaluated(100), (emulated.clone(), Verdict::Valid, 0.59));
    assert_eq!(evaluated(300), (emulated.clone(), Verdict::Doubtful, 1.7));
    assert_eq!(evaluated(1500), (emulated, Verdict::Invalid, 6.92));
}

#[test]
fn what_is_not_late_is_not_a_microsecond_late() {
    // Histograms begin at a microsecond, which is more than a tenth of 8.
    let mut record = emulated(0);
    record.drive = (0..12)
        .map(|s| {
            row(
                DriveOp::Write,
                Nanos::from_millis(400 + s * 1000),
                100,
                8,
                0,
            )
        })
        .collect();
    assert_eq!(verdict(&record), (vec![], Verdict::Valid));
    assert_eq!(only(&record).drive.unwrap().ops[0].late_p50_us, Some(0.0));
}

#[test]
fn silence_is_never_a_pass() {
    let mut record = emulated(4);
    record.drive.remove(5);
    assert_eq!(
        verdict(&record),
        (vec!["emulation_unreported".to_owned()], Verdict::Doubtful)
    );
    let point = only(&record);
    let FindingKind::EmulationUnreported {
        missing_s,
        measured_s,
        ..
    } = point.findings[0].kind
    else {
        panic!()
    };
    assert_eq!((missing_s, measured_s), (1.0, 10.0));
    record.drive.clear();
    assert_eq!(
        verdict(&record),
        (vec!["emulation_unreported".to_owned()], Verdict::Doubtful)
    );
    record.facts.clear();
    assert_eq!(
        verdict(&record),
        (vec![], Verdict::Valid),
        "no fact names an emulated drive"
    );
}

#[test]
fn a_drive_with_few_operations_is_not_evaluated() {
    let mut record = emulated(100);
    record.drive = (0..12)
        .map(|s| {
            row(
                DriveOp::Read,
                Nanos::from_millis(400 + s * 1000),
                29,
                200,
                100,
            )
        })
        .collect();
    assert_eq!(
        verdict(&record),
        (vec!["emulated".to_owned()], Verdict::Invalid),
        "few, but they matter"
    );
    record.drive = (0..12)
        .map(|s| {
            row(
                DriveOp::Read,
                Nanos::from_millis(400 + s * 1000),
                29,
                200,
                2,
            )
        })
        .collect();
    assert_eq!(
        verdict(&record),
        (vec!["emulation_too_few".to_owned()], Verdict::Valid)
    );
    record.drive = (0..12)
        .map(|s| row(DriveOp::Read, Nanos::from_millis(400 + s * 1000), 0, 1, 1))
        .collect();
    assert_eq!(
        verdict(&record),
        (vec!["emulation_too_few".to_owned()], Verdict::Valid),
        "idle, but reported"
    );
    assert_eq!(only(&record).drive.unwrap().ops, []);
}

#[test]
fn errors_of_a_drive_with_power_are_a_finding() {
    let mut record = emulated(4);
    record.drive[4].errors = 3;
    assert_eq!(
        verdict(&record),
        (vec!["drive_errors".to_owned()], Verdict::Invalid)
    );
}

/// Findings of run and points, without the audit.
fn of_findings(record: &Record) -> Verdict {
    let summary = summarise(record);
    let points = summary
        .figures
        .points()
        .map(|point| point.verdict)
        .max()
        .unwrap_or_default();
    Verdict::of(&summary.figures.findings).max(points)
}

#[test]
fn what_an_emulator_warns_of_weighs_by_when_it_was() {
    let mut record = emulated(4);
    let event = |code: &str, at: u64| Event {
        at: Nanos::from_secs(at),
        subject: Some(MEDIUM),
        severity: Severity::Note,
        kind: EventKind::stored(code, "more than this machine can do"),
    };
    // In the window; and before the point, while the data were loaded.
    let cases = [
        ("saturated", Verdict::Invalid, Verdict::Valid),
        ("backing_slower", Verdict::Invalid, Verdict::Doubtful),
        ("backing_full", Verdict::Invalid, Verdict::Doubtful),
        ("checkpoint", Verdict::Valid, Verdict::Valid),
    ];
    for (code, measured, loading) in cases {
        record.events = vec![event(code, 5)];
        assert_eq!(of_findings(&record), measured, "{code}");
        record.events = vec![event(code, 0)];
        assert_eq!(of_findings(&record), loading, "{code}");
        assert_eq!(verdict(&record), (vec![], Verdict::Valid), "{code}");
    }
}

#[test]
fn the_emulator_and_the_hosts_view_stand_beside_the_model() {
    let record = fixture::record();
    let summary = summarise(&record);
    let point = &summary.figures.ladders[1].points[0];
    let drive = point.drive.as_ref().unwrap();
    assert_eq!(drive.drive, "Example Disk 2 TB (7200 rpm)");
    assert_eq!(
        drive.host_read_mean_us,
        point.resources.device_read_latency_ms.map(|ms| ms * 1e3)
    );
    assert_eq!(
        drive.host_write_mean_us,
        point.resources.device_write_latency_ms.map(|ms| ms * 1e3)
    );
    // Writes that carry a flush take both times: they are compared with both.
    let (waiting, r) = (drive.waiting.unwrap(), &point.resources);
    let reads = r.device_reads_per_second.unwrap() * r.device_read_latency_ms.unwrap();
    let writes = r.device_writes_per_second.unwrap() * r.device_write_latency_ms.unwrap();
    assert!(
        (waiting.kernel_ms - reads - writes).abs() < 1e-6,
        "{waiting:?}"
    );
    let of = |op: DriveOp| drive.ops.iter().find(|kind| kind.op == op).unwrap();
    let reported = |op: DriveOp| of(op).real.unwrap().mean_us * of(op).per_second.unwrap() / 1e3;
    let [read, write, flush] = [DriveOp::Read, DriveOp::Write, DriveOp::Flush].map(reported);
    assert!(
        (waiting.emulator_ms - read - write - flush).abs() < 1e-6,
        "{waiting:?}"
    );
    let waited = (reads - read).max(0.0) + (writes - write - flush).max(0.0);
    let modelled: f64 = drive
        .ops
        .iter()
        .map(|kind| kind.modelled.unwrap().mean_us * kind.per_second.unwrap() / 1e3)
        .sum();
    assert!(
        (waiting.added_percent - waited * 100.0 / modelled).abs() < 1e-6,
        "{waiting:?}"
    );
    let own = |metric: &str| {
        let of = |m: &&MetricMean| {
            m.metric == metric && m.subject_kind == plimsoll_record::SubjectKind::Emulator
        };
        point.metrics.iter().find(of).map(|m| m.mean)
    };
    assert_eq!(drive.emulator_cpu_percent, own("system_cpu"));
    assert_eq!(
        drive.emulator_memory_mb,
        own("system_memory").map(|bytes| bytes / 1e6)
    );
    assert_ne!(
        drive.emulator_cpu_percent,
        point.resources.system_cpu_percent
    );
    assert!(
        summary.figures.ladders[0]
            .points
            .iter()
            .all(|point| point.drive.is_none())
    );
}

#[test]
fn the_fixtures_drive_matches_its_description() {
    let summary = summarise(&fixture::record());
    let [kept_up, too_late, cut] = summary.figures.ladders[1].points.as_slice() else {
        panic!()
    };
    assert_eq!(kept_up.verdict, Verdict::Valid, "{:?}", kept_up.findings);
    assert!(
        kept_up
            .drive
            .as_ref()
            .unwrap()
            .ops
            .iter()
            .any(|op| op.kept_up() == Some(true))
    );
    assert!(
        kinds(too_late).contains(&"emulated".to_owned()),
        "{:?}",
        too_late.findings
    );
    assert_eq!(kinds(cut)[0], "committed_lost");
    assert!(
        !kinds(cut).contains(&"drive_errors".to_owned()),
        "{:?}",
        cut.findings
    );
    assert_eq!(cut.power_cut.as_ref().unwrap().lost, 37);
    assert_eq!(
        summary
            .figures
            .points()
            .filter(|point| point.power_cut.is_some())
            .count(),
        1
    );
}

#[test]
fn a_directory_on_an_emulated_drive_has_no_device_of_the_machine() {
    let mut record = fixture::single_point();
    record.facts.retain(|fact| fact.key != DEVICE_FACT);
    record.subjects.retain(|subject| subject.name != "sda");
    assert_eq!(
        only(&record).resources.device.as_deref(),
        Some("nvme0n1"),
        "the only one there is"
    );
    record.facts.push(Fact {
        subject: MEDIUM,
        key: DRIVE_FACT.into(),
        value: "example".into(),
    });
    assert_eq!(only(&record).resources.device, None);
}

#[test]
fn media_are_compared_at_the_same_load() {
    let mut record = fixture::record();
    // Nothing is wrong with any point.
    record
        .checks
        .iter_mut()
        .for_each(|check| check.holds = true);
    (record.cuts, record.drive, record.events) = (Vec::new(), Vec::new(), Vec::new());
    record.facts.retain(|fact| !fact.key.starts_with("drive"));
    let summary = summarise(&record);
    let [compared] = summary.figures.comparisons.as_slice() else {
        panic!("{:?}", summary.figures.comparisons)
    };
    assert_eq!((compared.step.as_str(), compared.nopm), ("ladder", true));
    let media: Vec<_> = compared
        .media
        .iter()
        .map(|medium| (medium.ladder, medium.medium.as_str()))
        .collect();
    assert_eq!(
        media,
        [(0, "fast"), (1, "slow")],
        "the step `open` ran on one medium only"
    );
    assert_eq!(
        compared
            .loads
            .iter()
            .map(|load| load.load.users)
            .collect::<Vec<_>>(),
        [1, 4, 16]
    );
    let [Some(fast), Some(slow)] = compared.loads[1].figures.as_slice() else {
        panic!()
    };
    assert!(fast.ratios.is_empty());
    let [rate, p99] = [FigureId::Nopm, FigureId::P99];
    let (first, second) = (
        &summary.figures.ladders[0].points[1],
        &summary.figures.ladders[1].points[1],
    );
    assert_eq!(
        (fast.figures.value(rate), slow.figures.value(rate)),
        (first.value(rate), second.value(rate))
    );
    for figure in [rate, p99] {
        let [slow_one, fast_one] = [slow, fast].map(|own| own.figures.value(figure).unwrap());
        let ratio = slow.ratios.get(figure).unwrap().ratio;
        assert_eq!(ratio, slow_one / fast_one);
    }
    assert_eq!(
        slow.figures.value(p99),
        second.types[0]
            .response
            .and_then(|latency| latency.ms(FigureId::P99))
    );
    // An invalid point is shown and compared with nothing.
    record.checks[0].holds = false;
    record.checks[0].point = Some(PointId(2));
    let summary = summarise(&record);
    let [Some(_), Some(slow)] = summary.figures.comparisons[0].loads[1].figures.as_slice() else {
        panic!()
    };
    assert!(slow.ratios.is_empty());
    let [Some(_), Some(slow)] = summary.figures.comparisons[0].loads[2].figures.as_slice() else {
        panic!()
    };
    assert_eq!(
        slow.ratios.get(rate).unwrap().interval,
        None,
        "windows too short for an interval"
    );
}

proptest::proptest! {
    #[test]
    fn drive_rows_of_rubbish_never_panic(
        changes in proptest::collection::vec((0u8..8, proptest::num::u64::ANY), 1..6),
    ) {
        static BASE: LazyLock<Record> = LazyLock::new(|| emulated(4));
        let mut record = BASE.clone();
        record.cuts = vec![cut(9_200, vec![receipt("new_order", 52, 1)])];
        for (which, value) in changes {
            let at = value as usize % record.drive.len();
            match which {
                0 => record.drive[at].start = Nanos(value),
                1 => record.drive[at].end = Nanos(value),
                2 => record.drive.iter_mut().for_each(|row| row.ops = value),
                3 => record.drive.iter_mut().for_each(|row| (row.bytes, row.beyond, row.errors) = (value, value, value)),
                4 => record.cuts[0].at = Nanos(value),
                5 => record.cuts[0].receipts.iter_mut().for_each(|r| (r.lost, r.acknowledged) = (value, value)),
                6 => record.drive[at].subject = SubjectId(value as u32 % 9),
                _ => record.phases[0].end = Nanos(value),
            }
        }
        let summary = summarise(&record);
        let finite = |figure: Option<f64>| figure.is_none_or(f64::is_finite);
        let ops = summary.figures.points().filter_map(|point| point.drive.as_ref()).flat_map(|drive| &drive.ops);
        for op in ops {
            proptest::prop_assert!(finite(op.per_second) && finite(op.late_percent) && finite(op.beyond_percent));
        }
    }
}

/// A series of each second, of a member that writes so many bytes a second.
fn member_series(subject: SubjectId, written: f32) -> [Series; 5] {
    let series = |metric, value| Series {
        subject,
        metric,
        samples: (1..=12)
            .map(|s| Sample {
                at: Nanos::from_secs(s),
                over: Nanos::SECOND,
                value,
            })
            .collect(),
    };
    [
        series(Metric::MemberWriteBytes, written),
        series(Metric::MemberFlashBytes, 2.5 * written),
        series(Metric::MemberQueue, 3.0),
        series(Metric::MemberBusy, 40.0),
        series(Metric::MemberWatts, 5.0),
    ]
}

#[test]
fn members_of_an_array_share_the_wear() {
    let mut record = emulated(0);
    let medium = record.subjects.iter().find(|own| own.id == MEDIUM);
    let medium = medium.unwrap().name.clone();
    // Ten come after two.
    for (n, written) in [(2, 6e6), (10, 4e6)] {
        let id = SubjectId(100 + n);
        record.subjects.push(Subject {
            id,
            kind: SubjectKind::Member,
            name: format!("{n}@{medium}"),
        });
        record.series.extend(member_series(id, written));
    }
    let point = only(&record);
    let rate = point.value(FigureId::Transactions).unwrap();
    let drive = point.drive.unwrap();
    let members = drive.members.iter();
    let shown: Vec<(&str, f64, f64)> = members
        .map(|own| {
            let wear = own.wear_percent.unwrap();
            (own.member.as_str(), own.written_mb_per_second, wear)
        })
        .collect();
    assert_eq!(shown.len(), 3);
    assert_eq!((shown[0].0, shown[1].0, shown[2].0), ("all", "2", "10"));
    assert!((shown[0].1 - 10.0).abs() < 1e-3 && shown[0].2 == 100.0);
    assert!(
        (shown[1].1 - 6.0).abs() < 1e-3 && (shown[1].2 - 60.0).abs() < 1e-3,
        "{shown:?}"
    );
    assert_eq!(drive.members[1].queue, 3.0);
    assert_eq!(drive.members[2].busy_percent, 40.0);
    assert_eq!(drive.members[2].watts, Some(5.0));
    let all = &drive.members[0];
    let joules = all.joules_per_transaction.unwrap();
    assert!((joules - 10.0 / rate).abs() < 1e-9, "{joules}");
    assert_eq!(
        (all.watts, all.queue, all.busy_percent),
        (Some(10.0), 6.0, 40.0)
    );
    assert!((drive.members[2].write_amplification.unwrap() - 2.5).abs() < 1e-3);
    assert!(only(&emulated(0)).drive.unwrap().members.is_empty());
}
