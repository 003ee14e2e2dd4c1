//! Output of sysbench 0.4 to 1.1, with or without `--report-interval` and `--histogram`, of one run or of several.
//!
//! With `--rate`, sysbench adds the time that an event waited in its queue to its latency, so that latencies count from
//! when it was due; what still waits at the end is in no figure.

mod options;

use super::fault::{RUN_AGAIN, Read};
use super::format::{OutputFormat, OutputReader};
use super::lines::{NumberedLine, first_word};
use super::load::{ImportedLoad, LoadWindow, PrintedFigures, Span};
use super::runs::{self, ToolRun, once};
use super::ticks::{self, PrintedInterval};
use super::tool::Tool;
use options::SysbenchOptions;
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::Hist;
use plimsoll_record::lane::Counts;
use plimsoll_record::message::{CountsSource, ImportNote};

pub(super) const TOOL: Tool = Tool::new("sysbench", "sysbench output");

pub(super) static FORMAT: OutputFormat = OutputFormat {
    tool: TOOL,
    is: |start| {
        start.first().starts_with("sysbench ")
            || start.has_line("Running the test with following options")
    },
    reader: OutputReader::Loads(read),
};

#[derive(Debug, Default)]
struct SysbenchOutput {
    version: String,
    threads: Option<u32>,
    rate: Option<f64>,
    options: SysbenchOptions,
    parts: Vec<PrintedInterval>,
    histogram: Vec<(f64, u64)>,
    events: Option<u64>,
    total_s: Option<f64>,
    errors: u64,
    queries: Queries,
    /// The threads have started: options come before that line, results after it.
    is_running: bool,
    /// A heading of the results was read.
    in_results: bool,
    /// The last line of the results was read.
    has_ended: bool,
    /// The heading above the line.
    section: String,
    unit: String,
    sum_ms: Option<f64>,
    max_ms: Option<f64>,
    figures: PrintedFigures,
}

#[derive(Debug, Default)]
struct Queries {
    transactions: Option<u64>,
    read: u64,
    write: u64,
    other: u64,
}

/// Headings of figures.
const SECTIONS: [&str; 12] = [
    "OLTP test statistics",
    "Test execution summary",
    "per-request statistics",
    "response time",
    "SQL statistics",
    "queries performed",
    "General statistics",
    "File operations",
    "Throughput",
    "CPU speed",
    "Latency",
    "Threads fairness",
];
/// Figures beside a heading, not below it.
const SIDE_BY_SIDE: [&str; 7] = [
    "transactions",
    "queries",
    "ignored errors",
    "deadlocks",
    "read/write requests",
    "other operations",
    "reconnects",
];
/// Messages that sysbench prints between its figures.
const MESSAGES: [&str; 9] = [
    "DEBUG:",
    "WARNING:",
    "ALERT:",
    "Time limit exceeded",
    "Done.",
    "(last message repeated",
    "Warming up for",
    "Latency histogram",
    "value  ----",
];

/// A line by interval.
const INTERVAL: &str = "`[ SECONDSs ] thds: … tps: …`";

pub(super) fn read(text: &str) -> Read<Vec<ImportedLoad>> {
    runs::read::<SysbenchOutput>(text)
}

impl ToolRun for SysbenchOutput {
    const TOOL: Tool = TOOL;

    fn ends_before(&self, line: &str) -> bool {
        let is_version = line
            .strip_prefix("sysbench ")
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        is_version && (self.threads.is_some() || !self.version.is_empty())
            || line.starts_with("Running the test with following options") && self.threads.is_some()
    }

    fn line(&mut self, line: NumberedLine<'_>) -> Read<()> {
        let text = line.text;
        if text.starts_with("FATAL:") {
            return Err(line
                .unexpected("output of a complete run")
                .with_advice(RUN_AGAIN));
        }
        if text.is_empty() || MESSAGES.iter().any(|message| text.starts_with(message)) {
            return Ok(());
        }
        if !self.is_running {
            return self.option(line);
        }
        if let Some(interval) = text.strip_prefix('[') {
            return self.interval(line, interval);
        }
        match text.split_once('|') {
            Some((value, rest)) => self.bucket(line, value, rest),
            None => self.result(line),
        }
    }

    fn finish(self) -> Result<ImportedLoad, &'static str> {
        let threads = self.threads.ok_or("`Number of threads:`")?;
        // sysbench 1.1 prints neither of its test of files.
        if self.options.test == "fileio" && self.section == "Latency" && self.events.is_none() {
            return Ok(self.load(threads, 0, 0.0));
        }
        let events = self.events.ok_or("`total number of events:`")?;
        let total_s = self.total_s;
        let total_s = total_s.ok_or("`total time:` or `time elapsed:`")?;
        Ok(self.load(threads, events, total_s))
    }
}

