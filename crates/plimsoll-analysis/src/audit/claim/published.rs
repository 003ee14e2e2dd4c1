//! A published claim as its file states it.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::figure::ClaimFigure;
use super::table::claim_table;
use crate::audit::input::GeneratorLocation;
use plimsoll_plan::Thresholds;

/// A published report, or one table of it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedClaim {
    pub title: String,
    /// Who published it, where and when.
    pub source: String,
    /// What holds for all sides that do not state otherwise.
    #[serde(default)]
    pub method: Method,
    #[serde(default)]
    pub side: Vec<ClaimSide>,
    #[serde(default)]
    pub figure: Vec<ClaimFigure>,
    #[serde(default)]
    pub comparison: Vec<ClaimComparison>,
    #[serde(default)]
    pub sentence: Vec<ClaimSentence>,
    #[serde(default)]
    pub duration: Vec<ClaimDuration>,
    /// Thresholds that are not the usual ones.
    #[serde(default)]
    pub audit: Option<Thresholds>,
}

claim_table! {
    /// The method of measurement.
    Method, figures stated in a Method {
        /// Where the load generator ran: `same` machine as the system, or `other`.
        generator: Option<GeneratorLocation>,
        /// From when latencies count.
        latency_from: Option<LatencyFrom>,
        percentiles: Option<Percentiles>,
        /// How often each side was measured.
        runs: Option<u32>,
        /// `performance`, `powersave`.
        governor: Option<String>,
        /// Settings that decide about durability: `fsync`, `synchronous_commit`, `innodb_flush_log_at_trx_commit`.
        durability: BTreeMap<String, String>,
        warehouses: Option<u64>,
        rows: Option<u64>,
        /// What ran in the measured windows: `checkpoints = 3`.
        maintenance: BTreeMap<String, f64>,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LatencyFrom {
    /// When the transaction was due.
    Due,
    /// When it was started, in an open loop.
    Start,
    /// A closed loop: both are one.
    Closed,
}

impl LatencyFrom {
    pub fn name(self) -> &'static str {
        match self {
            Self::Due => "due",
            Self::Start => "start",
            Self::Closed => "closed",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Percentiles {
    Merged,
    Averaged,
}

impl Percentiles {
    pub fn name(self) -> &'static str {
        match self {
            Self::Merged => "merged",
            Self::Averaged => "averaged",
        }
    }
}

/// One side of comparisons.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimSide {
    pub name: String,
    /// The side whose configuration and method hold where this one states nothing else.
    pub like: Option<String>,
    /// What can make a difference, by name: `hosts`, `drives`, `number of drives`, `memory`, `loaded systems`.
    #[serde(default)]
    pub configuration: BTreeMap<String, toml::Value>,
    /// Systems whose figures are compared.
    pub victims: Option<u32>,
    /// What ran beside them; left out: nothing.
    #[serde(default)]
    pub noise: String,
    /// Where this side differs from [`PublishedClaim::method`].
    #[serde(default)]
    pub method: Method,
}

/// What is compared with what.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimComparison {
    /// Names of two sides.
    pub first: String,
    pub second: String,
    /// The one thing that is to differ, as `configuration` calls it. Empty: the report names none.
    #[serde(default)]
    pub factor: String,
    /// The effect that is claimed, in percent.
    pub effect_percent: Option<f64>,
}

/// A sentence and the figures it refers to, written `figure name: key`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimSentence {
    pub text: String,
    #[serde(rename = "says")]
    pub relation: Relation,
    pub value: f64,
    /// Left out where the report has no such figure.
    #[serde(default)]
    pub of: Vec<String>,
    #[serde(default)]
    pub than: Vec<String>,
}

/// A time and the parts that it consists of.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimDuration {
    pub name: String,
    /// All of it: `12h`, `1h 30m`. Left out where the report does not state it.
    pub stated: Option<String>,
    pub parts: Vec<ClaimPart>,
}

/// A part of a time.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimPart {
    pub name: String,
    pub lasts: String,
    /// How often it comes.
    #[serde(default = "once")]
    pub times: u32,
}

fn once() -> u32 {
    1
}

/// The relation of two figures that a sentence states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// `a` is so many times `b`.
    Times,
    /// `a` is so many percent of `b`: a ratio of p/100.
    PercentOf,
    /// `a` is so many percent more than `b`: a ratio of 1 + p/100.
    PercentMore,
    /// `a` is so many percent less than `b`: a ratio of 1 − p/100.
    PercentLess,
    /// The figures of `of` add up to this.
    Sum,
    /// The mean of the figures of `of` is this.
    Mean,
    /// The figures of `of` differ by this.
    Difference,
}
