//! Files that commands write: whole or not at all, and nothing else is lost.

use std::fs::{self, File, Permissions};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use rustix::process::Signal;

use crate::common::{Place, send, wait_for};

/// A browser that prints a page without looking at it.
const BROWSER: &str = "#!/bin/sh\nfor word; do case $word in --print-to-pdf=*) \
                       printf '%%PDF-1.4 Skia/PDF' > \"${word#*=}\";; esac; done\n";

/// One that is at it for a minute.
const SLOW_BROWSER: &str =
    "#!/bin/sh\necho $$ > browser.tmp\nmv browser.tmp browser.pid\nexec sleep 60\n";

/// Commands with the option that names their file, which is added.
const COMMANDS: [&[&str]; 10] = [
    &["report", "r.plimsoll", "-o"],
    &["report", "r.plimsoll", "-o", "page.html", "--pdf"],
    &["export", "r.plimsoll", "--to", "text", "-o"],
    &["export", "r.plimsoll", "--to", "json", "-o"],
    &["export", "r.plimsoll", "--to", "csv", "-o"],
    &["export", ".", "--to", "csv", "--table", "seconds", "-o"],
    &["export", ".", "--to", "parquet", "-o"],
    &["compare", "r.plimsoll", "other.plimsoll", "--anyway", "-o"],
    &["audit", "r.plimsoll", "-o"],
    &["drive", "list", "-o"],
];

/// Commands that replace nothing.
const NEVER_REPLACING: [&[&str]; 3] = [
    &["init", "-o"],
    &["bench", "mock", "--dry-run", "--save-plan"],
    &["import", "sysbench.txt", "-o"],
];

/// A place with two run files, an output to import and a browser.
fn place() -> Place {
    let place = Place::new();
    place.write(
        "mock.toml",
        "title = \"Mock\"\n[system.db.mock]\nlatency = \"1ms\"\n[workload.oltp.tpcc]\nwarehouses = 1\n[[step]]\n\
         run = \"oltp\"\nsystem = \"db\"\nusers = 1\nmeasure = \"5s\"\n",
    );
    for run in ["r.plimsoll", "other.plimsoll"] {
        let args = ["run", "mock.toml", "--virtual-time", "-q", "-o", run];
        place.run(&args).succeeded();
    }
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../plimsoll-import/src/recorded/sysbench_interval.txt");
    fs::copy(recorded, place.path("sysbench.txt")).unwrap();
    browser(&place, BROWSER);
    place
}

fn browser(place: &Place, script: &str) {
    let path = place.write("browser", script);
    fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
}

struct Written {
    code: Option<i32>,
    stderr: String,
}

