//! What block I/O runs on: a directory on each medium, with a file for each worker, or a part of a device.

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use plimsoll_block::BlockError;
use plimsoll_block::arguments::{Part, of_file};
use plimsoll_block::device::overwrite_grant::OverwriteGrant;
use plimsoll_block::fio::{self, Fio, FioCommand, FioName, can_confine};
use plimsoll_block::layout::make_file;
use plimsoll_load::scratch::Scratch;
use plimsoll_plan::resolved::{Block, BlockWork, MediumKind};
use plimsoll_plan::{MediumId, PlacedName};
use plimsoll_record::message::EventKind;
use plimsoll_record::{Severity, SubjectId, SubjectKind};

use super::super::drives::Drives;
use super::super::error::{RunError, StepResult};
use super::super::log::RunLog;
use super::super::run::RunContext;
use super::permits::{device_permit, grant_job_file};

/// A step's files on its media. Removed by [`BlockTarget::remove`].
pub(super) struct BlockTarget {
    pub fio: Fio,
    /// Stands for fio on these media.
    pub subject: SubjectId,
    /// Joined by ` + ` where there are several.
    pub name: String,
    pub workers: Vec<Worker>,
    media: Vec<TargetMedium>,
    /// A job file that was checked.
    job_text: Option<String>,
    /// Devices and files of others that may be overwritten; locked meanwhile.
    permits: Vec<OverwriteGrant>,
}

pub(super) struct Worker {
    pub medium: SubjectId,
    pub part: Part,
}

struct TargetMedium {
    id: MediumId,
    subject: SubjectId,
    /// One on each disk; a device has none.
    scratch: Vec<Scratch>,
    /// Handles of the scratch directories: fio finds them by these.
    _handles: Vec<OwnedFd>,
}

impl BlockTarget {
    /// The medium, unless there are several at once.
    pub fn only_medium(&self) -> Option<SubjectId> {
        if let [only] = &self.media[..] {
            Some(only.subject)
        } else {
            None
        }
    }

    /// fio with the job file, in the directory of a worker.
    pub fn job_file_command(&self, worker: &Worker) -> FioCommand {
        let granted = self.permits.iter().map(|permit| permit.path.clone());
        FioCommand {
            args: of_file(),
            directory: Some(worker.part.directory.clone()),
            input: self.job_text.clone(),
            writable: std::iter::once(worker.part.directory.clone())
                .chain(granted)
                .collect(),
        }
    }

    pub fn media(&self) -> impl Iterator<Item = MediumId> {
        self.media.iter().map(|medium| medium.id)
    }

    /// Why the emulator of one of the target's drives ended.
    pub fn drive_death(&self, drives: &Drives<'_>) -> Option<String> {
        self.media().find_map(|medium| drives.died(Some(medium)))
    }
}

pub(super) fn failed(error: BlockError) -> RunError {
    match error {
        BlockError::Cancelled => RunError::Interrupted,
        other => RunError::failed(other.to_string()),
    }
}

impl BlockTarget {
    /// Mounts or checks the media, creates directories and files.
    pub fn prepare(
        run: RunContext<'_>,
        drives: &mut Drives<'_>,
        block: &Block,
        media: &[MediumId],
    ) -> StepResult<Self> {
        let fio = fio::find().map_err(failed)?;
        let names: Vec<&str> = media
            .iter()
            .map(|medium| run.plan().medium(*medium).name.as_str())
            .collect();
        let name = names.join(" + ");
        let placed = PlacedName {
            name: "fio",
            medium: Some(&name),
        };
        let subject = run.log.subject(SubjectKind::System, &placed.to_string())?;
        run.log.file().facts(subject, &fio_facts(&fio))?;
        let mut target = Self {
            fio,
            subject,
            name,
            workers: Vec::new(),
            media: Vec::new(),
            job_text: None,
            permits: Vec::new(),
        };
        if let Some(job_file) = grant_job_file(block, &run.job.overwrite).map_err(failed)? {
            target.job_text = Some(job_file.text);
            target.permits = job_file.grants;
        }
        for medium in media {
            match run.plan().medium(*medium).kind {
                MediumKind::Device => target.add_device(run, drives, block, *medium)?,
                MediumKind::Directory | MediumKind::Emulated(_) => {
                    target.add_directories(run, drives, block, *medium)?;
                }
            }
        }
        Ok(target)
    }

