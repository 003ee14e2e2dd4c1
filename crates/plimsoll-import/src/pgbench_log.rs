//! Per-transaction logs of pgbench (`-l`): each transaction with its latency, so a distribution.
//!
//! A line is `client_id transaction_no time script_no time_epoch time_us [schedule_lag] [retries]` (documentation of
//! pgbench, "Per-Transaction Logging"); `time` is in microseconds or the outcome of the transaction.
//! `transaction_no` counts the transactions of a client, logged or not, so that gaps show a sample.

mod held;
mod spread;

use plimsoll_record::import_facts::{
    DERIVED_RATE, OFFERED_FACT, PERCENTILES_FACT, RESPONSE_FACT, SECONDS_FACT,
};
use std::collections::{BTreeMap, BTreeSet};

use super::fault::{Fault, Read, count_at};
use super::load::{Figure, ImportedLoad, LoadTick, LoadWindow};
use super::{Tool, unknown};
use held::Held;
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::{CoarseHist, Hist};
use plimsoll_record::lane::Counts;
use spread::Grid;

/// One transaction.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Logged {
    client: u64,
    /// From 1, by client.
    number: u64,
    script: u64,
    outcome: LoggedOutcome,
    /// When it ended, since 1970.
    end: Nanos,
    /// The seventh and eighth field; [`Columns`] has their meaning.
    more: [Option<u64>; 2],
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum LoggedOutcome {
    Done(Nanos),
    Failed,
    Skipped,
}

/// The columns after the time: with `--rate` the schedule lag in microseconds, with `--max-tries` retries.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Columns {
    Neither,
    Lag,
    Retries,
    Both,
    /// One of them, and nothing shows which.
    Either,
}

/// Transactions of one script in a part of the time. Full histograms of each part would take 270 kB each.
#[derive(Debug, Clone, Default)]
struct ScriptCounts {
    counts: Counts,
    response: CoarseHist,
    service: CoarseHist,
}

/// Latencies of one script: of the part of the time that is being read, and of the whole.
#[derive(Debug, Clone, Default)]
struct Latencies {
    response: Hist,
    service: Hist,
}

const EXPECTED: &str =
    "`client transaction latency_us script epoch_s epoch_us`, a line of pgbench -l";
/// Log lines begin with the number of a client; those of --aggregate-interval with a time.
const FIRST_TIME: u64 = 100_000_000;
/// Three years: no run lasts longer, and every second takes memory.
const MOST_TICKS: u64 = 100_000_000;

/// Each client of a run has its transactions in one log.
pub(super) fn clients(logs: &[Logged]) -> BTreeSet<u64> {
    logs.iter().map(|one| one.client).collect()
}

pub(super) fn read(text: &str) -> Read<Vec<Logged>> {
    let mut all: Vec<Logged> = Vec::new();
    for (line, content) in text
        .lines()
        .enumerate()
        .filter(|(_, content)| !content.trim().is_empty())
    {
        let one = logged(line + 1, content)?;
        if all
            .first()
            .is_some_and(|first| first.width() != one.width())
        {
            return Err(Fault::at(
                line + 1,
                content,
                "as many fields as the lines above",
            ));
        }
        all.push(one);
    }
    if all.is_empty() {
        Err(Fault::end(text, EXPECTED))
    } else {
        Ok(all)
    }
}

