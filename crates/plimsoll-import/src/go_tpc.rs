//! Output of `go-tpc tpcc run` in its three styles (`--output plain`, `table` and `json`): the summary of each transaction
//! type, and `tpmC` below it. Several runs may follow each other.
//!
//! Lines of `[Current]` do not contain the start of their interval, so there are no counts by second.

use std::collections::BTreeMap;

use super::fault::{Fault, Read};
use super::format::{OutputFormat, OutputReader};
use super::lines::{NamedCell, NumberedLine, cell, lines};
use super::load::{ImportedLoad, LoadTick, PrintedFigures, Span};
use super::tool::Tool;
use super::when;
use plimsoll_plan::resolved::TPCC_TXNS;
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::Counts;
use plimsoll_record::message::ImportNote;

pub(super) const TOOL: Tool = Tool::new("go-tpc", "go-tpc output");

pub(super) static FORMAT: OutputFormat = OutputFormat {
    tool: TOOL,
    is: |start| MARKS.iter().any(|mark| start.has(mark)),
    reader: OutputReader::Loads(read),
};

const MARKS: [&str; 3] = [" - Takes(s):", "\"Takes(s)\"", "| TAKES(S) |"];

/// go-tpc's names, in the order of [`TPCC_TXNS`].
const NAMES: [&str; 5] = [
    "NEW_ORDER",
    "PAYMENT",
    "ORDER_STATUS",
    "DELIVERY",
    "STOCK_LEVEL",
];
const EXPECTED: &str =
    "`[Summary] TYPE - Takes(s): …, Count: …, TPM: …, …`, or the same as JSON or a table";
/// tables have these names in capitals, and JSON without an order.
const FIELDS: [&str; 14] = [
    "Takes(s)",
    "Count",
    "TPM",
    "Sum(ms)",
    "Avg(ms)",
    "50th(ms)",
    "90th(ms)",
    "95th(ms)",
    "99th(ms)",
    "99.9th(ms)",
    "Max(ms)",
    "tpmC",
    "tpmTotal",
    "efficiency",
];
/// New-Orders a minute that the specification allows for each warehouse; go-tpc's `efficiency` is the share of it.
const TPMC_PER_WAREHOUSE: f64 = 12.86;

/// Each type is timed from its first transaction on, New-Orders up to this share shorter than the longest of them.
const MOST_SHORTER: f64 = 0.05;

const MOST_WORKERS: u32 = 9_999_999;

pub(super) fn read(text: &str) -> Read<Vec<ImportedLoad>> {
    let mut starts = text.lines().map(str::trim_start);
    let mut reader = GoTpcReader {
        is_marked: starts.any(|line| line.starts_with("[Summary]")),
        ..GoTpcReader::default()
    };
    for line in lines(text) {
        reader.line(line.trim())?;
    }
    if reader.runs.is_empty() {
        return Err(Fault::end(text, EXPECTED));
    }
    Ok(reader.runs.into_iter().map(GoTpcRun::load).collect())
}

#[derive(Default)]
struct GoTpcReader {
    /// Before version 1.0.3 summaries have no mark.
    is_marked: bool,
    /// Names of the table that is being read.
    table: Vec<String>,
    /// Of the next run.
    workers: GoTpcWorkers,
    runs: Vec<GoTpcRun>,
}

/// What is printed before the summaries of a run.
#[derive(Default)]
struct GoTpcWorkers {
    count: u32,
    stopped: Option<Nanos>,
}

/// A line of figures, however it is written.
struct GoTpcEntry {
    /// Transaction type; empty in the totals.
    operation: String,
    fields: Vec<NamedCell<String>>,
}

#[derive(Default)]
struct GoTpcRun {
    operations: Vec<String>,
    workers: GoTpcWorkers,
    counts: [Counts; NAMES.len()],
    longest_s: f64,
    weight: u64,
    /// Length of the type with the highest weight.
    exact_s: Option<f64>,
    figures: PrintedFigures,
    warehouses: Option<u64>,
    waits: bool,
    has_totals: bool,
}

impl GoTpcReader {
    fn line(&mut self, line: NumberedLine<'_>) -> Read<()> {
        self.workers.line(line.text);
        if line.text.starts_with("[{") {
            for entry in json(line)? {
                self.add(line, entry)?;
            }
            return Ok(());
        }
        let entry = match line.text.strip_prefix('|') {
            Some(cells) => self.row(cells),
            None => self.summary(line)?,
        };
        entry.map_or(Ok(()), |entry| self.add(line, entry))
    }

    fn add(&mut self, line: NumberedLine<'_>, entry: GoTpcEntry) -> Read<()> {
        let last = self.runs.last();
        if last.is_none_or(|run| run.is_followed_by(&entry.operation)) {
            if entry.operation.is_empty() {
                return Err(line.unexpected(EXPECTED));
            }
            self.runs.push(GoTpcRun {
                workers: std::mem::take(&mut self.workers),
                ..GoTpcRun::default()
            });
        }
        match self.runs.last_mut() {
            Some(run) => run.add(line, entry),
            None => Ok(()),
        }
    }

