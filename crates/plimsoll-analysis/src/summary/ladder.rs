//! Ladders: the points of a run by step, system and medium.
//!
//! Rates of equal systems under load at the same time are sums over the systems, second by second, so that the interval of
//! the sum is that of sums and not put together from intervals of systems that share a medium. Latencies are quantiles of
//! histograms merged over the systems. The spread is the coefficient of variation of the systems' rates: standard
//! deviation (n − 1) over mean.

use std::collections::BTreeMap;

use super::finding::Verdict;
use super::fleet::{Fleet, FleetPoint, FleetShare};
use super::index::{Index, is_of_ladder};
use super::ladder_summary::LadderSummary;
use super::point_summary::PointSummary;
use super::tick::TickSums;
use super::{data, findings, line, load_summary, point, scaling, stats};
use plimsoll_plan::{Interference, PlacedName};
use plimsoll_record::{Point, PointPurpose, SubjectId};

/// What the points of one ladder have in common: index of the step, the plan's system of which it is an instance or else the
/// system, medium, mode, what runs beside.
type LadderKey<'a> = (
    u32,
    Result<&'a str, SubjectId>,
    Option<SubjectId>,
    &'a str,
    Interference,
);

pub(super) fn ladders(index: &Index) -> Vec<LadderSummary> {
    // Instances of one system belong together.
    let mut grouped: BTreeMap<LadderKey<'_>, Vec<&Point>> = BTreeMap::new();
    for point in index
        .record
        .points
        .iter()
        .filter(|point| is_of_ladder(point))
    {
        let system = index.base_of(point.system).ok_or(point.system);
        grouped
            .entry((
                point.step_index,
                system,
                point.medium,
                &point.mode,
                point.scene,
            ))
            .or_default()
            .push(point);
    }
    let mut ladders = Vec::new();
    for ((_, system, ..), points) in grouped {
        ladders.push(match system {
            Ok(base) => fleet_ladder(index, base, &points),
            Err(_) => ladder(index, points),
        });
    }
    ladders.sort_by_key(|ladder: &LadderSummary| ladder.step_index);
    ladders
}

fn ladder(index: &Index, mut points: Vec<&Point>) -> LadderSummary {
    points.sort_by_key(|point| (point.ordinal, point.repeat, point.id));
    if points
        .iter()
        .any(|point| point.purpose == PointPurpose::Search)
    {
        points.sort_by(|a, b| line::load_of(a).total_cmp(&line::load_of(b)));
    }
    let first = points[0];
    let mut ladder = LadderSummary {
        step: first.step.clone(),
        step_index: first.step_index,
        system: index.name(first.system),
        medium: first.medium.map(|medium| index.name(medium)),
        drive: index.drive_title(first.medium),
        is_simulated: index.record.is_simulated(),
        slower: index.slower(first.medium),
        workload: first.workload.clone(),
        mode: first.mode.clone(),
        data: data::state(index, first.system),
        scene: first.scene,
        points: points
            .iter()
            .map(|point| point::summarise(index, point))
            .collect(),
        loads: Vec::new(),
        peak: None,
        line: None,
        scaling: None,
        findings: Vec::new(),
        fleet: None,
    };
    ladder.findings = findings::of_step(index, &ladder.points, first);
    // A database that is inconsistent at the end of the step may have been so at any of its points.
    let verdict = Verdict::of(&ladder.findings);
    ladder
        .points
        .iter_mut()
        .for_each(|point| point.verdict = point.verdict.max(verdict));
    ladder.loads = load_summary::summarise_loads(&ladder.points);
    ladder.line = line::of(index, &ladder, &points);
    if let Some(line) = &ladder.line {
        for (place, finding) in findings::too_few_samples(line, &ladder.loads) {
            let point = &mut ladder.points[place];
            point.findings.push(finding);
            point.verdict = Verdict::of(&point.findings).max(verdict);
        }
    }
    if let Some(line) = ladder
        .line
        .as_ref()
        .map(|line| line.line.unwrap_or_default())
    {
        let above = ladder
            .points
            .iter_mut()
            .zip(&points)
            .filter(|(_, point)| line::load_of(point) > line);
        above.for_each(|(figures, _)| {
            figures.above_line = true;
            figures
                .findings
                .iter_mut()
                .for_each(findings::excuse_above_the_line);
            figures.verdict = Verdict::of(&figures.findings).max(verdict);
        });
        ladder.loads = load_summary::summarise_loads(&ladder.points);
    }
    ladder.peak = match &ladder.line {
        Some(line) => line
            .load_index
            .filter(|index| ladder.loads[*index].verdict < Verdict::Invalid),
        None => load_summary::peak(&ladder.loads),
    };
    ladder.scaling = match ladder.line {
        Some(_) => None,
        None => scaling::of(&ladder.loads),
    };
    ladder
}

