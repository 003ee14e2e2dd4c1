//! Whether the machine's limits hold: tried out on small groups of our own, because a file that shows a limit is no proof.

use std::ffi::OsStr;
use std::fs;
use std::process::{Command, Stdio};

use plimsoll_block::host::parse::kib_field;
use plimsoll_plan::resolved::Limits;
use plimsoll_plan::units::Bytes;

use super::cgroup_limits::{CgroupLimits, OR_GO_ON};
use crate::error::LoadError;

/// More than a shell takes, and soon filled.
const MEMORY: Bytes = Bytes::mib(16);
/// How long processor time is counted.
const BUSY_SECONDS: f64 = 0.4;
/// Of which so much is allowed.
const CPUS: f64 = 0.25;
/// A period more than allowed may have begun, and processor time is counted in ticks of 10 ms.
const MOST_CPUS: f64 = 0.5;

/// Tries those of `limits` that can be tried without knowing the medium: memory and processor time.
///
/// # Errors
/// A limit that was set does not hold.
pub fn probe(limits: &Limits) -> Result<(), LoadError> {
    if let Some(limit) = limits.memory {
        let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        fits(limit, kib_field(&text, "MemTotal"))?;
        memory()?;
    }
    if limits.cpus.is_some() {
        cpus()?;
    }
    Ok(())
}

fn quiet(command: &mut Command) -> &mut Command {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
}

/// A limit above the machine's memory limits nothing.
fn fits(limit: Bytes, total: Option<Bytes>) -> Result<(), LoadError> {
    match total {
        Some(total) if total < limit => Err(LoadError::Unsupported {
            what: format!("give a server {limit} of memory"),
            why: format!("this machine has {total}"),
            next: format!("Use a machine with more memory, a smaller limit, {OR_GO_ON}"),
        }),
        _ => Ok(()),
    }
}

/// tail(1) keeps all of what it shall print: four times what is allowed.
fn memory() -> Result<(), LoadError> {
    let cgroup = CgroupLimits::create(
        &Limits {
            memory: Some(MEMORY),
            ..Limits::default()
        },
        None,
    )?;
    let bytes = (MEMORY.0 * 4).to_string();
    let script = format!("head -c {bytes} /dev/zero | tail -c {bytes}");
    let status = quiet(
        cgroup
            .command(OsStr::new("/bin/sh"), None)
            .args(["-c", &script]),
    )
    .status();
    let status =
        status.map_err(|error| LoadError::other("the probe of the memory limit", error))?;
    if status.success() {
        let observed = format!(
            "a process took {} in a group of {MEMORY}",
            Bytes(MEMORY.0 * 4)
        );
        return Err(does_not_hold("memory", &observed));
    }
    Ok(())
}

/// A busy loop for [`BUSY_SECONDS`], whose processor time the shell reports.
fn cpus() -> Result<(), LoadError> {
    let cgroup = CgroupLimits::create(
        &Limits {
            cpus: Some(CPUS),
            ..Limits::default()
        },
        None,
    )?;
    let script = format!("timeout {BUSY_SECONDS} sh -c 'while :; do :; done'; times");
    let mut command = cgroup.command(OsStr::new("/bin/sh"), None);
    let output = quiet(command.args(["-c", &script]))
        .stdout(Stdio::piped())
        .output();
    let output = output.map_err(|error| LoadError::other("the probe of the CPU limit", error))?;
    let times = String::from_utf8_lossy(&output.stdout);
    let used = children_seconds(&times).ok_or_else(|| {
        LoadError::other(
            "the probe of the CPU limit",
            format!("the shell reports {:?}", times.trim()),
        )
    })?;
    let cpus = used / BUSY_SECONDS;
    if cpus > MOST_CPUS {
        return Err(does_not_hold(
            "processor time",
            &format!("a process took {cpus:.2} CPUs in a group of {CPUS}"),
        ));
    }
    Ok(())
}

/// User and system time of a shell's children, by its `times` (POSIX, 2.14): `0m0.10s 0m0.00s` in the second line.
fn children_seconds(times: &str) -> Option<f64> {
    times
        .lines()
        .nth(1)?
        .split_whitespace()
        .map(|field| {
            let (minutes, seconds) = field.strip_suffix('s')?.split_once('m')?;
            Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
        })
        .sum()
}

pub(super) fn does_not_hold(what: &str, observed: &str) -> LoadError {
    LoadError::Unsupported {
        what: format!("limit {what} of a server"),
        why: format!("the kernel accepts the limit and does not keep it: {observed}"),
        next: format!("Use another machine, {OR_GO_ON}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_shells_children_is_parsed() {
        assert_eq!(
            children_seconds("0m0.00s 0m0.00s\n1m0.10s 0m0.15s\n"),
            Some(60.25)
        );
        for rubbish in ["", "0m0.00s", "\nx y", "\n1:2"] {
            assert_eq!(children_seconds(rubbish), None, "{rubbish:?}");
        }
    }

    #[test]
    fn a_limit_that_does_not_hold_is_an_error_of_three_lines() {
        let error = does_not_hold("memory", "a process took 64 MiB in a group of 16 MiB");
        assert_eq!(
            error.to_string(),
            "cannot limit memory of a server\n\
             the kernel accepts the limit and does not keep it: a process took 64 MiB in a group of 16 MiB\n\
             Use another machine, or let the run go on without limits: limits = { …, without = \"warn\" } in the plan's system."
        );
    }

    #[test]
    fn a_limit_above_the_machines_memory_is_refused() {
        let error = fits(Bytes::mib(64 << 10), Some(Bytes::mib(16 << 10))).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot give a server 64.0 GiB of memory\nthis machine has 16.0 GiB\n\
             Use a machine with more memory, a smaller limit, or let the run go on without limits: \
             limits = { …, without = \"warn\" } in the plan's system."
        );
        fits(Bytes::mib(64), Some(Bytes::mib(64))).unwrap();
        fits(Bytes::mib(64), None).unwrap();
    }

    #[test]
    fn limits_hold_here() {
        probe(&Limits {
            memory: Some(Bytes(1)),
            cpus: Some(1.0),
            ..Limits::default()
        })
        .unwrap();
    }
}
