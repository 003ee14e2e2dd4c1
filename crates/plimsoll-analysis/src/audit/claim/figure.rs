//! A row of a published table, and its numbers by their keys.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::audit::input::Percentile;

/// One row of a table: only what the report states.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClaimFigure {
    pub name: String,
    /// The side that it is of; empty where there are none.
    pub side: String,
    /// Users or threads, with think time or without.
    pub users: Option<f64>,
    /// Requests or transactions per second.
    pub per_second: Option<f64>,
    /// MB (10⁶ bytes) per second, and the size of requests in KiB, which give the rate where that is missing.
    pub mb_per_second: Option<f64>,
    pub request_kib: Option<f64>,
    pub mean_ms: Option<f64>,
    pub min_ms: Option<f64>,
    pub p5_ms: Option<f64>,
    pub p10_ms: Option<f64>,
    pub p25_ms: Option<f64>,
    pub p50_ms: Option<f64>,
    pub p75_ms: Option<f64>,
    pub p80_ms: Option<f64>,
    pub p90_ms: Option<f64>,
    pub p95_ms: Option<f64>,
    pub p98_ms: Option<f64>,
    pub p99_ms: Option<f64>,
    /// Of 99.5 %; further digits follow in the same way.
    pub p995_ms: Option<f64>,
    pub p999_ms: Option<f64>,
    pub p9999_ms: Option<f64>,
    pub p99999_ms: Option<f64>,
    pub max_ms: Option<f64>,
    /// Lowest and highest of several systems, by key: `p99_ms = [86.9, 99.2]`.
    pub ranges: BTreeMap<String, [f64; 2]>,
    /// Requests or users that were kept in flight, in a closed loop without think time.
    pub in_flight: Option<f64>,
    pub tpm: Option<f64>,
    pub nopm: Option<f64>,
    /// 99th percentile of how late the generator was.
    pub lag_p99_ms: Option<f64>,
    /// CPU of the generator's busiest core, in percent.
    pub generator_percent: Option<f64>,
    pub offered: Option<u64>,
    pub committed: Option<u64>,
    pub rolled_back: Option<u64>,
    pub failed: Option<u64>,
    pub dropped: Option<u64>,
    pub measured_s: Option<f64>,
    /// Half the 95 % interval of the rate, in percent.
    pub interval_percent: Option<f64>,
    pub checkpoints: Option<f64>,
    pub written_mb: Option<f64>,
    pub drive_cache_mb: Option<f64>,
    pub device_reads_per_transaction: Option<f64>,
    /// Of the window's five parts.
    pub range_percent: Option<f64>,
    pub slope_percent: Option<f64>,
    /// Rates of the window's halves.
    pub first_half: Option<f64>,
    pub second_half: Option<f64>,
    /// Of a backup or restore.
    pub seconds: Option<f64>,
    pub moved_mb: Option<f64>,
    /// Consistency conditions that were verified, and those that failed.
    pub conditions_verified: Option<u32>,
    pub conditions_failed: Option<String>,
    /// An emulated drive: its lateness at the median, and operations beyond the next percentile, in percent.
    pub emulated_drive: Option<String>,
    pub emulated_ops: Option<u64>,
    pub late_percent: Option<f64>,
    pub beyond_percent: Option<f64>,
    /// Any other figures that sentences refer to.
    pub other: BTreeMap<String, f64>,
}

/// A number that a row may have.
struct FigureKey {
    name: &'static str,
    of: fn(&ClaimFigure) -> Option<f64>,
}

const fn key(name: &'static str, of: fn(&ClaimFigure) -> Option<f64>) -> FigureKey {
    FigureKey { name, of }
}

/// A slope is not among them: falls are below 0.
const NUMBERS: [FigureKey; 23] = [
    key("users", |figure| figure.users),
    key("per_second", |figure| figure.rate()),
    key("mb_per_second", |figure| figure.mb_per_second),
    key("request_kib", |figure| figure.request_kib),
    key("mean_ms", |figure| figure.mean_ms),
    key("in_flight", |figure| figure.in_flight),
    key("tpm", |figure| figure.tpm),
    key("nopm", |figure| figure.nopm),
    key("lag_p99_ms", |figure| figure.lag_p99_ms),
    key("generator_percent", |figure| figure.generator_percent),
    key("measured_s", |figure| figure.measured_s),
    key("interval_percent", |figure| figure.interval_percent),
    key("checkpoints", |figure| figure.checkpoints),
    key("written_mb", |figure| figure.written_mb),
    key("drive_cache_mb", |figure| figure.drive_cache_mb),
    key("device_reads_per_transaction", |figure| {
        figure.device_reads_per_transaction
    }),
    key("range_percent", |figure| figure.range_percent),
    key("first_half", |figure| figure.first_half),
    key("second_half", |figure| figure.second_half),
    key("seconds", |figure| figure.seconds),
    key("moved_mb", |figure| figure.moved_mb),
    key("late_percent", |figure| figure.late_percent),
    key("beyond_percent", |figure| figure.beyond_percent),
];