impl SysbenchOutput {
    /// A line before the threads start.
    fn option(&mut self, line: NumberedLine<'_>) -> Read<()> {
        let text = line.text;
        if let Some(rest) = text.strip_prefix("sysbench ") {
            self.version = first_word(rest).trim_end_matches(':').to_owned();
            return Ok(());
        }
        if text == "Threads started!" {
            self.is_running = true;
            return Ok(());
        }
        if text.starts_with("Report checkpoint(s) at") {
            let expected = "a run without --report-checkpoints, each of whose reports counts from the one before";
            let advice = "Run sysbench without --report-checkpoints";
            return Err(line.unexpected(expected).with_advice(advice));
        }
        match text.split_once(':') {
            Some(("Number of threads", n)) => {
                let threads = line.users(n, "the number of threads")?;
                once(&mut self.threads, threads, line)?;
            }
            Some(("Target transaction rate", rate)) => {
                let rate = rate.trim().trim_end_matches("/sec");
                once(&mut self.rate, line.number(rate, "the offered rate")?, line)?;
            }
            Some(("Warmup time", time)) => {
                let seconds = time.trim().trim_end_matches('s');
                self.figures.add("warmup time", seconds, "s");
            }
            _ => self.options.line(text),
        }
        Ok(())
    }

    /// `1s ] thds: 4 tps: 93.79 qps: 1978.49 (r/w/o: …) lat (ms,95%): 9.39 err/s: 2.00 reconn/s: 0.00`.
    fn interval(&mut self, line: NumberedLine<'_>, text: &str) -> Read<()> {
        let Some((time, rest)) = text.split_once(']') else {
            return Err(line.fault(text, INTERVAL));
        };
        let Some(time) = time.trim().strip_suffix('s') else {
            return Err(line.fault(time, INTERVAL));
        };
        let end_s = line.seconds(time, "the time of an interval")?;
        if rest.trim_start().starts_with("queue length") {
            return Ok(());
        }
        let start_s = self.parts.last().map_or(0.0, |part| part.end_s);
        if end_s <= start_s {
            let expected = format!("a time after {start_s} s, where the interval before ended");
            return Err(line.fault(time, expected));
        }
        // sysbench 0.5: `threads: 64, tps: 6134.77, …, response time: 18.24ms (95%), errors: 0.00`
        let words: Vec<&str> = rest
            .split_whitespace()
            .map(|word| word.trim_end_matches(','))
            .collect();
        let over = Span::of_seconds(start_s, end_s);
        let retries_per_second = match after(&words, "err/s:").or(after(&words, "errors:")) {
            Some(errors) => line.number(errors, "a rate of errors")?,
            None => 0.0,
        };
        // Tests of files and of memory print bytes, which are events where the size of a block is known.
        let rate = match after(&words, "tps:").or(after(&words, "eps:")) {
            Some(rate) => Some(line.number(rate, "a rate")?),
            None if !options::prints_bytes(&words) => return Err(line.fault(rest, INTERVAL)),
            None => self.options.events_per_second(&words),
        };
        self.parts
            .extend(rate.map(|done_per_second| PrintedInterval {
                end_s,
                done_per_second,
                retries_per_second,
                ..PrintedInterval::default()
            }));
        if let Some(at) = words.iter().position(|word| *word == "time:")
            && let (Some(value), Some(percentile)) = (words.get(at + 1), words.get(at + 2))
        {
            let name = format!("latency {}", percentile.trim_matches(['(', ')']));
            let value = value.trim_end_matches("ms");
            self.figures.add_over(over, &name, value, "ms");
        }
        let mut labels = words.iter();
        if let Some(label) = labels.find(|word| word.starts_with("(ms,") && word.ends_with("):"))
            && let Some(value) = after(&words, label)
        {
            let percentile = label
                .trim_matches(['(', ')', ':'])
                .trim_start_matches("ms,");
            let name = format!("latency {percentile}");
            self.figures.add_over(over, &name, value, "ms");
        }
        options::add_bytes(&mut self.figures, over, &words);
        Ok(())
    }

    /// `0.020 |***   2`.
    fn bucket(&mut self, line: NumberedLine<'_>, value: &str, rest: &str) -> Read<()> {
        let ms = line.number(value, "the value of a histogram's bucket, in ms")?;
        let n = rest.trim_start_matches(['*', ' ']);
        let n = line.count(n, "the count of a histogram's bucket")?;
        self.histogram.push((ms, n));
        Ok(())
    }

