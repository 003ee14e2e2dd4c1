//! What makes the figures of a run, a step or a point less than trustworthy.

use super::figure::FigureId;
use std::collections::BTreeMap;

use super::conserve::Conservation;
use super::finding::{FAILED_LIMIT, Finding, FindingKind};
use super::index::Index;
use super::load_line::LoadLine;
use super::load_summary::LoadSummary;
use super::objective::backlog;
use super::outage::OutageSummary;
use super::point_summary::{HeldTimes, PointSummary};
use super::stats::BATCHES;
use super::steady::Steady;
use super::tick::{self, window};
use super::{commits, cut, drive, imported};
use plimsoll_plan::Interference;
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use plimsoll_record::message::EventKind;
use plimsoll_record::{
    Check, Event, Phase, Point, PointPurpose, RunStatus, Severity, SubjectId, SubjectKind,
};

/// Share from which on figures are invalid: a load of which a tenth is missing is another load.
const NOT_SERVED_LIMIT: f64 = 0.1;

pub(super) fn of_run(index: &Index) -> Vec<Finding> {
    let run = &index.record.run;
    let mut found = Vec::new();
    if run.status != RunStatus::Complete {
        let reason = run.failure.clone().unwrap_or_default();
        found.push(
            FindingKind::RunEnded {
                status: run.status,
                reason,
            }
            .with(Severity::Warning),
        );
    }
    found.extend(events(index, |event| {
        !measured_points(index).any(|point| concerns(index, event, point))
    }));
    found
}

/// Those of which figures are taken.
fn measured_points<'a>(index: &Index<'a>) -> impl Iterator<Item = &'a Point> + use<'a> {
    index
        .record
        .points
        .iter()
        .filter(|point| point.purpose != PointPurpose::Precondition)
}

/// Conditions verified at the end of a step. A check names its system and no step, so all steps of a system that was
/// found inconsistent are affected.
pub(super) fn of_step(index: &Index, points: &[PointSummary], first: &Point) -> Vec<Finding> {
    let mut found: Vec<Finding> = index
        .record
        .checks
        .iter()
        .filter(|c| c.point.is_none() && c.subject == first.system)
        .filter_map(|c| failed(index, c))
        .collect();
    let verified = index
        .record
        .checks
        .iter()
        .any(|c| c.point.is_none() && c.subject == first.system)
        || points.iter().any(|point| point.consistency.verified > 0);
    let broken_off = index.record.events.iter();
    let broken_off = broken_off.filter(|event| event.subject == Some(first.system));
    let failures: Vec<Finding> = broken_off
        .filter_map(|event| match &event.kind {
            EventKind::NotVerified { error, .. } => {
                let error = error.clone();
                Some(FindingKind::VerificationFailed { error }.with(Severity::Error))
            }
            _ => None,
        })
        .collect();
    let verified = verified || !failures.is_empty();
    found.extend(failures);
    if !verified
        && points
            .iter()
            .any(|point| point.value(FigureId::Nopm).is_some())
    {
        found.push(FindingKind::NotVerified.with(Severity::Note));
    }
    found
}

fn failed(index: &Index, check: &Check) -> Option<Finding> {
    let kind = FindingKind::ConditionFails {
        subject: index.name(check.subject),
        clause: check.clause.clone(),
        detail: check.detail.clone(),
    };
    (!check.holds).then(|| kind.with(Severity::Error))
}

/// From the start of the point's first phase to the end of its last.
fn span(index: &Index, point: &Point) -> Option<(Nanos, Nanos)> {
    let mut phases = index.record.phases.iter();
    let first = phases.find(|phase| phase.point == Some(point.id))?;
    let span = (first.start, first.end);
    let others = phases.filter(|phase| phase.point == Some(point.id));
    Some(others.fold(span, |(start, end), phase| {
        (start.min(phase.start), end.max(phase.end))
    }))
}

