//! Reaches the hosts of a plan before its first step, and leaves them at the end of the run.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_plan::HostId;
use plimsoll_plan::units::Nanos;
use plimsoll_record::message::EventKind;
use plimsoll_record::{Event, Severity, SubjectId, SubjectKind};
use plimsoll_report::message::Messages;
use plimsoll_worker::link::{HostTarget, JournalAnchor};
use plimsoll_worker::offset::DateStep;

use super::error::{RunError, StepResult};
use super::execution::Execution;
use super::hosts::{ANCHOR_FACTS, RunHost, anchor_facts, end_all, reach_all, session_of};

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
        let mut subjects = Vec::new();
        let mut targets = Vec::new();
        for host in &wanted {
            let target = self.target(*host)?;
            subjects.push(target.subject);
            targets.push(target);
        }
        let links = reach_all(targets, &self.clock, &self.interrupt)?;
        for ((host, subject), link) in wanted.into_iter().zip(subjects).zip(links) {
            let link = Arc::new(link);
            self.hosts.links.insert(host, RunHost { link, subject });
        }
        self.describe_hosts()
    }

    fn target(&self, id: HostId) -> StepResult<HostTarget> {
        let host = self.plan.host(id).clone();
        let subject = self.file.subject(SubjectKind::Worker, &host.name)?;
        let session = session_of(self.run_id, id).ok_or_else(|| {
            RunError::failed(format!("`{}` is no name for a session", self.run_id))
        })?;
        Ok(HostTarget {
            host,
            session,
            subject,
            samples: self.inbox.from_hosts.clone(),
            past: None,
            orders: self.interrupt.subscribe(),
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
            let mut facts = vec![("via".to_owned(), host.link.host().shown_via())];
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
            for fact in ANCHOR_FACTS {
                self.file.forget_fact(host.subject, fact)?;
            }
        }
        end_all(hosts.links.into_values());
        Ok(())
    }

    /// Before a lane on these hosts: where it is found in their journals, if this process is killed.
    pub(super) fn record_anchors(&mut self, hosts: &[HostId]) -> StepResult<()> {
        let hosts = hosts.iter().filter_map(|host| self.hosts.links.get(host));
        let anchors = hosts.filter_map(|host| Some((host.subject, host.link.anchor()?)));
        let anchors: Vec<(SubjectId, JournalAnchor)> = anchors.collect();
        // The samples that count as read.
        self.inbox.store(&mut self.file, &self.progress)?;
        for (subject, anchor) in anchors {
            self.file.facts(subject, &anchor_facts(anchor))?;
        }
        Ok(self.file.commit()?)
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