    /// A line after the threads have started.
    fn result(&mut self, line: NumberedLine<'_>) -> Read<()> {
        match line.words().as_slice() {
            // A wide number stands apart from its bracket.
            ["Total", "operations:", n, rate, "per", "second)"]
            | ["Total", "operations:", n, "(", rate, "per", "second)"] => {
                let rate = rate.trim_start_matches('(');
                self.figures.add("total operations", n, "");
                self.figures.add("total operations", rate, "per second");
                return Ok(());
            }
            [amount, "MiB", "transferred", rate, "MiB/sec)"] => {
                let rate = rate.trim_start_matches('(');
                self.figures.add("transferred", rate, "MiB/sec");
                self.figures.add("transferred", amount, "MiB");
                return Ok(());
            }
            [direction, iops, rest @ ..] if iops.starts_with("IOPS=") => {
                self.file_throughput(direction.trim_end_matches(':'), iops, rest);
                return Ok(());
            }
            _ => {}
        }
        match line.text.split_once(':') {
            Some((key, value)) => self.pair(line, key.trim(), value.trim()),
            // Scripts may print what they like before and after the results.
            None if !self.in_results || self.has_ended => Ok(()),
            None => {
                let version = &self.version;
                Err(line.unexpected(format!("a line of sysbench {version}'s results")))
            }
        }
    }

    /// `read:  IOPS=5497.92 85.91 MiB/s (90.08 MB/s)`.
    fn file_throughput(&mut self, direction: &str, iops: &str, rest: &[&str]) {
        let iops = iops.trim_start_matches("IOPS=");
        let name = format!("{direction} IOPS");
        self.figures.add(&name, iops, "per sec.");
        if let [mib, "MiB/s", mb, "MB/s)"] = rest {
            self.figures.add(direction, mib, "MiB/s");
            let name = format!("{direction}, MB/s");
            self.figures.add(&name, mb.trim_start_matches('('), "MB/s");
        }
    }

    fn pair(&mut self, line: NumberedLine<'_>, key: &str, value: &str) -> Read<()> {
        if value.is_empty() && self.heading(key) {
            return Ok(());
        }
        const QUERIES: &str = "a number of queries";
        let first = first_word(value);
        match (self.section.as_str(), key) {
            (_, "total time" | "time elapsed") => {
                let seconds = line.seconds(value.trim_end_matches('s'), "the total time")?;
                once(&mut self.total_s, seconds, line)?;
            }
            (_, "total number of events") => {
                let events = line.count(first, "the number of events")?;
                once(&mut self.events, events, line)?;
            }
            (_, "transactions") => {
                let n = line.count(first, "the number of transactions")?;
                once(&mut self.queries.transactions, n, line)?;
            }
            // Up to 0.4 each is a transaction that began anew.
            (_, "ignored errors" | "deadlocks") => {
                self.errors = line.count(first, "the number of ignored errors")?;
            }
            ("queries performed", "read") => self.queries.read = line.count(first, QUERIES)?,
            ("queries performed", "write") => self.queries.write = line.count(first, QUERIES)?,
            ("queries performed", "other") => self.queries.other = line.count(first, QUERIES)?,
            ("Latency", "sum") => {
                once(&mut self.sum_ms, line.number(value, "a sum in ms")?, line)?;
            }
            ("Latency", "max") => {
                let max = line.number(value, "a maximum in ms")?;
                once(&mut self.max_ms, max, line)?;
            }
            ("Threads fairness", "execution time (avg/stddev)") => self.has_ended = true,
            ("", _) if !key.starts_with("Number of unfinished transactions") => return Ok(()),
            _ if self.has_ended => return Ok(()),
            _ => {}
        }
        self.figure(key, value);
        Ok(())
    }

    /// `Latency (ms)`: a heading, with the unit of what follows.
    fn heading(&mut self, key: &str) -> bool {
        let mut parts = key.splitn(2, " (");
        let name = parts.next().unwrap_or_default();
        let unit = parts.next().unwrap_or_default().trim_end_matches(')');
        let is_heading = SECTIONS.contains(&name);
        if is_heading {
            self.section = name.to_owned();
            self.unit = unit.to_owned();
            self.in_results = true;
        }
        is_heading
    }

