//! One block device, from /proc/diskstats (Documentation/admin-guide/iostats.rst).

use plimsoll_plan::units::Nanos;
use plimsoll_record::message::EventKind;
use plimsoll_record::message::event::Figures;
use plimsoll_record::metric::Metric;

use super::emit::Emit;
use super::parse::{self, DiskStats};
use super::source::{KernelFiles, Warnings};

/// Sectors of /proc/diskstats are of this size whatever the device's.
const SECTOR: u64 = 512;

#[derive(Debug)]
pub(super) struct DeviceProbe {
    major: u32,
    minor: u32,
    last: Option<DiskStats>,
}

impl DeviceProbe {
    pub fn new(major: u32, minor: u32) -> Self {
        Self {
            major,
            minor,
            last: None,
        }
    }

    pub fn sample(&mut self, source: &KernelFiles, warnings: &mut Warnings, emit: &mut Emit<'_>) {
        let major = self.major;
        let minor = self.minor;
        let new = source
            .parse("proc/diskstats", |text| {
                parse::diskstats(text, major, minor)
            })
            .inspect_err(|error| {
                let source = format!("/proc/diskstats, {major}:{minor}");
                warnings.unreadable(emit.subject, source, error, Figures::Device);
            })
            .ok();
        if new.as_ref().is_some_and(|disk| disk.flushes.is_none()) {
            let kind = EventKind::Unreadable {
                source: "/proc/diskstats".into(),
                error: String::new(),
                figures: Figures::Flushes,
            };
            warnings.warn(emit.subject, "flushes", kind);
        }
        if let Some(spent) = self
            .last
            .as_ref()
            .zip(new.as_ref())
            .and_then(|(old, new)| new.since(old))
        {
            emit_device(&spent, emit);
        }
        self.last = new;
    }
}

fn emit_device(spent: &DiskStats, emit: &mut Emit<'_>) {
    emit.per_second(Metric::DeviceReads, spent.reads);
    emit.per_second(Metric::DeviceWrites, spent.writes);
    if let Some(flushes) = spent.flushes {
        emit.per_second(Metric::DeviceFlushes, flushes);
    }
    emit.per_second(
        Metric::DeviceReadBytes,
        spent.read_sectors.saturating_mul(SECTOR),
    );
    emit.per_second(
        Metric::DeviceWriteBytes,
        spent.write_sectors.saturating_mul(SECTOR),
    );
    // Without I/O there is no latency; zero would be a figure.
    if spent.reads > 0 {
        emit.put(
            Metric::DeviceReadLatency,
            spent.read_ms as f64 / spent.reads as f64,
        );
    }
    if spent.writes > 0 {
        emit.put(
            Metric::DeviceWriteLatency,
            spent.write_ms as f64 / spent.writes as f64,
        );
    }
    emit.put(
        Metric::DeviceQueue,
        spent.weighted_ms as f64 / emit.over.as_millis_f64(),
    );
    emit.share(
        Metric::DeviceBusy,
        Nanos(spent.busy_ms.saturating_mul(1_000_000)),
    );
}
