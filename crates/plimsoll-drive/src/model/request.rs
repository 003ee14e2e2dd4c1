//! What a drive is asked for, and how it is used.

use plimsoll_plan::units::Bytes;
use plimsoll_record::drive::DriveOp;

/// One request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Op {
    pub kind: DriveOp,
    /// In bytes from the start of the drive as it is used (see [`Setup::capacity`]).
    pub offset: u64,
    pub len: u64,
}

/// How a drive is used.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// Size in use. A drive made smaller keeps its timing: positions and fill are taken as shares of the capacity.
    pub capacity: Bytes,
    /// Share of the capacity, 0 to 1, that holds data which is never rewritten. 1 is a drive in steady state, as data
    /// sheets of servers' drives state their figures.
    pub fill: f64,
    /// Of all random draws.
    pub seed: u64,
    /// Flushes are acknowledged at once and do nothing: a drive that lies.
    pub ignores_flush: bool,
}

impl Setup {
    /// Of one of several drives: each draws its own random numbers.
    pub fn of_member(&self, member: u32) -> Self {
        Self {
            seed: self.seed ^ u64::from(member).wrapping_mul(0x9e37_79b9_7f4a_7c15),
            ..self.clone()
        }
    }
}