    /// `2554   (368.09 per sec.)`, `6.9371s`, `638.5000/55.65`.
    fn figure(&mut self, key: &str, value: &str) {
        let name = match self.section.as_str() {
            // They are beside that heading, not below it.
            _ if SIDE_BY_SIDE.contains(&key) => key.to_owned(),
            ""
            | "OLTP test statistics"
            | "Test execution summary"
            | "SQL statistics"
            | "General statistics"
            | "File operations"
            | "Throughput"
            | "CPU speed" => key.to_owned(),
            // 0.4 and 0.5 have another name for it.
            "per-request statistics" | "response time" => {
                let key = key.trim_start_matches("approx.").trim_start();
                match key.strip_suffix(" percentile") {
                    Some(percent) => format!("latency {percent}th percentile"),
                    None => format!("latency {key}"),
                }
            }
            section => format!("{} {key}", section.to_lowercase()),
        };
        let first = value.split(char::is_whitespace).next().unwrap_or_default();
        let digits = first.trim_end_matches(char::is_alphabetic);
        let unit = match &first[digits.len()..] {
            "" if key == "total time taken by event execution" => "s",
            "" => self.unit.as_str(),
            unit => unit,
        };
        if let Some((avg, stddev)) = first.split_once('/')
            && let Some(base) = name.strip_suffix(" (avg/stddev)")
        {
            self.figures.add(&format!("{base} avg"), avg, unit);
            self.figures.add(&format!("{base} stddev"), stddev, unit);
        } else {
            self.figures.add(&name, digits, unit);
        }
        let rate = value[first.len()..].trim().strip_prefix('(');
        if let Some(per_second) = rate.and_then(|rate| rate.strip_suffix("per sec.)")) {
            self.figures.add(&name, per_second, "per sec.");
        }
    }

    fn load(self, threads: u32, events: u64, total_s: f64) -> ImportedLoad {
        let mut load = ImportedLoad::new(TOOL);
        let total = Counts {
            offered: events,
            committed: events,
            retries: self.errors,
            ..Counts::default()
        };
        let is_sql = self.queries.transactions.is_some();
        let kind = if is_sql { "transaction" } else { "event" };
        load.txns = vec![kind.to_owned()];
        load.users = threads;
        load.windows = vec![self.window()];
        load.offered_per_second = self.rate.filter(|rate| *rate > 0.0);
        if total_s > 0.0 {
            load.ticks = ticks::of_parts(&self.parts, total, total_s);
        } else {
            load.note(ImportNote::SysbenchFileTotalsMissing);
        }
        if !self.parts.is_empty() && total_s > 0.0 {
            let source = CountsSource::ReportIntervals;
            load.note(ImportNote::CountsFrom { source });
        }
        let is_open = load.offered_per_second.is_some();
        if is_open {
            load.note(ImportNote::QueueUncounted);
        }
        let has_percentile = self
            .figures
            .iter()
            .any(|figure| figure.name.ends_with("percentile"));
        load.latencies(
            if is_open { "due" } else { "start" },
            if has_percentile { "merged" } else { "none" },
        );
        load.workload = self.options.test.to_owned();
        if load.workload.is_empty() {
            load.note(ImportNote::WorkloadUnknown);
        }
        let unnamed = if is_sql { "sql" } else { "unnamed" };
        load.parameters = self.options.parameters();
        load.parameters
            .entry("test".to_owned())
            .or_insert_with(|| unnamed.to_owned());
        if let Some(mix) = self.queries.mix(self.errors) {
            load.parameters.insert("queries".to_owned(), mix);
        }
        load.version = self.version;
        load.figures = self.figures;
        load
    }

    /// sysbench's buckets are about 1.8 % wide; below 0.1 ms their values are printed with too few digits for that.
    fn window(&self) -> Option<LoadWindow> {
        let buckets: Vec<(Nanos, u64)> = self
            .histogram
            .iter()
            .map(|(ms, n)| (Nanos::from_secs_f64(ms / 1e3), *n))
            .collect();
        let products = buckets
            .iter()
            .map(|(value, n)| u128::from(value.0) * u128::from(*n));
        let sum = match self.sum_ms {
            Some(ms) => (ms * 1e6).round() as u128,
            None => products.sum(),
        };
        let highest = buckets.iter().map(|(value, _)| *value).max();
        let printed = self.max_ms.map(|ms| Nanos::from_secs_f64(ms / 1e3));
        let max = printed.or(highest).unwrap_or_default();
        (!buckets.is_empty()).then(|| LoadWindow {
            response: Hist::of_buckets(buckets, sum, max),
            service: None,
        })
    }
}

/// The word after a key.
fn after<'a>(words: &[&'a str], key: &str) -> Option<&'a str> {
    let at = words.iter().position(|word| *word == key)?;
    words.get(at + 1).copied()
}

impl Queries {
    /// Of one transaction, which shows what kind of transaction ran. Those that failed have queries too, so that with many
    /// of them nothing is known.
    fn mix(&self, errors: u64) -> Option<String> {
        const MOST_ERRORS: u64 = 50;
        let transactions = self
            .transactions
            .filter(|n| *n > 0 && errors * MOST_ERRORS <= *n)?;
        let [read, write, other] = [self.read, self.write, self.other]
            .map(|queries| (queries as f64 / transactions as f64).round());
        Some(format!("{read} read, {write} write, {other} other"))
    }
}
