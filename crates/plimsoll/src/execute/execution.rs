//! A run's state.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use plimsoll_load::clock::Clock;
use plimsoll_load::limit::Device;
use plimsoll_load::probe::{self, Probe, Watch};
use plimsoll_plan::MediumId;
use plimsoll_plan::resolved::{IoLimits, ResolvedPlan};
use plimsoll_plan::units::Nanos;
use plimsoll_record::message::EventKind;
use plimsoll_record::runfile::{RunFile, RunFileError};
use plimsoll_record::{Event, Severity, SubjectId};
use plimsoll_report::message::Messages;

use plimsoll_virtual::vfs::VirtualMount;
use plimsoll_worker::session::Together;

use super::drives::MountedDrive;
use super::error::{RunError, StepResult};
use super::hosts::Hosts;
use super::inbox::Inbox;
use super::job::NextFactor;
use super::running::RunningSystems;
use super::wait::{ProgressUnit, RunSink, Waiter};
use crate::progress::Progress;
use crate::signals::Interrupt;

pub(super) struct Execution<'a> {
    pub plan: &'a ResolvedPlan,
    /// Of the inputs.
    pub seed: u64,
    pub run_id: &'a str,
    /// Devices and files of others that block steps may overwrite.
    pub overwrite: &'a [PathBuf],
    pub file: RunFile,
    pub clock: Clock,
    pub probe: Option<Probe>,
    pub inbox: Inbox,
    pub interrupt: Interrupt,
    pub progress: Progress,
    pub running: RunningSystems,
    pub hosts: Hosts,
    /// The hosts that run the same plan in step with this one.
    pub together: Option<Arc<Together>>,
    /// Emulated drives that are mounted, by their media.
    pub drives: HashMap<MediumId, MountedDrive>,
    /// Those of virtual time.
    pub simulated: HashMap<MediumId, VirtualMount>,
    /// Media that the doctor has checked.
    pub diagnosed: HashSet<MediumId>,
    /// Points begun, of all purposes.
    pub points: u32,
    /// Losses after power cuts.
    pub not_durable: Vec<String>,
    /// What could not be cleared away.
    pub trouble: Vec<String>,
    /// One of these drives that falls behind ends the run.
    pub next_factors: &'a [NextFactor],
    /// I/O limits that were tested on a device.
    pub tried: Vec<(Device, IoLimits)>,
}

/// An execution's parts, borrowed apart: results are written while systems are in use.
pub(super) struct Parts<'a> {
    pub running: &'a RunningSystems,
    pub drives: &'a HashMap<MediumId, MountedDrive>,
    pub simulated: &'a HashMap<MediumId, VirtualMount>,
    pub probe: Option<&'a Probe>,
    pub together: Option<&'a Together>,
    pub clock: &'a Clock,
    pub interrupt: &'a Interrupt,
    pub sink: RunSink<'a>,
}

impl<'a> Parts<'a> {
    pub fn waiter<'s>(&'s mut self, what: &'s str, counted: ProgressUnit) -> Waiter<'s, 'a> {
        Waiter {
            sink: &mut self.sink,
            interrupt: self.interrupt,
            clock: self.clock,
            what,
            counted,
        }
    }
}

impl Execution<'_> {
    /// Lets time pass.
    pub fn pass_until(&self, at: Nanos) -> StepResult<()> {
        match &self.clock {
            Clock::Real(_) => self.clock.block_until(at),
            Clock::Virtual(clock) => self
                .clock
                .block_on(clock.sleep_until(at))
                .map_err(|error| RunError::failed(format!("no runtime: {error}")))?,
        }
        Ok(())
    }

    pub fn parts(&mut self) -> Parts<'_> {
        Parts {
            running: &self.running,
            drives: &self.drives,
            simulated: &self.simulated,
            probe: self.probe.as_ref(),
            together: self.together.as_deref(),
            clock: &self.clock,
            interrupt: &self.interrupt,
            sink: RunSink {
                file: &mut self.file,
                inbox: &self.inbox,
                progress: &mut self.progress,
            },
        }
    }

    pub fn watch(&self, subject: SubjectId, watch: Watch) {
        if let Some(probe) = &self.probe {
            probe.watch(subject, watch);
        }
    }

    /// Whether the medium's emulator runs, if it has one.
    pub fn drive_lives(&self, medium: Option<MediumId>) -> bool {
        medium
            .and_then(|medium| self.drives.get(&medium))
            .is_none_or(|drive| drive.died().is_none())
    }

    pub fn record_event(
        &self,
        subject: Option<SubjectId>,
        severity: Severity,
        kind: EventKind,
    ) -> StepResult<()> {
        self.progress.print(&Messages::english().event(&kind));
        self.file.event(&Event {
            at: self.clock.now(),
            subject,
            severity,
            kind,
        })?;
        Ok(())
    }

    /// Records what the probes could not read.
    pub fn record_warnings(&self, warnings: Vec<probe::Warning>) -> Result<(), RunFileError> {
        warnings
            .into_iter()
            .try_for_each(|probe::Warning { subject, kind }| {
                self.file.event(&Event {
                    at: self.clock.now(),
                    subject: Some(subject),
                    severity: Severity::Warning,
                    kind,
                })
            })
    }
}