/// A percentile that a row may have: this share of all took no longer.
struct PercentileKey {
    share: f64,
    key: FigureKey,
}

const fn percentile(
    share: f64,
    name: &'static str,
    of: fn(&ClaimFigure) -> Option<f64>,
) -> PercentileKey {
    PercentileKey {
        share,
        key: key(name, of),
    }
}

/// By share, from the minimum to the maximum.
const PERCENTILES: [PercentileKey; 16] = [
    percentile(0.0, "min_ms", |figure| figure.min_ms),
    percentile(0.05, "p5_ms", |figure| figure.p5_ms),
    percentile(0.1, "p10_ms", |figure| figure.p10_ms),
    percentile(0.25, "p25_ms", |figure| figure.p25_ms),
    percentile(0.5, "p50_ms", |figure| figure.p50_ms),
    percentile(0.75, "p75_ms", |figure| figure.p75_ms),
    percentile(0.8, "p80_ms", |figure| figure.p80_ms),
    percentile(0.9, "p90_ms", |figure| figure.p90_ms),
    percentile(0.95, "p95_ms", |figure| figure.p95_ms),
    percentile(0.98, "p98_ms", |figure| figure.p98_ms),
    percentile(0.99, "p99_ms", |figure| figure.p99_ms),
    percentile(0.995, "p995_ms", |figure| figure.p995_ms),
    percentile(0.999, "p999_ms", |figure| figure.p999_ms),
    percentile(0.9999, "p9999_ms", |figure| figure.p9999_ms),
    percentile(0.99999, "p99999_ms", |figure| figure.p99999_ms),
    percentile(1.0, "max_ms", |figure| figure.max_ms),
];

impl ClaimFigure {
    /// What a report calls it: its name, with the side that it is of.
    pub fn title(&self) -> String {
        if self.side.is_empty() {
            self.name.clone()
        } else {
            format!("{}, {}", self.name, self.side)
        }
    }

    /// A rate, or what bandwidth and size of requests give.
    pub fn rate(&self) -> Option<f64> {
        self.per_second.or_else(|| {
            Some(self.mb_per_second? * 1e6 / (self.request_kib.filter(|kib| *kib > 0.0)? * 1024.0))
        })
    }

    /// The number that stands under a key, those of `other` included.
    pub fn number(&self, name: &str) -> Option<f64> {
        match keys().find(|key| key.name == name) {
            Some(key) => (key.of)(self),
            None => self.other.get(name).copied(),
        }
    }

    /// All numbers with their keys.
    pub(super) fn numbers(&self) -> impl Iterator<Item = (&str, f64)> {
        let known = keys().filter_map(|key| Some((key.name, (key.of)(self)?)));
        known.chain(
            self.other
                .iter()
                .map(|(name, value)| (name.as_str(), *value)),
        )
    }

    /// Those that are stated, from the minimum to the maximum.
    pub(super) fn percentiles(&self) -> Vec<Percentile> {
        percentiles(|key| (key.of)(self))
    }

    /// Lowest or highest (`end`) of those whose range is stated.
    pub(super) fn percentiles_of_ranges(&self, end: usize) -> Vec<Percentile> {
        percentiles(|key| self.ranges.get(key.name).map(|range| range[end]))
    }
}

fn keys() -> impl Iterator<Item = &'static FigureKey> {
    NUMBERS
        .iter()
        .chain(PERCENTILES.iter().map(|percentile| &percentile.key))
}

fn percentiles(of: impl Fn(&FigureKey) -> Option<f64>) -> Vec<Percentile> {
    PERCENTILES
        .iter()
        .filter_map(|own| {
            Some(Percentile {
                name: label(own.key.name),
                share: own.share,
                ms: of(&own.key)?,
            })
        })
        .collect()
}

/// `p99` of the key `p99_ms`.
fn label(key: &str) -> String {
    key.trim_end_matches("_ms").to_owned()
}

/// Whether a row may have a number under this key.
pub(super) fn is_key(name: &str) -> bool {
    keys().any(|key| key.name == name)
}
