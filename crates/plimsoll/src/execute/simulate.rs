//! Drives of media in virtual time: models that SQLite's files take their time from. Nothing is mounted.

use std::sync::Arc;

use plimsoll_analysis::summary::{
    SIMULATED_CPUS_FACT, SIMULATED_MEMORY_FACT, SIMULATED_SPEED_FACT,
};
use plimsoll_drive::durability::volatile_buffer;
use plimsoll_drive::model::Setup;
use plimsoll_drive::spec::DriveSpec;
use plimsoll_drive::storage_model::StorageModel;
use plimsoll_load::clock::{Clock, VirtualClock};
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

use super::drives::drive_spec;
use super::error::{RunError, StepResult};
use super::execution::Execution;

/// Processors of a simulated machine, where a plan does not say.
const CPUS: u32 = 4;

impl Execution<'_> {
    /// Makes the medium's drive on a machine of its own, unless it exists, and describes it. All systems of a plan have the same
    /// limits.
    pub(super) fn simulate(
        &mut self,
        id: MediumId,
        drive: &EmulatedDrive,
        limits: &Limits,
        clock: &VirtualClock,
    ) -> StepResult<SubjectId> {
        let medium = self.plan.medium(id);
        let subject = self.file.subject(SubjectKind::Medium, &medium.name)?;
        if self.simulated.contains_key(&id) {
            return Ok(subject);
        }
        let failed =
            |why: String| RunError::failed(format!("medium {}: {why}", medium.name.clone()));
        let spec = drive_spec(drive)?;
        let capacity = drive.capacity.min(spec.capacity);
        let setup = Setup {
            capacity,
            fill: drive.fill,
            seed: self.plan.data_seed,
            ignores_flush: drive.flush == FlushPolicy::Ignored,
        };
        let model = StorageModel::new(&spec, &setup);
        let virtual_drive = Arc::new(VirtualDrive::new(clock.clone(), model));
        let costs = CpuCosts::REFERENCE.at_speed(limits.cpu_speed.unwrap_or(1.0));
        let cpus = limits.cpus.map_or(CPUS, |cpus| cpus as u32);
        let machine = VirtualMachine::new(clock.clone(), cpus, costs);
        let seed = self.plan.data_seed;
        let mount = VirtualMount::new(machine, virtual_drive, capacity, limits.memory, seed);
        self.simulated.insert(id, mount.map_err(failed)?);
        self.file
            .facts(subject, &facts(&spec, &setup, cpus, limits))?;
        self.file.commit()?;
        Ok(subject)
    }

    /// Until the power fails it is known what that takes away from a simulated drive.
    pub(super) fn watch_changes(&self, id: MediumId) -> StepResult<()> {
        let Some(mount) = self.simulated.get(&id) else {
            return Ok(());
        };
        if let Some(drive) = self.plan.medium(id).kind.emulated() {
            let is_lying = drive.flush == FlushPolicy::Ignored;
            let buffer = volatile_buffer(&drive_spec(drive)?, is_lying);
            mount.watch_changes(buffer.filter(|_| is_lying));
        }
        Ok(())
    }

    /// What simulated drives served in whole seconds since the last call.
    pub(super) fn record_requests(&mut self) -> StepResult<()> {
        for (id, mount) in &self.simulated {
            let medium = &self.plan.medium(*id).name;
            let subject = self.file.subject(SubjectKind::Medium, medium)?;
            for (second, served) in mount.drive().take_served() {
                let [start, end] = [second, second + 1].map(Nanos::from_secs);
                self.file.drive_second(subject, start, end, &served)?;
            }
            for (at, kind) in mount.drive().rebuild_events() {
                self.file.event(&Event {
                    at,
                    subject: Some(subject),
                    severity: Severity::Note,
                    kind,
                })?;
            }
        }
        Ok(())
    }

    /// What sessions of a system on a simulated drive spent their time on in whole seconds since the last call.
    pub(super) fn record_time(&mut self, medium: MediumId, system: SubjectId) -> StepResult<()> {
        let Some(mount) = self.simulated.get(&medium) else {
            return Ok(());
        };
        let seconds = mount.machine().take_time().into_iter();
        let rows: Vec<WaitRow> = seconds
            .flat_map(|(second, times)| wait_rows(system, second, &times))
            .collect();
        self.file.waits(&rows)?;
        Ok(())
    }

    /// The clock, where time is virtual.
    pub(super) fn virtual_clock(&self) -> Option<VirtualClock> {
        match &self.clock {
            Clock::Virtual(clock) => Some(clock.clone()),
            Clock::Real(_) => None,
        }
    }

    /// Where the sessions of a system on this medium connect: on a simulated one through its VFS.
    pub(super) fn timed_endpoint(&self, endpoint: Endpoint, medium: Option<MediumId>) -> Endpoint {
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
}

/// Of one second, as if sessions had been looked at each millisecond.
fn wait_rows(system: SubjectId, second: u64, times: &TimeByState) -> Vec<WaitRow> {
    let states = WaitState::ALL.iter().zip(times);
    let sessions = states.map(|(state, time)| (*state, (time.as_secs_f64() * 1e3).round() as u32));
    let present = sessions.filter(|(_, sessions)| *sessions > 0);
    present
        .map(|(state, sessions)| WaitRow {
            subject: system,
            start: Nanos::from_secs(second),
            end: Nanos::from_secs(second + 1),
            state,
            event: String::new(),
            sessions,
            samples: 1_000,
        })
        .collect()
}

fn facts(spec: &DriveSpec, setup: &Setup, cpus: u32, limits: &Limits) -> Vec<(String, String)> {
    let flush = match setup.ignores_flush {
        true => "ignored",
        false => "honest",
    };
    let slower = (spec.slower != 1.0).then(|| ("slower".to_owned(), spec.slower.to_string()));
    let facts = [
        ("drive", spec.id.clone()),
        ("drive_title", spec.title.clone()),
        ("drive_file", spec.to_toml()),
        ("capacity", setup.capacity.to_string()),
        ("fill", setup.fill.to_string()),
        ("flush", flush.to_owned()),
        (SIMULATED_FACT, "yes".to_owned()),
        (SIMULATED_CPUS_FACT, cpus.to_string()),
    ];
    let memory = limits
        .memory
        .map(|memory| (SIMULATED_MEMORY_FACT.to_owned(), memory.to_string()));
    let facts = facts.map(|(key, value)| (key.to_owned(), value));
    let speed = limits
        .cpu_speed
        .map(|speed| (SIMULATED_SPEED_FACT.to_owned(), speed.to_string()));
    let facts = facts.into_iter().chain(slower).chain(memory);
    facts.chain(speed).collect()
}
