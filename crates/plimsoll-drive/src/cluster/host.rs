//! A host: what it stores, and what its network and processors take.

use plimsoll_plan::cluster::{ClusterKind, ClusterSpec};
use plimsoll_plan::units::Nanos;

use super::host_store::HostStore;
use crate::network::{LineRate, TCP_SHARE, slowed};

/// Share of a network's line rate that data get. Fitted to report K's cluster with 40 Gbit/s, of whose sequential reads
/// (17.8 GB/s) and 64 KiB mix (121,240/s) the drives could do 1.4 times as much; its cluster with 10 Gbit/s was held out.
const NETWORK_SHARE_VSAN: f64 = 0.37;

#[derive(Debug, Clone)]
pub struct ClusterHost {
    pub store: HostStore,
    pub is_down: bool,
    /// It has been down for so long that what it had is rebuilt elsewhere, as soon as there is where.
    pub is_repair_due: bool,
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
    /// Of the line rate that data get.
    share: f64,
    rate: LineRate,
}

impl HostTimes {
    /// All times are so many times as long.
    pub fn new(spec: &ClusterSpec, slower: f64) -> Self {
        let share = match spec.kind {
            ClusterKind::Vsan => NETWORK_SHARE_VSAN,
            ClusterKind::Ceph => TCP_SHARE,
        };
        Self {
            stack: slowed(spec.stack(), slower),
            one_way: slowed(Nanos(spec.round_trip.0 / 2), slower),
            share,
            rate: LineRate::new(spec.network_gbit, share, slower),
        }
    }

    /// Of each host, in each direction.
    pub fn set_network(&mut self, gbit: u32, slower: f64) {
        self.rate = LineRate::new(gbit, self.share, slower);
    }

    /// How long data keep a host's network busy.
    pub fn transfer(&self, bytes: u64) -> Nanos {
        self.rate.transfer(bytes)
    }
}
