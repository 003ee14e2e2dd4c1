//! Output of pgbench, with or without `-P`, of one run or of several.
//!
//! With `--rate`, pgbench counts latency from when a transaction was scheduled (`processXactStats` in pgbench.c).

use plimsoll_record::import_facts::{
    DERIVED_RATE, OFFERED_FACT, PERCENTILES_FACT, RESPONSE_FACT, SECONDS_FACT,
};
use std::collections::BTreeMap;

use super::Tool;
use super::fault::{Fault, Read, count_at, number, number_at, seconds_at, users_at};
use super::load::{Figure, ImportedLoad};
use super::runs::{self, Run, once, second};
use super::ticks::{self, Part};
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::Counts;

/// `--progress-timestamp` prints seconds since 1970, which no run lasts.
const FIRST_TIMESTAMP_S: f64 = 1e8;
/// Lines of a report that nothing else begins with.
const KEYS: [&str; 7] = [
    "transaction type: ",
    "scaling factor: ",
    "query mode: ",
    "number of clients: ",
    "number of threads: ",
    "number of transactions actually processed: ",
    "tps = ",
];

#[derive(Debug, Default)]
struct Output {
    version: String,
    clients: Option<u32>,
    processed: Option<u64>,
    failed: Option<u64>,
    skipped: Option<u64>,
    retried: Option<u64>,
    tps: Option<Tps>,
    rate_limited: bool,
    duration_s: Option<f64>,
    /// The message of pgbench about a client that ended early, or about the run.
    abort: Option<String>,
    in_report: bool,
    /// With `--progress-timestamp`: the first line, whose part is as long as the second's.
    first_progress: Option<Progress>,
    /// When the first line of progress counts from, since 1970.
    started_s: Option<f64>,
    parts: Vec<Part>,
    figures: Vec<Figure>,
    parameters: BTreeMap<String, String>,
    scripts: Vec<Script>,
    in_statements: bool,
}

#[derive(Debug)]
struct Progress {
    line: usize,
    text: String,
    time_s: f64,
}

#[derive(Debug, Clone, Copy)]
struct Tps {
    value: f64,
    /// Up to PostgreSQL 13 another line follows, which leaves out the time that connecting took, as later versions do.
    includes_connecting: bool,
}

/// One of several scripts.
#[derive(Debug)]
struct Script {
    name: String,
    weight: String,
}

pub(super) fn read(text: &str) -> Read<Vec<ImportedLoad>> {
    runs::read::<Output>(text)
}

/// Of a client, with or without the mark of an error (up to PostgreSQL 12), or of the run below its results.
fn is_abort(text: &str) -> bool {
    let text = text.strip_prefix("pgbench: ").unwrap_or(text);
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let of_client = text.starts_with("client ") && text.contains(" aborted ");
    of_client || text.starts_with("Run was aborted; the above results are incomplete")
}

impl Run for Output {
    fn ends_before(&self, line: &str) -> bool {
        let has_begun = self.in_report || !self.version.is_empty() || !self.parts.is_empty();
        let next = ["starting vacuum", "progress: ", "transaction type: "];
        line.starts_with("pgbench (") && has_begun
            || self.in_report && next.iter().any(|mark| line.starts_with(mark))
    }

    fn line(&mut self, line: usize, text: &str) -> Read<()> {
        let text = text.trim();
        if is_abort(text) {
            self.abort = self.abort.take().or_else(|| Some(text.to_owned()));
            return Ok(());
        }
        if text.starts_with("pgbench: error:") || text.starts_with("pgbench: fatal:") {
            return Err(Fault::at(line, text, "output of a complete run"));
        }
        if let Some(rest) = text.strip_prefix("progress: ") {
            return self.progress(line, rest);
        }
        if let Some(rest) = text.strip_prefix("pgbench (") {
            self.version = rest
                .split([' ', ',', ')'])
                .next()
                .unwrap_or_default()
                .to_owned();
            return Ok(());
        }
        let is_report = KEYS.iter().any(|key| text.starts_with(key));
        self.in_report |= is_report;
        // Messages precede a report, and anything may follow it: neither has figures of pgbench.
        let outside =
            !self.in_report || (self.tps.is_some() && !is_report && !self.in_scripts(text));
        if text.is_empty() || text.starts_with("pgbench: ") || outside {
            Ok(())
        } else {
            self.report(line, text)
        }
    }

