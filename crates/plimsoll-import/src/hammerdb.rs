//! HammerDB's console output, and what `jobs JOBID result`, `timing` and `tcount` print as JSON.
//!
//! NOPM comes from the database's order numbers over the whole minutes of the test, so New-Orders are NOPM × minutes, to
//! within a minute's remainder. TPM counts what that database calls a transaction: it is kept as reported, and is not
//! plimsoll's TPM.

mod documents;
mod profile;

use std::collections::{BTreeMap, BTreeSet};

use super::fault::{Fault, Read};
use super::format::{OutputFormat, OutputReader};
use super::lines::{NumberedLine, lines, number};
use super::load::{ImportedLoad, LoadTick, Span, completed};
use super::tool::Tool;
use super::when;
use plimsoll_plan::resolved::TPCC_TXNS;
use plimsoll_plan::units::Nanos;
use plimsoll_record::import_facts::PERCENTILES_FACT;
use plimsoll_record::message::{CheckDetail, ImportNote};
use profile::{ResultPosition, TimeProfile};

pub(super) const TOOL: Tool = Tool::new("hammerdb", "HammerDB output").made_by("HammerDB");

pub(super) static FORMAT: OutputFormat = OutputFormat {
    tool: TOOL,
    is: |start| MARKS.iter().any(|mark| start.has(mark)),
    reader: OutputReader::Loads(read),
};

/// The console begins a line with `hammerdb>`; its result may come after thousands of lines.
const MARKS: [&str; 6] = [
    "TEST RESULT : System achieved",
    "HammerDB",
    "Hammerdb ",
    "hammerdb>",
    "Vuser 1",
    "\"elapsed_ms\"",
];

const RESULT: &str = "TEST RESULT : System achieved ";
/// As errors of its procedure name it.
const NEW_ORDER: &str = "New Order";
const MOST_MINUTES: f64 = 1e6;
/// Settings that define a load.
const SETTINGS: [&str; 8] = [
    "count_ware",
    "allwarehouse",
    "keyandthink",
    "storedprocs",
    "rampup",
    "duration",
    "driver",
    "async_scale",
];

