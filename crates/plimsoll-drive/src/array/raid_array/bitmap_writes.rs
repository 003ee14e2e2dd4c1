//! Writes to an array with a write-intent bitmap wait until it has the bits of their regions.

use plimsoll_plan::array::BitmapPlace;
use plimsoll_plan::units::Nanos;
use plimsoll_record::drive::DriveOp;

use super::{Array, NextPhase};
use crate::array::bitmap::{Bitmap, BitmapStep, WaitingWrite};
use crate::array::layout::ArrayLayout;
use crate::array::members::{MemberRequest, Members};
use crate::model::{Op, RequestId};

impl<M: Members> Array<M> {
    /// Writes once the bitmap has the regions' bits.
    pub(super) fn write_marked(&mut self, now: Nanos, host: RequestId, op: Op) {
        let [from, to] = [op.offset, op.offset + op.len].map(|at| self.member_offset(at));
        let Some(bitmap) = &mut self.bitmap else {
            return self.write(now, host, op);
        };
        let regions = bitmap.regions(from, to);
        if bitmap.is_set(now, regions) {
            return self.write(now, host, op);
        }
        self.host.add_part(host);
        bitmap.wait(WaitingWrite { host, op, regions });
        self.begin_bits(now);
    }

    /// About where on its members a byte of the array is.
    fn member_offset(&self, offset: u64) -> u64 {
        let ArrayLayout {
            members, copies, ..
        } = self.layout;
        let data = u64::from(members - self.layout.level.parities());
        offset / data * u64::from(copies)
    }

    fn begin_bits(&mut self, now: Nanos) {
        if !self.bitmap.as_mut().is_some_and(Bitmap::begin) {
            return;
        }
        match self.spec.bitmap_on {
            BitmapPlace::Internal => self.ask_all(now, DriveOp::Flush, BitmapStep::FlushBefore),
            BitmapPlace::External => self.write_external(now),
        }
    }

    pub(super) fn set_bits(&mut self, now: Nanos, done: BitmapStep) {
        match done {
            BitmapStep::FlushBefore => self.ask_all(now, DriveOp::Write, BitmapStep::Write),
            BitmapStep::Write => self.ask_all(now, DriveOp::Flush, BitmapStep::Last),
            BitmapStep::Last => {
                let waited = self.bitmap.as_mut().map(|own| own.end(now));
                for WaitingWrite { host, op, .. } in waited.into_iter().flatten() {
                    self.write(now, host, op);
                    self.begin(now, Vec::new(), NextPhase::Complete(host));
                }
                self.begin_bits(now);
            }
        }
    }

    /// A block of the bitmap's file, on the drive behind the members.
    fn write_external(&mut self, now: Nanos) {
        let op = Op {
            kind: DriveOp::Write,
            offset: 0,
            len: 4096,
        };
        let member = self.layout.members;
        let write = vec![MemberRequest { member, op }];
        self.begin(now, write, NextPhase::SetBits(BitmapStep::Last));
    }

    /// The bitmap lies at the end of every member.
    fn ask_all(&mut self, now: Nanos, kind: DriveOp, step: BitmapStep) {
        let len = if kind == DriveOp::Flush { 0 } else { 4096 };
        let end = self.layout.rows * self.layout.chunk;
        let offset = end.saturating_sub(4096);
        let requests = self.to_all(Op { kind, offset, len });
        self.begin(now, requests, NextPhase::SetBits(step));
    }
}
