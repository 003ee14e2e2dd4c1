//! Messages between the emulator's process and the one that started it: one JSON object a line on stdin and stdout.
//! When stdin ends, the emulator takes everything down and ends.

use std::path::PathBuf;
use std::sync::Arc;

use plimsoll_plan::member_event::MemberChange;
use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::drive::DriveSecond;
use plimsoll_record::message::EventKind;
use serde::{Deserialize, Serialize};

/// The emulator's whole task, on its stdin's first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MountSpec {
    /// The drive file's text, so that both processes mean the same one.
    pub drive: String,
    /// Its name without `.toml`.
    pub id: String,
    /// An empty directory of plimsoll's own: mount points and the backing file go into it.
    pub dir: PathBuf,
    pub capacity: Bytes,
    pub fill: f64,
    pub seed: u64,
    pub ignores_flush: bool,
    pub form: Form,
    pub backing: Backing,
    /// Most that the backing store may hold; a write beyond it gets ENOSPC.
    pub backing_limit: Bytes,
    /// A file for the requests that were served.
    #[serde(default)]
    pub requests: Option<PathBuf>,
}

/// The form of the drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// A block device with a filesystem, mounted. Needs root.
    Block(Filesystem),
    /// A directory; every file in it lies on the drive.
    Directory,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Filesystem {
    Xfs,
    Ext4,
}

/// Where the drive's data really are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Backing {
    Memory,
    /// A sparse file in [`MountSpec::dir`].
    File,
}

/// To the emulator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Answer at the model's times (the state after `Ready`), or as fast as possible.
    Timing(bool),
    /// The power fails: from now on every request is answered with EIO, and what would not have survived is gone.
    /// Answered with [`Message::PowerIsOff`].
    PowerOff,
    /// The power is back: the filesystem is unmounted if it still is, and mounted anew as after a crash.
    /// Answered with [`Message::PowerIsOn`].
    PowerOn,
    /// Something happens to a member of the array. Answered with [`Message::MemberChanged`].
    Member(MemberChange),
}

/// From the emulator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// Can be used.
    Ready(Ready),
    Second(Box<DriveSecond>),
    /// Something worth keeping.
    Warning(EventKind),
    PowerIsOff(Lost),
    PowerIsOn,
    /// Whether data are lost by that.
    MemberChanged {
        data_lost: bool,
    },
    /// A command that this form of drive does not support; nothing was done, and the drive goes on.
    Refused {
        why: String,
        next: String,
    },
    /// It could not be set up, or cannot go on. Its last message.
    Failed {
        why: String,
        next: String,
        no_fuse: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ready {
    /// Where files go.
    pub path: PathBuf,
    /// Where files of each virtual disk go, the first of which is `path`; empty where there is but one disk.
    #[serde(default)]
    pub disks: Vec<PathBuf>,
    /// The block device, such as `/dev/loop3`, or that of the first virtual disk; `None` for a directory.
    pub device: Option<PathBuf>,
    pub calibration: Calibration,
    /// Of the emulator's process.
    pub pid: u32,
}

/// What asking and answering cost on this machine beyond the modelled time, found at the start. It is subtracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calibration {
    /// Of a 4 KiB read at depth 1 that is answered at once, as a program measures it.
    pub floor: Nanos,
    /// Of one that is answered after a millisecond in which nothing happened: processors have to wake up.
    pub after_1ms: Nanos,
    /// Processors were kept from sleeping, so that both hardly differ.
    pub awake: bool,
    /// The emulator's thread goes before those of other programs.
    pub goes_first: bool,
    /// The part of the floor that the loop device adds to FUSE; 0 for a directory.
    pub of_which_loop: Nanos,
    /// How late the timer was at the median, after the worst of the waits that were tried.
    pub timer: Nanos,
    /// Reads a second of the largest crowd of readers that was tried.
    pub most_per_second: u64,
    /// What an answer cost at that rate.
    pub at_most: Nanos,
}

/// What a power cut took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// Acknowledged writes that were not flushed.
    pub writes: u64,
    pub bytes: Bytes,
    /// Of them, those that a flush had been acknowledged for: the drive lied.
    pub flushed_writes: u64,
}

/// Takes the emulator's messages. Called from several threads, and must not take long.
pub type MessageSender = Arc<dyn Fn(Message) + Send + Sync>;

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_record::drive::MemberSecond;
    use proptest::prelude::*;

    fn comes_back<T: Serialize + for<'a> Deserialize<'a> + PartialEq + std::fmt::Debug>(what: T) {
        let line = serde_json::to_string(&what).unwrap();
        assert!(!line.contains('\n'), "one line: {line}");
        assert_eq!(serde_json::from_str::<T>(&line).unwrap(), what);
    }

    #[test]
    fn everything_comes_back_as_it_was() {
        comes_back(MountSpec {
            drive: "title = \"a\"\nkind = \"disk\"\n".into(),
            id: "a".into(),
            dir: "/x y".into(),
            capacity: Bytes(1),
            fill: 0.5,
            seed: u64::MAX,
            ignores_flush: true,
            form: Form::Block(Filesystem::Ext4),
            backing: Backing::File,
            backing_limit: Bytes(2),
            requests: Some("/r.csv".into()),
        });
        let slow = MemberChange::Slow {
            member: 2,
            factor: 1.5,
        };
        for command in [
            Command::Timing(true),
            Command::PowerOff,
            Command::PowerOn,
            Command::Member(slow),
        ] {
            comes_back(command);
        }
        let mut second = DriveSecond {
            from: Nanos(1),
            to: Nanos(2),
            tallies: Default::default(),
            in_flight: 3,
            members: vec![MemberSecond {
                reads: 1,
                flash_bytes: 2.5,
                ..MemberSecond::default()
            }],
        };
        for (n, tally) in (1..).zip(&mut second.tallies) {
            (tally.ops, tally.bytes, tally.errors, tally.beyond) = (n, n + 10, n + 20, n + 30);
            tally.modelled.record(Nanos::from_micros(n * 7));
            tally.real.record(Nanos::from_micros(n * 8));
            tally.late.record(Nanos::from_micros(n));
        }
        let calibration = Calibration {
            floor: Nanos(4),
            after_1ms: Nanos(7),
            awake: true,
            goes_first: true,
            of_which_loop: Nanos(5),
            timer: Nanos(6),
            most_per_second: 8,
            at_most: Nanos(9),
        };
        comes_back(Message::Second(Box::new(second)));
        comes_back(Message::Ready(Ready {
            disks: vec!["/a/mnt".into(), "/a/mnt-1".into()],
            path: "/m".into(),
            device: Some("/dev/loop3".into()),
            calibration,
            pid: 7,
        }));
        comes_back(Message::Warning(EventKind::Teardown {
            error: "t\nu".into(),
        }));
        comes_back(Message::PowerIsOff(Lost {
            writes: 1,
            bytes: Bytes(2),
            flushed_writes: 3,
        }));
        comes_back(Message::PowerIsOn);
        comes_back(Message::Refused {
            why: "w".into(),
            next: "n".into(),
        });
        comes_back(Message::Failed {
            why: "w".into(),
            next: "n".into(),
            no_fuse: true,
        });
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(text in ".*") {
            prop_assert!(serde_json::from_str::<MountSpec>(&text).is_err());
            let _ = (serde_json::from_str::<Command>(&text), serde_json::from_str::<Message>(&text));
        }
    }
}
