//! Drives that a person mounts, moves, kills and ends.

use std::fs;
use std::io::{BufRead, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, geteuid, kill_process};

use super::{DRIVE, PROGRAM, Place, WAIT};

/// `drive mount` by hand, as far as its greeting. `sh` may do something first.
fn mount_by_hand(first: &str, dir: &Path, form: &str) -> std::process::Child {
    let file = dir.with_extension("toml");
    fs::write(&file, DRIVE).unwrap();
    let mut mount = Command::new("sh");
    mount.args([
        "-c",
        &format!("{first}; exec \"$@\""),
        "sh",
        PROGRAM,
        "drive",
        "mount",
        "--capacity",
        "512MiB",
    ]);
    let mut mount = mount
        .args(["--form", form])
        .arg(&file)
        .arg(dir)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufReader::new(mount.stderr.as_mut().unwrap())
        .lines()
        .map_while(Result::ok);
    let greeting = lines.find(|line| line.starts_with("Mounted at "));
    fs::remove_file(file).unwrap();
    assert!(greeting.is_some(), "see above");
    mount
}

/// Ctrl-C, which has to be enough.
fn end_by_hand(mut mount: std::process::Child) {
    kill_process(
        Pid::from_raw(mount.id().cast_signed()).unwrap(),
        Signal::INT,
    )
    .unwrap();
    for _ in 0..WAIT.as_millis() / 10 {
        if let Some(status) = mount.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    mount.kill().unwrap();
    panic!("Ctrl-C does not end it");
}

fn forms() -> &'static [&'static str] {
    if geteuid().is_root() {
        &["block", "directory"]
    } else {
        &["directory"]
    }
}

#[test]
fn a_directory_of_a_killed_drive_is_used_again_and_that_of_a_living_one_is_not() {
    let place = Place::new();
    let at = directory(&place, "slow");
    for form in forms() {
        let mut killed = mount_by_hand(":", &at, form);
        let mut second = Command::new(PROGRAM);
        second
            .args(["drive", "mount", "--capacity", "512MiB", "consumer-nvme-1t"])
            .arg(&at);
        let refused = second.output().unwrap();
        assert!(!refused.status.success());
        assert!(
            String::from_utf8_lossy(&refused.stderr).contains("alive"),
            "{refused:?}"
        );
        fs::write(at.join("a"), "the first one goes on").unwrap();
        let alive = clean(&at);
        assert!(!alive.0 && alive.1.contains("alive"), "{alive:?}");
        killed.kill().unwrap();
        killed.wait().unwrap();
        let again = mount_by_hand(":", &at, form);
        assert!(!at.join("a").exists());
        end_by_hand(again);
        assert_unmounted(&place, &at);
    }
}

/// Whether `plimsoll clean` succeeds there, and what it prints.
fn clean(at: &Path) -> (bool, String) {
    let output = Command::new(PROGRAM).arg("clean").arg(at).output().unwrap();
    let printed = [output.stdout, output.stderr].concat();
    let printed = String::from_utf8_lossy(&printed).into_owned();
    (output.status.success(), printed)
}

fn directory(place: &Place, name: &str) -> std::path::PathBuf {
    let at = place.path().join(name);
    fs::create_dir(&at).unwrap();
    at
}

/// The directory is as it was: empty, and with nothing beside it.
fn assert_unmounted(place: &Place, at: &Path) {
    assert_eq!(fs::read_dir(at).unwrap().count(), 0);
    fs::remove_dir(at).unwrap();
    place.assert_nothing_left();
    fs::create_dir(at).unwrap();
}

/// What is written to the directory goes to the drive and nowhere else.
#[test]
fn a_drive_is_mounted_where_it_was_asked_for() {
    use std::os::unix::fs::MetadataExt;
    let place = Place::new();
    let at = directory(&place, "slow");
    fs::write(at.join("mine"), "x").unwrap();
    let full = Command::new(PROGRAM)
        .args(["drive", "mount", "consumer-nvme-1t"])
        .arg(&at)
        .output()
        .unwrap();
    let refused = String::from_utf8_lossy(&full.stderr).into_owned();
    assert!(refused.contains("The directory is not empty"), "{refused}");
    fs::remove_file(at.join("mine")).unwrap();
    for form in forms() {
        let below = fs::metadata(&at).unwrap();
        let mut mount = mount_by_hand(":", &at, form);
        let above = fs::metadata(&at).unwrap();
        assert_ne!(above.dev(), below.dev(), "{form}: it is the real disk");
        fs::write(at.join("a"), "x").unwrap();
        mount.kill().unwrap();
        mount.wait().unwrap();
        let (cleaned, printed) = clean(&at);
        assert!(cleaned && printed.contains("Unmounted"), "{printed}");
        let after = fs::metadata(&at).unwrap();
        let facts =
            |about: &fs::Metadata| (about.dev(), about.ino(), about.mode(), about.mtime_nsec());
        assert_eq!(facts(&after), facts(&below), "{form}: it is as it was");
        assert_unmounted(&place, &at);
        assert!(clean(&at).1.contains("Nothing to remove"));
    }
}

