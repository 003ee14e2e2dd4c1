//! What a simulation counts, and what came of it.

use plimsoll_plan::assembly::DriveAssembly;
use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::drive::DriveOp;
use plimsoll_record::hist::Hist;
use plimsoll_stats::Interval;

use super::profile::SimulatedProfile;
use crate::model::{Storage, Work};
use crate::spec::DriveSpec;

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedResult {
    /// Measured time.
    pub span: Nanos,
    pub reads: Side,
    pub writes: Side,
    /// In flight or waiting when the measured time began. It holds: carried + offered = completed (reads and writes) +
    /// dropped + unfinished.
    pub carried: u64,
    /// Due in the measured time.
    pub offered: u64,
    /// In flight or waiting when it ended.
    pub unfinished: u64,
    /// Of an open loop: requests that had to wait in the host, and those that were not sent.
    pub queued: u64,
    pub dropped: u64,
    /// Of each drive, in the measured time.
    pub drives: Vec<Work>,
    /// Bytes of an array's new member that were filled from the beginning on.
    pub rebuilt: Bytes,
}

/// Reads or writes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Side {
    /// Completed in the measured time.
    pub ops: u64,
    pub bytes: u64,
    /// From when a request was due to its completion. In an open loop of the requests that were due in the measured
    /// time, whenever they completed: what is slow is not left out.
    pub latency: Hist,
}

impl SimulatedResult {
    pub fn iops(&self) -> f64 {
        (self.reads.ops + self.writes.ops) as f64 / self.seconds()
    }

    pub fn bytes_per_second(&self) -> f64 {
        (self.reads.bytes + self.writes.bytes) as f64 / self.seconds()
    }

    /// Requests in flight or waiting, in the mean: throughput times response time (Little 1961).
    pub fn queue(&self) -> f64 {
        (self.reads.latency.sum() + self.writes.latency.sum()) as f64 / (self.span.0.max(1)) as f64
    }

    /// Reads and writes together.
    pub fn latency(&self) -> Hist {
        let mut both = self.reads.latency.clone();
        both.merge(&self.writes.latency);
        both
    }

    /// Written by the host in a day of this.
    pub fn bytes_written_per_day(&self) -> f64 {
        self.per_day(self.writes.bytes)
    }

    /// How long a drive may be written to like this, by its rated endurance.
    pub fn years_of_endurance(&self, drive: usize, spec: &DriveSpec) -> Option<f64> {
        let written = self.drives.get(drive)?.bytes[DriveOp::Write as usize];
        let days = self.days_until_worn(written, spec.drive(drive as u32));
        days.map(|days| days / 365.0)
    }

    /// How long the drive may be written to like this, by its rated endurance.
    pub fn days_of_endurance(&self, spec: &DriveSpec) -> Option<f64> {
        self.days_until_worn(self.writes.bytes, spec)
    }

    /// `written` in the measured time.
    fn days_until_worn(&self, written: u64, spec: &DriveSpec) -> Option<f64> {
        let tbw = spec.tbw.filter(|_| written > 0)?;
        Some(tbw * 1e12 / self.per_day(written))
    }

    fn per_day(&self, bytes: u64) -> f64 {
        bytes as f64 / self.seconds() * 86_400.0
    }

    /// Both as one measurement, one after the other.
    #[must_use]
    fn followed_by(mut self, other: Self) -> Self {
        self.span = Nanos(self.span.0 + other.span.0);
        self.reads.add(&other.reads);
        self.writes.add(&other.writes);
        self.carried += other.carried;
        self.offered += other.offered;
        self.unfinished += other.unfinished;
        self.queued += other.queued;
        self.dropped += other.dropped;
        let drives = self.drives.iter().zip(&other.drives);
        self.drives = drives.map(|(own, other)| own.plus(other)).collect();
        self.rebuilt = Bytes(self.rebuilt.0 + other.rebuilt.0);
        self
    }

    /// Of all drives together.
    pub fn work(&self) -> Work {
        self.drives
            .iter()
            .fold(Work::default(), |all, own| all.plus(own))
    }

