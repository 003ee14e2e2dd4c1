//! The result of a comparison.

use serde::Serialize;

use super::ask::Ask;
use super::difference::{Difference, Factor};
use super::figures::PointComparison;
use super::mark::Mark;
use super::side::ComparedSide;
use plimsoll_record::{LoadKey, Severity};

/// Version of the exported shape.
pub const COMPARISON_VERSION: u32 = 2;

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
    /// What of it can be a cause; of several it is not shown which one is.
    pub factors: Vec<Factor>,
    pub marks: Vec<Mark>,
    pub points: Vec<PointComparison>,
    /// Loads that only one side has.
    pub only_first: Vec<LoadKey>,
    pub only_second: Vec<LoadKey>,
}

impl Against {
    /// Whether a rule of severity error fires, so that the ratios must not be quoted.
    pub fn forbidden(&self) -> bool {
        self.marks
            .iter()
            .any(|mark| mark.severity == Severity::Error)
    }
}

impl SideInfo {
    pub(super) fn of(side: &ComparedSide) -> Self {
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
