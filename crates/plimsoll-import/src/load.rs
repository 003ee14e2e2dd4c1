//! One load as another tool reports it, in the terms of the record.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Tool;
use plimsoll_plan::units::Nanos;
use plimsoll_record::BlockPoint;
use plimsoll_record::hist::{CoarseHist, Hist};
use plimsoll_record::lane::Counts;

/// One load as one output reports it. Times count from its start.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedLoad {
    pub tool: Tool,
    /// Empty where the output lacks it.
    pub version: String,
    /// The files that report it.
    pub files: Vec<String>,
    /// What runs: name of the job or script; empty where the output lacks it.
    pub workload: String,
    /// 0 where the output lacks it.
    pub users: u32,
    /// Offered rate of an open loop.
    pub offered_per_second: Option<f64>,
    pub txns: Vec<String>,
    /// As in [`Point::parameters`](plimsoll_record::Point::parameters).
    pub parameters: BTreeMap<String, String>,
    /// Since 1970.
    pub started: Option<Nanos>,
    pub ticks: Vec<LoadTick>,
    /// By transaction type; `None` where the source has no distribution.
    pub windows: Vec<Option<LoadWindow>>,
    /// Block I/O; its `point` is filled in later.
    pub block: Option<BlockPoint>,
    pub shares: Vec<LoadShare>,
    pub figures: Vec<Figure>,
    /// What fio's logs of its jobs must fit.
    pub logs: JobLogs,
    /// The failure that the tool reports: no figure of the load may be used.
    pub failure: Option<String>,
    /// Facts about the system beside those of the import: `import.seconds`, `setting.fsync`.
    pub facts: Vec<(String, String)>,
    /// Missing information, and what cannot be evaluated without it.
    pub unknown: Vec<(&'static str, String)>,
}

/// The logs that jobs of fio write.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JobLogs {
    /// Numbers of the jobs in fio's run, from 1, which names of logs have; empty: unknown.
    pub numbers: Vec<Range<usize>>,
    /// `log_avg_msec`; `None`: not given.
    pub every_ms: Option<u64>,
    /// Logs and output may count from different times.
    pub has_ramp: bool,
}

/// What ended in a part of the time, by transaction type.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadTick {
    pub start: Nanos,
    pub end: Nanos,
    /// Whether figures are taken from it.
    pub measured: bool,
    pub counts: Vec<Counts>,
    /// Empty, or by type.
    pub response: Vec<CoarseHist>,
    /// Empty where it equals `response`.
    pub service: Vec<CoarseHist>,
}

impl LoadTick {
    pub fn new(start: Nanos, end: Nanos, counts: Vec<Counts>) -> Self {
        Self {
            start,
            end,
            measured: true,
            counts,
            response: Vec::new(),
            service: Vec::new(),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct LoadWindow {
    pub response: Hist,
    /// `None` where it equals `response`.
    pub service: Option<Hist>,
}

/// What one worker of a block load did.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadShare {
    pub worker: u32,
    pub txn: u32,
    pub requests: u64,
    pub bytes: u64,
    pub response: Hist,
}

/// A figure as the tool printed it.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Transaction type or part; empty: all.
    pub txn: String,
    /// As the tool names it.
    pub name: String,
    pub value: f64,
    /// The digits that the tool printed.
    pub printed: String,
    pub unit: String,
    /// Part of the time that it is about; `None`: all of it.
    pub over: Option<(Nanos, Nanos)>,
}

impl Figure {
    /// `None` where `printed` is no number.
    pub fn new(name: &str, printed: &str, unit: &str) -> Option<Self> {
        let value = printed
            .trim()
            .parse::<f64>()
            .ok()
            .filter(|value| value.is_finite())?;
        Some(Self {
            txn: String::new(),
            name: name.to_owned(),
            value,
            printed: printed.trim().to_owned(),
            unit: unit.to_owned(),
            over: None,
        })
    }

    pub fn of_txn(self, txn: &str) -> Self {
        Self {
            txn: txn.to_owned(),
            ..self
        }
    }

    pub fn over(self, start: Nanos, end: Nanos) -> Self {
        Self {
            over: Some((start, end)),
            ..self
        }
    }
}

impl ImportedLoad {
    pub fn new(tool: Tool) -> Self {
        Self {
            tool,
            version: String::new(),
            files: Vec::new(),
            workload: String::new(),
            users: 0,
            offered_per_second: None,
            txns: Vec::new(),
            parameters: BTreeMap::new(),
            started: None,
            ticks: Vec::new(),
            windows: Vec::new(),
            block: None,
            shares: Vec::new(),
            figures: Vec::new(),
            logs: JobLogs::default(),
            failure: None,
            facts: Vec::new(),
            unknown: Vec::new(),
        }
    }

    /// When its last tick ends.
    pub fn lasted(&self) -> Nanos {
        self.ticks
            .iter()
            .map(|tick| tick.end)
            .max()
            .unwrap_or_default()
    }

    /// `sysbench 1.0.20`.
    pub fn source(&self) -> String {
        format!("{} {}", self.tool.maker(), self.version)
            .trim_end()
            .to_owned()
    }

    pub(super) fn fact(&mut self, key: &str, value: impl Into<String>) {
        self.facts.push((key.to_owned(), value.into()));
    }
}
