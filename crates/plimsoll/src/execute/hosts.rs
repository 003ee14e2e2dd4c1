//! Hosts that load comes from, or that are watched, while they are reached.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_load::clock::Clock;
use plimsoll_plan::HostId;
use plimsoll_plan::units::Nanos;
use plimsoll_record::{PointId, Record, SubjectId};
use plimsoll_worker::host::OwnProgram;
use plimsoll_worker::link::{HostTarget, JournalAnchor, Link};
use plimsoll_worker::protocol::JobId;
use plimsoll_worker::state::SessionId;

use super::error::{RunError, StepResult};
use super::wait::REFRESH;
use crate::signals::Interrupt;

/// Time for a start to reach all hosts, on slow links too.
pub(super) const START_LEAD: Nanos = Nanos::from_millis(500);

/// The hosts that are reached.
#[derive(Default)]
pub(super) struct Hosts {
    pub links: BTreeMap<HostId, RunHost>,
}

pub(super) struct RunHost {
    pub link: Arc<Link>,
    pub subject: SubjectId,
}

impl Hosts {
    pub fn links(&self, hosts: &[HostId]) -> Vec<Arc<Link>> {
        let links = hosts.iter().filter_map(|host| self.links.get(host));
        links.map(|host| host.link.clone()).collect()
    }
}

/// The number of a point's lane for the hosts: whoever joins the run knows the points.
pub(super) fn job_of(point: PointId) -> JobId {
    JobId(point.0)
}

/// The session of a host, for the length of the run.
pub(super) fn session_of(run_id: &str, host: HostId) -> Option<SessionId> {
    SessionId::parse(&format!("{run_id}-{}", host.index()))
}

/// Reaches hosts side by side. Where one fails, or the user wants to end, none is left running.
pub(super) fn reach_all(
    targets: Vec<HostTarget>,
    clock: &Clock,
    interrupt: &Interrupt,
) -> StepResult<Vec<Link>> {
    let own = OwnProgram::find()
        .map_err(|error| RunError::failed(format!("plimsoll cannot read itself: {error}")))?;
    let mut links = Vec::new();
    for target in targets {
        let link = Link::begin(target, own.clone(), clock.clone());
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

/// Side by side: each drop waits for its own worker's end.
pub(super) fn end_all<L: Send>(links: impl IntoIterator<Item = L>) {
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
pub(super) const ANCHOR_FACTS: [&str; 3] = [REPORTS_READ, CLOCK_AHEAD, INCARNATION];

pub(super) fn anchor_facts(anchor: JournalAnchor) -> Vec<(String, String)> {
    let mut facts = vec![
        (REPORTS_READ.to_owned(), anchor.received.to_string()),
        (CLOCK_AHEAD.to_owned(), anchor.ahead.to_string()),
    ];
    let incarnation = anchor.incarnation.map(|own| own.to_string());
    facts.extend(incarnation.map(|own| (INCARNATION.to_owned(), own)));
    facts
}

/// From the facts of a host's subject.
pub(super) fn anchor_of(record: &Record, subject: SubjectId) -> Option<JournalAnchor> {
    let fact = |key: &str| {
        let mut own = record.facts.iter().filter(|fact| fact.subject == subject);
        own.find(|fact| fact.key == key).map(|fact| &fact.value)
    };
    Some(JournalAnchor {
        // Files of older versions have none.
        incarnation: fact(INCARNATION).and_then(|own| own.parse().ok()),
        received: fact(REPORTS_READ)?.parse().ok()?,
        ahead: fact(CLOCK_AHEAD)?.parse().ok()?,
    })
}
