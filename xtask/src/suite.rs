//! Runs the workspace's test programs and lists the slowest tests.

use std::io::{BufRead, BufReader};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use serde_json::Value;

use crate::exec::{self, Task, because, failed, program, timed};

/// Programs whose tests mostly wait, for seconds to pass or for a server's disk: they run at the same time, and of each so
/// many tests on each processor.
const WAITING: [&str; 2] = ["plimsoll/it", "plimsoll-load/lib"];
const WAITING_PER_PROCESSOR: usize = 4;
/// Tests of plimsoll-load that start database servers: minutes, in which nobody waits for the rest.
const WITH_SERVERS: [&str; 8] = [
    "engine::mariadb::tests",
    "engine::postgres::managed::tests",
    "engine::postgres::tests",
    "engine::sqlite::tests",
    "probe::database::tests",
    "system::backup_tests",
    "system::reset_tests",
    "system::copied::tests",
];
/// How many tests the list of slow ones has.
const SLOWEST: usize = 10;

/// A compiled test program.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// Package and target: `plimsoll/drive`, `plimsoll-load/lib`.
    name: String,
    executable: PathBuf,
    /// Of the package; tests run in it, as under `cargo test`.
    directory: PathBuf,
}

/// What one program printed.
#[derive(Debug, Default)]
struct Report {
    program: String,
    tests: Vec<TestResult>,
    /// Everything but the lines of the tests: why some failed.
    rest: String,
    succeeded: bool,
}

/// One line of a test program.
#[derive(Debug, Clone, PartialEq)]
struct TestResult {
    /// With its program: `plimsoll/it audit::a_test`.
    name: String,
    passed: bool,
    seconds: f64,
}

/// What compiles the workspace's own crates.
#[derive(Debug, Clone, Copy)]
pub enum Compiler {
    Rustc,
    /// Lints what it compiles, warnings are errors. `cargo clippy` checks all dependencies once more, and takes twice as long.
    Clippy,
}

impl Compiler {
    fn cargo(self, args: &[&str]) -> exec::Program {
        let cargo = exec::cargo(args);
        match self {
            Self::Rustc => cargo,
            // As `cargo clippy -- -D warnings` sets them.
            Self::Clippy => cargo
                .env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver")
                .env(
                    "CLIPPY_ARGS",
                    "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__",
                )
                // A fifth less to compile, for what is not edited; then units would be optimized across each other.
                .env("CARGO_INCREMENTAL", "0")
                .env("CARGO_PROFILE_DEV_LTO", "off")
                // A failed assertion names its line without.
                .env("CARGO_PROFILE_DEV_DEBUG", "0"),
        }
    }
}

/// The contract of servers on MySQL, whose packages change from day to day.
pub fn run_on_mysql() -> Task {
    program("script/mysql", &[]).run()?;
    let programs = exec::root().join("target/mysql/usr/bin");
    let path = std::env::var("PATH").unwrap_or_default();
    contract("test-mysql", "mysql")
        .env("PATH", &format!("{}:{path}", programs.display()))
        .run()
}

/// The contract of servers on one that speaks SQL Server's protocol. Its URL may hold a password, so it is not an argument.
pub fn run_on_sqlserver() -> Task {
    const URL: &str = "PLIMSOLL_TEST_SQLSERVER";
    if std::env::var_os(URL).is_none() {
        return exec::failed(format!(
            "{URL} holds no URL of a server for these tests alone: all of its databases are dropped"
        ));
    }
    // One after the other: on a server of somebody else's they would wait for each other's locks.
    contract("test-sqlserver", "engine::sqlserver")
        .env("RUST_TEST_THREADS", "1")
        .run()
}

/// The tests of an engine that `script/test` has no server for.
fn contract(feature: &str, filter: &str) -> exec::Program {
    exec::cargo(&[
        "test",
        "-p",
        "plimsoll-load",
        "--lib",
        "--features",
        feature,
        filter,
    ])
}

/// Compiles and runs all tests.
pub fn run() -> Task {
    let build = timed(|| build(Compiler::Rustc));
    eprintln!("test: compiled in {:.1} s", build.took.as_secs_f64());
    run_programs(&build.result?)?;
    doc(Compiler::Rustc)
}

/// Runs all tests. One that fails does not hide what the others report.
pub fn run_programs(programs: &[Program]) -> Task {
    let reports = run_all(programs);
    print_summary(&reports);
    let failures: Vec<&str> = reports
        .iter()
        .filter(|report| !report.succeeded)
        .flat_map(Report::failures)
        .collect();
    if failures.is_empty() {
        Ok(())
    } else {
        failed(format!("tests failed:\n  {}", failures.join("\n  ")))
    }
}

