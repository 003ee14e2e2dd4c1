//! The numbers that rules compare figures with, each with its source. A plan's `[audit]` changes them, and changes are
//! shown with the verdict.

use serde::{Deserialize, Serialize, Serializer};

/// Calls `$then` with every threshold: key, default, unit, lowest and highest value that a plan may give, source, and
/// what it is. One list for the values, the plan's keys, the documentation and the report.
macro_rules! for_each_threshold {
    ($then:ident) => {
        $then! {
            in_flight, 10.0, "%", 0.1, 100.0, "Little (1961) holds exactly over a window that begins and ends idle; 10 % leaves room for its edges.",
                "LITTLE: how far rate × mean latency may be off the number in flight.";
            steady_range, 20.0, "%", 0.1, 1000.0, "SNIA PTS 2.0.2, steady state: highest less lowest of five rounds.",
                "STEADY: range of the rates of the window's five parts, of their mean.";
            steady_slope, 10.0, "%", 0.1, 1000.0, "SNIA PTS 2.0.2, steady state: least-squares line over five rounds.",
                "STEADY: rise or fall of the line through them, of their mean.";
            halves, 5.0, "%", 0.1, 1000.0, "plimsoll's own: a drift that the rule of five parts lets pass.",
                "STEADY: how far the second half's rate may be off the first's.";
            interval, 5.0, "%", 0.1, 1000.0, "plimsoll's own: differences between media that are quoted are often below 10 %.",
                "SHORT: half the 95 % interval of the rate, of the rate.";
            window, 10.0, "s", 1.0, 86_400.0, "plimsoll's own: five parts of two seconds are the least that show whether a figure holds.",
                "SHORT: least measured time; a shorter window does not pass STEADY either.";
            response_interval, 20.0, "%", 0.1, 1000.0, "plimsoll's own: response times scatter more than rates.",
                "SHORT: of an open loop, half the 95 % interval of the mean response time, of that time.";
            checkpoints, 2.0, "checkpoints", 0.0, 1000.0, "plimsoll's own: with fewer, a window shows either their burst or their pause.",
                "SHORT: fewest checkpoints that the window holds.";
            reads, 0.01, "reads", 0.0, 1_000_000.0, "plimsoll's own: one read in a hundred transactions leaves reads out of the figure.",
                "CACHED: fewest reads of the device for each transaction, where the data fit into memory.";
            generator, 90.0, "%", 1.0, 100.0, "plimsoll's own: beyond it queueing for the generator's CPU counts as the system's latency.",
                "CLIENT: CPU of a load generator's core.";
            lag, 10.0, "%", 0.1, 1000.0, "plimsoll's own: lateness of the generator is part of each response time.",
                "CLIENT: 99th percentile of the schedule's lag, of the median response time.";
            steal, 1.0, "%", 0.0, 100.0, "plimsoll's own, as the doctor has it.",
                "NOISE: CPU time that the hypervisor gave to others.";
            other_cpu, 10.0, "%", 0.0, 100.0, "plimsoll's own, as the doctor has it.",
                "NOISE: CPU time of other programs, of the machine's.";
            calibration, 2.0, "%", 0.1, 100.0, "plimsoll's own: a machine that changes by more changes what is measured on it.",
                "NOISE: how far a calibration after the run may be off the one before.";
            other_io, 5.0, "%", 0.1, 100.0, "plimsoll's own.",
                "NOISE: share of the device's I/O that is not the system's.";
            entropy, 10.0, "points", 0.1, 100.0, "plimsoll's own: drives that compress gain about what can be compressed.",
                "ENTROPY: how much more compressible test data may be than the plan states, in percentage points.";
            tpm_per_nopm, 2.245, "", 1.0, 1000.0, "TPC-C clause 5.2.3: 45 % New-Orders, of which clause 2.4.1.4 rolls 1 % back: 1 / (0.45 × 0.99).",
                "RATIO: transactions of all types for each committed New-Order.";
            ratio, 3.0, "%", 0.1, 1000.0, "plimsoll's own: decks of cards keep the mix much closer.",
                "RATIO: how far TPM/NOPM may be off that, or off the other side's.";
            size, 5.0, "%", 0.1, 1000.0, "plimsoll's own: the same population differs by page fill only.",
                "SIZE: how far bytes per warehouse or row may differ.";
            moved, 5.0, "%", 0.1, 1000.0, "plimsoll's own: room for rounded figures.",
                "RATE: how far MB/s × seconds may be off the bytes moved.";
            wording, 2.0, "%", 0.1, 1000.0, "plimsoll's own: figures quoted with two or three digits.",
                "WORDING: how far a ratio in a sentence may be off that of its figures.";
            repeats, 2.0, "runs", 1.0, 1000.0, "plimsoll's own: one run does not predict the next.",
                "REPEAT: fewest runs on each side of a comparison.";
            rounding, 2.0, "%", 0.1, 100.0, "plimsoll's own: figures quoted with two or three digits.",
                "PLAUSIBLE: how far a mean may lie outside of what its percentiles leave room for.";
            bandwidth, 10.0, "%", 0.1, 100.0, "plimsoll's own: room for rounding, and for MiB that are called MB (4.9 %).",
                "PLAUSIBLE: how far MB/s may be off rate × size of requests.";
            neighbors, 100.0, "times", 2.0, 1_000_000.0, "plimsoll's own: digits too many or too few; along a ladder rates change by less.",
                "PLAUSIBLE: how many times the rows beside it a rate may be, or they the rate.";
            duration, 5.0, "%", 0.1, 100.0, "plimsoll's own: room for rounded times.",
                "DURATION: how far the sum of the parts may be off the stated time.";
        }
    };
}
pub(crate) use for_each_threshold;

