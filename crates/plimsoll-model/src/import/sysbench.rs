//! Output of sysbench 1.0, with or without `--report-interval` and `--histogram`.
//!
//! With `--rate`, sysbench adds the time that an event waited in its queue to its latency, so that latencies count from
//! when it was due; what still waits at the end is in no figure.

use super::fault::{Fault, Read, count_at, number, number_at, seconds_at, users_at};
use super::load::{Figure, ImportedLoad, LoadWindow};
use super::ticks::{self, Part};
use super::{PERCENTILES_FACT, RESPONSE_FACT, SECONDS_FACT, Tool, unknown};
use crate::hist::Hist;
use crate::lane::Counts;
use crate::units::Nanos;

#[derive(Debug, Default)]
struct Output {
    version: String,
    threads: Option<u32>,
    rate: Option<f64>,
    parts: Vec<Part>,
    histogram: Vec<(f64, u64)>,
    events: Option<u64>,
    total_s: Option<f64>,
    errors: u64,
    has_transactions: bool,
    /// Options stand before, results after.
    is_running: bool,
    /// The heading that the line stands below.
    section: String,
    unit: String,
    sum_ms: Option<f64>,
    max_ms: Option<f64>,
    figures: Vec<Figure>,
}

pub(super) fn read(text: &str) -> Read<ImportedLoad> {
    let mut output = Output::default();
    for (line, content) in text.lines().enumerate().map(|(i, content)| (i + 1, content)) {
        output.line(line, content)?;
    }
    let missing = |what: &str| Fault::end(text, format!("{what}, as sysbench prints it at the end of a run"));
    let threads = output.threads.ok_or_else(|| missing("`Number of threads:`"))?;
    let events = output.events.ok_or_else(|| missing("`total number of events:`"))?;
    let total_s = output.total_s.ok_or_else(|| missing("`total time:`"))?;
    Ok(output.load(threads, events, total_s))
}

impl Output {
    fn line(&mut self, line: usize, content: &str) -> Read<()> {
        let trimmed = content.trim();
        if let Some(rest) = trimmed.strip_prefix("sysbench ") {
            self.version = rest.split_whitespace().next().unwrap_or_default().to_owned();
        } else if trimmed == "Threads started!" {
            self.is_running = true;
        } else if trimmed.starts_with("FATAL:") {
            return Err(Fault::at(line, trimmed, "output of a run that came to its end"));
        } else if let Some(rest) = trimmed.strip_prefix('[') {
            self.interval(line, rest)?;
        } else if let Some((value, rest)) = trimmed.split_once('|') {
            self.bucket(line, value, rest)?;
        } else if let Some((key, value)) = trimmed.split_once(':') {
            self.pair(line, key.trim(), value.trim())?;
        }
        Ok(())
    }

    /// `1s ] thds: 4 tps: 93.79 qps: 1978.49 (r/w/o: …) lat (ms,95%): 9.39 err/s: 2.00 reconn/s: 0.00`.
    fn interval(&mut self, line: usize, rest: &str) -> Read<()> {
        let expected = "`[ SECONDSs ] thds: … tps: …`";
        let (time, rest) = rest.split_once(']').ok_or_else(|| Fault::at(line, rest, expected))?;
        let time = time.trim().strip_suffix('s').ok_or_else(|| Fault::at(line, time, expected))?;
        let end_s = seconds_at(line, time, "the time of an interval")?;
        let start_s = self.parts.last().map_or(0.0, |part| part.end_s);
        if rest.trim_start().starts_with("queue length") {
            return Ok(());
        }
        if end_s <= start_s {
            return Err(Fault::at(line, time, format!("a time after {start_s} s, where the interval before ended")));
        }
        let over = (Nanos::from_secs_f64(start_s), Nanos::from_secs_f64(end_s));
        let words: Vec<&str> = rest.split_whitespace().collect();
        let after = |key: &str| words.iter().position(|word| *word == key).and_then(|at| words.get(at + 1)).copied();
        let mut part = Part { end_s, ..Part::default() };
        let rate = after("tps:").or(after("eps:"));
        match rate {
            Some(rate) => part.done_per_second = number_at(line, rate, "a rate")?,
            // Tests of files tell only of bytes.
            None if after("reads:").is_some() => {}
            None => return Err(Fault::at(line, rest, expected)),
        }
        if let Some(errors) = after("err/s:") {
            part.retries_per_second = number_at(line, errors, "a rate of errors")?;
        }
        if rate.is_some() || !self.parts.is_empty() {
            self.parts.push(part);
        }
        let label = words.iter().find(|word| word.starts_with("(ms,") && word.ends_with("):"));
        if let Some((label, value)) = label.and_then(|label| Some((*label, after(label)?))) {
            let name = format!("latency {}", label.trim_matches(['(', ')', ':']).trim_start_matches("ms,"));
            self.figures.extend(Figure::new(&name, value, "ms").map(|figure| figure.over(over.0, over.1)));
        }
        Ok(())
    }

