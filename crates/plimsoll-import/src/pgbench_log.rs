//! Per-transaction logs of pgbench (`-l`): each transaction with its latency, so a distribution.
//!
//! A line is `client_id transaction_no time script_no time_epoch time_us [schedule_lag] [retries]` (documentation of
//! pgbench, "Per-Transaction Logging"); `time` is in microseconds or the outcome of the transaction.
//! `transaction_no` counts the transactions of a client, logged or not, so that gaps show a sample.

mod held;
mod logged;
mod spread;

use std::collections::BTreeMap;

use super::format::{OutputFormat, OutputReader};
use super::load::{ImportedLoad, LoadTick, LoadWindow, Span, sum_of};
use held::Held;
use logged::{Columns, LoggedOutcome, TOOL};
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::Hist;
use plimsoll_record::import_facts::{PERCENTILES_FACT, RESPONSE_FACT};
use plimsoll_record::lane::Counts;
use plimsoll_record::message::{CountsSource, ImportNote};
use spread::{ScriptCounts, ScriptCountsByPart, TimeGrid};

pub(super) use logged::{Logged, clients, read};

pub(super) static FORMAT: OutputFormat = OutputFormat {
    tool: TOOL,
    is: |start| is_transaction(start.first()),
    reader: OutputReader::PgbenchLog,
};

/// Whether the line has the fields of a transaction, whose first two and fourth are numbers.
fn is_transaction(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut numbers = [0, 1, 3].into_iter().filter_map(|at| words.get(at));
    (6..=20).contains(&words.len()) && numbers.all(|word| word.parse::<u64>().is_ok())
}

/// Three years: no run lasts longer, and every second takes memory.
const MOST_TICKS: u64 = 100_000_000;
const MOST_SCRIPTS: usize = 1_000;

/// A load of logs alone, without pgbench's summary.
pub(super) fn alone() -> ImportedLoad {
    let mut load = ImportedLoad::new(TOOL);
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
    let is_alone = load.tool == TOOL;
    let Some(start) = logs.iter().map(Logged::begin).min() else {
        return Ok(());
    };
    let end = logs.last().map_or(start, |last| last.end);
    if end.saturating_sub(start).0 / Nanos::SECOND.0 > MOST_TICKS {
        return Err("The transactions of the log are more than three years apart".into());
    }
    let columns = columns(load, logs, is_alone)?;
    let scripts = scripts(logs)?;
    // Where nothing was processed, the output has no rate, and so no time.
    let has_totals = !is_alone && !load.ticks.is_empty();
    if is_alone && held::has_gaps(logs) {
        return Err(
            "The logs are a sample (--sampling-rate), which does not show how many transactions there were: pgbench's own \
             output is needed beside them"
                .into(),
        );
    }
    let held = match has_totals {
        true => Held::of(load, logs)?,
        false => Held::All,
    };
    let grid = match held {
        _ if !has_totals => TimeGrid::of_seconds(end.saturating_sub(start)),
        // pgbench -P counted every transaction, a sample does not.
        Held::Sample | Held::Part { .. } if load.ticks.len() > 1 => TimeGrid::of_ticks(&load.ticks),
        _ => TimeGrid::of_seconds(load.lasted()),
    };
    let is_by_tick = grid.is_of_ticks();
    let filling = Filling {
        start,
        columns,
        scripts,
        grid,
    };
    filling.fill(load, logs, has_totals);
    if is_alone {
        note_alone(load, logs, columns);
    }
    held.note(load, logs, files);
    load.started = Some(start);
    if !is_by_tick {
        let source = match held {
            Held::All => CountsSource::TransactionLog,
            _ => CountsSource::TotalsByLog,
        };
        load.replace_note(ImportNote::CountsFrom { source });
    }
    load.replace_fact(PERCENTILES_FACT, "merged");
    Ok(())
}

fn columns(load: &ImportedLoad, logs: &[Logged], is_alone: bool) -> Result<Columns, &'static str> {
    let width = logs.first().map_or(0, Logged::width);
    if logs.iter().any(|one| one.width() != width) {
        return Err("The logs differ in the number of their fields: they are of different runs");
    }
    // Only what has a time to start at can be skipped.
    let is_skipping = logs.iter().any(|one| one.outcome == LoggedOutcome::Skipped);
    let is_due = load.value(RESPONSE_FACT) == Some("due");
    match (width, is_due) {
        (0, true) => Err(
            "The output is of a run with --rate and the log is not: the logs belong to another run",
        ),
        (2, false) if !is_alone => Err(
            "The log is of a run with --rate and the output is not: the logs belong to another run",
        ),
        (0, false) => Ok(Columns::Neither),
        (1, true) => Ok(Columns::Lag),
        (1, false) if is_alone && is_skipping => Ok(Columns::Lag),
        (1, false) if is_alone => Ok(Columns::Either),
        (1, false) => Ok(Columns::Retries),
        _ => Ok(Columns::Both),
    }
}

/// The place of each script among those that ran.
fn scripts(logs: &[Logged]) -> Result<BTreeMap<u64, usize>, &'static str> {
    let mut all: Vec<u64> = logs.iter().map(|one| one.script).collect();
    all.sort_unstable();
    all.dedup();
    if all.len() > MOST_SCRIPTS {
        return Err("The log names more than a thousand scripts");
    }
    let places = all.into_iter().enumerate();
    Ok(places.map(|(place, script)| (script, place)).collect())
}

