//! Runs the workspace's test programs, several at a time, and lists the slowest tests.
//!
//! Most tests wait for seconds to pass, so programs run side by side keep the processors busy. One that needs the
//! machine for itself is listed in [`ALONE`].

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

use crate::exec::{Task, because, cargo, failed, root, timed};

/// Test programs that run with nothing beside them, and why.
const ALONE: [(&str, &str); 2] = [
    (
        "plimsoll/drive",
        "an emulated drive is compared with its model in real time",
    ),
    (
        "plimsoll/emulated",
        "loads on emulated drives must not make the emulator fall behind",
    ),
];
/// Long programs, which start first where no times of an earlier run are known.
const LONG: [&str; 5] = [
    "plimsoll-load/lib",
    "plimsoll/reset",
    "plimsoll/drive_learn",
    "plimsoll/disk_full",
    "plimsoll/limits",
];
/// How many tests the list of slow ones has.
const SLOWEST: usize = 10;

/// A compiled test program.
#[derive(Debug, Clone, PartialEq)]
struct Program {
    /// Package and target: `plimsoll/drive`, `plimsoll-load/lib`.
    name: String,
    executable: PathBuf,
    /// Of the package; tests run in it, as under `cargo test`.
    directory: PathBuf,
}

/// What one program printed.
#[derive(Debug)]
struct Report {
    program: String,
    succeeded: bool,
    output: String,
    took: Duration,
}

/// One test's name and time.
#[derive(Debug, Clone, PartialEq)]
struct TestTime {
    name: String,
    seconds: f64,
}

/// Tests that passed and failed, over all programs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Counts {
    passed: u64,
    failed: u64,
}

/// Compiles and runs all tests. One that fails does not hide what the others report.
pub fn run() -> Task {
    let (programs, took) = timed(build);
    let programs = programs?;
    if programs.is_empty() {
        return failed("cargo compiled no test program");
    }
    eprintln!(
        "test: compiled {} programs in {:.1} s",
        programs.len(),
        took.as_secs_f64()
    );
    let reports = run_all(programs);
    let doc = cargo(&["test", "--workspace", "--doc", "--quiet"]).run();
    print_summary(&reports);
    let failures: Vec<&str> = reports
        .iter()
        .filter(|report| !report.succeeded)
        .map(|report| report.program.as_str())
        .collect();
    if !failures.is_empty() {
        return failed(format!("tests failed in {}", failures.join(", ")));
    }
    doc
}

/// Compiles all test programs and lists them.
fn build() -> Task<Vec<Program>> {
    let args = [
        "test",
        "--workspace",
        "--no-run",
        "--message-format=json-render-diagnostics",
    ];
    programs(&cargo(&args).output()?)
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

/// The programs side by side, then those that need the machine for themselves.
fn run_all(programs: Vec<Program>) -> Vec<Report> {
    let times = Times::read();
    let is_alone = |program: &Program| ALONE.iter().any(|(name, _)| *name == program.name);
    let (alone, mut together): (Vec<_>, Vec<_>) = programs.into_iter().partition(is_alone);
    // The longest first, so that none is left over at the end.
    together.sort_by(|a, b| times.of(&b.name).total_cmp(&times.of(&a.name)));
    let workers = std::thread::available_parallelism().map_or(2, |n| n.get() + 1);
    let mut reports = run_side_by_side(together, workers);
    reports.extend(run_side_by_side(alone, 1));
    Times::of_reports(&reports).write();
    reports
}

fn run_side_by_side(programs: Vec<Program>, workers: usize) -> Vec<Report> {
    let waiting = Mutex::new(VecDeque::from(programs));
    let reports = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(program) = lock(&waiting).pop_front() {
                    let report = run_program(&program);
                    let mut reports = lock(&reports);
                    print!(
                        "\n{}: {:.1} s\n{}",
                        report.program,
                        report.took.as_secs_f64(),
                        report.output
                    );
                    reports.push(report);
                }
            });
        }
    });
    reports.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs one program as `cargo test` would, with the time of each test.
fn run_program(program: &Program) -> Report {
    let mut command = Command::new(&program.executable);
    command
        .args(["-Z", "unstable-options", "--report-time"])
        .current_dir(&program.directory);
    // `--report-time` is not stable.
    command
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_MANIFEST_DIR", &program.directory)
        .stdin(Stdio::null());
    let (result, took) = timed(|| command.output());
    let (succeeded, output) = match result {
        Ok(output) => {
            let text = [output.stdout, output.stderr].concat();
            (
                output.status.success(),
                String::from_utf8_lossy(&text).into_owned(),
            )
        }
        Err(why) => (
            false,
            format!(
                "{} could not be started: {why}\n",
                program.executable.display()
            ),
        ),
    };
    Report {
        program: program.name.clone(),
        succeeded,
        output,
        took,
    }
}

