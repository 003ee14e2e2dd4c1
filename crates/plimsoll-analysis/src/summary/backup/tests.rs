use super::*;
use crate::{Summary, summarise};
use plimsoll_record::fixture;
use plimsoll_record::metric::Metric;
use plimsoll_record::{OfferedLoad, Record};

fn close(found: f64, expected: f64) {
    assert!(
        (found / expected - 1.0).abs() < 1e-6,
        "{found}, not {expected}"
    );
}

fn save(summary: &Summary) -> &BackupSummary {
    &summary.figures.backups[0]
}

fn kinds(findings: &[Finding]) -> Vec<(String, Severity)> {
    let name = |f: &Finding| {
        serde_json::to_value(&f.kind).unwrap()["finding"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    findings
        .iter()
        .map(|finding| (name(finding), finding.severity))
        .collect()
}

#[test]
fn times_and_rates_are_means_of_cycles_with_students_interval() {
    let summary = summarise(&fixture::backup());
    let saved = save(&summary);
    assert_eq!(
        (saved.step.as_str(), saved.method.as_str(), saved.beside),
        ("save", "physical", None)
    );
    assert_eq!(saved.programs, ["pg_basebackup 17.2"]);
    let [fast, slow] = saved.media.as_slice() else {
        panic!("two media")
    };
    assert_eq!(
        (fast.medium.as_deref(), fast.target.as_str()),
        (Some("fast"), "vault")
    );
    assert_eq!(slow.drive.as_deref(), Some("Example Disk 2 TB (7200 rpm)"));
    // 10, 12 and 11 s: of the logarithms half is 4.302653/√3 of their deviation.
    let seconds = fast.kinds[0].figures.get(FigureId::Seconds).unwrap();
    assert_eq!(
        (seconds.n, seconds.value, seconds.min, seconds.max),
        (3, 11.0, 10.0, 12.0)
    );
    close(seconds.interval.unwrap().high, 13.758587);
    // 200, 175 and 200 MB/s: the mean of rates, not 6.3 GB in 33 s (190.9).
    let rate = fast.kinds[0].figures.get(FigureId::MbPerSecond).unwrap();
    close(rate.value, 575.0 / 3.0);
    assert_eq!((rate.min, rate.max), (175.0, 200.0));
    assert_eq!(fast.kinds[0].bytes, 6_300_000_000);
    assert_eq!(
        (
            fast.kinds[1].kind,
            fast.kinds[1].figures.get(FigureId::Seconds).unwrap().value
        ),
        (BackupKind::Restore, 6.0)
    );
    // The failed one has no figures.
    let backups = &slow.kinds[0];
    assert_eq!(
        (
            backups.complete,
            backups.failed,
            backups.figures.get(FigureId::Seconds).unwrap().value
        ),
        (2, 1, 22.0)
    );
    assert_eq!(
        (slow.operations.len(), slow.operations[2].mb_per_second),
        (5, None)
    );
}

#[test]
fn media_are_compared_by_the_means_of_their_cycles() {
    let summary = summarise(&fixture::backup());
    let [fast, slow] = save(&summary).media.as_slice() else {
        panic!("two media")
    };
    assert!(
        fast.kinds
            .iter()
            .all(|kind| kind.ratios.get(FigureId::Seconds).is_none()
                && kind.ratios.get(FigureId::MbPerSecond).is_none())
    );
    let ratio = slow.kinds[0].ratios.get(FigureId::Seconds).unwrap();
    close(ratio.ratio, 2.0);
    // Standard errors of the logarithms are 0.052650 (3 cycles) and 0.091161 (2): 2.3045 degrees of freedom.
    let interval = ratio.interval.unwrap();
    assert!(
        (interval.degrees - 2.3045).abs() < 1e-3 && interval.low > 0.5 && interval.high < 8.0,
        "{interval:?}"
    );
    close(
        interval.low * interval.high,
        (21.908902_f64 / 10.969613).powi(2),
    );
    close(
        slow.kinds[1].ratios.get(FigureId::Seconds).unwrap().ratio,
        16.0 / 6.0,
    );
    close(
        slow.kinds[0]
            .ratios
            .get(FigureId::MbPerSecond)
            .unwrap()
            .ratio,
        (95.0 + 81.25) / 2.0 / (575.0 / 3.0),
    );
}

#[test]
fn time_per_request_is_weighted_by_requests() {
    let summary = summarise(&fixture::backup());
    let fast = &save(&summary).media[0];
    assert_eq!(
        fast.source,
        Some(crate::summary::MediumSource::Device("nvme0n1".into()))
    );
    assert_eq!(
        fast.target_source,
        Some(crate::summary::MediumSource::Device("sdb".into()))
    );
    // 10 s, in whose first there are half as many requests that take three times as long: (0.5·3 + 9)/9.5.
    let first = &fast.operations[0];
    let (data, target) = (first.data_io.unwrap(), first.target_io.unwrap());
    close(data.read_ms.unwrap(), 0.5 * 10.5 / 9.5);
    close(data.write_ms.unwrap(), 0.125 * 10.5 / 9.5);
    close(data.reads_per_second, 1500.0 * 0.95);
    close(data.read_mb_per_second, 196.0 * 0.95);
    close(data.iops, 1520.0 * 0.95);
    close(target.write_ms.unwrap(), 2.0 * 10.5 / 9.5);
    close(target.write_mb_per_second, 200.0 * 0.95);
    close(
        target.ms.unwrap(),
        (30.0 * 1.5 + 400.0 * 2.0) / 430.0 * 10.5 / 9.5,
    );
    // All backups: 33 s, three of them first ones.
    let all = fast.kinds[0].data_io.unwrap();
    assert_eq!(all.reported_s, 33.0);
    close(all.read_ms.unwrap(), 0.5 * (3.0 * 1.5 + 30.0) / 31.5);
    // While it is restored, reads and writes are swapped.
    close(
        fast.kinds[1].data_io.unwrap().write_ms.unwrap(),
        0.5 * (3.0 * 1.5 + 15.0) / 16.5,
    );
}

#[test]
fn both_accounts_of_what_was_written_are_compared() {
    let summary = summarise(&fixture::backup());
    let [fast, slow] = save(&summary).media.as_slice() else {
        panic!("two media")
    };
    let RateCheck::Agrees { percent, .. } = fast.operations[0].rate else {
        panic!("{:?}", fast.operations[0].rate)
    };
    assert!(percent.abs() < 1e-4, "{percent}");
    assert_eq!(
        fast.operations[1].rate,
        RateCheck::NotEvaluated {
            why: RateNotChecked::Restore
        }
    );
    assert_eq!(
        slow.operations[2].rate,
        RateCheck::NotEvaluated {
            why: RateNotChecked::NotComplete
        }
    );
    let RateCheck::Disagrees {
        observed_bytes,
        percent,
    } = slow.operations[3].rate
    else {
        panic!()
    };
    close(percent, -20.0);
    close(observed_bytes, 0.8 * 1.95e9);
    assert_eq!(fast.findings, []);
    let expected = [
        ("backup_failed".to_owned(), Severity::Warning),
        ("rate_disagrees".to_owned(), Severity::Warning),
    ];
    assert_eq!(kinds(&slow.findings), expected);
    assert_eq!(
        (fast.verdict, slow.verdict),
        (Verdict::Valid, Verdict::Doubtful)
    );
}

#[test]
fn time_without_samples_is_missing_and_no_contradiction() {
    let rate = |damage: fn(&mut Vec<plimsoll_record::Sample>)| {
        let mut record = fixture::backup();
        let files = record
            .series
            .iter_mut()
            .find(|series| series.metric == Metric::BackupWritten)
            .unwrap();
        damage(&mut files.samples);
        save(&summarise(&record)).media[0].operations[0].rate
    };
    let RateCheck::Agrees { percent, .. } =
        rate(|samples| samples.retain(|s| s.at > Nanos::from_secs(4)))
    else {
        panic!("one of ten seconds is missing")
    };
    close(percent, -10.0);
    let not_sampled = RateCheck::NotEvaluated {
        why: RateNotChecked::NotSampled,
    };
    assert_eq!(
        rate(|samples| samples.retain(|s| s.at > Nanos::from_secs(5))),
        not_sampled
    );
    assert_eq!(rate(Vec::clear), not_sampled);
    let RateCheck::Disagrees { percent, .. } = rate(|samples| samples[0].value *= 2.0) else {
        panic!("a tenth more")
    };
    close(percent, 10.0);
}

#[test]
fn backups_beside_load_stand_by_their_load() {
    let summary = summarise(&fixture::backup());
    assert_eq!(summary.figures.backups.len(), 2);
    let beside = &summary.figures.backups[1];
    assert_eq!(
        beside.beside,
        Some(BesideLoad {
            ordinal: 0,
            load: OfferedLoad::closed(8),
        })
    );
    let figures = &beside.media[0].kinds[0];
    // 3, 4, 3.5 and 4.5 s in four cycles of their own: of the logarithms half is 3.182446/2 of their deviation.
    let seconds = figures.figures.get(FigureId::Seconds).unwrap();
    assert_eq!(
        (figures.complete, figures.cancelled, seconds.value),
        (4, 2, 3.75)
    );
    close(seconds.interval.unwrap().high, 4.895181);
    // Of the second repeat the files were not sampled; cancelled ones end with the load.
    let expected = [
        ("backup_cancelled".to_owned(), Severity::Note),
        ("rate_not_judged".to_owned(), Severity::Note),
    ];
    assert_eq!(kinds(&beside.media[0].findings), expected);
    assert_eq!(beside.media[0].verdict, Verdict::Valid);
}

#[test]
fn restored_data_that_differ_are_an_error() {
    let mut record = fixture::backup();
    record.backups[1].outcome = BackupOutcome::Differs;
    let summary = summarise(&record);
    let fast = &save(&summary).media[0];
    assert_eq!(
        kinds(&fast.findings),
        [("restore_differs".to_owned(), Severity::Error)]
    );
    assert_eq!(
        (
            fast.kinds[1].differs,
            fast.kinds[1].figures.get(FigureId::Seconds).unwrap().n
        ),
        (1, 2)
    );
    assert_eq!(
        (fast.verdict, summary.verdict),
        (Verdict::Invalid, Verdict::Invalid)
    );
}

#[test]
fn systems_saved_at_the_same_time_are_one_group() {
    let mut record = fixture::backup();
    let second = record
        .backups
        .iter()
        .filter(|row| row.medium.is_some_and(|m| m.0 == 4) && row.point.is_none());
    let second: Vec<BackupRow> = second
        .cloned()
        .map(|row| BackupRow {
            system: SubjectId(7),
            ..row
        })
        .collect();
    record.backups.extend(second);
    let summary = summarise(&record);
    let twice = save(&summary).media[0].kinds[0]
        .figures
        .get(FigureId::Seconds)
        .unwrap();
    let once = summarise(&fixture::backup());
    let once = save(&once).media[0].kinds[0]
        .figures
        .get(FigureId::Seconds)
        .unwrap();
    assert_eq!(
        (twice.n, twice.interval),
        (6, once.interval),
        "no more sure by being done twice at once"
    );
    assert_eq!(
        save(&summary).media[0].kinds[0].data_io,
        save(&summarise(&fixture::backup())).media[0].kinds[0].data_io
    );
}

#[test]
fn rubbish_is_survived() {
    let damages: [fn(&mut Record); 7] = [
        |r| r.backups.iter_mut().for_each(|row| row.end = Nanos::ZERO),
        |r| {
            r.backups
                .iter_mut()
                .for_each(|row| (row.start, row.end) = (Nanos::ZERO, Nanos(u64::MAX)))
        },
        |r| r.backups.iter_mut().for_each(|row| row.bytes = u64::MAX),
        |r| r.backups.iter_mut().for_each(|row| row.medium = None),
        |r| r.subjects.clear(),
        |r| {
            r.series
                .iter_mut()
                .flat_map(|s| &mut s.samples)
                .for_each(|s| (s.at, s.over) = (Nanos(1), Nanos(u64::MAX)))
        },
        |r| r.points.clear(),
    ];
    for damage in damages {
        let mut record = fixture::backup();
        damage(&mut record);
        let summary = summarise(&record);
        assert!(!summary.figures.backups.is_empty());
        let figures = summary
            .figures
            .backups
            .iter()
            .flat_map(|own| &own.media)
            .flat_map(|own| &own.kinds);
        for own in figures {
            let both = [FigureId::Seconds, FigureId::MbPerSecond];
            let mut values = both
                .into_iter()
                .filter_map(|figure| own.figures.value(figure));
            assert!(values.all(f64::is_finite));
        }
    }
}
