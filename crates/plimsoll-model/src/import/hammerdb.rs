//! HammerDB's console output, and what `jobs JOBID result`, `timing` and `tcount` print as JSON.
//!
//! NOPM comes from the database's order numbers over the whole minutes of the test, so New-Orders are NOPM × minutes, to
//! within a minute's remainder. TPM counts what that database calls a transaction: it stands as reported, and is not
//! plimsoll's TPM.

use serde_json::Value;

use super::fault::{Fault, Read, number_at, users_at};
use super::load::{Figure, ImportedLoad, LoadTick};
use super::{PERCENTILES_FACT, RESPONSE_FACT, Tool, when};
use crate::lane::Counts;
use crate::plan::resolved::TPCC_TXNS;
use crate::units::Nanos;

const RESULT: &str = "TEST RESULT : System achieved ";
const MOST_MINUTES: f64 = 1e6;

#[derive(Debug, Clone, Default)]
struct State {
    version: String,
    minutes: Option<f64>,
    rampup: Option<String>,
    users: u32,
    failed: bool,
}

/// One load for each result: an autopilot run has several.
pub(super) fn read(text: &str) -> Read<Vec<ImportedLoad>> {
    let mut state = State::default();
    let mut loads: Vec<ImportedLoad> = Vec::new();
    for (line, content) in text.lines().enumerate().map(|(i, content)| (i + 1, content)) {
        state.line(line, content)?;
        if let Some((_, rest)) = content.split_once(RESULT) {
            loads.push(state.load(line, rest)?);
        }
    }
    let mut figures = Vec::new();
    for document in documents(text) {
        of_document(&document, &mut figures);
    }
    let profiled = profile(text);
    figures.extend(profiled);
    if loads.is_empty() && figures.is_empty() {
        return Err(Fault::end(
            text,
            format!("a line with `{RESULT}… NOPM from … TPM`, or JSON of `jobs JOBID timing`"),
        ));
    }
    if loads.is_empty() {
        loads.push(state.empty());
    }
    if let Some(last) = loads.last_mut() {
        if !figures.is_empty() {
            let text = "Response times are those of the whole time that virtual users ran, ramp-up included, of one virtual \
                        user or averaged over them (PCTAVG).";
            last.unknown.push(("percentiles", text.to_owned()));
            last.facts.retain(|(key, _)| key != PERCENTILES_FACT);
            last.fact(PERCENTILES_FACT, "unknown");
        }
        last.figures.extend(figures);
    }
    for load in loads.iter_mut().filter(|_| state.failed) {
        load.failure = Some("at least one virtual user ended with an error".to_owned());
    }
    Ok(loads)
}

impl State {
    fn line(&mut self, line: usize, content: &str) -> Read<()> {
        let said = content.trim().trim_matches(['"', ',']);
        let said = said.split_once(':').filter(|(who, _)| who.starts_with("Vuser ")).map_or(said, |(_, said)| said);
        let between = |from: &str, to: &str| -> Option<&str> {
            let (_, rest) = said.split_once(from)?;
            Some(rest.split_once(to)?.0.trim())
        };
        if let Some(minutes) = between("Timing test period of ", " in minutes") {
            let minutes = number_at(line, minutes, "the length of the test in minutes")?;
            self.minutes = Some(minutes).filter(|minutes| *minutes > 0.0 && *minutes <= MOST_MINUTES);
        } else if let Some(minutes) = between("Beginning rampup time of ", " minutes") {
            self.rampup = Some(minutes.to_owned());
        } else if let Some((users, _)) = said.split_once(" Active Virtual Users configured") {
            self.users = users_at(line, users, "the number of virtual users")?;
        } else if let Some(version) = said.strip_prefix("HammerDB CLI v") {
            self.version = version.trim().to_owned();
        }
        self.failed |= said.starts_with("FINISHED FAILED") || said.starts_with("Error in Virtual User");
        Ok(())
    }

    fn empty(&self) -> ImportedLoad {
        let mut load = ImportedLoad::new(Tool::Hammerdb);
        load.version = self.version.clone();
        load.workload = "TPROC-C".into();
        load.users = self.users;
        load.txns = vec![TPCC_TXNS[0].to_owned()];
        load.windows = vec![None];
        load.fact(RESPONSE_FACT, "start");
        load.fact(PERCENTILES_FACT, "none");
        if let Some(minutes) = &self.rampup {
            load.fact("import.rampup", format!("{minutes} min"));
        }
        let text = "Failed and rolled back transactions are not told: CONSERVE and RATIO cannot be judged.";
        load.unknown.push(("failed", text.to_owned()));
        let text = "HammerDB verifies no consistency condition.";
        load.unknown.push(("consistency", text.to_owned()));
        load
    }

