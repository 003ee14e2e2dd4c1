//! Counters of the kernel before and after a moment in which plimsoll does nothing.

use plimsoll_plan::units::Nanos;

use crate::doctor::evidence::DiskNoise;
use crate::host::parse::{self, CpuTimes};
use crate::host::source::KernelFiles;

/// Counters of the machine at one time.
#[derive(Debug, Clone)]
pub struct Counters {
    at: Nanos,
    cpu: Option<CpuTimes>,
    disks: String,
}

impl Counters {
    pub fn read(now: &dyn Fn() -> Nanos) -> Self {
        let source = KernelFiles::new("/");
        let cpu = source
            .parse("proc/stat", parse::stat)
            .ok()
            .map(|stat| stat.all);
        Self {
            at: now(),
            cpu,
            disks: source.read("proc/diskstats").unwrap_or_default(),
        }
    }
}

/// A moment in which plimsoll did nothing.
#[derive(Debug, Clone)]
pub struct Quiet {
    pub before: Counters,
    pub after: Counters,
}

impl Quiet {
    pub(super) fn cpu(&self) -> Option<CpuTimes> {
        self.before
            .cpu
            .as_ref()
            .zip(self.after.cpu.as_ref())
            .and_then(|(old, new)| new.since(old))
    }

    /// `None`: the kernel does not count this device's requests.
    pub(super) fn noise(&self, major: u32, minor: u32) -> Option<DiskNoise> {
        Some(DiskNoise {
            spent: self.spent(major, minor)?,
            over: self.after.at.saturating_sub(self.before.at),
        })
    }

    fn spent(&self, major: u32, minor: u32) -> Option<parse::DiskStats> {
        let before = parse::diskstats(&self.before.disks, major, minor)?;
        parse::diskstats(&self.after.disks, major, minor)?.since(&before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(at: u64, cpu: &str, disk: &str) -> Counters {
        let cpu = parse::stat(cpu).map(|stat| stat.all);
        Counters {
            at: Nanos::from_secs(at),
            cpu,
            disks: disk.into(),
        }
    }

    #[test]
    fn a_quiet_moment_is_the_difference_of_two_readings() {
        let before = counters(
            1,
            "cpu  10 0 10 80 0 0 0 0",
            "8 0 sda 100 0 800 9 10 0 80 9 0 10 10\n",
        );
        let after = counters(
            3,
            "cpu  20 0 10 160 0 0 0 10",
            "8 0 sda 102 0 816 9 15 0 120 9 0 30 10\n",
        );
        let quiet = Quiet { before, after };
        let cpu = quiet.cpu().unwrap();
        assert_eq!((cpu.user, cpu.idle, cpu.steal), (10, 80, 10));
        let noise = quiet.noise(8, 0).unwrap();
        assert_eq!(
            (noise.spent.reads, noise.spent.writes, noise.spent.busy_ms),
            (2, 5, 20)
        );
        assert_eq!(noise.over, Nanos::from_secs(2));
        assert_eq!(quiet.noise(8, 1), None);
    }
}