    /// Of a drive; of one that is missing none.
    pub fn watts(&self, drive: usize, spec: &DriveSpec) -> Option<f64> {
        let work = self.drives.get(drive)?;
        let watts = spec.drive(drive as u32).watts;
        let is_missing = |own: &DriveAssembly| {
            let member = own.member_of(drive as u32);
            own.failed().contains(&member) && own.rebuild() != Some(member)
        };
        if spec.assembly.as_ref().is_some_and(is_missing) {
            return watts.map(|_| 0.0);
        }
        watts.map(|watts| work.watts(watts, self.span))
    }

    /// Of all drives together.
    pub fn total_watts(&self, spec: &DriveSpec) -> Option<f64> {
        let drives = 0..self.drives.len();
        drives.map(|drive| self.watts(drive, spec)).sum()
    }

    /// Joules of all drives for each request that completed.
    pub fn joules_per_request(&self, spec: &DriveSpec) -> Option<f64> {
        let requests = self.iops();
        let watts = self.total_watts(spec).filter(|_| requests > 0.0)?;
        Some(watts / requests)
    }

    fn seconds(&self) -> f64 {
        self.span.as_secs_f64().max(1e-9)
    }
}

impl Side {
    fn add(&mut self, other: &Self) {
        self.ops += other.ops;
        self.bytes += other.bytes;
        self.latency.merge(&other.latency);
    }
}

/// What came of several seeds.
#[derive(Debug, Clone, PartialEq)]
pub struct SeedResults {
    /// Of all of them as one measurement.
    pub joined: SimulatedResult,
    pub iops: Vec<f64>,
}

impl SeedResults {
    /// `None` without any.
    pub fn of(results: Vec<SimulatedResult>) -> Option<Self> {
        let iops = results.iter().map(SimulatedResult::iops).collect();
        let joined = results.into_iter().reduce(SimulatedResult::followed_by)?;
        Some(Self { joined, iops })
    }

    /// Of the mean of all seeds that there are; `None` of a single one.
    pub fn interval(&self) -> Option<Interval> {
        Interval::of_values(&self.iops)
    }
}

/// What is counted, and from when.
pub struct CountingWindow {
    pub from: u64,
    until: u64,
    most_ops: u64,
    counted: u64,
    reads: Side,
    writes: Side,
    before: Option<Vec<Work>>,
}

impl CountingWindow {
    pub fn new(profile: &SimulatedProfile) -> Self {
        let until = profile.warm.0.saturating_add(profile.measure.0);
        Self {
            from: profile.warm.0,
            until,
            most_ops: profile.most_ops,
            counted: 0,
            reads: Side::default(),
            writes: Side::default(),
            before: None,
        }
    }

    /// Time has come to `now`. False when the window is over.
    #[inline]
    pub fn reaches(&mut self, now: u64, storage: &impl Storage) -> bool {
        if self.before.is_none() && now >= self.from {
            self.before = Some(storage.work_by_drive());
        }
        now < self.until && self.counted < self.most_ops
    }

    #[inline]
    pub fn side(&mut self, is_read: bool) -> &mut Side {
        if is_read {
            &mut self.reads
        } else {
            &mut self.writes
        }
    }

    /// A request completes.
    #[inline]
    pub fn completes(&mut self, done: u64, is_read: bool, bytes: u64) {
        if (self.from..self.until).contains(&done) {
            self.counted += 1;
            let side = self.side(is_read);
            side.ops += 1;
            side.bytes += bytes;
        }
    }

    #[inline]
    pub fn took(&mut self, is_read: bool, latency: u64) {
        self.side(is_read).latency.record(Nanos(latency));
    }

    /// `work` is that of each drive at that time.
    pub fn close(self, now: u64, work: &[Work]) -> SimulatedResult {
        let end = now.clamp(self.from, self.until.max(self.from));
        let before = self.before.unwrap_or_else(|| work.to_vec());
        let drives = work.iter().zip(&before);
        let drives = drives.map(|(work, before)| work.since(before)).collect();
        SimulatedResult {
            span: Nanos(end - self.from),
            reads: self.reads,
            writes: self.writes,
            carried: 0,
            offered: 0,
            unfinished: 0,
            queued: 0,
            dropped: 0,
            drives,
            rebuilt: Bytes(0),
        }
    }
}
