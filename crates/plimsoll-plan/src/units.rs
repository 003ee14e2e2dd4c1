//! Units that cannot be mistaken for one another.
//!
//! Inside, time is [`Nanos`] on the run's own timeline and sizes are [`Bytes`]; outside, the unit is part of the name
//! (`latency_us`, `timeout_ms`). A MiB is not a MB.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Nanoseconds: a length of time, or an instant counted from the start of the run. Sums saturate: times in an imported
/// file may be of any size.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    pub const ZERO: Self = Self(0);
    pub const SECOND: Self = Self(1_000_000_000);

    pub const fn from_millis(ms: u64) -> Self {
        Self(ms.saturating_mul(1_000_000))
    }

    pub const fn from_micros(us: u64) -> Self {
        Self(us.saturating_mul(1_000))
    }

    pub const fn from_secs(s: u64) -> Self {
        Self(s.saturating_mul(1_000_000_000))
    }

    /// Rounds to the nearest nanosecond; a negative or non-finite number becomes zero.
    pub fn from_secs_f64(s: f64) -> Self {
        Self((s.max(0.0) * 1e9).round() as u64)
    }

    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    pub fn as_micros_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }

    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Nanos {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<u64> for Nanos {
    type Output = Self;
    fn mul(self, n: u64) -> Self {
        Self(self.0.saturating_mul(n))
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Nanos {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

impl From<Duration> for Nanos {
    fn from(d: Duration) -> Self {
        Self(u64::try_from(d.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Nanos> for Duration {
    fn from(n: Nanos) -> Self {
        Self::from_nanos(n.0)
    }
}

/// The shortest exact reading a person would write: `1h 30m`, `45s`, `2.5ms`, `300us`.
impl Nanos {
    /// As people state an estimate: from ten seconds on in whole seconds.
    pub fn rounded(self) -> Self {
        match self.0 >= 10 * Self::SECOND.0 {
            true => Self::from_secs(self.0.div_ceil(Self::SECOND.0)),
            false => self,
        }
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => write!(f, "0s"),
            ns if ns < 1_000_000 => write!(f, "{}us", ns as f64 / 1e3),
            ns if ns < 1_000_000_000 => write!(f, "{}ms", ns as f64 / 1e6),
            ns if ns < 60_000_000_000 || ns % 1_000_000_000 != 0 => {
                write!(f, "{}s", ns as f64 / 1e9)
            }
            ns => {
                let secs = ns / 1_000_000_000;
                let parts = [(secs / 3600, "h"), (secs / 60 % 60, "m"), (secs % 60, "s")];
                let shown: Vec<String> = parts
                    .iter()
                    .filter(|(n, _)| *n > 0)
                    .map(|(n, unit)| format!("{n}{unit}"))
                    .collect();
                write!(f, "{}", shown.join(" "))
            }
        }
    }
}

/// A number of bytes. Sums saturate.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl Bytes {
    pub const fn mib(n: u64) -> Self {
        Self(n << 20)
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Mul<u64> for Bytes {
    type Output = Self;
    fn mul(self, n: u64) -> Self {
        Self(self.0.saturating_mul(n))
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self(0), Add::add)
    }
}

/// Binary units with one decimal: `4.0 KiB`, `1.5 GiB`.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
        if self.0 < 1024 {
            return write!(f, "{} B", self.0);
        }
        let mut value = self.0 as f64 / 1024.0;
        let mut unit = 0;
        while value >= 1024.0 && unit + 1 < UNITS.len() {
            value /= 1024.0;
            unit += 1;
        }
        write!(f, "{value:.1} {}", UNITS[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_read_as_a_person_writes_them() {
        let shown: Vec<String> = [
            0,
            300_000,
            2_500_000,
            45_000_000_000,
            1_500_000_000,
            60_000_000_000,
            5_400_000_000_000,
            3_661_000_000_000,
        ]
        .map(|ns| Nanos(ns).to_string())
        .into();
        assert_eq!(
            shown,
            [
                "0s", "300us", "2.5ms", "45s", "1.5s", "1m", "1h 30m", "1h 1m 1s"
            ]
        );
    }

    #[test]
    fn sizes_are_binary() {
        assert_eq!(Bytes(1023).to_string(), "1023 B");
        assert_eq!(Bytes(1536).to_string(), "1.5 KiB");
        assert_eq!(Bytes::mib(2048).to_string(), "2.0 GiB");
    }
}