/// Whether an event stands beside a point's figures: it happened meanwhile, and not on another drive.
fn concerns(index: &Index, event: &Event, point: &Point) -> bool {
    let meanwhile =
        span(index, point).is_some_and(|(start, end)| (start..=end).contains(&event.at));
    let mut media = (index.record.subjects.iter()).filter(|s| s.kind == SubjectKind::Medium);
    let elsewhere = event
        .subject
        .is_some_and(|subject| !is_on(point, subject) && media.any(|medium| medium.id == subject));
    meanwhile && !elsewhere
}

/// Block I/O without a medium is on several at once.
fn is_on(point: &Point, medium: SubjectId) -> bool {
    point.medium == Some(medium) || (point.is_block() && point.medium.is_none())
}

/// Warnings and errors among those `chosen`, those of one code as one finding.
fn events(index: &Index, chosen: impl Fn(&Event) -> bool) -> Vec<Finding> {
    let mut by_code: BTreeMap<(String, Severity), (u64, &Event)> = BTreeMap::new();
    for event in index.record.events.iter().filter(|e| chosen(e)) {
        let severity = weight(index, event);
        if severity > Severity::Note {
            by_code
                .entry((event.kind.code(), severity))
                .or_insert((0, event))
                .0 += 1;
        }
    }
    let findings = by_code
        .into_iter()
        .map(|((event, severity), (times, first))| {
            FindingKind::Event {
                event,
                at_s: first.at.as_secs_f64(),
                message: first.kind.clone(),
                times,
            }
            .with(severity)
        });
    findings.collect()
}

/// How severe an event is for the figures. An emulator's codes weigh by whether anything was measured at that time: a
/// drive that was overrun (its emulator gets requests late, which their lateness does not show) or that lies on a backing
/// store too slow or too small for it was not that drive; while data are loaded, speed does not matter.
fn weight(index: &Index, event: &Event) -> Severity {
    let measured = match event.kind.code().as_str() {
        "emulator_stopped" => Severity::Warning,
        _ => Severity::Error,
    };
    let elsewhere = match event.kind.code().as_str() {
        "saturated" | "emulator_stopped" => Severity::Note,
        // Reported during the run; the figures of its medium, or of its step, have it.
        "not_steady" | "not_verified" => return Severity::Note,
        "backing_slower" | "backing_full" => event.severity.max(Severity::Warning),
        _ => return event.severity,
    };
    if index.record.phases.iter().any(|phase| {
        let is_measured =
            phase.kind == PhaseKind::Measure && (phase.start..=phase.end).contains(&event.at);
        is_measured
            && index.record.points.iter().any(|point| {
                Some(point.id) == phase.point
                    && event.subject.is_some_and(|medium| is_on(point, medium))
            })
    }) {
        measured
    } else {
        elsewhere
    }
}

pub(super) fn of_point(
    index: &Index,
    point: &Point,
    figures: &PointSummary,
    phases: &[&Phase],
) -> Vec<Finding> {
    let mut found = time(figures, phases);
    found.extend(figures.outage.and_then(OutageSummary::finding));
    found.extend(counts(figures));
    found.extend(index.contradictions.get(&point.id).map(|rule| {
        let rule = (*rule).to_owned();
        FindingKind::Contradicted { rule }.with(Severity::Error)
    }));
    found.extend(match imported::is_sample(index, point) {
        true => sample(figures),
        false => histograms(figures),
    });
    let checks = index
        .record
        .checks
        .iter()
        .filter(|check| check.point == Some(point.id));
    found.extend(checks.filter_map(|check| failed(index, check)));
    found.extend(events(index, |event| concerns(index, event, point)));
    found.extend(imported::finding(index, point));
    found.extend(commits::findings(index, point, figures, phases));
    found.extend(drive::findings(
        figures,
        window(phases),
        index.cut_of(point),
    ));
    if let Some(cut) = &figures.power_cut {
        found
            .iter_mut()
            .for_each(|finding| cut::excuse(finding, cut));
        found.extend(cut::findings(cut));
    }
    if point.scene == Interference::Noisy {
        found.iter_mut().for_each(excuse_noise);
    }
    found.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    found
}

/// Neighbours that do something every now and then make the rate go up and down, or stop it: that is what is to be shown.
fn excuse_noise(finding: &mut Finding) {
    let most = match finding.kind {
        FindingKind::Unsteady { .. } => Severity::Note,
        FindingKind::NothingCompleted { .. } | FindingKind::NotServed { .. } => Severity::Warning,
        _ => return,
    };
    finding.severity = finding.severity.min(most);
}

