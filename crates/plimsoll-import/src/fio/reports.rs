//! The JSON documents of a file: reports of one run (`--status-interval`, cumulative), and runs after each other.

use serde_json::Value;

use super::options::{Options, options};
use crate::fault::{Fault, Read};
use crate::fio_output::{CLIENT_JOBS, FioError, FioJob, JOBS, output};

/// One document.
#[derive(Debug)]
pub(super) struct Report {
    /// Its first line.
    pub line: usize,
    pub version: String,
    /// When it was printed, since 1970.
    pub at_ms: u64,
    pub jobs: Vec<Job>,
}

/// One entry of a report: a job, or all jobs of a group (`group_reporting`).
#[derive(Debug)]
pub(super) struct Job {
    pub fio: FioJob,
    /// The server that it ran on, of a client's output.
    pub host: Option<String>,
    /// Of the file's global section and its own.
    pub options: Options,
    /// Those of the global section alone.
    pub global: Options,
    /// Jobs of another group may have begun at another time.
    pub group: i64,
    /// Since 1970, from fio 3.42 on; of several jobs the first one's.
    pub start_ms: Option<u64>,
    /// Since fio itself began, in whole seconds, rounded up.
    pub elapsed_s: Option<u64>,
    /// The sum over all jobs of the entry.
    pub runtime_ms: u64,
    /// Requests that failed, where fio went on after them (`continue_on_error`).
    pub errors: Option<u64>,
    /// Most requests that a job had in flight: the upper end of the highest level that occurred.
    pub deepest: Option<u32>,
}

/// One run of fio: its reports in their order. There is at least one.
#[derive(Debug)]
pub(super) struct Run {
    pub reports: Vec<Report>,
}

impl Run {
    /// The last report, which holds everything.
    pub fn whole(&self) -> &Report {
        &self.reports[self.reports.len() - 1]
    }

    /// Counts start anew where `ramp_time` ends.
    pub fn has_ramp(&self) -> bool {
        self.whole()
            .jobs
            .iter()
            .any(|job| job.options.contains_key("ramp_time"))
    }

    fn verify_growth(&self) -> Read<()> {
        let counts = |report: &Report| -> Vec<u64> {
            let of = |job: &Job| {
                [&job.fio.read, &job.fio.write, &job.fio.trim].map(|side| side.total_ios)
            };
            report.jobs.iter().flat_map(of).collect()
        };
        let falls = |pair: &&[Report]| {
            counts(&pair[0])
                .iter()
                .zip(counts(&pair[1]))
                .any(|(before, after)| *before > after)
        };
        match self.reports.windows(2).find(falls) {
            Some(pair) if !self.has_ramp() => {
                let expected = "counts that grow from report to report of one run";
                Err(Fault::at(
                    pair[1].line,
                    "fewer requests than in the report before",
                    expected,
                ))
            }
            _ => Ok(()),
        }
    }
}

pub(super) fn runs(text: &str) -> Read<Vec<Run>> {
    let mut runs: Vec<Run> = Vec::new();
    for report in reports(text)? {
        match runs.last_mut() {
            Some(run) if run.whole().is_continued_by(&report) => run.reports.push(report),
            _ => runs.push(Run {
                reports: vec![report],
            }),
        }
    }
    runs.iter().try_for_each(Run::verify_growth)?;
    Ok(runs)
}

impl Report {
    /// Whether `later` is of the same run: the same jobs, which had begun when this report was printed.
    fn is_continued_by(&self, later: &Self) -> bool {
        let same = |(a, b): (&Job, &Job)| {
            a.fio.name == b.fio.name && a.group == b.group && a.options == b.options
        };
        let same_jobs = self.version == later.version
            && self.jobs.len() == later.jobs.len()
            && self.jobs.iter().zip(&later.jobs).all(same);
        same_jobs && self.at_ms <= later.at_ms && self.is_during(later)
    }

