//! A medium as a datastore would show it: requests, bytes and time per request of all who use it, second by second and
//! over stretches of time.
//!
//! Reported by the kernel about the device that the medium lies on or, of an emulated drive that is none of the machine's
//! devices, by its emulator. Times per request are weighted by requests.

use std::collections::BTreeMap;

use serde::Serialize;

use super::estimate::Estimate;
use super::figure::{FigureId, FigureSet};
use super::index::Index;
use super::means;
use plimsoll_plan::units::Nanos;
use plimsoll_record::drive::DriveOp;
use plimsoll_record::metric::Metric;
use plimsoll_record::{Sample, SubjectId, SubjectKind};

/// Where a medium's figures come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MediumSource {
    /// The kernel, of this device and of everything on it.
    Device(String),
    /// The emulator of the drive.
    Emulator,
}

/// What was asked of a medium over some time. MB are 10⁶ bytes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MediumFigures {
    /// How much of that time is known.
    pub reported_s: f64,
    /// Reads and writes.
    pub iops: f64,
    pub reads_per_second: f64,
    pub writes_per_second: f64,
    pub read_mb_per_second: f64,
    pub write_mb_per_second: f64,
    /// Mean time per request; `None` where there was none.
    pub read_ms: Option<f64>,
    pub write_ms: Option<f64>,
    /// Of reads and writes together.
    pub ms: Option<f64>,
}

