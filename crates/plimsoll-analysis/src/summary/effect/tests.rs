use super::*;
use crate::summary::StepTimeline;
use crate::summary::{FigureId, Ratio};
use crate::{Summary, summarise};
use plimsoll_record::Record;
use plimsoll_record::fixture;

fn close(found: f64, expected: f64) {
    assert!(
        (found / expected - 1.0).abs() < 1e-6,
        "{found}, not {expected}"
    );
}

/// Within the resolution of a histogram.
fn near(found: &VictimEffect, figure: FigureId, quiet: f64, noisy: f64) {
    let is_near = |found: Option<f64>, expected: f64, by: f64| {
        let found = found.unwrap();
        assert!((found / expected - 1.0).abs() < by, "{figure:?}: {found}");
    };
    is_near(found.quiet.value(figure), quiet, 1.1e-3);
    is_near(found.noisy.value(figure), noisy, 1.1e-3);
    is_near(Some(ratio(found, figure).ratio), noisy / quiet, 2.2e-3);
}

fn ratio(found: &VictimEffect, figure: FigureId) -> Ratio {
    found.ratios.get(figure).unwrap()
}

fn only(record: &Record) -> (NoiseEffect, Summary) {
    let summary = summarise(record);
    assert_eq!(summary.figures.effects.len(), 1);
    (summary.figures.effects[0].clone(), summary)
}

#[test]
fn the_effect_is_that_of_pairs() {
    let (effect, summary) = only(&fixture::backup());
    assert_eq!(
        (effect.step.as_str(), effect.system.as_str()),
        ("crowd", "2 × shop@fast")
    );
    assert_eq!(
        (effect.neighbours.clone(), effect.nopm),
        (vec!["nb@fast".to_owned()], true)
    );
    assert_eq!(
        summary.figures.ladders[effect.quiet].scene,
        Interference::Quiet
    );
    assert_eq!(
        summary.figures.ladders[effect.noisy].scene,
        Interference::Noisy
    );
    let [load] = effect.loads.as_slice() else {
        panic!("one load")
    };
    assert_eq!(
        (load.pairs, load.load.users, load.verdict),
        (2, 16, Verdict::Valid)
    );
    // 220 and 240 orders a second without, 140 and 157 with noise.
    close(load.all.quiet.value(FigureId::Nopm).unwrap(), 230.0 * 60.0);
    close(load.all.noisy.value(FigureId::Nopm).unwrap(), 148.5 * 60.0);
    let ratio = ratio(&load.all, FigureId::Nopm);
    close(ratio.ratio, 148.5 / 230.0);
    // ln(140/220) and ln(157/240): apart by 0.027592, deviation 0.019511, half 12.706205·0.019511/√2 = 0.175296.
    let interval = ratio.interval.unwrap();
    let half = (157.0f64 / 240.0 / (140.0 / 220.0)).ln() / 2.0 * 12.706_205;
    assert!((half - 0.175_296).abs() < 1e-5);
    close(interval.high, ratio.ratio * half.exp());
    close(interval.low, ratio.ratio / half.exp());
    assert_eq!(effect.findings, []);
}

#[test]
fn percentiles_are_those_of_the_ladder() {
    let (effect, summary) = only(&fixture::backup());
    let VictimEffect { quiet, noisy, .. } = &effect.loads[0].all;
    let of_ladder = |ladder: usize| {
        summary.figures.ladders[ladder].loads[0]
            .figures
            .value(FigureId::P99)
    };
    assert_eq!(
        (quiet.value(FigureId::P99), noisy.value(FigureId::P99)),
        (of_ladder(effect.quiet), of_ladder(effect.noisy))
    );
}