pub fn doc(compiler: Compiler) -> Task {
    compiler
        .cargo(&["test", "--workspace", "--doc", "--quiet"])
        .run()
}

/// Compiles all test programs and lists them.
pub fn build(compiler: Compiler) -> Task<Vec<Program>> {
    let args = [
        "test",
        "--workspace",
        "--no-run",
        "--message-format=json-render-diagnostics",
    ];
    let programs = programs(&compiler.cargo(&args).output()?)?;
    if programs.is_empty() {
        return failed("cargo compiled no test program");
    }
    Ok(programs)
}

/// From cargo's messages, one JSON object a line.
fn programs(messages: &str) -> Task<Vec<Program>> {
    let mut programs = Vec::new();
    for line in messages.lines() {
        let message: Value = serde_json::from_str(line).map_err(because("a message of cargo's"))?;
        let Some(executable) = message["executable"].as_str() else {
            continue;
        };
        if message["profile"]["test"] != true {
            continue;
        }
        let manifest = Path::new(message["manifest_path"].as_str().unwrap_or_default());
        let directory = manifest.parent().unwrap_or(Path::new("")).to_owned();
        let package = directory
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let target = match message["target"]["kind"][0].as_str() {
            Some("lib") => "lib",
            _ => message["target"]["name"].as_str().unwrap_or_default(),
        };
        programs.push(Program {
            name: format!("{package}/{target}"),
            executable: executable.into(),
            directory,
        });
    }
    Ok(programs)
}