    fn is_during(&self, later: &Self) -> bool {
        let starts: Vec<(u64, u64)> = self
            .jobs
            .iter()
            .zip(&later.jobs)
            .filter_map(|(a, b)| a.start_ms.zip(b.start_ms))
            .collect();
        if !starts.is_empty() {
            return starts.iter().all(|(a, b)| a == b);
        }
        // Not `job_runtime`, which is the sum over the jobs of a group.
        let running_ms = later
            .jobs
            .iter()
            .map(super::counts::lasted_ms)
            .max()
            .unwrap_or_default();
        let elapsed_ms = later
            .jobs
            .iter()
            .filter_map(|job| job.elapsed_s)
            .max()
            .map(|s| s.saturating_mul(1000));
        match elapsed_ms {
            // The whole second before the last one ended is when the later run had begun at the latest.
            Some(elapsed)
                if later.at_ms.saturating_sub(elapsed.saturating_sub(1000)) <= self.at_ms =>
            {
                true
            }
            Some(elapsed) if later.at_ms.saturating_sub(elapsed) > self.at_ms => false,
            _ => running_ms > later.at_ms - self.at_ms,
        }
    }
}

fn reports(text: &str) -> Read<Vec<Report>> {
    // Older versions print `nan` where nothing was counted. Lines and places stay where they are.
    let valid = text
        .contains("nan")
        .then(|| text.replace(": -nan", ":    0").replace(": nan", ":   0"));
    let text = valid.as_deref().unwrap_or(text);
    let (mut reports, mut at, mut line) = (Vec::new(), 0, 1);
    while let Some(content) = text[at..].split_inclusive('\n').next() {
        if content.starts_with('{') {
            let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
            let value = values
                .next()
                .and_then(Result::ok)
                .ok_or_else(|| syntax(&text[at..], line))?;
            let document = &text[at..at + values.byte_offset()];
            reports.push(report(document, line, &value)?);
            line += document.matches('\n').count();
            at += document.len();
            continue;
        }
        if !reports.is_empty() && !is_message(content) {
            return Err(Fault::at(
                line,
                content,
                "a message of fio, or its next JSON document",
            ));
        }
        line += 1;
        at += content.len();
    }
    if reports.is_empty() {
        Err(no_json(text))
    } else {
        Ok(reports)
    }
}

fn syntax(document: &str, line: usize) -> Fault {
    let error = serde_json::Deserializer::from_str(document)
        .into_iter::<Value>()
        .next()
        .and_then(Result::err);
    let (within, why) = error.map_or((1, "nothing".to_owned()), |error| {
        (error.line(), error.to_string())
    });
    let lines = document.lines().count().max(1);
    Fault::at(
        line + within.clamp(1, lines) - 1,
        &why,
        "one whole JSON document of fio",
    )
}

/// What fio prints between documents: messages (`fio: …`, `job: …`) and its report for people.
fn is_message(line: &str) -> bool {
    let trimmed = line.trim();
    let is_json = trimmed.starts_with(['{', '}', '[', ']', '"']);
    let first = trimmed.split_whitespace().next().unwrap_or_default();
    let begins = [
        "fio-",
        "Starting ",
        "Jobs: ",
        "Run status ",
        "Disk stats ",
        "...",
        "<",
        "hostname=",
    ];
    let is_text = line.starts_with([' ', '\t'])
        || first.ends_with(':')
        || first.contains(TERSE)
        || trimmed.contains(": (g")
        || begins.iter().any(|mark| trimmed.starts_with(mark));
    trimmed.is_empty() || (is_text && !is_json)
}

/// Second field of a line of `--output-format=terse`.
const TERSE: &str = ";fio-";

fn no_json(text: &str) -> Fault {
    let any = |mark: &str| text.lines().take(400).any(|line| line.contains(mark));
    let found = match () {
        () if any(TERSE) => "fio's terse output, which has no distribution",
        () if is_for_people(text) => "fio's output for people, which has rounded figures",
        () => {
            let first = text
                .lines()
                .find(|line| !line.trim().is_empty())
                .unwrap_or_default();
            return Fault::at(
                1,
                first,
                "JSON, as fio prints it with --output-format=json or json+",
            );
        }
    };
    Fault {
        line: 1,
        found: found.into(),
        expected: "JSON: run fio with --output-format=json+ --output=FILE".into(),
    }
}

