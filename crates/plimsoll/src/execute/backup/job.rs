//! Backups to one medium: where they go, and the job of each instance.

use std::path::{Path, PathBuf};

use plimsoll_plan::resolved::Backup;
use plimsoll_plan::{MediumId, SystemId};
use plimsoll_record::{PointId, SubjectId, SubjectKind};

use super::super::context::InstanceSetup;
use super::super::drives::Drives;
use super::super::error::StepResult;
use super::super::run::RunContext;
use super::super::systems::Systems;
use super::worker::{BackupJob, BackupTarget};

/// Has the virtual disk that backups are written to.
const VAULT: &str = "backups";

/// The medium that backups are written to.
pub(super) struct Backups<'a> {
    run: RunContext<'a>,
    subject: SubjectId,
    medium: MediumId,
    target: BackupTarget,
}

impl<'a> Backups<'a> {
    /// Prepares `medium` for backups of a system whose data are on another one, or the same.
    pub fn new(
        run: RunContext<'a>,
        drives: &mut Drives<'_>,
        medium: MediumId,
        system: SystemId,
        data: MediumId,
    ) -> StepResult<Self> {
        let ready = drives.ready(medium, VAULT, &run.plan().system(system).limits)?;
        Ok(Self {
            run,
            subject: ready.subject,
            medium,
            target: backup_target(run, medium, data, ready.drive),
        })
    }

    /// Backup of one instance, beside a point if there is one.
    pub fn job(
        &self,
        systems: &mut Systems<'_>,
        drives: &Drives<'_>,
        setup: &InstanceSetup<'_>,
        backup: &Backup,
        point: Option<PointId>,
    ) -> StepResult<BackupJob> {
        let log = self.run.log;
        let plan = self.run.plan();
        let instance = setup.instance;
        let running = systems.get(instance)?;
        let mut job = BackupJob {
            step: plan.step(setup.step).name().to_owned(),
            step_index: setup.step.index() as u32,
            point,
            name: instance.name(plan),
            instance,
            system: running.subject,
            medium: running.medium,
            target: self.subject,
            watched: log.subject(SubjectKind::Backup, &instance.subject(plan))?,
            backup: backup.clone(),
            workload: setup.workload.clone(),
            vault: self.target.clone(),
            restores: None,
            timed: drives.timed_files(instance.medium, self.medium),
            limits: None,
            rows: log.backup_sender(),
        };
        if let Some(medium) = instance.medium.filter(|_| backup.restore) {
            let disk = drives.disk_of(Some(medium), &job.name).map(Path::to_owned);
            let target = backup_target(self.run, medium, medium, disk);
            job.limits = systems.limit_restored(instance, target.path())?;
            job.restores = Some(target);
        }
        Ok(job)
    }
}

/// Directories for backups of data on `data`, or a disk of the medium's drive.
fn backup_target(
    run: RunContext<'_>,
    medium: MediumId,
    data: MediumId,
    disk: Option<PathBuf>,
) -> BackupTarget {
    let plan = run.plan();
    let run_id = &run.job.run_id;
    match disk {
        Some(disk) => BackupTarget::Drive(disk),
        None => BackupTarget::Path {
            path: (&plan.medium(medium).path).into(),
            run_id: match plan.medium(medium).kind.emulated() {
                // Drives that are simulated beside each other may have one directory.
                Some(_) if run.log.virtual_clock().is_some() => {
                    format!("{run_id}-{}", plan.medium(data).name)
                }
                _ => run_id.clone(),
            },
        },
    }
}
