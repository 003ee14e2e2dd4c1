//! Counts answers, second by second.

use plimsoll_plan::units::Nanos;
use plimsoll_record::drive::{DriveOp, DriveSecond, DriveTally};

/// An operation is late without doubt when it took this much longer than modelled, as a share: a drive of constant
/// latency has all its percentiles in one place, and a microsecond more would be beyond every one of them.
const SLACK: u64 = 10;
/// The 90th, 99th and 99.9th percentile.
const LEVELS: [f64; 3] = [0.9, 0.99, 0.999];

/// Percentiles of the modelled times of the last full second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TimePercentiles([Nanos; 3]);

impl TimePercentiles {
    /// By kind; none for a kind without operations.
    pub fn of(second: &DriveSecond) -> [Option<Self>; 4] {
        second.tallies.each_ref().map(|tally| {
            let modelled = (!tally.modelled.is_empty()).then_some(&tally.modelled)?;
            Some(Self(
                LEVELS.map(|level| modelled.quantile(level).unwrap_or_default()),
            ))
        })
    }

    /// Whether an operation took longer than the next percentile above its modelled time: the 90th for all up to it,
    /// then the 99th, then the 99.9th. None lies above that one. Less than a tenth too long is never beyond.
    fn is_beyond(&self, modelled: Nanos, real: Nanos) -> bool {
        let next = self.0.iter().find(|threshold| modelled <= **threshold);
        next.is_some_and(|next| real > *next && real.0 > modelled.0 + modelled.0 / SLACK)
    }
}

#[derive(Debug)]
pub struct Recorder {
    /// Indexed as [`DriveOp::ALL`].
    tallies: Box<[DriveTally; 4]>,
    thresholds: [TimePercentiles; 4],
    from: Nanos,
}

fn index(kind: DriveOp) -> usize {
    DriveOp::ALL
        .into_iter()
        .position(|op| op == kind)
        .expect("all kinds are in ALL")
}

impl Recorder {
    pub fn new(now: Nanos) -> Self {
        Self {
            tallies: Box::default(),
            thresholds: Default::default(),
            from: now,
        }
    }

    /// An operation was answered: `real` after its arrival, with the cost of asking and answering.
    pub fn answered(&mut self, kind: DriveOp, bytes: u64, modelled: Nanos, real: Nanos) {
        let at = index(kind);
        let tally = &mut self.tallies[at];
        tally.ops += 1;
        tally.bytes += bytes;
        tally.modelled.record(modelled);
        tally.real.record(real);
        tally.late.record(real.saturating_sub(modelled));
        tally.beyond += u64::from(self.thresholds[at].is_beyond(modelled, real));
    }

    pub fn failed(&mut self, kind: DriveOp) {
        let tally = &mut self.tallies[index(kind)];
        tally.ops += 1;
        tally.errors += 1;
    }

    /// Ends a second. `spare` takes the place of what is handed out and must be empty: nothing large is allocated,
    /// cleared or searched while operations wait to be counted. [`Self::compare_with`] belongs to it.
    pub fn end_second(
        &mut self,
        now: Nanos,
        in_flight: u64,
        spare: Box<[DriveTally; 4]>,
    ) -> DriveSecond {
        let tallies = *std::mem::replace(&mut self.tallies, spare);
        let from = std::mem::replace(&mut self.from, now);
        DriveSecond {
            from,
            to: now,
            tallies,
            in_flight,
            members: Vec::new(),
        }
    }

    /// From now on operations are compared with these percentiles, where there were any operations.
    pub fn compare_with(&mut self, thresholds: [Option<TimePercentiles>; 4]) {
        for (old, new) in self.thresholds.iter_mut().zip(thresholds) {
            *old = new.unwrap_or(*old);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_the_next_percentile() {
        let [p90, p99, p999] = [100, 200, 400].map(Nanos::from_micros);
        let thresholds = TimePercentiles([p90, p99, p999]);
        let beyond = |modelled, real| {
            thresholds.is_beyond(Nanos::from_micros(modelled), Nanos::from_micros(real))
        };
        assert!(!beyond(50, 100) && beyond(50, 101));
        assert!(!beyond(95, 104), "less than a tenth late");
        assert!(beyond(95, 105));
        assert!(!beyond(150, 190) && beyond(150, 201));
        assert!(!beyond(300, 400) && beyond(300, 401));
        assert!(!beyond(500, 5000), "there is no percentile above");
        assert!(
            !TimePercentiles::default().is_beyond(Nanos(5), Nanos(50)),
            "nothing is known in the first second"
        );
    }

    #[test]
    fn a_second_is_judged_by_the_one_before() {
        let mut recorder = Recorder::new(Nanos(7));
        let us = Nanos::from_micros;
        let end = |recorder: &mut Recorder, now, in_flight| {
            let second = recorder.end_second(Nanos(now), in_flight, Box::default());
            recorder.compare_with(TimePercentiles::of(&second));
            second
        };
        recorder.answered(DriveOp::Read, 4096, us(80), us(200));
        recorder.failed(DriveOp::Write);
        let first = end(&mut recorder, 9, 3);
        assert_eq!(
            (first.from, first.to, first.in_flight),
            (Nanos(7), Nanos(9), 3)
        );
        let [read, write, ..] = &first.tallies;
        assert_eq!(
            (read.ops, read.bytes, read.errors, read.beyond),
            (1, 4096, 0, 0)
        );
        assert_eq!((write.ops, write.errors, write.real.count()), (1, 1, 0));
        assert_eq!(read.late.max(), Some(us(120)));
        recorder.answered(DriveOp::Read, 512, us(80), us(200));
        recorder.answered(DriveOp::Read, 512, us(80), us(79));
        let second = end(&mut recorder, 11, 0);
        let read = &second.tallies[0];
        assert_eq!(
            (read.ops, read.beyond, read.late.sum()),
            (2, 1, u128::from(us(120).0))
        );
        assert_eq!(end(&mut recorder, 12, 0).tallies[0], DriveTally::default());
        recorder.answered(DriveOp::Read, 512, us(80), us(200));
        assert_eq!(
            end(&mut recorder, 13, 0).tallies[0].beyond,
            1,
            "of the last busy second"
        );
    }
}