fn print_summary(reports: &[Report]) {
    let mut tests: Vec<TestTime> = reports.iter().flat_map(test_times).collect();
    tests.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    eprintln!("\ntest: the slowest tests");
    for test in tests.iter().take(SLOWEST) {
        eprintln!("test: {:>6.1} s  {}", test.seconds, test.name);
    }
    let counts = reports.iter().map(|report| counts(&report.output)).fold(
        Counts::default(),
        |sum, counts| Counts {
            passed: sum.passed + counts.passed,
            failed: sum.failed + counts.failed,
        },
    );
    println!("{} passed, {} failed", counts.passed, counts.failed);
}

/// From lines such as `test a::b ... ok <0.012s>`.
fn test_times(report: &Report) -> Vec<TestTime> {
    let time = |line: &str| {
        let (name, rest) = line.strip_prefix("test ")?.split_once(" ... ")?;
        let seconds = rest.split_once('<')?.1.strip_suffix("s>")?.parse().ok()?;
        Some(TestTime {
            name: format!("{} {name}", report.program),
            seconds,
        })
    };
    report.output.lines().filter_map(time).collect()
}

/// From lines such as `test result: ok. 12 passed; 0 failed; …`.
fn counts(output: &str) -> Counts {
    let results = output
        .lines()
        .filter_map(|line| line.strip_prefix("test result: "));
    results.fold(Counts::default(), |sum, result| {
        let number = |unit: &str| {
            let part = result
                .split([';', '.'])
                .find_map(|part| part.trim().strip_suffix(unit));
            part.and_then(|number| number.trim().parse::<u64>().ok())
                .unwrap_or_default()
        };
        Counts {
            passed: sum.passed + number("passed"),
            failed: sum.failed + number("failed"),
        }
    })
}

/// Seconds that each program took the last time; kept in the target directory to start the longest first.
#[derive(Debug, Default)]
struct Times(BTreeMap<String, f64>);

impl Times {
    fn path() -> PathBuf {
        root().join("target/test-times.json")
    }

    /// Empty where there are none or they cannot be read: they only decide the order.
    fn read() -> Self {
        let text = std::fs::read_to_string(Self::path()).unwrap_or_default();
        Self(serde_json::from_str(&text).unwrap_or_default())
    }

    fn of_reports(reports: &[Report]) -> Self {
        Self(
            reports
                .iter()
                .map(|report| (report.program.clone(), report.took.as_secs_f64()))
                .collect(),
        )
    }

    /// A new program may take long; in a new checkout all are.
    fn of(&self, program: &str) -> f64 {
        match LONG.iter().position(|long| *long == program) {
            Some(at) if self.0.is_empty() => (LONG.len() - at) as f64,
            None if self.0.is_empty() => 0.0,
            _ => self.0.get(program).copied().unwrap_or(f64::INFINITY),
        }
    }

    fn write(&self) {
        // The order of the next run is all that is lost.
        let _ = std::fs::write(Self::path(), serde_json::json!(self.0).to_string());
    }
}

/// Unit tests of the packages whose files differ from the last commit or from `main`.
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
    cargo(&args).run()
}

fn changed_packages() -> Task<Vec<String>> {
    let git = |args: &[&str]| crate::exec::program("git", args).output();
    let uncommitted = git(&["status", "--porcelain", "--untracked-files=all"])?;
    let committed = git(&["diff", "--name-only", "main...HEAD"]).unwrap_or_default();
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

    fn report(output: &str) -> Report {
        Report {
            program: "a/lib".into(),
            succeeded: true,
            output: output.into(),
            took: Duration::ZERO,
        }
    }

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
    fn times_and_counts_are_read_from_what_a_program_prints() {
        let report = report(
            "test a::b ... ok <1.250s>\ntest c ... FAILED <0.5s>\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; finished in 1.3s\n",
        );
        let times = test_times(&report);
        assert_eq!(
            times[0],
            TestTime {
                name: "a/lib a::b".into(),
                seconds: 1.25
            }
        );
        assert_eq!(times.len(), 2);
        assert_eq!(
            counts(&report.output),
            Counts {
                passed: 1,
                failed: 1
            }
        );
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

    #[test]
    fn an_unknown_program_starts_first() {
        let times = Times([("a".to_owned(), 3.0)].into());
        assert!(times.of("b") > times.of("a"));
        assert!(Times::default().of(LONG[0]) > Times::default().of("b"));
    }
}
