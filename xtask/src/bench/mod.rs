//! What plimsoll itself costs, beside pgbench on the same server in the same minutes.

mod audit;
mod child;
mod client;
mod drive;
mod figures;
mod find;
mod fio;
mod intervals;
mod load;
mod peers;
pub mod server;
mod simulate;
mod table;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::exec::{Failure, Task, because, cargo, root};
use child::Cost;
use server::Server;

/// As for the peers' figures that the goals come from: 4 warehouses, 4 users, local socket.
const USERS: u32 = 4;
const SETTINGS: [&str; 3] = [
    "shared_buffers=256MB",
    "max_wal_size=4GB",
    "max_connections=40",
];

#[derive(Debug, PartialEq)]
struct Options {
    warehouses: u32,
    seconds: u32,
    dir: PathBuf,
    pgbench_only: bool,
}

pub fn run(words: &[&str]) -> Task {
    match words {
        ["audit", rest @ ..] => audit::run(rest),
        ["drive", rest @ ..] => drive::run(rest),
        ["client", rest @ ..] => client::run(&parse(rest)?),
        ["find", rest @ ..] => find::run(rest),
        ["fio", rest @ ..] => fio::run(rest),
        ["intervals", rest @ ..] => intervals::run(rest),
        ["load", rest @ ..] => load::run(&parse(rest)?),
        ["peers", rest @ ..] => peers::run(&parse(rest)?),
        ["simulate"] => simulate::run(),
        _ => usage(format!(
            "'bench {}' is no bench: audit, client, find, intervals, load, peers, drive, fio or simulate",
            words.join(" ")
        )),
    }
}

fn usage<T>(text: String) -> Task<T> {
    Err(Failure::Usage(text))
}

fn parse(words: &[&str]) -> Task<Options> {
    let mut options = Options {
        warehouses: 4,
        seconds: 10,
        dir: "/var/tmp".into(),
        pgbench_only: false,
    };
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if *word == "--pgbench-only" {
            options.pgbench_only = true;
            continue;
        }
        let Some(value) = rest.next() else {
            return usage(format!("{word} is unknown, or needs a value"));
        };
        match *word {
            "--warehouses" => options.warehouses = number(word, value)?,
            "--seconds" => options.seconds = number(word, value)?,
            "--dir" => options.dir = PathBuf::from(value),
            _ => return usage(format!("{word} is unknown")),
        }
    }
    Ok(options)
}

fn number(word: &str, value: &str) -> Task<u32> {
    match value.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => usage(format!(
            "{word} takes a whole number above 0, not '{value}'"
        )),
    }
}

/// One run of plimsoll: what the process cost, and the exported record.
struct Run {
    cost: Cost,
    json: serde_json::Value,
}

struct Plimsoll {
    binary: PathBuf,
    work: PathBuf,
}

impl Plimsoll {
    /// Builds the release binary. Files of the runs stay in target/bench, to be looked at.
    fn build() -> Task<Self> {
        cargo(&["build", "--release", "-p", "plimsoll"]).run()?;
        Self::built(&root().join("target/release/plimsoll"))
    }

    /// One that is built already.
    fn built(binary: &Path) -> Task<Self> {
        // It is run in another directory.
        let binary = std::fs::canonicalize(binary).map_err(because(binary.display()))?;
        let work = root().join("target/bench");
        std::fs::create_dir_all(&work).map_err(because(work.display()))?;
        Ok(Self { binary, work })
    }

    fn run(&self, name: &str, plan: &str) -> Task<Run> {
        self.run_with(name, plan, &[])
    }

    fn run_with(&self, name: &str, plan: &str, flags: &[&str]) -> Task<Run> {
        for end in ["plimsoll", "plimsoll-wal", "plimsoll-shm"] {
            remove_if_there(&self.work.join(format!("{name}.{end}")))?;
        }
        let plan_file = self.work.join(format!("{name}.toml"));
        let run_file = self.work.join(format!("{name}.plimsoll"));
        std::fs::write(&plan_file, plan).map_err(because(plan_file.display()))?;
        let mut run = Command::new(&self.binary);
        run.arg("run")
            .arg(&plan_file)
            .arg("-o")
            .arg(&run_file)
            .args(flags)
            .current_dir(&self.work);
        let cost = child::measure(&mut run)?;
        let mut export = Command::new(&self.binary);
        export
            .arg("export")
            .arg(&run_file)
            .args(["--to", "json"])
            .current_dir(&self.work);
        let text = child::measure(&mut export)?.stdout;
        let json = serde_json::from_str(&text).map_err(because("plimsoll export --to json"))?;
        Ok(Run { cost, json })
    }
}

