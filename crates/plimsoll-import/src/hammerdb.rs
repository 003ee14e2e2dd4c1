//! HammerDB's console output, and what `jobs JOBID result`, `timing` and `tcount` print as JSON.
//!
//! NOPM comes from the database's order numbers over the whole minutes of the test, so New-Orders are NOPM × minutes, to
//! within a minute's remainder. TPM counts what that database calls a transaction: it is kept as reported, and is not
//! plimsoll's TPM.

mod profile;

use plimsoll_record::import_facts::{PERCENTILES_FACT, RESPONSE_FACT};
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::fault::{Fault, Read, number, number_at, users_at};
use super::load::{Figure, ImportedLoad, LoadTick};
use super::{Tool, when};
use plimsoll_plan::resolved::TPCC_TXNS;
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::Counts;

const RESULT: &str = "TEST RESULT : System achieved ";
/// As errors of its procedure name it.
const NEW_ORDER: &str = "New Order";
const MOST_MINUTES: f64 = 1e6;

#[derive(Debug, Clone, Default)]
struct State {
    version: String,
    minutes: Option<f64>,
    rampup: Option<String>,
    users: u32,
    /// Of each run so far.
    runs: Vec<Errors>,
    /// Whether the last run has its result.
    has_result: bool,
    /// Whether the lines are of the measured time.
    is_measuring: bool,
    /// When the log or job of the next result began, ramp-up included.
    began: Option<Nanos>,
    /// Time of the next line, with `vuset timestamps 1`.
    stamp: Option<Nanos>,
    /// When the next result's measurement began, by the line that reports it.
    timing: Option<Nanos>,
    settings: BTreeMap<String, String>,
}

/// Errors of one run.
#[derive(Debug, Clone, Default)]
struct Errors {
    /// Numbers of the virtual users that ended early.
    users: BTreeSet<String>,
    /// Failed transactions of the measured time, by procedure.
    procedures: BTreeMap<String, u64>,
}

/// A result with its line.
struct Achieved {
    line: usize,
    /// Index of its errors in [`State::runs`].
    run: usize,
    load: ImportedLoad,
}

/// Position of a profile's result relative to the profile.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum ResultPosition {
    /// xtprof reports once the test is over.
    #[default]
    Above,
    /// etprof reports while it runs.
    Below,
    /// JSON is printed by hand.
    Either,
}

/// Figures of a time profile, or of JSON, with the line at which they begin.
#[derive(Default)]
struct Profile {
    line: usize,
    result: ResultPosition,
    users: u32,
    figures: Vec<Figure>,
}

/// One load for each result: an autopilot run has several.
pub(super) fn read(text: &str) -> Read<Vec<ImportedLoad>> {
    let mut state = State::default();
    let mut results: Vec<Achieved> = Vec::new();
    for (line, content) in text
        .lines()
        .enumerate()
        .map(|(i, content)| (i + 1, content))
    {
        state.line(line, content)?;
        if let Some((_, rest)) = content.split_once(RESULT) {
            // `jobs JOBID result` prints a result again.
            let load = state.load(line, rest)?;
            let again =
                |own: &Achieved| own.load.users == load.users && own.load.figures == load.figures;
            if !(content.trim().starts_with('"') && results.iter().any(again)) {
                let run = state.run_of_result();
                results.push(Achieved { line, run, load });
            }
        }
    }
    let mut profiles = profile::read(text);
    profiles.extend(of_documents(text));
    profiles.retain(|profile| !profile.figures.is_empty());
    if results.is_empty() && profiles.is_empty() {
        let expected =
            format!("a line with `{RESULT}… NOPM from … TPM`, or JSON of `jobs JOBID timing`");
        return Err(Fault::end(text, expected));
    }
    let results = assign(&state, results, profiles)?;
    let with_errors = |Achieved { mut load, run, .. }: Achieved| {
        state
            .runs
            .get(run)
            .into_iter()
            .for_each(|errors| errors.add_to(&mut load));
        load
    };
    Ok(results.into_iter().map(with_errors).collect())
}

