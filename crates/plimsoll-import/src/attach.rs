//! Reads each file with the parser of its tool, and attaches logs to the output that they belong to.

use std::collections::BTreeMap;

use super::fault::{ImportError, quoted};
use super::fio_log::{self, FioLog};
use super::load::ImportedLoad;
use super::pgbench_log::{self, Logged};
use super::{HostSamples, Source, Tool, detect};
use super::{
    diskspd, fio, go_tpc, hammerdb, iostat, mpstat, pgbench, sysbench, sysstat_json, vdbench,
    vmstat,
};

/// The content of all files.
#[derive(Default)]
pub(super) struct ParsedFiles {
    pub loads: Vec<ImportedLoad>,
    pub host: Vec<HostSamples>,
    pub taken: Vec<(String, Tool)>,
    fio_logs: Vec<FioLog>,
    transactions: Vec<(String, Vec<Logged>)>,
}

pub(super) fn read(sources: &[Source<'_>]) -> Result<ParsedFiles, ImportError> {
    let mut all = ParsedFiles::default();
    for (i, source) in sources.iter().enumerate() {
        let unknown = || ImportError::Unknown {
            file: source.name.to_owned(),
            found: quoted(
                source
                    .text
                    .lines()
                    .find(|line| !line.trim().is_empty())
                    .unwrap_or_default(),
            ),
        };
        let tool = source
            .tool
            .or_else(|| detect(source.name, source.text))
            .ok_or_else(unknown)?;
        if !matches!(tool, Tool::FioLog | Tool::PgbenchLog) {
            refuse_copy(source, &sources[..i])?;
        }
        all.taken.push((source.name.to_owned(), tool));
        all.one(source, tool)
            .map_err(|fault| fault.of(source.name))?;
    }
    all.attach_fio()?;
    all.attach_pgbench()?;
    all.loads
        .iter_mut()
        .for_each(ImportedLoad::note_what_is_missing);
    Ok(all)
}

/// One output given twice would count as two repeats. Logs of two workers may be alike.
fn refuse_copy(source: &Source<'_>, before: &[Source<'_>]) -> Result<(), ImportError> {
    let Some(first) = before
        .iter()
        .find(|first| first.text.trim() == source.text.trim())
    else {
        return Ok(());
    };
    let text = format!(
        "{} and {} hold the same output\nGive each output once.",
        first.name, source.name
    );
    Err(ImportError::Together(text))
}

/// A log given twice, or logs of two runs.
fn refuse_second_log(logs: &[(String, Vec<Logged>)]) -> Result<(), ImportError> {
    let mut known: BTreeMap<u64, &str> = BTreeMap::new();
    for (name, log) in logs {
        for client in pgbench_log::clients(log) {
            if let Some(first) = known.insert(client, name) {
                return Err(ImportError::Together(format!(
                    "{first} and {name} both hold transactions of client {client}: in one run only one log does\n\
                     Give the logs of one run, and each of them once."
                )));
            }
        }
    }
    Ok(())
}

impl ParsedFiles {
    fn one(&mut self, source: &Source<'_>, tool: Tool) -> super::fault::Read<()> {
        let text = source.text.trim_start_matches('\u{feff}');
        let from = self.loads.len();
        match tool {
            Tool::Fio => self.loads.extend(fio::read(text)?),
            Tool::Sysbench => self.loads.extend(sysbench::read(text)?),
            Tool::Pgbench => self.loads.extend(pgbench::read(text)?),
            Tool::Hammerdb => self.loads.extend(hammerdb::read(text)?),
            Tool::GoTpc => self.loads.extend(go_tpc::read(text)?),
            Tool::Vdbench => self.loads.extend(vdbench::read(text)?),
            Tool::Diskspd => self.loads.extend(diskspd::read(text)?),
            Tool::FioLog => self.fio_logs.push(fio_log::read(source.name, text)?),
            Tool::PgbenchLog => self
                .transactions
                .push((source.name.to_owned(), pgbench_log::read(text)?)),
            Tool::Iostat | Tool::Mpstat if text.trim_start().starts_with('{') => {
                self.host(source, sysstat_json::read(tool, text)?)
            }
            Tool::Iostat => self.host(source, iostat::read(text)?),
            Tool::Vmstat => self.host(source, vmstat::read(text)?),
            Tool::Mpstat => self.host(source, mpstat::read(text)?),
        }
        self.loads[from..]
            .iter_mut()
            .for_each(|load| load.files = vec![source.name.to_owned()]);
        Ok(())
    }