fn logged(line: usize, content: &str) -> Read<Logged> {
    let words: Vec<&str> = content.split_whitespace().collect();
    let [client, number, time, script, epoch_s, epoch_us, more @ ..] = words.as_slice() else {
        return Err(Fault::at(line, content, EXPECTED));
    };
    let client = count_at(line, client, EXPECTED)?;
    if client >= FIRST_TIME {
        let expected = "a log of single transactions; this one is aggregated (--aggregate-interval), which has no distribution";
        return Err(Fault::at(line, content, expected));
    }
    if more.len() > 2 {
        return Err(Fault::at(line, content, EXPECTED));
    }
    let outcome = match *time {
        "skipped" => LoggedOutcome::Skipped,
        "failed" | "serialization" | "deadlock" | "other" => LoggedOutcome::Failed,
        us => LoggedOutcome::Done(micros(count_at(
            line,
            us,
            "a latency in microseconds, `skipped` or `failed`",
        )?)),
    };
    let seconds = count_at(line, epoch_s, EXPECTED)?.min(10_000_000_000);
    let end = Nanos::from_secs(seconds) + micros(count_at(line, epoch_us, EXPECTED)?.min(999_999));
    let field = |at: usize| {
        more.get(at)
            .map(|value| count_at(line, value, "schedule lag or retries"))
            .transpose()
    };
    Ok(Logged {
        client,
        number: count_at(line, number, EXPECTED)?,
        script: count_at(line, script, EXPECTED)?,
        outcome,
        end,
        more: [field(0)?, field(1)?],
    })
}

/// Those of three years at most.
fn micros(us: u64) -> Nanos {
    Nanos::from_micros(us.min(100_000_000_000_000))
}

impl Logged {
    fn width(&self) -> usize {
        self.more.iter().flatten().count()
    }

    fn begin(&self) -> Nanos {
        match self.outcome {
            LoggedOutcome::Done(latency) => self.end.saturating_sub(latency),
            LoggedOutcome::Failed | LoggedOutcome::Skipped => self.end,
        }
    }

    fn lag(&self, columns: Columns) -> Nanos {
        if columns.has_lag() {
            micros(self.more[0].unwrap_or_default())
        } else {
            Nanos::ZERO
        }
    }

    fn retries(&self, columns: Columns) -> u64 {
        let retries = match columns {
            Columns::Retries => self.more[0],
            Columns::Both => self.more[1],
            Columns::Neither | Columns::Lag | Columns::Either => None,
        };
        retries.unwrap_or_default()
    }
}

impl ScriptCounts {
    fn count(&mut self, one: &Logged, columns: Columns) {
        let (committed, failed, dropped) = match one.outcome {
            LoggedOutcome::Done(_) => (1, 0, 0),
            LoggedOutcome::Failed => (0, 1, 0),
            LoggedOutcome::Skipped => (0, 0, 1),
        };
        let retries = one.retries(columns);
        self.counts.add(&Counts {
            committed,
            failed,
            dropped,
            retries,
            ..Counts::default()
        });
    }
}

impl Latencies {
    fn record(&mut self, one: &Logged, columns: Columns) {
        if let LoggedOutcome::Done(latency) = one.outcome {
            self.response.record(latency);
            if columns.has_lag() {
                self.service
                    .record(latency.saturating_sub(one.lag(columns)));
            }
        }
    }

    fn merge(&mut self, part: &Self) {
        self.response.merge(&part.response);
        self.service.merge(&part.service);
    }

    fn clear(&mut self) {
        self.response.clear();
        self.service.clear();
    }
}

impl Columns {
    fn has_lag(self) -> bool {
        matches!(self, Self::Lag | Self::Both)
    }
}

/// A load of logs alone, without pgbench's summary.
pub(super) fn alone() -> ImportedLoad {
    let mut load = ImportedLoad::new(Tool::PgbenchLog);
    load.windows = vec![None];
    load.txns = vec!["transaction".to_owned()];
    load
}