    fn finish(self) -> Result<ImportedLoad, String> {
        let missing = |what: &str| format!("{what}, as pgbench prints it at the end of a run");
        let clients = self
            .clients
            .ok_or_else(|| missing("`number of clients:`"))?;
        let processed = self
            .processed
            .ok_or_else(|| missing("`number of transactions actually processed:`"))?;
        let tps = self.tps.ok_or_else(|| missing("`tps = `"))?.value;
        Ok(self.load(clients, processed, tps))
    }
}

impl Output {
    /// `1.0 s, 536.0 tps, lat 7.296 ms stddev 5.548, 0 failed, lag 0.501 ms, 0 skipped, 4 retried, 5 retries`.
    fn progress(&mut self, line: usize, text: &str) -> Read<()> {
        let seconds = text.split_once(" s,").map_or(text, |(seconds, _)| seconds);
        let time_s = number_at(line, seconds, "`progress: SECONDS s, … tps, …`")?;
        if time_s <= FIRST_TIMESTAMP_S {
            return self.part(line, text, time_s);
        }
        if self.started_s.is_none() {
            let Some(first) = self.first_progress.take() else {
                self.first_progress = Some(Progress {
                    line,
                    text: text.to_owned(),
                    time_s,
                });
                return Ok(());
            };
            let started_s = first.time_s - (time_s - first.time_s);
            self.started_s = Some(started_s);
            self.part(first.line, &first.text, first.time_s - started_s)?;
        }
        self.part(line, text, time_s - self.started_s.unwrap_or_default())
    }

    fn part(&mut self, line: usize, text: &str, end_s: f64) -> Read<()> {
        let start_s = self.parts.last().map_or(0.0, |part| part.end_s);
        if end_s <= start_s || end_s > FIRST_TIMESTAMP_S {
            return Err(Fault::at(
                line,
                text,
                "a time after that of the line of progress before",
            ));
        }
        let mut part = Part {
            end_s,
            ..Part::default()
        };
        let over = (Nanos::from_secs_f64(start_s), Nanos::from_secs_f64(end_s));
        for field in text.split(',').skip(1).map(str::trim) {
            let words: Vec<&str> = field.split_whitespace().collect();
            match words.as_slice() {
                [rate, "tps"] => part.done_per_second = number_at(line, rate, "a rate")?,
                [n, "failed"] => part.failed = count_at(line, n, "a number of failures")?,
                [n, "skipped"] => {
                    part.dropped = count_at(line, n, "a number of skipped transactions")?
                }
                [n, "retries"] => {
                    part.retries_per_second =
                        count_at(line, n, "a number of retries")? as f64 / (end_s - start_s);
                }
                [n, "retried"] => drop(count_at(line, n, "a number of retried transactions")?),
                ["lat", mean, "ms", "stddev", stddev] => {
                    let both = [("latency average", mean), ("latency stddev", stddev)];
                    let figures = both
                        .into_iter()
                        .filter_map(|(name, value)| Figure::new(name, value, "ms"));
                    self.figures
                        .extend(figures.map(|figure| figure.over(over.0, over.1)));
                }
                ["lag", mean, "ms"] => {
                    let figure = Figure::new("schedule lag average", mean, "ms");
                    self.figures
                        .extend(figure.map(|figure| figure.over(over.0, over.1)));
                }
                _ => {
                    return Err(Fault::at(
                        line,
                        field,
                        "a figure of pgbench -P: tps, lat, failed, lag, skipped, retries",
                    ));
                }
            }
        }
        self.parts.push(part);
        Ok(())
    }

    /// Whether the line belongs to what follows the rate: figures of scripts and statements.
    fn in_scripts(&self, text: &str) -> bool {
        let marks = ["SQL script ", "- ", "statement latencies "];
        marks.iter().any(|mark| text.starts_with(mark))
            || (self.in_statements && text.starts_with(|c: char| c.is_ascii_digit()))
    }

