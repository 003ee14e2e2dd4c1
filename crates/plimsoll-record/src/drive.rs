//! Reports of an emulated drive, one each second.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

use crate::hist::{CoarseHist, Hist};
use crate::metric::Metric;
use crate::{Sample, SubjectId};
use plimsoll_plan::units::Nanos;

/// A kind of request to a drive.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum DriveOp {
    Read,
    Write,
    /// All writes acknowledged before it must survive a power cut.
    Flush,
    /// The range holds no data any more.
    Trim,
}

impl DriveOp {
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Flush, Self::Trim];

    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One kind of operation in one second: its latencies in the model and on the clock.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DriveTally {
    /// Operations answered.
    pub ops: u64,
    pub bytes: u64,
    /// Those answered with an error: the drive had no power, or its backing store failed.
    pub errors: u64,
    /// How long they take in the model.
    pub modelled: Hist,
    /// How long they took: from arrival to the answer, with the cost of asking and answering that calibration found.
    pub real: Hist,
    /// `real − modelled`, 0 for those answered early.
    pub late: Hist,
    /// Operations that took longer than the next percentile that the drive models: one modelled at its median or less
    /// that took longer than the 90th percentile, one between the 90th and the 99th that took longer than the latter…
    pub beyond: u64,
}

impl DriveTally {
    /// Whether there were such operations.
    pub fn was_asked(&self) -> bool {
        self.ops > 0 || self.errors > 0
    }

    /// As a run file has it.
    pub fn row(&self, subject: SubjectId, start: Nanos, end: Nanos, op: DriveOp) -> DriveRow {
        let Self {
            ops,
            bytes,
            errors,
            modelled,
            real,
            late,
            beyond,
        } = self;
        DriveRow {
            subject,
            start,
            end,
            op,
            ops: *ops,
            bytes: *bytes,
            errors: *errors,
            modelled: modelled.coarse(),
            real: real.coarse(),
            late: late.coarse(),
            beyond: *beyond,
        }
    }

    pub fn merge(&mut self, other: &Self) {
        let Self {
            ops,
            bytes,
            errors,
            modelled,
            real,
            late,
            beyond,
        } = other;
        self.ops += ops;
        self.bytes += bytes;
        self.errors += errors;
        self.modelled.merge(modelled);
        self.real.merge(real);
        self.late.merge(late);
        self.beyond += beyond;
    }
}

/// One merged report of the emulator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DriveSecond {
    /// CLOCK_MONOTONIC when the second began and ended, the same for all processes of a machine.
    pub from: Nanos,
    pub to: Nanos,
    /// Indexed as [`DriveOp::ALL`].
    pub tallies: [DriveTally; 4],
    /// Asked but not answered when the second ended.
    pub in_flight: u64,
    /// Each drive of an array or a cluster.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<MemberSecond>,
}

/// One second of one drive of an array or a cluster, by its model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MemberSecond {
    pub reads: u64,
    pub writes: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
    /// With what was copied to make room; 0 where there is no flash.
    pub flash_bytes: f64,
    /// How long reads and writes kept the medium busy.
    pub busy: Nanos,
    /// How long all requests took together.
    pub in_flight: Nanos,
    /// `None` where the drive file has no figures for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watts: Option<f64>,
}

impl MemberSecond {
    /// Rates over `over`, with the time in flight as the mean number of requests.
    fn samples(&self, over: Nanos) -> impl Iterator<Item = (Metric, f64)> + use<> {
        let seconds = over.as_secs_f64().max(1e-9);
        let per_second = |n: f64| n / seconds;
        let rates = [
            (Metric::MemberReads, per_second(self.reads as f64)),
            (Metric::MemberWrites, per_second(self.writes as f64)),
            (Metric::MemberReadBytes, per_second(self.read_bytes as f64)),
            (
                Metric::MemberWriteBytes,
                per_second(self.written_bytes as f64),
            ),
            (Metric::MemberFlashBytes, per_second(self.flash_bytes)),
            (
                Metric::MemberQueue,
                per_second(self.in_flight.as_secs_f64()),
            ),
            (
                Metric::MemberBusy,
                100.0 * per_second(self.busy.as_secs_f64()),
            ),
        ];
        let watts = self.watts.map(|watts| (Metric::MemberWatts, watts));
        rates.into_iter().chain(watts)
    }
}

impl DriveSecond {
    /// Samples of each member that has a subject.
    pub fn member_samples(
        &self,
        subjects: &[SubjectId],
        start: Nanos,
        end: Nanos,
    ) -> Vec<(SubjectId, Metric, Sample)> {
        let over = end.saturating_sub(start);
        let members = subjects.iter().zip(&self.members);
        let samples = members.flat_map(|(subject, member)| {
            let samples = member.samples(over);
            samples.map(|(metric, value)| (*subject, metric, value))
        });
        let sample = |(subject, metric, value)| {
            let value = value as f32;
            let at = end;
            (subject, metric, Sample { at, over, value })
        };
        samples.map(sample).collect()
    }

    /// Its kinds of operations that were asked for, with coarse histograms as a run file has them.
    pub fn rows(&self, subject: SubjectId, start: Nanos, end: Nanos) -> Vec<DriveRow> {
        (DriveOp::ALL.into_iter().zip(&self.tallies))
            .filter(|(_, tally)| tally.was_asked())
            .map(|(op, tally)| tally.row(subject, start, end, op))
            .collect()
    }
}

/// One second of an emulated drive, for one kind of operation. A kind without operations has no row; a second without any
/// has one of 0 reads, so that it is not taken for one without a report.
#[derive(Debug, Clone, PartialEq)]
pub struct DriveRow {
    /// The medium.
    pub subject: SubjectId,
    pub start: Nanos,
    pub end: Nanos,
    pub op: DriveOp,
    pub ops: u64,
    pub bytes: u64,
    pub errors: u64,
    /// As [`DriveTally`] has them.
    pub modelled: CoarseHist,
    pub real: CoarseHist,
    pub late: CoarseHist,
    pub beyond: u64,
}