/// What `work` makes of each, in their order: on two threads where there are many. A run of hours of twelve systems has
/// hundreds of points with a million seconds.
fn side_by_side<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    if items.len() < 4 {
        return items.iter().map(work).collect();
    }
    let (first, second) = items.split_at(items.len() / 2);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| second.iter().map(&work).collect::<Vec<R>>());
        let mut results = first.iter().map(&work).collect::<Vec<R>>();
        // A panic goes on as it would have without the thread.
        results.extend(
            other
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        );
        results
    })
}

/// The ladder of the sums of `points`, which are those of all systems of one kind on one medium.
fn fleet_ladder(index: &Index, base: &str, points: &[&Point]) -> LadderSummary {
    let mut systems: Vec<SubjectId> = points.iter().map(|point| point.system).collect();
    systems.sort_unstable();
    systems.dedup();
    let mut loads: Vec<(u32, u32)> = points
        .iter()
        .map(|point| (point.ordinal, point.repeat))
        .collect();
    loads.sort_unstable();
    loads.dedup();
    let (sums, shares): (Vec<PointSummary>, Vec<_>) = side_by_side(&loads, |load| {
        let mut members: Vec<&Point> = points
            .iter()
            .copied()
            .filter(|point| (point.ordinal, point.repeat) == *load)
            .collect();
        members.sort_by_key(|point| point.system);
        let own: Vec<_> = members
            .iter()
            .map(|point| point::with_sums(index, point))
            .collect();
        (point::sum_of(index, &members, &own), spread(&own))
    })
    .into_iter()
    .unzip();
    let first = points[0];
    let on = first.medium.map(|medium| index.name(medium));
    let count = systems.len();
    let mut ladder = LadderSummary {
        step: first.step.clone(),
        step_index: first.step_index,
        system: PlacedName {
            name: &format!("{count} × {base}"),
            medium: on.as_deref(),
        }
        .to_string(),
        medium: on,
        drive: index.drive_title(first.medium),
        is_simulated: index.record.is_simulated(),
        slower: index.slower(first.medium),
        workload: first.workload.clone(),
        mode: first.mode.clone(),
        data: data::state(index, first.system),
        scene: first.scene,
        points: sums,
        loads: Vec::new(),
        peak: None,
        line: None,
        scaling: None,
        findings: Vec::new(),
        fleet: Some(Fleet {
            systems: systems.iter().map(|system| index.name(*system)).collect(),
            points: shares,
        }),
    };
    ladder
        .points
        .iter_mut()
        .for_each(|point| point.key.system.clone_from(&ladder.system));
    ladder.findings = systems
        .iter()
        .filter_map(|system| points.iter().find(|point| point.system == *system))
        .flat_map(|point| findings::of_step(index, &ladder.points, point))
        .collect();
    let verdict = Verdict::of(&ladder.findings);
    ladder
        .points
        .iter_mut()
        .for_each(|point| point.verdict = point.verdict.max(verdict));
    ladder.loads = load_summary::summarise_loads(&ladder.points);
    ladder.peak = load_summary::peak(&ladder.loads);
    ladder.scaling = scaling::of(&ladder.loads);
    ladder
}

fn spread(own: &[(PointSummary, TickSums)]) -> FleetPoint {
    let rates: Vec<f64> = own
        .iter()
        .filter_map(|(point, _)| point.main_rate())
        .collect();
    let mean = (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64);
    let cv_percent = mean
        .filter(|mean| *mean > 0.0)
        .and_then(|mean| stats::deviation(&rates).map(|deviation| deviation / mean * 100.0));
    FleetPoint {
        systems: own.iter().map(|(point, _)| share(point)).collect(),
        mean,
        min: rates.iter().copied().reduce(f64::min),
        max: rates.iter().copied().reduce(f64::max),
        cv_percent,
    }
}