impl MediumFigures {
    /// What is compared: requests per second, and mean time per request.
    pub(super) fn figures(&self) -> FigureSet {
        let time = self.ms.and_then(|ms| Estimate::single(ms, None));
        FigureSet::default()
            .with(FigureId::Iops, Estimate::single(self.iops, None))
            .with(FigureId::Mean, time)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MediumSecond {
    /// Its end, since the start of the run.
    pub at_s: f64,
    #[serde(flatten)]
    pub figures: MediumFigures,
}

/// Everything that is known of one medium.
pub(super) struct Track {
    pub source: Option<MediumSource>,
    /// In time order.
    rows: Vec<IoRow>,
}

#[derive(Clone, Copy)]
struct IoRow {
    start: Nanos,
    end: Nanos,
    io: Io,
}

/// Sums: requests, bytes, and seconds under way.
#[derive(Debug, Clone, Copy, Default)]
struct Io {
    reads: f64,
    writes: f64,
    read_bytes: f64,
    write_bytes: f64,
    read_s: f64,
    write_s: f64,
}

impl Io {
    fn add(&mut self, other: &Self, share: f64) {
        let Self {
            reads,
            writes,
            read_bytes,
            write_bytes,
            read_s,
            write_s,
        } = other;
        self.reads += reads * share;
        self.writes += writes * share;
        self.read_bytes += read_bytes * share;
        self.write_bytes += write_bytes * share;
        self.read_s += read_s * share;
        self.write_s += write_s * share;
    }

    fn over(&self, seconds: f64) -> MediumFigures {
        MediumFigures {
            reported_s: seconds,
            iops: (self.reads + self.writes) / seconds,
            reads_per_second: self.reads / seconds,
            writes_per_second: self.writes / seconds,
            read_mb_per_second: self.read_bytes / 1e6 / seconds,
            write_mb_per_second: self.write_bytes / 1e6 / seconds,
            read_ms: ms_each(self.read_s, self.reads),
            write_ms: ms_each(self.write_s, self.writes),
            ms: ms_each(self.read_s + self.write_s, self.reads + self.writes),
        }
    }
}

fn ms_each(seconds: f64, n: f64) -> Option<f64> {
    (n > 0.0).then(|| seconds * 1e3 / n)
}

impl Track {
    pub fn of(index: &Index, medium: Option<SubjectId>) -> Self {
        let device = means::device(index, medium);
        let of_device = device.map(|name| (of_device(index, &name), MediumSource::Device(name)));
        let of_drive = medium.map(|medium| (of_drive(index, medium), MediumSource::Emulator));
        let known = of_device
            .into_iter()
            .chain(of_drive)
            .find(|(rows, _)| !rows.is_empty());
        known.map_or(
            Self {
                source: None,
                rows: Vec::new(),
            },
            |(rows, source)| Self {
                source: Some(source),
                rows,
            },
        )
    }

    /// Over all `spans` together; a second that lies in one in part counts in part. `None` where nothing is known.
    pub fn over(&self, spans: &[(Nanos, Nanos)]) -> Option<MediumFigures> {
        let mut sum = Io::default();
        let mut seconds = 0.0;
        for (start, end) in spans {
            for row in &self.rows {
                let inside = row
                    .end
                    .min(*end)
                    .saturating_sub(row.start.max(*start))
                    .as_secs_f64();
                let whole = row.end.saturating_sub(row.start).as_secs_f64();
                if inside > 0.0 && whole > 0.0 {
                    sum.add(&row.io, inside / whole);
                    seconds += inside;
                }
            }
        }
        (seconds > 0.0).then(|| sum.over(seconds))
    }

    /// The seconds that lie mostly in `start..end`.
    pub fn seconds(&self, start: Nanos, end: Nanos) -> Vec<MediumSecond> {
        self.rows
            .iter()
            .filter(|row| {
                let inside = row.end.min(end).saturating_sub(row.start.max(start));
                inside.0 > 0 && inside.0 >= row.end.saturating_sub(row.start).0 / 2
            })
            .map(|row| MediumSecond {
                at_s: row.end.as_secs_f64(),
                figures: row.io.over(row.end.saturating_sub(row.start).as_secs_f64()),
            })
            .collect()
    }
}

/// A device's series put together by the end of each sample.
fn of_device(index: &Index, name: &str) -> Vec<IoRow> {
    let mut subjects = index.record.subjects.iter();
    let Some(subject) = subjects.find(|s| s.kind == SubjectKind::Device && s.name == name) else {
        return Vec::new();
    };
    let mut rows: BTreeMap<Nanos, IoRow> = BTreeMap::new();
    let mut each = |metric: Metric, put: &dyn Fn(&mut Io, f64, f64)| {
        let own = index
            .record
            .series
            .iter()
            .filter(|s| s.subject == subject.id && s.metric == metric);
        for Sample { at, over, value } in own
            .flat_map(|series| &series.samples)
            .filter(|sample| sample.over.0 > 0)
        {
            let row = rows.entry(*at).or_insert(IoRow {
                start: at.saturating_sub(*over),
                end: *at,
                io: Io::default(),
            });
            put(&mut row.io, f64::from(*value), over.as_secs_f64());
        }
    };
    each(Metric::DeviceReads, &|io, value, over| {
        io.reads = value * over
    });
    each(Metric::DeviceWrites, &|io, value, over| {
        io.writes = value * over
    });
    each(Metric::DeviceReadBytes, &|io, value, over| {
        io.read_bytes = value * over
    });
    each(Metric::DeviceWriteBytes, &|io, value, over| {
        io.write_bytes = value * over
    });
    // Milliseconds for each request, whose number is known by now.
    each(Metric::DeviceReadLatency, &|io, value, _| {
        io.read_s = value / 1e3 * io.reads
    });
    each(Metric::DeviceWriteLatency, &|io, value, _| {
        io.write_s = value / 1e3 * io.writes
    });
    rows.into_values().collect()
}

/// What an emulator reported. Flushes are requests of their own there and count to neither reads nor writes.
fn of_drive(index: &Index, medium: SubjectId) -> Vec<IoRow> {
    let mut rows: BTreeMap<Nanos, IoRow> = BTreeMap::new();
    let all = index.drive.get(&medium).map_or(&[][..], Vec::as_slice);
    for own in all.iter().filter(|row| row.end > row.start) {
        let row = rows.entry(own.start).or_insert(IoRow {
            start: own.start,
            end: own.end,
            io: Io::default(),
        });
        // In virtual time requests take as long as the model says.
        let times = match index.record.is_simulated() {
            true => &own.modelled,
            false => &own.real,
        };
        let seconds = times.mean().map_or(0.0, Nanos::as_secs_f64) * own.ops as f64;
        match own.op {
            DriveOp::Read => {
                row.io.add(
                    &Io {
                        reads: own.ops as f64,
                        read_bytes: own.bytes as f64,
                        read_s: seconds,
                        ..Io::default()
                    },
                    1.0,
                );
            }
            DriveOp::Write => {
                row.io.add(
                    &Io {
                        writes: own.ops as f64,
                        write_bytes: own.bytes as f64,
                        write_s: seconds,
                        ..Io::default()
                    },
                    1.0,
                );
            }
            DriveOp::Flush | DriveOp::Trim => {}
        }
    }
    rows.into_values().collect()
}