    /// A row of a table; a line of names is kept for the rows below.
    fn row(&mut self, cells: &str) -> Option<GoTpcEntry> {
        let cells = cells.trim_end_matches('|').split('|');
        let cells: Vec<&str> = cells.map(str::trim).collect();
        if matches!(cells.first(), Some(&("PREFIX" | "TPMC"))) {
            self.table = cells.into_iter().map(str::to_owned).collect();
            return None;
        }
        let row = GoTpcRow {
            names: &self.table,
            cells: &cells,
        };
        if row.names.len() != cells.len() || row.get("PREFIX").is_some_and(|own| own != "[Summary]")
        {
            return None;
        }
        Some(GoTpcEntry {
            operation: row.get("OPERATION").unwrap_or_default().to_owned(),
            fields: fields(|name| row.get(name)),
        })
    }

    fn summary(&self, line: NumberedLine<'_>) -> Read<Option<GoTpcEntry>> {
        let text = line.text;
        let is_total = text.starts_with("tpmC:");
        let is_unmarked = !self.is_marked
            && text.starts_with(char::is_uppercase)
            && text.contains(" - Takes(s):");
        let summary = match text.strip_prefix("[Summary]") {
            Some(summary) => summary.trim(),
            None if is_total || is_unmarked => text,
            None => return Ok(None),
        };
        match summary.split_once(" - ") {
            Some((operation, fields)) => plain(line, operation.trim(), fields).map(Some),
            None if is_total => plain(line, "", summary).map(Some),
            None => Err(line.unexpected(EXPECTED)),
        }
    }
}

/// A row of a table with its names.
struct GoTpcRow<'a> {
    names: &'a [String],
    cells: &'a [&'a str],
}

impl<'a> GoTpcRow<'a> {
    fn get(&self, name: &str) -> Option<&'a str> {
        let mut names = self.names.iter();
        let at = names.position(|own| own.eq_ignore_ascii_case(name))?;
        self.cells.get(at).copied()
    }
}

/// Those that go-tpc prints, in its order.
fn fields<'a>(get: impl Fn(&str) -> Option<&'a str>) -> Vec<NamedCell<String>> {
    let mut fields = Vec::new();
    for name in FIELDS {
        fields.extend(get(name).map(|value| field(name, value)));
    }
    fields
}

fn field(name: &str, value: &str) -> NamedCell<String> {
    NamedCell {
        name: name.to_owned(),
        value: value.to_owned(),
    }
}

/// `Takes(s): 60.0, Count: 952, TPM: 951.9, …`; with `--wait` also `KEYINGTIME-PAYMENT - 3.0s`
fn plain(line: NumberedLine<'_>, operation: &str, text: &str) -> Read<GoTpcEntry> {
    let mut fields = Vec::new();
    if operation.starts_with("KEYINGTIME-") || operation.starts_with("THINKINGTIME-") {
        fields.push(field("mean(s)", text.trim_end_matches('s')));
    } else {
        for part in text.split(',') {
            let Some((name, value)) = part.split_once(':') else {
                return Err(line.fault(part, EXPECTED));
            };
            fields.push(field(name.trim(), value.trim()));
        }
    }
    Ok(GoTpcEntry {
        operation: operation.to_owned(),
        fields,
    })
}

fn json(line: NumberedLine<'_>) -> Read<Vec<GoTpcEntry>> {
    let all: Vec<BTreeMap<String, String>> = serde_json::from_str(line.text).map_err(|error| {
        line.unexpected(format!(
            "a list of go-tpc's JSON, whole in this line ({error})"
        ))
    })?;
    let mut entries = Vec::new();
    for own in all {
        let is_final = match own.get("Prefix") {
            Some(prefix) => prefix.trim() == "[Summary]",
            None => own.contains_key("tpmC"),
        };
        if is_final {
            entries.push(GoTpcEntry {
                operation: own.get("Operation").cloned().unwrap_or_default(),
                fields: fields(|name| own.get(name).map(String::as_str)),
            });
        }
    }
    Ok(entries)
}

/// `go-tpc ch` runs the queries of TPC-H beside TPC-C, and prints their means below the totals: `Q1`.
fn is_query(operation: &str) -> bool {
    let number = operation.strip_prefix('Q');
    number.is_some_and(|number| number.parse::<u8>().is_ok())
}

impl GoTpcWorkers {
    /// `Finished: 50 OLTP workers, 1 OLAP workers`,
    /// `[2026-11-23 16:03:45] run worker 0 stopped due to timeout after 1091 iterations`
    fn line(&mut self, content: &str) {
        if let Some(rest) = content.strip_prefix("Finished: ")
            && let Some((count, _)) = rest.split_once(" OLTP workers")
        {
            self.count = count.parse().unwrap_or(self.count).min(MOST_WORKERS);
        }
        if let Some(rest) = content.strip_prefix('[')
            && let Some((stamp, rest)) = rest.split_once("] run worker ")
            && let Some(Ok(number)) = rest.split(' ').next().map(str::parse::<u32>)
        {
            self.count = self.count.max(number.min(MOST_WORKERS) + 1);
            self.stopped = when::instant(stamp).or(self.stopped);
        }
    }
}

