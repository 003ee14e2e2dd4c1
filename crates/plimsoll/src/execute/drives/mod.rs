//! The drives of media: emulated ones that are mounted, and those of virtual time.

mod describe;
mod disk_use;
mod mounted;
mod simulated;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use plimsoll_drive::emulate::EmulatorError;
use plimsoll_drive::spec::DriveSpec;
use plimsoll_plan::resolved::{EmulatedDrive, Limits, WithoutFuse};
use plimsoll_plan::{MediumId, PlacedName};
use plimsoll_record::message::EventKind;
use plimsoll_record::{Severity, SubjectId, SubjectKind};
use plimsoll_virtual::vfs::VirtualMount;
use tokio::sync::watch;

use super::error::{RunError, StepResult, not_prepared};
use super::run::RunContext;
pub(super) use mounted::MountedDrive;
use mounted::listener;
pub use mounted::{DRIVE_DIR, PreparedDrive, prepare_drive, program};

/// The drives in use.
pub(super) struct Drives<'a> {
    run: RunContext<'a>,
    mounted: HashMap<MediumId, MountedDrive>,
    simulated: HashMap<MediumId, VirtualMount>,
    /// Media that the doctor has checked.
    diagnosed: HashSet<MediumId>,
}

/// A drive that plimsoll makes up.
#[derive(Clone, Copy)]
pub(super) enum DriveInUse<'a> {
    Mounted(&'a MountedDrive),
    Simulated(&'a VirtualMount),
}

/// A medium that files can be put on.
pub(super) struct ReadyMedium {
    pub subject: SubjectId,
    /// Where the disk of an emulated one is mounted that is for whoever asked.
    pub drive: Option<PathBuf>,
}

impl<'a> Drives<'a> {
    pub fn new(run: RunContext<'a>) -> Self {
        Self {
            run,
            mounted: HashMap::new(),
            simulated: HashMap::new(),
            diagnosed: HashSet::new(),
        }
    }

    pub fn find(&self, medium: Option<MediumId>) -> Option<DriveInUse<'_>> {
        let medium = medium?;
        let mounted = self.mounted.get(&medium).map(DriveInUse::Mounted);
        mounted.or_else(|| self.simulated.get(&medium).map(DriveInUse::Simulated))
    }

    pub fn is_mounted(&self, medium: MediumId) -> bool {
        self.mounted.contains_key(&medium)
    }

    /// Why the medium's emulator ended, if it has one that did.
    pub fn died(&self, medium: Option<MediumId>) -> Option<String> {
        self.mounted.get(&medium?)?.died()
    }

    /// Makes a medium ready for files of `user`: in virtual time its drive is simulated, on a machine with these limits;
    /// else it is mounted.
    pub fn ready(&mut self, id: MediumId, user: &str, limits: &Limits) -> StepResult<ReadyMedium> {
        let emulated = self.run.plan().medium(id).kind.emulated();
        if let Some((clock, drive)) = self.run.log.virtual_clock().zip(emulated) {
            let subject = self.simulate(id, drive, limits, clock)?;
            return Ok(ReadyMedium {
                subject,
                drive: None,
            });
        }
        let subject = self.prepare(id)?;
        Ok(ReadyMedium {
            subject,
            drive: self.take_disk(id, user),
        })
    }

    /// Mounts the drive of a medium, if it is an emulated one, and describes the medium.
    pub fn prepare(&mut self, id: MediumId) -> StepResult<SubjectId> {
        if let Some(drive) = self.run.plan().medium(id).kind.emulated()
            && !self.mounted.contains_key(&id)
        {
            self.mount(id, drive)?;
        }
        self.describe_medium(id)
    }

    /// Where the disks of a medium's drive are mounted; none of a medium without one.
    pub fn mounts(&self, id: MediumId) -> Vec<PathBuf> {
        let drive = self.mounted.get(&id);
        let mounts = drive.into_iter().flat_map(|drive| drive.disks.mounts());
        mounts.map(Path::to_owned).collect()
    }

    /// Where the files of a user go on a mounted drive.
    pub fn take_disk(&mut self, id: MediumId, user: &str) -> Option<PathBuf> {
        Some(self.mounted.get_mut(&id)?.disks.take(user))
    }

    /// Where the disk is mounted that a user has.
    pub fn disk_of(&self, medium: Option<MediumId>, user: &str) -> Option<&Path> {
        self.mounted.get(&medium?)?.disks.find(user)
    }

    pub fn leave_disk(&mut self, medium: Option<MediumId>, user: &str) {
        if let Some(drive) = medium.and_then(|medium| self.mounted.get_mut(&medium)) {
            drive.disks.leave(user);
        }
    }

    /// Without FUSE nothing is mounted, if the plan accepts a plain directory.
    fn mount(&mut self, id: MediumId, drive: &EmulatedDrive) -> StepResult<()> {
        let RunContext { job, log, .. } = self.run;
        let medium = job.plan.medium(id);
        let text = format!("mounting the drive {} ({})", medium.name, drive.drive);
        log.progress().now(log.now(), &text);
        let prepared = prepare_drive(&job.run_id, job.plan.data_seed, medium, drive)?;
        let subject = log.subject(SubjectKind::Medium, &medium.name)?;
        let (end_sender, ended) = watch::channel(None);
        let listener = listener(
            subject,
            self.member_subjects(&medium.name, &prepared.spec)?,
            log.clock().clone(),
            log.drive_sender(),
            end_sender,
        );
        match MountedDrive::start(prepared, &medium.name, &program()?, listener, ended) {
            Ok((mut mounted, facts)) => {
                let emulator = log.subject(SubjectKind::Emulator, &medium.name)?;
                log.watch(emulator, mounted.watch());
                log.file().facts(subject, &facts)?;
                log.file().commit()?;
                mounted.watched.push(emulator);
                self.mounted.insert(id, mounted);
                Ok(())
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
                log.event(Some(subject), Severity::Warning, not_emulated)
            }
            Err(error) => Err(RunError::failed(format!("medium {}: {error}", medium.name))),
        }
    }

    /// A subject for each drive of an array or a cluster.
    fn member_subjects(&self, medium: &str, spec: &DriveSpec) -> StepResult<Arc<[SubjectId]>> {
        let Some(assembly) = &spec.assembly else {
            return Ok(Arc::default());
        };
        (0..assembly.drives())
            .map(|drive| {
                let placed = PlacedName {
                    name: &assembly.drive_name(drive),
                    medium: Some(medium),
                };
                let log = self.run.log;
                log.subject(SubjectKind::Member, &placed.to_string())
            })
            .collect()
    }

    /// Powers a drive on after a cut.
    pub fn power_on(&self, medium: MediumId) -> StepResult<()> {
        match self.find(Some(medium)) {
            Some(DriveInUse::Simulated(mount)) => {
                mount.power_on();
                Ok(())
            }
            Some(DriveInUse::Mounted(drive)) => drive.power_on(),
            None => Err(not_prepared("drive")),
        }
    }

    /// Unmounts a drive that no later step uses.
    pub fn unmount(&mut self, medium: MediumId) -> StepResult<()> {
        self.record_requests()?;
        self.simulated.remove(&medium);
        let Some(drive) = self.mounted.remove(&medium) else {
            return Ok(());
        };
        let log = self.run.log;
        for subject in &drive.watched {
            log.unwatch(*subject);
        }
        let name = &self.run.plan().medium(medium).name;
        let subject = log.subject(SubjectKind::Medium, name)?;
        log.cleanup_failed(subject, drive.end())
    }

    /// Unmounts all; returns what failed.
    pub fn end(&mut self) -> Vec<String> {
        let drives = self.mounted.drain();
        drives.flat_map(|(_, drive)| drive.end()).collect()
    }
}