    fn host(&mut self, source: &Source<'_>, samples: HostSamples) {
        self.host.push(HostSamples {
            file: source.name.to_owned(),
            ..samples
        });
    }

    /// A log carries the number of its job among those of one run.
    fn attach_fio(&mut self) -> Result<(), ImportError> {
        let outputs: Vec<usize> = (0..self.loads.len())
            .filter(|i| self.loads[*i].tool == Tool::Fio)
            .collect();
        let logs = std::mem::take(&mut self.fio_logs);
        let mut by_load: BTreeMap<usize, Vec<FioLog>> = BTreeMap::new();
        let mut alone: BTreeMap<String, usize> = BTreeMap::new();
        for log in logs {
            let at = match outputs.as_slice() {
                [] => *alone.entry(log.prefix.clone()).or_insert_with(|| {
                    self.loads.push(fio_log::alone(&log.prefix));
                    self.loads.len() - 1
                }),
                outputs => job_of(&self.loads, outputs, &log)?,
            };
            by_load.entry(at).or_default().push(log);
        }
        for (at, logs) in by_load {
            let load = &mut self.loads[at];
            let together = |why| {
                ImportError::Together(format!(
                    "{why}\nGive the logs of one run, each of them once."
                ))
            };
            fio_log::attach(load, &logs.iter().collect::<Vec<_>>()).map_err(together)?;
            load.files.extend(logs.into_iter().map(|log| log.name));
        }
        Ok(())
    }

    /// All logs are of one run: each thread of pgbench writes its own.
    fn attach_pgbench(&mut self) -> Result<(), ImportError> {
        if self.transactions.is_empty() {
            return Ok(());
        }
        refuse_second_log(&self.transactions)?;
        let outputs: Vec<usize> = (0..self.loads.len())
            .filter(|i| self.loads[*i].tool == Tool::Pgbench)
            .collect();
        let at = match outputs.as_slice() {
            [] => {
                self.loads.push(pgbench_log::alone());
                self.loads.len() - 1
            }
            [one] => *one,
            _ => {
                return Err(ImportError::Together(
                    "transaction logs with more than one run of pgbench: the logs do not show which run they belong to\n\
                     Import each run with its own logs."
                        .into(),
                ));
            }
        };
        let (names, logs): (Vec<String>, Vec<Vec<Logged>>) =
            std::mem::take(&mut self.transactions).into_iter().unzip();
        let files = logs.len();
        let mut logs = logs.into_iter();
        let mut all = logs.next().unwrap_or_default();
        logs.for_each(|more| all.extend(more));
        let file = names.join(", ");
        let together = |why: String| {
            ImportError::Together(format!("{file}: {why}\nGive the logs of one run."))
        };
        pgbench_log::attach(&mut self.loads[at], all, files).map_err(together)?;
        self.loads[at].files.extend(names);
        Ok(())
    }
}

/// The load of the job that a log numbers. Without a number (`per_job_logs=0`) a log holds all jobs of its name.
fn job_of(loads: &[ImportedLoad], outputs: &[usize], log: &FioLog) -> Result<usize, ImportError> {
    let is_only = outputs.len() == 1;
    let holds = |at: &&usize| {
        let numbers = &loads[**at].logs.numbers;
        match log.job {
            Some(number) => {
                numbers.iter().any(|own| own.contains(&number)) || (is_only && numbers.is_empty())
            }
            None => is_only || loads[**at].workload == log.prefix,
        }
    };
    let own: Vec<usize> = outputs.iter().filter(holds).copied().collect();
    let name = &log.name;
    let why = match (own.as_slice(), log.job) {
        ([one], _) => return Ok(*one),
        (_, None) => format!(
            "{name} has no number of a job (per_job_logs=0): it holds lines of several jobs"
        ),
        ([], Some(number)) => format!("{name} is of job {number}, which is not in the output"),
        (_, Some(number)) => format!("{name} is of job {number}, and several runs have such a job"),
    };
    Err(ImportError::Together(format!(
        "{why}\nImport the output of one run, with the logs of its jobs."
    )))
}
