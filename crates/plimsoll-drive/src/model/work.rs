//! What a drive did.

use plimsoll_plan::units::Nanos;
use plimsoll_record::drive::DriveOp;

use crate::spec::Watts;

/// What a drive was asked for, and what it did for that.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Work {
    /// Indexed as [`plimsoll_record::drive::DriveOp::ALL`].
    pub ops: [u64; 4],
    pub bytes: [u64; 4],
    /// How long reads and writes kept the medium busy.
    pub reading: Nanos,
    pub writing: Nanos,
    /// How long all requests took together.
    pub in_flight: Nanos,
    /// Bytes that went to flash, with those that were copied to make room; 0 where there is no flash.
    pub flash_bytes: f64,
}

impl Work {
    /// Mean power in `span`: idle power, and what reading and writing add while they last.
    pub fn watts(&self, watts: Watts, span: Nanos) -> f64 {
        let reading = share_of(self.reading, span);
        let writing = share_of(self.writing, span).min(1.0 - reading);
        watts.idle + (watts.read - watts.idle) * reading + (watts.write - watts.idle) * writing
    }

    /// Bytes that went to flash for each byte that was written; `None` without flash or writes.
    pub fn write_amplification(&self) -> Option<f64> {
        let written = self.bytes[DriveOp::Write as usize];
        (self.flash_bytes > 0.0 && written > 0).then(|| self.flash_bytes / written as f64)
    }

    /// Requests in flight in the mean of `span`: throughput times response time (Little 1961).
    pub fn queue(&self, span: Nanos) -> f64 {
        self.in_flight.as_secs_f64() / span.as_secs_f64().max(1e-9)
    }

    /// This and `other`.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            ops: std::array::from_fn(|i| self.ops[i] + other.ops[i]),
            bytes: std::array::from_fn(|i| self.bytes[i].saturating_add(other.bytes[i])),
            reading: self.reading + other.reading,
            writing: self.writing + other.writing,
            in_flight: self.in_flight + other.in_flight,
            flash_bytes: self.flash_bytes + other.flash_bytes,
        }
    }

    /// What was added since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let Self {
            ops,
            bytes,
            reading,
            writing,
            in_flight,
            flash_bytes,
        } = earlier;
        Self {
            ops: std::array::from_fn(|i| self.ops[i].saturating_sub(ops[i])),
            bytes: std::array::from_fn(|i| self.bytes[i].saturating_sub(bytes[i])),
            reading: self.reading.saturating_sub(*reading),
            writing: self.writing.saturating_sub(*writing),
            in_flight: self.in_flight.saturating_sub(*in_flight),
            flash_bytes: self.flash_bytes - flash_bytes,
        }
    }
}

fn share_of(busy: Nanos, span: Nanos) -> f64 {
    (busy.as_secs_f64() / span.as_secs_f64().max(1e-9)).min(1.0)
}