    /// `0.020 |***   2`.
    fn bucket(&mut self, line: usize, value: &str, rest: &str) -> Read<()> {
        let ms = number_at(line, value, "the value of a histogram's bucket, in ms")?;
        let n = rest.trim_start_matches(['*', ' ']);
        self.histogram.push((ms, count_at(line, n, "the count of a histogram's bucket")?));
        Ok(())
    }

    fn pair(&mut self, line: usize, key: &str, value: &str) -> Read<()> {
        match key {
            "Number of threads" => self.threads = Some(users_at(line, value, "the number of threads")?),
            "Target transaction rate" => {
                self.rate = Some(number_at(line, value.trim_end_matches("/sec"), "the offered rate")?);
            }
            "total time" => self.total_s = Some(seconds_at(line, value.trim_end_matches('s'), "the total time")?),
            "total number of events" => self.events = Some(count_at(line, value, "the number of events")?),
            "transactions" => self.has_transactions = true,
            _ => {}
        }
        if value.is_empty() {
            // `Latency (ms)`: a heading, with the unit of what follows.
            let (name, unit) =
                key.split_once(" (").map_or((key, ""), |(name, unit)| (name, unit.trim_end_matches(')')));
            (self.section, self.unit) = (name.to_owned(), unit.to_owned());
        } else if self.is_running {
            self.figure(key, value);
        }
        if self.section == "Latency" {
            match key {
                "sum" => self.sum_ms = number(value),
                "max" => self.max_ms = number(value),
                _ => {}
            }
        }
        if key == "ignored errors" {
            let n = value.split_whitespace().next().unwrap_or_default();
            self.errors = count_at(line, n, "the number of ignored errors")?;
        }
        Ok(())
    }

    /// `2554   (368.09 per sec.)`, `6.9371s`, `638.5000/55.65`.
    fn figure(&mut self, key: &str, value: &str) {
        let name = match self.section.as_str() {
            // They stand beside that heading, and not below it.
            _ if ["transactions", "queries", "ignored errors", "reconnects"].contains(&key) => key.to_owned(),
            "SQL statistics" | "General statistics" | "File operations" | "Throughput" | "CPU speed" => key.to_owned(),
            section => format!("{} {key}", section.to_lowercase()),
        };
        let (first, rest) = value.split_once(char::is_whitespace).unwrap_or((value, ""));
        let digits = first.trim_end_matches('s');
        let unit = if digits.len() < first.len() { "s" } else { &self.unit };
        if let (Some((avg, stddev)), Some((base, _))) = (first.split_once('/'), name.split_once(" (avg/stddev)")) {
            self.figures.extend(Figure::new(&format!("{base} avg"), avg, unit));
            self.figures.extend(Figure::new(&format!("{base} stddev"), stddev, unit));
        } else {
            self.figures.extend(Figure::new(&name, digits, unit));
        }
        if let Some(per_second) = rest.trim().strip_prefix('(').and_then(|rest| rest.strip_suffix("per sec.)")) {
            self.figures.extend(Figure::new(&name, per_second, "per sec."));
        }
    }

    fn load(self, threads: u32, events: u64, total_s: f64) -> ImportedLoad {
        let mut load = ImportedLoad::new(Tool::Sysbench);
        let total = Counts { offered: events, committed: events, retries: self.errors, ..Counts::default() };
        load.ticks = ticks::of_parts(&self.parts, total, total_s);
        load.txns = vec![if self.has_transactions { "transaction" } else { "event" }.to_owned()];
        load.users = threads;
        load.offered_per_second = self.rate.filter(|rate| *rate > 0.0);
        load.windows = vec![self.window()];
        if !self.parts.is_empty() {
            let text = "from the --report-interval lines: rate x interval, rounded; what is left to the total is in the \
                        last one";
            load.fact(SECONDS_FACT, text);
        }
        load.fact(RESPONSE_FACT, if load.offered_per_second.is_some() { "due" } else { "start" });
        load.fact(PERCENTILES_FACT, "merged");
        if load.offered_per_second.is_some() {
            let text =
                "What still waited in the queue at the end is in no figure: the latencies of an overload are too low.";
            load.unknown.push(("unserved", text.to_owned()));
        }
        load.does_not_know(unknown::WORKLOAD);
        load.version = self.version;
        load.figures = self.figures;
        load
    }

    /// sysbench's buckets are about 1.8 % wide; below 0.1 ms their values are printed with too few digits for that.
    fn window(&self) -> Option<LoadWindow> {
        let counts = || self.histogram.iter().map(|(ms, n)| (Nanos::from_secs_f64(ms / 1e3), *n));
        let sum = self.sum_ms.map_or_else(
            || counts().map(|(value, n)| u128::from(value.0) * u128::from(n)).sum(),
            |ms| (ms * 1e6).round() as u128,
        );
        let max = self.max_ms.map_or_else(
            || counts().map(|(value, _)| value).max().unwrap_or_default(),
            |ms| Nanos::from_secs_f64(ms / 1e3),
        );
        let response = Hist::of_buckets(counts(), sum, max);
        (!self.histogram.is_empty()).then_some(LoadWindow { response, service: None })
    }
}
