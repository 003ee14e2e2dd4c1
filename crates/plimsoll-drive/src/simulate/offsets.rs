//! Where requests go.

use plimsoll_plan::units::Bytes;
use plimsoll_record::drive::DriveOp;

use super::{AccessOrder, SimulatedProfile};
use crate::model::{Op, Random};

/// The requests of one job, without end.
pub struct Requests {
    random: Random,
    block: u64,
    /// Reads are drawn below this share of 2³².
    reads_below: u64,
    order: AccessOrder,
    first: u64,
    blocks: u64,
    next: u64,
}

impl Requests {
    pub fn new(profile: &SimulatedProfile, capacity: Bytes, job: u32, jobs: u32) -> Self {
        let block = profile.block.0.max(1);
        let set = (capacity.0 as f64 * profile.working_share.clamp(0.0, 1.0)) as u64;
        let all = (set / block).max(1);
        let blocks = match profile.order {
            AccessOrder::Random => all,
            AccessOrder::Sequential => (all / u64::from(jobs)).max(1),
        };
        let first = match profile.order {
            AccessOrder::Random => 0,
            AccessOrder::Sequential => (blocks * u64::from(job)).min(all - 1),
        };
        Self {
            random: Random::new(
                profile.seed
                    ^ u64::from(job)
                        .wrapping_add(1)
                        .wrapping_mul(0xd134_2543_de82_ef95),
            ),
            block,
            reads_below: (profile.read_share.clamp(0.0, 1.0) * 4_294_967_296.0) as u64,
            order: profile.order,
            first,
            blocks,
            next: 0,
        }
    }

    #[inline]
    pub fn next(&mut self) -> Op {
        let drawn = self.random.draw();
        let kind = if drawn & 0xffff_ffff < self.reads_below {
            DriveOp::Read
        } else {
            DriveOp::Write
        };
        let block = match self.order {
            AccessOrder::Random => self.random.below(self.blocks),
            AccessOrder::Sequential => {
                let at = self.next;
                self.next = if at + 1 >= self.blocks { 0 } else { at + 1 };
                self.first + at
            }
        };
        Op {
            kind,
            offset: block * self.block,
            len: self.block,
        }
    }
}
