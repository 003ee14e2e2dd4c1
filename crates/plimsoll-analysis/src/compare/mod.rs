//! Compares runs: the ratio of each figure, its interval, and what else differs between the runs.
//!
//! The first side is what the others are compared with. A ratio has a 95 % interval; a difference is *shown* where
//! the interval rests on repeats and does not contain 1. The audit's rules for pairs apply: where one of severity error fires, the figures are
//! shown and are not quotable.

mod ask;
mod comparison;
mod difference;
mod figures;
mod gate;
mod gate_outcome;
mod identity;
mod mark;
mod partner;
mod requirement;
mod rounded;
mod side;
#[cfg(test)]
mod tests;
mod workload;

pub use ask::Ask;
pub use comparison::{Against, COMPARISON_VERSION, RunComparison, SideInfo};
pub use difference::{Configuration, Difference, Factor, Group, differences};
pub use figures::{
    Effect, FigureComparison, IntervalBasis, NotComparable, PointComparison, SidePart,
};
pub use gate::{GateLimits, GateReport, GateResult, GatedPoint, Objection, PointReason, gate};
pub use gate_outcome::GateOutcome;
pub use identity::RunIdentity;
pub use mark::Mark;
pub use requirement::{RequiredPoint, RequirementReason, RequirementReport, require};
pub use rounded::RoundedRatio;
pub use side::{ComparedSide, Repeat, RepeatFigures, SidePoint};
pub use workload::WorkloadParameters;

use crate::audit::Evidence;

/// Compares all other sides with the first.
pub fn compare(sides: &[ComparedSide], ask: &Ask) -> RunComparison {
    let others = sides.iter().enumerate().skip(1);
    RunComparison {
        schema_version: COMPARISON_VERSION,
        ask: ask.clone(),
        sides: sides.iter().map(SideInfo::of).collect(),
        others: others
            .map(|(i, second)| against(&sides[0], second, i, ask))
            .collect(),
    }
}

/// How the workloads of matching loads differ, as evidence for the audit; `None` where they are alike.
pub fn unlike(first: &ComparedSide, second: &ComparedSide) -> Option<Evidence> {
    let pairs = partner::partners(first, second).pairs;
    let differences = pairs.into_iter().flat_map(|(a, b)| a.unlike_workload(b));
    let mut descriptions: Vec<String> = differences.map(|found| found.describe()).collect();
    descriptions.sort();
    descriptions.dedup();
    (!descriptions.is_empty()).then(|| Evidence::Unlike {
        differs: descriptions.join("; "),
    })
}

fn against(first: &ComparedSide, second: &ComparedSide, side: usize, ask: &Ask) -> Against {
    let partners = partner::partners(first, second);
    let points: Vec<PointComparison> = partners
        .pairs
        .iter()
        .map(|(a, b)| figures::compare_points(a, b, ask))
        .collect();
    let configured = differences(&first.configuration, &second.configuration);
    let mut workloads: Vec<Difference> = partners
        .pairs
        .iter()
        .flat_map(|(a, b)| a.workload_differences(b))
        .collect();
    workloads.sort_by(|a, b| (a.group, &a.of, &a.key).cmp(&(b.group, &b.of, &b.key)));
    workloads.dedup();
    let sides = mark::Sides {
        first,
        second,
        differences: &configured,
        workloads: &workloads,
        points: &points,
        ask,
    };
    let marks = mark::marks(&sides);
    let factors = mark::factors(&sides);
    let mut differences = [configured, workloads].concat();
    differences.sort_by_key(|found| found.group);
    Against {
        side,
        differences,
        factors,
        marks,
        points,
        only_first: partners.only_first.into_iter().cloned().collect(),
        only_second: partners.only_second.into_iter().cloned().collect(),
    }
}