impl GoTpcEntry {
    fn get(&self, name: &str) -> Option<&str> {
        cell(&self.fields, name).map(String::as_str)
    }

    fn needed(&self, line: NumberedLine<'_>, name: &str) -> Read<&str> {
        let value = self.get(name);
        value.ok_or_else(|| line.fault(&self.operation, EXPECTED))
    }
}

impl GoTpcRun {
    fn is_followed_by(&self, operation: &str) -> bool {
        self.operations.iter().any(|own| own == operation)
            || (self.has_totals && !is_query(operation))
    }

    fn add(&mut self, line: NumberedLine<'_>, entry: GoTpcEntry) -> Read<()> {
        let operation = entry.operation.as_str();
        for NamedCell { name, value } in &entry.fields {
            let label = name.split('(').next().unwrap_or(name);
            let unit = match label {
                "TPM" | "tpmC" | "tpmTotal" => "1/min",
                "efficiency" => "%",
                _ => name[label.len()..].trim_matches(['(', ')']),
            };
            let value = value.trim_end_matches('%');
            self.figures.add_of(operation, label, value, unit);
        }
        if operation.is_empty() {
            self.has_totals = true;
            self.warehouses = warehouses(&entry);
            return Ok(());
        }
        self.waits |= operation.starts_with("KEYINGTIME-");
        let failed = operation.strip_suffix("_ERR");
        let name = failed.unwrap_or(operation);
        if let Some(at) = NAMES.iter().position(|own| *own == name) {
            let count = line.count(entry.needed(line, "Count")?, "a number of transactions")?;
            let takes_s = line.seconds(entry.needed(line, "Takes(s)")?, "a length of time")?;
            self.length(operation, takes_s, count, entry.get("TPM"));
            let counts = &mut self.counts[at];
            match failed {
                Some(_) => counts.failed = count,
                None => counts.committed = count,
            }
            counts.offered = counts.committed + counts.failed;
        }
        self.operations.push(entry.operation);
        Ok(())
    }

    /// Each type has a length of its own: that of New-Orders is the one behind tpmC.
    fn length(&mut self, operation: &str, takes_s: f64, count: u64, per_minute: Option<&str>) {
        self.longest_s = self.longest_s.max(takes_s);
        let weight = match operation == NAMES[0] {
            true => u64::MAX,
            false => count,
        };
        if weight > self.weight {
            self.weight = weight;
            self.exact_s = Some(exact(takes_s, count, per_minute));
        }
    }

    fn load(self) -> ImportedLoad {
        let mut load = ImportedLoad::new(TOOL);
        let has_queries = self.operations.iter().any(|operation| is_query(operation));
        let workload = if has_queries { "ch" } else { "tpcc" };
        load.workload = workload.into();
        load.txns = TPCC_TXNS.map(str::to_owned).to_vec();
        load.windows = vec![None; NAMES.len()];
        load.users = self.workers.count;
        load.figures = self.figures;
        let most_apart_s = self.longest_s * MOST_SHORTER;
        let exact_s = self
            .exact_s
            .filter(|exact| (exact - self.longest_s).abs() < most_apart_s);
        let span = Span::of_seconds(0.0, exact_s.unwrap_or(self.longest_s));
        if self.longest_s > 0.0 {
            load.ticks = vec![LoadTick::new(span, self.counts.to_vec())];
        }
        let stopped = self.workers.stopped;
        load.started = stopped.map(|stopped| stopped.saturating_sub(span.end));
        load.parameters.insert("workload".into(), workload.into());
        if let Some(warehouses) = self.warehouses {
            load.parameters
                .insert("warehouses".into(), warehouses.to_string());
        }
        if self.waits {
            load.parameters.insert("wait".into(), "true".into());
        }
        load.latencies("start", "merged");
        load.note(ImportNote::RolledBackUncounted);
        load
    }
}

/// Times are printed to a tenth of a second; of a frequent type the rate per minute gives it more exactly.
fn exact(takes_s: f64, count: u64, per_minute: Option<&str>) -> f64 {
    let rate = per_minute.and_then(|rate| rate.parse::<f64>().ok());
    match rate.filter(|rate| *rate > 0.0) {
        Some(rate) if (count as f64 * 60.0 / rate - takes_s).abs() <= 0.051 => {
            count as f64 * 60.0 / rate
        }
        _ => takes_s,
    }
}

fn warehouses(totals: &GoTpcEntry) -> Option<u64> {
    let tpmc: f64 = totals.get("tpmC")?.parse().ok()?;
    let percent = totals.get("efficiency")?.trim_end_matches('%');
    let percent: f64 = percent.parse().ok()?;
    let warehouses = tpmc * 100.0 / (TPMC_PER_WAREHOUSE * percent);
    let whole = warehouses.round();
    ((1.0..1e7).contains(&whole) && (warehouses - whole).abs() < 0.1).then_some(whole as u64)
}
