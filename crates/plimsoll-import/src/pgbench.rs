//! Output of pgbench, with or without `-P`, of one run or of several.
//!
//! With `--rate`, pgbench counts latency from when a transaction was scheduled (`processXactStats` in pgbench.c).

use std::collections::BTreeMap;

use super::fault::{RUN_AGAIN, Read};
use super::format::{OutputFormat, OutputReader};
use super::lines::{NumberedLine, first_word, number};
use super::load::{ImportedLoad, PrintedFigures, Span, ends_early};
use super::runs::{self, ToolRun, once, second};
use super::ticks::{self, PrintedInterval};
use super::tool::Tool;
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::Counts;
use plimsoll_record::message::{CheckDetail, CountsSource, ImportNote};

pub(super) const TOOL: Tool = Tool::new("pgbench", "pgbench output");

pub(super) static FORMAT: OutputFormat = OutputFormat {
    tool: TOOL,
    is: |start| {
        start.first().starts_with("pgbench (")
            || (start.has_line("number of clients:") && start.has_line("tps = "))
            || is_progress_alone(start.text)
    },
    reader: OutputReader::Loads(read),
};

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
    /// pgbench prints the server's version where it is another one than its own.
    server: String,
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
    first_progress: Option<PgbenchProgress>,
    /// When the first line of progress counts from, since 1970.
    started_s: Option<f64>,
    parts: Vec<PrintedInterval>,
    figures: PrintedFigures,
    parameters: BTreeMap<String, String>,
    scripts: Vec<PgbenchScript>,
    in_statements: bool,
}

#[derive(Debug)]
struct PgbenchProgress {
    line: usize,
    text: String,
    time_s: f64,
}

/// Beginnings of lines that follow the rate: figures of scripts and statements.
const OF_SCRIPTS: [&str; 3] = ["SQL script ", "- ", "statement latencies "];

#[derive(Debug, Clone, Copy)]
struct Tps {
    value: f64,
    /// Up to PostgreSQL 13 another line follows, which leaves out the time that connecting took, as later versions do.
    includes_connecting: bool,
}

/// One of several scripts.
#[derive(Debug)]
struct PgbenchScript {
    name: String,
    weight: String,
}

pub(super) fn read(text: &str) -> Read<Vec<ImportedLoad>> {
    runs::read::<Output>(text)
}

/// Lines before the report: the versions, and messages.
pub(super) fn lines_before_report(text: &str) -> usize {
    let is_report = |line: &str| KEYS.iter().any(|key| line.trim().starts_with(key));
    text.lines().take_while(|line| !is_report(line)).count()
}

/// Whether a text has what pgbench writes to its standard error, and no report.
pub(super) fn is_progress_alone(text: &str) -> bool {
    let begins = |mark: &str| text.lines().any(|line| line.trim().starts_with(mark));
    begins("progress: ") && !KEYS.iter().any(|key| begins(key))
}

impl ToolRun for Output {
    const TOOL: Tool = TOOL;

    fn ends_before(&self, line: &str) -> bool {
        let has_begun = self.in_report || !self.version.is_empty() || !self.parts.is_empty();
        let next = ["starting vacuum", "progress: ", "transaction type: "];
        line.starts_with("pgbench (") && has_begun
            || self.in_report && next.iter().any(|mark| line.starts_with(mark))
    }

    fn line(&mut self, line: NumberedLine<'_>) -> Read<()> {
        let text = line.text;
        if is_abort(text) {
            self.abort.get_or_insert_with(|| text.to_owned());
            return Ok(());
        }
        if text.starts_with("pgbench: error:") || text.starts_with("pgbench: fatal:") {
            return Err(line
                .unexpected("output of a complete run")
                .with_advice(RUN_AGAIN));
        }
        if let Some(progress) = text.strip_prefix("progress: ") {
            return self.progress(line, progress);
        }
        if let Some(version) = text.strip_prefix("pgbench (") {
            let (client, server) = version
                .split_once(", server ")
                .unwrap_or((version, version));
            self.version = first_version(client).to_owned();
            self.server = first_version(server).to_owned();
            return Ok(());
        }
        let is_report = KEYS.iter().any(|key| text.starts_with(key));
        self.in_report |= is_report;
        // Messages precede a report, and anything may follow it: neither has figures of pgbench.
        let is_over = self.tps.is_some() && !is_report && !self.in_scripts(text);
        if text.is_empty() || text.starts_with("pgbench: ") || !self.in_report || is_over {
            return Ok(());
        }
        self.report(line)
    }