/// Findings about how long and how steadily was measured.
fn time(figures: &PointSummary, phases: &[&Phase]) -> Vec<Finding> {
    if figures.measured_s <= 0.0 {
        return vec![match &figures.imported {
            Some(source) => FindingKind::OnlyReported {
                source: source.clone(),
            }
            .with(Severity::Warning),
            None => FindingKind::NothingMeasured.with(Severity::Error),
        }];
    }
    let mut found = Vec::new();
    if figures.value(FigureId::Transactions) == Some(0.0) {
        let system = figures.key.system.clone();
        let measured_s = figures.measured_s;
        found.push(FindingKind::NothingCompleted { system, measured_s }.with(Severity::Error));
    }
    for phase in phases.iter().filter(|phase| !phase.complete) {
        let lasted_s = phase.end.saturating_sub(phase.start).as_secs_f64();
        // In the cool phase nothing is measured any more.
        let severity = if phase.kind == PhaseKind::Cool {
            Severity::Note
        } else {
            Severity::Warning
        };
        found.push(
            FindingKind::PhaseIncomplete {
                phase: phase.kind,
                lasted_s,
            }
            .with(severity),
        );
    }
    let window: f64 = tick::measured(phases)
        .map(|phase| phase.end.saturating_sub(phase.start).as_secs_f64())
        .sum();
    // Half a second: a tick is a second long, so a missing one shows, and rounding does not.
    if window - figures.measured_s > 0.5 {
        found.push(
            FindingKind::SecondsMissing {
                missing_s: window - figures.measured_s,
            }
            .with(Severity::Warning),
        );
    }
    if let Steady::No {
        range_percent,
        slope_percent,
    } = figures.steady
    {
        found.push(
            FindingKind::Unsteady {
                range_percent,
                slope_percent,
            }
            .with(Severity::Warning),
        );
    }
    if figures.imported.is_some() && figures.ticks < 2 {
        found.push(
            FindingKind::WholeOnly {
                measured_s: figures.measured_s,
            }
            .with(Severity::Warning),
        );
    } else if figures.short {
        let measured_s = figures.measured_s;
        let kind = if measured_s + 0.5 < BATCHES as f64 {
            FindingKind::ShortWindow { measured_s }
        } else {
            FindingKind::FewIntervals {
                measured_s,
                intervals: figures.ticks as u64,
            }
        };
        found.push(kind.with(Severity::Warning));
    }
    found
}

/// A search goes where the system does not keep up: that it did not, above the line, is what was to be found out and no
/// reason to doubt.
pub(super) fn excuse_above_the_line(finding: &mut Finding) {
    let expected = matches!(
        finding.kind,
        FindingKind::BacklogGrew { .. }
            | FindingKind::Unanswered { .. }
            | FindingKind::Unfinished { .. }
            | FindingKind::NotServed { .. }
            | FindingKind::Unsteady { .. }
            | FindingKind::NothingCompleted { .. }
    );
    if expected {
        finding.severity = finding.severity.min(Severity::Note);
    }
}

/// Points of a search without enough transactions for its figure, by their place in the ladder.
pub(super) fn too_few_samples(line: &LoadLine, loads: &[LoadSummary]) -> Vec<(usize, Finding)> {
    let mut found = Vec::new();
    for tried in &line.tried {
        let points = loads.get(tried.load_index).map(|load| &load.points);
        for (point, repeat) in points.into_iter().flatten().zip(&tried.repeats) {
            if repeat.samples < line.needed {
                let kind = FindingKind::TooFewSamples {
                    figure: line.quantile,
                    samples: repeat.samples,
                    needed: line.needed,
                };
                found.push((*point, kind.with(Severity::Warning)));
            }
        }
    }
    found
}

