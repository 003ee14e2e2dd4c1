//! Networks between drives and those who use them, by name: `network=10Gb`, `round-trip=50us`.

use serde::{Deserialize, Serialize};

use crate::duration;
use crate::units::Nanos;

/// A network, in each direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkSpec {
    #[serde(default = "default_gbit")]
    pub gbit: u32,
    /// There and back, for a message without data.
    #[serde(default = "default_round_trip")]
    pub round_trip: Nanos,
}

pub const FASTEST_GBIT: u32 = 800;

pub(crate) const fn default_gbit() -> u32 {
    25
}

/// Round trip of TCP in a decent network (yourcmc.ru, Ceph performance).
pub(crate) const fn default_round_trip() -> Nanos {
    Nanos::from_micros(60)
}

/// Reads `25Gb`.
pub(crate) fn parse_gbit(text: &str) -> Option<u32> {
    text.strip_suffix("Gb")?.parse().ok()
}

pub(crate) fn write_gbit(gbit: u32) -> String {
    format!("{gbit}Gb")
}

impl Default for NetworkSpec {
    fn default() -> Self {
        Self {
            gbit: default_gbit(),
            round_trip: default_round_trip(),
        }
    }
}

impl NetworkSpec {
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Option<()> {
        match key {
            "network" => self.gbit = parse_gbit(value)?,
            "round-trip" => self.round_trip = duration::parse(value).ok()?,
            _ => return None,
        }
        Some(())
    }
}
