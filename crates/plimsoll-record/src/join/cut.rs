//! Points that ended early on one host are as long on all.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use plimsoll_plan::units::Nanos;

use super::point_key::HostPoint;
use crate::{PhaseId, PointId, Record};

/// Leaves the seconds that all hosts have of a phase that not all have whole: with a part of the load missing the others
/// would look like a slower system.
pub(super) fn to_common_seconds(hosts: &mut [Record], points: &[Vec<HostPoint>]) {
    for same in points {
        let mut kinds: BTreeMap<&str, Vec<HostPhase>> = BTreeMap::new();
        for point in same {
            for phase in phases_of(&hosts[point.host], point) {
                kinds.entry(phase.kind).or_default().push(phase);
            }
        }
        let hosts_of_point: BTreeSet<usize> = same.iter().map(|point| point.host).collect();
        for phases in kinds.into_values() {
            let is_on_all = phases.len() >= hosts_of_point.len();
            if is_on_all && phases.iter().all(|phase| phase.is_complete) {
                continue;
            }
            let seconds = phases.iter().map(|phase| phase.starts.len()).min();
            let seconds = seconds.filter(|_| is_on_all).unwrap_or_default();
            for phase in &phases {
                cut(&mut hosts[phase.host], phase, seconds);
            }
        }
    }
}

struct HostPhase {
    host: usize,
    id: PhaseId,
    kind: &'static str,
    is_complete: bool,
    /// Starts of its seconds.
    starts: BTreeSet<Nanos>,
}

fn phases_of(record: &Record, host_point: &HostPoint) -> Vec<HostPhase> {
    let is_of_point = |point: Option<PointId>| point == Some(host_point.point);
    let phases = record.phases.iter();
    let under_load = phases.filter(|phase| is_of_point(phase.point) && phase.kind.is_under_load());
    let phases = under_load.map(|phase| {
        let ticks = record.seconds.ticks().iter();
        let starts = ticks.filter(|tick| tick.phase == phase.id);
        HostPhase {
            host: host_point.host,
            id: phase.id,
            kind: phase.kind.name(),
            is_complete: phase.complete,
            starts: starts.map(|tick| tick.start).collect(),
        }
    });
    phases.collect()
}

fn cut(record: &mut Record, phase: &HostPhase, seconds: usize) {
    let kept: HashSet<Nanos> = phase.starts.iter().copied().take(seconds).collect();
    record
        .seconds
        .retain_ticks(|tick| tick.phase != phase.id || kept.contains(&tick.start));
    // Percentiles come from the seconds that are left, on all hosts.
    record.windows.retain(|window| window.phase != phase.id);
    let ticks = record.seconds.ticks().iter();
    let left = ticks.filter(|tick| tick.phase == phase.id);
    let Some(end) = left.map(|tick| tick.end).max() else {
        record.phases.retain(|known| known.id != phase.id);
        return;
    };
    for cut in record.phases.iter_mut().filter(|it| it.id == phase.id) {
        cut.end = end;
        cut.complete = false;
    }
}
