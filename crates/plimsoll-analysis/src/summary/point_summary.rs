//! The figures of a point.

use std::collections::BTreeMap;

use serde::Serialize;

use super::array_phases::ArrayPhases;
use super::conserve::Conservation;
use super::cpu::CpuShares;
use super::cut::CutSummary;
use super::database::DatabaseFigures;
use super::drive_summary::DriveSummary;
use super::figure::{FigureId, FigureSet};
use super::finding::{Finding, Verdict};
use super::latency::{LatencySummary, TxnSummary};
use super::means::{MetricMean, Resources};
use super::outage::OutageSummary;
use super::responses::Responses;
use super::sign::Sign;
use super::stats::{Halves, Spread};
use super::steady::Steady;
use super::waits::WaitSummary;
use plimsoll_record::{Check, LoadKey, PointId};

/// How many transactions of a type completed, and how many times of completed ones the histograms have.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct HeldTimes {
    pub completed: u64,
    pub times: u64,
}

/// The default is a point of which nothing is known.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PointSummary {
    #[serde(flatten)]
    pub key: LoadKey,
    pub ordinal: u32,
    pub mode: String,
    /// Connections that the users share.
    pub connections: u32,
    /// Which time this load is measured, from 0.
    pub repeat: u32,
    /// Length of all recorded measure ticks.
    pub measured_s: f64,
    /// Whether warm-up and measurement ran to their planned ends.
    pub complete: bool,
    pub verdict: Verdict,
    pub findings: Vec<Finding>,
    /// Rates, shares, and response times of the main transaction type.
    #[serde(flatten)]
    pub figures: FigureSet,
    /// Too few seconds for parts that could be compared.
    #[serde(skip)]
    pub short: bool,
    /// How rates scatter over single seconds.
    pub spreads: BTreeMap<FigureId, Spread>,
    /// Whether the rate was steady over the window.
    pub steady: Steady,
    pub overall: TxnSummary,
    pub types: Vec<TxnSummary>,
    pub resources: Resources,
    /// Whose the CPU time was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuShares>,
    /// What limited it, the strongest sign first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bottleneck: Vec<Sign>,
    pub metrics: Vec<MetricMean>,
    /// What the server's sessions did.
    pub waits: Option<WaitSummary>,
    /// What the server counted.
    pub database: Option<DatabaseFigures>,
    /// The emulated drive that the medium is.
    pub drive: Option<DriveSummary>,
    /// Time without a server; `None` where there was one all the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outage: Option<OutageSummary>,
    /// The power cut that ended the point.
    pub power_cut: Option<CutSummary>,
    /// Before and after members of an emulated array failed or were replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<ArrayPhases>,
    pub conservation: Conservation,
    pub consistency: Consistency,
    /// Percentiles come from coarse histograms.
    pub coarse: bool,
    /// Of the record; several where figures are sums.
    #[serde(skip)]
    pub ids: Vec<PointId>,
    /// The tool that measured it and its version, where that was not plimsoll: `sysbench 1.0.20`.
    pub imported: Option<String>,
    /// How many parts of the time figures are taken from.
    #[serde(skip)]
    pub(super) ticks: usize,
    /// How the window's second half differs from its first: for the audit.
    #[serde(skip)]
    pub halves: Option<Halves>,
    /// Whether a search found its load above the load line, where no system keeps up.
    #[serde(skip)]
    pub above_line: bool,
    /// Of an open loop at one rate: how response times differ within the window; for the audit.
    #[serde(skip)]
    pub responses: Option<Responses>,
    /// Of all that was due in the window, transactions without an answer when the load was over.
    #[serde(skip)]
    pub(super) unfinished: u64,
    /// Per type, over all phases under load, as a transaction ends in a later phase than the one in which it was due.
    #[serde(skip)]
    pub(super) held: Vec<HeldTimes>,
    /// Per type, values above the histogram's range.
    #[serde(skip)]
    pub(super) clipped: Vec<(String, u64)>,
}

/// How many consistency conditions were verified, and which failed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Consistency {
    pub verified: u32,
    pub failed: Vec<String>,
}

impl Consistency {
    pub(super) fn of<'a>(checks: impl Iterator<Item = &'a Check>) -> Self {
        checks.fold(Self::default(), |mut sum, check| {
            sum.verified += 1;
            if !check.holds {
                sum.failed.push(check.clause.clone());
            }
            sum
        })
    }

    pub fn holds(&self) -> bool {
        self.verified > 0 && self.failed.is_empty()
    }
}

impl PointSummary {
    /// A figure without what is known about its error.
    pub fn value(&self, figure: FigureId) -> Option<f64> {
        self.figures.value(figure)
    }

    /// What points of one ladder are ranked by: NOPM, or the rate of completed transactions.
    pub fn main_rate(&self) -> Option<f64> {
        self.figures.main_rate().map(|rate| rate.value)
    }

    /// Response times of the first transaction type (New-Order), and of all types where there is no TPC-C.
    pub fn main_latency(&self) -> Option<LatencySummary> {
        if self.value(FigureId::Nopm).is_some() {
            self.types.first()?.response
        } else {
            self.overall.response
        }
    }
}