/// Distributions of all the logs of one run, and when its transactions ended. Totals and the time are those of pgbench's
/// own output where it is there: logs may be a sample.
pub(super) fn attach(
    load: &mut ImportedLoad,
    mut logs: Vec<Logged>,
    files: usize,
) -> Result<(), String> {
    // Threads write one file each: in the order of time, one part of it is in memory at once.
    logs.sort_unstable_by_key(|one| one.end);
    let logs = logs.as_slice();
    let is_alone = load.tool == Tool::PgbenchLog;
    let Some(start) = logs.iter().map(Logged::begin).min() else {
        return Ok(());
    };
    let end = logs.iter().map(|one| one.end).max().unwrap_or(start);
    if end.saturating_sub(start).0 / Nanos::SECOND.0 > MOST_TICKS {
        return Err("the transactions of the log are more than three years apart".into());
    }
    let columns = columns(load, logs, is_alone)?;
    let scripts = scripts(logs)?;
    // Where nothing was processed, the output has no rate, and so no time.
    let has_totals = !is_alone && !load.ticks.is_empty();
    if is_alone && held::has_gaps(logs) {
        return Err("the logs are a sample (--sampling-rate), which does not show how many transactions there were; \
                    give pgbench's own output with them"
            .into());
    }
    let held = if has_totals {
        Held::of(load, logs)?
    } else {
        Held::All
    };
    let grid = match (held, load.ticks.len()) {
        // pgbench -P counted every transaction, a sample does not.
        (Held::Sample | Held::Part { .. }, 2..) => Grid::of_ticks(&load.ticks),
        _ if !has_totals => Grid::of_seconds(end.saturating_sub(start)),
        _ => Grid::of_seconds(load.lasted()),
    };
    let by_tick = grid.is_of_ticks();
    fill(
        load,
        logs,
        Filling {
            start,
            columns,
            scripts,
            grid,
            has_totals,
        },
    );
    if is_alone {
        note_alone(load, logs, columns);
    }
    held.note(load, logs, files);
    load.started = Some(start);
    load.facts
        .retain(|(key, _)| key != PERCENTILES_FACT && (by_tick || key != SECONDS_FACT));
    if !by_tick {
        let text = match held {
            Held::All => "from the log of single transactions, by the time that each ended",
            _ => "the output's totals, over time as the logged transactions are",
        };
        load.fact(SECONDS_FACT, text);
    }
    load.fact(PERCENTILES_FACT, "merged");
    Ok(())
}

fn columns(load: &ImportedLoad, logs: &[Logged], is_alone: bool) -> Result<Columns, String> {
    let width = logs.first().map_or(0, Logged::width);
    if logs.iter().any(|one| one.width() != width) {
        return Err(
            "the logs differ in the number of their fields: they are of different runs".into(),
        );
    }
    let due = load
        .facts
        .iter()
        .any(|(key, value)| key == RESPONSE_FACT && value == "due");
    let is_skipped = |one: &Logged| one.outcome == LoggedOutcome::Skipped;
    match (width, due) {
        (0, true) => Err(
            "the output is of a run with --rate and the log is not: the logs belong to another run"
                .into(),
        ),
        (2, false) if !is_alone => Err(
            "the log is of a run with --rate and the output is not: the logs belong to another run"
                .into(),
        ),
        (0, false) => Ok(Columns::Neither),
        (1, true) => Ok(Columns::Lag),
        // Only what has a time to start at can be skipped.
        (1, false) if is_alone && logs.iter().any(is_skipped) => Ok(Columns::Lag),
        (1, false) => Ok(if is_alone {
            Columns::Either
        } else {
            Columns::Retries
        }),
        _ => Ok(Columns::Both),
    }
}

/// The place of each script among those that ran.
fn scripts(logs: &[Logged]) -> Result<BTreeMap<u64, usize>, String> {
    let mut all: Vec<u64> = logs.iter().map(|one| one.script).collect();
    all.sort_unstable();
    all.dedup();
    if all.len() > 1_000 {
        return Err("the log names more than a thousand scripts".into());
    }
    Ok(all
        .into_iter()
        .enumerate()
        .map(|(place, script)| (script, place))
        .collect())
}

struct Filling {
    start: Nanos,
    columns: Columns,
    scripts: BTreeMap<u64, usize>,
    grid: Grid,
    has_totals: bool,
}

