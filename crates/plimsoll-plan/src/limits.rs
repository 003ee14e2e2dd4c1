//! What a system may use of the machine.

use serde::{Deserialize, Serialize};

use crate::units::Bytes;

/// Limits of a server that plimsoll starts, as a smaller machine would have them. `None` is no limit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Processor time, in CPUs: 1.5 is three halves of one.
    pub cpus: Option<f64>,
    /// Which CPUs, as the kernel lists them: `0-3,8`. Empty: any.
    pub cpu_set: String,
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

/// Where the machine cannot limit.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum WithoutLimits {
    /// The run is refused.
    #[default]
    Refuse,
    /// The run goes on without, with a warning.
    Warn,
}

impl WithoutLimits {
    pub fn name(self) -> &'static str {
        self.into()
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
            cpu_set,
            memory,
            io,
            without: _,
        } = self;
        cpus.is_none() && cpu_set.is_empty() && memory.is_none() && io.is_none()
    }
}
