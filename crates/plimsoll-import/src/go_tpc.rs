//! Output of `go-tpc tpcc run` in its three styles (`--output plain`, `table` and `json`): the summary of each transaction
//! type, and `tpmC` below it. Several runs may follow each other.
//!
//! Lines of `[Current]` do not contain the start of their interval, so there are no counts by second.

use plimsoll_record::import_facts::{PERCENTILES_FACT, RESPONSE_FACT};
use std::collections::BTreeMap;

use super::fault::{Fault, Read, count_at, seconds_at};
use super::load::{Figure, ImportedLoad, LoadTick};
use super::{Tool, when};
use plimsoll_plan::resolved::TPCC_TXNS;
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::Counts;

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

/// A line of figures, however it is written.
struct Entry {
    line: usize,
    /// Transaction type; empty in the totals.
    operation: String,
    fields: Vec<Field>,
}

struct Field {
    name: String,
    value: String,
}

/// What is printed before the summaries of a run.
#[derive(Default)]
struct Workers {
    count: u32,
    stopped: Option<Nanos>,
}

#[derive(Default)]
struct Run {
    operations: Vec<String>,
    workers: Workers,
    counts: [Counts; NAMES.len()],
    longest_s: f64,
    weight: u64,
    /// Length of the type with the highest weight.
    exact_s: Option<f64>,
    figures: Vec<Figure>,
    warehouses: Option<u64>,
    waits: bool,
    has_totals: bool,
}

pub(super) fn read(text: &str) -> Read<Vec<ImportedLoad>> {
    let mut runs: Vec<Run> = Vec::new();
    let mut workers = Workers::default();
    let mut table: Vec<String> = Vec::new();
    let marked = text
        .lines()
        .any(|line| line.trim_start().starts_with("[Summary]"));
    for (line, content) in text
        .lines()
        .enumerate()
        .map(|(i, content)| (i + 1, content.trim()))
    {
        workers.line(content);
        for entry in entries(line, content, marked, &mut table)? {
            let is_next = |run: &Run| {
                run.operations.contains(&entry.operation)
                    || (run.has_totals && !is_query(&entry.operation))
            };
            if runs.last().is_none_or(is_next) {
                if entry.operation.is_empty() {
                    return Err(Fault::at(line, content, EXPECTED));
                }
                runs.push(Run {
                    workers: std::mem::take(&mut workers),
                    ..Run::default()
                });
            }
            if let Some(run) = runs.last_mut() {
                run.add(entry)?;
            }
        }
    }
    if runs.is_empty() {
        Err(Fault::end(text, EXPECTED))
    } else {
        Ok(runs.into_iter().map(Run::load).collect())
    }
}

/// `go-tpc ch` runs the queries of TPC-H beside TPC-C, and prints their means below the totals: `Q1`.
fn is_query(operation: &str) -> bool {
    operation
        .strip_prefix('Q')
        .is_some_and(|number| number.parse::<u8>().is_ok())
}

impl Workers {
    /// `Finished: 50 OLTP workers, 1 OLAP workers`,
    /// `[2026-11-23 16:03:45] run worker 0 stopped due to timeout after 1091 iterations`
    fn line(&mut self, content: &str) {
        if let Some((count, _)) = content
            .strip_prefix("Finished: ")
            .and_then(|rest| rest.split_once(" OLTP workers"))
        {
            self.count = count.parse().unwrap_or(self.count).min(9_999_999);
        }
        let Some((stamp, rest)) = content
            .strip_prefix('[')
            .and_then(|rest| rest.split_once("] run worker "))
        else {
            return;
        };
        let Some(number) = rest
            .split(' ')
            .next()
            .and_then(|number| number.parse::<u32>().ok())
        else {
            return;
        };
        self.count = self.count.max(number.min(9_999_999) + 1);
        self.stopped = when::instant(stamp).or(self.stopped);
    }
}