/// Whether a text is of fio, and no JSON.
pub(crate) fn is_for_people(text: &str) -> bool {
    let mut lines = text.lines().take(400);
    lines.any(|line| line.contains(": (groupid=") || line.contains(TERSE))
}

fn report(document: &str, line: usize, value: &Value) -> Read<Report> {
    let whole = output(value).map_err(|error| wrong_field(document, line, &error))?;
    let global = options(value.get("global options"));
    let entries = [CLIENT_JOBS, JOBS]
        .into_iter()
        .find_map(|key| value.get(key)?.as_array());
    let all = whole.jobs.into_iter().zip(entries.into_iter().flatten());
    let jobs: Vec<Job> = all
        .filter(|(fio, entry)| !is_sum(fio, entry))
        .map(|(fio, entry)| job(fio, entry, &global))
        .collect();
    if jobs.is_empty() {
        return Err(Fault::at(
            line,
            "a document without jobs",
            "at least one job in `jobs`",
        ));
    }
    if let Some(job) = jobs.iter().find(|job| !super::counts::is_sane(&job.fio)) {
        let within = document
            .lines()
            .position(|line| line.contains(&job.fio.name))
            .unwrap_or_default();
        return Err(Fault::at(
            line + within,
            &job.fio.name,
            "counts, times and latencies that a run can have",
        ));
    }
    Ok(Report {
        line,
        version: whole.version,
        at_ms: whole.timestamp_ms.min(4_000_000_000_000),
        jobs,
    })
}

/// A client adds the jobs of its servers up in a last entry.
fn is_sum(fio: &FioJob, entry: &Value) -> bool {
    fio.name == "All clients"
        && entry.get("hostname").is_some()
        && entry.get("job options").is_none()
}

fn job(fio: FioJob, entry: &Value, global: &Options) -> Job {
    let count = |key: &str| entry.get(key).and_then(Value::as_u64);
    let mut all = global.clone();
    all.extend(options(entry.get("job options")));
    // Of another clock than that of the day it is no time since 1970.
    let is_day = all
        .get("job_start_clock_id")
        .is_none_or(|clock| clock == "0");
    Job {
        fio,
        host: host(entry),
        options: all,
        global: global.clone(),
        group: entry
            .get("groupid")
            .and_then(Value::as_i64)
            .unwrap_or_default(),
        start_ms: count("job_start").filter(|ms| is_day && (1..4_000_000_000_000).contains(ms)),
        elapsed_s: count("elapsed"),
        runtime_ms: count("job_runtime")
            .unwrap_or_default()
            .min(100_000_000_000),
        errors: count("total_err"),
        deepest: deepest(entry),
    }
}

fn host(entry: &Value) -> Option<String> {
    let name = entry.get("hostname")?.as_str()?;
    let port = entry
        .get("port")
        .and_then(Value::as_u64)
        .unwrap_or_default();
    Some(format!("{name}:{port}"))
}

/// Levels are `1`, `2` (to 3), `4` (to 7), …; the highest has no end.
fn deepest(entry: &Value) -> Option<u32> {
    let levels = entry.get("iodepth_level")?.as_object()?;
    let occurs = levels
        .iter()
        .filter(|(_, percent)| percent.as_f64().is_some_and(|percent| percent > 0.0));
    let ends = occurs.map(|(level, _)| {
        level
            .parse::<u32>()
            .map_or(u32::MAX, |low| low.saturating_mul(2).saturating_sub(1))
    });
    ends.max()
}

/// The line of the field, as far as its last name is found in the document.
fn wrong_field(document: &str, line: usize, error: &FioError) -> Fault {
    let FioError::Field { field, why } = error else {
        return Fault::at(
            line,
            &error.to_string(),
            "JSON, as fio prints it with --output-format=json or json+",
        );
    };
    let last = field
        .rsplit('.')
        .next()
        .unwrap_or(field)
        .trim_end_matches(|c: char| "[]0123456789".contains(c));
    let within = document
        .lines()
        .position(|line| line.contains(&format!("\"{last}\"")));
    let within = within.unwrap_or(document.lines().count().saturating_sub(1));
    Fault::at(
        line + within,
        &format!("{field} {why}"),
        "the fields of fio 3's JSON",
    )
}
