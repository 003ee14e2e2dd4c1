//! Where workers work: a directory of plimsoll's own on each medium, with a file for each of them.

use std::path::{Path, PathBuf};

use plimsoll_block::BlockError;
use plimsoll_block::arguments::Part;
use plimsoll_block::device::overwrite_grant::OverwriteGrant;
use plimsoll_block::fio::{self, Fio};
use plimsoll_block::layout::make_file;
use plimsoll_load::scratch::Scratch;
use plimsoll_model::plan::resolved::{Block, BlockStep, BlockWork, Medium, MediumKind};
use plimsoll_model::record::{Severity, SubjectId, SubjectKind};

use super::super::{Course, Execution, Halt, unresolved};
use super::describe::fio_facts;
use super::{device_permit, job_file_permits};

/// What a step has on its media. Taken away by [`Execution::leave`].
pub(super) struct Ground {
    pub fio: Fio,
    /// Stands for fio on these media.
    pub subject: SubjectId,
    /// Joined by ` + ` where there are several.
    pub name: String,
    pub workers: Vec<Worker>,
    sites: Vec<Site>,
    /// Devices and files of others that may be written to; kept from everybody else meanwhile.
    permits: Vec<OverwriteGrant>,
}

pub(super) struct Worker {
    pub medium: SubjectId,
    pub part: Part,
    /// The step's own directory on the medium.
    pub directory: PathBuf,
}

struct Site {
    medium: SubjectId,
    name: String,
    /// A device has none.
    scratch: Option<Scratch>,
}

impl Ground {
    /// The medium, unless there are several at once.
    pub fn only_medium(&self) -> Option<SubjectId> {
        if let [only] = &self.sites[..] { Some(only.medium) } else { None }
    }

    pub fn media(&self) -> impl Iterator<Item = &str> {
        self.sites.iter().map(|site| site.name.as_str())
    }
}

pub(super) fn failed(error: BlockError) -> Halt {
    match error {
        BlockError::Cancelled => Halt::Interrupted,
        other => Halt::Failed(other.to_string()),
    }
}

impl Execution<'_> {
    /// Mounts or looks at the media, makes directories and files, and writes the files full.
    pub(super) fn prepare_ground(&mut self, step: &BlockStep, block: &Block, media: &[&str]) -> Course<Ground> {
        let fio = fio::find().map_err(failed)?;
        let name = media.join(" + ");
        let subject = self.file.subject(SubjectKind::System, &format!("fio@{name}"))?;
        self.file.facts(subject, &fio_facts(&fio))?;
        let mut ground = Ground { fio, subject, name, workers: Vec::new(), sites: Vec::new(), permits: Vec::new() };
        ground.permits = job_file_permits(block, self.overwrite).map_err(failed)?;
        for medium in media {
            let plan = self.plan;
            let medium = plan.medium(medium).ok_or_else(|| unresolved("medium", medium))?;
            self.add_site(&mut ground, block, medium)?;
        }
        if matches!(block.work, BlockWork::Jobs(_)) {
            self.lay_out(step, block, &ground)?;
        }
        Ok(ground)
    }

    fn add_site(&mut self, ground: &mut Ground, block: &Block, medium: &Medium) -> Course<()> {
        if medium.kind == MediumKind::Device {
            return self.add_device(ground, block, medium);
        }
        let mounted = match medium.kind.emulated() {
            Some(drive) => self.mount(medium, drive)?,
            None => false,
        };
        let mount = self.drives.get(&medium.name).filter(|_| mounted).map(|drive| drive.path.clone());
        let subject = self.describe_medium(medium, mount.as_deref())?;
        let scratch = match mount {
            Some(mount) => Scratch::inside(&mount, "fio")?,
            None => Scratch::create(Path::new(&medium.path), &format!("{}-fio", self.run_id))?,
        };
        let directory = scratch.path().to_owned();
        ground.sites.push(Site { medium: subject, name: medium.name.clone(), scratch: Some(scratch) });
        for number in 1..=block.workers {
            let file = directory.join(format!("worker-{number}"));
            if matches!(block.work, BlockWork::Jobs(_)) {
                make_file(&file, block.size.0).map_err(failed)?;
            }
            let part = Part { file, offset: 0, size: block.size.0 };
            ground.workers.push(Worker { medium: subject, part, directory: directory.clone() });
        }
        Ok(())
    }

    /// Each worker has a part of the device to itself.
    fn add_device(&mut self, ground: &mut Ground, block: &Block, medium: &Medium) -> Course<()> {
        let permit = device_permit(medium, block, self.overwrite).map_err(failed)?;
        let subject = self.describe_medium(medium, None)?;
        let lost = if permit.lost.is_empty() { "nothing was recognised on it".into() } else { permit.lost.join("; ") };
        let text = format!("medium {}: {} is overwritten: {lost}", medium.name, permit.path.display());
        self.tell(Some(subject), Severity::Note, "overwritten", &text)?;
        ground.sites.push(Site { medium: subject, name: medium.name.clone(), scratch: None });
        for number in 0..block.workers {
            let offset = u64::from(number) * block.size.0;
            let part = Part { file: permit.path.clone(), offset, size: block.size.0 };
            ground.workers.push(Worker { medium: subject, part, directory: PathBuf::from("/") });
        }
        ground.permits.push(permit);
        Ok(())
    }

    /// Removes what the step has made. What cannot be removed from a drive that is gone goes with the drive.
    pub(super) fn leave(&mut self, ground: Ground) -> Course<()> {
        for Site { medium, name, scratch } in ground.sites {
            match scratch.map_or(Ok(()), Scratch::remove) {
                Err(error) if self.drive_lives(Some(&name)) => {
                    self.tell(Some(medium), Severity::Warning, "cleanup", &error.to_string())?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}
