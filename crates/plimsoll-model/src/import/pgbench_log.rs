//! Per-transaction logs of pgbench (`-l`): each transaction with its latency, so a distribution.
//!
//! A line is `client_id transaction_no time script_no time_epoch time_us [schedule_lag] [retries]` (documentation of
//! pgbench, "Per-Transaction Logging"); `time` is in microseconds or says what became of the transaction.

use std::collections::BTreeMap;

use super::fault::{Fault, Read, count_at};
use super::load::{ImportedLoad, LoadTick, LoadWindow};
use super::{PERCENTILES_FACT, RESPONSE_FACT, SECONDS_FACT, Tool};
use crate::hist::{CoarseHist, Hist};
use crate::lane::Counts;
use crate::units::Nanos;

/// One transaction.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Logged {
    client: u64,
    script: u64,
    outcome: Outcome,
    /// When it ended, since 1970.
    end: Nanos,
    /// Schedule lag in microseconds, or retries: which one, the log does not say.
    seventh: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Outcome {
    Done(Nanos),
    Failed,
    Skipped,
}

const EXPECTED: &str = "`client transaction latency_us script epoch_s epoch_us`, a line of pgbench -l";
/// Log lines begin with the number of a client; those of --aggregate-interval with a time.
const FIRST_TIME: u64 = 100_000_000;
/// Longer than three years is nobody's run, and every second has a place in memory.
const MOST_TICKS: u64 = 100_000_000;

pub(super) fn read(text: &str) -> Read<Vec<Logged>> {
    let mut all = Vec::new();
    for (line, content) in text.lines().enumerate().filter(|(_, content)| !content.trim().is_empty()) {
        all.push(logged(line + 1, content)?);
    }
    if all.is_empty() { Err(Fault::end(text, EXPECTED)) } else { Ok(all) }
}

fn logged(line: usize, content: &str) -> Read<Logged> {
    let words: Vec<&str> = content.split_whitespace().collect();
    let [client, _, time, script, epoch_s, epoch_us, rest @ ..] = words.as_slice() else {
        return Err(Fault::at(line, content, EXPECTED));
    };
    let client = count_at(line, client, EXPECTED)?;
    if client >= FIRST_TIME {
        let expected =
            "a log of single transactions; this one is aggregated (--aggregate-interval), which has no distribution";
        return Err(Fault::at(line, content, expected));
    }
    let outcome = match *time {
        "skipped" => Outcome::Skipped,
        "failed" | "serialization" | "deadlock" => Outcome::Failed,
        us => Outcome::Done(micros(count_at(line, us, "a latency in microseconds, `skipped` or `failed`")?)),
    };
    let seconds = count_at(line, epoch_s, EXPECTED)?.min(10_000_000_000);
    let end = Nanos::from_secs(seconds) + micros(count_at(line, epoch_us, EXPECTED)?.min(999_999));
    let seventh = rest.first().map(|value| count_at(line, value, "schedule lag or retries")).transpose()?;
    Ok(Logged { client, script: count_at(line, script, EXPECTED)?, outcome, end, seventh })
}

/// Those of three years at most.
fn micros(us: u64) -> Nanos {
    Nanos::from_micros(us.min(100_000_000_000_000))
}

/// A load of logs alone, whose summary is not there.
pub(super) fn alone() -> ImportedLoad {
    let mut load = ImportedLoad::new(Tool::PgbenchLog);
    load.windows = vec![None];
    load.txns = vec!["transaction".to_owned()];
    load.fact(RESPONSE_FACT, "unknown");
    let text = "The log does not tell whether --rate was given, so not whether latencies count from when a transaction was \
                due: OMISSION cannot be judged without pgbench's own output.";
    load.unknown.push(("response_from", text.to_owned()));
    load
}