#[test]
fn each_victim_has_its_own_effect() {
    let (effect, _) = only(&fixture::backup());
    let load = &effect.loads[0];
    let [first, second] = load.victims.as_slice() else {
        panic!("two victims")
    };
    assert_eq!(
        (first.system.as_str(), second.system.as_str()),
        ("shop-1@fast", "shop-2@fast")
    );
    close(ratio(first, FigureId::Nopm).ratio, 116.0 / 210.0);
    close(ratio(second, FigureId::Nopm).ratio, 181.0 / 250.0);
    assert_eq!(load.worst, Some(0));
    close(
        load.mean_ratio.unwrap(),
        (116.0 / 210.0 + 181.0 / 250.0) / 2.0,
    );
    // Quiet New-Orders take 4, 12 or 36 ms in the first repeat and a tenth more in the second, noisy ones 10, 30 or 90:
    // halfway between them.
    near(first, FigureId::P50, 4.2, 10.5);
    near(first, FigureId::P95, 12.6, 31.5);
    near(first, FigureId::P99, 37.8, 94.5);
}

#[test]
fn the_medium_is_shown_with_and_without_noise() {
    let (effect, _) = only(&fixture::backup());
    let medium = effect.loads[0].medium.as_ref().unwrap();
    // The second repeat has a quarter more of everything: on average an eighth.
    close(medium.quiet.iops, 1200.0 * 1.125);
    close(medium.noisy.iops, 1800.0 * 1.125);
    close(medium.noisy.read_mb_per_second, 70.0 * 1.125);
    // Weighted by requests: (1 + 1.25²)/(1 + 1.25).
    close(medium.noisy.write_ms.unwrap(), 3.0 * 2.5625 / 2.25);
    close(medium.quiet.read_ms.unwrap(), 0.25 * 2.5625 / 2.25);
    let ratio = medium.ratios.get(FigureId::Iops).unwrap();
    close(ratio.ratio, 1.5);
    close(ratio.interval.unwrap().high, 1.5);
    let ms = |[n, m, a, b]: [f64; 4]| (n * a + m * b) / (n + m);
    let expected = ms([700.0, 1100.0, 0.875, 3.0]) / ms([300.0, 900.0, 0.25, 0.75]);
    close(medium.ratios.get(FigureId::Mean).unwrap().ratio, expected);
    // 3, 4, 3.5 and 4.5 s.
    let backups = effect.loads[0].backups.clone().unwrap();
    assert_eq!(
        (
            backups.complete,
            backups.cancelled,
            backups.figures.get(FigureId::Seconds).unwrap().value
        ),
        (4, 2, 3.75)
    );
    assert_eq!(effect.loads[0].neighbours_per_second, None);
}

#[test]
fn a_repeat_without_its_counterpart_is_left_out_with_a_finding() {
    let left_out = |record: &Record| {
        let (effect, _) = only(record);
        let unpaired = FindingKind::EffectUnpaired { left_out: 1, of: 2 };
        assert_eq!(effect.findings, [unpaired.with(Severity::Warning)]);
        effect.loads[0].clone()
    };
    let one = |load: &EffectLoad| {
        assert_eq!(load.pairs, 1);
        let of_all = ratio(&load.all, FigureId::Nopm);
        close(of_all.ratio, 140.0 / 220.0);
        let of_one = ratio(&load.victims[0], FigureId::Nopm);
        let both = [of_all, of_one].map(|own| own.interval);
        assert_eq!(both, [None; 2], "windows too short for an interval");
        assert_eq!(ratio(&load.all, FigureId::P99).interval, None);
    };
    // Interrupted before the last points began.
    let mut record = fixture::backup();
    record
        .points
        .retain(|point| (point.scene, point.repeat) != (Interference::Noisy, 1));
    one(&left_out(&record));
    // A victim fewer: what changes could be the number's doing.
    let mut record = fixture::backup();
    let gone = record
        .points
        .iter()
        .rposition(|point| point.scene == Interference::Noisy)
        .unwrap();
    record.points.remove(gone);
    one(&left_out(&record));
    // Nothing measured in one of them.
    let mut record = fixture::backup();
    let broken: Vec<_> = record
        .points
        .iter()
        .filter(|p| (p.scene, p.repeat) == (Interference::Quiet, 1))
        .map(|p| p.id)
        .collect();
    let phases: Vec<_> = record
        .phases
        .iter()
        .filter(|p| p.point.is_some_and(|id| broken.contains(&id)))
        .map(|p| p.id)
        .collect();
    record
        .seconds
        .retain_ticks(|tick| !phases.contains(&tick.phase));
    one(&left_out(&record));
}

