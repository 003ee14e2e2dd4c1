//! One load as another tool reports it, in the terms of the record.

use std::collections::BTreeMap;
use std::ops::Range;

use super::tool::Tool;
use plimsoll_plan::units::Nanos;
use plimsoll_record::BlockPoint;
use plimsoll_record::hist::{CoarseHist, Hist};
use plimsoll_record::import_facts::{self, PERCENTILES_FACT, RESPONSE_FACT};
use plimsoll_record::lane::Counts;
use plimsoll_record::message::{CheckDetail, ImportNote};

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
    pub figures: PrintedFigures,
    /// What fio's logs of its jobs must fit.
    pub logs: JobLogs,
    /// The failure that the tool reports: no figure of the load may be used.
    pub failure: Option<CheckDetail>,
    /// Whether it ended before the time that it was asked to last.
    pub ended_early: bool,
    /// Facts about the system by their keys: `import.response_from`, `setting.fsync`.
    pub facts: Vec<(String, String)>,
    /// Missing information, and how figures were found that the output does not print.
    pub notes: Vec<ImportNote>,
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

/// Part of the time of a load.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Span {
    pub start: Nanos,
    pub end: Nanos,
}

impl Span {
    pub fn of_seconds(start_s: f64, end_s: f64) -> Self {
        Self {
            start: Nanos::from_secs_f64(start_s),
            end: Nanos::from_secs_f64(end_s),
        }
    }

    pub fn of_millis(start_ms: u64, end_ms: u64) -> Self {
        Self {
            start: Nanos::from_millis(start_ms),
            end: Nanos::from_millis(end_ms),
        }
    }
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
    pub fn new(span: Span, counts: Vec<Counts>) -> Self {
        Self {
            start: span.start,
            end: span.end,
            measured: true,
            counts,
            response: Vec::new(),
            service: Vec::new(),
        }
    }
}

/// Whether a run that lasted so long did not last as long as asked for: threads take a moment to start and to stop.
pub(super) fn ends_early(lasted_s: f64, asked_s: f64) -> bool {
    lasted_s > 0.0 && asked_s - lasted_s > (asked_s * 0.05).max(1.0)
}

/// Counts of requests that all succeeded.
pub(super) fn completed(requests: u64, bytes: u64) -> Counts {
    Counts {
        offered: requests,
        committed: requests,
        bytes,
        ..Counts::default()
    }
}

pub(super) fn sum_of<'a>(all: impl IntoIterator<Item = &'a Counts>) -> Counts {
    let mut sum = Counts::default();
    for counts in all {
        sum.add(counts);
    }
    sum
}

#[derive(Debug, Clone, PartialEq)]
pub struct LoadWindow {
    pub response: Hist,
    /// `None` where it equals `response`.
    pub service: Option<Hist>,
}

impl LoadWindow {
    /// `None` where the distribution is empty.
    pub fn of_response(response: Hist) -> Option<Self> {
        (!response.is_empty()).then_some(Self {
            response,
            service: None,
        })
    }
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
pub struct PrintedFigure {
    /// Transaction type or part; empty: all.
    pub txn: String,
    /// As the tool names it.
    pub name: String,
    pub value: f64,
    /// The digits that the tool printed.
    pub printed: String,
    pub unit: String,
    /// Part of the time that it is about; `None`: all of it.
    pub over: Option<Span>,
}

/// Figures in the order in which the tool printed them. What is no finite number is left out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PrintedFigures(pub Vec<PrintedFigure>);

impl PrintedFigures {
    /// Of all transactions and the whole time.
    pub fn add(&mut self, name: &str, printed: &str, unit: &str) {
        self.put("", name, printed, unit, None);
    }

    pub fn add_of(&mut self, txn: &str, name: &str, printed: &str, unit: &str) {
        self.put(txn, name, printed, unit, None);
    }

    pub fn add_over(&mut self, over: Span, name: &str, printed: &str, unit: &str) {
        self.put("", name, printed, unit, Some(over));
    }

    pub fn put(&mut self, txn: &str, name: &str, printed: &str, unit: &str, over: Option<Span>) {
        let printed = printed.trim();
        let Ok(value) = printed.parse::<f64>() else {
            return;
        };
        if value.is_finite() {
            self.0.push(PrintedFigure {
                txn: txn.to_owned(),
                name: name.to_owned(),
                value,
                printed: printed.to_owned(),
                unit: unit.to_owned(),
                over,
            });
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &PrintedFigure> {
        self.0.iter()
    }

    /// Of all transactions and the whole time.
    pub fn find(&self, name: &str) -> Option<&PrintedFigure> {
        let mut own = self.0.iter().filter(|own| own.over.is_none());
        own.find(|own| own.name == name && own.txn.is_empty())
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
            figures: PrintedFigures::default(),
            logs: JobLogs::default(),
            failure: None,
            ended_early: false,
            facts: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// When its last tick ends.
    pub fn lasted(&self) -> Nanos {
        let ends = self.ticks.iter().map(|tick| tick.end);
        ends.max().unwrap_or_default()
    }

    /// Over all ticks and types.
    pub(super) fn counts(&self) -> Counts {
        sum_of(self.ticks.iter().flat_map(|tick| &tick.counts))
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

    /// In place of a value that it has already.
    pub(super) fn replace_fact(&mut self, key: &str, value: &str) {
        self.facts.retain(|(own, _)| own != key);
        self.fact(key, value);
    }

    pub(super) fn value(&self, key: &str) -> Option<&str> {
        let mut facts = self.facts.iter();
        facts
            .find(|(own, _)| own == key)
            .map(|(_, value)| value.as_str())
    }

    /// What latencies count from: `due`, `start` or `unknown`; and whether percentiles are over all clients.
    pub(super) fn latencies(&mut self, from: &str, percentiles: &str) {
        self.fact(RESPONSE_FACT, from);
        self.fact(PERCENTILES_FACT, percentiles);
    }

    pub(super) fn note(&mut self, note: ImportNote) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// In place of another one of the same fact.
    pub(super) fn replace_note(&mut self, note: ImportNote) {
        let key = import_facts::note_key(&note);
        self.notes.retain(|own| import_facts::note_key(own) != key);
        self.notes.push(note);
    }

    pub(super) fn drop_notes(&mut self, notes: &[ImportNote]) {
        self.notes.retain(|own| !notes.contains(own));
    }
}
