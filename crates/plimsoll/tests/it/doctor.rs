//! The doctor: this machine's disk, emulated drives that flush and that do not, a sparse file, a mounted device; and what
//! a run keeps of it.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Outcome, Place};
use rustix::process::{Signal, geteuid};
use serde_json::Value;

const CODES: [&str; 19] = [
    "governor",
    "cpu",
    "steal",
    "clock_source",
    "in_use",
    "drive",
    "health",
    "write_cache",
    "power_loss",
    "scheduler",
    "queue",
    "alignment",
    "filesystem",
    "mount_options",
    "space",
    "unwritten",
    "entropy",
    "noise",
    "fsync",
];

fn json(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {outcome:?}"))
}

/// The exit code follows from the findings.
#[track_caller]
fn examined(outcome: &Outcome) -> Value {
    let json = json(outcome);
    let expected = if json["worst"] == "error" { 3 } else { 0 };
    assert_eq!(outcome.code, Some(expected), "{outcome:?}");
    json
}

fn findings<'a>(json: &'a Value, medium: &str) -> &'a Vec<Value> {
    let media = json["media"].as_array().unwrap();
    let medium = media
        .iter()
        .find(|of| of["name"] == medium)
        .unwrap_or_else(|| panic!("{medium} in {json}"));
    medium["findings"].as_array().unwrap()
}

#[track_caller]
fn finding<'a>(json: &'a Value, medium: &str, code: &str) -> &'a Value {
    findings(json, medium)
        .iter()
        .find(|row| row["code"] == code)
        .unwrap_or_else(|| panic!("{code} in {json}"))
}

/// Everything that changes when a file or directory does.
fn state(path: &Path) -> [i64; 7] {
    let about = fs::metadata(path).unwrap();
    let times = [
        about.mtime(),
        about.mtime_nsec(),
        about.ctime(),
        about.ctime_nsec(),
        about.atime_nsec(),
    ];
    [
        times[0],
        times[1],
        times[2],
        times[3],
        times[4],
        about.size() as i64,
        about.blocks() as i64,
    ]
}

#[test]
fn a_directory_is_looked_at_and_not_touched() {
    let place = Place::new();
    fs::write(place.medium().join("mine"), "precious").unwrap();
    let files = [place.medium(), place.medium().join("mine")];
    let before = files.each_ref().map(|path| state(path));
    let json = examined(&place.run(&["doctor", "medium", "--format", "json"]));
    assert_eq!(files.each_ref().map(|path| state(path)), before);
    assert_eq!(fs::read_to_string(&files[1]).unwrap(), "precious");
    for code in ["governor", "cpu", "steal", "clock_source"] {
        assert!(
            json["machine"]
                .as_array()
                .unwrap()
                .iter()
                .any(|row| row["code"] == code),
            "{json}"
        );
    }
    for code in [
        "filesystem",
        "mount_options",
        "space",
        "unwritten",
        "entropy",
        "noise",
    ] {
        finding(&json, "medium", code);
    }
    let untested = finding(&json, "medium", "fsync");
    assert_eq!(
        (&untested["level"], &json["media"][0]["fsync"]),
        (&"unknown".into(), &Value::Null)
    );
    assert!(
        untested["next"]
            .as_str()
            .unwrap()
            .contains("doctor medium --write"),
        "{untested}"
    );
    for row in findings(&json, "medium")
        .iter()
        .chain(json["machine"].as_array().unwrap())
    {
        assert!(!row["found"].as_str().unwrap().is_empty(), "{row}");
        let speaks = row["level"] == "warning" || row["level"] == "error";
        assert!(
            !speaks || !row["next"].as_str().unwrap().is_empty(),
            "what to do: {row}"
        );
    }
}