fn entries(line: usize, content: &str, marked: bool, table: &mut Vec<String>) -> Read<Vec<Entry>> {
    if content.starts_with("[{") {
        return json(line, content);
    }
    if let Some(cells) = content.strip_prefix('|') {
        let cells = cells
            .trim_end_matches('|')
            .split('|')
            .map(|cell| cell.trim().to_owned())
            .collect();
        return Ok(row(line, cells, table).into_iter().collect());
    }
    let summary = match content.strip_prefix("[Summary]") {
        Some(summary) => summary.trim(),
        None if content.starts_with("tpmC:") => content,
        // Before version 1.0.3 summaries have no mark.
        None if !marked
            && content.starts_with(char::is_uppercase)
            && content.contains(" - Takes(s):") =>
        {
            content
        }
        None => return Ok(Vec::new()),
    };
    let (operation, fields) = match summary.split_once(" - ") {
        Some((operation, fields)) => (operation.trim().to_owned(), fields),
        None if content.starts_with("tpmC:") => (String::new(), summary),
        None => return Err(Fault::at(line, content, EXPECTED)),
    };
    // With `--wait`: `KEYINGTIME-PAYMENT - 3.0s`
    if operation.starts_with("KEYINGTIME-") || operation.starts_with("THINKINGTIME-") {
        let fields = vec![Field {
            name: "mean(s)".into(),
            value: fields.trim_end_matches('s').to_owned(),
        }];
        return Ok(vec![Entry {
            line,
            operation,
            fields,
        }]);
    }
    let field = |field: &str| {
        let (name, value) = field
            .split_once(':')
            .ok_or_else(|| Fault::at(line, field, EXPECTED))?;
        Ok(Field {
            name: name.trim().to_owned(),
            value: value.trim().to_owned(),
        })
    };
    let fields = fields.split(',').map(field).collect::<Read<Vec<Field>>>()?;
    Ok(vec![Entry {
        line,
        operation,
        fields,
    }])
}

fn json(line: usize, content: &str) -> Read<Vec<Entry>> {
    let all: Vec<BTreeMap<String, String>> = serde_json::from_str(content).map_err(|error| {
        Fault::at(
            line,
            content,
            format!("a list of go-tpc's JSON, whole in this line ({error})"),
        )
    })?;
    let is_final = |fields: &BTreeMap<String, String>| match fields.get("Prefix") {
        Some(prefix) => prefix.trim() == "[Summary]",
        None => fields.contains_key("tpmC"),
    };
    let entry = |fields: BTreeMap<String, String>| Entry {
        line,
        operation: fields.get("Operation").cloned().unwrap_or_default(),
        fields: FIELDS
            .into_iter()
            .filter_map(|name| {
                Some(Field {
                    name: name.to_owned(),
                    value: fields.get(name)?.clone(),
                })
            })
            .collect(),
    };
    Ok(all.into_iter().filter(is_final).map(entry).collect())
}

/// A row of a table; a line of names is kept for the rows below.
fn row(line: usize, cells: Vec<String>, table: &mut Vec<String>) -> Option<Entry> {
    if matches!(cells.first().map(String::as_str), Some("PREFIX" | "TPMC")) {
        *table = cells;
        return None;
    }
    let cell = |name: &str| {
        let at = table
            .iter()
            .position(|own| own.eq_ignore_ascii_case(name))?;
        cells.get(at).cloned()
    };
    if table.len() != cells.len() || cell("PREFIX").is_some_and(|prefix| prefix != "[Summary]") {
        return None;
    }
    let field = |name: &str| {
        Some(Field {
            name: name.to_owned(),
            value: cell(name)?,
        })
    };
    Some(Entry {
        line,
        operation: cell("OPERATION").unwrap_or_default(),
        fields: FIELDS.into_iter().filter_map(field).collect(),
    })
}

