//! Compares runs: the ratio of each figure, its interval, and what else differs between the runs.
//!
//! The first side is what the others are compared with. A ratio has a 95 % interval; a difference is *shown* where
//! the interval does not contain 1. The audit's rules for pairs apply: where one of severity error fires, the figures are
//! shown and are not quotable.

mod difference;
mod figures;
mod gate;
mod identity;
mod mark;
mod partner;
mod rounded;
mod side;
#[cfg(test)]
mod tests;
mod workload;

use serde::Serialize;

pub use difference::{Configuration, Difference, Group, differences};
pub use figures::{
    ComparedLatency, Effect, IntervalBasis, NotComparable, PointComparison, SideFigure,
};
pub use gate::{GateLimits, GateOutcome, GateReport, GatedPoint, gate};
pub use identity::RunIdentity;
pub use mark::Mark;
pub use rounded::RoundedRatio;
pub use side::{ComparedSide, LoadKey, OfferedLoad, RateKind, Repeat, SidePoint};
pub use workload::WorkloadParameters;

use crate::audit::Evidence;
use plimsoll_record::Severity;

/// Version of the exported shape.
pub const COMPARISON_VERSION: u32 = 1;

/// What is asked of a comparison.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Ask {
    /// The smallest change that matters, as a share; 0: any that can be shown.
    pub minimum_effect: f64,
    /// The one group that is to differ; `None`: none was named.
    pub factor: Option<Group>,
    /// Whether loads of different workloads have a ratio nevertheless.
    pub anyway: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunComparison {
    pub schema_version: u32,
    pub ask: Ask,
    /// The first is what the others are compared with.
    pub sides: Vec<SideInfo>,
    pub others: Vec<Against>,
}

/// What a side is made of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SideInfo {
    pub label: String,
    /// Titles of its runs, without doubles.
    pub titles: Vec<String>,
    pub run_ids: Vec<String>,
    /// Of the first run.
    pub started_at: String,
    pub commit: String,
}

/// One side against the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Against {
    /// Index into [`RunComparison::sides`].
    pub side: usize,
    pub differences: Vec<Difference>,
    pub marks: Vec<Mark>,
    pub points: Vec<PointComparison>,
    /// Loads that only one side has.
    pub only_first: Vec<LoadKey>,
    pub only_second: Vec<LoadKey>,
}

impl Against {
    /// Whether a rule forbids quoting the comparison.
    pub fn forbidden(&self) -> bool {
        self.marks
            .iter()
            .any(|mark| mark.severity == Severity::Error)
    }
}

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
    let differences = pairs.into_iter().flat_map(|(a, b)| workload::unlike(a, b));
    let mut descriptions: Vec<String> = differences.map(|found| found.describe()).collect();
    descriptions.sort();
    descriptions.dedup();
    (!descriptions.is_empty()).then(|| Evidence::Unlike {
        differs: descriptions.join("; "),
    })
}

impl SideInfo {
    fn of(side: &ComparedSide) -> Self {
        let mut titles: Vec<String> = side.runs.iter().map(|run| run.title.clone()).collect();
        titles.dedup();
        let first = side.runs.first();
        Self {
            label: side.label.clone(),
            titles,
            run_ids: side.runs.iter().map(|run| run.id.clone()).collect(),
            started_at: first.map(|run| run.started_at.clone()).unwrap_or_default(),
            commit: first
                .map(|run| run.plimsoll_commit.clone())
                .unwrap_or_default(),
        }
    }
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
        .flat_map(|(a, b)| workload::differences(a, b))
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
    let mut differences = [configured, workloads].concat();
    differences.sort_by_key(|found| found.group);
    Against {
        side,
        differences,
        marks,
        points,
        only_first: partners.only_first.into_iter().cloned().collect(),
        only_second: partners.only_second.into_iter().cloned().collect(),
    }
}
