//! What share of a run's transactions its logs hold, and whether `--sampling-rate` explains it.

use std::collections::BTreeMap;

use super::logged::Logged;
use super::logged::TOOL;
use crate::load::ImportedLoad;
use plimsoll_record::import_facts::DISTRIBUTION_FACT;
use plimsoll_record::message::ImportNote;

/// How much of a run the logs have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Held {
    All,
    /// Drawn at random.
    Sample,
    /// Less, and not by drawing.
    Part {
        lost: u64,
    },
}

/// Fewer transactions of a client than this may all be missing by chance.
const CERTAIN: f64 = 10.0;

impl Held {
    /// Of the output's transactions. Within a client numbers count up, so that a gap is a transaction that was not logged.
    pub fn of(load: &ImportedLoad, logs: &[Logged]) -> Result<Self, String> {
        let lines = logs.len() as u64;
        let transactions = load.counts().settled();
        let last = last_numbers(logs);
        let reached = last.values().copied().fold(0, u64::saturating_add);
        if let Some(client) = last.keys().find(|client| **client >= u64::from(load.users)) {
            let users = load.users;
            return Err(format!(
                "There is a client {client}, and the output is of {users} clients: the logs belong to another run"
            ));
        }
        let most = lines.max(reached);
        if most > transactions {
            return Err(format!(
                "There are {most} transactions, and the output has {transactions}: the logs belong to another run"
            ));
        }
        if lines == transactions {
            return Ok(Self::All);
        }
        let lost = transactions - reached;
        let rate = lines as f64 / reached.max(1) as f64;
        let users = f64::from(load.users);
        let of_a_client = rate * transactions as f64 / users;
        let all_clients = last.len() as f64 == users || of_a_client < CERTAIN;
        // Behind the last one that was drawn, on average 1/rate more of each client were not.
        let is_sample = lines < reached && all_clients && lost as f64 <= users * CERTAIN / rate;
        Ok(if is_sample {
            Self::Sample
        } else {
            Self::Part { lost }
        })
    }

    pub fn note(self, load: &mut ImportedLoad, logs: &[Logged], files: usize) {
        let lines = logs.len() as u64;
        let printed = lines.to_string();
        load.figures.add("transactions in the logs", &printed, "");
        if load.tool == TOOL {
            return;
        }
        let transactions = load.counts().settled();
        let percent = lines as f64 * 100.0 / transactions.max(1) as f64;
        let held = match self {
            Self::All => {
                load.note(ImportNote::LogsComplete { transactions });
                "all"
            }
            Self::Sample => {
                load.note(ImportNote::LogsSampled {
                    lines,
                    transactions,
                    percent,
                });
                "sample"
            }
            Self::Part { lost } => {
                load.note(ImportNote::LogsPartial {
                    lines,
                    transactions,
                    percent,
                });
                load.note(incomplete(load, logs, files, lost));
                "part"
            }
        };
        load.fact(DISTRIBUTION_FACT, held);
    }
}

/// Clients that are named at most.
const NAMED: usize = 8;

fn incomplete(load: &ImportedLoad, logs: &[Logged], files: usize, lost: u64) -> ImportNote {
    let present = last_numbers(logs);
    let clients = 0..u64::from(load.users);
    let absent: Vec<u64> = clients
        .filter(|client| !present.contains_key(client))
        .collect();
    // Each thread writes a log of its own.
    let threads = load.figures.find("number of threads");
    let threads = threads.filter(|threads| threads.value > files as f64);
    ImportNote::LogsIncomplete {
        lost,
        absent: absent.iter().take(NAMED).map(u64::to_string).collect(),
        further: absent.len().checked_sub(NAMED + 1).map(|n| n + 1),
        threads: threads.map(|threads| threads.value as u64),
        files,
    }
}

/// Whether transactions between those of a client are missing.
pub(super) fn has_gaps(logs: &[Logged]) -> bool {
    let mut first: BTreeMap<u64, u64> = BTreeMap::new();
    for one in logs {
        let own = first.entry(one.client).or_insert(one.number);
        *own = one.number.min(*own);
    }
    sum(&last_numbers(logs)) + first.len() as u128 > sum(&first) + logs.len() as u128
}

fn sum(numbers: &BTreeMap<u64, u64>) -> u128 {
    numbers.values().map(|own| u128::from(*own)).sum()
}

/// The highest transaction number of each client.
fn last_numbers(logs: &[Logged]) -> BTreeMap<u64, u64> {
    let mut last: BTreeMap<u64, u64> = BTreeMap::new();
    for one in logs {
        let own = last.entry(one.client).or_default();
        *own = one.number.max(*own);
    }
    last
}
