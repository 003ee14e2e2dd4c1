//! What share of a run's transactions its logs hold, and whether `--sampling-rate` explains it.

use plimsoll_record::import_facts::{DISTRIBUTION_FACT, LOGS_FACT};
use std::collections::BTreeMap;

use super::{Logged, logged_figure};
use crate::load::ImportedLoad;
use plimsoll_record::lane::Counts;

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
        let (lines, transactions) = (logs.len() as u64, transactions(load));
        let last = last_numbers(logs);
        let reached = last
            .values()
            .fold(0, |sum: u64, own| sum.saturating_add(*own));
        if let Some(client) = last.keys().find(|client| **client >= u64::from(load.users)) {
            let users = load.users;
            return Err(format!(
                "there is a client {client}, and the output is of {users} clients: the logs belong to another run"
            ));
        }
        if lines.max(reached) > transactions {
            let most = lines.max(reached);
            return Err(format!(
                "there are {most} transactions, and the output has {transactions}: the logs belong to another run"
            ));
        }
        let lost = transactions - reached;
        if lines == transactions {
            return Ok(Self::All);
        }
        let (rate, users) = (lines as f64 / reached.max(1) as f64, f64::from(load.users));
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
        load.figures.extend(logged_figure(lines));
        if load.tool == super::Tool::PgbenchLog {
            return;
        }
        let of = transactions(load);
        let share = format!(
            "{lines} of {of} transactions ({:.1} %)",
            lines as f64 * 100.0 / of.max(1) as f64
        );
        match self {
            Self::All => load.fact(LOGS_FACT, format!("all {of} transactions")),
            Self::Sample => {
                let text = format!(
                    "{share}, drawn at random (--sampling-rate): counts are the output's, distributions the sample's"
                );
                load.fact(LOGS_FACT, text);
            }
            Self::Part { lost } => {
                load.fact(
                    LOGS_FACT,
                    format!("{share}, and --sampling-rate does not explain the rest"),
                );
                let text = format!(
                    "The logs hold {share}{}{}: the distributions leave out {lost} or more.",
                    absent(load.users, logs),
                    missing_files(load, files)
                );
                load.unknown.push(("logs", text));
            }
        }
        let held = match self {
            Self::All => "all",
            Self::Sample => "sample",
            Self::Part { .. } => "part",
        };
        load.fact(DISTRIBUTION_FACT, held);
    }
}

fn transactions(load: &ImportedLoad) -> u64 {
    let counts = load.ticks.iter().flat_map(|tick| &tick.counts);
    counts.map(Counts::settled).fold(0, u64::saturating_add)
}

/// Whether transactions between those of a client are missing.
pub(super) fn has_gaps(logs: &[Logged]) -> bool {
    let first = logs
        .iter()
        .fold(BTreeMap::new(), |mut first: BTreeMap<u64, u64>, one| {
            let own = first.entry(one.client).or_insert(one.number);
            *own = one.number.min(*own);
            first
        });
    let sum = |numbers: &BTreeMap<u64, u64>| -> u128 {
        numbers.values().map(|own| u128::from(*own)).sum()
    };
    sum(&last_numbers(logs)) + first.len() as u128 > sum(&first) + logs.len() as u128
}

/// The highest transaction number of each client.
fn last_numbers(logs: &[Logged]) -> BTreeMap<u64, u64> {
    let mut last = BTreeMap::new();
    for one in logs {
        let own: &mut u64 = last.entry(one.client).or_default();
        *own = one.number.max(*own);
    }
    last
}

fn absent(users: u32, logs: &[Logged]) -> String {
    let there = last_numbers(logs);
    let absent: Vec<String> = (0..users)
        .filter(|client| !there.contains_key(&u64::from(*client)))
        .map(|client| client.to_string())
        .collect();
    match absent.as_slice() {
        [] => String::new(),
        [one] => format!(", none of client {one}"),
        some if some.len() <= 8 => format!(", none of clients {}", some.join(", ")),
        many => format!(", none of {} clients, the first {}", many.len(), many[0]),
    }
}

/// Each thread writes a log of its own.
fn missing_files(load: &ImportedLoad, files: usize) -> String {
    let threads = load
        .figures
        .iter()
        .find(|figure| figure.name == "number of threads" && figure.txn.is_empty());
    match threads {
        Some(threads) if threads.value > files as f64 => {
            format!(
                " (each of {} threads wrote a log, and {files} is here)",
                threads.printed
            )
        }
        _ => String::new(),
    }
}
