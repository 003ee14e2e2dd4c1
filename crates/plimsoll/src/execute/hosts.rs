//! Hosts that load comes from, or that are watched: reached before the first step, left at the end of the run.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_load::clock::Clock;
use plimsoll_plan::units::Nanos;
use plimsoll_plan::{HostId, ResolvedPlan};
use plimsoll_record::message::EventKind;
use plimsoll_record::runfile::RunFileError;
use plimsoll_record::{Event, PointId, Record, Severity, SubjectId, SubjectKind};
use plimsoll_worker::host::OwnProgram;
use plimsoll_worker::link::{HostTarget, JournalAnchor, Link, PastSession};
use plimsoll_worker::offset::DateStep;
use plimsoll_worker::protocol::JobId;
use plimsoll_worker::state::SessionId;

use super::error::{RunError, StepResult};
use super::log::RunLog;
use super::run::RunContext;
use super::wait::REFRESH;
use crate::signals::Interrupt;

/// Time for a start to reach all hosts, on slow links too.
pub(super) const START_LEAD: Nanos = Nanos::from_millis(500);

/// The hosts that are reached.
#[derive(Default)]
pub(super) struct Hosts {
    links: BTreeMap<HostId, RunHost>,
}

struct RunHost {
    link: Arc<Link>,
    subject: SubjectId,
}

/// A run whose hosts are reached.
#[derive(Clone, Copy)]
pub(super) struct ReachedRun<'a> {
    pub id: &'a str,
    pub plan: &'a ResolvedPlan,
    pub log: &'a RunLog,
    pub interrupt: &'a Interrupt,
}

impl<'a> From<RunContext<'a>> for ReachedRun<'a> {
    fn from(run: RunContext<'a>) -> Self {
        Self {
            id: &run.job.run_id,
            plan: run.plan(),
            log: run.log,
            interrupt: run.interrupt,
        }
    }
}

impl ReachedRun<'_> {
    /// Starts a worker on each host that the plan takes load from or watches; `past` is what the worker of a killed run has
    /// to have.
    pub fn reach(
        self,
        title: &str,
        past: impl Fn(HostId, SubjectId) -> Option<PastSession>,
    ) -> StepResult<Hosts> {
        let wanted = self.plan.used_hosts();
        if wanted.is_empty() {
            return Ok(Hosts::default());
        }
        let names: Vec<&str> = wanted
            .iter()
            .map(|host| self.plan.host(*host).name.as_str())
            .collect();
        let text = format!("{title}: {}", names.join(", "));
        self.log.progress().print(&text);
        let mut subjects = Vec::new();
        let mut targets = Vec::new();
        for id in &wanted {
            let target = self.target(*id, &past)?;
            subjects.push(target.subject);
            targets.push(target);
        }
        let links = reach_all(targets, self.log.clock(), self.interrupt)?;
        let hosts = subjects.into_iter().zip(links).map(|(subject, link)| {
            let link = Arc::new(link);
            RunHost { link, subject }
        });
        Ok(Hosts {
            links: wanted.into_iter().zip(hosts).collect(),
        })
    }

    fn target(
        self,
        id: HostId,
        past: impl Fn(HostId, SubjectId) -> Option<PastSession>,
    ) -> StepResult<HostTarget> {
        let host = self.plan.host(id).clone();
        let subject = self.log.subject(SubjectKind::Worker, &host.name)?;
        let session = SessionId::parse(&format!("{}-{}", self.id, id.index()));
        Ok(HostTarget {
            host,
            session: session.ok_or_else(|| {
                RunError::failed(format!("`{}` is no name for a session", self.id))
            })?,
            subject,
            samples: self.log.host_sender(),
            past: past(id, subject),
            orders: self.interrupt.subscribe(),
        })
    }
}

