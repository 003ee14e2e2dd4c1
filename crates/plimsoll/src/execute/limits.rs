//! Limits of a system: set before it starts, verified afterwards, recorded as facts.

use std::path::Path;

use plimsoll_block::host::device::device_of;
use plimsoll_load::error::LoadError;
use plimsoll_load::limit::{self, CgroupLimits, Device};
use plimsoll_load::scratch::Scratch;
use plimsoll_load::system::Instance;
use plimsoll_model::plan::resolved::{IoLimits, ResolvedPlan, System, WithoutLimits};
use plimsoll_model::record::{Severity, SubjectId};

use super::{Course, Execution, Halt};
use crate::failure::Failure;

/// Tries the limits that the plan cannot do without. Touches nothing but small control groups of its own.
pub(super) fn check(plan: &ResolvedPlan) -> Result<(), Failure> {
    let used = |system: &&System| plan.steps.iter().any(|step| step.systems().any(|name| name == system.name));
    for system in plan.systems.iter().filter(used) {
        if !system.limits.is_none() && system.limits.without == WithoutLimits::Refuse {
            limit::probe(&system.limits).map_err(|error| Failure::usage(format!("system {}: {error}", system.name)))?;
        }
    }
    Ok(())
}

impl Execution<'_> {
    /// What limits the system, whose data will be at that place.
    pub(super) fn cage(
        &mut self,
        system: &System,
        subject: SubjectId,
        place: Option<&Path>,
    ) -> Course<Option<CgroupLimits>> {
        let limits = &system.limits;
        if limits.is_none() {
            return Ok(None);
        }
        let device = place.and_then(|place| device_of(place).ok()).map(|device| {
            // Of a partition the kernel takes no limit.
            let disk = device.disk();
            (disk.major, disk.minor)
        });
        let made = limit::probe(limits).and_then(|()| CgroupLimits::create(limits, device));
        let made = made.and_then(|cage| Ok((cage, self.try_io(&limits.io, device.zip(place))?)));
        match (made, limits.without) {
            (Ok((cage, untried)), _) => {
                if let Some(why) = untried {
                    let text =
                        format!("system {}: its limits of I/O are set and were not tried out: {why}", system.name);
                    self.tell(Some(subject), Severity::Warning, "limits_untried", &text)?;
                }
                let facts: Vec<(String, String)> =
                    cage.told().iter().map(|(file, is)| (format!("limit.{file}"), is.clone())).collect();
                self.file.facts(subject, &facts)?;
                Ok(Some(cage))
            }
            (Err(error), WithoutLimits::Refuse) => Err(Halt::Failed(format!("system {}: {error}", system.name))),
            (Err(error), WithoutLimits::Warn) => {
                let text = format!("system {} is NOT limited, it may use the whole machine: {error}", system.name);
                self.tell(Some(subject), Severity::Warning, "not_limited", &text)?;
                Ok(None)
            }
        }
    }

    /// Tries limits of I/O where the data will be, once for each device: equal systems have equal ones.
    fn try_io(&mut self, io: &IoLimits, at: Option<(Device, &Path)>) -> Result<Option<String>, LoadError> {
        let Some((device, place)) = at.filter(|(device, _)| !io.is_none() && !self.tried.contains(&(*device, *io)))
        else {
            return Ok(None);
        };
        let scratch = Scratch::create(place, &format!("{}-limits", self.run_id))?;
        let tried = limit::try_io(io, device, scratch.path());
        let removed = scratch.remove();
        let untried = tried?;
        removed?;
        // What could not be tried is told of each system that it holds for.
        if untried.is_none() {
            self.tried.push((device, *io));
        }
        Ok(untried)
    }
}

/// Whether the server is where its limits are.
pub(super) fn verify(system: &System, instance: &Instance) -> Course<()> {
    match instance.limits() {
        Some((cage, pid)) if !cage.holds(pid) => Err(Halt::Failed(format!(
            "system {}: its server {pid} is not in the control groups that were made for it, so nothing limits it",
            system.name
        ))),
        _ => Ok(()),
    }
}
