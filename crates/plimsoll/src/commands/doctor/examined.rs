//! What the doctor checks: a path, or each medium of a plan; emulated drives are mounted for it and unmounted again.

use std::path::{Path, PathBuf};

use plimsoll_block::BlockError;
use plimsoll_block::device::evidence::{StorageTarget, target};
use plimsoll_block::doctor::checks;
use plimsoll_block::doctor::evidence::{KnownDrive, MediumEvidence, SyncOutcome, SyncTest};
use plimsoll_block::doctor::gather::{self, GatherOptions};
use plimsoll_block::host::mount::mount_of;
use plimsoll_block::host::source::KernelFiles;
use plimsoll_drive::catalog;
use plimsoll_drive::emulate::Child;
use plimsoll_drive::emulate::cut::which;
use plimsoll_plan::Parsed;
use plimsoll_plan::resolved::{EmulatedDrive, Medium};
use plimsoll_record::Diagnosis;
use plimsoll_record::message::DoctorFinding;

use crate::cli::DoctorArgs;
use crate::commands::run::parse_plan;
use crate::execute::{PreparedDrive, prepare_drive, program};
use crate::failure::Failure;
use crate::{drive_file, known};

/// One medium and what was found there.
pub struct Examined {
    pub name: String,
    /// `directory /srv`.
    pub kind: String,
    pub findings: Vec<Diagnosis>,
    pub sync: Option<SyncTest>,
}

/// A target of the doctor.
pub enum DoctorSubject {
    Path {
        name: String,
        path: PathBuf,
        is: Option<KnownDrive>,
        write: bool,
    },
    Emulated {
        medium: Medium,
        drive: EmulatedDrive,
        seed: u64,
    },
}

/// Those that the command line means.
pub fn of(args: &DoctorArgs) -> Result<Vec<DoctorSubject>, Failure> {
    let is_plan = args.target.extension().is_some_and(|end| end == "toml") && !args.target.is_dir();
    if !is_plan {
        let is = args
            .drive
            .as_deref()
            .map(drive_file::read)
            .transpose()?
            .map(|spec| known::known(&spec));
        let path = args.target.clone();
        refuse_writes(&path, args.write)?;
        return Ok(vec![DoctorSubject::Path {
            name: path.display().to_string(),
            path,
            is,
            write: args.write,
        }]);
    }
    if args.drive.is_some() {
        return Err(Failure::usage(
            "--drive describes one drive, and a plan has several media\nGive the medium's path.",
        ));
    }
    let Parsed { plan, .. } = parse_plan(&args.target, &drive_file::options())?;
    let seed = plan.data_seed;
    let subjects: Vec<DoctorSubject> = plan
        .media
        .into_iter()
        .map(|medium| match medium.kind.emulated().cloned() {
            Some(drive) => DoctorSubject::Emulated {
                medium,
                drive,
                seed,
            },
            None => DoctorSubject::Path {
                name: medium.name,
                path: medium.path.into(),
                is: None,
                write: args.write,
            },
        })
        .collect();
    if subjects.is_empty() {
        return Err(Failure::usage(format!(
            "the plan {} has no medium: its systems keep their data elsewhere\nRun doctor where they do.",
            args.target.display()
        )));
    }
    Ok(subjects)
}

/// Only a file of plimsoll's own is ever written, in a directory.
fn refuse_writes(path: &Path, write: bool) -> Result<(), Failure> {
    match target(path).map_err(refused)? {
        StorageTarget::Device(_) | StorageTarget::File(_) if write => Err(Failure::usage(format!(
            "{} would lose what it holds: --write makes a file of its own in a directory\nGive a directory on it, or leave \
             out --write.",
            path.display()
        ))),
        _ => Ok(()),
    }
}

fn refused(error: BlockError) -> Failure {
    Failure::usage(error.to_string())
}