    /// Each worker has a file in a directory of the medium.
    fn add_directories(
        &mut self,
        run: RunContext<'_>,
        drives: &mut Drives<'_>,
        block: &Block,
        id: MediumId,
    ) -> StepResult<()> {
        let subject = drives.prepare(id)?;
        let mounts = drives.mounts(id);
        let scratch = if mounts.is_empty() {
            let path = Path::new(&run.plan().medium(id).path);
            vec![Scratch::create(path, &format!("{}-fio", run.job.run_id))?]
        } else {
            let on_disks = mounts.iter().map(|mount| Scratch::inside(mount, "fio"));
            on_disks.collect::<Result<_, _>>()?
        };
        let handles: Vec<OwnedFd> = scratch
            .iter()
            .map(Scratch::open)
            .collect::<Result<_, _>>()?;
        let directories: Vec<PathBuf> = handles
            .iter()
            .map(|handle| PathBuf::from(format!("/proc/self/fd/{}", handle.as_raw_fd())))
            .collect();
        self.media.push(TargetMedium {
            id,
            subject,
            scratch,
            _handles: handles,
        });
        // Workers go to virtual disks in turn.
        for (number, directory) in (1..=block.workers).zip(directories.iter().cycle()) {
            let name = format!("worker-{number}");
            if matches!(block.work, BlockWork::Jobs(_)) {
                make_file(&directory.join(&name), block.size.0).map_err(failed)?;
            }
            let part = Part {
                directory: directory.clone(),
                file: FioName::new(Path::new(&name)).map_err(failed)?,
                offset: 0,
                size: block.size.0,
            };
            let medium = subject;
            self.workers.push(Worker { medium, part });
        }
        Ok(())
    }

    /// Each worker has a part of the device to itself.
    fn add_device(
        &mut self,
        run: RunContext<'_>,
        drives: &mut Drives<'_>,
        block: &Block,
        id: MediumId,
    ) -> StepResult<()> {
        let medium = run.plan().medium(id);
        let permit = device_permit(medium, block, &run.job.overwrite).map_err(failed)?;
        let file = FioName::new(&permit.path).map_err(failed)?;
        let subject = drives.prepare(id)?;
        let overwritten = EventKind::Overwritten {
            medium: medium.name.clone(),
            device: permit.path.display().to_string(),
            signatures: permit.signatures.clone(),
            partitions: permit.partitions.clone(),
        };
        run.log.event(Some(subject), Severity::Note, overwritten)?;
        self.media.push(TargetMedium {
            id,
            subject,
            scratch: Vec::new(),
            _handles: Vec::new(),
        });
        for number in 0..block.workers {
            let part = Part {
                directory: PathBuf::from("/"),
                file: file.clone(),
                offset: u64::from(number) * block.size.0,
                size: block.size.0,
            };
            let medium = subject;
            self.workers.push(Worker { medium, part });
        }
        self.permits.push(permit);
        Ok(())
    }

    /// Removes what the step created. Errors on a drive whose emulator ended don't matter: its files are gone with it.
    pub fn remove(self, log: &RunLog, drives: &Drives<'_>) -> StepResult<()> {
        for medium in self.media {
            let removed = medium.scratch.into_iter().map(Scratch::remove);
            let removed = removed.fold(Ok(()), Result::and);
            if let Err(error) = removed
                && drives.died(Some(medium.id)).is_none()
            {
                log.cleanup_failed(medium.subject, vec![error.to_string()])?;
            }
        }
        Ok(())
    }
}

fn fio_facts(fio: &Fio) -> Vec<(String, String)> {
    let confined = if can_confine() { "landlock" } else { "no" };
    vec![
        ("version".into(), fio.version.clone()),
        ("engine".into(), fio.engine.name().into()),
        ("confined".into(), confined.into()),
    ]
}
