//! Hosts that load comes from, or that are watched, while they are reached.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_plan::HostId;
use plimsoll_plan::units::Nanos;
use plimsoll_record::SubjectId;
use plimsoll_worker::link::Link;
use plimsoll_worker::protocol::JobId;

/// Time for a start to reach all hosts, on slow links too.
pub(super) const START_LEAD: Nanos = Nanos::from_millis(500);

/// The hosts that are reached.
#[derive(Default)]
pub(super) struct Hosts {
    pub links: BTreeMap<HostId, RunHost>,
    jobs: u32,
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

    /// Of a lane.
    pub fn next_job(&mut self) -> JobId {
        self.jobs += 1;
        JobId(self.jobs)
    }
}
