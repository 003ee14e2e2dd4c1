//! What is written into which file of a control group. Pure. Version 1: Documentation/admin-guide/cgroup-v1 of the kernel
//! and Documentation/scheduler/sched-bwc; version 2: Documentation/admin-guide/cgroup-v2.

use plimsoll_plan::resolved::Limits;

use super::hierarchy::Controller;

/// Over which a share of processor time is measured out, as the kernel has it by default.
const PERIOD_US: u64 = 100_000;
/// The kernel takes no less time in a period.
const LEAST_QUOTA_US: u64 = 1_000;

/// The number of a block device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Device {
    pub major: u32,
    pub minor: u32,
}

impl std::fmt::Display for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// Controllers that the limits need.
pub fn needed(limits: &Limits) -> Vec<Controller> {
    Controller::ALL
        .into_iter()
        .filter(|controller| match controller {
            Controller::Cpu => limits.cpus.is_some(),
            Controller::CpuSet => !limits.cpu_set.is_empty(),
            Controller::Memory => limits.memory.is_some(),
            Controller::Io => !limits.io.is_none(),
        })
        .collect()
}

fn quota(cpus: f64) -> u64 {
    ((cpus * PERIOD_US as f64).round() as u64).max(LEAST_QUOTA_US)
}

/// Files of a controller with what is written into them, in this order; a file may be there twice.
pub fn version_1(
    controller: Controller,
    limits: &Limits,
    device: Option<Device>,
    mems: &str,
) -> Vec<(&'static str, String)> {
    match controller {
        Controller::Cpu => limits.cpus.map_or(Vec::new(), |cpus| {
            vec![
                ("cpu.cfs_period_us", PERIOD_US.to_string()),
                ("cpu.cfs_quota_us", quota(cpus).to_string()),
            ]
        }),
        // Nothing can be put into a set without memory nodes.
        Controller::CpuSet => vec![
            ("cpuset.mems", mems.to_owned()),
            ("cpuset.cpus", limits.cpu_set.clone()),
        ],
        Controller::Memory => limits.memory.map_or(Vec::new(), |memory| {
            vec![
                ("memory.limit_in_bytes", memory.0.to_string()),
                ("memory.swappiness", "0".into()),
            ]
        }),
        Controller::Io => device.map_or(Vec::new(), |device| {
            let limit = |value: u64| format!("{device} {value}");
            let io = limits.io;
            [
                (
                    "blkio.throttle.read_bps_device",
                    io.read_bytes.map(|bytes| bytes.0),
                ),
                (
                    "blkio.throttle.write_bps_device",
                    io.write_bytes.map(|bytes| bytes.0),
                ),
                ("blkio.throttle.read_iops_device", io.reads),
                ("blkio.throttle.write_iops_device", io.writes),
            ]
            .into_iter()
            .filter_map(|(file, value)| value.map(|value| (file, limit(value))))
            .collect()
        }),
    }
}

/// As [`version_1`].
pub fn version_2(
    controller: Controller,
    limits: &Limits,
    device: Option<Device>,
) -> Vec<(&'static str, String)> {
    match controller {
        Controller::Cpu => limits.cpus.map_or(Vec::new(), |cpus| {
            vec![("cpu.max", format!("{} {PERIOD_US}", quota(cpus)))]
        }),
        Controller::CpuSet => vec![("cpuset.cpus", limits.cpu_set.clone())],
        Controller::Memory => limits.memory.map_or(Vec::new(), |memory| {
            vec![
                ("memory.max", memory.0.to_string()),
                ("memory.swap.max", "0".into()),
            ]
        }),
        Controller::Io => device.map_or(Vec::new(), |device| {
            let io = limits.io;
            let keys = [
                ("rbps", io.read_bytes.map(|bytes| bytes.0)),
                ("wbps", io.write_bytes.map(|bytes| bytes.0)),
                ("riops", io.reads),
                ("wiops", io.writes),
            ];
            let set = keys
                .into_iter()
                .filter_map(|(key, value)| value.map(|value| format!(" {key}={value}")));
            vec![("io.max", format!("{device}{}", set.collect::<String>()))]
        }),
    }
}

