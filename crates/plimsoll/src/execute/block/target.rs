//! What block I/O runs on: a directory on each medium, with a file for each worker, or a part of a device.

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use plimsoll_block::BlockError;
use plimsoll_block::arguments::{Part, of_file};
use plimsoll_block::device::overwrite_grant::OverwriteGrant;
use plimsoll_block::fio::{self, Fio, FioCommand, FioName, can_confine};
use plimsoll_block::layout::make_file;
use plimsoll_load::scratch::Scratch;
use plimsoll_plan::resolved::{Block, BlockStep, BlockWork, MediumKind};
use plimsoll_plan::{MediumId, PlacedName};
use plimsoll_record::message::EventKind;
use plimsoll_record::{Severity, SubjectId, SubjectKind};

use super::super::error::{RunError, StepResult};
use super::super::execution::Execution;
use super::permits::{device_permit, grant_job_file};

/// A step's files on its media. Removed by [`Execution::remove_target`].
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
    /// Of the scratch directories: fio finds them by these.
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
}

pub(super) fn failed(error: BlockError) -> RunError {
    match error {
        BlockError::Cancelled => RunError::Interrupted,
        other => RunError::failed(other.to_string()),
    }
}

impl Execution<'_> {
    /// Mounts or checks the media, creates directories and files, and fills the files.
    pub(super) fn prepare_target(
        &mut self,
        step: &BlockStep,
        block: &Block,
        media: &[MediumId],
    ) -> StepResult<BlockTarget> {
        let fio = fio::find().map_err(failed)?;
        let names: Vec<&str> = media
            .iter()
            .map(|medium| self.plan.medium(*medium).name.as_str())
            .collect();
        let name = names.join(" + ");
        let placed = PlacedName {
            name: "fio",
            medium: Some(&name),
        };
        let subject = self
            .file
            .subject(SubjectKind::System, &placed.to_string())?;
        self.file.facts(subject, &fio_facts(&fio))?;
        let mut target = BlockTarget {
            fio,
            subject,
            name,
            workers: Vec::new(),
            media: Vec::new(),
            job_text: None,
            permits: Vec::new(),
        };
        if let Some(job_file) = grant_job_file(block, self.overwrite).map_err(failed)? {
            target.job_text = Some(job_file.text);
            target.permits = job_file.grants;
        }
        for medium in media {
            self.add_medium(&mut target, block, *medium)?;
        }
        if matches!(block.work, BlockWork::Jobs(_)) {
            self.lay_out(step, block, &target)?;
        }
        Ok(target)
    }

    fn add_medium(
        &mut self,
        target: &mut BlockTarget,
        block: &Block,
        id: MediumId,
    ) -> StepResult<()> {
        let medium = self.plan.medium(id);
        if medium.kind == MediumKind::Device {
            return self.add_device(target, block, id);
        }
        let mounted = match medium.kind.emulated() {
            Some(drive) => self.mount(id, drive)?,
            None => false,
        };
        let drive = self.drives.get(&id).filter(|_| mounted);
        let mounts = drive.into_iter().flat_map(|own| own.disks.mounts());
        let mounts: Vec<PathBuf> = mounts.map(Path::to_owned).collect();
        let subject = self.describe_medium(id, mounted)?;
        let scratch = if mounts.is_empty() {
            let name = format!("{}-fio", self.run_id);
            vec![Scratch::create(Path::new(&medium.path), &name)?]
        } else {
            let on_disks = mounts.iter().map(|mount| Scratch::inside(mount, "fio"));
            on_disks.collect::<Result<_, _>>()?
        };
        let handles: Vec<OwnedFd> = scratch
            .iter()
            .map(Scratch::open)
            .collect::<Result<_, _>>()?;
        let directories = handles
            .iter()
            .map(|handle| PathBuf::from(format!("/proc/self/fd/{}", handle.as_raw_fd())));
        let directories: Vec<PathBuf> = directories.collect();
        target.media.push(TargetMedium {
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
            target.workers.push(Worker {
                medium: subject,
                part,
            });
        }
        Ok(())
    }

    /// Each worker has a part of the device to itself.
    fn add_device(
        &mut self,
        target: &mut BlockTarget,
        block: &Block,
        id: MediumId,
    ) -> StepResult<()> {
        let medium = self.plan.medium(id);
        let permit = device_permit(medium, block, self.overwrite).map_err(failed)?;
        let file = FioName::new(&permit.path).map_err(failed)?;
        let subject = self.describe_medium(id, false)?;
        let overwritten = EventKind::Overwritten {
            medium: medium.name.clone(),
            device: permit.path.display().to_string(),
            signatures: permit.signatures.clone(),
            partitions: permit.partitions.clone(),
        };
        self.record_event(Some(subject), Severity::Note, overwritten)?;
        target.media.push(TargetMedium {
            id,
            subject,
            scratch: Vec::new(),
            _handles: Vec::new(),
        });
        for number in 0..block.workers {
            let offset = u64::from(number) * block.size.0;
            let part = Part {
                directory: PathBuf::from("/"),
                file: file.clone(),
                offset,
                size: block.size.0,
            };
            target.workers.push(Worker {
                medium: subject,
                part,
            });
        }
        target.permits.push(permit);
        Ok(())
    }

    /// Removes what the step created. Errors on a drive whose emulator ended don't matter: its files are gone with it.
    pub(super) fn remove_target(&mut self, target: BlockTarget) -> StepResult<()> {
        for TargetMedium {
            id,
            subject,
            scratch,
            ..
        } in target.media
        {
            let removed = scratch.into_iter().map(Scratch::remove);
            match removed.fold(Ok(()), Result::and) {
                Err(error) if self.drive_lives(Some(id)) => {
                    let error = error.to_string();
                    let cleanup = EventKind::Cleanup { error };
                    self.record_event(Some(subject), Severity::Warning, cleanup)?;
                }
                _ => {}
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