/// Each profile to its result; without results each is a load of its own.
fn assign(
    state: &State,
    mut results: Vec<Achieved>,
    profiles: Vec<Profile>,
) -> Read<Vec<Achieved>> {
    let alone = results.is_empty();
    let mut taken: Vec<usize> = Vec::new();
    for profile in profiles {
        let at = match profile.result {
            _ if alone => {
                let users = if profile.users > 0 {
                    profile.users
                } else {
                    state.users
                };
                let run = state.runs.len().saturating_sub(1);
                results.push(Achieved {
                    line: profile.line,
                    run,
                    load: State {
                        users,
                        ..state.clone()
                    }
                    .empty(),
                });
                Some(results.len() - 1)
            }
            _ if results.len() == 1 => Some(0),
            ResultPosition::Above => results
                .iter()
                .rposition(|result| result.line < profile.line),
            ResultPosition::Below => results.iter().position(|result| result.line > profile.line),
            ResultPosition::Either => None,
        };
        let at = at
            .filter(|at| !taken.contains(at))
            .ok_or_else(|| together(&profile))?;
        taken.push(at);
        add(&mut results[at].load, profile);
    }
    Ok(results)
}

fn together(profile: &Profile) -> Fault {
    let expected = "one time profile for each result; import each job's output by itself";
    Fault::at(profile.line, "a further time profile", expected)
}

fn add(load: &mut ImportedLoad, profile: Profile) {
    let text = "Response times are those of the whole time that virtual users ran, ramp-up included; those of all virtual users \
                are listed under the procedure's name, those of one with its number.";
    load.unknown.push(("percentiles", text.to_owned()));
    load.facts.retain(|(key, _)| key != PERCENTILES_FACT);
    load.fact(PERCENTILES_FACT, "unknown");
    load.figures.extend(profile.figures);
}

impl Errors {
    fn add_to(&self, load: &mut ImportedLoad) {
        if !self.users.is_empty() {
            let users = if self.users.len() == 1 {
                "virtual user"
            } else {
                "virtual users"
            };
            load.failure = Some(format!(
                "{} {users} ended with an error (FINISHED FAILED)",
                self.users.len()
            ));
        }
        for (procedure, n) in &self.procedures {
            load.figures.extend(
                Figure::new("Procedure Error", &n.to_string(), "").map(|own| own.of_txn(procedure)),
            );
        }
        if let (Some(n), Some(tick)) = (self.procedures.get(NEW_ORDER), load.ticks.first_mut()) {
            tick.counts[0].failed += n;
            tick.counts[0].offered += n;
        }
        if !self.procedures.is_empty() {
            load.fact(
                "import.failed",
                "lines of a Procedure Error in the measured time; New-Orders are counted as failed",
            );
        }
    }
}

impl State {
    fn line(&mut self, line: usize, content: &str) -> Read<()> {
        let content = content.trim();
        let whole = content
            .strip_prefix("hammerdb>")
            .unwrap_or(content)
            .trim_matches(['"', ',']);
        self.errors(whole);
        let message = whole
            .split_once(':')
            .filter(|(who, _)| who.starts_with("Vuser "))
            .map_or(whole, |(_, message)| message);
        let between = |from: &str, to: &str| -> Option<&str> {
            let (_, rest) = message.split_once(from)?;
            Some(rest.split_once(to)?.0.trim())
        };
        if let Some(minutes) = between("Timing test period of ", " in minutes") {
            let minutes = number_at(line, minutes, "the length of the test in minutes")?;
            self.minutes =
                Some(minutes).filter(|minutes| *minutes > 0.0 && *minutes <= MOST_MINUTES);
            self.timing = self.stamp;
        } else if let Some(minutes) = between("Beginning rampup time of ", " minutes") {
            self.rampup = Some(minutes.to_owned());
        } else if let Some((users, _)) = message.split_once(" Active Virtual Users configured") {
            self.users = users_at(line, users, "the number of virtual users")?;
        } else if let Some(version) = message.strip_prefix("HammerDB CLI v") {
            self.version = version.trim().to_owned();
        } else if let Some(time) = message.strip_prefix("Hammerdb Log @ ") {
            self.began = when::instant(time);
        } else if let Some((who, time)) = message.split_once(" @ ")
            && who.starts_with("Timestamp ")
        {
            self.stamp = when::instant(time);
        } else if content.starts_with('"') && when::instant(message).is_some() {
            // `jobs JOBID result` has the time at which the job began in a line of its own.
            self.began = when::instant(message);
        } else {
            self.setting(message);
        }
        Ok(())
    }

