//! Output of pgbench, with or without `-P`.
//!
//! With `--rate`, pgbench counts latency from when a transaction was scheduled (`processXactStats` in pgbench.c).

use super::fault::{Fault, Read, count_at, number, number_at, seconds_at, users_at};
use super::load::{Figure, ImportedLoad};
use super::ticks::{self, Part};
use super::{PERCENTILES_FACT, RESPONSE_FACT, SECONDS_FACT, Tool};
use crate::lane::Counts;
use crate::units::Nanos;

/// `--progress-timestamp` prints seconds since 1970, which no run lasts.
const FIRST_TIMESTAMP_S: f64 = 1e8;

#[derive(Debug, Default)]
struct Output {
    version: String,
    clients: Option<u32>,
    script: String,
    processed: Option<u64>,
    failed: u64,
    skipped: u64,
    retried: u64,
    tps: Option<f64>,
    rate_limited: bool,
    /// When the first line of progress counts from, since 1970.
    started_s: Option<f64>,
    parts: Vec<Part>,
    figures: Vec<Figure>,
    script_figures: String,
}

pub(super) fn read(text: &str) -> Read<ImportedLoad> {
    let mut output = Output::default();
    let progress: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .filter_map(|(i, line)| Some((i + 1, line.trim().strip_prefix("progress: ")?)))
        .collect();
    output.progress(&progress)?;
    for (line, content) in text.lines().enumerate().map(|(i, content)| (i + 1, content.trim())) {
        output.line(line, content)?;
    }
    let missing = |what: &str| Fault::end(text, format!("{what}, as pgbench prints it at the end of a run"));
    let clients = output.clients.ok_or_else(|| missing("`number of clients:`"))?;
    let processed = output.processed.ok_or_else(|| missing("`number of transactions actually processed:`"))?;
    let tps = output.tps.ok_or_else(|| missing("`tps = `"))?;
    Ok(output.load(clients, processed, tps))
}

impl Output {
    /// `1.0 s, 536.0 tps, lat 7.296 ms stddev 5.548, 0 failed, lag 0.501 ms, 0 skipped`.
    fn progress(&mut self, lines: &[(usize, &str)]) -> Read<()> {
        let time = |(line, text): &(usize, &str)| {
            let seconds = text.split_once(" s,").map_or(*text, |(seconds, _)| seconds);
            number_at(*line, seconds, "`progress: SECONDS s, … tps, …`")
        };
        let times = lines.iter().map(time).collect::<Read<Vec<f64>>>()?;
        let first = times.first().copied().unwrap_or_default();
        if first > FIRST_TIMESTAMP_S {
            // The first part is as long as the second.
            self.started_s = times.get(1).map(|second| first - (second - first)).filter(|start| *start > 0.0);
        }
        let zero = if first > FIRST_TIMESTAMP_S { self.started_s.unwrap_or(first) } else { 0.0 };
        for ((line, text), time) in lines.iter().zip(times) {
            self.part(*line, text, time - zero)?;
        }
        Ok(())
    }

    fn part(&mut self, line: usize, text: &str, end_s: f64) -> Read<()> {
        let start_s = self.parts.last().map_or(0.0, |part| part.end_s);
        // One line alone says nothing of how long its part was.
        if end_s <= 0.0 && self.started_s.is_none() && self.parts.is_empty() {
            return Ok(());
        }
        if end_s <= start_s || end_s > FIRST_TIMESTAMP_S {
            return Err(Fault::at(line, text, "a time after that of the line of progress before"));
        }
        let mut part = Part { end_s, ..Part::default() };
        let over = (Nanos::from_secs_f64(start_s), Nanos::from_secs_f64(end_s));
        for field in text.split(',').skip(1).map(str::trim) {
            let words: Vec<&str> = field.split_whitespace().collect();
            match words.as_slice() {
                [rate, "tps"] => part.done_per_second = number_at(line, rate, "a rate")?,
                [n, "failed"] => part.failed = count_at(line, n, "a number of failures")?,
                [n, "skipped"] => part.dropped = count_at(line, n, "a number of skipped transactions")?,
                ["lat", mean, "ms", "stddev", stddev] => {
                    let both = [("latency average", mean), ("latency stddev", stddev)];
                    let figures = both.into_iter().filter_map(|(name, value)| Figure::new(name, value, "ms"));
                    self.figures.extend(figures.map(|figure| figure.over(over.0, over.1)));
                }
                ["lag", mean, "ms"] => {
                    let figure = Figure::new("schedule lag average", mean, "ms");
                    self.figures.extend(figure.map(|figure| figure.over(over.0, over.1)));
                }
                _ => {}
            }
        }
        self.parts.push(part);
        Ok(())
    }