/// Latencies of one script: of the part of the time that is being read, and of the whole.
#[derive(Debug, Clone, Default)]
struct ScriptLatencies {
    response: Hist,
    service: Hist,
}

impl ScriptLatencies {
    fn record(&mut self, one: &Logged, columns: Columns) {
        if let LoggedOutcome::Done(latency) = one.outcome {
            self.response.record(latency);
            if columns.has_lag() {
                let service = latency.saturating_sub(one.lag(columns));
                self.service.record(service);
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

struct Filling {
    start: Nanos,
    columns: Columns,
    scripts: BTreeMap<u64, usize>,
    grid: TimeGrid,
}

impl Filling {
    fn fill(&self, load: &mut ImportedLoad, logs: &[Logged], has_totals: bool) {
        let types = self.scripts.len();
        let empty = vec![ScriptCounts::default(); types];
        let mut rows: ScriptCountsByPart =
            self.grid.rows().map(|row| (row, empty.clone())).collect();
        let mut whole = vec![ScriptLatencies::default(); types];
        let mut part = vec![ScriptLatencies::default(); types];
        for logs in logs.chunk_by(|a, b| self.row(a) == self.row(b)) {
            let row = rows
                .entry(self.row(&logs[0]))
                .or_insert_with(|| empty.clone());
            for one in logs {
                if let Some(place) = self.scripts.get(&one.script) {
                    row[*place].counts.add(&self.counts(one));
                    part[*place].record(one, self.columns);
                }
            }
            for ((row, whole), part) in row.iter_mut().zip(&mut whole).zip(&mut part) {
                row.response = part.response.coarse();
                row.service = part.service.coarse();
                whole.merge(part);
                part.clear();
            }
        }
        if has_totals {
            let whole = counts_by_script(&rows, types);
            spread::take_totals(&mut rows, &whole, &load.ticks, &self.grid);
        }
        let has_lag = self.columns.has_lag();
        load.ticks = ticks(rows, &self.grid, has_lag);
        load.windows = whole
            .into_iter()
            .map(|own| {
                Some(LoadWindow {
                    response: own.response,
                    service: has_lag.then_some(own.service),
                })
            })
            .collect();
        let names = self.scripts.keys();
        load.txns = match types {
            1 => vec!["transaction".to_owned()],
            _ => names
                .map(|script| format!("script {}", script + 1))
                .collect(),
        };
    }

    fn row(&self, one: &Logged) -> u64 {
        self.grid.row(one.end.saturating_sub(self.start))
    }

    fn counts(&self, one: &Logged) -> Counts {
        let counts = Counts {
            retries: one.retries(self.columns),
            ..Counts::default()
        };
        match one.outcome {
            LoggedOutcome::Done(_) => Counts {
                committed: 1,
                ..counts
            },
            LoggedOutcome::Failed => Counts {
                failed: 1,
                ..counts
            },
            LoggedOutcome::Skipped => Counts {
                dropped: 1,
                ..counts
            },
        }
    }
}

fn counts_by_script(rows: &ScriptCountsByPart, types: usize) -> Vec<Counts> {
    let scripts = 0..types;
    scripts
        .map(|script| sum_of(rows.values().map(|row| &row[script].counts)))
        .collect()
}

/// Seconds in which nothing ended are seconds too; one tick for each gap.
fn ticks(rows: ScriptCountsByPart, grid: &TimeGrid, has_lag: bool) -> Vec<LoadTick> {
    let mut ticks: Vec<LoadTick> = Vec::with_capacity(rows.len());
    let mut from = Nanos::ZERO;
    for (row, scripts) in rows {
        let span = grid.span(row);
        if span.start > from {
            let gap = Span {
                start: from,
                end: span.start,
            };
            ticks.push(LoadTick::new(gap, vec![Counts::default(); scripts.len()]));
        }
        let mut tick = LoadTick::new(span, Vec::new());
        for own in scripts {
            tick.counts.push(Counts {
                offered: own.counts.settled(),
                ..own.counts
            });
            tick.response.push(own.response);
            if has_lag {
                tick.service.push(own.service);
            }
        }
        from = span.end;
        ticks.push(tick);
    }
    ticks
}

/// What the log shows of a load without its output.
fn note_alone(load: &mut ImportedLoad, logs: &[Logged], columns: Columns) {
    let clients = logs.iter().map(|one| one.client).max().unwrap_or_default() + 1;
    load.users = u32::try_from(clients).unwrap_or(u32::MAX);
    let from = match columns {
        Columns::Neither | Columns::Retries => "start",
        Columns::Lag | Columns::Both => "due",
        Columns::Either => "unknown",
    };
    load.fact(RESPONSE_FACT, from);
    match from {
        "due" => {
            let rate = logs.len() as f64 / load.lasted().as_secs_f64();
            load.offered_per_second = Some(rate).filter(|rate| rate.is_finite());
            load.note(ImportNote::OfferedDerived);
        }
        "unknown" => load.note(ImportNote::LagOrRetries),
        _ => {}
    }
}