    /// `33643 NOPM from 77404 PostgreSQL TPM`, in old versions `77404 PostgreSQL TPM at 33643 NOPM`.
    fn load(&self, line: usize, rest: &str) -> Read<ImportedLoad> {
        let expected = "`N NOPM from M DATABASE TPM`";
        let words: Vec<&str> = rest.split_whitespace().map(|word| word.trim_matches(['"', ','])).collect();
        let (nopm, tpm, database) = match words.as_slice() {
            [nopm, "NOPM", "from", tpm, database @ .., "TPM"] => (*nopm, *tpm, database.join(" ")),
            [tpm, database @ .., "TPM", "at", nopm, "NOPM"] => (*nopm, *tpm, database.join(" ")),
            _ => return Err(Fault::at(line, rest, expected)),
        };
        let rate = number_at(line, nopm, "NOPM")?;
        number_at(line, tpm, "TPM")?;
        let mut load = self.empty();
        load.figures.extend(Figure::new("NOPM", nopm, "1/min"));
        load.figures.extend(Figure::new(&format!("{database} TPM"), tpm, "1/min"));
        match self.minutes {
            Some(minutes) => {
                let n = (rate * minutes).round().min(1e15) as u64;
                let counts = Counts { offered: n, committed: n, ..Counts::default() };
                load.ticks = vec![LoadTick::new(Nanos::ZERO, Nanos::from_secs_f64(minutes * 60.0), vec![counts])];
                load.fact("import.counts", "New-Orders are the reported NOPM x the minutes of the test");
            }
            None => {
                let text = "The output does not tell how long was measured, so that nothing can be counted.";
                load.unknown.push(("duration", text.to_owned()));
            }
        }
        Ok(load)
    }
}

/// The JSON documents that begin a line.
fn documents(text: &str) -> Vec<Value> {
    const MOST_DOCUMENTS: usize = 100;
    let mut found = Vec::new();
    let mut at = 0;
    let mut read_to = 0;
    for line in text.split_inclusive('\n') {
        if at >= read_to && line.trim_start().starts_with('{') && found.len() < MOST_DOCUMENTS {
            let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
            if let Some(Ok(value)) = values.next() {
                read_to = at + values.byte_offset();
                found.push(value);
            }
        }
        at += line.len();
    }
    found
}

/// Names of HammerDB's timing profile, with their units.
const TIMING: [(&str, &str); 9] = [
    ("calls", ""),
    ("min_ms", "ms"),
    ("avg_ms", "ms"),
    ("p50_ms", "ms"),
    ("p95_ms", "ms"),
    ("p99_ms", "ms"),
    ("max_ms", "ms"),
    ("elapsed_ms", "ms"),
    ("ratio_pct", "%"),
];

fn of_document(document: &Value, figures: &mut Vec<Figure>) {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    for (name, value) in document.as_object().into_iter().flatten() {
        let Some(fields) = value.as_object() else { continue };
        if fields.contains_key("elapsed_ms") || fields.contains_key("avg_ms") {
            for (key, unit) in TIMING {
                let figure = fields.get(key).and_then(|value| Figure::new(key, &text(value), unit));
                figures.extend(figure.map(|figure| figure.of_txn(name)));
            }
        } else if name.ends_with(" tpm") {
            counter(name, fields, figures);
        }
    }
}

/// `tcount`: TPM by the time at which it was counted.
fn counter(name: &str, fields: &serde_json::Map<String, Value>, figures: &mut Vec<Figure>) {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let pair = |(key, value): (&String, &Value)| {
        let value = text(value);
        let (time, digits) = if when::instant(key).is_some() { (key.clone(), value) } else { (value, key.clone()) };
        Some((when::instant(&time)?, digits))
    };
    let mut pairs: Vec<(Nanos, String)> = fields.iter().filter_map(pair).collect();
    pairs.sort();
    let first = pairs.first().map(|(time, _)| *time).unwrap_or_default();
    for pair in pairs.windows(2) {
        let over = (pair[0].0.saturating_sub(first), pair[1].0.saturating_sub(first));
        figures.extend(Figure::new(name, &pair[1].1, "1/min").map(|figure| figure.over(over.0, over.1)));
    }
}

/// `>>>>> PROC: NEWORD` and the lines of `NAME: value unit` pairs below it, of a time profile in the log.
fn profile(text: &str) -> Vec<Figure> {
    let mut figures = Vec::new();
    let mut procedure = String::new();
    for line in text.lines() {
        if let Some((_, name)) = line.split_once(">>>>> PROC:") {
            procedure = name.trim().to_owned();
            continue;
        }
        if procedure.is_empty() || !line.contains(':') {
            procedure.clear();
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        for pair in words.windows(2) {
            if let Some(name) = pair[0].strip_suffix(':') {
                let unit = if matches!(name, "CALLS" | "SD") { "" } else { "ms" };
                let value = pair[1].trim_end_matches("ms").trim_end_matches('%');
                let unit = if pair[1].ends_with('%') { "%" } else { unit };
                figures.extend(Figure::new(name, value, unit).map(|figure| figure.of_txn(&procedure)));
            }
        }
    }
    figures
}
