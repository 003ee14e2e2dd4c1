//! Resets a data set, so that every point of a ladder finds the same data.

use std::fs;
use std::path::{Path, PathBuf};

use plimsoll_plan::resolved::{ResetMethod, Workload};
use plimsoll_plan::units::Bytes;
use plimsoll_record::message::ResetCheck;
use plimsoll_record::receipt::CommitCounts;

use super::{Instance, InstanceKind};
use crate::engine::server::TemplateTask;
use crate::engine::{ConditionResult, LoadControl};
use crate::error::LoadError;
use crate::scratch::copy::{DataDirectory, copy_tree, put_back};
use crate::scratch::{data_size, io_error};

/// The state that a system's data are brought back to.
#[derive(Debug)]
pub struct InitialState {
    way: Way,
    size: Bytes,
    evidence: ResetEvidence,
}

#[derive(Debug)]
enum Way {
    /// A copy of the data directory, beside it.
    Files(PathBuf),
    /// A database that no session uses.
    Template,
    Reload,
}

/// What is compared after a reset: what transactions left.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ResetEvidence {
    Commits(CommitCounts),
    /// What the conditions counted.
    Verdicts(Vec<ConditionResult>),
}

/// What a reset did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    pub method: ResetMethod,
    pub from: Bytes,
    pub to: Bytes,
    /// What was compared.
    pub verified: ResetCheck,
}

impl Instance {
    /// Keeps the data as they are now. No session may use them meanwhile; a server of plimsoll's own may be stopped and
    /// started for it. `None` for a system without data.
    pub fn keep_first_state(
        &self,
        method: ResetMethod,
        workload: &Workload,
        control: &LoadControl,
    ) -> Result<Option<InitialState>, LoadError> {
        let Some(method) = self.method(method)? else {
            return Ok(None);
        };
        let size = self.size()?;
        let evidence = self.evidence(workload)?;
        let way = match method {
            ResetMethod::Template => {
                self.template(TemplateTask::Keep)?;
                Way::Template
            }
            ResetMethod::Files => Way::Files(self.keep_files(control)?),
            ResetMethod::Reload | ResetMethod::Auto => Way::Reload,
        };
        Ok(Some(InitialState {
            way,
            size,
            evidence,
        }))
    }

    /// Brings the data back, and compares them with what was kept. No session may use them meanwhile.
    pub fn reset(
        &self,
        first: &InitialState,
        (workload, seed): (&Workload, u64),
        verify: bool,
        control: &LoadControl,
    ) -> Result<Restored, LoadError> {
        let from = self.size()?;
        let method = match &first.way {
            Way::Files(copy) => {
                self.put_files_back(copy, control)?;
                ResetMethod::Files
            }
            Way::Template => {
                self.template(TemplateTask::Restore)?;
                ResetMethod::Template
            }
            Way::Reload => {
                self.forget()?;
                self.load(workload, seed, control)?;
                ResetMethod::Reload
            }
        };
        control.check()?;
        let verified = self.verify(first, workload, verify)?;
        Ok(Restored {
            method,
            from,
            to: self.size()?,
            verified,
        })
    }

    /// The method that the system has, if it can be reset at all.
    fn method(&self, wanted: ResetMethod) -> Result<Option<ResetMethod>, LoadError> {
        let (what, has): (_, &[ResetMethod]) = match &self.0 {
            InstanceKind::Mock(_) => return Ok(None),
            InstanceKind::Sqlite { .. } => ("SQLite", &[ResetMethod::Files, ResetMethod::Reload]),
            InstanceKind::Managed(server) if server.has_templates() => (
                "this server",
                &[
                    ResetMethod::Files,
                    ResetMethod::Template,
                    ResetMethod::Reload,
                ],
            ),
            InstanceKind::Managed(_) => ("this server", &[ResetMethod::Files, ResetMethod::Reload]),
            InstanceKind::Existing(_) => ("an existing server", &[ResetMethod::Reload]),
            InstanceKind::DatabaseCopy(_) => ("a restored database", &[]),
        };
        match wanted {
            ResetMethod::Auto => Ok(has.first().copied()),
            wanted if has.contains(&wanted) => Ok(Some(wanted)),
            wanted => {
                let names: Vec<&str> = has.iter().map(|method| method.name()).collect();
                let why = format!(
                    "{what} has {}; leave `reset_by` out for the fastest",
                    names.join(", ")
                );
                Err(LoadError::other(
                    format!("reset_by = \"{}\"", wanted.name()),
                    why,
                ))
            }
        }
    }