    fn finish(self) -> Result<ImportedLoad, &'static str> {
        let clients = self.clients.ok_or("`number of clients:`")?;
        let processed = self
            .processed
            .ok_or("`number of transactions actually processed:`")?;
        let tps = self.tps.ok_or("`tps = `")?.value;
        Ok(self.load(clients, processed, tps))
    }
}

/// `17.5` of `17.5 (Debian 17.5-1.pgdg12+1))`.
fn first_version(text: &str) -> &str {
    text.split([' ', ',', ')']).next().unwrap_or_default()
}

/// Of a client, with or without the mark of an error (up to PostgreSQL 12), or of the run below its results.
fn is_abort(text: &str) -> bool {
    let text = text.strip_prefix("pgbench: ").unwrap_or(text);
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let of_client = text.starts_with("client ") && text.contains(" aborted ");
    of_client || text.starts_with("Run was aborted; the above results are incomplete")
}

impl Output {
    /// `1.0 s, 536.0 tps, lat 7.296 ms stddev 5.548, 0 failed, lag 0.501 ms, 0 skipped, 4 retried, 5 retries`.
    fn progress(&mut self, line: NumberedLine<'_>, text: &str) -> Read<()> {
        let seconds = text.split_once(" s,").map_or(text, |(seconds, _)| seconds);
        let time_s = line.number(seconds, "`progress: SECONDS s, … tps, …`")?;
        if time_s <= FIRST_TIMESTAMP_S {
            return self.part(line, text, time_s);
        }
        if self.started_s.is_none() {
            let Some(first) = self.first_progress.take() else {
                self.first_progress = Some(PgbenchProgress {
                    line: line.number,
                    text: text.to_owned(),
                    time_s,
                });
                return Ok(());
            };
            let started_s = first.time_s - (time_s - first.time_s);
            self.started_s = Some(started_s);
            let line = NumberedLine {
                number: first.line,
                text: &first.text,
            };
            self.part(line, &first.text, first.time_s - started_s)?;
        }
        self.part(line, text, time_s - self.started_s.unwrap_or_default())
    }

    fn part(&mut self, line: NumberedLine<'_>, text: &str, end_s: f64) -> Read<()> {
        let start_s = self.parts.last().map_or(0.0, |part| part.end_s);
        if end_s <= start_s || end_s > FIRST_TIMESTAMP_S {
            let expected = "a time after that of the line of progress before";
            return Err(line.fault(text, expected));
        }
        let mut part = PrintedInterval {
            end_s,
            ..PrintedInterval::default()
        };
        let over = Span::of_seconds(start_s, end_s);
        for field in text.split(',').skip(1).map(str::trim) {
            let words: Vec<&str> = field.split_whitespace().collect();
            match words.as_slice() {
                [rate, "tps"] => part.done_per_second = line.number(rate, "a rate")?,
                [n, "failed"] => part.failed = line.count(n, "a number of failures")?,
                [n, "skipped"] => {
                    part.dropped = line.count(n, "a number of skipped transactions")?;
                }
                [n, "retries"] => {
                    let retries = line.count(n, "a number of retries")?;
                    part.retries_per_second = retries as f64 / (end_s - start_s);
                }
                [n, "retried"] => drop(line.count(n, "a number of retried transactions")?),
                ["lat", mean, "ms", "stddev", stddev] => {
                    self.figures.add_over(over, "latency average", mean, "ms");
                    self.figures.add_over(over, "latency stddev", stddev, "ms");
                }
                ["lag", mean, "ms"] => {
                    self.figures
                        .add_over(over, "schedule lag average", mean, "ms");
                }
                _ => {
                    let expected =
                        "a figure of pgbench -P: tps, lat, failed, lag, skipped, retries";
                    return Err(line.fault(field, expected));
                }
            }
        }
        self.parts.push(part);
        Ok(())
    }

    /// Whether the line belongs to what follows the rate.
    fn in_scripts(&self, text: &str) -> bool {
        OF_SCRIPTS.iter().any(|mark| text.starts_with(mark))
            || (self.in_statements && text.starts_with(|c: char| c.is_ascii_digit()))
    }

