//! Whether limits of block I/O hold where the data will be: tried out by dd(1), past the page cache.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use plimsoll_model::plan::resolved::{IoLimits, Limits};
use plimsoll_model::units::Bytes;

use super::cage::Cage;
use super::files::Device;
use super::probe::does_not_hold;
use crate::error::LoadError;

/// Limits that are soon seen to hold: in a second, 4 MiB and 50 requests.
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
    let (large, small) = (["bs=256K", BLOCKS], ["bs=4K", SMALL_BLOCKS]);
    let all = [
        (io.read_bytes.is_some(), "read bytes", IoLimits { read_bytes: Some(BYTES), ..none }, large, false),
        (io.write_bytes.is_some(), "written bytes", IoLimits { write_bytes: Some(BYTES), ..none }, large, true),
        (io.reads.is_some(), "reads", IoLimits { reads: Some(REQUESTS), ..none }, small, false),
        (io.writes.is_some(), "writes", IoLimits { writes: Some(REQUESTS), ..none }, small, true),
    ];
    let wanted = all.into_iter().filter(|(wanted, ..)| *wanted);
    wanted.map(|(_, what, limits, args, writes)| Trial { what, limits, args, writes }).collect()
}

/// Tries those of `io` in an empty directory, which is on `device`. `Some`: why they could not be tried there.
///
/// A medium that is too slow for eight times the tried limit passes: it shows nothing against it.
///
/// # Errors
/// A limit that was set does not hold.
pub fn try_io(io: &IoLimits, device: Device, dir: &Path) -> Result<Option<String>, LoadError> {
    let file = dir.join(FILE);
    let first = dd(Command::new("dd"), &file, ["bs=1M", "count=32"], true)?;
    if !first.success() {
        return Ok(Some(format!("dd cannot write past the page cache in {} ({first})", dir.display())));
    }
    for Trial { what, limits, args, writes } in trials(io) {
        let cage = Cage::create(&Limits { io: limits, ..Limits::default() }, Some(device))?;
        let mut timed = cage.command(OsStr::new("timeout"), None);
        timed.args(["-s", "KILL", "1", "dd"]);
        if dd(timed, &file, args, writes)?.success() {
            let told = format!("in one second dd did {} in a group that may do an eighth of that", args.join(" "));
            return Err(does_not_hold(what, &told));
        }
    }
    Ok(None)
}

fn dd(mut command: Command, file: &Path, args: [&str; 2], writes: bool) -> Result<ExitStatus, LoadError> {
    let path = |key: &str| {
        let mut word = std::ffi::OsString::from(key);
        word.push(file);
        word
    };
    if writes {
        command.args(["if=/dev/zero", "oflag=direct", "conv=notrunc"]).arg(path("of="));
    } else {
        command.args(["of=/dev/null", "iflag=direct"]).arg(path("if="));
    }
    let quiet = command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().map_err(|error| LoadError::other("the trial of the I/O limits", error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_plan_has_is_tried_and_nothing_else() {
        let io = IoLimits { read_bytes: Some(Bytes(7)), writes: Some(90), ..IoLimits::default() };
        let tried: Vec<(&str, bool)> = trials(&io).iter().map(|trial| (trial.what, trial.writes)).collect();
        assert_eq!(tried, [("read bytes", false), ("writes", true)]);
        assert!(trials(&IoLimits::default()).is_empty());
    }
}