#[test]
fn with_write_a_file_is_made_and_removed() {
    let place = Place::new();
    fs::write(place.medium().join("mine"), "precious").unwrap();
    let json = examined(&place.run(&["doctor", "medium", "--write", "--format", "json"]));
    let test = &json["media"][0]["fsync"];
    for kind in ["unsynced", "fdatasync", "flush", "o_dsync"] {
        assert!(test[kind]["requests"].as_u64().unwrap() >= 5, "{test}");
        assert!(test[kind]["per_second"].as_f64().unwrap() > 0.0, "{test}");
    }
    assert!(
        finding(&json, "medium", "fsync")["found"]
            .as_str()
            .unwrap()
            .contains("writes of 4 KiB a second")
    );
    place.expect_clean_but(&["mine"]);
}

/// Named by the user, who knows the drive.
#[test]
fn a_drive_of_unknown_type_can_be_named() {
    let place = Place::new();
    let args = [
        "doctor",
        "medium",
        "--drive",
        "kingston-dc500m-960g",
        "--format",
        "json",
    ];
    let json = examined(&place.run(&args));
    let power = finding(&json, "medium", "power_loss");
    assert_eq!(power["level"], "ok");
    assert!(
        power["found"]
            .as_str()
            .unwrap()
            .contains("kingston-dc500m-960g"),
        "{power}"
    );
}

#[test]
fn a_sparse_file_is_reported_and_stays_sparse() {
    let place = Place::new();
    let path = place.path("sparse");
    let file = File::create(&path).unwrap();
    file.set_len(8 << 20).unwrap();
    // A part of it is data that do not compress.
    let data: Vec<u8> = (0..1_u32 << 18)
        .flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect();
    file.write_all_at(&data, 4 << 20).unwrap();
    file.sync_all().unwrap();
    let before = state(&path);
    let json = examined(&place.run(&["doctor", "sparse", "--format", "json"]));
    assert_eq!(state(&path), before);
    let unwritten = finding(&json, "sparse", "unwritten");
    assert_eq!(unwritten["level"], "warning", "{unwritten}");
    assert_eq!(unwritten["finding"], "holes", "{unwritten}");
    let entropy = finding(&json, "sparse", "entropy")["found"]
        .as_str()
        .unwrap();
    assert!(entropy.contains("bits per byte"), "{entropy}");
    place
        .run(&["doctor", "sparse", "--write"])
        .refused(&["would lose what it holds", "Give a directory on it"]);
    assert_eq!(state(&path), before);
}

/// Three emulated disks and drives; each medium has a directory of its own.
fn plan(place: &Place, form: &str) {
    let mut text = "title = \"Doctor\"\n".to_owned();
    let media = [
        ("honest", "disk-7200rpm-4t", "honest"),
        ("liar", "disk-7200rpm-4t", "ignored"),
        ("protected", "kingston-dc1500m-960g", "honest"),
    ];
    for (name, drive, flush) in media {
        text += &format!(
            "[medium.{name}]\npath = {:?}\ndrive = \"{drive}\"\ncapacity = \"2GiB\"\nform = \"{form}\"\nflush = \
             \"{flush}\"\n",
            place.medium()
        );
    }
    text += "[system.db]\nengine = \"sqlite\"\n[workload.oltp.tpcc]\nwarehouses = 1\n[[step]]\nrun = \"oltp\"\nsystem = \
             \"db\"\non = [\"honest\", \"liar\", \"protected\"]\nusers = [1]\n";
    place.write("plan.toml", &text);
}

/// The liar is found by how soon its writes are durable: 4 ms and more apart from what the disk can, so that no busy
/// machine hides it, and the honest one never answers before its time.
fn a_liar_is_found(form: &str) {
    let place = Place::new();
    plan(&place, form);
    let outcome = place.run(&["doctor", "plan.toml", "--format", "json"]);
    let json = examined(&outcome);
    assert_eq!(outcome.code, Some(3), "{json}");
    let liar = finding(&json, "liar", "fsync");
    assert_eq!(liar["level"], "error", "{liar}");
    assert!(
        liar["found"]
            .as_str()
            .unwrap()
            .starts_with("FLUSHES ARE IGNORED"),
        "{liar}"
    );
    assert_eq!(
        finding(&json, "honest", "fsync")["level"],
        "ok",
        "{}",
        finding(&json, "honest", "fsync")
    );
    let protected = finding(&json, "protected", "fsync");
    assert_eq!(protected["level"], "ok", "{protected}");
    assert!(
        protected["found"].as_str().unwrap().contains("protected"),
        "{protected}"
    );
    for name in ["honest", "liar", "protected"] {
        let drive = finding(&json, name, "drive")["found"].as_str().unwrap();
        assert!(drive.starts_with("An emulated "), "{drive}");
    }
    place.expect_clean();
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(
        !mounts.contains(&place.path("").display().to_string()),
        "{mounts}"
    );
}