impl Run {
    fn add(&mut self, entry: Entry) -> Read<()> {
        let Entry {
            line,
            operation,
            fields,
        } = entry;
        for Field { name, value } in &fields {
            let (label, unit) = name
                .split_once('(')
                .map_or((name.as_str(), ""), |(l, unit)| {
                    (l, unit.trim_end_matches(')'))
                });
            let unit = match label {
                "TPM" | "tpmC" | "tpmTotal" => "1/min",
                "efficiency" => "%",
                _ => unit,
            };
            let figure = Figure::new(label, value.trim_end_matches('%'), unit);
            self.figures
                .extend(figure.map(|figure| figure.of_txn(&operation)));
        }
        let value = |name: &str| {
            fields
                .iter()
                .find(|field| field.name == name)
                .map(|field| field.value.as_str())
        };
        if operation.is_empty() {
            self.has_totals = true;
            self.warehouses = value("tpmC")
                .zip(value("efficiency"))
                .and_then(|(tpmc, share)| warehouses(tpmc, share));
            return Ok(());
        }
        self.waits |= operation.starts_with("KEYINGTIME-");
        let (base, failed) = operation
            .strip_suffix("_ERR")
            .map_or((operation.as_str(), false), |base| (base, true));
        if let Some(at) = NAMES.iter().position(|own| *own == base) {
            let missing = || Fault::at(line, &operation, EXPECTED);
            let count = count_at(
                line,
                value("Count").ok_or_else(missing)?,
                "a number of transactions",
            )?;
            let takes_s = seconds_at(
                line,
                value("Takes(s)").ok_or_else(missing)?,
                "a length of time",
            )?;
            self.longest_s = self.longest_s.max(takes_s);
            // Each type has a length of its own: that of New-Orders is the one behind tpmC.
            let weight = if operation == NAMES[0] {
                u64::MAX
            } else {
                count
            };
            if weight > self.weight {
                (self.weight, self.exact_s) = (weight, Some(exact(takes_s, count, value("TPM"))));
            }
            let own = if failed {
                &mut self.counts[at].failed
            } else {
                &mut self.counts[at].committed
            };
            *own = count;
            self.counts[at].offered = self.counts[at].committed + self.counts[at].failed;
        }
        self.operations.push(operation);
        Ok(())
    }

    fn load(self) -> ImportedLoad {
        let mut load = ImportedLoad::new(Tool::GoTpc);
        let workload = if self.operations.iter().any(|operation| is_query(operation)) {
            "ch"
        } else {
            "tpcc"
        };
        load.workload = workload.into();
        load.txns = TPCC_TXNS.map(str::to_owned).to_vec();
        load.windows = vec![None; NAMES.len()];
        load.users = self.workers.count;
        load.figures = self.figures;
        let exact_s = self
            .exact_s
            .filter(|exact| (exact - self.longest_s).abs() < self.longest_s * MOST_SHORTER);
        let length = Nanos::from_secs_f64(exact_s.unwrap_or(self.longest_s));
        if self.longest_s > 0.0 {
            load.ticks = vec![LoadTick::new(Nanos::ZERO, length, self.counts.to_vec())];
        }
        load.started = self
            .workers
            .stopped
            .map(|stopped| stopped.saturating_sub(length));
        let mut parameter = |name: &str, value: Option<String>| {
            load.parameters
                .extend(value.map(|value| (name.to_owned(), value)));
        };
        parameter("workload", Some(workload.into()));
        parameter("warehouses", self.warehouses.map(|n| n.to_string()));
        parameter("wait", self.waits.then(|| "true".into()));
        load.fact(RESPONSE_FACT, "start");
        load.fact(PERCENTILES_FACT, "merged");
        let text = "go-tpc counts New-Orders that are rolled back as the specification wants among the committed ones: their \
                    share is unknown.";
        load.unknown.push(("rolled_back", text.to_owned()));
        load
    }
}

/// Times are printed to a tenth of a second; of a frequent type the rate per minute gives it more exactly.
fn exact(takes_s: f64, count: u64, per_minute: Option<&str>) -> f64 {
    let rate = per_minute
        .and_then(|rate| rate.parse::<f64>().ok())
        .filter(|rate| *rate > 0.0);
    let exact = rate.map(|rate| count as f64 * 60.0 / rate);
    exact
        .filter(|exact| (exact - takes_s).abs() <= 0.051)
        .unwrap_or(takes_s)
}

fn warehouses(tpmc: &str, efficiency: &str) -> Option<u64> {
    let (tpmc, percent) = (
        tpmc.parse::<f64>().ok()?,
        efficiency.trim_end_matches('%').parse::<f64>().ok()?,
    );
    let warehouses = tpmc * 100.0 / (TPMC_PER_WAREHOUSE * percent);
    let whole = warehouses.round();
    ((1.0..1e7).contains(&whole) && (warehouses - whole).abs() < 0.1).then_some(whole as u64)
}