#[derive(Debug, Clone, Default)]
struct HammerDbState {
    version: String,
    minutes: Option<f64>,
    rampup: Option<String>,
    users: u32,
    /// Of each run so far.
    runs: Vec<HammerDbErrors>,
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
struct HammerDbErrors {
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

/// One load for each result: an autopilot run has several.
pub(super) fn read(text: &str) -> Read<Vec<ImportedLoad>> {
    let mut state = HammerDbState::default();
    let mut results: Vec<Achieved> = Vec::new();
    for line in lines(text) {
        state.line(line)?;
        if let Some((_, rest)) = line.text.split_once(RESULT) {
            let load = state.load(line, rest)?;
            // `jobs JOBID result` prints a result again.
            let is_json = line.text.trim().starts_with('"');
            if is_json && results.iter().any(|own| is_same(&own.load, &load)) {
                continue;
            }
            results.push(Achieved {
                line: line.number,
                run: state.run_of_result(),
                load,
            });
        }
    }
    let mut profiles = profile::read(text);
    profiles.extend(documents::profiles(text));
    profiles.retain(|profile| !profile.figures.0.is_empty());
    if results.is_empty() && profiles.is_empty() {
        let expected =
            format!("a line with `{RESULT}… NOPM from … TPM`, or JSON of `jobs JOBID timing`");
        return Err(Fault::end(text, expected));
    }
    assign(&state, &mut results, profiles)?;
    Ok(results
        .into_iter()
        .map(|result| state.with_errors(result))
        .collect())
}

fn is_same(a: &ImportedLoad, b: &ImportedLoad) -> bool {
    a.users == b.users && a.figures == b.figures
}

/// Each profile to its result; without results each is a load of its own.
fn assign(
    state: &HammerDbState,
    results: &mut Vec<Achieved>,
    profiles: Vec<TimeProfile>,
) -> Read<()> {
    if results.is_empty() {
        for profile in profiles {
            let mut result = state.without_result(&profile);
            add_profile(&mut result.load, profile);
            results.push(result);
        }
        return Ok(());
    }
    let mut taken: Vec<usize> = Vec::new();
    for profile in profiles {
        let line = profile.line;
        let at = match profile.result {
            _ if results.len() == 1 => Some(0),
            ResultPosition::Above => results.iter().rposition(|result| result.line < line),
            ResultPosition::Below => results.iter().position(|result| result.line > line),
            ResultPosition::Either => None,
        };
        let Some(at) = at.filter(|at| !taken.contains(at)) else {
            let expected = "one time profile for each result; import each job's output by itself";
            return Err(Fault::at(line, "a further time profile", expected));
        };
        taken.push(at);
        add_profile(&mut results[at].load, profile);
    }
    Ok(())
}

fn add_profile(load: &mut ImportedLoad, profile: TimeProfile) {
    load.note(ImportNote::RampUpIncluded);
    load.replace_fact(PERCENTILES_FACT, "unknown");
    load.figures.0.extend(profile.figures.0);
}

impl HammerDbErrors {
    fn add_to(&self, load: &mut ImportedLoad) {
        if !self.users.is_empty() {
            load.failure = Some(CheckDetail::UsersFailed {
                users: self.users.len() as u64,
            });
        }
        for (procedure, n) in &self.procedures {
            let n = n.to_string();
            load.figures.add_of(procedure, "Procedure Error", &n, "");
        }
        if let Some(n) = self.procedures.get(NEW_ORDER)
            && let Some(tick) = load.ticks.first_mut()
        {
            tick.counts[0].failed += n;
            tick.counts[0].offered += n;
        }
        if !self.procedures.is_empty() {
            load.note(ImportNote::ProcedureErrorsCounted);
        }
    }
}

/// The text between two others.
fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(from)?;
    Some(rest.split_once(to)?.0.trim())
}

impl HammerDbState {
    fn line(&mut self, line: NumberedLine<'_>) -> Read<()> {
        let content = line.text.trim();
        let whole = content.strip_prefix("hammerdb>").unwrap_or(content);
        let whole = whole.trim_matches(['"', ',']);
        let own = profile::HammerDbMessage::of(whole);
        self.errors(whole, &own);
        let message = own.text;
        if let Some(minutes) = between(message, "Timing test period of ", " in minutes") {
            let minutes = line.number(minutes, "the length of the test in minutes")?;
            let is_length = minutes > 0.0 && minutes <= MOST_MINUTES;
            self.minutes = is_length.then_some(minutes);
            self.timing = self.stamp;
        } else if let Some(minutes) = between(message, "Beginning rampup time of ", " minutes") {
            self.rampup = Some(minutes.to_owned());
        } else if let Some((users, _)) = message.split_once(" Active Virtual Users configured") {
            self.users = line.users(users, "the number of virtual users")?;
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
    fn errors(&mut self, line: &str, message: &profile::HammerDbMessage<'_>) {
        let event = message.text;
        let is_start = line.ends_with(" created MONITOR - WAIT IDLE")
            || line.starts_with("Hammerdb Log @ ")
            || (self.has_result && event.starts_with("Beginning rampup time"));
        if self.runs.is_empty() || is_start {
            self.runs.push(HammerDbErrors::default());
            self.has_result = false;
            self.is_measuring = false;
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
            run.users.insert(message.user.to_owned());
        } else if let Some(rest) = event.strip_prefix("Error in Virtual User ")
            && let Some((user, _)) = rest.split_once(':')
        {
            run.users.insert(user.to_owned());
        } else if let Some((procedure, _)) = event.split_once(" Procedure Error")
            && self.is_measuring
        {
            *run.procedures.entry(procedure.to_owned()).or_default() += 1;
        }
    }

    /// Two results without the beginning of a run between them are of two runs.
    fn run_of_result(&mut self) -> usize {
        if self.has_result {
            self.runs.push(HammerDbErrors::default());
        }
        self.has_result = true;
        self.runs.len().saturating_sub(1)
    }

    fn with_errors(&self, mut result: Achieved) -> ImportedLoad {
        if let Some(errors) = self.runs.get(result.run) {
            errors.add_to(&mut result.load);
        }
        result.load
    }

    /// `Changed tpcc:pg_count_ware from 1 to 30 for PostgreSQL`, `Value 30 for tpcc:pg_count_ware is the same as …`, and
    /// `pg_count_ware = 30` of `print dict`.
    fn setting(&mut self, message: &str) {
        let words: Vec<&str> = message.split_whitespace().collect();
        match words.as_slice() {
            ["Changed", key, "from", _, "to", value, "for", ..]
            | ["Value", value, "for", key, "is", "the", "same", ..] => {
                if let Some((_, name)) = key.split_once("tpcc:") {
                    self.set(name, value);
                }
            }
            [name, "=", value] => self.set(name, value),
            _ => {}
        }
    }

    fn set(&mut self, name: &str, value: &str) {
        // `pg_count_ware`, `mysql_count_ware`
        let name = name.split_once('_').map_or(name, |(_, name)| name);
        if SETTINGS.contains(&name) {
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
        let minutes = self.rampup.as_ref().and_then(|minutes| number(minutes));
        let rampup_s = minutes.unwrap_or_default().min(MOST_MINUTES) * 60.0;
        let began = self.began.take();
        let began = began.map(|began| began + Nanos::from_secs_f64(rampup_s));
        self.timing.take().or(began)
    }

    /// A load of which only a profile is known.
    fn without_result(&self, profile: &TimeProfile) -> Achieved {
        let mut load = self.empty();
        if profile.users > 0 {
            load.users = profile.users;
        }
        Achieved {
            line: profile.line,
            run: self.runs.len().saturating_sub(1),
            load,
        }
    }

    fn empty(&self) -> ImportedLoad {
        let mut load = ImportedLoad::new(TOOL);
        load.version = self.version.clone();
        load.workload = "TPROC-C".into();
        load.users = self.users;
        load.parameters = self.settings.clone();
        load.txns = vec![TPCC_TXNS[0].to_owned()];
        load.windows = vec![None];
        load.latencies("start", "none");
        if let Some(minutes) = &self.rampup {
            load.fact("import.rampup", format!("{minutes} min"));
        }
        load.note(ImportNote::FailuresUncounted);
        load.note(ImportNote::ConsistencyUnverified);
        load
    }

    /// `33643 NOPM from 77404 PostgreSQL TPM`, in old versions `77404 PostgreSQL TPM at 33643 NOPM`.
    fn load(&mut self, line: NumberedLine<'_>, rest: &str) -> Read<ImportedLoad> {
        let words = rest.split_whitespace();
        let words: Vec<&str> = words.map(|word| word.trim_matches(['"', ','])).collect();
        let ([nopm, "NOPM", "from", tpm, database @ .., "TPM"]
        | [tpm, database @ .., "TPM", "at", nopm, "NOPM"]) = words.as_slice()
        else {
            return Err(line.fault(rest, "`N NOPM from M DATABASE TPM`"));
        };
        let database = database.join(" ");
        let rate = line.number(nopm, "NOPM")?;
        line.number(tpm, "TPM")?;
        let mut load = self.empty();
        load.started = self.started();
        load.figures.add("NOPM", nopm, "1/min");
        load.figures.add(&format!("{database} TPM"), tpm, "1/min");
        load.parameters.insert("database".into(), database);
        match self.minutes {
            Some(minutes) => {
                let n = (rate * minutes).round().min(1e15) as u64;
                let span = Span::of_seconds(0.0, minutes * 60.0);
                load.ticks = vec![LoadTick::new(span, vec![completed(n, 0)])];
                load.note(ImportNote::NopmCounted);
            }
            None => load.note(ImportNote::DurationUnknown),
        }
        Ok(load)
    }
}