    /// `Vuser 11:New Order Procedure Error set RAISEERROR for Details`, `Vuser 4:FINISHED FAILED`,
    /// `Error in Virtual User 4: …`, and where runs begin.
    fn errors(&mut self, content: &str) {
        let (user, event) = content
            .strip_prefix("Vuser ")
            .and_then(|rest| rest.split_once(':'))
            .unwrap_or(("", content));
        let begins = content.ends_with(" created MONITOR - WAIT IDLE")
            || content.starts_with("Hammerdb Log @ ");
        if self.runs.is_empty()
            || begins
            || (self.has_result && event.starts_with("Beginning rampup time"))
        {
            self.runs.push(Errors::default());
            (self.has_result, self.is_measuring) = (false, false);
        }
        if event.starts_with("Timing test period of ") {
            self.is_measuring = true;
        } else if event.starts_with("Test complete") {
            self.is_measuring = false;
        }
        let Some(run) = self.runs.last_mut() else {
            return;
        };
        if event.starts_with("FINISHED FAILED") {
            run.users.insert(user.to_owned());
        } else if let Some((user, _)) = event
            .strip_prefix("Error in Virtual User ")
            .and_then(|rest| rest.split_once(':'))
        {
            run.users.insert(user.to_owned());
        } else if let (Some((procedure, _)), true) =
            (event.split_once(" Procedure Error"), self.is_measuring)
        {
            *run.procedures.entry(procedure.to_owned()).or_default() += 1;
        }
    }

    /// Two results without the beginning of a run between them are of two runs.
    fn run_of_result(&mut self) -> usize {
        if self.has_result {
            self.runs.push(Errors::default());
        }
        self.has_result = true;
        self.runs.len().saturating_sub(1)
    }

    /// `Changed tpcc:pg_count_ware from 1 to 30 for PostgreSQL`, `Value 30 for tpcc:pg_count_ware is the same as …`, and
    /// `pg_count_ware = 30` of `print dict`.
    fn setting(&mut self, message: &str) {
        let words: Vec<&str> = message.split_whitespace().collect();
        let (name, value) = match words.as_slice() {
            ["Changed", key, "from", _, "to", value, "for", ..]
            | ["Value", value, "for", key, "is", "the", "same", ..] => {
                let Some((_, name)) = key.split_once("tpcc:") else {
                    return;
                };
                (name, *value)
            }
            [name, "=", value] => (*name, *value),
            _ => return,
        };
        let name = name.split_once('_').map_or(name, |(_, name)| name);
        let of_load = [
            "count_ware",
            "allwarehouse",
            "keyandthink",
            "storedprocs",
            "rampup",
            "duration",
            "driver",
            "async_scale",
        ];
        if of_load.contains(&name) {
            let name = if name == "count_ware" {
                "warehouses"
            } else {
                name
            };
            self.settings.insert(name.to_owned(), value.to_owned());
        }
    }

    /// When the measurement of the next result began.
    fn started(&mut self) -> Option<Nanos> {
        let rampup = self
            .rampup
            .as_ref()
            .and_then(|minutes| number(minutes))
            .unwrap_or_default()
            .min(MOST_MINUTES);
        let began = self
            .began
            .take()
            .map(|began| began + Nanos::from_secs_f64(rampup * 60.0));
        self.timing.take().or(began)
    }

    fn empty(&self) -> ImportedLoad {
        let mut load = ImportedLoad::new(Tool::Hammerdb);
        load.version = self.version.clone();
        load.workload = "TPROC-C".into();
        load.users = self.users;
        load.parameters = self.settings.clone();
        load.txns = vec![TPCC_TXNS[0].to_owned()];
        load.windows = vec![None];
        load.fact(RESPONSE_FACT, "start");
        load.fact(PERCENTILES_FACT, "none");
        if let Some(minutes) = &self.rampup {
            load.fact("import.rampup", format!("{minutes} min"));
        }
        let text = "The output has no failed and rolled back transactions: CONSERVE and RATIO cannot be evaluated.";
        load.unknown.push(("failed", text.to_owned()));
        let text = "HammerDB verifies no consistency condition.";
        load.unknown.push(("consistency", text.to_owned()));
        load
    }

