//! Output of `go-tpc tpcc run`: the `[Summary]` lines, and `tpmC` below them.
//!
//! Lines of `[Current]` do not tell when their part of the time began, so that nothing by second comes of them.

use super::fault::{Fault, Read, count_at, seconds_at};
use super::load::{Figure, ImportedLoad, LoadTick};
use super::{PERCENTILES_FACT, RESPONSE_FACT, Tool};
use crate::lane::Counts;
use crate::plan::resolved::TPCC_TXNS;
use crate::units::Nanos;

/// go-tpc's names, in the order of [`TPCC_TXNS`].
const NAMES: [&str; 5] = ["NEW_ORDER", "PAYMENT", "ORDER_STATUS", "DELIVERY", "STOCK_LEVEL"];
const EXPECTED: &str = "`[Summary] TYPE - Takes(s): …, Count: …, TPM: …, …`";

pub(super) fn read(text: &str) -> Read<ImportedLoad> {
    let mut load = ImportedLoad::new(Tool::GoTpc);
    let mut counts = [Counts::default(); NAMES.len()];
    let (mut longest, mut seen) = (0.0f64, false);
    let marked = text.lines().any(|line| line.trim_start().starts_with("[Summary]"));
    for (line, content) in text.lines().enumerate().map(|(i, content)| (i + 1, content.trim())) {
        if content.starts_with("tpmC:") {
            totals(&mut load, content);
        }
        let summary = match content.strip_prefix("[Summary]") {
            Some(summary) => summary.trim(),
            // Before version 1.0.3 summaries have no mark.
            None if !marked && !content.starts_with('[') && content.contains(" - Takes(s):") => content,
            None => continue,
        };
        let (name, fields) = summary.split_once(" - ").ok_or_else(|| Fault::at(line, content, EXPECTED))?;
        let (count, takes_s) = fields_of(&mut load, line, name, fields)?;
        longest = longest.max(takes_s);
        seen = true;
        let (base, failed) = name.strip_suffix("_ERR").map_or((name, false), |base| (base, true));
        if let Some(at) = NAMES.iter().position(|own| *own == base) {
            let own = if failed { &mut counts[at].failed } else { &mut counts[at].committed };
            *own = own.saturating_add(count).min(1_000_000_000_000_000);
            counts[at].offered = counts[at].committed + counts[at].failed;
        }
    }
    if !seen {
        return Err(Fault::end(text, EXPECTED));
    }
    load.workload = "tpcc".into();
    load.txns = TPCC_TXNS.map(str::to_owned).to_vec();
    load.windows = vec![None; NAMES.len()];
    if longest > 0.0 {
        load.ticks = vec![LoadTick::new(Nanos::ZERO, Nanos::from_secs_f64(longest), counts.to_vec())];
    }
    load.fact(RESPONSE_FACT, "start");
    load.fact(PERCENTILES_FACT, "merged");
    let text = "go-tpc counts New-Orders that were rolled back as the specification wants among the committed ones: their \
                share is not told.";
    load.unknown.push(("rolled_back", text.to_owned()));
    Ok(load)
}

/// Count and length; all fields become figures.
fn fields_of(load: &mut ImportedLoad, line: usize, name: &str, fields: &str) -> Read<(u64, f64)> {
    let (mut count, mut takes_s) = (None, None);
    for field in fields.split(',') {
        let (key, value) = field.split_once(':').ok_or_else(|| Fault::at(line, field, EXPECTED))?;
        let (key, value) = (key.trim(), value.trim());
        match key {
            "Takes(s)" => takes_s = Some(seconds_at(line, value, "a length of time")?),
            "Count" => count = Some(count_at(line, value, "a number of transactions")?),
            _ => {}
        }
        let (label, unit) = key.split_once('(').map_or((key, ""), |(label, unit)| (label, unit.trim_end_matches(')')));
        let unit = if label == "TPM" { "1/min" } else { unit };
        load.figures.extend(Figure::new(label, value, unit).map(|figure| figure.of_txn(name)));
    }
    count.zip(takes_s).ok_or_else(|| Fault::at(line, fields, EXPECTED))
}

/// `tpmC: 1577.2, tpmTotal: 3526.1, efficiency: 3066.1%`.
fn totals(load: &mut ImportedLoad, content: &str) {
    for (key, value) in content.split(',').filter_map(|field| field.split_once(':')) {
        let value = value.trim();
        let unit = if value.ends_with('%') { "%" } else { "1/min" };
        load.figures.extend(Figure::new(key.trim(), value.trim_end_matches('%'), unit));
    }
}
