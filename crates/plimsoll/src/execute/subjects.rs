//! Subjects: what is watched, and the facts about it.

use std::path::Path;

use plimsoll_block::host::device::device_of;
use plimsoll_load::probe::Watch;
use plimsoll_load::probe::environment::{device_facts, host_facts, medium_facts};
use plimsoll_plan::resolved::MediumKind;
use plimsoll_plan::{MediumId, PlacedName};
use plimsoll_record::message::EventKind;
use plimsoll_record::{DEVICE_FACT, Severity, SubjectId, SubjectKind};

use super::error::StepResult;
use super::execution::Execution;

impl Execution<'_> {
    /// Host and generator: facts, and watched from now to the end.
    pub(super) fn describe_machine(&mut self) -> StepResult<()> {
        // Of a plan that hosts run this machine has no part in the figures.
        let is_elsewhere = !self.plan.on_hosts.is_empty();
        for (kind, name, watch) in always_watched() {
            if is_elsewhere && kind == SubjectKind::Host {
                continue;
            }
            let subject = self.file.subject(kind, name)?;
            self.watch(subject, watch);
            if kind == SubjectKind::Host && self.probe.is_some() {
                self.file.facts(subject, &host_facts())?;
            }
        }
        if self.probe.is_some() && !is_elsewhere {
            self.diagnose_machine()?;
        }
        self.file.commit()?;
        Ok(())
    }

    /// The medium and the block device below it: facts, and watched from now to the end. Virtual disks of one emulated
    /// medium are not watched one by one: the emulator counts the requests of all.
    pub(super) fn describe_medium(
        &mut self,
        id: MediumId,
        is_mounted: bool,
    ) -> StepResult<SubjectId> {
        let medium = self.plan.medium(id);
        let drive = self.drives.get(&id).filter(|_| is_mounted);
        let disks = drive.map_or(1, |drive| drive.disks.count());
        let mount = drive.and_then(|drive| drive.disks.mounts().next());
        let is_emulated = mount.is_some();
        let path = mount.unwrap_or(Path::new(&medium.path)).to_owned();
        let path = path.as_path();
        let subject = self.file.subject(SubjectKind::Medium, &medium.name)?;
        let mut watched = vec![subject];
        let mut facts = vec![("path".to_owned(), path.display().to_string())];
        // Of a device they would be those of the filesystem that holds its node.
        let is_device = medium.kind == MediumKind::Device;
        if !is_device {
            facts.extend(medium_facts(path));
        }
        match device_of(path) {
            Ok(_) if disks > 1 => facts.push(("virtual_disks".into(), disks.to_string())),
            Ok(device) => {
                // Loop devices are used again by the next medium, and are another drive then.
                let placed = PlacedName {
                    name: &device.name,
                    medium: is_emulated.then_some(medium.name.as_str()),
                };
                let name = placed.to_string();
                facts.push((DEVICE_FACT.into(), name.clone()));
                let on = self.file.subject(SubjectKind::Device, &name)?;
                self.file.facts(on, &device_facts(&device))?;
                watched.push(on);
                self.watch(
                    on,
                    Watch::Device {
                        major: device.major,
                        minor: device.minor,
                    },
                );
            }
            Err(none) => {
                let no_device = EventKind::NoDevice {
                    medium: medium.name.clone(),
                    cause: none.cause,
                    what: none.what,
                };
                self.record_event(Some(subject), Severity::Note, no_device)?;
            }
        }
        self.file.facts(subject, &facts)?;
        // The space of one of several virtual disks is not the medium's.
        if !is_device && disks == 1 {
            self.watch(subject, Watch::Medium { path: path.into() });
        }
        if let Some(drive) = self.drives.get_mut(&id) {
            drive.watched.extend(watched);
        }
        self.diagnose_medium(id, subject, path)?;
        Ok(subject)
    }
}

/// Subjects that are watched for the whole run.
pub(super) fn always_watched() -> [(SubjectKind, &'static str, Watch); 2] {
    [
        (SubjectKind::Host, "host", Watch::Host),
        (SubjectKind::Generator, "plimsoll", Watch::Generator),
    ]
}
