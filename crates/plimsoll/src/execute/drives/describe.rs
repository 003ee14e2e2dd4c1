//! Media as subjects: facts, what is watched, and the doctor's findings.

use std::path::{Path, PathBuf};

use plimsoll_block::host::device::{BlockDevice, device_of};
use plimsoll_load::probe::Watch;
use plimsoll_load::probe::environment::{device_facts, medium_facts};
use plimsoll_plan::resolved::MediumKind;
use plimsoll_plan::{MediumId, PlacedName};
use plimsoll_record::message::EventKind;
use plimsoll_record::{DEVICE_FACT, Severity, SubjectId, SubjectKind};

use super::super::doctor;
use super::super::error::StepResult;
use super::Drives;

impl Drives<'_> {
    /// The medium and the block device below it: facts, and watched from now to the end. Virtual disks of one emulated
    /// medium are not watched one by one: the emulator counts the requests of all.
    pub(super) fn describe_medium(&mut self, id: MediumId) -> StepResult<SubjectId> {
        let log = self.run.log;
        let medium = self.run.plan().medium(id);
        let mounts = self.mounts(id);
        let path = mounts
            .first()
            .map_or(Path::new(&medium.path), PathBuf::as_path);
        let subject = log.subject(SubjectKind::Medium, &medium.name)?;
        let mut watched = vec![subject];
        let mut facts = vec![("path".to_owned(), path.display().to_string())];
        // Those of a device would be those of the filesystem that holds its node.
        let is_device = medium.kind == MediumKind::Device;
        if !is_device {
            facts.extend(medium_facts(path));
        }
        match device_of(path) {
            Ok(_) if mounts.len() > 1 => {
                facts.push(("virtual_disks".into(), mounts.len().to_string()));
            }
            Ok(device) => {
                // Loop devices are used again by the next medium, and are another drive then.
                let placed = PlacedName {
                    name: &device.name,
                    medium: (!mounts.is_empty()).then_some(medium.name.as_str()),
                };
                let name = placed.to_string();
                watched.push(self.describe_device(&name, &device)?);
                facts.push((DEVICE_FACT.into(), name));
            }
            Err(none) => {
                let no_device = EventKind::NoDevice {
                    medium: medium.name.clone(),
                    cause: none.cause,
                    what: none.what,
                };
                log.event(Some(subject), Severity::Note, no_device)?;
            }
        }
        log.file().facts(subject, &facts)?;
        // The space of one of several virtual disks is not the medium's.
        if !is_device && mounts.len() <= 1 {
            log.watch(subject, Watch::Medium { path: path.into() });
        }
        if let Some(drive) = self.mounted.get_mut(&id) {
            drive.watched.extend(watched);
        }
        if log.probe().is_some() && self.diagnosed.insert(id) {
            doctor::diagnose_medium(self.run, id, subject, mounts.first().map(PathBuf::as_path))?;
        }
        Ok(subject)
    }

    fn describe_device(&self, name: &str, device: &BlockDevice) -> StepResult<SubjectId> {
        let log = self.run.log;
        let subject = log.subject(SubjectKind::Device, name)?;
        log.file().facts(subject, &device_facts(device))?;
        let watch = Watch::Device {
            major: device.major,
            minor: device.minor,
        };
        log.watch(subject, watch);
        Ok(subject)
    }
}