#[test]
fn a_directory_drive_that_ignores_flushes_is_found() {
    a_liar_is_found("directory");
}

#[test]
fn a_drive_that_ignores_flushes_is_found() {
    a_liar_is_found("auto");
}

/// Mounted by hand it reports which drive it is, and not what it does with a flush.
#[test]
fn a_drive_mounted_by_hand_is_held_to_its_data_sheet() {
    for (flush, level) in [("honest", "ok"), ("ignored", "error")] {
        let place = Place::new();
        fs::create_dir(place.path("drive")).unwrap();
        let args = [
            "drive",
            "mount",
            "disk-7200rpm-4t",
            "drive",
            "--capacity",
            "2GiB",
            "--flush",
            flush,
        ];
        let mut mounted = place.start(&args);
        mounted.wait_for_message("Mounted at");
        let json = examined(&place.run(&["doctor", "drive", "--write", "--format", "json"]));
        mounted.signal(Signal::TERM);
        mounted.wait();
        assert_eq!(finding(&json, "drive", "fsync")["level"], level, "{json}");
        place.expect_clean();
    }
}

/// A loop device with a mounted filesystem; gone when this is dropped.
struct MountedDevice {
    device: String,
    at: PathBuf,
}

fn program(name: &str, args: &[&str]) -> Result<String, String> {
    let output = Command::new(name)
        .args(args)
        .output()
        .map_err(|error| error.to_string())?;
    let (stdout, errors) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    if output.status.success() {
        Ok(stdout.trim().to_owned())
    } else {
        Err(format!("{name} {args:?}: {errors}"))
    }
}

impl MountedDevice {
    fn new(place: &Place) -> Result<Self, String> {
        let (image, at) = (place.path("image"), place.path("at"));
        let mut file = File::create(&image).unwrap();
        file.write_all(b"").unwrap();
        file.set_len(32 << 20).unwrap();
        fs::create_dir(&at).unwrap();
        program("mkfs.ext4", &["-q", &image.display().to_string()])?;
        let device = program("losetup", &["-f", "--show", &image.display().to_string()])?;
        let mounted = Self { device, at };
        program(
            "mount",
            &[
                "-t",
                "ext4",
                &mounted.device,
                &mounted.at.display().to_string(),
            ],
        )?;
        Ok(mounted)
    }
}

impl Drop for MountedDevice {
    fn drop(&mut self) {
        let _ = program("umount", &[&self.at.display().to_string()]);
        let _ = program("losetup", &["-d", &self.device]);
    }
}

#[test]
fn a_mounted_device_is_only_read_and_reported_with_its_holder() {
    let place = Place::new();
    match MountedDevice::new(&place) {
        Ok(mounted) => {
            let at = mounted.at.display().to_string();
            fs::write(mounted.at.join("mine"), "precious").unwrap();
            let json = examined(&place.run(&["doctor", &mounted.device, "--format", "json"]));
            let use_of = finding(&json, &mounted.device, "in_use");
            assert_eq!(use_of["level"], "warning", "{use_of}");
            assert!(use_of["found"].as_str().unwrap().contains(&at), "{use_of}");
            // Its blocks were read: mkfs wrote some of 32 MiB.
            let unwritten = finding(&json, &mounted.device, "unwritten")["found"]
                .as_str()
                .unwrap();
            assert!(unwritten.contains(&mounted.device), "{unwritten}");
            place
                .run(&["doctor", &mounted.device, "--write"])
                .refused(&["would lose what it holds"]);
            assert_eq!(
                fs::read_to_string(mounted.at.join("mine")).unwrap(),
                "precious"
            );
            program("umount", &[&at]).unwrap();
            let json = examined(&place.run(&["doctor", &mounted.device, "--format", "json"]));
            let use_of = finding(&json, &mounted.device, "in_use");
            assert!(
                !use_of["found"].as_str().unwrap().contains("mounted"),
                "{use_of}"
            );
            assert!(
                use_of["found"].as_str().unwrap().contains("ext4"),
                "{use_of}"
            );
        }
        Err(error) => assert!(
            !geteuid().is_root(),
            "as root a device has to work here: {error}"
        ),
    }
}