/// Findings about what was counted.
fn counts(figures: &PointSummary) -> Vec<Finding> {
    let mut found = Vec::new();
    match figures.conservation {
        Conservation::Broken {
            at_s,
            offered,
            settled,
            in_flight,
        } => {
            found.push(
                FindingKind::CountsBroken {
                    at_s,
                    offered,
                    settled,
                    in_flight,
                }
                .with(Severity::Error),
            );
        }
        Conservation::Open { in_flight, .. } => {
            found.push(FindingKind::NotDrained { in_flight }.with(Severity::Warning));
        }
        Conservation::Holds { .. } | Conservation::Unknown => {}
    }
    for (txn, values) in &figures.clipped {
        found.push(
            FindingKind::Clipped {
                txn: txn.clone(),
                values: *values,
            }
            .with(Severity::Warning),
        );
    }
    if figures.coarse {
        found.push(FindingKind::CoarseWindow.with(Severity::Warning));
    }
    let counts = &figures.overall.counts;
    if let Some(intents) = figures
        .key
        .load
        .offered_per_second
        .and_then(|_| backlog(counts))
    {
        let offered = counts.offered;
        let share = intents as f64 / offered as f64;
        let percent = share * 100.0;
        found.push(if share > NOT_SERVED_LIMIT {
            FindingKind::Unanswered {
                intents,
                offered,
                percent,
                limit_percent: NOT_SERVED_LIMIT * 100.0,
            }
            .with(Severity::Error)
        } else {
            FindingKind::BacklogGrew { intents, percent }.with(Severity::Warning)
        });
    }
    found.extend(unfinished(figures));
    let failed = counts.failed;
    let dropped = counts.dropped;
    if failed + dropped > 0 {
        let share = (failed + dropped) as f64 / counts.settled() as f64;
        let severity = match share {
            share if share > NOT_SERVED_LIMIT => Severity::Error,
            share if share > FAILED_LIMIT => Severity::Warning,
            _ => Severity::Note,
        };
        found.push(
            FindingKind::NotServed {
                failed,
                dropped,
                percent: share * 100.0,
            }
            .with(severity),
        );
    }
    found
}

fn unfinished(figures: &PointSummary) -> Option<Finding> {
    let response = figures.overall.response?;
    let kind = FindingKind::Unfinished {
        intents: figures.unfinished,
        offered: figures.overall.counts.offered,
        least_ms: response.at_least_from_ms?,
        first: response.first_bound()?,
    };
    Some(kind.with(Severity::Warning))
}

/// Whether the histograms contain as many transactions as completed, over warm-up, window and cooling.
fn histograms(figures: &PointSummary) -> Vec<Finding> {
    let mut found = Vec::new();
    for (txn, held) in figures.types.iter().zip(&figures.held) {
        let HeldTimes {
            completed,
            times: histogram,
        } = *held;
        // Another tool may have no distribution, or one of a part of the time.
        let severity = match (&figures.imported, txn.response) {
            (Some(_), None) => continue,
            (Some(_), Some(_)) => Severity::Warning,
            (None, _) => Severity::Error,
        };
        if histogram != completed {
            let kind = FindingKind::HistogramDisagrees {
                txn: txn.name.clone(),
                histogram,
                completed,
            };
            found.push(kind.with(severity));
        }
    }
    found
}

fn sample(figures: &PointSummary) -> Vec<Finding> {
    let histogram = figures.overall.response.map_or(0, |latency| latency.count);
    let completed = figures.overall.counts.completed();
    let percent = histogram as f64 * 100.0 / completed.max(1) as f64;
    vec![
        FindingKind::HistogramSample {
            histogram,
            completed,
            percent,
        }
        .with(Severity::Note),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_may_stop_what_is_measured_but_not_break_counts() {
        let severity = |kind: FindingKind| {
            let mut finding = kind.with(Severity::Error);
            excuse_noise(&mut finding);
            finding.severity
        };
        assert_eq!(
            severity(FindingKind::Unsteady {
                range_percent: 30.0,
                slope_percent: 0.0
            }),
            Severity::Note
        );
        let stopped = FindingKind::NothingCompleted {
            system: "db-2".into(),
            measured_s: 3.0,
        };
        assert_eq!(severity(stopped), Severity::Warning);
        assert_eq!(
            severity(FindingKind::NotDrained { in_flight: 1 }),
            Severity::Error
        );
    }
}