    fn report(&mut self, line: usize, text: &str) -> Read<()> {
        if let Some(rest) = text.strip_prefix("SQL script ") {
            let name = rest
                .split_once(": ")
                .map_or(rest, |(_, name)| name)
                .to_owned();
            self.scripts.push(Script {
                name,
                weight: String::new(),
            });
        } else if text
            .trim_start_matches("- ")
            .starts_with("statement latencies ")
        {
            self.in_statements = true;
            return Ok(());
        } else if let Some(rest) = text.strip_prefix("- ") {
            self.of_script(rest);
        } else if self.in_scripts(text) {
            self.statement(text);
            return Ok(());
        } else if let Some((key, value)) = text.split_once(" = ") {
            self.equals(line, key, value)?;
        } else if let Some((key, value)) = text.split_once(": ") {
            self.pair(line, (key, value.trim()), text)?;
        } else {
            return Err(Fault::at(line, text, "a line of pgbench's report"));
        }
        self.in_statements = false;
        Ok(())
    }

    fn pair(&mut self, line: usize, (key, value): (&str, &str), text: &str) -> Read<()> {
        let first = value.split([' ', '/', '(']).next().unwrap_or_default();
        let count = |what: &str| count_at(line, first, what);
        match key {
            "transaction type" => self.parameter("script", value, line, text)?,
            "scaling factor" => self.parameter("scale", value, line, text)?,
            "query mode" => self.parameter("query_mode", value, line, text)?,
            "maximum number of tries" => self.parameter("max_tries", value, line, text)?,
            "number of clients" => {
                once(
                    &mut self.clients,
                    users_at(line, first, "the number of clients")?,
                    line,
                    text,
                )?;
            }
            "duration" => {
                self.duration_s = Some(seconds_at(line, first, "the duration")?);
                self.figures.extend(Figure::new(key, first, "s"));
            }
            "number of transactions actually processed" => {
                once(
                    &mut self.processed,
                    count("the number of transactions")?,
                    line,
                    text,
                )?;
                self.value(key, first);
            }
            "number of failed transactions" => {
                once(
                    &mut self.failed,
                    count("the number of failures")?,
                    line,
                    text,
                )?;
                self.value(key, first);
            }
            "number of transactions skipped" => once(
                &mut self.skipped,
                count("the number of skipped")?,
                line,
                text,
            )?,
            "total number of retries" => once(
                &mut self.retried,
                count("the number of retries")?,
                line,
                text,
            )?,
            "rate limit schedule lag" => {
                self.rate_limited = true;
                let words: Vec<&str> = value.split_whitespace().collect();
                if let ["avg", avg, "(max", max, ..] = words.as_slice() {
                    self.figures
                        .extend(Figure::new("schedule lag average", avg, "ms"));
                    self.figures.extend(Figure::new(
                        "schedule lag max",
                        max.trim_end_matches(')'),
                        "ms",
                    ));
                }
            }
            _ if key.starts_with("number of ") && number(first).is_some() => self.value(key, first),
            // `partition method`, and what later versions print.
            _ => self.parameter(key, value, line, text)?,
        }
        Ok(())
    }

    fn parameter(&mut self, key: &str, value: &str, line: usize, text: &str) -> Read<()> {
        let known = self.parameters.insert(key.to_owned(), value.to_owned());
        if known.is_some() {
            Err(second(line, text))
        } else {
            Ok(())
        }
    }

    /// `latency average = 8.841 ms`, `tps = 451.849741 (without initial connection time)`.
    fn equals(&mut self, line: usize, key: &str, value: &str) -> Read<()> {
        let digits = value.split_whitespace().next().unwrap_or_default();
        let number = number_at(line, digits, "a figure of pgbench's report")?;
        if key == "tps" {
            if self.tps.is_some_and(|tps| !tps.includes_connecting) {
                return Err(second(line, &format!("{key} = {value}")));
            }
            self.tps = Some(Tps {
                value: number,
                includes_connecting: value.contains("(including connections"),
            });
        }
        self.value(key, value);
        Ok(())
    }

    fn value(&mut self, key: &str, value: &str) {
        let mut words = value.split_whitespace();
        let digits = words.next().unwrap_or_default();
        let unit = match words.next() {
            Some("ms") => "ms",
            _ if key == "tps" => "1/s",
            _ => "",
        };
        let note = value
            .split_once('(')
            .map(|(_, note)| format!(" ({}", note.trim()))
            .unwrap_or_default();
        let name = if key == "tps" {
            format!("tps{note}")
        } else {
            key.to_owned()
        };
        self.figures.extend(Figure::new(&name, digits, unit));
    }

