//! The model's figures by name, for people to read.

use plimsoll_plan::units::Nanos;

use crate::amplification::amplification;

use super::{DiskSpec, DriveSpec, FlashSpec, Latency, Mechanism, VolumeSpec};

/// One of the model's figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    pub name: String,
    pub value: f64,
    pub unit: &'static str,
}

fn of(name: impl Into<String>, value: f64, unit: &'static str) -> Parameter {
    Parameter {
        name: name.into(),
        value,
        unit,
    }
}

fn us(name: &str, time: Nanos) -> Parameter {
    of(name, time.as_micros_f64(), "µs")
}

fn latency(name: &str, latency: Latency) -> [Parameter; 2] {
    [
        us(&format!("{name}, median"), latency.median),
        us(&format!("{name}, 99th percentile"), latency.p99),
    ]
}

fn mb_s(name: &str, ns_per_byte: f64) -> Parameter {
    of(name, 1e3 / ns_per_byte, "MB/s")
}

impl DriveSpec {
    /// What the model makes of the drive's file.
    pub fn parameters(&self) -> Vec<Parameter> {
        let mut all = match &self.mechanism {
            Mechanism::Flash(spec) => flash(spec),
            Mechanism::Disk(spec) => disk(spec),
            Mechanism::Volume(spec) => volume(spec),
        };
        if self.slower != 1.0 {
            all.push(of("all of these times are multiplied by", self.slower, ""));
        }
        all
    }
}

fn flash(spec: &FlashSpec) -> Vec<Parameter> {
    let mut all = vec![
        us("between two reads", spec.read_command),
        us("between two writes", spec.write_command),
        mb_s("link, reading", spec.read_ns_per_byte),
        mb_s("link, writing", spec.write_ns_per_byte),
        us("firmware, of a read", spec.firmware),
        of("units of flash", spec.units as f64, ""),
    ];
    all.extend(latency("flash page", spec.media));
    all.extend(latency("acknowledgement", spec.acknowledge));
    all.extend([
        us("longest wait for a programming unit", spec.program),
        of("buffer", spec.buffer.0 as f64 / 1e6, "MB"),
        mb_s(
            "buffer drains, sequential writes",
            spec.sequential_ns_per_byte,
        ),
        mb_s(
            "buffer drains, random writes, drive full",
            spec.random_ns_per_byte,
        ),
        of(
            "write amplification, drive full",
            amplification(spec.physical_share),
            "",
        ),
        of(
            "write amplification, drive half full",
            amplification(spec.physical_share / 2.0),
            "",
        ),
        us("flush", spec.flush),
        us("trim", spec.trim),
    ]);
    if spec.slc.0 > 0 {
        all.push(of("fast flash", spec.slc.0 as f64 / 1e9, "GB"));
        all.push(mb_s(
            "sequential writes when it is used up",
            spec.folded_ns_per_byte,
        ));
    }
    all
}

fn disk(spec: &DiskSpec) -> Vec<Parameter> {
    vec![
        us("one turn", spec.turn),
        us("half a turn", Nanos(spec.turn.0 / 2)),
        us("seek to the next track", spec.seek_track),
        us("seek, average", spec.seek_average),
        us("seek, full stroke", spec.seek_full),
        mb_s("outer edge", spec.outer_ns_per_byte),
        mb_s("inner edge", spec.inner_ns_per_byte),
        mb_s("link", spec.interface_ns_per_byte),
        us("command", spec.command),
        of("requests to choose from", spec.queue as f64, ""),
        of("buffer", spec.buffer.0 as f64 / 1e6, "MB"),
    ]
}

fn volume(spec: &VolumeSpec) -> Vec<Parameter> {
    let mut all = vec![
        of("requests", 1e9 / spec.ns_per_io, "IOPS"),
        mb_s("bytes", spec.ns_per_byte),
        of("one request is at most", spec.unit as f64 / 1024.0, "KiB"),
        of("burst", spec.burst_ios, "requests"),
        of("burst", spec.burst_bytes / 1e6, "MB"),
    ];
    all.extend(latency("read", spec.read));
    all.extend(latency("write", spec.write));
    all.push(us("flush", spec.flush));
    all
}
