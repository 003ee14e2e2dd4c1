//! What networks and processors make requests wait for.

use plimsoll_plan::units::Nanos;

/// Data in what a network carries: 1448 of the 1538 bytes that a TCP segment takes on Ethernet, with the time stamps that
/// Linux sends (RFC 7323).
pub const TCP_SHARE: f64 = 1448.0 / 1538.0;

/// Takes requests in the order in which they come, one at a time: a line in one direction, or a processor.
#[derive(Debug, Clone, Copy, Default)]
pub struct Server {
    free_at: Nanos,
}

impl Server {
    /// When a request is done that keeps it busy for so long.
    pub fn serve(&mut self, now: Nanos, busy: Nanos) -> Nanos {
        self.free_at = self.free_at.max(now) + busy;
        self.free_at
    }
}

/// How fast a line carries data.
#[derive(Debug, Clone, Copy)]
pub struct LineRate {
    ns_per_byte: f64,
}

impl LineRate {
    /// `share` of the bits are data. All times are so many times as long.
    pub fn new(gbit: u32, share: f64, slower: f64) -> Self {
        Self {
            ns_per_byte: 8.0 / (f64::from(gbit) * share) * slower,
        }
    }

    /// How long data keep the line busy.
    pub fn transfer(&self, bytes: u64) -> Nanos {
        Nanos((bytes as f64 * self.ns_per_byte) as u64)
    }
}

/// A time that is so many times as long.
pub fn slowed(time: Nanos, times: f64) -> Nanos {
    Nanos((time.0 as f64 * times) as u64)
}