    fn line(&mut self, line: usize, text: &str) -> Read<()> {
        let first = |value: &str| value.split([' ', '/', '(']).next().unwrap_or_default().to_owned();
        if let Some(rest) = text.strip_prefix("pgbench (") {
            self.version = rest.split([' ', ')']).next().unwrap_or_default().to_owned();
        } else if text.starts_with("pgbench: error:") || text.starts_with("pgbench: fatal:") {
            return Err(Fault::at(line, text, "output of a run that came to its end"));
        } else if let Some(rest) = text.strip_prefix("SQL script ") {
            self.script_figures = rest.split_once(": ").map_or(rest, |(_, name)| name).to_owned();
        } else if let Some(rest) = text.strip_prefix("- ") {
            self.of_script(rest);
        } else if let Some((key, value)) = text.split_once(" = ") {
            if key == "tps" {
                let tps = number_at(line, &first(value), "the rate of transactions")?;
                // Up to PostgreSQL 13 a second line excludes the time that connecting took, as later versions do.
                if self.tps.is_none() || value.contains("excluding") || value.contains("without") {
                    self.tps = Some(tps);
                }
            }
            self.value(key, value);
        } else if let Some((key, value)) = text.split_once(": ") {
            self.pair(line, key, value.trim(), &first(value.trim()))?;
        }
        Ok(())
    }

    fn pair(&mut self, line: usize, key: &str, value: &str, first: &str) -> Read<()> {
        match key {
            "transaction type" => self.script = value.to_owned(),
            "number of clients" => self.clients = Some(users_at(line, first, "the number of clients")?),
            "duration" => {
                seconds_at(line, first, "the duration")?;
            }
            "number of transactions actually processed" => {
                self.processed = Some(count_at(line, first, "the number of transactions")?);
                self.value(key, first);
            }
            "number of failed transactions" => self.failed = count_at(line, first, "the number of failures")?,
            "number of transactions skipped" => self.skipped = count_at(line, first, "the number of skipped")?,
            "total number of retries" => self.retried = count_at(line, first, "the number of retries")?,
            "rate limit schedule lag" => {
                self.rate_limited = true;
                let words: Vec<&str> = value.split_whitespace().collect();
                if let ["avg", avg, "(max", max, ..] = words.as_slice() {
                    self.figures.extend(Figure::new("schedule lag average", avg, "ms"));
                    self.figures.extend(Figure::new("schedule lag max", max.trim_end_matches(')'), "ms"));
                }
            }
            _ => {}
        }
        if key.starts_with("number of failed") || key.starts_with("number of transactions above") {
            self.value(key, first);
        }
        Ok(())
    }

    /// `latency average = 8.841 ms`, `tps = 451.849741 (without initial connection time)`.
    fn value(&mut self, key: &str, value: &str) {
        let mut words = value.split_whitespace();
        let digits = words.next().unwrap_or_default();
        let unit = match words.next() {
            Some("ms") => "ms",
            _ if key == "tps" => "1/s",
            _ => "",
        };
        let note = value.split_once('(').map(|(_, note)| format!(" ({}", note.trim())).unwrap_or_default();
        let name = if key == "tps" { format!("tps{note}") } else { key.to_owned() };
        self.figures.extend(Figure::new(&name, digits, unit));
    }

    /// `1446 transactions (24.5% of total, tps = 482.942059)`, `latency average = 3.455 ms`.
    fn of_script(&mut self, text: &str) {
        let script = self.script_figures.clone();
        let figure = match text.split_once(" = ") {
            Some((key, value)) if key.starts_with("latency ") => {
                Figure::new(key, value.split_whitespace().next().unwrap_or_default(), "ms")
            }
            Some((key, _)) => match key.split_once(" transactions (") {
                Some((n, _)) => Figure::new("transactions", n, ""),
                None => None,
            },
            None => None,
        };
        self.figures.extend(figure.map(|figure| figure.of_txn(&script)));
    }

    fn load(self, clients: u32, processed: u64, tps: f64) -> ImportedLoad {
        let mut load = ImportedLoad::new(Tool::Pgbench);
        let total = Counts {
            offered: processed + self.failed + self.skipped,
            committed: processed,
            failed: self.failed,
            dropped: self.skipped,
            retries: self.retried,
            ..Counts::default()
        };
        // The time that pgbench divided by, which leaves the time of connecting out.
        let lasted_s = if tps > 0.0 { (processed as f64 / tps).min(FIRST_TIMESTAMP_S) } else { 0.0 };
        if lasted_s > 0.0 {
            load.ticks = ticks::of_parts(&self.parts, total, lasted_s);
        }
        load.txns = vec!["transaction".to_owned()];
        load.windows = vec![None];
        load.users = clients;
        load.started = self.started_s.map(Nanos::from_secs_f64);
        if !self.parts.is_empty() {
            let text = "from the lines of -P: rate x interval, rounded; what is left to the total is in the last one";
            load.fact(SECONDS_FACT, text);
        }
        load.fact(RESPONSE_FACT, if self.rate_limited { "due" } else { "start" });
        load.fact(PERCENTILES_FACT, "none");
        if self.rate_limited {
            let text = "pgbench prints the schedule lag and not the rate that was asked for (-R).";
            load.unknown.push(("offered_rate", text.to_owned()));
        }
        load.workload = self.script;
        load.version = self.version;
        load.figures = self.figures;
        load.figures.retain(|figure| number(&figure.printed).is_some());
        load
    }
}
