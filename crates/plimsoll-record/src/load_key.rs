//! The identity of a load.

use serde::Serialize;

use plimsoll_plan::Interference;

/// The load that is offered: users, or a rate.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct OfferedLoad {
    pub users: u32,
    /// Transactions or requests per second of an open loop; `None` in a closed loop.
    pub offered_per_second: Option<f64>,
    /// The rate at the end of the window, where it is not the same throughout.
    pub offered_to_per_second: Option<f64>,
    /// Percent of the rate that a job of block I/O reaches at full speed, where the rate is a share of it: loads of one
    /// share are the same load, although that rate differs from medium to medium and from round to round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_percent: Option<f64>,
}

impl OfferedLoad {
    pub fn closed(users: u32) -> Self {
        Self {
            users,
            ..Self::default()
        }
    }

    pub fn is_open(&self) -> bool {
        self.offered_per_second.is_some()
    }

    /// By which loads of one ladder are ordered: the rate in an open loop, else the users.
    pub fn height(&self) -> f64 {
        self.offered_per_second.unwrap_or(f64::from(self.users))
    }

    /// The part of each of so many equal systems.
    pub fn of_each(self, systems: usize) -> Self {
        let systems = systems.max(1);
        let each = |rate: f64| rate / systems as f64;
        Self {
            users: self.users / systems as u32,
            offered_per_second: self.offered_per_second.map(each),
            offered_to_per_second: self.offered_to_per_second.map(each),
            ..self
        }
    }

    /// Rates bit by bit, so that one that is no number equals itself.
    fn bits(&self) -> (u32, [Option<u64>; 3]) {
        let rates = [
            (self.offered_per_second).filter(|_| self.share_percent.is_none()),
            self.offered_to_per_second,
            self.share_percent,
        ];
        (self.users, rates.map(|rate| rate.map(f64::to_bits)))
    }
}

impl PartialEq for OfferedLoad {
    fn eq(&self, other: &Self) -> bool {
        self.bits() == other.bits()
    }
}

impl Eq for OfferedLoad {}

/// A load: points with equal keys repeat each other.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LoadKey {
    pub step: String,
    /// Empty of block I/O.
    pub system: String,
    /// `None` of a system that keeps its data elsewhere.
    pub medium: Option<String>,
    /// Load on the medium beside the system's.
    pub scene: Interference,
    /// The job of block I/O.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    #[serde(flatten)]
    pub load: OfferedLoad,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_equals_itself_whatever_its_rate_is() {
        let open = |rate| OfferedLoad {
            offered_per_second: Some(rate),
            ..OfferedLoad::closed(4)
        };
        assert_eq!(open(f64::NAN), open(f64::NAN));
        assert_ne!(open(90.0), open(90.5));
        assert_ne!(open(90.0), OfferedLoad::closed(4));
        let together = OfferedLoad {
            offered_per_second: Some(270.0),
            ..OfferedLoad::closed(12)
        };
        assert_eq!(together.of_each(3), open(90.0));
    }
}