macro_rules! thresholds {
    ($($key:ident, $default:literal, $unit:literal, $low:literal, $high:literal, $source:literal, $what:literal;)*) => {
        /// What rules compare figures with.
        #[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
        #[serde(default)]
        pub struct Thresholds { $(#[doc = $what] pub $key: f64),* }

        impl Default for Thresholds {
            fn default() -> Self {
                Self { $($key: $default),* }
            }
        }

        impl Thresholds {
            /// All of them, in the order of reports.
            pub fn list(&self) -> Vec<Threshold> {
                vec![$(Threshold {
                    key: stringify!($key), value: self.$key, default: $default, unit: $unit, least: $low, most: $high,
                    source: $source, what: $what,
                }),*]
            }
        }
    };
}

for_each_threshold!(thresholds);

/// Only what a plan changes: what it leaves alone is that of the plimsoll that audits.
impl Serialize for Thresholds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(
            self.adjusted()
                .iter()
                .map(|threshold| (threshold.key, threshold.value)),
        )
    }
}

/// One number, and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Threshold {
    /// In the plan's `[audit]`.
    pub key: &'static str,
    pub value: f64,
    pub default: f64,
    pub unit: &'static str,
    /// What a plan may give.
    pub least: f64,
    pub most: f64,
    pub source: &'static str,
    pub what: &'static str,
}

impl Threshold {
    pub fn is_adjusted(&self) -> bool {
        self.value != self.default
    }
}

impl Thresholds {
    /// `Err`: a threshold that no plan may give. With it a rule would pass or fire on whatever was measured.
    pub(crate) fn check_bounds(&self) -> Result<(), String> {
        let mut all = self.list().into_iter();
        match all.find(|it| !(it.least..=it.most).contains(&it.value)) {
            None => Ok(()),
            Some(Threshold {
                key,
                value,
                least,
                most,
                ..
            }) => Err(format!(
                "its threshold `{key}` is {value}, and {least} to {most} is possible"
            )),
        }
    }

    pub fn adjusted(&self) -> Vec<Threshold> {
        self.list()
            .into_iter()
            .filter(Threshold::is_adjusted)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_one_that_a_plan_may_give() {
        for threshold in Thresholds::default().list() {
            assert!(
                (threshold.least..=threshold.most).contains(&threshold.default),
                "{threshold:?}"
            );
            assert!(!threshold.is_adjusted() && !threshold.source.is_empty());
        }
    }

    #[test]
    fn a_plan_changes_what_it_names() {
        let changed = Thresholds {
            interval: 12.0,
            steal: 2.5,
            ..Thresholds::default()
        };
        let keys: Vec<&str> = changed.adjusted().iter().map(|t| t.key).collect();
        assert_eq!(keys, ["interval", "steal"]);
    }
}
