//! What happens to members of an array, or to a cluster, while a step runs.

use serde::{Deserialize, Serialize};

use crate::units::Nanos;

/// What happens to a member while a step runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MemberEvent {
    /// After the point's measurement began.
    pub at: Nanos,
    #[serde(flatten)]
    pub change: MemberChange,
}

/// Of a drive of an array, or a host of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum MemberChange {
    Fail {
        member: u32,
    },
    /// By a new drive, which is filled from the others.
    Replace {
        member: u32,
    },
    /// One that failed is there again with what it had: what was written meanwhile is copied from the others.
    Return {
        member: u32,
    },
    /// Its drives take so many times as long as before all events.
    Slow {
        member: u32,
        factor: f64,
    },
    /// Every host's network has this bandwidth in each direction.
    Network {
        gbit: u32,
    },
}

impl MemberChange {
    /// `None`: it happens to all of them.
    pub const fn member(self) -> Option<u32> {
        match self {
            Self::Fail { member }
            | Self::Replace { member }
            | Self::Return { member }
            | Self::Slow { member, .. } => Some(member),
            Self::Network { .. } => None,
        }
    }
}