    /// `weight: 1 (targets 25.0% of total)`, `1446 transactions (24.5% of total, tps = 482.942059)`,
    /// `number of failed transactions: 0 (0.000%)`, `latency average = 3.455 ms`.
    fn of_script(&mut self, text: &str) {
        let Some(script) = self.scripts.last_mut() else {
            return;
        };
        let head = text.split(" (").next().unwrap_or_default();
        let figure = if let Some(weight) = head.strip_prefix("weight: ") {
            script.weight = weight.to_owned();
            None
        } else if let Some((key, value)) = head.split_once(" = ") {
            Figure::new(key, value.trim_end_matches(" ms"), "ms")
        } else if let Some((key, value)) = head.split_once(": ") {
            Figure::new(key, value, "")
        } else {
            head.strip_suffix(" transactions")
                .and_then(|n| Figure::new("transactions", n, ""))
        };
        let name = script.name.clone();
        self.figures
            .extend(figure.map(|figure| figure.of_txn(&name)));
    }

    /// `0.257  0  UPDATE …`: mean latency, failures, with `--max-tries` retries, and the statement's first line.
    fn statement(&mut self, text: &str) {
        let is_count = |word: &str| word.parse::<u64>().is_ok();
        let words: Vec<&str> = text.split_whitespace().collect();
        let [mean, rest @ ..] = words.as_slice() else {
            return;
        };
        let statement: Vec<&str> = rest
            .iter()
            .copied()
            .skip_while(|word| is_count(word))
            .collect();
        let figure = Figure::new(&format!("latency of {}", statement.join(" ")), mean, "ms");
        let script = self
            .scripts
            .last()
            .map(|script| script.name.clone())
            .unwrap_or_default();
        self.figures
            .extend(figure.map(|figure| figure.of_txn(&script)));
    }

    /// The time that pgbench divided by, which leaves the time of connecting out; where nothing was processed, the time
    /// that was asked for.
    fn lasted_s(&self, processed: u64, tps: f64) -> f64 {
        let divided = (tps > 0.0).then(|| processed as f64 / tps);
        let parts = self.parts.last().map(|part| part.end_s);
        divided
            .or(self.duration_s)
            .or(parts)
            .unwrap_or_default()
            .min(FIRST_TIMESTAMP_S)
    }

    fn load(mut self, clients: u32, processed: u64, tps: f64) -> ImportedLoad {
        let mut load = ImportedLoad::new(Tool::Pgbench);
        let [failed, skipped, retries] =
            [self.failed, self.skipped, self.retried].map(Option::unwrap_or_default);
        let scheduled = processed + failed + skipped;
        let total = Counts {
            offered: scheduled,
            committed: processed,
            failed,
            dropped: skipped,
            retries,
            ..Counts::default()
        };
        let lasted_s = self.lasted_s(processed, tps);
        if lasted_s > 0.0 {
            load.ticks = ticks::of_parts(&self.parts, total, lasted_s);
        }
        load.txns = vec!["transaction".to_owned()];
        load.windows = vec![None];
        load.users = clients;
        load.started = self.started_s.map(Nanos::from_secs_f64);
        if !self.parts.is_empty() {
            let text = "from the lines of -P: rate x interval, rounded; the last one has the rest of the total";
            load.fact(SECONDS_FACT, text);
        }
        load.fact(
            RESPONSE_FACT,
            if self.rate_limited { "due" } else { "start" },
        );
        load.fact(PERCENTILES_FACT, "none");
        if self.rate_limited && lasted_s > 0.0 {
            load.offered_per_second = Some(scheduled as f64 / lasted_s);
            load.fact(OFFERED_FACT, DERIVED_RATE);
        }
        if self.rate_limited && self.skipped.is_none() {
            let text = "pgbench does not count transactions that were due and had not started at the end: in an \\
                        overload the offered rate was higher.";
            load.unknown.push(("unserved", text.to_owned()));
        }
        if !self.scripts.is_empty() {
            let weighted = |script: &Script| format!("{}@{}", script.name, script.weight);
            let all: Vec<String> = self.scripts.iter().map(weighted).collect();
            self.parameters.insert("script".to_owned(), all.join(", "));
        }
        load.failure = self
            .abort
            .map(|text| format!("results are incomplete: {text}"));
        load.workload = self.parameters.get("script").cloned().unwrap_or_default();
        load.parameters = self.parameters;
        load.version = self.version;
        load.figures = self.figures;
        load.figures
            .retain(|figure| number(&figure.printed).is_some());
        load
    }
}