#[test]
fn what_cannot_be_looked_at_is_refused() {
    let place = Place::new();
    place
        .run(&["doctor", "nowhere"])
        .refused(&["cannot access nowhere"]);
    place
        .run(&["doctor", "/dev/null"])
        .refused(&["a character device"]);
    place
        .run(&["doctor", "medium", "--drive", "kingston"])
        .refused(&["there is no drive `kingston`"]);
    place.write("bad.toml", "title = \"x\"\n[mediun.here]\npath = \".\"\n");
    place
        .run(&["doctor", "bad.toml"])
        .refused(&["bad.toml:2", "medium"]);
    plan(&place, "auto");
    place
        .run(&["doctor", "plan.toml", "--drive", "aws-gp3"])
        .refused(&["a plan has several media"]);
    place.expect_clean();
}

/// Rows of the run file's table: subject's name (empty: the machine), code, level, the finding as JSON.
fn kept(run: &Path) -> Vec<[String; 4]> {
    let db = rusqlite::Connection::open(run).unwrap();
    let sql = "SELECT coalesce(subject.name, ''), code, level, finding FROM diagnosis \
               LEFT JOIN subject ON subject.id = diagnosis.subject ORDER BY diagnosis.rowid";
    let mut rows = db.prepare(sql).unwrap();
    let rows = rows
        .query_map([], |row| {
            Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?])
        })
        .unwrap();
    rows.map(|row| row.unwrap()).collect()
}

#[test]
fn a_run_keeps_what_the_doctor_found_before_the_first_load() {
    let place = Place::new();
    place.plan("sqlite", "users = [1, 2]\nramp = \"1s\"\nmeasure = \"1s\"");
    place.small_data();
    let outcome = place.run(&["run", "plan.toml", "-o", "x.run"]).succeeded();
    let kept = kept(&place.path("x.run"));
    let of = |subject: &str| {
        kept.iter()
            .filter(|row| row[0] == subject)
            .map(|row| row[1].as_str())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        of(""),
        ["governor", "steal", "clock_source"],
        "once, and without a quiet moment"
    );
    let medium = of("here");
    for code in ["filesystem", "space", "unwritten"] {
        assert_eq!(
            medium.iter().filter(|found| **found == code).count(),
            1,
            "{kept:?}"
        );
    }
    assert!(
        !medium.contains(&"fsync") && !medium.contains(&"noise"),
        "{kept:?}"
    );
    for [_, code, _, finding] in &kept {
        let speaks = kept
            .iter()
            .any(|row| row[1] == *code && (row[2] == "warning" || row[2] == "error"));
        let is_printed = outcome.stderr.contains(&format!(": {code}: "));
        assert_eq!(is_printed, speaks, "{code} {finding}: {outcome:?}");
    }
}

#[test]
fn every_check_is_documented() {
    let page =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/doctor.md"))
            .unwrap();
    for code in CODES {
        assert!(
            page.contains(&format!("`{code}`")),
            "{code} is not in docs/doctor.md"
        );
    }
    // And no check is forgotten here.
    let place = Place::new();
    let json = examined(&place.run(&["doctor", "medium", "--format", "json"]));
    let rows = findings(&json, "medium")
        .iter()
        .chain(json["machine"].as_array().unwrap());
    for row in rows {
        assert!(CODES.contains(&row["code"].as_str().unwrap()), "{row}");
    }
}
