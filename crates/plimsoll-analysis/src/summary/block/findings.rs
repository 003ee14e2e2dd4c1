//! Findings about block I/O, beside those about any load.

use super::super::figure::FigureId;
use super::super::finding::{FAILED_LIMIT, Finding, FindingKind, Verdict};
use super::super::point_summary::PointSummary;
use super::summary::{BlockPointSummary, BlockWorkerSummary, cv_percent};
use plimsoll_record::{BlockPoint, BlockShare, Severity};

/// Largest deviation of the number in flight from what was asked for.
const LITTLE_LIMIT: f64 = 0.10;
/// Fewer requests for each in flight: what began or ended outside the window blurs the number by more than that.
const FEWEST_TURNS: f64 = 20.0;
/// Largest coefficient of variation of workers that should do the same, in percent.
const WORKERS_LIMIT: f64 = 10.0;
/// So many standard deviations of a count are no chance.
const CHANCE: f64 = 3.0;

pub(super) fn of_point(
    block: &BlockPoint,
    figures: &PointSummary,
    shares: &[&BlockShare],
    summary: &BlockPointSummary,
) -> Vec<Finding> {
    let mut found: Vec<Finding> = rate(block, figures)
        .into_iter()
        .chain(little(block, summary))
        .collect();
    found.extend(never_written(block).filter(|_| figures.imported.is_none()));
    found.extend(apart(summary));
    found.extend(disagree(figures, shares));
    found
}

/// No figure rests on a round before the medium is steady, so nothing that happened in it is a reason to doubt; but accounts
/// that do not agree are in no round.
pub(super) fn excuse(point: &mut BlockPointSummary) {
    for finding in &mut point.findings {
        let of_accounts = matches!(
            finding.kind,
            FindingKind::CountsBroken { .. }
                | FindingKind::HistogramDisagrees { .. }
                | FindingKind::WorkersDisagree { .. }
        );
        finding.severity = if of_accounts {
            finding.severity
        } else {
            Severity::Note
        };
    }
    point.verdict = Verdict::of(&point.findings);
}

/// More than 1 % below the offered rate, and more than what independent arrivals scatter by. From full speed on that is
/// what was to be found out.
fn rate(block: &BlockPoint, figures: &PointSummary) -> Option<Finding> {
    let limited = block.share_percent.is_some()
        || block
            .streams
            .iter()
            .all(|stream| stream.per_second.is_some());
    let (offered, achieved) = figures
        .key
        .load
        .offered_per_second
        .filter(|_| limited)
        .zip(figures.value(FigureId::Transactions))?;
    let due = offered * figures.measured_s;
    let missing = due - achieved * figures.measured_s;
    let severity = match block.share_percent {
        Some(share) if share >= 100.0 => Severity::Note,
        _ => Severity::Warning,
    };
    let percent = 100.0 - achieved * 100.0 / offered;
    let kind = FindingKind::RateNotReached {
        offered,
        achieved,
        percent,
    };
    (missing > (due * FAILED_LIMIT).max(due.sqrt())).then(|| kind.with(severity))
}

/// Little's law at full speed: fewer in flight than asked for means that fio or its CPU was what limited the rate, or that
/// counts and times are not those of one window.
fn little(block: &BlockPoint, summary: &BlockPointSummary) -> Option<Finding> {
    let found = summary.in_flight_by_little?;
    let asked = f64::from(summary.in_flight);
    let turns = summary
        .by_op
        .iter()
        .map(|op| op.requests as f64)
        .sum::<f64>()
        / asked;
    let off = (found / asked - 1.0).abs() > LITTLE_LIMIT;
    let kind = FindingKind::InFlightOff {
        found,
        asked: summary.in_flight,
    };
    // With one request at a time the generator works between two of them: what is missing is its own time.
    let is_one_at_a_time = block.streams.iter().all(|stream| stream.depth == 1);
    let severity = match is_one_at_a_time && found < asked {
        true => Severity::Note,
        false => Severity::Warning,
    };
    (summary.keeps_in_flight && turns >= FEWEST_TURNS && off).then(|| kind.with(severity))
}

fn never_written(block: &BlockPoint) -> Option<Finding> {
    let reads = block.streams.iter().any(|stream| stream.read_percent > 0);
    let kind = FindingKind::NeverWritten { fill: block.fill };
    (reads && block.fill < 1.0).then(|| kind.with(Severity::Warning))
}

/// Workers on one medium that differ by more than chance. One finding, about the medium on which they differ most.
fn apart(summary: &BlockPointSummary) -> Option<Finding> {
    let all = summary
        .workers
        .iter()
        .filter_map(|worker| apart_on(summary, &worker.medium));
    let worst = all.max_by(|(a, _), (b, _)| a.total_cmp(b));
    worst.map(|(_, kind)| kind.with(Severity::Warning))
}

/// How far the workers on a medium are apart, where that is no chance.
fn apart_on(summary: &BlockPointSummary, medium: &str) -> Option<(f64, FindingKind)> {
    let on_medium = summary.workers.iter().filter(|own| own.medium == medium);
    let own: Vec<&BlockWorkerSummary> = on_medium.collect();
    let cv_percent = cv_percent(own.iter().copied())?;
    let rates: Vec<f64> = own
        .iter()
        .filter_map(|worker| worker.figures.value(FigureId::Iops))
        .collect();
    let each = rates.iter().sum::<f64>() * summary.measured_s / own.len() as f64;
    let kind = FindingKind::WorkersApart {
        medium: medium.to_owned(),
        cv_percent,
        lowest: rates.iter().copied().reduce(f64::min)?,
        highest: rates.iter().copied().reduce(f64::max)?,
    };
    (cv_percent > WORKERS_LIMIT.max(CHANCE * 100.0 / each.sqrt())).then_some((cv_percent, kind))
}

/// Totals of the workers at the end of the window, and counts second by second, are two accounts that have to agree.
fn disagree(figures: &PointSummary, shares: &[&BlockShare]) -> Vec<Finding> {
    // A point that was cut short has no shares.
    if shares.is_empty() {
        return Vec::new();
    }
    figures
        .types
        .iter()
        .enumerate()
        .filter_map(|(txn, op)| {
            let own = shares.iter().filter(|share| share.txn as usize == txn);
            let workers = own.fold(0u64, |sum, share| sum.saturating_add(share.requests));
            let counted = op.counts.completed();
            let kind = FindingKind::WorkersDisagree {
                op: op.name.clone(),
                workers,
                counted,
            };
            (workers != counted).then(|| kind.with(Severity::Error))
        })
        .collect()
}
