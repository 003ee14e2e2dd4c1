//! The shape of a load: how many users, at which rate, and what the mock engine answers.

use serde::{Deserialize, Serialize};

use crate::words::plan_words;

use crate::units::Nanos;

/// What the mock engine does: latencies, stalls and failures under whichever clock the lane has.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MockScript {
    /// Service time of every transaction.
    pub latency: Nanos,
    /// Uniformly distributed extra service time, drawn from the lane's seed.
    pub jitter: Nanos,
    /// Mean of exponentially distributed extra service time.
    pub exponential: Nanos,
    /// Transactions that take longer than the others.
    pub slow: Option<SlowShare>,
    /// Times on the point's timeline in which no transaction makes progress.
    pub stalls: Vec<Stall>,
    /// Every n-th transaction of a session fails.
    pub fail_every: Option<u64>,
    /// Every n-th transaction of a session has to be retried once.
    pub retry_every: Option<u64>,
    /// Times in which the system is away: sessions are lost when one begins, and none can be opened until it is over.
    pub outages: Vec<Stall>,
}

/// This share of all transactions takes this much longer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SlowShare {
    pub share: f64,
    pub by: Nanos,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stall {
    pub at: Nanos,
    pub lasts: Nanos,
}

/// How intents are generated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum LoadShape {
    /// Each user starts its next intent when the last one ended, after thinking. They share `connections`, at most one
    /// each: with as many as users due = start, with fewer an intent is due when its user wants it and starts when a
    /// connection is free.
    Closed { users: u32, connections: u32 },
    /// Intents become due at this rate whatever the system does; `users` of them can be under way at once, `queue` wait.
    Open {
        users: u32,
        per_second: f64,
        /// The rate at the end of the measurement, towards which it goes evenly from its beginning on; `per_second` for
        /// one that stays.
        to_per_second: f64,
        arrivals: Arrivals,
        queue: u32,
    },
}

impl LoadShape {
    /// A closed loop in which every user has a connection.
    pub fn closed(users: u32) -> Self {
        Self::Closed {
            users,
            connections: users,
        }
    }

    /// With so many times the rate, or the users, each with a connection.
    pub fn scaled(self, factor: f64) -> Self {
        match self {
            Self::Closed { users, .. } => Self::closed((f64::from(users) * factor) as u32),
            Self::Open {
                users,
                per_second,
                arrivals,
                queue,
                ..
            } => Self::Open {
                users,
                per_second: per_second * factor,
                to_per_second: per_second * factor,
                arrivals,
                queue,
            },
        }
    }

    pub fn connections(self) -> u32 {
        match self {
            Self::Closed { connections, .. } => connections,
            Self::Open { users, .. } => users,
        }
    }

    pub fn users(self) -> u32 {
        match self {
            Self::Closed { users, .. } | Self::Open { users, .. } => users,
        }
    }
}

plan_words! {
    /// Distances between due times in an open loop.
    pub enum Arrivals {
        /// Equal distances.
        Constant,
        /// Exponentially distributed distances: independent users.
        Poisson,
    }
}
