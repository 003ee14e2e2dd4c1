//! The check of a plan that was read: each id in it leads to a part of it.
//!
//! What holds ids is taken apart field by field: code that adds a field does not compile before it is decided here whether
//! that refers to something.

use crate::backup::{Backup, BackupPlace, BackupStep, Cycles, Noise, NoiseWork};
use crate::block::BlockStep;
use crate::ids::{BackupId, BlockId, HostId, MediumId, SystemId, WorkloadId};
use crate::resolved::{LoadStep, NamedBackup, ResolvedPlan, Step, System};

/// `Err`: the reference that leads nowhere.
pub(crate) fn check_references(plan: &ResolvedPlan) -> Result<(), String> {
    let ResolvedPlan {
        title: _,
        seed: _,
        data_seed: _,
        scale: _,
        data_scale: _,
        emulate: _,
        hosts: _,
        on_hosts,
        media: _,
        systems,
        workloads: _,
        blocks: _,
        backups,
        steps,
        audit: _,
        requirements: _,
        abort_on_fail: _,
    } = plan;
    on_hosts.check(plan)?;
    systems.check(plan)?;
    backups.check(plan)?;
    steps.check(plan)
}

trait References {
    fn check(&self, plan: &ResolvedPlan) -> Result<(), String>;
}

impl<T: References> References for Vec<T> {
    fn check(&self, plan: &ResolvedPlan) -> Result<(), String> {
        self.iter().try_for_each(|part| part.check(plan))
    }
}

macro_rules! ids {
    ($($id:ident: $what:literal in $list:ident,)*) => {
        $(
            impl References for $id {
                fn check(&self, plan: &ResolvedPlan) -> Result<(), String> {
                    let count = plan.$list.len();
                    if self.index() < count {
                        return Ok(());
                    }
                    let id = self.index();
                    Err(format!(concat!("it refers to ", $what, " {} and has {}"), id, count))
                }
            }
        )*
    };
}

ids! {
    HostId: "host" in hosts,
    MediumId: "medium" in media,
    SystemId: "system" in systems,
    WorkloadId: "workload" in workloads,
    BlockId: "block workload" in blocks,
    BackupId: "backup workload" in backups,
}

impl References for System {
    fn check(&self, plan: &ResolvedPlan) -> Result<(), String> {
        let Self {
            name: _,
            kind: _,
            limits: _,
            count: _,
            host,
            log_disk: _,
        } = self;
        host.map_or(Ok(()), |host| host.check(plan))
    }
}

impl References for NamedBackup {
    fn check(&self, plan: &ResolvedPlan) -> Result<(), String> {
        let Self { name: _, backup } = self;
        let Backup {
            data,
            method: _,
            jobs: _,
            restore: _,
        } = backup;
        data.check(plan)
    }
}

impl References for Step {
    fn check(&self, plan: &ResolvedPlan) -> Result<(), String> {
        match self {
            Self::Load(step) => step.check(plan),
            Self::Block(step) => step.check(plan),
            Self::Backup(step) => step.check(plan),
        }
    }
}

impl References for LoadStep {
    fn check(&self, plan: &ResolvedPlan) -> Result<(), String> {
        let Self {
            name: _,
            workload,
            system,
            on,
            points: _,
            repeat: _,
            precondition: _,
            search: _,
            reset: _,
            reset_by: _,
            timeline: _,
            pacing: _,
            check: _,
            max_retries: _,
            power_cut: _,
            events: _,
            from,
            noise,
        } = self;
        workload.check(plan)?;
        system.check(plan)?;
        on.check(plan)?;
        from.check(plan)?;
        noise.check(plan)
    }
}

impl References for BlockStep {
    fn check(&self, plan: &ResolvedPlan) -> Result<(), String> {
        let Self {
            name: _,
            workload,
            on,
            at_once: _,
            rounds: _,
            steady: _,
            warm: _,
            measure: _,
        } = self;
        workload.check(plan)?;
        on.check(plan)
    }
}

impl References for BackupStep {
    fn check(&self, plan: &ResolvedPlan) -> Result<(), String> {
        let Self {
            name: _,
            backup,
            system,
            on,
            cycles,
        } = self;
        backup.check(plan)?;
        system.check(plan)?;
        on.check(plan)?;
        cycles.check(plan)
    }
}

impl References for Noise {
    fn check(&self, plan: &ResolvedPlan) -> Result<(), String> {
        let Self { system, work } = self;
        system.check(plan)?;
        match work {
            NoiseWork::Backup { backup, cycles } => {
                backup.check(plan)?;
                cycles.check(plan)
            }
            NoiseWork::Load { workload, load: _ } => workload.check(plan),
        }
    }
}

impl References for Cycles {
    fn check(&self, plan: &ResolvedPlan) -> Result<(), String> {
        let Self {
            to,
            count: _,
            every: _,
        } = self;
        match to {
            BackupPlace::Beside => Ok(()),
            BackupPlace::Medium(medium) => medium.check(plan),
        }
    }
}