    /// Of the data, as the reset compares them.
    fn size(&self) -> Result<Bytes, LoadError> {
        match (self.data_dir(), &self.0) {
            (Some(dir), _) => data_size(&dir).map_err(|(path, error)| io_error(&path, &error)),
            (None, InstanceKind::Existing(target)) => Ok(target.facts()?.database_size),
            (None, _) => Ok(Bytes(0)),
        }
    }

    /// The directory of a system whose files are plimsoll's.
    pub(super) fn data_dir(&self) -> Option<PathBuf> {
        match &self.0 {
            InstanceKind::Sqlite { path, .. } => path.parent().map(Path::to_owned),
            InstanceKind::Managed(server) => Some(server.process().data_dir().to_owned()),
            InstanceKind::Mock(_) | InstanceKind::Existing(_) | InstanceKind::DatabaseCopy(_) => {
                None
            }
        }
    }

    pub(super) fn files(&self) -> Result<PathBuf, LoadError> {
        self.data_dir()
            .ok_or_else(|| LoadError::other("the system", "has no files of plimsoll's"))
    }

    fn data_directory<'a>(&'a self, path: &'a Path) -> DataDirectory<'a> {
        match &self.0 {
            InstanceKind::Managed(server) => server.process().context.data_directory(),
            _ => path.into(),
        }
    }

    fn keep_files(&self, control: &LoadControl) -> Result<PathBuf, LoadError> {
        let data = self.files()?;
        let copy = data.with_file_name("first-state");
        if copy.exists() {
            fs::remove_dir_all(&copy).map_err(|error| io_error(&copy, &error))?;
        }
        self.without_server(control, &|| {
            copy_tree(self.data_directory(&data), &copy, &|| control.check()).map(drop)
        })?;
        Ok(copy)
    }

    fn put_files_back(&self, copy: &Path, control: &LoadControl) -> Result<(), LoadError> {
        let data = self.files()?;
        self.without_server(control, &|| {
            put_back(copy.into(), self.data_directory(&data), &|| control.check()).map(drop)
        })
    }

    /// Stops a server of plimsoll's own in good order, and starts it again if `work` went well.
    fn without_server(
        &self,
        control: &LoadControl,
        work: &dyn Fn() -> Result<(), LoadError>,
    ) -> Result<(), LoadError> {
        let InstanceKind::Managed(server) = &self.0 else {
            return work();
        };
        server.process().end()?;
        work()?;
        server.restart(&|| control.is_cancelled())
    }

    fn template(&self, task: TemplateTask) -> Result<(), LoadError> {
        match &self.0 {
            InstanceKind::Managed(server) => server
                .template(task)
                .map_err(|error| server.process().explain(error)),
            _ => Err(LoadError::other("the system", "has no templates")),
        }
    }

    /// Makes the next load begin anew although the data are there.
    fn forget(&self) -> Result<(), LoadError> {
        match &self.0 {
            InstanceKind::Mock(_) => Ok(()),
            InstanceKind::Sqlite { path, .. } => crate::engine::sqlite::forget(path),
            InstanceKind::Managed(server) => server.target().forget(),
            InstanceKind::Existing(target) => target.forget(),
            InstanceKind::DatabaseCopy(copy) => copy.target().forget(),
        }
    }

    fn evidence(&self, workload: &Workload) -> Result<ResetEvidence, LoadError> {
        Ok(match workload {
            Workload::Tpcc(_) => ResetEvidence::Commits(self.commit_counts()?),
            Workload::Sysbench(_) => ResetEvidence::Verdicts(self.check(workload.into())?),
        })
    }

    fn verify(
        &self,
        first: &InitialState,
        workload: &Workload,
        conditions: bool,
    ) -> Result<ResetCheck, LoadError> {
        let wrong = |why: String| {
            LoadError::other(
                "the data set after its reset",
                format!("{why}: do not use it"),
            )
        };
        let evidence = self.evidence(workload)?;
        if evidence != first.evidence {
            return Err(wrong(
                "what transactions have left is not what was there at first".into(),
            ));
        }
        let verdicts = match evidence {
            ResetEvidence::Verdicts(verdicts) => verdicts,
            ResetEvidence::Commits(_) if conditions => self.check(workload.into())?,
            ResetEvidence::Commits(_) => Vec::new(),
        };
        if let Some(broken) = verdicts.iter().find(|verdict| !verdict.holds) {
            return Err(wrong(format!("condition {} does not hold", broken.clause)));
        }
        let conditions = (!verdicts.is_empty()).then_some(verdicts.len() as u64);
        Ok(ResetCheck::AsAtFirst {
            bytes: first.size.0,
            conditions,
        })
    }
}
