//! What a system may use of the machine.

use serde::{Deserialize, Serialize};

use crate::words::plan_words;

use crate::units::Bytes;

/// Limits of a server that plimsoll starts, as a smaller machine would have them; the simulated machine of SQLite. `None` is no
/// limit, or what such a machine has by default.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Processor time, in CPUs: 1.5 is three halves of one.
    pub cpus: Option<f64>,
    /// Which CPUs, as the kernel lists them: `0-3,8`. Empty: any.
    pub cpu_set: String,
    /// Of the simulated machine of SQLite, against the reference.
    pub cpu_speed: Option<f64>,
    /// Memory with the page cache that its reads and writes fill; it gets no swap.
    pub memory: Option<Bytes>,
    /// On the block device below its medium.
    pub io: IoLimits,
    pub without: WithoutLimits,
}

/// Per second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoLimits {
    pub read_bytes: Option<Bytes>,
    pub write_bytes: Option<Bytes>,
    pub reads: Option<u64>,
    pub writes: Option<u64>,
}

plan_words! {
    /// Where the machine cannot limit.
    #[derive(Default)]
    pub enum WithoutLimits {
        /// The run is refused.
        #[default]
        Refuse,
        /// The run goes on without, with a warning.
        Warn,
    }
}

impl IoLimits {
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl Limits {
    pub fn is_none(&self) -> bool {
        let Self {
            cpus,
            cpu_speed,
            cpu_set,
            memory,
            io,
            without: _,
        } = self;
        cpus.is_none()
            && cpu_speed.is_none()
            && cpu_set.is_empty()
            && memory.is_none()
            && io.is_none()
    }

    /// How many CPUs the system can use at a time; `None`: all of the machine.
    pub fn cpu_limit(&self) -> Option<f64> {
        let in_set = (!self.cpu_set.is_empty()).then(|| count(&self.cpu_set) as f64);
        [self.cpus, in_set].into_iter().flatten().reduce(f64::min)
    }
}

/// Of CPUs in a list of the kernel's, which was checked before.
fn count(cpu_set: &str) -> u64 {
    let ranges = cpu_set.split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.trim().parse::<u64>(), last.trim().parse::<u64>());
        Some(last.ok()?.saturating_sub(first.ok()?) + 1)
    });
    ranges.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smaller_of_two_limits_of_cpus_counts() {
        let of = |cpus, cpu_set: &str| {
            let cpu_set = cpu_set.to_owned();
            let limits = Limits {
                cpus,
                cpu_set,
                ..Limits::default()
            };
            limits.cpu_limit()
        };
        assert_eq!(of(None, ""), None);
        assert_eq!(of(Some(1.5), ""), Some(1.5));
        assert_eq!(of(None, "0-3,8"), Some(5.0));
        assert_eq!(of(Some(6.0), "0-3,8"), Some(5.0));
        assert_eq!(of(Some(0.5), "3"), Some(0.5));
    }
}
