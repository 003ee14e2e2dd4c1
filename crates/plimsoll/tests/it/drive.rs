//! Emulated drives, with real mounts: as root block devices, as anybody directories.

mod by_hand;
mod directory;
mod killed;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::common::wait_for;
use plimsoll_drive::catalog;
use plimsoll_drive::emulate::protocol::{Backing, Filesystem, Form, Lost, MountSpec, Ready};
use plimsoll_drive::emulate::{Child, EmulatorError, EmulatorEvent, clear};
use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::message::EventKind;
use rustix::process::{Pid, Signal, geteuid, kill_process};
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");
const WAIT: Duration = Duration::from_secs(20);
const ENDING: Nanos = Nanos::from_secs(10);

/// 200 µs, and what has not been flushed is lost.
const DRIVE: &str = r#"
title = "Volatile"
kind = "volume"
capacity_gb = { value = 2, source = "assumed" }
write_cache = { value = "volatile", source = "assumed" }
[volume]
iops = { value = 100000, source = "assumed" }
mib_s = { value = 1000, source = "assumed" }
read_us = { value = 200, source = "assumed" }
write_us = { value = 200, source = "assumed" }
flush_us = { value = 100, source = "assumed" }
"#;

/// Slower than the disk below any test.
const SLOW: &str = r#"
title = "Slow"
kind = "volume"
capacity_gb = { value = 2, source = "assumed" }
write_cache = { value = "volatile", source = "assumed" }
[volume]
iops = { value = 100000, source = "assumed" }
mib_s = { value = 60, source = "assumed" }
read_us = { value = 20000, source = "assumed" }
write_us = { value = 200, source = "assumed" }
flush_us = { value = 100, source = "assumed" }
"#;

struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Self {
        Self {
            dir: tempfile::Builder::new()
                .prefix("plimdrive")
                .tempdir()
                .unwrap(),
        }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    fn spec(&self, form: Form) -> MountSpec {
        MountSpec {
            drive: DRIVE.into(),
            id: "volatile".into(),
            dir: self.path(),
            capacity: Bytes::mib(512),
            fill: 1.0,
            seed: 1,
            ignores_flush: false,
            form,
            backing: Backing::Memory,
            backing_limit: Bytes::mib(512),
            requests: None,
        }
    }

    fn assert_nothing_left(&self) {
        let left: Vec<_> = fs::read_dir(self.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert!(left.is_empty(), "left in the directory: {left:?}");
        let dir = self.path().display().to_string();
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        assert!(!mounts.contains(&dir), "left mounted:\n{mounts}");
        let loops = fs::read_dir("/sys/block").unwrap().flatten();
        let over = loops
            .filter_map(|entry| fs::read_to_string(entry.path().join("loop/backing_file")).ok());
        assert!(
            !over.into_iter().any(|backing| backing.contains(&dir)),
            "a loop device is left"
        );
    }
}

type Started = Result<(Child, Ready, Receiver<EmulatorEvent>), EmulatorError>;

fn start(spec: &MountSpec) -> Started {
    let (hear, heard) = channel();
    // The receiver may be gone by the end.
    let hear = move |news| drop(hear.send(news));
    Child::start(Path::new(PROGRAM), spec, hear).map(|(child, ready)| (child, ready, heard))
}

/// Runs `with_drive` where block devices are allowed; elsewhere they have to be refused with the reason.
fn with_block(
    place: &Place,
    spec: &MountSpec,
    with_drive: impl FnOnce(Child, Ready, Receiver<EmulatorEvent>),
) {
    match start(spec) {
        Ok((child, ready, heard)) => {
            assert!(geteuid().is_root());
            with_drive(child, ready, heard);
        }
        Err(error) if !geteuid().is_root() => {
            assert!(
                error.why.contains("only root") && error.next.contains("directory"),
                "{error}"
            );
        }
        Err(error) => panic!("as root a block device has to work here: {error}"),
    }
    place.assert_nothing_left();
}

fn write_durably(path: &Path, data: &[u8]) {
    let mut file = File::create(path).unwrap();
    file.write_all(data).unwrap();
    file.sync_all().unwrap();
    File::open(path.parent().unwrap())
        .unwrap()
        .sync_all()
        .unwrap();
}

/// Each virtual disk of a cluster has a filesystem of its own, and one power switch is for all.
#[test]
fn virtual_disks_are_parts_of_one_cluster() {
    let place = Place::new();
    let file = catalog::assembly_file("vsan:3:2:sata:vdisks=3".parse().unwrap()).unwrap();
    let spec = MountSpec {
        drive: file.text,
        capacity: Bytes::mib(600),
        ..place.spec(Form::Block(Filesystem::Ext4))
    };
    with_block(&place, &spec, |child, ready, _heard| {
        let [first, second, third] = &ready.disks[..] else {
            panic!("{:?}", ready.disks);
        };
        assert_eq!(*first, ready.path);
        let content = |disk: &Path| vec![disk.to_string_lossy().len() as u8; 3 << 20];
        for disk in &ready.disks {
            write_durably(&disk.join("own"), &content(disk));
        }
        let full = File::create(second.join("full"))
            .and_then(|mut file| file.write_all(&vec![7; 250 << 20]));
        assert!(full.is_err(), "it has a third of the space");
        write_durably(&third.join("more"), b"room");
        child.power_off().unwrap();
        child.power_on().unwrap();
        for disk in &ready.disks {
            assert!(fs::read(disk.join("own")).unwrap() == content(disk));
        }
        assert_eq!(child.stop().unwrap(), [""; 0]);
    });
    with_block(&place, &spec, |child, _, _heard| {
        let pid = Pid::from_raw(child.pid().cast_signed()).unwrap();
        kill_process(pid, Signal::KILL).unwrap();
        let messages = child.stop().unwrap();
        let unmounted = messages.iter().filter(|text| text.contains("Unmounted"));
        assert!(unmounted.count() >= 3, "{messages:?}");
    });
}

fn survives_a_cut(filesystem: Filesystem) {
    let place = Place::new();
    with_block(
        &place,
        &place.spec(Form::Block(filesystem)),
        |child, ready, _heard| {
            let (flushed, unflushed) = (ready.path.join("flushed"), ready.path.join("unflushed"));
            let before = vec![b'a'; 1 << 20];
            write_durably(&flushed, &before);
            // Changed in place and on the drive, with nothing to make it durable.
            let mut direct = Command::new("dd");
            direct
                .args([
                    "if=/dev/zero",
                    "bs=4k",
                    "count=64",
                    "conv=notrunc",
                    "oflag=direct",
                ])
                .stderr(Stdio::null());
            assert!(
                direct
                    .arg(format!("of={}", flushed.display()))
                    .status()
                    .unwrap()
                    .success()
            );
            fs::write(&unflushed, "x").unwrap();
            let lost = child.power_off().unwrap();
            assert!(
                lost.writes >= 1 && lost.bytes >= Bytes(4096 * 64),
                "{lost:?}"
            );
            assert_eq!(lost.flushed_writes, 0);
            assert!(
                File::create(ready.path.join("after"))
                    .and_then(|file| file.sync_all())
                    .is_err(),
                "there is no power"
            );
            child.power_on().unwrap();
            assert!(
                fs::read(&flushed).unwrap() == before,
                "what was flushed is there, as it was"
            );
            assert!(!unflushed.exists());
            write_durably(&ready.path.join("after"), b"power is back");
            assert_eq!(child.stop().unwrap(), [""; 0]);
        },
    );
}

#[test]
fn flushed_data_survives_a_power_cut_on_ext4() {
    survives_a_cut(Filesystem::Ext4);
}

#[test]
fn flushed_data_survives_a_power_cut_on_xfs() {
    survives_a_cut(Filesystem::Xfs);
}

#[test]
fn a_drive_that_ignores_flushes_loses_flushed_data_and_reports_it() {
    let place = Place::new();
    let spec = MountSpec {
        ignores_flush: true,
        ..place.spec(Form::Block(Filesystem::Ext4))
    };
    with_block(&place, &spec, |child, ready, _heard| {
        write_durably(&ready.path.join("flushed"), b"in vain");
        let lost = child.power_off().unwrap();
        assert!(
            lost.flushed_writes >= 1 && lost.flushed_writes <= lost.writes,
            "{lost:?}"
        );
        child.power_on().unwrap();
        assert!(!ready.path.join("flushed").exists());
        write_durably(&ready.path.join("again"), b"the drive goes on");
    });
}

#[test]
fn a_flush_that_waits_when_the_power_fails_is_refused_and_keeps_nothing() {
    let place = Place::new();
    let drive = DRIVE.replace("flush_us = { value = 100,", "flush_us = { value = 900000,");
    let spec = MountSpec {
        drive,
        ..place.spec(Form::Block(Filesystem::Ext4))
    };
    with_block(&place, &spec, |child, _ready, _heard| {
        // The drive itself, below the loop device: at its end the filesystem has nothing.
        let mut inside = fs::read_dir(place.path().join("fuse")).unwrap();
        let path = inside.next().unwrap().unwrap().path();
        let image = fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .unwrap();
        let (at, mut content) = (Bytes::mib(512).0 - 4096, [1; 4096]);
        image.read_exact_at(&mut content, at).unwrap();
        assert_eq!(content, [0; 4096]);
        image.write_all_at(&[7; 4096], at).unwrap();
        let synced = std::thread::scope(|scope| {
            let flush = scope.spawn(|| image.sync_all());
            // Within the 0.9 s that the flush takes.
            std::thread::sleep(Duration::from_millis(200));
            let lost = child.power_off().unwrap();
            assert!(lost.writes >= 1 && lost.flushed_writes == 0, "{lost:?}");
            flush.join().unwrap()
        });
        assert!(synced.is_err(), "nobody was promised that it is durable");
        child.power_on().unwrap();
        image.read_exact_at(&mut content, at).unwrap();
        assert_eq!(content, [0; 4096]);
    });
}

#[test]
fn a_drive_with_capacitors_loses_nothing() {
    let place = Place::new();
    let drive = SLOW.replace("volatile", "protected");
    let spec = MountSpec {
        drive,
        backing: Backing::File,
        ..place.spec(Form::Block(Filesystem::Ext4))
    };
    with_block(&place, &spec, |child, ready, _heard| {
        write_durably(&ready.path.join("a"), b"abc");
        assert_eq!(child.power_off().unwrap(), Lost::default());
        child.power_on().unwrap();
        assert_eq!(fs::read(ready.path.join("a")).unwrap(), b"abc");
    });
}

#[test]
fn every_second_is_accounted() {
    let place = Place::new();
    with_block(
        &place,
        &place.spec(Form::Block(Filesystem::Ext4)),
        |child, ready, heard| {
            let path = ready.path.join("file");
            let (mut reads, mut writes, mut flushes) = (0, 0, 0);
            for round in 0.. {
                assert!(round < 1000, "no second with all kinds was heard");
                write_durably(&path, &[round as u8; 8192]);
                let device = ready.device.as_ref().unwrap();
                let mut read = Command::new("dd");
                read.args(["of=/dev/null", "bs=4k", "count=4", "iflag=direct"])
                    .stderr(Stdio::null());
                assert!(
                    read.arg(format!("if={}", device.display()))
                        .status()
                        .unwrap()
                        .success()
                );
                while let Ok(news) = heard.try_recv() {
                    let EmulatorEvent::Second(second) = news else {
                        continue;
                    };
                    assert!(second.to > second.from);
                    let [read, write, flush, _] = &second.tallies;
                    for tally in &second.tallies {
                        assert_eq!(tally.ops, tally.errors + tally.real.count());
                        assert_eq!(tally.real.count(), tally.modelled.count());
                        assert!(
                            tally.modelled.is_empty() || tally.modelled.mean().unwrap().0 >= 90_000
                        );
                    }
                    (reads, writes, flushes) = (
                        reads + read.bytes,
                        writes + write.bytes,
                        flushes + flush.ops,
                    );
                }
                if reads >= 16384 && writes >= 8192 && flushes >= 1 {
                    break;
                }
            }
            child.timing(false).unwrap();
            let next_second = || {
                let mut news = std::iter::from_fn(|| Some(heard.recv_timeout(WAIT).unwrap()));
                news.find_map(|news| {
                    if let EmulatorEvent::Second(second) = news {
                        Some(second)
                    } else {
                        None
                    }
                })
                .unwrap()
            };
            // The order has been obeyed by then: the first to end may have begun before it, the next may still be reported late.
            (0..3).for_each(|_| drop(next_second()));
            write_durably(&path, &[1; 8192]);
            let counted = |_| {
                next_second()
                    .tallies
                    .iter()
                    .map(|tally| tally.ops)
                    .sum::<u64>()
            };
            assert_eq!(
                (0..3).map(counted).sum::<u64>(),
                0,
                "without timing nothing is counted"
            );
        },
    );
}

#[test]
fn what_cannot_be_set_up_leaves_nothing() {
    let place = Place::new();
    let tiny = MountSpec {
        capacity: Bytes(65536),
        ..place.spec(Form::Block(Filesystem::Xfs))
    };
    let error = start(&tiny).map(drop).unwrap_err();
    assert!(
        error.why.contains("mkfs.xfs") || error.why.contains("only root"),
        "{error}"
    );
    place.assert_nothing_left();
    let rubbish = MountSpec {
        drive: "kind = 7".into(),
        ..place.spec(Form::Directory)
    };
    assert!(
        start(&rubbish)
            .map(drop)
            .unwrap_err()
            .why
            .contains("drive file volatile")
    );
    place.assert_nothing_left();
    fs::write(place.path().join("precious"), "x").unwrap();
    assert!(
        start(&place.spec(Form::Directory))
            .map(drop)
            .unwrap_err()
            .why
            .contains("not empty")
    );
    assert!(place.path().join("precious").exists());
}

#[test]
fn space_in_a_directory_is_reserved_within_the_limit_and_comes_back() {
    use rustix::fs::{FallocateFlags, SeekFrom, fallocate, seek};
    const MIB: u64 = 1 << 20;
    let place = Place::new();
    let (child, ready, heard) = start(&MountSpec {
        backing_limit: Bytes::mib(9999),
        requests: None,
        ..place.spec(Form::Directory)
    })
    .expect("FUSE is needed here: apt install fuse3");
    let file = File::create_new(ready.path.join("a")).unwrap();
    let reserve = |from, len| fallocate(&file, FallocateFlags::KEEP_SIZE, from * MIB, len * MIB);
    let full = Err(rustix::io::Errno::NOSPC);
    assert_eq!(reserve(0, 513), full);
    assert_eq!((reserve(0, 512), reserve(600, 1)), (Ok(()), full));
    fallocate(
        &file,
        FallocateFlags::KEEP_SIZE | FallocateFlags::PUNCH_HOLE,
        MIB,
        2 * MIB,
    )
    .unwrap();
    assert_eq!((reserve(600, 2), reserve(700, 1)), (Ok(()), full));
    let warned = std::iter::from_fn(|| heard.recv_timeout(WAIT).ok()).find_map(|news| match news {
        EmulatorEvent::Warning(EventKind::BackingFull { limit_bytes }) => Some(limit_bytes),
        _ => None,
    });
    assert_eq!(warned, Some(512 * MIB), "the smaller of limit and capacity");
    // Still in the page cache: a hole to the backing, and data to whoever copies the file.
    let sparse = File::create_new(ready.path.join("b")).unwrap();
    fallocate(
        &file,
        FallocateFlags::KEEP_SIZE | FallocateFlags::PUNCH_HOLE,
        0,
        512 * MIB,
    )
    .unwrap();
    sparse.write_all_at(b"x", 4 * MIB).unwrap();
    assert_eq!(seek(&sparse, SeekFrom::Data(4 * MIB)), Ok(4 * MIB));
    drop((file, sparse));
    assert_eq!(child.stop().unwrap(), [""; 0]);
    place.assert_nothing_left();
}

#[test]
fn a_drive_by_hand_with_a_power_cut_and_an_end() {
    let place = Place::new();
    let file = place.dir.path().with_extension("toml");
    fs::write(&file, DRIVE).unwrap();
    let form = if geteuid().is_root() {
        "block"
    } else {
        "directory"
    };
    let mut mount = Command::new(PROGRAM);
    mount
        .args(["drive", "mount", "--capacity", "512MiB", "--form", form])
        .arg(&file)
        .arg(place.path());
    let mut mount = mount.stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = std::io::BufReader::new(mount.stderr.take().unwrap());
    let mut greeting = String::new();
    std::io::BufRead::read_line(&mut stderr, &mut greeting).unwrap();
    assert!(greeting.starts_with("Mounted at "), "{greeting}");
    fs::write(place.path().join("a"), "x").unwrap();
    let cut = Command::new(PROGRAM)
        .args(["drive", "cut"])
        .arg(place.path())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&[cut.stdout, cut.stderr].concat()).into_owned();
    match geteuid().is_root() {
        true => assert!(
            cut.status.success() && printed.contains("lost"),
            "{printed}"
        ),
        false => assert!(
            !cut.status.success() && printed.contains("directory form"),
            "{printed}"
        ),
    }
    kill_process(
        Pid::from_raw(mount.id().cast_signed()).unwrap(),
        Signal::INT,
    )
    .unwrap();
    assert!(mount.wait().unwrap().success());
    fs::remove_file(file).unwrap();
    place.assert_nothing_left();
    let nobody = Command::new(PROGRAM)
        .args(["drive", "cut"])
        .arg(place.path())
        .output()
        .unwrap();
    assert_eq!(nobody.status.code(), Some(1));
}
