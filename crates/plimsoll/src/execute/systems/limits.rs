//! Limits of a system: set before it starts, verified afterwards, recorded as facts.

use std::path::Path;

use plimsoll_block::host::device::device_of;
use plimsoll_load::error::LoadError;
use plimsoll_load::limit::{self, CgroupLimits, Device};
use plimsoll_load::scratch::Scratch;
use plimsoll_load::system::Instance;
use plimsoll_plan::resolved::{IoLimits, ResolvedPlan, Step, System, WithoutLimits};
use plimsoll_record::message::EventKind;
use plimsoll_record::{Severity, SubjectId};

use super::super::error::{RunError, StepResult};
use super::super::run::RunContext;
use crate::failure::Failure;

/// Tests the limits that the plan requires. Touches nothing but small control groups that it makes.
pub(in crate::execute) fn check(plan: &ResolvedPlan) -> Result<(), Failure> {
    for id in plan.system_ids() {
        let system = plan.system(id);
        let mut used = plan.steps.iter().flat_map(Step::systems);
        if !plan.is_simulated()
            && used.any(|used| used == id)
            && !system.limits.is_none()
            && system.limits.without == WithoutLimits::Refuse
        {
            limit::probe(&system.limits)
                .map_err(|error| Failure::usage(format!("system {}: {error}", system.name)))?;
        }
    }
    Ok(())
}

/// Limits of the systems of a run.
pub(super) struct SystemLimits<'a> {
    run: RunContext<'a>,
    /// I/O limits that were tested on a device.
    tried: Vec<(Device, IoLimits)>,
}

impl<'a> SystemLimits<'a> {
    pub fn new(run: RunContext<'a>) -> Self {
        let tried = Vec::new();
        Self { run, tried }
    }

    /// Creates the limits of a system whose data will be in the directory `place`.
    pub fn create(
        &mut self,
        system: &System,
        subject: SubjectId,
        place: Option<&Path>,
    ) -> StepResult<Option<CgroupLimits>> {
        let log = self.run.log;
        let limits = &system.limits;
        if limits.is_none() || log.virtual_clock().is_some() {
            return Ok(None);
        }
        let device = place.and_then(|place| device_of(place).ok()).map(|device| {
            // The kernel has no limits for partitions.
            let disk = device.disk();
            Device {
                major: disk.major,
                minor: disk.minor,
            }
        });
        let made = limit::probe(limits).and_then(|()| CgroupLimits::create(limits, device));
        let made = made.and_then(|made| Ok((made, self.try_io(&limits.io, device.zip(place))?)));
        match (made, limits.without) {
            (Ok((made, untried)), _) => {
                if let Some(error) = untried {
                    let system = system.name.clone();
                    let untried = EventKind::LimitsUntried { system, error };
                    log.event(Some(subject), Severity::Warning, untried)?;
                }
                for (file, value) in made.in_effect() {
                    log.fact(subject, &format!("limit.{file}"), value)?;
                }
                Ok(Some(made))
            }
            (Err(error), WithoutLimits::Refuse) => {
                Err(RunError::failed(format!("system {}: {error}", system.name)))
            }
            (Err(error), WithoutLimits::Warn) => {
                let not_limited = EventKind::NotLimited {
                    system: system.name.clone(),
                    error: error.to_string(),
                };
                log.event(Some(subject), Severity::Warning, not_limited)?;
                Ok(None)
            }
        }
    }

    /// Tests I/O limits where the data will be, once for each device and set of limits.
    fn try_io(
        &mut self,
        io: &IoLimits,
        at: Option<(Device, &Path)>,
    ) -> Result<Option<String>, LoadError> {
        let Some((device, place)) =
            at.filter(|(device, _)| !io.is_none() && !self.tried.contains(&(*device, *io)))
        else {
            return Ok(None);
        };
        let scratch = Scratch::create(place, &format!("{}-limits", self.run.job.run_id))?;
        let tried = limit::try_io(io, device, scratch.path());
        let removed = scratch.remove();
        let untried = tried?;
        removed?;
        // An untested limit is reported for each of its systems.
        if untried.is_none() {
            self.tried.push((device, *io));
        }
        Ok(untried)
    }
}

/// Checks that the server is in its control groups.
pub(super) fn verify(system: &System, instance: &Instance) -> StepResult<()> {
    match instance.limits() {
        Some((limits, pid)) if !limits.holds(pid) => Err(RunError::failed(format!(
            "system {}: its server {pid} is not in its control groups, so it is not limited",
            system.name
        ))),
        _ => Ok(()),
    }
}