#[test]
fn without_a_usable_pair_there_are_figures_and_no_ratios() {
    let mut record = fixture::backup();
    record.seconds.edit(|rows| {
        for row in rows.iter_mut().filter(|row| row.txn == 0) {
            row.in_flight += 1;
        }
    });
    let (effect, summary) = only(&record);
    assert!(
        summary
            .figures
            .points()
            .all(|point| point.verdict == Verdict::Invalid)
    );
    let load = &effect.loads[0];
    assert_eq!((load.pairs, load.verdict), (0, Verdict::Invalid));
    close(load.all.noisy.value(FigureId::Nopm).unwrap(), 148.5 * 60.0);
    assert!(load.all.ratios.is_empty());
    assert_eq!((load.mean_ratio, load.worst), (None, None));
}

#[test]
fn neighbours_under_load_are_listed() {
    let mut record = fixture::backup();
    record.backups.retain(|row| row.point.is_none());
    // The second system becomes the neighbour of the first.
    let second = SubjectId(13);
    record
        .points
        .retain(|point| point.system != second || point.scene == Interference::Noisy);
    record
        .points
        .iter_mut()
        .filter(|point| point.system == second)
        .for_each(|point| point.purpose = PointPurpose::Noise);
    let (effect, summary) = only(&record);
    assert_eq!(effect.neighbours, ["shop-2@fast"]);
    let load = &effect.loads[0];
    // New-Orders and Payments: 90 + 43 and 91 + 43 a second.
    close(load.neighbours_per_second.unwrap(), 133.5);
    close(ratio(&load.all, FigureId::Nopm).ratio, 116.0 / 210.0);
    assert_eq!(load.backups, None);
    let crowd = &summary.figures.timelines[2];
    assert_eq!(
        crowd.neighbours.len(),
        26,
        "13 s in each of two noisy points"
    );
    close(crowd.neighbours[2].per_second, 133.0);
    close(crowd.transactions[2].per_second, 140.0);
}

#[test]
fn noise_makes_rates_unsteady_and_that_is_no_reason_to_doubt() {
    let unsteady = |scene: Interference| {
        let mut record = fixture::backup();
        let own: Vec<_> = record
            .points
            .iter()
            .filter(|point| point.scene == scene)
            .map(|point| point.id)
            .collect();
        let phases: Vec<_> = record
            .phases
            .iter()
            .filter(|p| p.point.is_some_and(|id| own.contains(&id)))
            .map(|p| p.id)
            .collect();
        record.seconds.edit(|rows| {
            let rows = rows.iter_mut().filter(|row| phases.contains(&row.phase));
            for (i, row) in rows.enumerate() {
                let more = if i % 26 < 8 { row.counts.committed } else { 0 };
                row.counts.committed += more;
                row.counts.offered += more;
            }
        });
        let ladder = summarise(&record)
            .figures
            .ladders
            .into_iter()
            .find(|ladder| ladder.scene == scene)
            .unwrap();
        let found = ladder.points[0]
            .findings
            .iter()
            .find(|f| matches!(f.kind, FindingKind::Unsteady { .. }))
            .cloned();
        found.unwrap().severity
    };
    assert_eq!(
        (unsteady(Interference::Quiet), unsteady(Interference::Noisy)),
        (Severity::Warning, Severity::Note)
    );
}

fn timelines() -> [StepTimeline; 3] {
    summarise(&fixture::backup())
        .figures
        .timelines
        .try_into()
        .unwrap()
}

