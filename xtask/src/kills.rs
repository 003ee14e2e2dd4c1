//! `kills`: each command that writes a file is killed at each system call that changes one, and what is left is opened.

mod command;
mod outcome;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::exec::{Failure, Task, because, failed, program, root};
use command::{COMMANDS, KilledCommand};
use outcome::{Outcome, Outcomes};

/// What changes files or their locks. Opening, closing and locking are among them: SQLite creates and unlocks so.
const SYSCALLS: [&str; 24] = [
    "openat",
    "creat",
    "write",
    "writev",
    "pwrite64",
    "pwritev",
    "copy_file_range",
    "fsync",
    "fdatasync",
    "ftruncate",
    "fallocate",
    "rename",
    "renameat",
    "renameat2",
    "link",
    "linkat",
    "symlinkat",
    "unlink",
    "unlinkat",
    "mkdir",
    "mkdirat",
    "fchmod",
    "fcntl",
    "close",
];

struct Options {
    binary: PathBuf,
    only: Option<String>,
    /// Each so many-th place.
    every: usize,
}

pub fn run(words: &[&str]) -> Task {
    let options = parse(words)?;
    if !program("strace", &["--version"]).works() {
        return failed(
            "kills needs strace, which kills at a system call\nInstall it: apt-get install strace",
        );
    }
    let work = root().join("target/kills");
    let mut table = BTreeMap::new();
    for command in COMMANDS {
        if options
            .only
            .as_ref()
            .is_none_or(|only| only == command.name)
        {
            table.insert(command.name, kill_everywhere(command, &options, &work)?);
        }
    }
    println!("{}", outcome::render(&table));
    let all = table.values().flat_map(BTreeMap::values);
    if all.clone().any(|outcomes| outcomes.lost() > 0) {
        return Err(Failure::Missed(
            "a kill left something that does not open".into(),
        ));
    }
    Ok(())
}

fn parse(words: &[&str]) -> Task<Options> {
    let mut options = Options {
        binary: root().join("target/debug/plimsoll"),
        only: None,
        every: 1,
    };
    for pair in words.chunks(2) {
        match pair {
            ["--binary", file] => options.binary = root().join(file),
            ["--only", name] => options.only = Some((*name).to_owned()),
            ["--every", n] => {
                let every = n.parse().ok().filter(|every| *every > 0);
                options.every =
                    every.ok_or_else(|| Failure::Usage("--every takes a number from 1".into()))?;
            }
            _ => {
                let text = "kills takes --binary FILE, --only COMMAND and --every N";
                return Err(Failure::Usage(text.into()));
            }
        }
    }
    let is_known = |only: &String| COMMANDS.iter().any(|command| command.name == only);
    match options.only.as_ref().is_none_or(is_known) {
        true => Ok(options),
        false => Err(Failure::Usage(
            "--only takes run, import, export, report or join".into(),
        )),
    }
}

/// The outcomes by system call.
fn kill_everywhere(
    command: &KilledCommand,
    options: &Options,
    work: &Path,
) -> Task<BTreeMap<String, Outcomes>> {
    let template = work.join("template");
    fresh(&template)?;
    (command.prepare)(&options.binary, &template)?;
    let done = work.join("done");
    copy(&template, &done)?;
    let calls = trace(command, options, &done)?;
    let mut table = BTreeMap::new();
    let mut place = 0usize;
    for (syscall, count) in calls {
        for n in 1..=count {
            place += 1;
            if !place.is_multiple_of(options.every) {
                continue;
            }
            let dir = work.join("killed");
            copy(&template, &dir)?;
            kill_at(command, options, &dir, &syscall, n)?;
            let outcome = Outcome::observe(command, &options.binary, &dir, &done, &template)?;
            if outcome.is_lost() {
                eprintln!("{} killed at {syscall} {n}: {outcome:?}", command.name);
            }
            let outcomes: &mut Outcomes = table.entry(syscall.clone()).or_default();
            outcomes.add(&outcome);
        }
    }
    Ok(table)
}

/// How often the thread that makes most of them makes each system call; strace counts for each thread.
fn trace(command: &KilledCommand, options: &Options, dir: &Path) -> Task<BTreeMap<String, usize>> {
    let file = dir.with_extension("trace");
    let text = file.to_string_lossy();
    let calls = SYSCALLS.join(",");
    let mut strace = strace(
        command,
        options,
        dir,
        &[
            "-o",
            &text,
            "-e",
            &format!("trace={calls}"),
            "-e",
            "signal=none",
        ],
    );
    let status = strace.status().map_err(because("strace"))?;
    if !status.success() {
        return failed(format!("plimsoll {} ended with {status}", command.name));
    }
    let trace = fs::read_to_string(&file).map_err(because(file.display()))?;
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for line in trace.lines() {
        let mut words = line.splitn(2, ' ');
        let (Some(thread), Some(call)) = (words.next(), words.next()) else {
            continue;
        };
        if let Some((name, _)) = call.trim_start().split_once('(')
            && SYSCALLS.contains(&name)
        {
            *counts
                .entry((name.to_owned(), thread.to_owned()))
                .or_default() += 1;
        }
    }
    let mut most: BTreeMap<String, usize> = BTreeMap::new();
    for ((name, _), count) in counts {
        let known = most.entry(name).or_default();
        *known = count.max(*known);
    }
    Ok(most)
}

fn kill_at(
    command: &KilledCommand,
    options: &Options,
    dir: &Path,
    syscall: &str,
    n: usize,
) -> Task {
    let trace = format!("trace={syscall}");
    let inject = format!("inject={syscall}:signal=KILL:when={n}");
    let mut strace = strace(
        command,
        options,
        dir,
        &["-o", "/dev/null", "-e", &trace, "-e", &inject],
    );
    // Ends as its program does; where no thread came so far, that succeeds.
    strace.status().map(drop).map_err(because("strace"))
}

fn strace(command: &KilledCommand, options: &Options, dir: &Path, args: &[&str]) -> Command {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq"]).args(args);
    strace.arg("--").arg(&options.binary).args(command.args);
    in_directory(&mut strace, dir);
    strace
}

/// Runs a command where its files are, silently.
fn in_directory(command: &mut Command, dir: &Path) {
    command
        .current_dir(dir)
        .env("TMPDIR", dir.join("tmp"))
        .env("XDG_CACHE_HOME", dir.join("tmp"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
}

fn fresh(dir: &Path) -> Task {
    if dir.exists() {
        fs::remove_dir_all(dir).map_err(because(dir.display()))?;
    }
    fs::create_dir_all(dir.join("tmp")).map_err(because(dir.display()))
}

fn copy(from: &Path, to: &Path) -> Task {
    if to.exists() {
        fs::remove_dir_all(to).map_err(because(to.display()))?;
    }
    let [from, to] = [from, to].map(|path| path.to_string_lossy().into_owned());
    program("cp", &["-a", &from, &to]).run()
}
