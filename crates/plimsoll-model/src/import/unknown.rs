//! What outputs of other tools do not say, and what follows from that: one sentence for each, used wherever it holds.

use super::load::ImportedLoad;

/// No tool tells of the machine that its system ran on.
pub(super) const ENVIRONMENT: (&str, &str) = (
    "environment",
    "Nothing tells of hosts, kernels and drives: SAMEBOX, NOISE, CLIENT and ONEFACTOR cannot be judged.",
);
pub(super) const DURABILITY: (&str, &str) =
    ("durability", "Nothing tells of fsync, commit settings and write caches: DURABLE and LIES cannot be judged.");
pub(super) const DATA: (&str, &str) =
    ("data_size", "Nothing tells how large the data set and the memory were: CACHED and SIZE cannot be judged.");
pub(super) const STARTED: (&str, &str) =
    ("started_at", "The output does not tell when it was made; say so with --started.");
pub(super) const DISTRIBUTION: (&str, &str) = (
    "distribution",
    "The output has means and percentiles and no distribution: they stand as reported, and merge with nothing.",
);
pub(super) const SERIES: (&str, &str) =
    ("seconds", "The output tells only of the whole: STEADY, SHORT and MAINT cannot be judged.");
pub(super) const FLIGHT: (&str, &str) =
    ("in_flight", "The output does not tell what was under way at the end of each second: CONSERVE cannot be judged.");
pub(super) const WORKLOAD: (&str, &str) = ("workload", "The output does not tell which test ran; say so with --step.");
pub(super) const USERS: (&str, &str) =
    ("users", "The output does not tell how many users there were: LITTLE cannot be judged; say so with --users.");

pub(super) const SEVENTH: (&str, &str) = (
    "response_from",
    "The log has a seventh field, and nothing shows whether it is a schedule lag (--rate) or retries (--max-tries): OMISSION \
     and LITTLE cannot be judged without pgbench's own output.",
);

impl ImportedLoad {
    pub(super) fn does_not_know(&mut self, known: (&'static str, &str)) {
        if !self.unknown.iter().any(|(what, _)| *what == known.0) {
            self.unknown.push((known.0, known.1.to_owned()));
        }
    }

    /// What follows from the load itself, once it is complete.
    pub(super) fn note_what_is_missing(&mut self) {
        self.does_not_know(ENVIRONMENT);
        self.does_not_know(DURABILITY);
        self.does_not_know(DATA);
        self.does_not_know(FLIGHT);
        if self.started.is_none() {
            self.does_not_know(STARTED);
        }
        if self.windows.iter().all(Option::is_none) {
            self.does_not_know(DISTRIBUTION);
        }
        if self.ticks.len() < 2 {
            self.does_not_know(SERIES);
        }
        if self.users == 0 {
            self.does_not_know(USERS);
        }
    }
}