    fn report(&mut self, line: NumberedLine<'_>) -> Read<()> {
        let text = line.text;
        let detail = text.strip_prefix("- ");
        if detail.unwrap_or(text).starts_with("statement latencies ") {
            self.in_statements = true;
            return Ok(());
        }
        if let Some(script) = text.strip_prefix("SQL script ") {
            let name = script.split_once(": ").map_or(script, |(_, name)| name);
            self.scripts.push(PgbenchScript {
                name: name.to_owned(),
                weight: String::new(),
            });
        } else if let Some(detail) = detail {
            self.of_script(detail);
        } else if self.in_scripts(text) {
            self.statement(text);
            return Ok(());
        } else if let Some((key, value)) = text.split_once(" = ") {
            self.equals(line, key, value)?;
        } else if let Some((key, value)) = text.split_once(": ") {
            self.pair(line, key, value.trim())?;
        } else {
            return Err(line.unexpected("a line of pgbench's report"));
        }
        self.in_statements = false;
        Ok(())
    }

    fn pair(&mut self, line: NumberedLine<'_>, key: &str, value: &str) -> Read<()> {
        let first = value.split([' ', '/', '(']).next().unwrap_or_default();
        match key {
            "transaction type" => self.parameter("script", value, line),
            "scaling factor" => self.parameter("scale", value, line),
            "query mode" => self.parameter("query_mode", value, line),
            "maximum number of tries" => self.parameter("max_tries", value, line),
            "number of clients" => {
                let clients = line.users(first, "the number of clients")?;
                once(&mut self.clients, clients, line)
            }
            "duration" => {
                self.duration_s = Some(line.seconds(first, "the duration")?);
                self.figures.add(key, first, "s");
                Ok(())
            }
            "number of transactions actually processed" => {
                self.value(key, first);
                let n = line.count(first, "the number of transactions")?;
                once(&mut self.processed, n, line)
            }
            "number of failed transactions" => {
                self.value(key, first);
                let n = line.count(first, "the number of failures")?;
                once(&mut self.failed, n, line)
            }
            "number of transactions skipped" => {
                let n = line.count(first, "the number of skipped")?;
                once(&mut self.skipped, n, line)
            }
            "total number of retries" => {
                let n = line.count(first, "the number of retries")?;
                once(&mut self.retried, n, line)
            }
            "rate limit schedule lag" => {
                self.rate_limited = true;
                let words: Vec<&str> = value.split_whitespace().collect();
                if let ["avg", avg, "(max", max, ..] = words.as_slice() {
                    let max = max.trim_end_matches(')');
                    self.figures.add("schedule lag average", avg, "ms");
                    self.figures.add("schedule lag max", max, "ms");
                }
                Ok(())
            }
            _ if key.starts_with("number of ") && number(first).is_some() => {
                self.value(key, first);
                Ok(())
            }
            // `partition method`, and what later versions print.
            _ => self.parameter(key, value, line),
        }
    }

    fn parameter(&mut self, key: &str, value: &str, line: NumberedLine<'_>) -> Read<()> {
        match self.parameters.insert(key.to_owned(), value.to_owned()) {
            Some(_) => Err(second(line)),
            None => Ok(()),
        }
    }

