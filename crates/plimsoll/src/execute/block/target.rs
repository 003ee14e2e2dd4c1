//! What block I/O runs on: a directory on each medium, with a file for each worker, or a part of a device.

use std::path::{Path, PathBuf};

use plimsoll_block::BlockError;
use plimsoll_block::arguments::Part;
use plimsoll_block::device::overwrite_grant::OverwriteGrant;
use plimsoll_block::fio::{self, Fio};
use plimsoll_block::layout::make_file;
use plimsoll_load::scratch::Scratch;
use plimsoll_plan::resolved::{Block, BlockStep, BlockWork, Medium, MediumKind};
use plimsoll_record::message::EventKind;
use plimsoll_record::{Severity, SubjectId, SubjectKind};

use super::super::error::{RunError, StepResult, unresolved};
use super::super::execution::Execution;
use super::permits::{device_permit, job_file_permits};

/// A step's files on its media. Removed by [`Execution::remove_target`].
pub(super) struct BlockTarget {
    pub fio: Fio,
    /// Stands for fio on these media.
    pub subject: SubjectId,
    /// Joined by ` + ` where there are several.
    pub name: String,
    pub workers: Vec<Worker>,
    media: Vec<TargetMedium>,
    /// Devices and files of others that may be overwritten; locked meanwhile.
    permits: Vec<OverwriteGrant>,
}

pub(super) struct Worker {
    pub medium: SubjectId,
    pub part: Part,
    /// The step's own directory on the medium.
    pub directory: PathBuf,
}

struct TargetMedium {
    medium: SubjectId,
    name: String,
    /// A device has none.
    scratch: Option<Scratch>,
}

impl BlockTarget {
    /// The medium, unless there are several at once.
    pub fn only_medium(&self) -> Option<SubjectId> {
        if let [only] = &self.media[..] {
            Some(only.medium)
        } else {
            None
        }
    }

    pub fn media(&self) -> impl Iterator<Item = &str> {
        self.media.iter().map(|site| site.name.as_str())
    }
}

pub(super) fn failed(error: BlockError) -> RunError {
    match error {
        BlockError::Cancelled => RunError::Interrupted,
        other => RunError::Failed(other.to_string()),
    }
}

impl Execution<'_> {
    /// Mounts or checks the media, creates directories and files, and fills the files.
    pub(super) fn prepare_target(
        &mut self,
        step: &BlockStep,
        block: &Block,
        media: &[&str],
    ) -> StepResult<BlockTarget> {
        let fio = fio::find().map_err(failed)?;
        let name = media.join(" + ");
        let subject = self
            .file
            .subject(SubjectKind::System, &format!("fio@{name}"))?;
        self.file.facts(subject, &fio_facts(&fio))?;
        let mut target = BlockTarget {
            fio,
            subject,
            name,
            workers: Vec::new(),
            media: Vec::new(),
            permits: Vec::new(),
        };
        target.permits = job_file_permits(block, self.overwrite).map_err(failed)?;
        for medium in media {
            let plan = self.plan;
            let medium = plan
                .medium(medium)
                .ok_or_else(|| unresolved("medium", medium))?;
            self.add_medium(&mut target, block, medium)?;
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
        medium: &Medium,
    ) -> StepResult<()> {
        if medium.kind == MediumKind::Device {
            return self.add_device(target, block, medium);
        }
        let mounted = match medium.kind.emulated() {
            Some(drive) => self.mount(medium, drive)?,
            None => false,
        };
        let mount = self
            .drives
            .get(&medium.name)
            .filter(|_| mounted)
            .map(|drive| drive.path.clone());
        let subject = self.describe_medium(medium, mount.as_deref())?;
        let scratch = match mount {
            Some(mount) => Scratch::inside(&mount, "fio")?,
            None => Scratch::create(Path::new(&medium.path), &format!("{}-fio", self.run_id))?,
        };
        let directory = scratch.path().to_owned();
        target.media.push(TargetMedium {
            medium: subject,
            name: medium.name.clone(),
            scratch: Some(scratch),
        });
        for number in 1..=block.workers {
            let file = directory.join(format!("worker-{number}"));
            if matches!(block.work, BlockWork::Jobs(_)) {
                make_file(&file, block.size.0).map_err(failed)?;
            }
            let part = Part {
                file,
                offset: 0,
                size: block.size.0,
            };
            target.workers.push(Worker {
                medium: subject,
                part,
                directory: directory.clone(),
            });
        }
        Ok(())
    }

    /// Each worker has a part of the device to itself.
    fn add_device(
        &mut self,
        target: &mut BlockTarget,
        block: &Block,
        medium: &Medium,
    ) -> StepResult<()> {
        let permit = device_permit(medium, block, self.overwrite).map_err(failed)?;
        let subject = self.describe_medium(medium, None)?;
        let overwritten = EventKind::Overwritten {
            medium: medium.name.clone(),
            device: permit.path.display().to_string(),
            signatures: permit.signatures.clone(),
            partitions: permit.partitions.clone(),
        };
        self.record_event(Some(subject), Severity::Note, overwritten)?;
        target.media.push(TargetMedium {
            medium: subject,
            name: medium.name.clone(),
            scratch: None,
        });
        for number in 0..block.workers {
            let offset = u64::from(number) * block.size.0;
            let part = Part {
                file: permit.path.clone(),
                offset,
                size: block.size.0,
            };
            target.workers.push(Worker {
                medium: subject,
                part,
                directory: PathBuf::from("/"),
            });
        }
        target.permits.push(permit);
        Ok(())
    }

    /// Removes what the step created. Errors on a drive whose emulator ended don't matter: its files are gone with it.
    pub(super) fn remove_target(&mut self, target: BlockTarget) -> StepResult<()> {
        for TargetMedium {
            medium,
            name,
            scratch,
        } in target.media
        {
            match scratch.map_or(Ok(()), Scratch::remove) {
                Err(error) if self.drive_lives(Some(&name)) => {
                    let error = error.to_string();
                    let cleanup = EventKind::Cleanup { error };
                    self.record_event(Some(medium), Severity::Warning, cleanup)?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn fio_facts(fio: &Fio) -> Vec<(String, String)> {
    vec![
        ("version".into(), fio.version.clone()),
        ("engine".into(), fio.engine.name().into()),
    ]
}
