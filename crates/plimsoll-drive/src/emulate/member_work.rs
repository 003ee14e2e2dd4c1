//! What each drive of an array or a cluster did in a second.

use plimsoll_plan::units::Nanos;
use plimsoll_record::drive::{DriveOp, MemberSecond};

use crate::model::Work;
use crate::spec::Watts;

/// The work of each drive when the last second ended.
#[derive(Debug, Default)]
pub struct MemberWork {
    before: Vec<Work>,
    drives: Vec<DrivePower>,
}

/// What a drive takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DrivePower {
    /// The member that it belongs to: of an array itself, of a cluster its host.
    pub member: u32,
    /// `None` where its file has no figures for it.
    pub watts: Option<Watts>,
}

const NO_POWER: Watts = Watts {
    idle: 0.0,
    read: 0.0,
    write: 0.0,
};

impl MemberWork {
    pub const fn new(drives: Vec<DrivePower>) -> Self {
        let before = Vec::new();
        Self { before, drives }
    }

    /// `now`: of each drive since it was made. The second lasted for `span`; drives of members that are missing at its
    /// end took no power.
    pub fn end_second(
        &mut self,
        now: Vec<Work>,
        is_missing: impl Fn(u32) -> bool,
        span: Nanos,
    ) -> Vec<MemberSecond> {
        let before = std::mem::replace(&mut self.before, now);
        let before = before.iter().map(Some).chain(std::iter::repeat(None));
        let watts = self.drives.iter().map(|own| {
            let missing = is_missing(own.member);
            own.watts.map(|own| if missing { NO_POWER } else { own })
        });
        let drives = self.before.iter().zip(before);
        let drives = drives.zip(watts.chain(std::iter::repeat(None)));
        drives
            .map(|((now, before), watts)| second(now, before, watts, span))
            .collect()
    }
}

fn second(now: &Work, before: Option<&Work>, watts: Option<Watts>, span: Nanos) -> MemberSecond {
    // With fewer requests than before it is another drive, which has replaced that.
    let is_same = |before: &&Work| now.ops.iter().zip(before.ops).all(|(now, n)| *now >= n);
    let before = before.filter(is_same);
    let own = before.map_or_else(|| now.clone(), |before| now.since(before));
    let [read, write] = [DriveOp::Read, DriveOp::Write].map(|kind| kind as usize);
    MemberSecond {
        reads: own.ops[read],
        writes: own.ops[write],
        read_bytes: own.bytes[read],
        written_bytes: own.bytes[write],
        flash_bytes: own.flash_bytes,
        busy: own.reading + own.writing,
        in_flight: own.in_flight,
        watts: watts.map(|watts| own.watts(watts, span)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(ops: u64) -> Work {
        Work {
            ops: [0, ops, 0, 0],
            bytes: [0, 4096 * ops, 0, 0],
            flash_bytes: 8192.0 * ops as f64,
            ..Work::default()
        }
    }

    #[test]
    fn seconds_are_differences_and_a_new_drive_begins_anew() {
        let watts = Watts {
            idle: 2.0,
            read: 3.0,
            write: 6.0,
        };
        let drives = [0, 1].map(|member| DrivePower {
            member,
            watts: Some(watts),
        });
        let mut members = MemberWork::new(drives.to_vec());
        let busy = Work {
            writing: Nanos::from_millis(500),
            ..Work::default()
        };
        let work = vec![busy.clone(), busy.clone(), busy];
        let second = members.end_second(work, |member| member == 1, Nanos::SECOND);
        let watts = second.iter().map(|own| own.watts);
        assert_eq!(watts.collect::<Vec<_>>(), [Some(4.0), Some(0.0), None]);
        let mut writes = |ops: [u64; 2]| -> Vec<u64> {
            let seconds = members.end_second(ops.map(written).to_vec(), |_| false, Nanos::SECOND);
            let whole = seconds.iter();
            assert!(
                whole
                    .clone()
                    .all(|own| own.written_bytes == 4096 * own.writes)
            );
            assert!(
                whole
                    .clone()
                    .all(|own| own.flash_bytes == 8192.0 * own.writes as f64)
            );
            whole.map(|own| own.writes).collect()
        };
        assert_eq!(writes([10, 20]), [10, 20]);
        assert_eq!(writes([15, 5]), [5, 5]);
        assert_eq!(writes([15, 8]), [0, 3]);
    }
}
