//! Rounds until they are steady, and what rests on them.

use super::super::super::figure::FigureId;
use super::by_hand::{ByHand, Each, READS, stream};
use crate::summary::{BlockMedium, FindingKind, Verdict};
use plimsoll_record::{Record, Severity, SteadyInfo};

/// Reads of 2000 µs keep as many in flight as the rate needs.
fn rounds_of(rates: &[&[u64]], most_rounds: u32) -> BlockMedium {
    by_rounds(rates, most_rounds).summarise()
}

fn by_rounds(rates: &[&[u64]], most_rounds: u32) -> ByHand {
    let mut run = ByHand::new();
    for (job, rates) in rates.iter().enumerate() {
        for (round, rate) in rates.iter().enumerate() {
            let depth = (rate / 500) as u32;
            run.point(
                (job as u32, round as u32),
                &stream(100, depth),
                5,
                &[Each {
                    per_second: *rate,
                    ..READS
                }],
            );
        }
    }
    let first = &run.record.points[0];
    run.record.steady = vec![SteadyInfo {
        step: first.step.clone(),
        step_index: first.step_index,
        medium: first.medium,
        window: 3,
        range: 0.2,
        slope: 0.1,
        most_rounds,
    }];
    run
}

#[test]
fn only_the_steady_window_counts() {
    let medium = rounds_of(
        &[
            &[4000, 2000, 1000, 1000, 1000, 1000],
            &[3000, 3000, 3000, 3000, 3000, 3500],
        ],
        9,
    );
    let rounds = medium.rounds.as_ref().unwrap();
    assert_eq!(
        (rounds.reached_at, medium.verdict, medium.findings.len()),
        (Some(4), Verdict::Valid, 0)
    );
    let job = &medium.jobs[0];
    let rounds_counted = job.figures.as_ref().unwrap().rounds;
    let iops = job.figure(FigureId::Iops).unwrap();
    assert_eq!((rounds_counted, iops.value, iops.max), (3, 1000.0, 1000.0));
    assert_eq!((job.typical, job.points.len()), (Some(2), 6));
    assert_eq!(
        rounds.jobs[0].fit.map(|fit| (fit.from, fit.mean)),
        Some((2, 1000.0))
    );
    assert_eq!(rounds.jobs[1].iops.len(), 6);
}

#[test]
fn what_happened_in_rounds_that_do_not_count_is_no_reason_to_doubt() {
    let of = |damage: fn(&mut Record)| {
        let mut run = by_rounds(&[&[4000, 1000, 1000, 1000]], 9);
        damage(&mut run.record);
        let medium = run.summarise();
        let first = &medium.jobs[0].points[0];
        let severity = first.findings.iter().map(|finding| finding.severity).max();
        (
            first.counts,
            severity,
            medium.jobs[0].points[1].counts,
            medium.verdict,
        )
    };
    assert_eq!(of(|_| ()), (false, None, true, Verdict::Valid));
    // Half of the requests in flight are missing.
    let off = of(|record| record.points[0].users *= 2);
    assert_eq!(off, (false, Some(Severity::Note), true, Verdict::Valid));
    let lost = of(|record| record.shares[0].requests -= 1);
    assert_eq!(lost, (false, Some(Severity::Error), true, Verdict::Invalid));
}

#[test]
fn rounds_that_are_given_up_are_doubtful_and_the_last_window_stands() {
    let medium = rounds_of(&[&[4000, 2000, 1000, 500], &[3000, 3000, 3000, 3000]], 4);
    assert_eq!(medium.rounds.as_ref().unwrap().reached_at, None);
    let finding = &medium.findings[0];
    assert_eq!(
        finding.kind,
        FindingKind::SteadyNotReached {
            rounds: 4,
            window: 3
        }
    );
    assert_eq!(
        (finding.severity, medium.verdict),
        (Severity::Warning, Verdict::Doubtful)
    );
    let figures = |job: usize| {
        medium.jobs[job]
            .figures
            .as_ref()
            .map(|own| (own.rounds, own.figures.value(FigureId::Iops).unwrap()))
    };
    assert_eq!(
        (figures(0), figures(1)),
        (Some((3, 1000.0)), Some((3, 3000.0)))
    );
    assert_eq!(
        medium
            .jobs
            .iter()
            .map(|job| job.verdict)
            .collect::<Vec<_>>(),
        [Verdict::Doubtful; 2]
    );
}
