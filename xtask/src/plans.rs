//! `plans`: runs every shipped plan at the size of its demonstration, and compares what came out with what its comment states.
//!
//! A plan's comment has a line `# Demonstration (about 4 minutes; ends valid):` and below it the commands, as a reader types
//! them. They are run one plan after the other, in a directory that has the checkout's `plans`.

mod demonstration;
mod outcome;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::bench::server::{Kind, Server};
use crate::exec::{Failure, Task, because, failed, root, timed};
use demonstration::Demonstration;
use outcome::{PlanOutcome, fired_rules};

/// The address in plans that need a server of the reader's.
const POSTGRES_URL: &str = "postgres://plimsoll@localhost:5432/plimsoll?sslmode=prefer";

struct Options {
    binary: PathBuf,
    only: Option<String>,
    /// Where servers, drives and runs go.
    dir: PathBuf,
    /// Of one plan, in seconds.
    limit: u64,
}

pub fn run(words: &[&str]) -> Task {
    let options = parse(words)?;
    if !options.binary.is_file() {
        return failed(format!(
            "{} does not exist\nBuild it: cargo build --release -p plimsoll, or name one with --binary",
            options.binary.display()
        ));
    }
    let plans = plans(&root().join("plans"))?;
    prepare(&options)?;
    println!("{}", machine(&options));
    let mut differing = Vec::new();
    for plan in plans.iter().filter(|plan| options.takes(plan)) {
        let outcome = run_plan(plan, &options)?;
        println!("{}", outcome.render(&plan.name, &plan.stated));
        if !outcome.differences(&plan.stated).is_empty() {
            differing.push(plan.name.clone());
        }
    }
    match differing.as_slice() {
        [] => Ok(()),
        names => Err(Failure::Missed(format!(
            "{} of {} plans did not end as their comments state: {}",
            names.len(),
            plans.iter().filter(|plan| options.takes(plan)).count(),
            names.join(", ")
        ))),
    }
}

/// A plan with what its comment states.
struct ShippedPlan {
    /// As in `plimsoll plans`.
    name: String,
    /// In the checkout.
    path: String,
    text: String,
    stated: Demonstration,
}

impl Options {
    fn takes(&self, plan: &ShippedPlan) -> bool {
        let only = self.only.as_ref();
        only.is_none_or(|only| only.split(',').any(|name| name == plan.name))
    }
}

fn parse(words: &[&str]) -> Task<Options> {
    let mut options = Options {
        binary: root().join("target/release/plimsoll"),
        only: None,
        dir: PathBuf::from("/var/tmp/plimsoll-plans"),
        limit: 3600,
    };
    for pair in words.chunks(2) {
        match pair {
            ["--binary", file] => options.binary = root().join(file),
            ["--only", names] => options.only = Some((*names).to_owned()),
            ["--dir", dir] => options.dir = PathBuf::from(dir),
            ["--limit", seconds] => {
                let limit = seconds.parse().ok().filter(|limit| *limit > 0);
                options.limit =
                    limit.ok_or_else(|| Failure::Usage("--limit takes seconds".into()))?;
            }
            _ => {
                let text =
                    "plans takes --binary FILE, --only NAME,NAME, --dir DIR and --limit SECONDS";
                return Err(Failure::Usage(text.into()));
            }
        }
    }
    Ok(options)
}

/// All plans below a directory, by path.
fn plans(dir: &Path) -> Task<Vec<ShippedPlan>> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).map_err(because(dir.display()))? {
            let path = entry.map_err(because(dir.display()))?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|end| end == "toml") {
                found.push(shipped(&path)?);
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn shipped(path: &Path) -> Task<ShippedPlan> {
    let text = fs::read_to_string(path).map_err(because(path.display()))?;
    let stated = Demonstration::parse(&text).map_err(because(path.display()))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let shown = path.strip_prefix(root()).unwrap_or(path);
    Ok(ShippedPlan {
        name: name.into_owned(),
        path: shown.display().to_string(),
        text,
        stated,
    })
}

/// A directory with the checkout's plans, and `plimsoll` for the commands.
fn prepare(options: &Options) -> Task {
    let dir = &options.dir;
    fs::create_dir_all(dir.join("bin")).map_err(because(dir.display()))?;
    let binary = options.binary.canonicalize();
    let binary = binary.map_err(because(options.binary.display()))?;
    for (target, name) in [(root().join("plans"), "plans"), (binary, "bin/plimsoll")] {
        let link = dir.join(name);
        let _ = fs::remove_file(&link);
        symlink(target, &link).map_err(because(link.display()))?;
    }
    Ok(())
}

/// On what the plans ran: a busy machine explains much.
fn machine(options: &Options) -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("unknown");
    let version = Command::new(&options.binary).arg("--version").output();
    let version = version.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned());
    format!(
        "{}, {} processors, load average {load} at the beginning",
        version.unwrap_or_default(),
        std::thread::available_parallelism().map_or(0, usize::from)
    )
}