/// Whether a file reads as it was written: numbers may be rounded down to whole pages.
pub fn is_in_effect(file: &str, written: &str, read: &str) -> bool {
    let written = written.trim();
    let read = read.trim();
    match (written.parse::<u64>(), read.parse::<u64>()) {
        (Ok(wanted), Ok(is)) if file.starts_with("memory.") => {
            is <= wanted && wanted - is < 1 << 16
        }
        (Ok(wanted), Ok(is)) => wanted == is,
        // The limits of several devices stand in lines; version 2 adds `max` for what is not limited.
        _ if file.starts_with("blkio.") => read
            .lines()
            .any(|line| line.split_whitespace().eq(written.split_whitespace())),
        _ if file == "io.max" => read.lines().any(|line| {
            written
                .split_whitespace()
                .all(|part| line.split_whitespace().any(|is| is == part))
        }),
        _ => written == read,
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_plan::resolved::IoLimits;
    use plimsoll_plan::units::Bytes;

    use super::*;

    fn small() -> Limits {
        let io = IoLimits {
            read_bytes: Some(Bytes(7)),
            write_bytes: None,
            reads: None,
            writes: Some(90),
        };
        Limits {
            cpus: Some(1.5),
            cpu_set: "0-1".into(),
            memory: Some(Bytes(4096)),
            io,
            ..Limits::default()
        }
    }

    #[test]
    fn both_versions_set_the_same_limits() {
        let of = |files: Vec<(&'static str, String)>| {
            files
                .iter()
                .map(|(file, text)| format!("{file}={text}"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let one = |controller| {
            of(version_1(
                controller,
                &small(),
                Some(Device {
                    major: 8,
                    minor: 16,
                }),
                "0",
            ))
        };
        let two = |controller| {
            of(version_2(
                controller,
                &small(),
                Some(Device {
                    major: 8,
                    minor: 16,
                }),
            ))
        };
        assert_eq!(needed(&small()), Controller::ALL);
        assert_eq!(needed(&Limits::default()), []);
        assert_eq!(
            one(Controller::Cpu),
            "cpu.cfs_period_us=100000, cpu.cfs_quota_us=150000"
        );
        assert_eq!(two(Controller::Cpu), "cpu.max=150000 100000");
        assert_eq!(one(Controller::CpuSet), "cpuset.mems=0, cpuset.cpus=0-1");
        assert_eq!(two(Controller::CpuSet), "cpuset.cpus=0-1");
        assert_eq!(
            one(Controller::Memory),
            "memory.limit_in_bytes=4096, memory.swappiness=0"
        );
        assert_eq!(
            two(Controller::Memory),
            "memory.max=4096, memory.swap.max=0"
        );
        assert_eq!(
            one(Controller::Io),
            "blkio.throttle.read_bps_device=8:16 7, blkio.throttle.write_iops_device=8:16 90"
        );
        assert_eq!(two(Controller::Io), "io.max=8:16 rbps=7 wiops=90");
        assert_eq!(
            version_1(Controller::Io, &small(), None, "0"),
            [],
            "no device, no limit of it"
        );
    }

    #[test]
    fn what_is_read_back_is_compared_by_its_meaning() {
        assert!(is_in_effect("memory.max", "5000", "4096\n"), "whole pages");
        assert!(!is_in_effect("memory.max", "5000", "9223372036854771712\n"));
        assert!(!is_in_effect("memory.limit_in_bytes", "1048576", "4096"));
        assert!(is_in_effect("cpu.max", "150000 100000", "150000 100000\n"));
        assert!(!is_in_effect("cpu.max", "150000 100000", "max 100000\n"));
        assert!(is_in_effect(
            "io.max",
            "8:16 rbps=7 wiops=90",
            "8:0 rbps=1 wbps=max\n8:16 rbps=7 wbps=max riops=max wiops=90\n"
        ));
        assert!(!is_in_effect(
            "io.max",
            "8:16 rbps=7",
            "8:16 rbps=max wbps=max\n"
        ));
        assert!(is_in_effect(
            "blkio.throttle.read_bps_device",
            "8:16 7",
            "8:0 5\n8:16 7\n"
        ));
        assert!(!is_in_effect(
            "blkio.throttle.read_bps_device",
            "8:16 7",
            "8:16 70\n"
        ));
    }
}
