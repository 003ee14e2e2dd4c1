//! Whether limits of block I/O hold where the data will be: tried out by dd(1), past the page cache.

use std::ffi::OsStr;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use plimsoll_plan::resolved::{IoLimits, Limits};
use plimsoll_plan::units::Bytes;

use super::cgroup_limits::CgroupLimits;
use super::files::Device;
use super::probe::does_not_hold;
use crate::error::LoadError;

/// Limits that are soon known to hold: in a second, 4 MiB and 50 requests.
const BYTES: Bytes = Bytes::mib(4);
const REQUESTS: u64 = 50;
/// Eight times that is tried, so that what a group may do at once at its beginning does not count.
const BLOCKS: &str = "count=128";
const SMALL_BLOCKS: &str = "count=400";
/// What is read and written.
const FILE: &str = "tried";

struct Trial {
    what: &'static str,
    limits: IoLimits,
    args: [&'static str; 2],
    writes: bool,
}

/// Those that the plan has.
fn trials(io: &IoLimits) -> Vec<Trial> {
    let none = IoLimits::default();
    let large = ["bs=256K", BLOCKS];
    let small = ["bs=4K", SMALL_BLOCKS];
    let all = [
        (
            io.read_bytes.is_some(),
            "read bytes",
            IoLimits {
                read_bytes: Some(BYTES),
                ..none
            },
            large,
            false,
        ),
        (
            io.write_bytes.is_some(),
            "written bytes",
            IoLimits {
                write_bytes: Some(BYTES),
                ..none
            },
            large,
            true,
        ),
        (
            io.reads.is_some(),
            "reads",
            IoLimits {
                reads: Some(REQUESTS),
                ..none
            },
            small,
            false,
        ),
        (
            io.writes.is_some(),
            "writes",
            IoLimits {
                writes: Some(REQUESTS),
                ..none
            },
            small,
            true,
        ),
    ];
    let wanted = all.into_iter().filter(|(wanted, ..)| *wanted);
    wanted
        .map(|(_, what, limits, args, writes)| Trial {
            what,
            limits,
            args,
            writes,
        })
        .collect()
}

/// Tries those of `io` in an empty directory, which is on `device`. `Some`: why they could not be tried there.
///
/// A medium that is too slow for eight times the tried limit passes: it shows nothing against it.
///
/// # Errors
/// A limit that was set does not hold.
pub fn try_io(io: &IoLimits, device: Device, dir: &Path) -> Result<Option<String>, LoadError> {
    let file = dir.join(FILE);
    let mut first = Command::new("timeout");
    first.args(["-s", "KILL", "60", "dd"]);
    let first = dd(first, &file, ["bs=1M", "count=32"], true)?;
    if !first.success() {
        return Ok(Some(format!(
            "dd cannot write 32 MiB past the page cache in {} ({first})",
            dir.display()
        )));
    }
    for Trial {
        what,
        limits,
        args,
        writes,
    } in trials(io)
    {
        let cgroup = CgroupLimits::create(
            &Limits {
                io: limits,
                ..Limits::default()
            },
            Some(device),
        )?;
        let mut timed = cgroup.command(OsStr::new("timeout"), None);
        timed.args(["-s", "KILL", "1", "dd"]);
        let ended = dd(timed, &file, args, writes)?;
        if ended.success() {
            let observed = format!(
                "in one second dd did {} in a group that may do an eighth of that",
                args.join(" ")
            );
            return Err(does_not_hold(what, &observed));
        }
        if !was_killed(ended) {
            return Ok(Some(format!(
                "dd {} in {} failed ({ended})",
                args.join(" "),
                dir.display()
            )));
        }
    }
    Ok(None)
}

/// timeout(1) ends itself as it ended the other, or reports it by its code.
fn was_killed(ended: ExitStatus) -> bool {
    ended.signal() == Some(9) || matches!(ended.code(), Some(124 | 137))
}

fn dd(
    mut command: Command,
    file: &Path,
    args: [&str; 2],
    writes: bool,
) -> Result<ExitStatus, LoadError> {
    let path = |key: &str| {
        let mut word = std::ffi::OsString::from(key);
        word.push(file);
        word
    };
    if writes {
        command
            .args(["if=/dev/zero", "oflag=direct,dsync", "conv=notrunc"])
            .arg(path("of="));
    } else {
        command
            .args(["of=/dev/null", "iflag=direct"])
            .arg(path("if="));
    }
    let quiet = command
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    quiet
        .status()
        .map_err(|error| LoadError::other("the trial of the I/O limits", error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_plan_has_is_tried_and_nothing_else() {
        let io = IoLimits {
            read_bytes: Some(Bytes(7)),
            writes: Some(90),
            ..IoLimits::default()
        };
        let tried: Vec<(&str, bool)> = trials(&io)
            .iter()
            .map(|trial| (trial.what, trial.writes))
            .collect();
        assert_eq!(tried, [("read bytes", false), ("writes", true)]);
        assert!(trials(&IoLimits::default()).is_empty());
        // As wait(2) has them: a signal, and exit codes.
        assert!(
            [9, 137 << 8, 124 << 8]
                .into_iter()
                .map(ExitStatus::from_raw)
                .all(was_killed)
        );
        assert!(
            ![0, 1 << 8, 125 << 8, 127 << 8, 15]
                .into_iter()
                .map(ExitStatus::from_raw)
                .any(was_killed)
        );
    }
}