fn fill(load: &mut ImportedLoad, logs: &[Logged], filling: Filling) {
    let Filling {
        start,
        columns,
        scripts,
        grid,
        has_totals,
    } = filling;
    let types = scripts.len();
    let mut rows: BTreeMap<u64, Vec<ScriptCounts>> = grid
        .rows()
        .map(|row| (row, vec![ScriptCounts::default(); types]))
        .collect();
    let mut whole = vec![Latencies::default(); types];
    let mut part = vec![Latencies::default(); types];
    let row_of = |one: &Logged| grid.row(one.end.saturating_sub(start));
    for logs in logs.chunk_by(|a, b| row_of(a) == row_of(b)) {
        let tallies = rows
            .entry(row_of(&logs[0]))
            .or_insert_with(|| vec![ScriptCounts::default(); types]);
        for one in logs {
            let Some(place) = scripts.get(&one.script) else {
                continue;
            };
            tallies[*place].count(one, columns);
            part[*place].record(one, columns);
        }
        for ((tally, whole), part) in tallies.iter_mut().zip(&mut whole).zip(&mut part) {
            (tally.response, tally.service) = (part.response.coarse(), part.service.coarse());
            whole.merge(part);
            part.clear();
        }
    }
    if has_totals {
        let whole = counts_by_script(&rows, types);
        spread::take_totals(&mut rows, &whole, &load.ticks, &grid);
    }
    let due = columns.has_lag();
    load.ticks = ticks(rows, &grid, due);
    let window = |own: Latencies| LoadWindow {
        response: own.response,
        service: due.then_some(own.service),
    };
    load.windows = whole.into_iter().map(|own| Some(window(own))).collect();
    load.txns = match types {
        1 => vec!["transaction".to_owned()],
        _ => scripts
            .keys()
            .map(|script| format!("script {}", script + 1))
            .collect(),
    };
}

fn counts_by_script(rows: &BTreeMap<u64, Vec<ScriptCounts>>, types: usize) -> Vec<Counts> {
    let mut whole = vec![Counts::default(); types];
    for tallies in rows.values() {
        whole
            .iter_mut()
            .zip(tallies)
            .for_each(|(sum, own)| sum.add(&own.counts));
    }
    whole
}

/// Seconds in which nothing ended are seconds too; one tick for each gap.
fn ticks(rows: BTreeMap<u64, Vec<ScriptCounts>>, grid: &Grid, due: bool) -> Vec<LoadTick> {
    let mut ticks: Vec<LoadTick> = Vec::with_capacity(rows.len());
    for (row, tallies) in rows {
        let (start, end) = grid.bounds(row);
        let from = ticks.last().map_or(Nanos::ZERO, |last| last.end);
        if start > from {
            ticks.push(LoadTick::new(
                from,
                start,
                vec![Counts::default(); tallies.len()],
            ));
        }
        let settled = |own: &ScriptCounts| Counts {
            offered: own.counts.settled(),
            ..own.counts
        };
        let mut tick = LoadTick::new(start, end, tallies.iter().map(settled).collect());
        for own in tallies {
            tick.response.push(own.response);
            if due {
                tick.service.push(own.service);
            }
        }
        ticks.push(tick);
    }
    ticks
}

/// What the log shows of a load without its output.
fn note_alone(load: &mut ImportedLoad, logs: &[Logged], columns: Columns) {
    let clients = logs.iter().map(|one| one.client).max().unwrap_or_default() + 1;
    load.users = u32::try_from(clients).unwrap_or(u32::MAX);
    match columns {
        Columns::Neither | Columns::Retries => load.fact(RESPONSE_FACT, "start"),
        Columns::Lag | Columns::Both => {
            load.fact(RESPONSE_FACT, "due");
            load.fact(OFFERED_FACT, DERIVED_RATE);
            let seconds = load.lasted().as_secs_f64();
            load.offered_per_second =
                Some(logs.len() as f64 / seconds).filter(|rate| rate.is_finite());
        }
        Columns::Either => {
            load.fact(RESPONSE_FACT, "unknown");
            load.add_missing(unknown::SEVENTH);
        }
    }
}

/// How many transactions the logs have.
fn logged_figure(lines: u64) -> Option<Figure> {
    Figure::new("transactions in the logs", &lines.to_string(), "")
}
