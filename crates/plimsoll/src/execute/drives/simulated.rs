//! Drives of media in virtual time: models that SQLite's files take their time from. Nothing is mounted.

use std::sync::Arc;

use plimsoll_analysis::summary::{
    SIMULATED_CPUS_FACT, SIMULATED_MEMORY_FACT, SIMULATED_SPEED_FACT,
};
use plimsoll_drive::durability::volatile_buffer;
use plimsoll_drive::model::Setup;
use plimsoll_drive::spec::DriveSpec;
use plimsoll_drive::storage_model::StorageModel;
use plimsoll_load::clock::VirtualClock;
use plimsoll_load::engine::sqlite::TimedFiles;
use plimsoll_plan::MediumId;
use plimsoll_plan::resolved::{EmulatedDrive, FlushPolicy, Limits};
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::Endpoint;
use plimsoll_record::{
    Event, SIMULATED_FACT, Severity, SubjectId, SubjectKind, WaitRow, WaitState,
};
use plimsoll_virtual::costs::CpuCosts;
use plimsoll_virtual::drive::VirtualDrive;
use plimsoll_virtual::machine::VirtualMachine;
use plimsoll_virtual::time::TimeByState;
use plimsoll_virtual::vfs::VirtualMount;

use super::super::error::{RunError, StepResult};
use super::Drives;
use super::mounted::drive_spec;

/// Processors of a simulated machine, where a plan does not say.
const CPUS: u32 = 4;

impl Drives<'_> {
    /// Makes the medium's drive on a separate machine, unless it exists, and describes it. All systems of a plan have the
    /// same limits.
    pub(super) fn simulate(
        &mut self,
        id: MediumId,
        drive: &EmulatedDrive,
        limits: &Limits,
        clock: &VirtualClock,
    ) -> StepResult<SubjectId> {
        let log = self.run.log;
        let medium = self.run.plan().medium(id);
        let seed = self.run.plan().data_seed;
        let subject = log.subject(SubjectKind::Medium, &medium.name)?;
        if self.simulated.contains_key(&id) {
            return Ok(subject);
        }
        let spec = drive_spec(drive)?;
        let setup = Setup {
            capacity: drive.capacity.min(spec.capacity),
            fill: drive.fill,
            seed,
            ignores_flush: drive.flush == FlushPolicy::Ignored,
        };
        let model = StorageModel::new(&spec, &setup);
        let virtual_drive = Arc::new(VirtualDrive::new(clock.clone(), model));
        let costs = CpuCosts::REFERENCE.at_speed(limits.cpu_speed.unwrap_or(1.0));
        let cpus = limits.cpus.map_or(CPUS, |cpus| cpus as u32);
        let machine = VirtualMachine::new(clock.clone(), cpus, costs);
        let mount = VirtualMount::new(machine, virtual_drive, setup.capacity, limits.memory, seed)
            .map_err(|why| RunError::failed(format!("medium {}: {why}", medium.name)))?;
        self.simulated.insert(id, mount);
        log.file()
            .facts(subject, &facts(&spec, &setup, cpus, limits))?;
        log.file().commit()?;
        Ok(subject)
    }

    /// From now on until the power fails it is known what that takes away from a simulated drive.
    pub fn watch_changes(&self, id: MediumId) -> StepResult<()> {
        let Some(mount) = self.simulated.get(&id) else {
            return Ok(());
        };
        if let Some(drive) = self.run.plan().medium(id).kind.emulated() {
            let is_lying = drive.flush == FlushPolicy::Ignored;
            let buffer = volatile_buffer(&drive_spec(drive)?, is_lying);
            mount.watch_changes(buffer.filter(|_| is_lying));
        }
        Ok(())
    }

    /// Records what simulated drives served in whole seconds since the last call.
    pub fn record_requests(&self) -> StepResult<()> {
        let log = self.run.log;
        for (id, mount) in &self.simulated {
            let medium = &self.run.plan().medium(*id).name;
            let subject = log.subject(SubjectKind::Medium, medium)?;
            for (second, served) in mount.drive().take_served() {
                let [start, end] = [second, second + 1].map(Nanos::from_secs);
                log.file().drive_second(subject, start, end, &served)?;
            }
            for (at, kind) in mount.drive().rebuild_events() {
                log.file().event(&Event {
                    at,
                    subject: Some(subject),
                    severity: Severity::Note,
                    kind,
                })?;
            }
        }
        Ok(())
    }

    /// Records what sessions of a system on a simulated drive spent their time on in whole seconds since the last call.
    pub fn record_time(&self, medium: MediumId, system: SubjectId) -> StepResult<()> {
        let Some(mount) = self.simulated.get(&medium) else {
            return Ok(());
        };
        let seconds = mount.machine().take_time().into_iter();
        let rows: Vec<WaitRow> = seconds
            .flat_map(|(second, times)| wait_rows(system, second, &times))
            .collect();
        Ok(self.run.log.file().waits(&rows)?)
    }

    /// Where the sessions of a system on this medium connect: on a simulated one through its VFS.
    pub fn timed_endpoint(&self, endpoint: Endpoint, medium: Option<MediumId>) -> Endpoint {
        let mount = medium.and_then(|medium| self.simulated.get(&medium));
        match (endpoint, mount) {
            (Endpoint::Sqlite { path, pragmas, .. }, Some(mount)) => Endpoint::Sqlite {
                path,
                pragmas,
                vfs: Some(mount.name().to_owned()),
            },
            (endpoint, _) => endpoint,
        }
    }

    /// Through which VFS files go from the medium of the data to that of their backup, where both are simulated.
    pub fn timed_files(&self, data: Option<MediumId>, vault: MediumId) -> Option<TimedFiles> {
        let [from, to] = [data?, vault].map(|medium| self.simulated.get(&medium));
        Some(TimedFiles {
            from: from?.name().to_owned(),
            to: to?.name().to_owned(),
        })
    }
}

