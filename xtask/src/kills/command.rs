//! The commands that are killed, and the files that they need.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::exec::{Task, because, failed, program, root};

use super::in_directory;

#[derive(Debug, PartialEq, Eq)]
pub enum OutputKind {
    RunFile,
    /// A run file that was there before and is completed.
    JoinedRunFile,
    /// Made anew each time, from a run file.
    Rendered,
}

pub struct KilledCommand {
    pub name: &'static str,
    pub args: &'static [&'static str],
    pub output: &'static str,
    pub kind: OutputKind,
    /// Makes its input in a directory, with a plimsoll.
    pub prepare: fn(&Path, &Path) -> Task,
}

pub const COMMANDS: &[KilledCommand] = &[
    KilledCommand {
        name: "run",
        args: &[
            "run",
            "plan.toml",
            "--virtual-time",
            "--seed",
            "1",
            "-o",
            "out.plimsoll",
        ],
        output: "out.plimsoll",
        kind: OutputKind::RunFile,
        prepare: |_, dir| write_plan(dir, "", ""),
    },
    KilledCommand {
        name: "import",
        args: &["import", "fio.json", "-o", "out.plimsoll"],
        output: "out.plimsoll",
        kind: OutputKind::RunFile,
        prepare: |_, dir| {
            let fio = root().join("crates/plimsoll-import/src/recorded/fio_json.json");
            fs::copy(&fio, dir.join("fio.json"))
                .map(drop)
                .map_err(because(fio.display()))
        },
    },
    KilledCommand {
        name: "export",
        args: &["export", "run.plimsoll", "--to", "csv", "-o", "out.csv"],
        output: "out.csv",
        kind: OutputKind::Rendered,
        prepare: short_run,
    },
    KilledCommand {
        name: "report",
        args: &["report", "run.plimsoll", "-o", "out.html"],
        output: "out.html",
        kind: OutputKind::Rendered,
        prepare: short_run,
    },
    KilledCommand {
        name: "join",
        args: &["join", "out.plimsoll"],
        output: "out.plimsoll",
        kind: OutputKind::JoinedRunFile,
        prepare: killed_run_on_hosts,
    },
];

fn short_run(binary: &Path, dir: &Path) -> Task {
    write_plan(dir, "", "")?;
    let args = [
        "run",
        "plan.toml",
        "--virtual-time",
        "--seed",
        "1",
        "-o",
        "run.plimsoll",
    ];
    let mut run = Command::new(binary);
    run.args(args);
    in_directory(&mut run, dir);
    match run.status() {
        Ok(status) if status.success() => Ok(()),
        ended => failed(format!(
            "{} {}: {ended:?}",
            binary.display(),
            args.join(" ")
        )),
    }
}

/// A run of which the file has less than the journals of its hosts, which have ended.
fn killed_run_on_hosts(binary: &Path, dir: &Path) -> Task {
    let hosts = "[host.\"near[1-2]\"]\npatience = \"1s\"\n";
    write_plan(dir, hosts, "from = [\"near[1-2]\"]\nrate = 100")?;
    let mut run = Command::new(binary);
    run.args(["run", "plan.toml", "-o", "out.plimsoll"]);
    in_directory(&mut run, dir);
    let mut run = run.spawn().map_err(because(binary.display()))?;
    // Seconds of real time: it measures from the second on.
    program("sleep", &["5"]).run()?;
    run.kill().map_err(because("kill"))?;
    run.wait().map_err(because("wait"))?;
    // Its hosts end when their patience does.
    program("sleep", &["5"]).run()
}

fn write_plan(dir: &Path, hosts: &str, from: &str) -> Task {
    let plan = format!(
        "title = \"Killed\"\nseed = 7\n{hosts}[system.db]\nmock = {{ latency = \"20ms\" }}\n[workload.oltp.tpcc]\n\
         warehouses = 1\n[[step]]\nrun = \"oltp\"\nsystem = \"db\"\nusers = 2\nramp = \"1s\"\nmeasure = \"4s\"\n\
         cool = \"5s\"\n{from}\n"
    );
    let path = dir.join("plan.toml");
    fs::write(&path, plan).map_err(because(path.display()))
}