fn write(place: &Place, command: &[&str], output: &str) -> Written {
    let mut command = place.command(&[command, &[output]].concat());
    command.env("PLIMSOLL_CHROMIUM", place.path("browser"));
    let output = command.output().unwrap();
    Written {
        code: output.status.code(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn refuses(place: &Place, command: &[&str], output: &str, why: &str) {
    let written = write(place, command, output);
    assert_eq!(
        written.code,
        Some(2),
        "{command:?} {output}: {}",
        written.stderr
    );
    assert!(
        written.stderr.contains(why),
        "{command:?}: {}",
        written.stderr
    );
}

fn writes(place: &Place, command: &[&str], output: &str) {
    let written = write(place, command, output);
    assert_eq!(
        written.code,
        Some(0),
        "{command:?} {output}: {}",
        written.stderr
    );
}

/// Names of everything in the place that plimsoll leaves only when it is killed.
pub fn parts(place: &Place) -> Vec<String> {
    let entries = fs::read_dir(place.path("")).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(".part")).collect()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

/// A device that takes everything; without root's rights the system's own, which no user can replace.
fn null(place: &Place) -> PathBuf {
    let path = place.path("null");
    let made = mknodat(
        CWD,
        &path,
        FileType::CharacterDevice,
        Mode::from(0o666),
        makedev(1, 3),
    );
    match made {
        Ok(()) => path,
        Err(_) => PathBuf::from("/dev/null"),
    }
}

#[test]
fn a_device_a_pipe_and_an_open_file_are_written_to() {
    let place = place();
    let null = null(&place);
    for command in COMMANDS.iter().chain(&NEVER_REPLACING[..2]) {
        writes(&place, command, null.to_str().unwrap());
        let kind = fs::symlink_metadata(&null).unwrap().file_type();
        assert!(kind.is_char_device(), "{command:?}");
    }
    for command in &COMMANDS[..5] {
        let pipe = place.path("pipe");
        let _ = fs::remove_file(&pipe);
        mknodat(CWD, &pipe, FileType::Fifo, Mode::from(0o600), 0).unwrap();
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || {
                let mut bytes = Vec::new();
                File::open(pipe).unwrap().read_to_end(&mut bytes).unwrap();
                bytes.len()
            }
        });
        writes(&place, command, "pipe");
        assert!(reader.join().unwrap() > 10, "{command:?}");
        assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
    }
    let full = write(&place, COMMANDS[3], "/dev/full");
    assert_eq!(full.code, Some(1));
    assert!(full.stderr.contains("No space left"), "{}", full.stderr);
    assert_eq!(parts(&place), [] as [&str; 0]);
}

#[test]
fn what_a_shell_has_opened_is_appended_to() {
    let place = place();
    let program = env!("CARGO_BIN_EXE_plimsoll");
    let shell = |script: &str| {
        let script = script.replace("export", &format!("{program} export r.plimsoll --to csv"));
        let ended = Command::new("sh")
            .args(["-c", &script])
            .current_dir(place.path(""))
            .output();
        ended.unwrap().status.code()
    };
    let expected = place
        .run(&["export", "r.plimsoll", "--to", "csv"])
        .succeeded()
        .stdout;
    let twice = format!("head\n{expected}tail\n");
    let read = |name: &str| fs::read_to_string(place.path(name)).unwrap();
    for (name, output) in [
        ("one", "/dev/stdout"),
        ("two", "/proc/self/fd/1"),
        ("three", "/dev/fd/1"),
    ] {
        assert_eq!(
            shell(&format!(
                "(echo head; export -o {output}; echo tail) > {name}"
            )),
            Some(0)
        );
        assert_eq!(read(name), twice);
    }
    assert_eq!(
        shell("echo head > log; export -o /dev/fd/3 3>> log; echo tail >> log"),
        Some(0)
    );
    assert_eq!(read("log"), twice);
    let before = fs::read(place.path("r.plimsoll")).unwrap();
    assert_eq!(shell("export -o /dev/fd/3 3>> r.plimsoll 2>&1"), Some(2));
    assert_eq!(fs::read(place.path("r.plimsoll")).unwrap(), before);
    // A page is not followed by its name.
    place.write(
        "s.sh",
        &format!("{program} report r.plimsoll -o /dev/stdout > p.html"),
    );
    assert!(
        Command::new("sh")
            .arg("s.sh")
            .current_dir(place.path(""))
            .status()
            .unwrap()
            .success()
    );
    assert!(read("p.html").trim_end().ends_with("</html>"));
}

#[test]
fn an_earlier_output_is_replaced_and_keeps_its_rights() {
    let place = place();
    let output = place.path("output");
    for command in COMMANDS {
        let _ = fs::remove_file(&output);
        writes(&place, command, "output");
        let first = fs::metadata(&output).unwrap();
        fs::set_permissions(&output, Permissions::from_mode(0o600)).unwrap();
        // The name of a snapshot, which has a content of its own from now on.
        let _ = fs::remove_file(place.path("snapshot"));
        fs::hard_link(&output, place.path("snapshot")).unwrap();
        let _ = fs::remove_file(place.path("link"));
        symlink("output", place.path("link")).unwrap();
        writes(&place, command, "link");
        assert!(place.path("link").is_symlink(), "{command:?}");
        let second = fs::metadata(&output).unwrap();
        assert!(
            first.len() > 10 && second.ino() != first.ino(),
            "{command:?}"
        );
        assert_eq!(
            fs::metadata(place.path("snapshot")).unwrap().ino(),
            first.ino()
        );
        assert_eq!(mode(&output), 0o600, "{command:?}");
    }
    fs::set_permissions(&output, Permissions::from_mode(0o444)).unwrap();
    let written = write(&place, COMMANDS[9], "output");
    match rustix::process::geteuid().is_root() {
        true => assert_eq!((written.code, mode(&output)), (Some(0), 0o444)),
        false => assert!(
            written.stderr.contains("Permission denied"),
            "{}",
            written.stderr
        ),
    }
    File::create(place.path("empty")).unwrap();
    writes(&place, COMMANDS[0], "empty");
    assert_eq!(parts(&place), [] as [&str; 0]);
}

#[test]
fn nothing_else_is_replaced() {
    let place = place();
    let run = fs::read(place.path("r.plimsoll")).unwrap();
    fs::hard_link(place.path("r.plimsoll"), place.path("hard.html")).unwrap();
    symlink("r.plimsoll", place.path("soft.html")).unwrap();
    // Damaged behind its header.
    fs::write(place.path("damaged.run"), &run[..200]).unwrap();
    let files = [
        ("diary.txt", "dear diary, a step\n"),
        ("plan.toml", "title = \"x\"\n[medium.here]\npath = \".\"\n"),
        ("array.toml", "[[step]]\nrun = \"x\"\n"),
        (
            "index.html",
            "<!doctype html>\n<html lang=\"en\"><p>mine</p>",
        ),
        ("package.json", "{\n  \"name\": \"x\"\n}\n"),
        ("PG_VERSION", "15\n"),
        ("16384", "\0\0\0\0"),
        ("letter.pdf", "%PDF-1.7 by hand"),
        ("table.csv", "name,amount\nx,1\n"),
        ("training.csv", "step,loss\n1,0.5\n"),
        (
            "mine.json",
            "{\n  \"schema_version\": 1,\n  \"mine\": []\n}\n",
        ),
        ("busy.html", ""),
        ("busy.html-journal", "x"),
    ];
    let before: Vec<Vec<u8>> = files
        .iter()
        .map(|(name, text)| place.write(name, text))
        .map(|path| fs::read(path).unwrap())
        .collect();
    symlink("nowhere", place.path("broken")).unwrap();
    symlink("loop", place.path("loop")).unwrap();
    let run_file = "It is a run file";
    let others = [
        ("hard.html", run_file),
        ("soft.html", run_file),
        ("damaged.run", run_file),
        ("new.plimsoll", "The name is that of a run file"),
        ("r.plimsoll-wal", "The name is that of a run file"),
        ("medium", "It is a directory"),
        ("broken", "a symbolic link to a file that does not exist"),
    ];
    let foreign = files[..12].iter().map(|(name, _)| (*name, ""));
    let mut others = others.into_iter().chain(foreign).cycle();
    for command in COMMANDS {
        refuses(&place, command, "r.plimsoll", run_file);
        // All commands have one mechanism: each meets a few of the files.
        for (name, why) in others.by_ref().take(5) {
            refuses(&place, command, name, why);
        }
    }
    for command in NEVER_REPLACING {
        for name in [
            "r.plimsoll",
            "hard.html",
            "diary.txt",
            "plan.toml",
            "busy.html",
            "broken",
            "medium",
        ] {
            refuses(&place, command, name, "");
        }
    }
    refuses(
        &place,
        NEVER_REPLACING[2],
        "/dev/null",
        "The file exists already",
    );
    let missing = write(&place, COMMANDS[0], "no/such/directory.html");
    assert_eq!(missing.code, Some(1));
    let circle = write(&place, COMMANDS[0], "loop");
    assert_eq!(circle.code, Some(1), "{}", circle.stderr);
    for ((name, _), before) in files.iter().zip(before) {
        assert_eq!(fs::read(place.path(name)).unwrap(), before, "{name}");
    }
    assert_eq!(fs::read(place.path("r.plimsoll")).unwrap(), run);
    assert!(!place.path("nowhere").exists() && !place.path("r.plimsoll-wal").exists());
    assert_eq!(parts(&place), [] as [&str; 0]);
}

#[test]
fn a_disk_and_files_of_a_set_are_not_written_to() {
    let place = place();
    let disk = place.path("disk");
    // The number of no driver: nothing is behind it.
    let made = mknodat(
        CWD,
        &disk,
        FileType::BlockDevice,
        Mode::from(0o600),
        makedev(240, 7),
    );
    if made.is_ok() {
        refuses(&place, COMMANDS[0], "disk", "It is a block device");
        assert!(
            fs::symlink_metadata(&disk)
                .unwrap()
                .file_type()
                .is_block_device()
        );
    }
    let plan = fs::read_to_string(place.path("mock.toml")).unwrap();
    place.write("set.toml", &(plan + "[matrix]\nstep.oltp.users = [1, 2]\n"));
    let run = ["run", "set.toml", "--virtual-time", "-q", "-o", "s.set"];
    place.run(&run).succeeded();
    let list = fs::read(place.path("s.set/set.json")).unwrap();
    let export = ["export", "s.set", "--to", "json", "-o"];
    refuses(
        &place,
        &export,
        "s.set/set.json",
        "is not an export to JSON",
    );
    refuses(
        &place,
        &["report", "s.set", "-o"],
        "s.set/plan.toml",
        "is not a page",
    );
    assert_eq!(fs::read(place.path("s.set/set.json")).unwrap(), list);
    // Exports of sets are recognized, too.
    for to in ["text", "json", "csv"] {
        let export = ["export", "s.set", "--to", to, "-o"];
        writes(&place, &export, to);
        writes(&place, &export, to);
    }
    for _ in 0..2 {
        place.run(&["report", "s.set"]).succeeded();
    }
    assert_eq!(parts(&place), [] as [&str; 0]);
}

#[test]
fn manual_pages_replace_manual_pages_only() {
    let place = place();
    fs::create_dir(place.path("man")).unwrap();
    for _ in 0..2 {
        writes(&place, &["man"], "man");
    }
    let victim = place.write("victim", "precious");
    fs::remove_file(place.path("man/plimsoll-run.1")).unwrap();
    symlink(&victim, place.path("man/plimsoll-run.1")).unwrap();
    refuses(&place, &["man"], "man", "plimsoll-run.1");
    assert_eq!(fs::read_to_string(victim).unwrap(), "precious");
}

#[test]
fn the_name_of_a_part_cannot_be_taken_before() {
    let place = place();
    let victim = place.write("victim", "precious");
    symlink(&victim, place.path("x.html.part")).unwrap();
    place.write("y.json.part", "of another program");
    writes(&place, COMMANDS[0], "x.html");
    writes(&place, COMMANDS[3], "y.json");
    assert_eq!(fs::read_to_string(victim).unwrap(), "precious");
    assert_eq!(
        fs::read_to_string(place.path("y.json.part")).unwrap(),
        "of another program"
    );
    assert!(!place.path("x.html").is_symlink());
}

#[test]
fn a_file_that_does_not_fit_leaves_the_earlier_one() {
    let place = place();
    let report = format!(
        "{} report r.plimsoll -o x.html",
        env!("CARGO_BIN_EXE_plimsoll")
    );
    let shell = |script: &str| {
        Command::new("sh")
            .args(["-c", script])
            .current_dir(place.path(""))
            .output()
            .unwrap()
    };
    assert!(shell(&report).status.success());
    let before = fs::read(place.path("x.html")).unwrap();
    // 8 blocks of 512 bytes; the write fails as on a full disk.
    let limited = shell(&format!("trap '' XFSZ; ulimit -f 8; exec {report}"));
    assert_eq!(limited.status.code(), Some(1), "{limited:?}");
    assert_eq!(fs::read(place.path("x.html")).unwrap(), before);
    assert_eq!(parts(&place), [] as [&str; 0]);
}

#[test]
fn signals_remove_what_is_not_whole() {
    let place = place();
    browser(&place, SLOW_BROWSER);
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let mut command = Command::new("env");
        command
            .args([
                "--default-signal=INT,TERM,HUP",
                env!("CARGO_BIN_EXE_plimsoll"),
            ])
            .args(["report", "r.plimsoll", "-o", "x.html", "--pdf", "x.pdf"])
            .current_dir(place.path(""))
            .env("PLIMSOLL_CHROMIUM", place.path("browser"))
            .env("TMPDIR", place.path("tmp"));
        let mut report = command.spawn().unwrap();
        let browser = wait_for("the browser", || {
            fs::read_to_string(place.path("browser.pid")).ok()
        });
        fs::remove_file(place.path("browser.pid")).unwrap();
        assert!(!parts(&place).is_empty());
        send(report.id().cast_signed(), signal);
        assert_eq!(report.wait().unwrap().code(), Some(code));
        send(browser.trim().parse().unwrap(), Signal::KILL);
        assert_eq!(parts(&place), [] as [&str; 0]);
        assert!(!place.path("x.pdf").exists());
    }
}