/// Sessions by state in one second, as if they had been sampled each millisecond.
fn wait_rows(system: SubjectId, second: u64, times: &TimeByState) -> Vec<WaitRow> {
    WaitState::ALL
        .iter()
        .zip(times)
        .map(|(state, time)| WaitRow {
            subject: system,
            start: Nanos::from_secs(second),
            end: Nanos::from_secs(second + 1),
            state: *state,
            event: String::new(),
            sessions: (time.as_secs_f64() * 1e3).round() as u32,
            samples: 1_000,
        })
        .filter(|row| row.sessions > 0)
        .collect()
}

fn facts(spec: &DriveSpec, setup: &Setup, cpus: u32, limits: &Limits) -> Vec<(String, String)> {
    let flush = match setup.ignores_flush {
        true => "ignored",
        false => "honest",
    };
    let slower = Some(spec.slower).filter(|slower| *slower != 1.0);
    [
        ("drive", Some(spec.id.clone())),
        ("drive_title", Some(spec.title.clone())),
        ("drive_file", Some(spec.to_toml())),
        ("capacity", Some(setup.capacity.to_string())),
        ("fill", Some(setup.fill.to_string())),
        ("flush", Some(flush.to_owned())),
        (SIMULATED_FACT, Some("yes".to_owned())),
        (SIMULATED_CPUS_FACT, Some(cpus.to_string())),
        ("slower", slower.map(|slower| slower.to_string())),
        (
            SIMULATED_MEMORY_FACT,
            limits.memory.map(|memory| memory.to_string()),
        ),
        (
            SIMULATED_SPEED_FACT,
            limits.cpu_speed.map(|speed| speed.to_string()),
        ),
    ]
    .into_iter()
    .filter_map(|(key, value)| Some((key.to_owned(), value?)))
    .collect()
}
