//! What must hold before a change is merged. Each step can be repeated alone.

use std::panic::resume_unwind;
use std::path::Path;
use std::thread;

use crate::bench::server::Kind;
use crate::exec::{Failure, Task, cargo, failed, root, timed};
use crate::suite::{self, Compiler, Program};
use crate::{pages, tidy, web};

const CLIPPY: &str = "cargo clippy --workspace --all-targets -- -D warnings";

const PAGES: &str = "cargo xtask pages target/debug/plimsoll";
const PAGES_AND_TEST: &str = "cargo xtask pages target/debug/plimsoll; cargo xtask test";

/// Tests come last, so that their summary is what a reader sees at the end.
pub fn run() -> Task {
    let mut done = Vec::new();
    step(&mut done, "fmt", "cargo fmt --all", || {
        cargo(&["fmt", "--all", "--check"]).run()
    })?;
    step(&mut done, "tidy", "cargo xtask tidy", tidy::run)?;
    step(&mut done, "web", "cargo xtask web", web::run)?;
    deny(&mut done)?;
    for (name, kind) in [("postgres", Kind::Postgres), ("mariadb", Kind::Mariadb)] {
        step(&mut done, name, "script/test", || tests_can_start(kind))?;
    }
    let mut programs = Vec::new();
    step(&mut done, "clippy and compile", CLIPPY, || {
        programs = suite::build(Compiler::Clippy)?;
        Ok(())
    })?;
    let plimsoll = root().join("target/debug/plimsoll");
    step(&mut done, "live page", PAGES, || pages::run_live(&plimsoll))?;
    step(&mut done, "doc", "cargo test --workspace --doc", || {
        suite::doc(Compiler::Clippy)
    })?;
    step(&mut done, "pages and test", PAGES_AND_TEST, || {
        pages_beside_tests(&plimsoll, &programs)
    })?;
    eprintln!("ci: passed: {}", done.join(", "));
    Ok(())
}

/// What a developer runs after each edit: format, own rules, types, and unit tests of what changed.
pub fn quick() -> Task {
    let check = ["check", "--workspace", "--all-targets", "--quiet"];
    let mut done = Vec::new();
    step(&mut done, "fmt", "cargo fmt --all", || {
        cargo(&["fmt", "--all", "--check"]).run()
    })?;
    step(&mut done, "tidy", "cargo xtask tidy", tidy::run)?;
    step(&mut done, "check", &cargo(&check).line(), || {
        cargo(&check).run()
    })?;
    step(
        &mut done,
        "unit tests",
        "cargo test --lib -p PACKAGE",
        suite::run_changed,
    )?;
    eprintln!("quick: passed: {}", done.join(", "));
    Ok(())
}

/// A browser that opens pages waits most of the time, which tests use. What is wrong with either is reported.
fn pages_beside_tests(plimsoll: &Path, programs: &[Program]) -> Task {
    thread::scope(|scope| {
        let pages = scope.spawn(|| pages::run_files(plimsoll));
        let tests = suite::run_programs(programs);
        let pages = pages.join().unwrap_or_else(|panic| resume_unwind(panic));
        match (pages, tests) {
            (Err(pages), Err(tests)) => failed(format!("{pages}\n{tests}")),
            (pages, tests) => pages.and(tests),
        }
    })
}

fn step(done: &mut Vec<String>, name: &str, again: &str, work: impl FnOnce() -> Task) -> Task {
    eprintln!("ci: {name}");
    let work = timed(work);
    let time = format!(
        "{name} {:.1} s (CPU {:.1} s)",
        work.took.as_secs_f64(),
        work.cpu.as_secs_f64()
    );
    match work.result {
        Ok(()) => {
            eprintln!("ci: {time}");
            done.push(time);
            Ok(())
        }
        Err(why) => Err(Failure::Failed(format!(
            "{why}\nci: FAILED: {time}. To repeat or repair: {again}"
        ))),
    }
}

/// Not everybody has cargo-deny, and compiling it takes minutes.
fn deny(done: &mut Vec<String>) -> Task {
    if cargo(&["deny", "--version"]).works() {
        return step(done, "deny", "cargo deny check", || {
            cargo(&["deny", "check"]).run()
        });
    }
    eprintln!(
        "ci: *** deny was NOT run: cargo-deny is not installed (cargo install --locked cargo-deny)."
    );
    eprintln!(
        "ci: *** Licences, sources and advisories of the dependencies are not part of this verdict."
    );
    done.push("deny NOT RUN".into());
    Ok(())
}

/// Tests with a server need one and fail without; this fails before minutes have passed.
fn tests_can_start(kind: Kind) -> Task {
    match kind.binaries() {
        Some(dir) => {
            eprintln!("ci: tests use the server in {}", dir.display());
            Ok(())
        }
        None => failed(format!(
            "the tests need {}'s server programs; script/test installs them",
            kind.name()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_shows_how_to_repeat_it_and_is_not_counted_as_done() {
        let mut done = Vec::new();
        step(&mut done, "good", "do good", || Ok(())).expect("passes");
        let text = step(&mut done, "bad", "do bad", || failed("broken"))
            .expect_err("fails")
            .to_string();
        assert!(
            text.starts_with("broken\n") && text.ends_with("To repeat or repair: do bad"),
            "{text}"
        );
        assert_eq!(done.len(), 1);
    }
}