impl Hosts {
    /// Links of some of the hosts.
    pub fn links(&self, hosts: &[HostId]) -> Vec<Arc<Link>> {
        let links = hosts.iter().filter_map(|host| self.links.get(host));
        links.map(|host| host.link.clone()).collect()
    }

    pub fn all(&self) -> impl Iterator<Item = &Link> {
        self.links.values().map(|host| &*host.link)
    }

    /// Records facts of the hosts, and watches disks of machines that existing systems run on.
    pub fn describe(&self, plan: &ResolvedPlan, log: &RunLog) -> StepResult<()> {
        if self.links.is_empty() {
            return Ok(());
        }
        for (id, host) in &self.links {
            let mut facts = vec![("via".to_owned(), host.link.host().shown_via())];
            if let Some(known) = host.link.facts() {
                facts.push(("host_name".into(), known.host_name));
                facts.push(("kernel".into(), known.kernel));
                facts.push(("architecture".into(), known.architecture));
                facts.push(("cpus".into(), known.processors.to_string()));
                facts.push(("plimsoll_version".into(), known.program));
                if plan.systems.iter().any(|system| system.host == Some(*id)) {
                    host.watch_disks(log, &known.disks)?;
                }
            }
            log.file().facts(host.subject, &facts)?;
        }
        Ok(log.file().commit()?)
    }

    /// Records before a lane on these hosts where it is found in their journals, if this process is killed.
    pub fn record_anchors(&self, log: &RunLog, hosts: &[HostId]) -> StepResult<()> {
        let hosts = hosts.iter().filter_map(|host| self.links.get(host));
        let anchors: Vec<(SubjectId, JournalAnchor)> = hosts
            .filter_map(|host| Some((host.subject, host.link.anchor()?)))
            .collect();
        // The samples that count as read.
        log.receive()?;
        for (subject, anchor) in anchors {
            log.file().facts(subject, &anchor_facts(anchor))?;
        }
        Ok(log.file().commit()?)
    }

    /// Removes the facts by which a killed run is joined.
    pub fn forget_anchors(&self, log: &RunLog) -> Result<(), RunFileError> {
        for host in self.links.values() {
            for fact in ANCHOR_FACTS {
                log.file().forget_fact(host.subject, fact)?;
            }
        }
        Ok(())
    }

    /// Records the hosts' clocks and what became of their links, and ends the workers.
    pub fn leave(self, log: &RunLog) -> StepResult<()> {
        for host in self.links.values() {
            host.record_clock(log)?;
        }
        self.forget_anchors(log)?;
        self.end();
        Ok(())
    }

    pub fn end(self) {
        end_all(self.links.into_values());
    }
}

impl RunHost {
    fn watch_disks(&self, log: &RunLog, disks: &[String]) -> StepResult<()> {
        let name = &self.link.host().name;
        let mut subjects = BTreeMap::new();
        for disk in disks {
            let subject = log.subject(SubjectKind::Device, &format!("{disk}.{name}"))?;
            subjects.insert(disk.clone(), subject);
        }
        self.link.watch_disks(subjects);
        Ok(())
    }

    fn record_clock(&self, log: &RunLog) -> StepResult<()> {
        let offsets = self.link.offsets();
        if let Some(clock) = offsets.figures() {
            let ahead = format!("{:.2}", clock.date_ahead_ms);
            log.fact(self.subject, "date_ahead_ms", &ahead)?;
            let within = format!("{:.2}", clock.within_ms);
            log.fact(self.subject, "date_within_ms", &within)?;
            if let Some(ppm) = clock.drift_ppm {
                log.fact(self.subject, "clock_drift_ppm", &format!("{ppm:.1}"))?;
            }
        }
        for DateStep { at, micros } in offsets.steps() {
            log.event_at(Event {
                at: *at,
                subject: Some(self.subject),
                severity: Severity::Warning,
                kind: EventKind::HostDateSet {
                    host: self.link.host().name.clone(),
                    ms: *micros as f64 / 1e3,
                },
            })?;
        }
        Ok(())
    }
}

