//! Which plans run in virtual time.

use crate::SystemId;
use crate::emulated::{DriveFilesystem, DriveForm};
use crate::resolved::{Medium, Noise, NoiseWork, ResolvedPlan, Step, SystemKind};

impl ResolvedPlan {
    /// Whether drives are simulated in virtual time: everything that is under load is SQLite on modeled drives, with nothing
    /// that only real time has (other hosts, backups), and the plan does not want it emulated.
    pub fn is_simulated(&self) -> bool {
        let has_real_time = self.emulate || !self.on_hosts.is_empty() || !self.hosts.is_empty();
        !has_real_time
            && !self.steps.is_empty()
            && self.steps.iter().all(|step| self.can_be_simulated(step))
    }

    fn can_be_simulated(&self, step: &Step) -> bool {
        let Some(load) = step.load() else {
            return false;
        };
        let mut media = load.on.iter().map(|medium| self.medium(*medium));
        let mut noise = load.noise.iter();
        let is_load = |noise: &Noise| matches!(noise.work, NoiseWork::Load { .. });
        self.is_sqlite(load.system)
            && noise.all(|own| is_load(own) && self.is_sqlite(own.system))
            && media.all(is_modeled)
    }

    fn is_sqlite(&self, system: SystemId) -> bool {
        matches!(self.system(system).kind, SystemKind::Sqlite { .. })
    }
}

/// A drive with the filesystem that is modeled, of which the plan does not say how it is mounted.
fn is_modeled(medium: &Medium) -> bool {
    let drive = medium.kind.emulated();
    drive.is_some_and(|drive| {
        drive.filesystem == DriveFilesystem::Ext4 && drive.form == DriveForm::Auto
    })
}