#[test]
fn timelines_are_as_a_datastore_shows_them() {
    let [fast, slow, crowd] = timelines();
    assert_eq!(
        [&fast, &slow, &crowd].map(|own| own.medium.as_deref().unwrap()),
        ["fast", "slow", "fast"]
    );
    // From 3 s on: 10 + 1 + 5 + 1 + 12 + 1 + 7 + 1 + 11 + 1 + 6.
    let [slot] = fast.slots.as_slice() else {
        panic!("one slot")
    };
    assert_eq!((slot.start_s, slot.end_s, slot.load), (3.0, 59.0, None));
    let media: Vec<_> = fast
        .media
        .iter()
        .map(|own| (own.medium.as_str(), own.target, own.seconds.len()))
        .collect();
    assert_eq!(media, [("fast", false, 56), ("vault", true, 56)]);
    let second = fast.media[1].seconds[1];
    assert_eq!(
        (
            second.at_s,
            second.figures.write_mb_per_second,
            second.figures.write_ms
        ),
        (5.0, 200.0, Some(2.0))
    );
    assert_eq!(
        (fast.written[0].at_s, fast.written[0].mb_per_second),
        (4.0, 200.0)
    );
    assert_eq!(
        (fast.bands.len(), slow.bands.len(), crowd.bands.len()),
        (6, 5, 6)
    );
    let last = &slow.bands[4];
    assert_eq!(
        (last.kind, last.cycle, last.end_s - last.start_s),
        (BackupKind::Restore, 2, 17.0)
    );
}

#[test]
fn timelines_have_all_points_of_a_step_with_their_scene() {
    let [.., crowd] = timelines();
    let scenes: Vec<_> = crowd
        .slots
        .iter()
        .map(|slot| slot.load.map(|load| (load.scene, load.repeat)))
        .collect();
    let expected = [
        (Interference::Quiet, 0),
        (Interference::Noisy, 0),
        (Interference::Quiet, 1),
        (Interference::Noisy, 1),
    ];
    assert_eq!(scenes, expected.map(Some));
    let first = crowd.slots[0];
    assert_eq!(
        first.measured_s,
        Some((first.start_s + 2.0, first.start_s + 12.0))
    );
    assert_eq!(crowd.transactions.len(), 4 * 13);
    // Both systems, New-Orders and Payments: 100 + 40 + 120 + 43.
    close(crowd.transactions[2].per_second, 303.0);
    assert_eq!(crowd.transactions[2].at_s, first.start_s + 3.0);
    assert!((crowd.transactions[2].p99_ms.unwrap() / 36.0 - 1.0).abs() < 0.033);
    assert_eq!(
        (
            crowd.media[0].seconds.len(),
            crowd.media[0].seconds[3].figures.iops
        ),
        (4 * 13, 1200.0)
    );
    assert!(crowd.neighbours.is_empty());
}

#[test]
fn emulated_drives_have_their_own_figures_without_a_device() {
    use plimsoll_record::DriveRow;
    use plimsoll_record::drive::DriveOp;
    let mut record = fixture::backup();
    record
        .facts
        .retain(|fact| fact.key != plimsoll_record::DEVICE_FACT);
    let mut hist = Hist::new();
    (0..50).for_each(|_| hist.record(Nanos::from_millis(4)));
    let row = |op, ops, bytes| DriveRow {
        subject: SubjectId(5),
        start: Nanos::from_secs(70),
        end: Nanos::from_secs(71),
        op,
        ops,
        bytes,
        errors: 0,
        modelled: hist.coarse(),
        real: hist.coarse(),
        late: hist.coarse(),
        beyond: 0,
    };
    record.drive = vec![
        row(DriveOp::Read, 50, 7_000_000),
        row(DriveOp::Write, 30, 9_000_000),
        row(DriveOp::Flush, 9, 0),
    ];
    let summary = summarise(&record);
    let slow = &summary.figures.timelines[1].media[0];
    assert_eq!(slow.source, Some(crate::summary::MediumSource::Emulator));
    let [second] = slow.seconds.as_slice() else {
        panic!("one second")
    };
    assert_eq!(
        (second.figures.reads_per_second, second.figures.iops),
        (50.0, 80.0)
    );
    assert_eq!(
        (second.figures.write_mb_per_second, second.figures.read_ms),
        (9.0, Some(4.0))
    );
    let unknown = &summary.figures.timelines[0].media[0];
    assert_eq!(
        (&unknown.source, unknown.seconds.len()),
        (&None, 0),
        "of two or more devices it is unknown which"
    );
}
