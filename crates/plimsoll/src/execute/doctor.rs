//! The doctor's look at the machine and at each medium before the first load: what it finds is kept with the run.

use std::path::Path;

use plimsoll_block::doctor::gather::{self, Options};
use plimsoll_block::doctor::judge;
use plimsoll_model::plan::resolved::Medium;
use plimsoll_model::record::{Diagnosis, DiagnosisLevel, Severity, SubjectId};
use plimsoll_model::units::Nanos;

use super::{Course, Execution};
use crate::{drive_file, known};

/// Blocks that are read, and for how long at most: a run does not wait for the doctor.
const BLOCKS: u32 = 64;
const PATIENCE: Nanos = Nanos::from_millis(300);

impl Execution<'_> {
    /// Only reads, without a quiet moment.
    pub(super) fn diagnose_machine(&self) -> Course<()> {
        judge::machine(&gather::machine(None)).into_iter().try_for_each(|found| self.keep("this machine", found))
    }

    /// Each medium once. Only reads; `path` is where an emulated one is mounted.
    pub(super) fn diagnose_medium(&mut self, medium: &Medium, subject: SubjectId, path: &Path) -> Course<()> {
        if self.probe.is_none() || !self.diagnosed.insert(medium.name.clone()) {
            return Ok(());
        }
        let drive = medium.kind.emulated().filter(|_| self.drives.contains_key(&medium.name));
        let spec = drive.and_then(|drive| Some((drive, drive_file::emulated(drive).ok()?)));
        let is = spec.map(|(drive, spec)| known::emulated(&spec, drive.capacity, drive.fill, self.plan.data_seed));
        let (catalogue, clock) = (known::catalogue(), self.clock.clone());
        let options = Options {
            now: &|| clock.now(),
            quiet: None,
            known: &catalogue,
            is: is.as_ref(),
            // Decided and told where the device is claimed.
            users: false,
            health: true,
            blocks: BLOCKS,
            patience: PATIENCE,
            seed: self.plan.data_seed,
        };
        match gather::medium(path, &options) {
            Ok(evidence) => judge::medium(&evidence).into_iter().try_for_each(|found| {
                self.keep(&format!("medium {}", medium.name), Diagnosis { subject: Some(subject), ..found })
            }),
            Err(error) => self.tell(Some(subject), Severity::Note, "doctor", &error.to_string()),
        }
    }

    /// Into the run file; what speaks against the medium is told as well.
    fn keep(&self, whom: &str, found: Diagnosis) -> Course<()> {
        self.file.diagnosis(&found)?;
        let Diagnosis { subject: _, code, level, found, next } = found;
        if matches!(level, DiagnosisLevel::Warning | DiagnosisLevel::Error) {
            self.progress.say(&format!("{}: {whom}: {code}: {found}\n  {next}", level.name()));
        }
        Ok(())
    }
}