/// The process that reads for an emulator's calibration.
fn reader_of(emulator: u32) -> Option<u32> {
    let children = format!("/proc/{emulator}/task/{emulator}/children");
    let children = fs::read_to_string(children).unwrap_or_default();
    let mut children = children.split_whitespace();
    children.find_map(|pid| {
        let command = fs::read_to_string(format!("/proc/{pid}/cmdline")).ok()?;
        command.contains("--read").then(|| pid.parse().ok())?
    })
}

/// While it calibrates, its drive's requests come from the same program: nothing may wait for answers that no longer come.
#[test]
fn an_emulator_killed_during_its_calibration_ends_and_so_does_its_reader() {
    let place = Place::new();
    let at = directory(&place, "slow");
    for form in forms() {
        let mut mount = Command::new(PROGRAM)
            .args(["drive", "mount", "--capacity", "512MiB", "--form", form])
            .arg("consumer-nvme-1t")
            .arg(&at)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let reader = (0..WAIT.as_millis()).find_map(|_| {
            std::thread::sleep(Duration::from_millis(1));
            reader_of(mount.id())
        });
        let reader = reader.expect("it calibrates");
        // Among the reads, not before the first.
        std::thread::sleep(Duration::from_millis(100));
        mount.kill().unwrap();
        mount.wait().unwrap();
        let ended = (0..WAIT.as_millis() / 10).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            !Path::new(&format!("/proc/{reader}")).exists()
        });
        assert!(ended, "the reader waits for a drive that is gone");
        end_by_hand(mount_by_hand(":", &at, form));
        assert_unmounted(&place, &at);
    }
}

#[test]
fn a_drive_whose_directory_was_moved_ends_with_nothing_left() {
    let place = Place::new();
    let (old, new) = (place.path().join("old"), place.path().join("new"));
    for form in forms() {
        // Named as the emulator's own mount points are.
        fs::create_dir_all(old.join("mnt")).unwrap();
        fs::create_dir(old.join("files")).unwrap();
        let mount = mount_by_hand(":", &old.join("mnt"), form);
        fs::rename(&old, &new).unwrap();
        fs::write(new.join("mnt/a"), "x").unwrap();
        end_by_hand(mount);
        // What the emulator did not make stays, and nothing else.
        assert_eq!(fs::read_dir(&new).unwrap().count(), 2);
        fs::remove_dir(new.join("files")).unwrap();
        fs::remove_dir(new.join("mnt")).unwrap();
        fs::remove_dir(&new).unwrap();
        place.assert_nothing_left();
    }
}

#[test]
fn files_have_the_rights_that_programs_give_them() {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let place = Place::new();
    let at = directory(&place, "slow");
    let mount = mount_by_hand("umask 077", &at, "directory");
    let path = at.join("shared");
    let mut options = fs::OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o444)
        .open(&path)
        .unwrap();
    file.write_all(b"abc").unwrap();
    file.set_len(2).unwrap();
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o444);
    drop(file);
    assert_eq!(fs::read(&path).unwrap(), b"ab");
    end_by_hand(mount);
    assert_unmounted(&place, &at);
}

#[test]
fn a_thread_that_panics_ends_the_process_and_reports_why() {
    const CHILD: &str = "PLIMSOLL_TEST_PANICS";
    if std::env::var_os(CHILD).is_some() {
        plimsoll::signals::abort_on_panic();
        let _ = std::thread::spawn(|| panic!("the reader is gone")).join();
        unreachable!("the process has ended");
    }
    let mut test = Command::new(std::env::current_exe().unwrap());
    test.args([
        "--exact",
        "--nocapture",
        "drive::by_hand::a_thread_that_panics_ends_the_process_and_reports_why",
    ]);
    let out = test.env(CHILD, "1").output().unwrap();
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert!(
        stderr.contains("the reader is gone") && stderr.contains("report it"),
        "{stderr}"
    );
    assert_eq!(
        std::os::unix::process::ExitStatusExt::signal(&out.status),
        Some(6),
        "SIGABRT"
    );
}