fn share(point: &PointSummary) -> FleetShare {
    FleetShare {
        system: point.key.system.clone(),
        figures: point.figures.clone(),
        verdict: point.verdict,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summarise;
    use crate::summary::Conservation;
    use crate::summary::FigureId;
    use plimsoll_record::fixture;
    use plimsoll_record::{Fact, INSTANCE_OF, Record};

    /// The fixture's point on two systems at the same time, the second twice as fast.
    fn two() -> Record {
        let mut record = fixture::single_point();
        let first = record.points[0].clone();
        let (system, id) = (SubjectId(90), plimsoll_record::PointId(90));
        let subject = record
            .subjects
            .iter()
            .find(|subject| subject.id == first.system)
            .unwrap()
            .clone();
        record.subjects.push(plimsoll_record::Subject {
            id: system,
            name: "db-2@fast".into(),
            ..subject
        });
        for subject in [first.system, system] {
            record.facts.push(Fact {
                subject,
                key: INSTANCE_OF.into(),
                value: "db".into(),
            });
        }
        record.points.push(Point {
            id,
            system,
            ..first.clone()
        });
        let phase_of = |phase: plimsoll_record::PhaseId| plimsoll_record::PhaseId(phase.0 + 900);
        let phases: Vec<_> = record
            .phases
            .iter()
            .filter(|phase| phase.point == Some(first.id))
            .cloned()
            .collect();
        let copied: Vec<_> = phases.iter().map(|phase| phase.id).collect();
        record
            .phases
            .extend(phases.into_iter().map(|phase| plimsoll_record::Phase {
                id: phase_of(phase.id),
                point: Some(id),
                ..phase
            }));
        let seconds: Vec<_> = record
            .seconds
            .iter()
            .filter(|s| copied.contains(&s.phase))
            .map(|s| s.to_second())
            .collect();
        for mut second in seconds {
            (second.phase, second.subject) = (phase_of(second.phase), system);
            let counts = second.counts;
            second.counts.add(&counts);
            second.in_flight *= 2;
            let own = second.response.clone();
            second.response.merge(&own);
            record.seconds.push(second);
        }
        let windows: Vec<_> = record
            .windows
            .iter()
            .filter(|w| copied.contains(&w.phase))
            .cloned()
            .collect();
        for mut window in windows {
            (window.phase, window.subject) = (phase_of(window.phase), system);
            let own = window.response.clone();
            window.response.merge(&own);
            record.windows.push(window);
        }
        record
    }

    #[test]
    fn systems_are_summed_and_spread_about_their_mean() {
        let alone = summarise(&fixture::single_point());
        let alone = &alone.figures.ladders[0].points[0];
        let summary = summarise(&two());
        assert_eq!(summary.figures.ladders.len(), 1, "one ladder of sums");
        let ladder = &summary.figures.ladders[0];
        assert!(ladder.system.starts_with("2 × db@"), "{}", ladder.system);
        let sum = &ladder.points[0];
        let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
        close(
            sum.value(FigureId::Nopm).unwrap(),
            alone.value(FigureId::Nopm).unwrap() * 3.0,
        );
        close(
            sum.value(FigureId::Tpm).unwrap(),
            alone.value(FigureId::Tpm).unwrap() * 3.0,
        );
        assert_eq!(
            sum.figures.get(FigureId::Nopm).unwrap().interval,
            None,
            "ten seconds are too short"
        );
        assert_eq!(
            (sum.key.load.users, sum.measured_s),
            (alone.key.load.users * 2, alone.measured_s)
        );
        let types = |point: &PointSummary| point.types[0].response.unwrap();
        assert_eq!(
            types(sum).count,
            types(alone).count * 3,
            "merged, not averaged"
        );
        let fleet = ladder.fleet.as_ref().unwrap();
        assert_eq!(fleet.systems.len(), 2);
        let point = &fleet.points[0];
        close(
            point.mean.unwrap(),
            alone.value(FigureId::Nopm).unwrap() * 1.5,
        );
        close(point.max.unwrap() / point.min.unwrap(), 2.0);
        // Rates 1 and 2: deviation √0.5, mean 1.5.
        close(point.cv_percent.unwrap(), 0.5f64.sqrt() / 1.5 * 100.0);
        assert_eq!(ladder.points[0].findings, []);
        let seconds = |point: &PointSummary| match point.conservation {
            Conservation::Holds { seconds } => seconds,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            seconds(sum),
            seconds(alone) * 2,
            "each system's own account"
        );
        assert_eq!(summary.figures.headline().unwrap().0.system, ladder.system);
    }
}
