//! Mounts and unmounts the emulated drives of media.

use std::sync::Arc;

use plimsoll_drive::emulate::protocol::{MountSpec, Ready};
use plimsoll_drive::emulate::{Child, EmulatorError};
use plimsoll_drive::spec::DriveSpec;
use plimsoll_load::probe::Watch;
use plimsoll_plan::resolved::{EmulatedDrive, Medium, WithoutFuse};
use plimsoll_plan::{MediumId, PlacedName};
use plimsoll_record::message::EventKind;
use plimsoll_record::{Severity, SubjectId, SubjectKind};
use tokio::sync::watch;

use super::disk_use::DiskUse;
use super::drives::{MountedDrive, PreparedDrive, drive_facts, listener, prepare_drive, program};
use super::error::{RunError, StepResult, not_prepared};
use super::execution::Execution;

impl Execution<'_> {
    /// Mounts the medium's drive unless it is mounted. `false`: there is no FUSE, and the plan accepts a plain directory.
    pub(super) fn mount(&mut self, id: MediumId, drive: &EmulatedDrive) -> StepResult<bool> {
        if self.drives.contains_key(&id) {
            return Ok(true);
        }
        let medium = self.plan.medium(id);
        self.progress.now(
            self.clock.now(),
            &format!("mounting the drive {} ({})", medium.name, drive.drive),
        );
        let PreparedDrive {
            scratch,
            spec,
            task,
        } = prepare_drive(self.run_id, self.plan.data_seed, medium, drive)?;
        let subject = self.file.subject(SubjectKind::Medium, &medium.name)?;
        let (end_sender, ended) = watch::channel(None);
        let listener = listener(
            subject,
            self.member_subjects(&medium.name, &spec)?,
            self.clock.clone(),
            self.inbox.from_drives.clone(),
            end_sender,
        );
        match Child::start(&program()?, &task, listener) {
            Ok((child, ready)) => {
                let name = medium.name.clone();
                let mut mounted = MountedDrive {
                    child,
                    disks: DiskUse::new(&ready.path, &ready.disks),
                    name,
                    ended,
                    scratch,
                    watched: Vec::new(),
                };
                mounted
                    .watched
                    .push(self.describe_drive(medium, subject, &spec, &task, &ready)?);
                self.drives.insert(id, mounted);
                Ok(true)
            }
            Err(EmulatorError {
                why, no_fuse: true, ..
            }) if drive.without_fuse == WithoutFuse::PlainDirectory => {
                let not_emulated = EventKind::NotEmulated {
                    medium: medium.name.clone(),
                    drive: drive.drive.clone(),
                    path: medium.path.clone(),
                    error: why,
                };
                self.record_event(Some(subject), Severity::Warning, not_emulated)?;
                Ok(false)
            }
            Err(error) => Err(RunError::failed(format!("medium {}: {error}", medium.name))),
        }
    }

    /// Of each drive of an array or a cluster.
    fn member_subjects(&self, medium: &str, spec: &DriveSpec) -> StepResult<Arc<[SubjectId]>> {
        let Some(assembly) = &spec.assembly else {
            return Ok(Arc::default());
        };
        let subject = |drive: u32| -> StepResult<SubjectId> {
            let placed = PlacedName {
                name: &assembly.drive_name(drive),
                medium: Some(medium),
            };
            let name = placed.to_string();
            Ok(self.file.subject(SubjectKind::Member, &name)?)
        };
        (0..assembly.drives()).map(subject).collect()
    }

    fn describe_drive(
        &mut self,
        medium: &Medium,
        subject: SubjectId,
        spec: &DriveSpec,
        task: &MountSpec,
        ready: &Ready,
    ) -> StepResult<SubjectId> {
        let emulator = self.file.subject(SubjectKind::Emulator, &medium.name)?;
        self.watch(
            emulator,
            Watch::Processes {
                pid: ready.pid,
                data: None,
            },
        );
        let facts = drive_facts(spec, task, ready);
        self.file.facts(subject, &facts)?;
        self.file.commit()?;
        Ok(emulator)
    }

    /// Powers a drive on after a cut.
    pub(super) fn power_on(&mut self, medium: MediumId) -> StepResult<()> {
        if let Some(mount) = self.simulated.get(&medium) {
            mount.power_on();
            return Ok(());
        }
        let drive = self
            .drives
            .get(&medium)
            .ok_or_else(|| not_prepared("drive"))?;
        drive
            .child
            .power_on()
            .map_err(|error| match error.is_silence() {
                // The emulator answered: the filesystem did not survive.
                false => RunError::Broken(error.to_string()),
                true => RunError::failed(drive.died().unwrap_or_else(|| error.to_string())),
            })
    }

    /// Unmounts a drive that no later step uses.
    pub(super) fn unmount(&mut self, medium: MediumId) -> StepResult<()> {
        self.record_requests()?;
        self.simulated.remove(&medium);
        let Some(drive) = self.drives.remove(&medium) else {
            return Ok(());
        };
        if let Some(probe) = &self.probe {
            drive
                .watched
                .iter()
                .for_each(|subject| probe.unwatch(*subject));
        }
        let name = &self.plan.medium(medium).name;
        let subject = self.file.subject(SubjectKind::Medium, name)?;
        for error in drive.end() {
            self.record_event(
                Some(subject),
                Severity::Warning,
                EventKind::Cleanup { error },
            )?;
        }
        Ok(())
    }
}