impl DoctorSubject {
    pub fn name(&self) -> String {
        match self {
            Self::Path { name, .. } => name.clone(),
            Self::Emulated { medium, .. } => medium.name.clone(),
        }
    }

    pub fn examine(self, options: &GatherOptions<'_>) -> Result<Examined, Failure> {
        let name = self.name();
        match self {
            Self::Path {
                path, is, write, ..
            } => {
                // An emulated drive reports its model, as a real one does.
                let is = is.or_else(|| mounted_by_hand(&path));
                let look = if write {
                    gather::medium_with_writes
                } else {
                    gather::medium
                };
                let mut evidence = look(
                    &path,
                    &GatherOptions {
                        is: is.as_ref(),
                        ..*options
                    },
                )
                .map_err(refused)?;
                if evidence.sync.is_none() {
                    evidence.sync = Some(untested(&evidence.target, &path));
                }
                let kind = kind(&evidence.target);
                let shown = path.display().to_string();
                Ok(examined(
                    &name,
                    if name == shown {
                        kind.into()
                    } else {
                        format!("{kind} {shown}")
                    },
                    evidence,
                ))
            }
            Self::Emulated {
                medium,
                drive,
                seed,
            } => {
                let evidence = mounted(&medium, &drive, seed, options)?;
                Ok(examined(
                    &name,
                    format!("{}, emulated", drive.drive),
                    evidence,
                ))
            }
        }
    }
}

fn untested(target: &StorageTarget, path: &Path) -> SyncOutcome {
    let directory = match target {
        StorageTarget::Directory(_) => Some(path.display().to_string()),
        StorageTarget::File(_) | StorageTarget::Device(_) => None,
    };
    SyncOutcome::Untested(DoctorFinding::FlushUntested { directory })
}

fn kind(target: &StorageTarget) -> &'static str {
    match target {
        StorageTarget::Directory(_) => "directory",
        StorageTarget::Device(_) => "device",
        StorageTarget::File(_) => "file",
    }
}

fn examined(name: &str, kind: String, evidence: MediumEvidence) -> Examined {
    let findings = checks::medium(&evidence);
    let sync = match evidence.sync {
        Some(SyncOutcome::Tested(test)) => Some(test),
        _ => None,
    };
    Examined {
        name: name.into(),
        kind,
        findings,
        sync,
    }
}

/// The drive of `plimsoll drive mount` that holds a path.
fn mounted_by_hand(path: &Path) -> Option<KnownDrive> {
    let mount = mount_of(&KernelFiles::new("/"), &path.canonicalize().ok()?)?;
    let which = which(&mount.point)?;
    let spec = catalog::load(&which.id, &which.drive).ok()?;
    Some(known::emulated(&spec, which.capacity, which.fill, 1))
}

/// Mounts a medium's drive, checks it, tests it, and unmounts it.
fn mounted(
    medium: &Medium,
    drive: &EmulatedDrive,
    seed: u64,
    options: &GatherOptions<'_>,
) -> Result<MediumEvidence, Failure> {
    let failed =
        |error: &dyn std::fmt::Display| Failure::run(format!("medium {}: {error}", medium.name));
    let id = format!("doctor-{}", std::process::id());
    let PreparedDrive {
        scratch,
        spec,
        task,
    } = prepare_drive(&id, seed, medium, drive).map_err(|error| failed(&error))?;
    let is = known::emulated(&spec, task.capacity, task.fill, seed);
    // Its messages of each second are for reports.
    let started = Child::start(&program().map_err(|error| failed(&error))?, &task, |_| {});
    let (child, ready) = started.map_err(|error| failed(&error))?;
    // Only plimsoll uses it: other load is not measured.
    let options = GatherOptions {
        is: Some(&is),
        quiet: None,
        ..*options
    };
    let evidence =
        gather::medium_with_writes(&ready.path, &options).map_err(|error| failed(&error));
    child.stop().map_err(|error| failed(&error))?;
    drop(child);
    scratch.remove()?;
    evidence
}