fn remove_if_there(path: &Path) -> Task {
    match std::fs::remove_file(path) {
        Err(why) if why.kind() != std::io::ErrorKind::NotFound => Err(because(path.display())(why)),
        _ => Ok(()),
    }
}

/// A plan for the bench's server. Each mode has a schema of its own, so that no run finds another's data.
fn plan(
    server: &Server,
    mode: &str,
    warehouses: u32,
    users: u32,
    ramp_s: u32,
    measure_s: u32,
) -> String {
    plan_of(
        &server.url("postgres"),
        mode,
        &tpcc(mode, warehouses),
        users,
        ramp_s,
        measure_s,
    )
}

/// The rest of a workload's table, from its kind on.
fn tpcc(mode: &str, warehouses: u32) -> String {
    format!("tpcc]\nwarehouses = {warehouses}\nmode = \"{mode}\"")
}

fn plan_of(
    url: &str,
    name: &str,
    workload: &str,
    users: u32,
    ramp_s: u32,
    measure_s: u32,
) -> String {
    format!(
        "title = \"cargo xtask bench: {name}\"\n\n\
         [system.db]\nurl = \"{url}\"\nschema = \"bench_{name}\"\n\n\
         [workload.oltp.{workload}\n\n\
         [[step]]\nrun = \"oltp\"\nsystem = \"db\"\nusers = {users}\n\
         ramp = \"{ramp_s}s\"\nmeasure = \"{measure_s}s\"\ncheck = \"off\"\n"
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn options_are_read_and_nonsense_is_refused() {
        let given = parse(&[
            "--seconds",
            "3",
            "--dir",
            "/x",
            "--pgbench-only",
            "--warehouses",
            "2",
        ])
        .expect("good");
        assert_eq!(
            given,
            Options {
                warehouses: 2,
                seconds: 3,
                dir: "/x".into(),
                pgbench_only: true
            }
        );
        for bad in [
            &["--seconds"][..],
            &["--seconds", "0"],
            &["--seconds", "-1"],
            &["--wat", "1"],
            &["wat"],
        ] {
            assert_eq!(parse(bad).expect_err("nonsense").exit_code(), 2, "{bad:?}");
        }
        assert_eq!(run(&["nothing"]).expect_err("no such bench").exit_code(), 2);
    }

    /// A stand-in that takes the command line for what it has to be, and leaves a "run file" to export.
    const STAND_IN: &str = r#"#!/bin/sh
        case "$1 $3 $5" in
            "run -o ") grep -q 'mode = "procedures"' "$2" && cp "$2" "$4" ;;
            "export --to ") [ "$4" = json ] && [ -s "$2" ] && echo '{"points": [{"round_trips_per_txn": 1.25}]}' ;;
            *) echo "unknown: $*" >&2; exit 2 ;;
        esac"#;

    #[test]
    fn plimsoll_is_run_and_its_record_is_read() {
        let work = std::env::temp_dir().join(format!("plimsoll-xtask-run-{}", std::process::id()));
        std::fs::create_dir_all(&work).expect("directory");
        let binary = work.join("plimsoll");
        std::fs::write(&binary, STAND_IN).expect("stand-in");
        std::fs::set_permissions(&binary, std::fs::Permissions::from_mode(0o755))
            .expect("executable");
        let plimsoll = Plimsoll {
            binary,
            work: work.clone(),
        };
        let run = plimsoll
            .run("one", "mode = \"procedures\"\n")
            .expect("runs");
        assert_eq!(
            figures::figure(&run.json, "round_trips_per_txn").expect("a figure"),
            1.25
        );
        let error = plimsoll
            .run("two", "nonsense\n")
            .map(|_| ())
            .expect_err("refused")
            .to_string();
        assert!(error.contains("ended with exit status: 1"), "{error}");
        std::fs::remove_dir_all(&work).expect("removed");
    }
}
