//! Compares what programs see of a block device with what the model meant, while they use it, and moves the answers.
//!
//! Calibration cannot know how many programs there will be and how they wait. The kernel counts for each block device how
//! long its requests took from their start to their end (`Documentation/block/stat.rst`), which is what a program sees
//! but for the way between itself and the device.

use std::path::{Path, PathBuf};

use plimsoll_plan::units::Nanos;

/// Requests and their time, in whole milliseconds as the kernel has it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeviceTime {
    pub requests: u64,
    pub milliseconds: u64,
    /// Of 512 bytes.
    pub sectors: u64,
}

/// Requests and their time by the model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelTime {
    pub requests: u64,
    pub time: Nanos,
}

/// Where the kernel counts the requests of block devices.
#[derive(Debug, Clone)]
pub struct DeviceStat(Vec<PathBuf>);

impl DeviceStat {
    /// Of `/dev/NAME`, several of them together.
    pub fn of(devices: &[PathBuf]) -> Self {
        let names = devices.iter().filter_map(|device| device.file_name());
        let stat = |name| Path::new("/sys/block").join(name).join("stat");
        Self(names.map(stat).collect())
    }

    pub fn read(&self) -> Option<DeviceTime> {
        let mut all = DeviceTime::default();
        for file in &self.0 {
            let own = parse(&std::fs::read_to_string(file).ok()?)?;
            all.requests += own.requests;
            all.milliseconds += own.milliseconds;
            all.sectors += own.sectors;
        }
        Some(all)
    }
}

/// Reads and writes: fields 1, 3, 4, 5, 7 and 8.
fn parse(text: &str) -> Option<DeviceTime> {
    let fields: Option<Vec<u64>> = text
        .split_whitespace()
        .take(8)
        .map(|field| field.parse().ok())
        .collect();
    match fields?[..] {
        [reads, _, read, read_ms, writes, _, written, write_ms] => Some(DeviceTime {
            requests: reads.checked_add(writes)?,
            milliseconds: read_ms.checked_add(write_ms)?,
            sectors: read.checked_add(written)?,
        }),
        _ => None,
    }
}

/// In nanoseconds. Beyond this no path is slow, the machine is; and no calibration was so far off.
const MOST: f64 = 40_000.0;
const LEAST: f64 = -200_000.0;
/// A window has to hold so many requests and so much of their time, since the kernel shows whole milliseconds.
const FEWEST: u64 = 50;
const SHORTEST_MS: u64 = 100;
/// Requests that the device counted and the model did not, or the reverse, as a share: more were split or merged.
const UNMATCHED: f64 = 0.05;
/// In sectors: copying a larger request costs more, which the next small one does not.
const LARGE: u64 = 128;
/// The share of a difference that is corrected at once.
const GAIN: f64 = 0.6;

/// Learns how much more than calibrated an answer costs.
#[derive(Debug)]
pub struct Feedback {
    /// What a program waits beyond the device's own time, in nanoseconds.
    outside: f64,
    device: DeviceTime,
    model: ModelTime,
    correction: f64,
}

impl Feedback {
    pub fn new(outside: Nanos, device: DeviceTime, model: ModelTime) -> Self {
        Self {
            outside: outside.0 as f64,
            device,
            model,
            correction: 0.0,
        }
    }

    /// The nanoseconds by which answers cost more than calibrated, or less where negative, after these totals. They are
    /// unchanged until enough has happened since the last change.
    pub fn correction(&mut self, device: DeviceTime, model: ModelTime) -> i64 {
        let requests = device.requests.saturating_sub(self.device.requests);
        let milliseconds = device.milliseconds.saturating_sub(self.device.milliseconds);
        let modelled = model.requests.saturating_sub(self.model.requests);
        if requests.min(modelled) >= FEWEST && milliseconds >= SHORTEST_MS {
            let time = model.time.saturating_sub(self.model.time);
            let sectors = device.sectors.saturating_sub(self.device.sectors);
            let is_large = sectors / requests > LARGE;
            self.device = device;
            self.model = model;
            if (requests as f64 / modelled as f64 - 1.0).abs() > UNMATCHED || is_large {
                self.correction = 0.0;
            } else {
                let seen = milliseconds as f64 * 1e6 / requests as f64 + self.outside;
                let late = seen - time.0 as f64 / modelled as f64;
                self.correction = (self.correction + GAIN * late).clamp(LEAST, MOST);
            }
        }
        self.correction as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_and_writes_are_added() {
        let text = "  10 1 80 7   20 2 160 9  0 16 16 0 0 0 0 0 0\n";
        let expected = DeviceTime {
            requests: 30,
            milliseconds: 16,
            sectors: 240,
        };
        assert_eq!(parse(text), Some(expected));
        assert_eq!(parse("1 2 3"), None);
    }

    /// A path that costs `extra` more than calibrated, at `depth` requests of `latency`; what is corrected is not seen.
    fn settle(latency: f64, extra: f64, outside: f64, windows: usize) -> f64 {
        let mut feedback = Feedback::new(
            Nanos(outside as u64),
            DeviceTime::default(),
            ModelTime::default(),
        );
        let (mut device_ns, mut requests) = (0.0, 0);
        let mut correction = 0.0;
        for _ in 0..windows {
            requests += 2000;
            device_ns += 2000.0 * (latency + extra - correction - outside);
            let device = DeviceTime {
                requests,
                milliseconds: (device_ns / 1e6) as u64,
                sectors: 8 * requests,
            };
            let model = ModelTime {
                requests,
                time: Nanos((latency * requests as f64) as u64),
            };
            correction = feedback.correction(device, model) as f64;
        }
        correction
    }

    proptest! {
        #[test]
        fn what_a_path_costs_more_is_found(latency in 60e3..5e6f64, extra in -20e3..38e3f64, outside in 0.0..9e3f64) {
            let found = settle(latency, extra, outside, 12);
            prop_assert!((found - extra).abs() < 1500.0, "{found} for {extra}");
        }

        #[test]
        fn rubbish_never_panics(text in ".*", totals in prop::collection::vec(any::<[u64; 5]>(), 0..6)) {
            let _ = parse(&text);
            let mut feedback = Feedback::new(Nanos(5), DeviceTime::default(), ModelTime::default());
            for [requests, milliseconds, sectors, modelled, time] in totals {
                let device = DeviceTime { requests, milliseconds, sectors };
                let model = ModelTime { requests: modelled, time: Nanos(time) };
                prop_assert!(feedback.correction(device, model).unsigned_abs() <= LEAST.abs() as u64);
            }
        }
    }

    #[test]
    fn requests_that_are_split_on_the_way_teach_nothing() {
        let mut feedback = Feedback::new(Nanos::ZERO, DeviceTime::default(), ModelTime::default());
        let device = DeviceTime {
            requests: 1000,
            milliseconds: 900,
            sectors: 8000,
        };
        let model = ModelTime {
            requests: 2000,
            time: Nanos::from_millis(100),
        };
        assert_eq!(feedback.correction(device, model), 0);
    }
}