    /// `33643 NOPM from 77404 PostgreSQL TPM`, in old versions `77404 PostgreSQL TPM at 33643 NOPM`.
    fn load(&mut self, line: usize, rest: &str) -> Read<ImportedLoad> {
        let expected = "`N NOPM from M DATABASE TPM`";
        let words: Vec<&str> = rest
            .split_whitespace()
            .map(|word| word.trim_matches(['"', ',']))
            .collect();
        let (nopm, tpm, database) = match words.as_slice() {
            [nopm, "NOPM", "from", tpm, database @ .., "TPM"] => (*nopm, *tpm, database.join(" ")),
            [tpm, database @ .., "TPM", "at", nopm, "NOPM"] => (*nopm, *tpm, database.join(" ")),
            _ => return Err(Fault::at(line, rest, expected)),
        };
        let rate = number_at(line, nopm, "NOPM")?;
        number_at(line, tpm, "TPM")?;
        let mut load = self.empty();
        load.started = self.started();
        load.parameters.insert("database".into(), database.clone());
        load.figures.extend(Figure::new("NOPM", nopm, "1/min"));
        load.figures
            .extend(Figure::new(&format!("{database} TPM"), tpm, "1/min"));
        match self.minutes {
            Some(minutes) => {
                let n = (rate * minutes).round().min(1e15) as u64;
                let counts = Counts {
                    offered: n,
                    committed: n,
                    ..Counts::default()
                };
                load.ticks = vec![LoadTick::new(
                    Nanos::ZERO,
                    Nanos::from_secs_f64(minutes * 60.0),
                    vec![counts],
                )];
                load.fact(
                    "import.counts",
                    "New-Orders are the reported NOPM x the minutes of the test",
                );
            }
            None => {
                let text = "The output does not contain the length of the measurement: transactions cannot be counted.";
                load.unknown.push(("duration", text.to_owned()));
            }
        }
        Ok(load)
    }
}

/// A JSON document that begins a line.
struct Document {
    line: usize,
    value: Value,
}

fn documents(text: &str) -> Vec<Document> {
    const MOST_DOCUMENTS: usize = 100;
    let mut found = Vec::new();
    let (mut at, mut read_to) = (0, 0);
    for (i, line) in text.split_inclusive('\n').enumerate() {
        if at >= read_to && line.trim_start().starts_with('{') && found.len() < MOST_DOCUMENTS {
            let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
            if let Some(Ok(value)) = values.next() {
                read_to = at + values.byte_offset();
                found.push(Document { line: i + 1, value });
            }
        }
        at += line.len();
    }
    found
}

/// `timing` and `tcount` of one job; a second `timing` is another job's.
fn of_documents(text: &str) -> Vec<Profile> {
    let mut profiles: Vec<Profile> = Vec::new();
    let mut timed = false;
    for document in documents(text) {
        let mut figures = Vec::new();
        let is_timing = of_document(&document.value, &mut figures);
        match profiles.last_mut().filter(|_| !(is_timing && timed)) {
            Some(last) => last.figures.extend(figures),
            None => profiles.push(Profile {
                line: document.line,
                result: ResultPosition::Either,
                users: 0,
                figures,
            }),
        }
        timed |= is_timing;
    }
    profiles
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

/// Whether it is a timing profile.
fn of_document(document: &Value, figures: &mut Vec<Figure>) -> bool {
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let mut is_timing = false;
    for (name, value) in document.as_object().into_iter().flatten() {
        let Some(fields) = value.as_object() else {
            continue;
        };
        if fields.contains_key("elapsed_ms") || fields.contains_key("avg_ms") {
            is_timing = true;
            for (key, unit) in TIMING {
                let figure = fields
                    .get(key)
                    .and_then(|value| Figure::new(key, &text(value), unit));
                figures.extend(figure.map(|figure| figure.of_txn(name)));
            }
        } else if name.ends_with(" tpm") {
            counter(name, fields, figures);
        }
    }
    is_timing
}

/// `tcount`: TPM by the time at which it was counted.
fn counter(name: &str, fields: &serde_json::Map<String, Value>, figures: &mut Vec<Figure>) {
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let pair = |(key, value): (&String, &Value)| {
        let value = text(value);
        let (time, digits) = if when::instant(key).is_some() {
            (key.clone(), value)
        } else {
            (value, key.clone())
        };
        Some((when::instant(&time)?, digits))
    };
    let mut pairs: Vec<(Nanos, String)> = fields.iter().filter_map(pair).collect();
    pairs.sort();
    let first = pairs.first().map(|(time, _)| *time).unwrap_or_default();
    for pair in pairs.windows(2) {
        let over = (
            pair[0].0.saturating_sub(first),
            pair[1].0.saturating_sub(first),
        );
        figures.extend(
            Figure::new(name, &pair[1].1, "1/min").map(|figure| figure.over(over.0, over.1)),
        );
    }
}