/// One program after another, beside each of those whose tests wait.
fn run_all(programs: &[Program]) -> Vec<Report> {
    let processors = thread::available_parallelism().map_or(2, usize::from);
    let (waiting, computing): (Vec<_>, Vec<_>) = programs
        .iter()
        .partition(|program| WAITING.contains(&program.name.as_str()));
    thread::scope(|scope| {
        let run_waiting = |program| {
            scope.spawn(move || run_in_turn(&[program], WAITING_PER_PROCESSOR * processors))
        };
        let waiting: Vec<_> = waiting.into_iter().map(run_waiting).collect();
        let mut reports = run_in_turn(&computing, processors);
        for running in waiting {
            reports.extend(running.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        reports
    })
}

fn run_in_turn(programs: &[&Program], threads: usize) -> Vec<Report> {
    programs
        .iter()
        .map(|program| {
            let run = timed(|| run_program(program, threads));
            let report = run.result.unwrap_or_else(|why| Report {
                program: program.name.clone(),
                rest: format!("{why}\n"),
                ..Report::default()
            });
            let seconds = run.took.as_secs_f64();
            print!("\n{}: {seconds:.1} s\n{}", report.program, report.rest);
            report
        })
        .collect()
}

/// Runs one program as `cargo test` would, and prints the lines of its tests as they come.
fn run_program(program: &Program, threads: usize) -> Task<Report> {
    let mut child = Command::new(&program.executable)
        .args(["-Z", "unstable-options", "--report-time"])
        .arg(format!("--test-threads={threads}"))
        // By name, tests that share a server would be next to each other, and wait for it in turn.
        .arg("--shuffle-seed=1")
        .current_dir(&program.directory)
        // `--report-time` is not stable.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_MANIFEST_DIR", &program.directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(because(program.executable.display()))?;
    let mut report = Report {
        program: program.name.clone(),
        ..Report::default()
    };
    for line in child
        .stdout
        .take()
        .map(BufReader::new)
        .into_iter()
        .flat_map(BufRead::lines)
    {
        report.add(line.map_err(because(&program.name))?);
    }
    report.succeeded = child.wait().map_err(because(&program.name))?.success();
    Ok(report)
}

impl Report {
    fn add(&mut self, line: String) {
        match TestResult::parse(&self.program, &line) {
            Some(test) => {
                println!("{}: {line}", self.program);
                self.tests.push(test);
            }
            None => self.rest += &(line + "\n"),
        }
    }

    /// The tests that failed; of a program that could not run or ended early, its name.
    fn failures(&self) -> Vec<&str> {
        let failed = self.tests.iter().filter(|test| !test.passed);
        let names: Vec<&str> = failed.map(|test| test.name.as_str()).collect();
        if names.is_empty() {
            vec![&self.program]
        } else {
            names
        }
    }
}

impl TestResult {
    /// From lines such as `test a::b ... ok <0.012s>`; none for an ignored test.
    fn parse(program: &str, line: &str) -> Option<Self> {
        let (name, result) = line.strip_prefix("test ")?.split_once(" ... ")?;
        let (result, time) = result.split_once(" <")?;
        Some(Self {
            name: format!("{program} {name}"),
            passed: result == "ok",
            seconds: time.strip_suffix("s>")?.parse().ok()?,
        })
    }
}

fn print_summary(reports: &[Report]) {
    let mut tests: Vec<&TestResult> = reports.iter().flat_map(|report| &report.tests).collect();
    tests.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    eprintln!("\ntest: the slowest tests");
    for test in tests.iter().take(SLOWEST) {
        eprintln!("test: {:>6.1} s  {}", test.seconds, test.name);
    }
    let passed = tests.iter().filter(|test| test.passed).count();
    println!("{passed} passed, {} failed", tests.len() - passed);
}

/// Unit tests of the packages whose files differ from the last commit or from `main`, without those that start servers.
pub fn run_changed() -> Task {
    let packages = changed_packages()?;
    if packages.is_empty() {
        eprintln!("quick: no package has changed");
        return Ok(());
    }
    let mut args = vec!["test", "--quiet", "--lib"];
    packages
        .iter()
        .for_each(|package| args.extend(["-p", package]));
    args.push("--");
    WITH_SERVERS
        .iter()
        .for_each(|module| args.extend(["--skip", module]));
    exec::cargo(&args).run()
}

fn changed_packages() -> Task<Vec<String>> {
    let uncommitted =
        program("git", &["status", "--porcelain", "--untracked-files=all"]).output()?;
    let committed = program("git", &["diff", "--name-only", "main...HEAD"])
        .output()
        .unwrap_or_default();
    let paths = uncommitted
        .lines()
        .filter_map(|line| line.get(3..))
        .chain(committed.lines());
    Ok(packages_of(paths))
}

/// Packages with a library below `crates`, each once.
fn packages_of<'a>(paths: impl Iterator<Item = &'a str>) -> Vec<String> {
    let packages: std::collections::BTreeSet<&str> = paths
        .filter_map(|path| path.strip_prefix("crates/")?.split('/').next())
        .collect();
    packages.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_programs_are_read_from_cargos_messages() {
        let messages = r#"{"reason":"compiler-artifact","manifest_path":"/p/crates/a/Cargo.toml","target":{"kind":["lib"],"name":"a"},"profile":{"test":true},"executable":"/t/a-1"}
{"reason":"compiler-artifact","manifest_path":"/p/crates/a/Cargo.toml","target":{"kind":["test"],"name":"it"},"profile":{"test":true},"executable":"/t/it-1"}
{"reason":"compiler-artifact","manifest_path":"/p/crates/a/Cargo.toml","target":{"kind":["bin"],"name":"a"},"profile":{"test":false},"executable":"/t/a"}
{"reason":"build-finished","success":true}"#;
        let programs = programs(messages).expect("messages");
        let names: Vec<&str> = programs
            .iter()
            .map(|program| program.name.as_str())
            .collect();
        assert_eq!(names, ["a/lib", "a/it"]);
        assert_eq!(programs[1].directory, Path::new("/p/crates/a"));
    }

    #[test]
    fn results_and_times_are_read_from_what_a_program_prints() {
        let mut report = Report {
            program: "a/lib".into(),
            ..Report::default()
        };
        for line in [
            "running 3 tests",
            "test a::b ... ok <1.250s>",
            "test c ... FAILED <0.5s>",
            "test d ... ignored",
        ] {
            report.add(line.into());
        }
        let test = TestResult {
            name: "a/lib a::b".into(),
            passed: true,
            seconds: 1.25,
        };
        assert_eq!(report.tests[0], test);
        assert_eq!(report.failures(), ["a/lib c"]);
        assert_eq!(report.rest, "running 3 tests\ntest d ... ignored\n");
    }

    #[test]
    fn a_program_that_ends_before_its_first_result_failed() {
        let report = Report {
            program: "a/lib".into(),
            ..Report::default()
        };
        assert_eq!(report.failures(), ["a/lib"]);
    }

    #[test]
    fn changed_files_belong_to_packages() {
        let paths = [
            "crates/plimsoll-load/src/a.rs",
            "crates/plimsoll-load/src/b.rs",
            "docs/a.md",
            "crates/plimsoll/src/c.rs",
        ];
        assert_eq!(
            packages_of(paths.into_iter()),
            ["plimsoll", "plimsoll-load"]
        );
    }
}
