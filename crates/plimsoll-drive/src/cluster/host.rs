//! A host: its network, its processors, its disk group.

use plimsoll_plan::cluster::ClusterSpec;
use plimsoll_plan::units::Nanos;

use super::disk_group::DiskGroup;
use crate::network::{LineRate, slowed};

pub use crate::network::Server;

/// Share of a network's line rate that data get. Fitted to report K's cluster with 40 Gbit/s, of whose sequential reads
/// (17.8 GB/s) and 64 KiB mix (121,240/s) the drives could do 1.4 times as much; its cluster with 10 Gbit/s was held out.
const NETWORK_SHARE: f64 = 0.37;

#[derive(Debug, Clone)]
pub struct ClusterHost {
    pub group: DiskGroup,
    /// Processors, as one server: what a host can do in a second counts, not what a request waits.
    pub stack: Server,
    pub sending: Server,
    pub receiving: Server,
    pub is_down: bool,
    /// How often it has failed or was replaced: what was on its way to the drives that it had then is not for those it has
    /// now.
    pub generation: u32,
}

/// What things take between and on hosts.
#[derive(Debug, Clone, Copy)]
pub struct HostTimes {
    pub stack: Nanos,
    /// From host to host.
    pub one_way: Nanos,
    rate: LineRate,
}

impl HostTimes {
    /// All times are so many times as long.
    pub fn new(spec: &ClusterSpec, slower: f64) -> Self {
        Self {
            stack: slowed(spec.stack, slower),
            one_way: slowed(Nanos(spec.round_trip.0 / 2), slower),
            rate: LineRate::new(spec.network_gbit, NETWORK_SHARE, slower),
        }
    }

    /// How long data keep a host's network busy.
    pub fn transfer(&self, bytes: u64) -> Nanos {
        self.rate.transfer(bytes)
    }
}
