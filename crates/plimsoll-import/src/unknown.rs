//! Information that outputs of other tools lack, and the rules that need it: one sentence for each.

use super::load::ImportedLoad;

/// No tool reports the machine that its system ran on.
pub(super) const ENVIRONMENT: (&str, &str) = (
    "environment",
    "Hosts, kernels and drives are unknown: SAMEBOX, NOISE, CLIENT and ONEFACTOR cannot be evaluated.",
);
pub(super) const DURABILITY: (&str, &str) = (
    "durability",
    "fsync, commit settings and write caches are unknown: DURABLE and LIES cannot be evaluated.",
);
pub(super) const DATA: (&str, &str) = (
    "data_size",
    "The sizes of data set and memory are unknown: CACHED and SIZE cannot be evaluated.",
);
pub(super) const STARTED: (&str, &str) = (
    "started_at",
    "The output does not contain its start time; give it with --started.",
);
pub(super) const DISTRIBUTION: (&str, &str) = (
    "distribution",
    "The output has means and percentiles, but no distribution: they are kept as reported and never merged.",
);
pub(super) const SERIES: (&str, &str) = (
    "seconds",
    "The output has no intervals, only totals: STEADY, SHORT and MAINT cannot be evaluated.",
);
pub(super) const FLIGHT: (&str, &str) = (
    "in_flight",
    "Transactions in flight at the end of each second are unknown: CONSERVE cannot be evaluated.",
);
pub(super) const WORKLOAD: (&str, &str) = (
    "workload",
    "The output does not contain the name of the test; give it with --step.",
);
pub(super) const USERS: (&str, &str) = (
    "users",
    "The output does not contain the number of users: LITTLE cannot be evaluated; give it with --users.",
);

pub(super) const SEVENTH: (&str, &str) = (
    "response_from",
    "The log does not show whether its seventh field is a schedule lag (--rate) or retries (--max-tries): OMISSION and \
     LITTLE cannot be evaluated without pgbench's own output.",
);

impl ImportedLoad {
    pub(super) fn add_missing(&mut self, known: (&'static str, &str)) {
        if !self.unknown.iter().any(|(what, _)| *what == known.0) {
            self.unknown.push((known.0, known.1.to_owned()));
        }
    }

    /// What follows from the load itself, once it is complete.
    pub(super) fn note_what_is_missing(&mut self) {
        self.add_missing(ENVIRONMENT);
        self.add_missing(DURABILITY);
        self.add_missing(DATA);
        self.add_missing(FLIGHT);
        if self.started.is_none() {
            self.add_missing(STARTED);
        }
        if self.windows.iter().all(Option::is_none) {
            self.add_missing(DISTRIBUTION);
        }
        if self.ticks.len() < 2 {
            self.add_missing(SERIES);
        }
        if self.users == 0 {
            self.add_missing(USERS);
        }
    }
}