/// Ticks and distributions of all the logs of one run.
pub(super) fn attach(load: &mut ImportedLoad, logs: &[Logged]) -> Result<(), String> {
    let begins = |one: &Logged| match one.outcome {
        Outcome::Done(latency) => one.end.saturating_sub(latency),
        _ => one.end,
    };
    let Some(start) = logs.iter().map(begins).min() else { return Ok(()) };
    let end = logs.iter().map(|one| one.end).max().unwrap_or(start);
    if end.saturating_sub(start).0 / Nanos::SECOND.0 > MOST_TICKS {
        return Err("the transactions of the log are more than three years apart".into());
    }
    // Whether the seventh field is a lag: pgbench's own output says whether there was a rate.
    let due = load.facts.iter().any(|(key, value)| key == RESPONSE_FACT && value == "due");
    let scripts: BTreeMap<u64, usize> = {
        let mut all: Vec<u64> = logs.iter().map(|one| one.script).collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().enumerate().map(|(place, script)| (script, place)).collect()
    };
    if scripts.len() > 1_000 {
        return Err("the log names more than a thousand scripts".into());
    }
    fill(load, logs, (start, end), &scripts, due);
    if load.users == 0 {
        let clients = logs.iter().map(|one| one.client).max().unwrap_or_default() + 1;
        load.users = u32::try_from(clients).unwrap_or(u32::MAX);
    }
    load.started = Some(start);
    load.facts.retain(|(key, _)| key != SECONDS_FACT && key != PERCENTILES_FACT);
    load.fact(SECONDS_FACT, "from the log of single transactions, by the time that each ended");
    load.fact(PERCENTILES_FACT, "merged");
    Ok(())
}

#[derive(Clone, Default)]
struct Tally {
    counts: Counts,
    response: Hist,
    service: Hist,
}

fn fill(
    load: &mut ImportedLoad,
    logs: &[Logged],
    (start, end): (Nanos, Nanos),
    scripts: &BTreeMap<u64, usize>,
    due: bool,
) {
    let mut seconds: BTreeMap<u64, Vec<Tally>> = BTreeMap::new();
    let last = end.saturating_sub(start).0.saturating_sub(1) / Nanos::SECOND.0;
    for one in logs {
        let second = (one.end.saturating_sub(start).0 / Nanos::SECOND.0).min(last);
        let tallies = seconds.entry(second).or_insert_with(|| vec![Tally::default(); scripts.len()]);
        let Some(tally) = scripts.get(&one.script).and_then(|place| tallies.get_mut(*place)) else { continue };
        tally.counts.offered += 1;
        match one.outcome {
            Outcome::Done(latency) => {
                tally.counts.committed += 1;
                tally.response.record(latency);
                let lag = if due { micros(one.seventh.unwrap_or_default()) } else { Nanos::ZERO };
                tally.service.record(latency.saturating_sub(lag));
            }
            Outcome::Failed => tally.counts.failed += 1,
            Outcome::Skipped => tally.counts.dropped += 1,
        }
    }
    let mut whole = vec![Tally::default(); scripts.len()];
    load.ticks.clear();
    for (second, tallies) in &seconds {
        for (sum, own) in whole.iter_mut().zip(tallies) {
            sum.response.merge(&own.response);
            sum.service.merge(&own.service);
        }
        let begins = Nanos(second * Nanos::SECOND.0);
        let ends = Nanos((begins.0 + Nanos::SECOND.0).min(end.saturating_sub(start).0.max(begins.0 + 1_000_000)));
        let mut tick = LoadTick::new(begins, ends, tallies.iter().map(|tally| tally.counts).collect());
        tick.response = tallies.iter().map(|tally| tally.response.coarse()).collect();
        if due {
            tick.service = tallies.iter().map(|tally| tally.service.coarse()).collect::<Vec<CoarseHist>>();
        }
        load.ticks.push(tick);
    }
    fill_gaps(&mut load.ticks, scripts.len());
    let window = |tally: Tally| LoadWindow { response: tally.response, service: due.then_some(tally.service) };
    load.windows = whole.into_iter().map(|tally| Some(window(tally))).collect();
    load.txns = match scripts.len() {
        1 => vec!["transaction".to_owned()],
        _ => scripts.keys().map(|script| format!("script {}", script + 1)).collect(),
    };
}

/// Seconds in which nothing ended are seconds too; one tick for each gap.
fn fill_gaps(ticks: &mut Vec<LoadTick>, types: usize) {
    let mut whole: Vec<LoadTick> = Vec::with_capacity(ticks.len());
    for tick in ticks.drain(..) {
        let from = whole.last().map_or(Nanos::ZERO, |last| last.end);
        if tick.start > from {
            whole.push(LoadTick::new(from, tick.start, vec![Counts::default(); types]));
        }
        whole.push(tick);
    }
    *ticks = whole;
}
