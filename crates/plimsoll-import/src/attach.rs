//! Reads each file with the parser of its tool, and attaches logs to the output that they belong to.

use std::collections::BTreeMap;

use super::fault::{Fault, ImportError, Read, quoted};
use super::fio_log::{self, FioLog};
use super::format::OutputReader;
use super::formats::{detect, format_of};
use super::load::ImportedLoad;
use super::pgbench_log::{self, Logged};
use super::samples::HostSamples;
use super::source::SourceFile;
use super::tool::Tool;
use super::{fio, pgbench};

/// The content of all files.
#[derive(Default)]
pub(super) struct ParsedFiles {
    pub loads: Vec<ImportedLoad>,
    pub host: Vec<HostSamples>,
    pub taken: Vec<(String, Tool)>,
    fio_logs: Vec<FioLog>,
    transaction_logs: Vec<TransactionLog>,
}

struct TransactionLog {
    name: String,
    lines: Vec<Logged>,
}

pub(super) fn read(sources: &[SourceFile<'_>]) -> Result<ParsedFiles, ImportError> {
    let mut all = ParsedFiles::default();
    let mut progress: Option<&SourceFile<'_>> = None;
    for source in sources.iter().filter(|source| is_progress(source)) {
        if progress.replace(source).is_some() {
            return Err(refused_progress(source));
        }
    }
    for (i, source) in sources.iter().enumerate() {
        let tool = source.tool.or_else(|| detect(source.name, source.text));
        let tool = tool.ok_or_else(|| unknown_format(source))?;
        if is_progress(source) {
            all.taken.push((source.name.to_owned(), tool));
            continue;
        }
        if let Some(progress) = progress.filter(|_| tool == pgbench::TOOL) {
            all.taken.push((source.name.to_owned(), tool));
            all.read_beside(progress, source)?;
            continue;
        }
        if !is_log(tool) {
            refuse_copy(source, &sources[..i])?;
        }
        all.taken.push((source.name.to_owned(), tool));
        all.read(source, tool)
            .map_err(|fault| fault.of(source.name))?;
    }
    if let Some(progress) = progress
        && all.loads_of(pgbench::TOOL).len() != 1
    {
        return Err(refused_progress(progress));
    }
    all.attach_fio()?;
    all.attach_pgbench()?;
    for load in &mut all.loads {
        load.note_what_is_missing();
    }
    Ok(all)
}

/// Whether files of the tool are logs beside an output.
fn is_log(tool: Tool) -> bool {
    let reader = format_of(tool).map(|format| &format.reader);
    matches!(
        reader,
        Some(OutputReader::FioLog | OutputReader::PgbenchLog)
    )
}

/// Whether a file has what pgbench wrote to its standard error: its report is in another one.
fn is_progress(source: &SourceFile<'_>) -> bool {
    source.tool.is_none_or(|tool| tool == pgbench::TOOL) && pgbench::is_progress_alone(source.text)
}

fn refused_progress(source: &SourceFile<'_>) -> ImportError {
    ImportError::files(
        source.name,
        "It has only the progress of pgbench, which belongs to the report of one run",
        "Give it with the standard output of that run, and each run by itself",
    )
}

fn unknown_format(source: &SourceFile<'_>) -> ImportError {
    let mut lines = source.text.lines();
    let first = lines.find(|line| !line.trim().is_empty());
    ImportError::Format {
        file: source.name.to_owned(),
        found: quoted(first.unwrap_or_default()),
    }
}

/// One output given twice would count as two repeats. Logs of two workers may be alike.
fn refuse_copy(source: &SourceFile<'_>, before: &[SourceFile<'_>]) -> Result<(), ImportError> {
    let text = source.text.trim();
    match before.iter().find(|first| first.text.trim() == text) {
        Some(first) => Err(ImportError::files(
            source.name,
            format!("{} holds the same output", first.name),
            "Give each output once",
        )),
        None => Ok(()),
    }
}

/// A log given twice, or logs of two runs.
fn refuse_second_log(logs: &[TransactionLog]) -> Result<(), ImportError> {
    let mut known: BTreeMap<u64, &str> = BTreeMap::new();
    for log in logs {
        for client in pgbench_log::clients(&log.lines) {
            if let Some(first) = known.insert(client, &log.name) {
                return Err(ImportError::files(
                    format!("{first} and {}", log.name),
                    format!(
                        "Both hold transactions of client {client}: in one run only one log does"
                    ),
                    "Give the logs of one run, and each of them once",
                ));
            }
        }
    }
    Ok(())
}

impl ParsedFiles {
    fn read(&mut self, source: &SourceFile<'_>, tool: Tool) -> Read<()> {
        let text = source.text.trim_start_matches('\u{feff}');
        let reader = format_of(tool).map(|format| &format.reader);
        let loads = match reader.expect("each tool has a format") {
            OutputReader::Loads(read) => read(text)?,
            OutputReader::Host(read) => {
                self.host.push(HostSamples {
                    file: source.name.to_owned(),
                    ..read(text)?
                });
                return Ok(());
            }
            OutputReader::FioLog => {
                self.fio_logs.push(fio_log::read(source.name, text)?);
                return Ok(());
            }
            OutputReader::PgbenchLog => {
                self.transaction_logs.push(TransactionLog {
                    name: source.name.to_owned(),
                    lines: pgbench_log::read(text)?,
                });
                return Ok(());
            }
        };
        self.loads
            .extend(loads.into_iter().map(|load| ImportedLoad {
                files: vec![source.name.to_owned()],
                ..load
            }));
        Ok(())
    }

