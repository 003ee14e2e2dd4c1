//! Commands in the documentation: each is parsed, and those that need no server, device or minutes are run.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use clap::Parser;
use plimsoll::cli::Cli;

use crate::common::Place;

/// A line of a console block.
struct DocCommand {
    page: String,
    text: String,
}

impl DocCommand {
    /// Without comment, pipe and redirection.
    fn words(&self) -> Vec<String> {
        let text = self.text.split(" # ").next().unwrap_or_default();
        let words = text.split_whitespace();
        words
            .take_while(|word| !matches!(*word, "|" | ">" | "&&" | "#"))
            .map(|word| word.trim_matches('\'').to_owned())
            .collect()
    }

    /// A simulation takes less time and one seed here; what it prints is not compared.
    fn shortened(&self) -> Vec<String> {
        let mut words = self.words();
        if words.get(1..3) == Some(&["drive".to_owned(), "simulate".to_owned()])
            && words.iter().any(|word| word == "--profile")
        {
            for (option, value) in [("--seconds", "0.1"), ("--seeds", "1")] {
                if let Some(at) = words.iter().position(|word| word == option) {
                    words.drain(at..at + 2);
                }
                words.extend([option.to_owned(), value.to_owned()]);
            }
        }
        words
    }

    /// Why it is parsed only; the commands, not the pages, decide.
    fn reason_not_to_run(&self) -> Option<&'static str> {
        let words = self.words();
        let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        match words.as_slice() {
            [_, .., "--dry-run"] => None,
            ["run" | "bench", ..] => Some("measures for minutes"),
            ["serve", ..] => Some("serves until it is stopped"),
            ["doctor", ..] => Some("examines the reader's drives"),
            ["drive", "mount" | "cut" | "learn", ..] => Some("mounts or measures a drive"),
            ["import", ..] => Some("reads output of another tool; tests of import have it"),
            ["clean" | "check" | "man", ..] => Some("is about the reader's server or system"),
            _ => None,
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = [
        "README.md",
        "CONTRIBUTING.md",
        "plans/README.md",
        "claims/README.md",
    ]
    .map(|name| root().join(name))
    .into();
    let docs = fs::read_dir(root().join("docs")).unwrap().flatten();
    let docs = docs.map(|entry| entry.path());
    pages.extend(docs.filter(|path| path.extension().is_some_and(|ext| ext == "md")));
    pages.sort();
    pages
}

fn commands() -> Vec<DocCommand> {
    let mut found = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let lines = text.lines().filter_map(|line| line.strip_prefix("$ "));
        found.extend(lines.map(|line| DocCommand {
            page: page.file_name().unwrap().to_string_lossy().into_owned(),
            text: line.to_owned(),
        }));
    }
    found
}

fn of_plimsoll() -> impl Iterator<Item = DocCommand> {
    let all = commands().into_iter();
    all.filter(|own| own.text.starts_with("plimsoll "))
}

#[test]
fn every_command_is_one_that_plimsoll_has() {
    let mut count = 0;
    for own in of_plimsoll() {
        let parsed = Cli::try_parse_from(own.words());
        assert!(
            parsed.is_ok(),
            "{}: {}\n{}",
            own.page,
            own.text,
            parsed.unwrap_err()
        );
        count += 1;
    }
    assert!(count > 40, "only {count} commands were found");
}

#[test]
fn scripts_and_tasks_exist() {
    let tasks = fs::read_to_string(root().join("xtask/src/main.rs")).unwrap();
    for own in commands() {
        match own
            .words()
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .as_slice()
        {
            [script, ..] if script.starts_with("script/") => {
                assert!(root().join(script).exists(), "{}: {}", own.page, own.text);
            }
            ["cargo", "xtask", task, ..] => {
                assert!(
                    tasks.contains(&format!("\"{task}\"")),
                    "{}: {}",
                    own.page,
                    own.text
                );
            }
            _ => {}
        }
    }
}

/// What readers have where they type the commands: the checkout, and runs of their own.
fn reader() -> Place {
    let place = Place::new();
    for name in ["plans", "claims", "profiles", "drives", "runs"] {
        symlink(root().join(name).canonicalize().unwrap(), place.path(name)).unwrap();
    }
    let plan = |matrix: &str| {
        format!(
            "title = \"Mock\"\n[system.db.mock]\nlatency = \"1ms\"\n[workload.oltp.tpcc]\nwarehouses = 1\n\
             [[step]]\nrun = \"oltp\"\nsystem = \"db\"\nusers = 2\nmeasure = \"5s\"\n{matrix}"
        )
    };
    place.write("one.toml", &plan(""));
    place.write("two.toml", &plan("[matrix]\nstep.oltp.users = [1, 2]\n"));
    fs::create_dir(place.path("results")).unwrap();
    provide(&place, "results/own.plimsoll");
    place
}

/// Gives the reader the run or set that the command names.
fn provide(place: &Place, name: &str) {
    if name.ends_with('/') && !place.path(name).exists() {
        fs::create_dir(place.path(name)).unwrap();
        return provide(place, &format!("{name}own.plimsoll"));
    }
    let plan = match Path::new(name).extension().and_then(|ext| ext.to_str()) {
        Some("plimsoll") => "one.toml",
        Some("set") => "two.toml",
        _ => return,
    };
    if !place.path(name).exists() {
        let args = [
            "run",
            plan,
            "--virtual-time",
            "-q",
            "--format",
            "json",
            "-o",
            name,
        ];
        place.run(&args).succeeded();
    }
}

#[test]
fn commands_that_need_nothing_are_run() {
    let place = reader();
    let mut count = 0;
    for own in of_plimsoll().filter(|own| own.reason_not_to_run().is_none()) {
        let words = own.shortened();
        let args: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        let is_output = |at: usize| at > 0 && matches!(args[at - 1], "-o" | "--output");
        for (at, name) in args.iter().enumerate() {
            if !is_output(at) {
                provide(&place, name);
            }
        }
        let outcome = place.run(&args);
        // 3 and 4: what is asked for is not met.
        let is_documented = matches!(outcome.code, Some(0 | 3 | 4));
        assert!(is_documented, "{}: {}\n{outcome:?}", own.page, own.text);
        count += 1;
    }
    assert!(count > 20, "only {count} commands were run");
}
