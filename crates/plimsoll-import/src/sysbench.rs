//! Output of sysbench 1.0 and 1.1, with or without `--report-interval` and `--histogram`, of one run or of several.
//!
//! With `--rate`, sysbench adds the time that an event waited in its queue to its latency, so that latencies count from
//! when it was due; what still waits at the end is in no figure.

mod options;

use super::fault::{Fault, Read, count_at, number_at, seconds_at, users_at};
use super::load::{Figure, ImportedLoad, LoadWindow};
use super::runs::{self, Run, once};
use super::ticks::{self, Part};
use super::{Tool, unknown};
use options::Options;
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::Hist;
use plimsoll_record::import_facts::{PERCENTILES_FACT, RESPONSE_FACT, SECONDS_FACT};
use plimsoll_record::lane::Counts;

#[derive(Debug, Default)]
struct Output {
    version: String,
    threads: Option<u32>,
    rate: Option<f64>,
    options: Options,
    parts: Vec<Part>,
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
    figures: Vec<Figure>,
}

#[derive(Debug, Default)]
struct Queries {
    transactions: Option<u64>,
    read: u64,
    write: u64,
    other: u64,
}

/// Headings of figures.
const SECTIONS: [&str; 8] = [
    "SQL statistics",
    "queries performed",
    "General statistics",
    "File operations",
    "Throughput",
    "CPU speed",
    "Latency",
    "Threads fairness",
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

pub(super) fn read(text: &str) -> Read<Vec<ImportedLoad>> {
    runs::read::<Output>(text)
}

impl Run for Output {
    fn ends_before(&self, line: &str) -> bool {
        let is_version = line
            .strip_prefix("sysbench ")
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        is_version && (self.threads.is_some() || !self.version.is_empty())
            || line.starts_with("Running the test with following options") && self.threads.is_some()
    }

    fn line(&mut self, line: usize, content: &str) -> Read<()> {
        let text = content.trim();
        if text.starts_with("FATAL:") {
            return Err(Fault::at(line, text, "output of a complete run"));
        }
        if text.is_empty() || MESSAGES.iter().any(|message| text.starts_with(message)) {
            return Ok(());
        }
        if let (true, Some(rest)) = (self.is_running, text.strip_prefix('[')) {
            return self.interval(line, rest);
        }
        if let (true, Some((value, rest))) = (self.is_running, text.split_once('|')) {
            return self.bucket(line, value, rest);
        }
        if self.is_running {
            self.result(line, text)
        } else {
            self.option(line, text)
        }
    }

    fn finish(self) -> Result<ImportedLoad, String> {
        let missing = |what: &str| format!("{what}, as sysbench prints it at the end of a run");
        let threads = self
            .threads
            .ok_or_else(|| missing("`Number of threads:`"))?;
        // sysbench 1.1 prints neither of its test of files.
        if self.options.test == "fileio" && self.section == "Latency" && self.events.is_none() {
            return Ok(self.load(threads, 0, 0.0));
        }
        let events = self
            .events
            .ok_or_else(|| missing("`total number of events:`"))?;
        let total_s = self
            .total_s
            .ok_or_else(|| missing("`total time:` or `time elapsed:`"))?;
        Ok(self.load(threads, events, total_s))
    }
}

impl Output {
    /// A line before the threads start.
    fn option(&mut self, line: usize, text: &str) -> Read<()> {
        if let Some(rest) = text.strip_prefix("sysbench ") {
            self.version = rest
                .split_whitespace()
                .next()
                .unwrap_or_default()
                .to_owned();
        } else if text == "Threads started!" {
            self.is_running = true;
        } else if text.starts_with("Report checkpoint(s) at") {
            let expected = "a run without --report-checkpoints, each of whose reports counts from the one before";
            return Err(Fault::at(line, text, expected));
        } else if let Some((key, value)) = text.split_once(':') {
            let value = value.trim();
            match key {
                "Number of threads" => {
                    once(
                        &mut self.threads,
                        users_at(line, value, "the number of threads")?,
                        line,
                        text,
                    )?;
                }
                "Target transaction rate" => {
                    let rate = number_at(line, value.trim_end_matches("/sec"), "the offered rate")?;
                    once(&mut self.rate, rate, line, text)?;
                }
                "Warmup time" => self.figures.extend(Figure::new(
                    "warmup time",
                    value.trim_end_matches('s'),
                    "s",
                )),
                _ => self.options.line(text),
            }
        } else {
            self.options.line(text);
        }
        Ok(())
    }

    /// `1s ] thds: 4 tps: 93.79 qps: 1978.49 (r/w/o: …) lat (ms,95%): 9.39 err/s: 2.00 reconn/s: 0.00`.
    fn interval(&mut self, line: usize, rest: &str) -> Read<()> {
        let expected = "`[ SECONDSs ] thds: … tps: …`";
        let (time, rest) = rest
            .split_once(']')
            .ok_or_else(|| Fault::at(line, rest, expected))?;
        let time = time
            .trim()
            .strip_suffix('s')
            .ok_or_else(|| Fault::at(line, time, expected))?;
        let end_s = seconds_at(line, time, "the time of an interval")?;
        let start_s = self.parts.last().map_or(0.0, |part| part.end_s);
        if rest.trim_start().starts_with("queue length") {
            return Ok(());
        }
        if end_s <= start_s {
            return Err(Fault::at(
                line,
                time,
                format!("a time after {start_s} s, where the interval before ended"),
            ));
        }
        let over = (Nanos::from_secs_f64(start_s), Nanos::from_secs_f64(end_s));
        let words: Vec<&str> = rest.split_whitespace().collect();
        let after = |key: &str| {
            words
                .iter()
                .position(|word| *word == key)
                .and_then(|at| words.get(at + 1))
                .copied()
        };
        let mut part = Part {
            end_s,
            ..Part::default()
        };
        // Tests of files and of memory print bytes, which are events where the size of a block is known.
        let bytes = options::printed_bytes(&words);
        let rate = match after("tps:").or(after("eps:")) {
            Some(rate) => Some(number_at(line, rate, "a rate")?),
            None if bytes.is_empty() => return Err(Fault::at(line, rest, expected)),
            None => self.options.events_per_second(&words),
        };
        if let Some(errors) = after("err/s:") {
            part.retries_per_second = number_at(line, errors, "a rate of errors")?;
        }
        if let Some(rate) = rate {
            self.parts.push(Part {
                done_per_second: rate,
                ..part
            });
        }
        let label = words
            .iter()
            .find(|word| word.starts_with("(ms,") && word.ends_with("):"));
        if let Some((label, value)) = label.and_then(|label| Some((*label, after(label)?))) {
            let name = format!(
                "latency {}",
                label
                    .trim_matches(['(', ')', ':'])
                    .trim_start_matches("ms,")
            );
            self.figures
                .extend(Figure::new(&name, value, "ms").map(|figure| figure.over(over.0, over.1)));
        }
        self.figures
            .extend(bytes.into_iter().map(|figure| figure.over(over.0, over.1)));
        Ok(())
    }

    /// `0.020 |***   2`.
    fn bucket(&mut self, line: usize, value: &str, rest: &str) -> Read<()> {
        let ms = number_at(line, value, "the value of a histogram's bucket, in ms")?;
        let n = rest.trim_start_matches(['*', ' ']);
        self.histogram
            .push((ms, count_at(line, n, "the count of a histogram's bucket")?));
        Ok(())
    }

    /// A line after the threads have started.
    fn result(&mut self, line: usize, text: &str) -> Read<()> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            ["Total", "operations:", n, rate, "per", "second)"] => {
                self.figures.extend(Figure::new("total operations", n, ""));
                self.figures.extend(Figure::new(
                    "total operations",
                    rate.trim_start_matches('('),
                    "per second",
                ));
                return Ok(());
            }
            // A wide number stands apart from its bracket.
            ["Total", "operations:", n, "(", rate, "per", "second)"] => {
                self.figures.extend(Figure::new("total operations", n, ""));
                self.figures
                    .extend(Figure::new("total operations", rate, "per second"));
                return Ok(());
            }
            [amount, "MiB", "transferred", rate, "MiB/sec)"] => {
                self.figures.extend(Figure::new(
                    "transferred",
                    rate.trim_start_matches('('),
                    "MiB/sec",
                ));
                self.figures
                    .extend(Figure::new("transferred", amount, "MiB"));
                return Ok(());
            }
            [direction, rest @ ..]
                if rest.first().is_some_and(|word| word.starts_with("IOPS=")) =>
            {
                self.file_throughput(direction.trim_end_matches(':'), rest);
                return Ok(());
            }
            _ => {}
        }
        match text.split_once(':') {
            Some((key, value)) => self.pair(line, (key.trim(), value.trim()), text),
            // Scripts may print what they like before and after the results.
            None if !self.in_results || self.has_ended => Ok(()),
            None => Err(Fault::at(line, text, "a line of sysbench's results")),
        }
    }

    /// `read:  IOPS=5497.92 85.91 MiB/s (90.08 MB/s)`.
    fn file_throughput(&mut self, direction: &str, words: &[&str]) {
        let iops = words
            .first()
            .and_then(|word| word.strip_prefix("IOPS="))
            .unwrap_or_default();
        self.figures
            .extend(Figure::new(&format!("{direction} IOPS"), iops, "per sec."));
        if let [_, mib, "MiB/s", mb, "MB/s)"] = words {
            self.figures.extend(Figure::new(direction, mib, "MiB/s"));
            self.figures.extend(Figure::new(
                &format!("{direction}, MB/s"),
                mb.trim_start_matches('('),
                "MB/s",
            ));
        }
    }

    fn pair(&mut self, line: usize, (key, value): (&str, &str), text: &str) -> Read<()> {
        let first = value.split_whitespace().next().unwrap_or_default();
        let count = |what: &str| count_at(line, first, what);
        if value.is_empty() {
            // `Latency (ms)`: a heading, with the unit of what follows.
            let (name, unit) = key
                .split_once(" (")
                .map_or((key, ""), |(name, unit)| (name, unit.trim_end_matches(')')));
            if SECTIONS.contains(&name) {
                (self.section, self.unit) = (name.to_owned(), unit.to_owned());
                self.in_results = true;
                return Ok(());
            }
        }
        match (self.section.as_str(), key) {
            (_, "total time" | "time elapsed") => {
                let seconds = seconds_at(line, value.trim_end_matches('s'), "the total time")?;
                once(&mut self.total_s, seconds, line, text)?;
            }
            (_, "total number of events") => {
                once(&mut self.events, count("the number of events")?, line, text)?
            }
            (_, "transactions") => {
                once(
                    &mut self.queries.transactions,
                    count("the number of transactions")?,
                    line,
                    text,
                )?;
            }
            (_, "ignored errors") => self.errors = count("the number of ignored errors")?,
            ("queries performed", "read") => self.queries.read = count("a number of queries")?,
            ("queries performed", "write") => self.queries.write = count("a number of queries")?,
            ("queries performed", "other") => self.queries.other = count("a number of queries")?,
            ("Latency", "sum") => once(
                &mut self.sum_ms,
                number_at(line, value, "a sum in ms")?,
                line,
                text,
            )?,
            ("Latency", "max") => once(
                &mut self.max_ms,
                number_at(line, value, "a maximum in ms")?,
                line,
                text,
            )?,
            ("Threads fairness", "execution time (avg/stddev)") => self.has_ended = true,
            ("", _) if !key.starts_with("Number of unfinished transactions") => return Ok(()),
            _ if self.has_ended => return Ok(()),
            _ => {}
        }
        self.figure(key, value);
        Ok(())
    }

    /// `2554   (368.09 per sec.)`, `6.9371s`, `638.5000/55.65`.
    fn figure(&mut self, key: &str, value: &str) {
        let name = match self.section.as_str() {
            // They are beside that heading, not below it.
            _ if ["transactions", "queries", "ignored errors", "reconnects"].contains(&key) => {
                key.to_owned()
            }
            "" | "SQL statistics" | "General statistics" | "File operations" | "Throughput"
            | "CPU speed" => key.to_owned(),
            section => format!("{} {key}", section.to_lowercase()),
        };
        let (first, rest) = value.split_once(char::is_whitespace).unwrap_or((value, ""));
        let digits = first.trim_end_matches('s');
        let unit = if digits.len() < first.len() {
            "s"
        } else {
            &self.unit
        };
        if let (Some((avg, stddev)), Some((base, _))) =
            (first.split_once('/'), name.split_once(" (avg/stddev)"))
        {
            self.figures
                .extend(Figure::new(&format!("{base} avg"), avg, unit));
            self.figures
                .extend(Figure::new(&format!("{base} stddev"), stddev, unit));
        } else {
            self.figures.extend(Figure::new(&name, digits, unit));
        }
        if let Some(per_second) = rest
            .trim()
            .strip_prefix('(')
            .and_then(|rest| rest.strip_suffix("per sec.)"))
        {
            self.figures
                .extend(Figure::new(&name, per_second, "per sec."));
        }
    }

    fn load(self, threads: u32, events: u64, total_s: f64) -> ImportedLoad {
        let mut load = ImportedLoad::new(Tool::Sysbench);
        let total = Counts {
            offered: events,
            committed: events,
            retries: self.errors,
            ..Counts::default()
        };
        if total_s > 0.0 {
            load.ticks = ticks::of_parts(&self.parts, total, total_s);
        } else {
            let text = "sysbench 1.1 prints neither the time nor the number of requests of its test of files.";
            load.unknown.push(("duration", text.to_owned()));
        }
        load.txns = vec![
            if self.queries.transactions.is_some() {
                "transaction"
            } else {
                "event"
            }
            .to_owned(),
        ];
        load.users = threads;
        load.offered_per_second = self.rate.filter(|rate| *rate > 0.0);
        load.windows = vec![self.window()];
        if !self.parts.is_empty() && total_s > 0.0 {
            let text = "from the --report-interval lines: rate x interval, rounded; the last one has the \
                        rest of the total";
            load.fact(SECONDS_FACT, text);
        }
        load.fact(
            RESPONSE_FACT,
            if load.offered_per_second.is_some() {
                "due"
            } else {
                "start"
            },
        );
        let has_percentile = self
            .figures
            .iter()
            .any(|figure| figure.name.ends_with("percentile"));
        load.fact(
            PERCENTILES_FACT,
            if has_percentile { "merged" } else { "none" },
        );
        if load.offered_per_second.is_some() {
            let text = "Events still queued at the end are not counted: latencies of an overload are too low.";
            load.unknown.push(("unserved", text.to_owned()));
        }
        load.workload = self.options.test.to_owned();
        if load.workload.is_empty() {
            load.add_missing(unknown::WORKLOAD);
        }
        load.parameters = self.options.parameters();
        let unnamed = if self.queries.transactions.is_some() {
            "sql"
        } else {
            "unnamed"
        };
        load.parameters
            .entry("test".to_owned())
            .or_insert_with(|| unnamed.to_owned());
        load.parameters.extend(
            self.queries
                .mix(self.errors)
                .map(|mix| ("queries".to_owned(), mix)),
        );
        load.version = self.version;
        load.figures = self.figures;
        load
    }

    /// sysbench's buckets are about 1.8 % wide; below 0.1 ms their values are printed with too few digits for that.
    fn window(&self) -> Option<LoadWindow> {
        let counts = || {
            self.histogram
                .iter()
                .map(|(ms, n)| (Nanos::from_secs_f64(ms / 1e3), *n))
        };
        let sum = self.sum_ms.map_or_else(
            || {
                counts()
                    .map(|(value, n)| u128::from(value.0) * u128::from(n))
                    .sum()
            },
            |ms| (ms * 1e6).round() as u128,
        );
        let max = self.max_ms.map_or_else(
            || counts().map(|(value, _)| value).max().unwrap_or_default(),
            |ms| Nanos::from_secs_f64(ms / 1e3),
        );
        let response = Hist::of_buckets(counts(), sum, max);
        (!self.histogram.is_empty()).then_some(LoadWindow {
            response,
            service: None,
        })
    }
}

impl Queries {
    /// Of one transaction, which shows what kind of transaction ran. Those that failed have queries too, so that with many
    /// of them nothing is known.
    fn mix(&self, errors: u64) -> Option<String> {
        const MOST_ERRORS: u64 = 50;
        let transactions = self
            .transactions
            .filter(|n| *n > 0 && errors * MOST_ERRORS <= *n)?;
        let each = |n: u64| (n as f64 / transactions as f64).round();
        Some(format!(
            "{} read, {} write, {} other",
            each(self.read),
            each(self.write),
            each(self.other)
        ))
    }
}