    /// A report of pgbench, and its standard error from a file of its own.
    fn read_beside(
        &mut self,
        progress: &SourceFile<'_>,
        source: &SourceFile<'_>,
    ) -> Result<(), ImportError> {
        let head = pgbench::lines_before_report(source.text);
        let own = source.text.lines();
        let mut lines: Vec<&str> = own.clone().take(head).collect();
        lines.extend(progress.text.lines());
        let inserted = lines.len() - head;
        lines.extend(own.skip(head));
        let whole = SourceFile {
            text: &lines.join("\n"),
            ..*source
        };
        self.read(&whole, pgbench::TOOL).map_err(|fault| {
            let at = |line: usize| Fault {
                line,
                ..fault.clone()
            };
            match fault.line {
                line if line <= head => at(line).of(source.name),
                line if line <= head + inserted => at(line - head).of(progress.name),
                line => at(line - inserted).of(source.name),
            }
        })?;
        for load in self
            .loads
            .iter_mut()
            .filter(|load| load.tool == pgbench::TOOL)
        {
            load.files.push(progress.name.to_owned());
        }
        Ok(())
    }

    fn loads_of(&self, tool: Tool) -> Vec<usize> {
        let places = 0..self.loads.len();
        places
            .filter(|place| self.loads[*place].tool == tool)
            .collect()
    }

    /// A log carries the number of its job among those of one run.
    fn attach_fio(&mut self) -> Result<(), ImportError> {
        let outputs = self.loads_of(fio::TOOL);
        let mut by_load: BTreeMap<usize, Vec<FioLog>> = BTreeMap::new();
        let mut alone: BTreeMap<String, usize> = BTreeMap::new();
        for log in std::mem::take(&mut self.fio_logs) {
            let place = if outputs.is_empty() {
                *alone.entry(log.prefix.clone()).or_insert_with(|| {
                    self.loads.push(fio_log::alone(&log.prefix));
                    self.loads.len() - 1
                })
            } else {
                job_of(&self.loads, &outputs, &log)?
            };
            by_load.entry(place).or_default().push(log);
        }
        for (place, logs) in by_load {
            let load = &mut self.loads[place];
            let names: Vec<String> = logs.iter().map(|log| log.name.clone()).collect();
            fio_log::attach(load, &logs.iter().collect::<Vec<_>>()).map_err(|why| {
                ImportError::files(
                    names.join(", "),
                    why,
                    "Give the logs of one run, each of them once",
                )
            })?;
            load.files.extend(names);
        }
        Ok(())
    }

    /// All logs are of one run: each thread of pgbench writes its own.
    fn attach_pgbench(&mut self) -> Result<(), ImportError> {
        if self.transaction_logs.is_empty() {
            return Ok(());
        }
        refuse_second_log(&self.transaction_logs)?;
        let place = match self.loads_of(pgbench::TOOL).as_slice() {
            [] => {
                self.loads.push(pgbench_log::alone());
                self.loads.len() - 1
            }
            [one] => *one,
            _ => {
                return Err(ImportError::files(
                    "transaction logs with more than one run of pgbench",
                    "The logs do not show which run they belong to",
                    "Import each run with its own logs",
                ));
            }
        };
        let mut names = Vec::new();
        let mut all = Vec::new();
        for log in std::mem::take(&mut self.transaction_logs) {
            names.push(log.name);
            all.extend(log.lines);
        }
        let load = &mut self.loads[place];
        pgbench_log::attach(load, all, names.len())
            .map_err(|why| ImportError::files(names.join(", "), why, "Give the logs of one run"))?;
        load.files.extend(names);
        Ok(())
    }
}

/// The load of the job that a log numbers.
fn job_of(loads: &[ImportedLoad], outputs: &[usize], log: &FioLog) -> Result<usize, ImportError> {
    let is_only = outputs.len() == 1;
    let own: Vec<usize> = outputs
        .iter()
        .copied()
        .filter(|place| holds(&loads[*place], is_only, log))
        .collect();
    let why = match (own.as_slice(), log.job) {
        ([one], _) => return Ok(*one),
        (_, None) => {
            "It has no number of a job (per_job_logs=0): it holds lines of several jobs".to_owned()
        }
        ([], Some(number)) => format!("It is of job {number}, which is not in the output"),
        (_, Some(number)) => format!("It is of job {number}, and several runs have such a job"),
    };
    let advice = "Import the output of one run, with the logs of its jobs";
    Err(ImportError::files(&log.name, why, advice))
}

/// Without a number (`per_job_logs=0`) a log holds all jobs of its name.
fn holds(load: &ImportedLoad, is_only: bool, log: &FioLog) -> bool {
    let numbers = &load.logs.numbers;
    match log.job {
        Some(number) => {
            numbers.iter().any(|own| own.contains(&number)) || (is_only && numbers.is_empty())
        }
        None => is_only || load.workload == log.prefix,
    }
}