/// The number of a point's lane for the hosts: whoever joins the run knows the points.
pub(super) fn job_of(point: PointId) -> JobId {
    JobId(point.0)
}

/// Reaches hosts side by side. Where one fails, or the user wants to end, none is left running.
fn reach_all(
    targets: Vec<HostTarget>,
    clock: &Clock,
    interrupt: &Interrupt,
) -> StepResult<Vec<Link>> {
    let program = OwnProgram::find()
        .map_err(|error| RunError::failed(format!("plimsoll cannot read itself: {error}")))?;
    let mut links = Vec::new();
    for target in targets {
        let link = Link::begin(target, program.clone(), clock.clone());
        links.push(
            link.map_err(|error| RunError::failed(format!("no thread for a host: {error}")))?,
        );
    }
    let reached = links.iter().try_for_each(|link| wait_for(link, interrupt));
    match reached {
        Ok(()) => Ok(links),
        Err(error) => {
            end_all(links);
            Err(error)
        }
    }
}

fn wait_for(link: &Link, interrupt: &Interrupt) -> StepResult<()> {
    loop {
        match link.reached_within(REFRESH) {
            Some(reached) => {
                return reached.map_err(|error| {
                    RunError::failed(format!(
                        "{error}\nTry its command by hand: it has to work without a question."
                    ))
                });
            }
            None if interrupt.is_wanted() => return Err(RunError::Interrupted),
            None => {}
        }
    }
}

/// Drops links side by side: each drop waits for its worker's end.
fn end_all<L: Send>(links: impl IntoIterator<Item = L>) {
    std::thread::scope(|scope| {
        for link in links {
            scope.spawn(move || drop(link));
        }
    });
}

/// Facts of a host while its run lasts, by which the run can be joined when plimsoll is killed.
const REPORTS_READ: &str = "reports_read";
const CLOCK_AHEAD: &str = "clock_ahead_ns";
const INCARNATION: &str = "session_incarnation";
const ANCHOR_FACTS: [&str; 3] = [REPORTS_READ, CLOCK_AHEAD, INCARNATION];

fn anchor_facts(anchor: JournalAnchor) -> Vec<(String, String)> {
    vec![
        (REPORTS_READ.to_owned(), anchor.received.to_string()),
        (CLOCK_AHEAD.to_owned(), anchor.ahead.to_string()),
        (INCARNATION.to_owned(), anchor.incarnation.to_string()),
    ]
}

/// Where the journal of a host was read until, from the facts of its subject. One that does not state of which session is
/// none: from another session's journal as many reports would be left out.
pub(super) fn anchor_of(record: &Record, subject: SubjectId) -> Option<JournalAnchor> {
    let fact = |key: &str| {
        let mut facts = record.facts.iter();
        facts
            .find(|fact| fact.subject == subject && fact.key == key)
            .map(|fact| &fact.value)
    };
    Some(JournalAnchor {
        incarnation: fact(INCARNATION)?.parse().ok()?,
        received: fact(REPORTS_READ)?.parse().ok()?,
        ahead: fact(CLOCK_AHEAD)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use plimsoll_record::Fact;
    use plimsoll_record::fixture::single_point;
    use plimsoll_worker::protocol::Incarnation;

    use super::*;

    #[test]
    fn an_anchor_is_of_one_session() {
        let subject = SubjectId(7);
        let anchor = JournalAnchor {
            incarnation: Incarnation::draw(),
            received: 3,
            ahead: -5,
        };
        let mut record = single_point();
        record.facts = anchor_facts(anchor)
            .into_iter()
            .map(|(key, value)| Fact {
                subject,
                key,
                value,
            })
            .collect();
        assert_eq!(anchor_of(&record, subject), Some(anchor));
        record.facts.retain(|fact| fact.key != INCARNATION);
        assert_eq!(anchor_of(&record, subject), None);
    }
}
