//! Reaches the hosts of a plan before its first step, and leaves them at the end of the run.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::ScopedJoinHandle;

use plimsoll_plan::HostId;
use plimsoll_plan::units::Nanos;
use plimsoll_record::message::EventKind;
use plimsoll_record::{Event, Severity, SubjectId, SubjectKind};
use plimsoll_report::message::Messages;
use plimsoll_worker::host::OwnProgram;
use plimsoll_worker::link::{HostTarget, Link, LinkError};
use plimsoll_worker::offset::DateStep;
use plimsoll_worker::state::SessionId;

use super::error::{RunError, StepResult};
use super::execution::Execution;
use super::hosts::RunHost;

impl Execution<'_> {
    /// Starts a worker on each host that the plan takes load from or watches.
    pub(super) fn reach_hosts(&mut self) -> StepResult<()> {
        let wanted = self.plan.used_hosts();
        if wanted.is_empty() {
            return Ok(());
        }
        let names = wanted
            .iter()
            .map(|host| self.plan.host(*host).name.as_str());
        let names: Vec<&str> = names.collect();
        let text = format!("Starting workers: {}", names.join(", "));
        self.progress.print(&text);
        let own = OwnProgram::find()
            .map_err(|error| RunError::failed(format!("plimsoll cannot read itself: {error}")))?;
        let mut targets = Vec::new();
        for host in wanted {
            targets.push((host, self.target(host)?));
        }
        let clock = &self.clock;
        let reached: Vec<(HostId, SubjectId, Result<Link, LinkError>)> =
            std::thread::scope(|scope| {
                let begun: Vec<(HostId, SubjectId, ScopedJoinHandle<'_, _>)> = targets
                    .into_iter()
                    .map(|(host, target)| {
                        let own = own.clone();
                        let subject = target.subject;
                        let reach = move || Link::connect(target, own, clock.clone());
                        (host, subject, scope.spawn(reach))
                    })
                    .collect();
                let reached = begun.into_iter().map(|(host, subject, reaches)| {
                    let link = reaches.join().unwrap_or_else(|panic| {
                        std::panic::resume_unwind(panic);
                    });
                    (host, subject, link)
                });
                reached.collect()
            });
        for (host, subject, link) in reached {
            let link = link.map_err(|error| {
                RunError::failed(format!(
                    "{error}\nTry its command by hand: it has to work without a question."
                ))
            })?;
            let link = Arc::new(link);
            self.hosts.links.insert(host, RunHost { link, subject });
        }
        self.describe_hosts()
    }

    fn target(&self, id: HostId) -> StepResult<HostTarget> {
        let host = self.plan.host(id).clone();
        let subject = self.file.subject(SubjectKind::Worker, &host.name)?;
        let session = format!("{}-{}", self.run_id, id.index());
        let session = SessionId::parse(&session)
            .ok_or_else(|| RunError::failed(format!("`{session}` is no name for a session")))?;
        Ok(HostTarget {
            host,
            session,
            subject,
            samples: self.inbox.from_hosts.clone(),
        })
    }

    /// Disks of machines that existing systems run on are watched from there.
    fn watch_disks(&self, host: &RunHost, disks: &[String]) -> StepResult<()> {
        let name = &host.link.host().name;
        let mut subjects = BTreeMap::new();
        for disk in disks {
            let placed = format!("{disk}.{name}");
            subjects.insert(
                disk.clone(),
                self.file.subject(SubjectKind::Device, &placed)?,
            );
        }
        host.link.watch_disks(subjects);
        Ok(())
    }

    fn describe_hosts(&self) -> StepResult<()> {
        let systems = self.plan.systems.iter();
        let watched: Vec<HostId> = systems.filter_map(|system| system.host).collect();
        for (id, host) in &self.hosts.links {
            let mut facts = vec![("via".to_owned(), host.link.host().via.join(" "))];
            if let Some(known) = host.link.facts() {
                facts.push(("host_name".into(), known.host_name));
                facts.push(("kernel".into(), known.kernel));
                facts.push(("architecture".into(), known.architecture));
                facts.push(("cpus".into(), known.processors.to_string()));
                facts.push(("plimsoll_version".into(), known.program));
                if watched.contains(id) {
                    self.watch_disks(host, &known.disks)?;
                }
            }
            self.file.facts(host.subject, &facts)?;
        }
        Ok(self.file.commit()?)
    }

    /// Records their clocks and what became of their links, and ends the workers.
    pub(super) fn leave_hosts(&mut self) -> StepResult<()> {
        let hosts = std::mem::take(&mut self.hosts);
        for host in hosts.links.values() {
            self.record_clock(host)?;
            self.record_link(host)?;
        }
        // The workers end side by side: each drop waits for its own.
        std::thread::scope(|scope| {
            for host in hosts.links.into_values() {
                scope.spawn(move || drop(host));
            }
        });
        Ok(())
    }

    fn record_clock(&self, host: &RunHost) -> StepResult<()> {
        let offsets = host.link.offsets();
        if let Some(clock) = offsets.figures() {
            let mut facts = vec![
                (
                    "date_ahead_ms".to_owned(),
                    format!("{:.2}", clock.date_ahead_ms),
                ),
                (
                    "date_within_ms".to_owned(),
                    format!("{:.2}", clock.within_ms),
                ),
            ];
            let drift = clock.drift_ppm.map(|ppm| format!("{ppm:.1}"));
            facts.extend(drift.map(|ppm| ("clock_drift_ppm".to_owned(), ppm)));
            self.file.facts(host.subject, &facts)?;
        }
        for DateStep { at, micros } in offsets.steps() {
            let kind = EventKind::HostDateSet {
                host: host.link.host().name.clone(),
                ms: *micros as f64 / 1e3,
            };
            self.host_event(host, *at, kind)?;
        }
        Ok(())
    }

    fn record_link(&self, host: &RunHost) -> StepResult<()> {
        for cut in host.link.cuts() {
            // One that did not come back is the end of its lanes, which they report.
            let Some(to) = cut.to else { continue };
            let kind = EventKind::LinkCut {
                host: host.link.host().name.clone(),
                seconds: to.saturating_sub(cut.from).as_secs_f64(),
            };
            self.host_event(host, cut.from, kind)?;
        }
        Ok(())
    }

    fn host_event(&self, host: &RunHost, at: Nanos, kind: EventKind) -> StepResult<()> {
        self.progress.print(&Messages::english().event(&kind));
        Ok(self.file.event(&Event {
            at,
            subject: Some(host.subject),
            severity: Severity::Warning,
            kind,
        })?)
    }
}
