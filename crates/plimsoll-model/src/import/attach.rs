//! Files to loads: each output by its own reader, logs to the output that they belong to.

use super::fault::{ImportError, quoted};
use super::fio_log::{self, FioLog};
use super::load::ImportedLoad;
use super::pgbench_log::{self, Logged};
use super::{HostSamples, Source, Tool, detect};
use super::{diskspd, fio, go_tpc, hammerdb, iostat, mpstat, pgbench, sysbench, vdbench, vmstat};

/// Everything that the files hold.
#[derive(Default)]
pub(super) struct Read {
    pub loads: Vec<ImportedLoad>,
    pub host: Vec<HostSamples>,
    pub taken: Vec<(String, Tool)>,
    fio_logs: Vec<(String, FioLog)>,
    transactions: Vec<(String, Vec<Logged>)>,
}

pub(super) fn read(sources: &[Source<'_>]) -> Result<Read, ImportError> {
    let mut all = Read::default();
    for source in sources {
        let unknown = || ImportError::Unknown {
            file: source.name.to_owned(),
            found: quoted(source.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()),
        };
        let tool = source.tool.or_else(|| detect(source.name, source.text)).ok_or_else(unknown)?;
        all.taken.push((source.name.to_owned(), tool));
        all.one(source, tool).map_err(|fault| fault.of(source.name))?;
    }
    all.attach_fio()?;
    all.attach_pgbench()?;
    all.loads.iter_mut().for_each(ImportedLoad::note_what_is_missing);
    Ok(all)
}

impl Read {
    fn one(&mut self, source: &Source<'_>, tool: Tool) -> super::fault::Read<()> {
        let text = source.text.trim_start_matches('\u{feff}');
        let from = self.loads.len();
        match tool {
            Tool::Fio => self.loads.extend(fio::read(text)?),
            Tool::Sysbench => self.loads.push(sysbench::read(text)?),
            Tool::Pgbench => self.loads.push(pgbench::read(text)?),
            Tool::Hammerdb => self.loads.extend(hammerdb::read(text)?),
            Tool::GoTpc => self.loads.push(go_tpc::read(text)?),
            Tool::Vdbench => self.loads.extend(vdbench::read(text)?),
            Tool::Diskspd => self.loads.extend(diskspd::read(text)?),
            Tool::FioLog => self.fio_logs.push((source.name.to_owned(), fio_log::read(source.name, text)?)),
            Tool::PgbenchLog => self.transactions.push((source.name.to_owned(), pgbench_log::read(text)?)),
            Tool::Iostat => self.host(source, iostat::read(text)?),
            Tool::Vmstat => self.host(source, vmstat::read(text)?),
            Tool::Mpstat => self.host(source, mpstat::read(text)?),
        }
        self.loads[from..].iter_mut().for_each(|load| load.files = vec![source.name.to_owned()]);
        Ok(())
    }

    fn host(&mut self, source: &Source<'_>, samples: HostSamples) {
        self.host.push(HostSamples { file: source.name.to_owned(), ..samples });
    }

    /// A log names the number of its job among those of one output.
    fn attach_fio(&mut self) -> Result<(), ImportError> {
        let outputs: Vec<usize> = (0..self.loads.len()).filter(|i| self.loads[*i].tool == Tool::Fio).collect();
        let mut files: Vec<&String> = outputs.iter().flat_map(|i| &self.loads[*i].files).collect();
        files.dedup();
        if !self.fio_logs.is_empty() && files.len() > 1 {
            return Err(ImportError::Together(
                "logs of fio with more than one of its outputs: nothing says which of them they belong to\n\
                 Import each output with its own logs."
                    .into(),
            ));
        }
        let mut jobs: Vec<(usize, String)> =
            self.fio_logs.iter().map(|(_, log)| (log.job, log.prefix.clone())).collect();
        jobs.sort();
        jobs.dedup();
        for (job, prefix) in jobs {
            let own = self.fio_logs.iter().filter(|(_, log)| (log.job, &log.prefix) == (job, &prefix));
            let (names, logs): (Vec<String>, Vec<&FioLog>) = own.map(|(name, log)| (name.clone(), log)).unzip();
            let at = match outputs.as_slice() {
                [] => {
                    self.loads.push(fio_log::alone(&prefix));
                    self.loads.len() - 1
                }
                // Workers of one job have a log each, which together are the job's.
                [one] if job == 1 => *one,
                many => job.checked_sub(1).and_then(|at| many.get(at)).copied().ok_or_else(|| {
                    ImportError::Together(format!(
                        "{} is of job {job}, and the output tells of {} jobs by name\n\
                         Import logs of several workers without the output, or use log_unix_epoch=0 and group_reporting.",
                        names.join(", "),
                        many.len()
                    ))
                })?,
            };
            fio_log::attach(&mut self.loads[at], &logs);
            self.loads[at].files.extend(names);
        }
        Ok(())
    }

    /// All logs are of one run: each thread of pgbench writes its own.
    fn attach_pgbench(&mut self) -> Result<(), ImportError> {
        if self.transactions.is_empty() {
            return Ok(());
        }
        let outputs: Vec<usize> = (0..self.loads.len()).filter(|i| self.loads[*i].tool == Tool::Pgbench).collect();
        let at = match outputs.as_slice() {
            [] => {
                self.loads.push(pgbench_log::alone());
                self.loads.len() - 1
            }
            [one] => *one,
            _ => {
                return Err(ImportError::Together(
                    "transaction logs with more than one output of pgbench: nothing says which of them they belong to\n\
                     Import each output with its own logs."
                        .into(),
                ));
            }
        };
        let (names, logs): (Vec<String>, Vec<Vec<Logged>>) = std::mem::take(&mut self.transactions).into_iter().unzip();
        let file = names.join(", ");
        let together = |why: String| ImportError::Together(format!("{file}: {why}\nGive the logs of one run."));
        pgbench_log::attach(&mut self.loads[at], &logs.concat()).map_err(together)?;
        self.loads[at].files.extend(names);
        Ok(())
    }
}
