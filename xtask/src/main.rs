//! Everything that developers and CI run: `cargo xtask` prints what there is.
//!
//! Exit codes: 0 ok, 1 the task failed, 2 usage, 3 a goal was missed.

use std::process::ExitCode;

mod bench;
mod cases;
mod ci;
mod exec;
mod frozen;
mod kills;
mod package;
mod pages;
mod pictures;
mod plans;
mod suite;
mod tidy;
mod web;

use exec::{Failure, Task};

const HELP: &str = "\
cargo xtask TASK

    ci                   everything script/test runs: fmt, tidy, web, deny, clippy, test; stops at the first failure
    quick                what to run after each edit: fmt, tidy, types, unit tests of the packages that changed
    test                 all tests, those that wait beside those that compute, and the ten slowest
    test mysql           the tests of every server against a real MySQL, which script/mysql gets; not part of script/test
    test sqlserver       the tests of every server that exists, against the one whose URL is in PLIMSOLL_TEST_SQLSERVER
    tidy                 the project's own rules: lengths, dead files, broken links, forbidden calls, dependencies
    web                  builds the report's charts into web/dist; does nothing when they are newer than their sources
    schema               writes plans/plan.schema.json anew from the types
    package              archives of the program and of its sources, and a .deb, in target/package; --binary FILE: of a
                         plimsoll that is built already
    pages BINARY         pages of every kind by this plimsoll: axe-core, width and keyboard, in chromium
    frozen DIR --binary FILE
                         writes into DIR everything that this plimsoll makes of the recorded runs
    frozen BEFORE AFTER  what differs between two such directories
    kills                kills run, import, export, report and join at each system call that changes a file, and opens
                         what is left (strace); --binary FILE, --only COMMAND, --every N
    plans                runs each shipped plan at the size of its demonstration, for an hour or two, and compares how it
                         ended with its comment; not part of script/test; --binary FILE (default: the release build),
                         --only NAME,NAME, --dir DIR (default: /var/tmp/plimsoll-plans), --limit SECONDS of each plan
    cases                recorded emulations of SQLite once more in virtual time, compared; --binary FILE (default: the
                         release build)
    pictures             the pictures of docs, from a committed run; needs chromium
    bench client         what one transaction costs the client, beside pgbench on the same server
    bench load           what loading one warehouse costs
    bench peers          cost and rate of a transaction beside sysbench and pgbench, on PostgreSQL and MariaDB
    bench drive          what an emulated drive was asked to do beside what fio sees (root); --only PART, --seconds N, --tries N
    bench fio            what a job of fio's loses under plimsoll; --seconds N, --tries N (default 5), --dir DIR,
                         --binary FILE (a plimsoll that is built already)
        --warehouses N   default 4
        --seconds N      measured time of each run, default 10
        --dir DIR        where the server's directory is made, default /var/tmp; on a disk
        --pgbench-only   starts the server and runs pgbench alone: what this machine allows
    bench audit RUN      how long a run of 330 minutes takes to audit, compare and report; RUN is repeated until it is one
    bench intervals      how often 95 % intervals contain the truth, in generated series; --trials N, --seed FIRST, --only TEXT
    bench find           load lines that searches find on mock systems in virtual time, beside the true ones; --seeds N,
                         --only TEXT, --binary FILE
    bench simulate       what a simulated request costs on one core
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}

fn run(words: &[&str]) -> Task {
    match words {
        [] | ["help" | "--help" | "-h", ..] => {
            print!("{HELP}");
            Ok(())
        }
        ["cases", rest @ ..] => cases::run(rest),
        ["ci"] => ci::run(),
        ["quick"] => ci::quick(),
        ["test"] => suite::run(),
        ["test", "mysql"] => suite::run_on_mysql(),
        ["test", "sqlserver"] => suite::run_on_sqlserver(),
        ["tidy"] => tidy::run(),
        ["web"] => web::run(),
        ["schema"] => schema(),
        ["pages", plimsoll] => pages::run(std::path::Path::new(plimsoll)),
        ["frozen", rest @ ..] => frozen::run(rest),
        ["kills", rest @ ..] => kills::run(rest),
        ["plans", rest @ ..] => plans::run(rest),
        ["pictures"] => pictures::run(),
        ["package", rest @ ..] => package::run(rest),
        ["bench", rest @ ..] => bench::run(rest),
        _ => Err(Failure::Usage(format!(
            "'{}' is no task\n\n{HELP}",
            words.join(" ")
        ))),
    }
}

/// The test that compares the checked-in schema with the types writes it instead when asked to.
fn schema() -> Task {
    let out = exec::cargo(&["test", "-p", "plimsoll-plan", "schema"])
        .env("UPDATE_SCHEMA", "1")
        .output()?;
    print!("{out}");
    let written = exec::root().join("plans/plan.schema.json").is_file();
    if written && ran_a_test(&out) {
        Ok(())
    } else {
        exec::failed("no test named schema wrote plans/plan.schema.json")
    }
}

/// A filter that matches nothing makes cargo test succeed.
fn ran_a_test(out: &str) -> bool {
    out.lines().any(|line| {
        line.starts_with("test result: ok. ") && !line.starts_with("test result: ok. 0 passed")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_task_is_a_usage_error_and_help_is_not() {
        assert_eq!(
            run(&["frobnicate"]).expect_err("no such task").exit_code(),
            2
        );
        assert_eq!(
            run(&["ci", "please"])
                .expect_err("ci takes nothing")
                .exit_code(),
            2
        );
        run(&[]).expect("help");
    }

    #[test]
    fn a_filter_that_matches_no_test_is_noticed() {
        assert!(ran_a_test(
            "running 2 tests\ntest result: ok. 2 passed; 0 failed\n"
        ));
        assert!(!ran_a_test(
            "running 0 tests\ntest result: ok. 0 passed; 0 failed\n"
        ));
    }
}
