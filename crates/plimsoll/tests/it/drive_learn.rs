//! `plimsoll drive learn` on a directory and on loop devices.

use std::fs::{self, OpenOptions};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Outcome, Place, processes_in, wait_for};
use plimsoll_drive::spec::DriveSpec;
use rustix::process::Signal;

fn names(dir: &Path) -> Vec<String> {
    fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn a_directory_gives_a_drive_file_and_stays_clean() {
    let place = Place::new();
    fs::create_dir(place.path("medium/a:b")).unwrap();
    fs::write(place.path("medium/a:b/.plimsoll-learn-1"), LEFTOVER).unwrap();
    fs::write(place.path("medium/a:b/mine"), "precious").unwrap();
    let args = [
        "drive",
        "learn",
        "medium/a:b",
        "-o",
        "mine.toml",
        "--size",
        "64M",
    ];
    let outcome = learned(&place, &args);
    assert!(
        outcome
            .stderr
            .contains(".plimsoll-learn-1, left by a killed run"),
        "{outcome:?}"
    );
    for phrase in [
        "randread 4K QD1 ",
        "µs median",
        "randwrite 4K QD32 ",
        "MB/s",
        "Drive file: mine.toml",
    ] {
        assert!(
            outcome.stdout.contains(phrase),
            "{phrase:?} is not in {outcome:?}"
        );
    }
    let text = fs::read_to_string(place.path("mine.toml")).unwrap();
    for phrase in [
        "# Learned on 20",
        "plimsoll drive learn medium/a:b --seconds ",
        "# On ",
        ", kernel ",
        "# fio-3",
        "error_percent = ",
    ] {
        assert!(text.contains(phrase), "{phrase:?} is not in {text}");
    }
    let spec = DriveSpec::parse("mine", &text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    assert!(
        spec.file
            .figures()
            .iter()
            .any(|row| row.key == "read_us" && row.figure.source == "learned")
    );
    let shown = place.run(&["drive", "show", "mine.toml"]).succeeded();
    assert!(
        shown.stdout.contains("read_us") && shown.stdout.contains("learned"),
        "{shown:?}"
    );
    assert_eq!(names(&place.path("medium/a:b")), ["mine"]);
    assert_eq!(
        fs::read_to_string(place.path("medium/a:b/mine")).unwrap(),
        "precious"
    );
    // Before anything is measured.
    place.run(&args).refused(&["mine.toml exists", "--force"]);
}

/// Measures a drive in a moment. Where the machine is so busy that nothing is done in the 33 ms of a run, each gets longer;
/// where it takes too long, some loads are measured less often.
fn learned(place: &Place, args: &[&str]) -> Outcome {
    let short = place.run(&[args, &["--seconds", "0.1"]].concat());
    if short
        .stderr
        .contains("Every load was measured, some with fewer repeats")
    {
        return short;
    }
    if !short.stderr.contains("not one request was answered") {
        return short.succeeded();
    }
    let mut longer = place.run(&[args, &["--seconds", "3"]].concat()).succeeded();
    longer.stderr.insert_str(0, &short.stderr);
    longer
}

/// The mark of a test file.
const LEFTOVER: &str =
    "plimsoll learn 1: a test file. It is removed when the measuring ends, or by the next one.\n";

#[test]
fn a_plan_touches_nothing() {
    let place = Place::new();
    let outcome = place
        .run(&["drive", "learn", "medium", "--plan", "--size", "64M"])
        .succeeded();
    let commands = outcome
        .stdout
        .lines()
        .filter(|line| line.starts_with("fio "))
        .count();
    assert!(commands > 50, "{outcome:?}");
    assert!(
        outcome.stdout.contains("--rw=randread") && outcome.stdout.contains("--fdatasync=1"),
        "{outcome:?}"
    );
    place.expect_clean();
}

#[test]
fn an_interrupt_leaves_nothing() {
    let place = Place::new();
    let mut run = place.start(&[
        "drive",
        "learn",
        "medium",
        "-o",
        "mine.toml",
        "--seconds",
        "60",
        "--size",
        "64M",
    ]);
    run.wait_for_message("randread 4K QD1");
    run.signal(Signal::INT);
    run.wait()
        .failed(1, &["interrupted", "the test file is removed"]);
    assert!(!place.path("mine.toml").exists());
    place.expect_clean();
}

#[test]
fn an_interrupt_keeps_what_was_measured() {
    let place = Place::new();
    let args = [
        &["drive", "learn", "medium", "-o", "mine.toml"][..],
        &["--seconds", "0.1", "--size", "64M"],
    ]
    .concat();
    let mut run = place.start(&args);
    run.wait_for_message("Takes about ");
    // The last of the reads: with those before it the fit has enough.
    run.wait_for_message("] read 1024K QD");
    run.signal(Signal::INT);
    run.wait()
        .failed(1, &["interrupted. Not measured: ", "marked as partial"]);
    let text = fs::read_to_string(place.path("mine.toml")).unwrap();
    for part in [
        "(partial)",
        "burst of writes, randwrite 4K QD1",
        "# Measured: randread 4K QD128: ",
        "\nsequential_read_mb_s",
    ] {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
    assert!(!text.contains("\nwrite_us"), "{text}");
    place.expect_clean();
}

#[test]
fn fio_does_not_outlive_a_killed_program() {
    let place = Place::new();
    let mut run = place.start(&[
        "drive",
        "learn",
        "medium",
        "-o",
        "mine.toml",
        "--seconds",
        "600",
        "--size",
        "64M",
    ]);
    run.wait_for_message("randread 4K QD1");
    let fio = || {
        processes_in(&place.path(""))
            .iter()
            .any(|(_, command)| command.starts_with("fio "))
    };
    wait_for("fio", || fio().then_some(()));
    run.signal(Signal::KILL);
    wait_for("the end of fio, long before its run is over", || {
        (!fio()).then_some(())
    });
}

#[test]
fn what_is_not_a_drive_is_refused() {
    let place = Place::new();
    fs::write(place.path("medium/mine"), "precious").unwrap();
    place
        .run(&["drive", "learn", "medium/mine", "--overwrite"])
        .refused(&["a file that plimsoll did not make"]);
    place
        .run(&["drive", "learn", "/dev/null", "--overwrite"])
        .refused(&["character device"]);
    place
        .run(&["drive", "learn", "nowhere"])
        .refused(&["cannot access nowhere"]);
    place
        .run(&["drive", "learn", "medium", "--size", "1M"])
        .refused(&["1.0 MiB is too little"]);
    place
        .run(&["drive", "learn", "medium", "--size", "900T"])
        .refused(&["does not fit"]);
    assert_eq!(
        fs::read_to_string(place.path("medium/mine")).unwrap(),
        "precious"
    );
    assert_eq!(names(&place.medium()), ["mine"]);
}

/// Whether this is root, who sees all processes: not in a container (`PID_NS_INIT_INO` of linux/nsfs.h).
fn is_root() -> bool {
    let sees_all = fs::metadata("/proc/self/ns/pid").is_ok_and(|about| about.ino() == 0xEFFF_FFFC);
    rustix::process::geteuid().is_root() && sees_all
}

fn tool(name: &str, args: &[&str]) -> String {
    let output = Command::new(name)
        .args(args)
        .output()
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(
        output.status.success(),
        "{name} {args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A loop device over a file of 64 MiB; taken down at the end.
struct Loop {
    image: PathBuf,
    node: String,
}

impl Loop {
    fn new(place: &Place) -> Self {
        let image = place.path("image");
        let pattern: Vec<u8> = (0..1u32 << 20)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect();
        fs::write(&image, pattern.repeat(64)).unwrap();
        let node = tool("losetup", &["-f", "--show", image.to_str().unwrap()]);
        Self { image, node }
    }

    fn ext4(&self) {
        tool("mkfs.ext4", &["-q", "-F", &self.node]);
    }

    fn content(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        OpenOptions::new()
            .read(true)
            .open(&self.image)
            .unwrap()
            .read_to_end(&mut bytes)
            .unwrap();
        bytes
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.node).output();
        let _ = Command::new("delpart").args([&self.node, "1"]).output();
        let _ = Command::new("losetup").args(["-d", &self.node]).output();
    }
}

/// Only root may make loop devices; anybody else sees that a device they may not open is refused.
fn as_ordinary_user(place: &Place) {
    let words = ["/dev/loop0", "Leave out --overwrite"];
    let node = Path::new("/dev/loop0");
    if node.exists() {
        let outcome = place.run(&["drive", "learn", "/dev/loop0", "--overwrite"]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""));
        assert!(outcome.stderr.contains(words[0]), "{outcome:?}");
    } else {
        place
            .run(&["drive", "learn", "/dev/loop0", "--overwrite"])
            .refused(&["cannot access /dev/loop0"]);
    }
}

fn learn<'a>(node: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [
        &["drive", "learn", node, "-o", "loop.toml", "--force"],
        more,
    ]
    .concat()
}

#[test]
fn a_device_is_only_read_until_overwriting_is_asked_for() {
    let place = Place::new();
    if !is_root() {
        return as_ordinary_user(&place);
    }
    let device = Loop::new(&place);
    device.ext4();
    tool("sync", &[]);
    let before = device.content();
    let outcome = learned(&place, &learn(&device.node, &[]));
    for phrase in [
        "is only read: --overwrite was not given",
        "it holds a signature of ext4",
    ] {
        assert!(
            outcome.stderr.contains(phrase),
            "{phrase:?} is not in {outcome:?}"
        );
    }
    assert!(
        outcome.stdout.contains("Writes were not measured"),
        "{outcome:?}"
    );
    tool("sync", &[]);
    assert!(device.content() == before, "not a byte was written");
    let text = fs::read_to_string(place.path("loop.toml")).unwrap();
    assert!(
        text.contains("# Not measured: ") && !text.contains("\nwrite_us"),
        "{text}"
    );
    // On a machine busy with other things it may look like a disk.
    let has_read_time = text.contains("\nread_us") || text.contains("\nseek_average_ms");
    assert!(has_read_time && text.contains("is only read"), "{text}");
    // By its own name only.
    let link = place.path("link");
    std::os::unix::fs::symlink(&device.node, &link).unwrap();
    let own_name = format!("give its own name: {}", device.node);
    place
        .run(&learn("link", &["--overwrite"]))
        .refused(&["is another name of", &own_name]);
    let number = fs::metadata(&device.node).unwrap().rdev();
    let [major, minor] =
        [rustix::fs::major(number), rustix::fs::minor(number)].map(|number| number.to_string());
    let made = place.path("made");
    tool("mknod", &[made.to_str().unwrap(), "b", &major, &minor]);
    place
        .run(&learn(made.to_str().unwrap(), &["--overwrite"]))
        .refused(&["is another name of", &own_name]);
    assert!(device.content() == before, "not a byte was written");
    // Asked for, it is overwritten after the loss is named. What is measured then is the same as in a directory.
    let mut run = place.start(&learn(&device.node, &["--overwrite"]));
    run.wait_for_message("is overwritten: it holds a signature of ext4");
    run.wait_for_message("randread 4K QD1");
    run.signal(Signal::INT);
    run.wait().failed(1, &["interrupted"]);
    assert!(device.content() != before);
    place.expect_clean();
}

#[test]
fn a_device_in_use_is_never_written() {
    let place = Place::new();
    if !is_root() {
        return as_ordinary_user(&place);
    }
    let device = Loop::new(&place);
    device.ext4();
    let point = place.path("point");
    fs::create_dir(&point).unwrap();
    tool("mount", &[&device.node, point.to_str().unwrap()]);
    let mounted = format!("it is mounted: {}", point.display());
    place.run(&learn(&device.node, &["--overwrite"])).refused(&[
        "must not be overwritten",
        &mounted,
        "Unmount",
    ]);
    tool("umount", &[&device.node]);
    // Another program that has it open, without having claimed it.
    let held = OpenOptions::new().read(true).open(&device.node).unwrap();
    let by = format!("({})", std::process::id());
    place
        .run(&learn(&device.node, &["--overwrite"]))
        .refused(&["it is held open by", &by]);
    drop(held);
    // A device on top of it.
    let upper = tool("losetup", &["-f", "--show", &device.node]);
    let outcome = place.run(&learn(&device.node, &["--overwrite"]));
    tool("losetup", &["-d", &upper]);
    outcome.refused(&[&format!(
        "{} is built on it",
        upper.trim_start_matches("/dev/")
    )]);
    assert!(!place.path("loop.toml").exists());
}

#[test]
fn a_partition_of_a_disk_in_use_is_never_written() {
    let place = Place::new();
    if !is_root() {
        return as_ordinary_user(&place);
    }
    let device = Loop::new(&place);
    tool("addpart", &[&device.node, "1", "2048", "65536"]);
    let partition = format!("{}p1", device.node);
    let refused = |words: &[&str]| {
        place
            .run(&learn(&partition, &["--overwrite"]))
            .refused(&[&["must not be overwritten"], words].concat());
    };
    // The whole disk, open elsewhere without a claim.
    let held = OpenOptions::new().read(true).open(&device.node).unwrap();
    refused(&["it is held open by", &format!("({})", std::process::id())]);
    drop(held);
    // A device on top of the whole disk.
    let upper = tool("losetup", &["-f", "--show", &device.node]);
    refused(&[&format!(
        "{} is built on it",
        upper.trim_start_matches("/dev/")
    )]);
    tool("losetup", &["-d", &upper]);
    // Others may look at a device for a moment after it has changed.
    let free = || {
        place
            .run(&learn(&partition, &["--overwrite", "--plan"]))
            .code
            == Some(0)
    };
    wait_for("a plan for the partition once it is not in use", || {
        free().then_some(())
    });
    assert!(!place.path("loop.toml").exists());
}

#[test]
fn where_processes_are_hidden_nothing_is_written() {
    let place = Place::new();
    if !is_root() {
        return as_ordinary_user(&place);
    }
    let device = Loop::new(&place);
    let before = device.content();
    let _held = OpenOptions::new().read(true).open(&device.node).unwrap();
    // In another PID namespace; and where /proc hides what is others', of which group 0 and CAP_SYS_PTRACE are free.
    let hide = "mount -t proc -o hidepid=invisible proc /proc && \
                exec setpriv --regid=65534 --clear-groups --bounding-set=-sys_ptrace \"$@\"";
    let hiding = [
        (
            &["unshare", "--pid", "--fork", "--mount-proc"][..],
            "outside of this container",
        ),
        (
            &["unshare", "--mount", "sh", "-c", hide, "sh"],
            "processes of other users are hidden",
        ),
    ];
    for (wrapper, words) in hiding {
        let mut command = Command::new(wrapper[0]);
        command
            .args(&wrapper[1..])
            .arg(env!("CARGO_BIN_EXE_plimsoll"))
            .args(learn(&device.node, &["--overwrite"]));
        command
            .current_dir(place.path(""))
            .env("TMPDIR", place.path("tmp"));
        let outcome = place.start_command(command).wait();
        outcome.refused(&[
            "who holds it open cannot be found out",
            words,
            "Run as root, outside of any container",
        ]);
    }
    assert!(device.content() == before, "not a byte was written");
}