    /// `latency average = 8.841 ms`, `tps = 451.849741 (without initial connection time)`.
    fn equals(&mut self, line: NumberedLine<'_>, key: &str, value: &str) -> Read<()> {
        let number = line.number(first_word(value), "a figure of pgbench's report")?;
        if key == "tps" {
            if self.tps.is_some_and(|tps| !tps.includes_connecting) {
                return Err(second(line));
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
        let words: Vec<&str> = value.split_whitespace().collect();
        let unit = match words.get(1) {
            Some(&"ms") => "ms",
            _ if key == "tps" => "1/s",
            _ => "",
        };
        let name = match value.split_once('(') {
            Some((_, note)) if key == "tps" => format!("tps ({}", note.trim()),
            _ => key.to_owned(),
        };
        let digits = words.first().copied().unwrap_or_default();
        self.figures.add(&name, digits, unit);
    }

    /// `weight: 1 (targets 25.0% of total)`, `1446 transactions (24.5% of total, tps = 482.942059)`,
    /// `number of failed transactions: 0 (0.000%)`, `latency average = 3.455 ms`.
    fn of_script(&mut self, text: &str) {
        let Some(script) = self.scripts.last_mut() else {
            return;
        };
        let head = text.split(" (").next().unwrap_or_default();
        if let Some(weight) = head.strip_prefix("weight: ") {
            script.weight = weight.to_owned();
        } else if let Some((key, value)) = head.split_once(" = ") {
            let ms = value.trim_end_matches(" ms");
            self.figures.add_of(&script.name, key, ms, "ms");
        } else if let Some((key, value)) = head.split_once(": ") {
            self.figures.add_of(&script.name, key, value, "");
        } else if let Some(n) = head.strip_suffix(" transactions") {
            self.figures.add_of(&script.name, "transactions", n, "");
        }
    }

    /// `0.257  0  UPDATE …`: mean latency, failures, with `--max-tries` retries, and the statement's first line.
    fn statement(&mut self, text: &str) {
        let mut words = text.split_whitespace();
        let mean = words.next().unwrap_or_default();
        let statement: Vec<&str> = words
            .skip_while(|word| word.parse::<u64>().is_ok())
            .collect();
        let name = format!("latency of {}", statement.join(" "));
        let script = self.scripts.last().map_or("", |script| &script.name);
        self.figures.add_of(script, &name, mean, "ms");
    }

    /// The time that pgbench divided by, which leaves the time of connecting out; where nothing was processed, the time
    /// that was asked for.
    fn lasted_s(&self, processed: u64, tps: f64) -> f64 {
        let divided = (tps > 0.0).then(|| processed as f64 / tps);
        let parts = self.parts.last().map(|part| part.end_s);
        let lasted = divided.or(self.duration_s).or(parts);
        lasted.unwrap_or_default().min(FIRST_TIMESTAMP_S)
    }

    fn load(mut self, clients: u32, processed: u64, tps: f64) -> ImportedLoad {
        let mut load = ImportedLoad::new(TOOL);
        let total = self.total(processed);
        let lasted_s = self.lasted_s(processed, tps);
        if lasted_s > 0.0 {
            load.ticks = ticks::of_parts(&self.parts, total, lasted_s);
        }
        load.txns = vec!["transaction".to_owned()];
        load.windows = vec![None];
        load.users = clients;
        load.started = self.started_s.map(Nanos::from_secs_f64);
        if !self.parts.is_empty() {
            let source = CountsSource::Progress;
            load.note(ImportNote::CountsFrom { source });
        }
        load.latencies(if self.rate_limited { "due" } else { "start" }, "none");
        if self.rate_limited && lasted_s > 0.0 {
            load.offered_per_second = Some(total.offered as f64 / lasted_s);
            load.note(ImportNote::OfferedDerived);
        }
        if self.rate_limited && self.skipped.is_none() {
            load.note(ImportNote::UnstartedUncounted);
        }
        if !self.scripts.is_empty() {
            let scripts = self.scripts.iter();
            let weighted = scripts.map(|script| format!("{}@{}", script.name, script.weight));
            let all = weighted.collect::<Vec<_>>().join(", ");
            self.parameters.insert("script".to_owned(), all);
        }
        let abort = self.abort;
        load.failure = abort.map(|error| CheckDetail::ResultsIncomplete { error });
        load.workload = self.parameters.get("script").cloned().unwrap_or_default();
        load.parameters = self.parameters;
        load.version = self.version;
        if !self.server.is_empty() {
            load.fact("version", format!("PostgreSQL {}", self.server));
        }
        load.ended_early = self
            .duration_s
            .is_some_and(|asked_s| ends_early(lasted_s, asked_s));
        load.figures = self.figures;
        let figures = &mut load.figures.0;
        figures.retain(|figure| number(&figure.printed).is_some());
        load
    }

    fn total(&self, processed: u64) -> Counts {
        let counts = Counts {
            committed: processed,
            failed: self.failed.unwrap_or_default(),
            dropped: self.skipped.unwrap_or_default(),
            retries: self.retried.unwrap_or_default(),
            ..Counts::default()
        };
        Counts {
            offered: counts.settled(),
            ..counts
        }
    }
}
