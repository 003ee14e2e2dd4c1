//! kill -9 at system calls of commands that write files. `cargo xtask kills` does it at all of them.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::common::{Outcome, Place};

struct SystemCall {
    name: &'static str,
    /// Which of them.
    n: u32,
}

const fn nth(n: u32, name: &'static str) -> SystemCall {
    SystemCall { name, n }
}

/// When the file is made, named, written to, closed and synced.
const RUN: &[SystemCall] = &[
    nth(1, "linkat"),
    nth(1, "pwrite64"),
    nth(9, "pwrite64"),
    nth(2, "fsync"),
    nth(2, "fdatasync"),
    nth(1, "ftruncate"),
    nth(1, "unlink"),
    nth(2, "unlink"),
];
const IMPORT: &[SystemCall] = &[
    nth(1, "linkat"),
    nth(1, "fsync"),
    nth(2, "fsync"),
    nth(1, "write"),
];

fn killed_at(place: &Place, args: &[&str], call: &SystemCall) -> Outcome {
    let trace = format!("trace={}", call.name);
    let inject = format!("inject={}:signal=KILL:when={}", call.name, call.n);
    let mut command = Command::new("strace");
    command
        .args(["-f", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &inject])
        .arg(env!("CARGO_BIN_EXE_plimsoll"))
        .args(args)
        .current_dir(place.path(""))
        .env("TMPDIR", place.path("tmp"));
    place.start_command(command).wait()
}

fn names(place: &Place) -> Vec<PathBuf> {
    let entries = fs::read_dir(place.path("")).unwrap();
    let mut names: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    names.sort();
    names
}

fn expect_whole_or_absent(place: &Place, args: &[&str], calls: &[SystemCall]) {
    let before = names(place);
    for call in calls {
        killed_at(place, args, call);
        let at = format!("{} at {} {}", args[0], call.name, call.n);
        if fs::exists(place.path("x.plimsoll")).unwrap() {
            let json = place.export("x.plimsoll");
            let state = json["summary"]["file"]["state"].as_str().unwrap();
            assert!(["intact", "open"].contains(&state), "{at}: {state}");
            place
                .run(&["report", "x.plimsoll", "-o", "tmp/x.html"])
                .succeeded();
            place.run(&["list"]).succeeded();
        } else {
            place.run(args).succeeded();
        }
        for suffix in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(place.path(&format!("x.plimsoll{suffix}")));
        }
        assert_eq!(names(place), before, "{at}");
    }
}

#[test]
fn a_run_that_is_killed_at_a_system_call_leaves_a_run_file_or_nothing() {
    let place = Place::new();
    place.write(
        "plan.toml",
        "title = \"Killed\"\n[system.db]\nmock = { latency = \"20ms\" }\n[workload.oltp.tpcc]\nwarehouses = 1\n[[step]]\n\
         run = \"oltp\"\nsystem = \"db\"\nusers = 2\nramp = \"1s\"\nmeasure = \"4s\"\n",
    );
    let args = [
        "run",
        "plan.toml",
        "--virtual-time",
        "--seed",
        "1",
        "-o",
        "x.plimsoll",
    ];
    expect_whole_or_absent(&place, &args, RUN);
}

#[test]
fn an_import_that_is_killed_at_a_system_call_leaves_the_whole_file_or_nothing() {
    let place = Place::new();
    let fio = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../plimsoll-import/src/recorded/fio_json.json"
    );
    expect_whole_or_absent(&place, &["import", fio, "-o", "x.plimsoll"], IMPORT);
}
