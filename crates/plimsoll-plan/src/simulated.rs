//! Which plans run in virtual time.

use crate::SystemId;
use crate::backup::BackupPlace;
use crate::emulated::{DriveFilesystem, DriveForm};
use crate::resolved::{Medium, ResolvedPlan, Step, SystemKind};

impl ResolvedPlan {
    /// Whether drives are simulated in virtual time: everything that is under load is SQLite on modeled drives, with nothing
    /// that only real time has (other hosts), and the plan does not want it emulated.
    pub fn is_simulated(&self) -> bool {
        let has_real_time = self.emulate || !self.on_hosts.is_empty() || !self.hosts.is_empty();
        !has_real_time
            && !self.steps.is_empty()
            && self.steps.iter().all(|step| self.can_be_simulated(step))
    }

    fn can_be_simulated(&self, step: &Step) -> bool {
        let is_block = matches!(step, Step::Block(_));
        let targets = step.backup_places().filter_map(|place| match place {
            BackupPlace::Beside => None,
            BackupPlace::Medium(medium) => Some(medium),
        });
        let mut media = step.on().iter().copied().chain(targets);
        !is_block
            && step.systems().all(|system| self.is_sqlite(system))
            && media.all(|medium| is_modeled(self.medium(medium)))
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