fn run_plan(plan: &ShippedPlan, options: &Options) -> Task<PlanOutcome> {
    // Kept until the run is over.
    let mut server = None;
    let mut script = plan.stated.commands.join(" &&\n");
    if plan.text.contains(POSTGRES_URL) {
        let started = Server::start_on_a_port(Kind::Postgres, Path::new("/var/tmp"), &[])?;
        let url = format!("postgres://postgres@127.0.0.1:{}/postgres", started.port());
        let copy = options.dir.join(format!("{}.toml", plan.name));
        fs::write(&copy, plan.text.replace(POSTGRES_URL, &url)).map_err(because(copy.display()))?;
        script = script.replace(&plan.path, &copy.to_string_lossy());
        server = Some(started);
    }
    let load = load_average();
    let done = timed(|| shell(&script, options));
    let output = done.result?;
    drop(server);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok(PlanOutcome {
        rules: audit(&stderr, options)?,
        exit_code: output.status.code(),
        seconds: done.took.as_secs_f64(),
        load: (load + load_average()) / 2.0,
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr,
    })
}

/// The rules that fired in the run or set that the last command names.
fn audit(stderr: &str, options: &Options) -> Task<Vec<String>> {
    let names = |line: &str| {
        let name = line.strip_prefix("Run file: ");
        name.or_else(|| line.strip_prefix("Set of runs: "))
            .map(str::to_owned)
    };
    let Some(run) = stderr.lines().rev().find_map(names) else {
        return Ok(Vec::new());
    };
    let mut command = Command::new(&options.binary);
    command
        .args(["audit", &run, "--format", "csv"])
        .current_dir(&options.dir);
    let output = command.output().map_err(because("plimsoll audit"))?;
    Ok(fired_rules(&String::from_utf8_lossy(&output.stdout)))
}

fn load_average() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let first = text.split(' ').next().and_then(|word| word.parse().ok());
    first.unwrap_or(0.0)
}

/// Runs the commands as a shell does. At the limit they get Ctrl-C's signal, which closes a run.
fn shell(script: &str, options: &Options) -> Task<std::process::Output> {
    let path = std::env::var("PATH").unwrap_or_default();
    let limit = options.limit.to_string();
    let mut command = Command::new("timeout");
    command
        .args([
            "--signal=INT",
            "--kill-after=120",
            &limit,
            "sh",
            "-c",
            script,
        ])
        .current_dir(&options.dir)
        .env(
            "PATH",
            format!("{}:{path}", options.dir.join("bin").display()),
        )
        .stdin(Stdio::null());
    command.output().map_err(because("timeout"))
}

#[cfg(test)]
mod tests {
    use super::demonstration::StatedEnd;
    use super::*;
    use crate::exec::program;

    #[test]
    fn every_shipped_plan_states_its_demonstration() {
        let plans = plans(&root().join("plans")).expect("each comment is read");
        assert!(plans.len() > 30, "only {} plans", plans.len());
        for plan in &plans {
            let commands = &plan.stated.commands;
            assert!(
                commands
                    .iter()
                    .any(|command| command.contains("plimsoll run plans/")),
                "{}: {commands:?}",
                plan.path
            );
            let is_dry = commands
                .iter()
                .any(|command| command.ends_with("--dry-run"));
            assert_eq!(
                is_dry,
                plan.stated.end == StatedEnd::Nothing,
                "{}",
                plan.path
            );
        }
        assert!(program("timeout", &["--version"]).works());
    }

    #[test]
    fn options_are_pairs() {
        let options = parse(&["--only", "a,b", "--limit", "60"]).expect("two pairs");
        assert_eq!((options.only.as_deref(), options.limit), (Some("a,b"), 60));
        for bad in [&["--limit", "0"][..], &["--only"], &["quickstart"]] {
            assert_eq!(parse(bad).map(drop).expect_err("usage").exit_code(), 2);
        }
    }
}
