//! Options of the command line, what goes to stdout and what to stderr, and the commands that need no run.

use crate::common::Place;
use serde_json::Value;

const MOCK: &str = "title = \"Mock\"\n[system.db]\nengine = \"mock\"\n[workload.oltp.tpcc]\nwarehouses = 4\n[[step]]\n\
                    run = \"oltp\"\nsystem = \"db\"\nusers = [1, 2]\nramp = \"2s\"\nmeasure = \"20s\"\n";

fn mock() -> Place {
    let place = Place::new();
    place.write("plan.toml", MOCK);
    place
}

#[test]
fn a_dry_run_prints_a_plan_that_is_read_as_the_same_and_touches_nothing() {
    let place = Place::new();
    place.plan(
        "postgres",
        "users = [1, 2]\nramp = \"10s\"\nmeasure = \"1m\"",
    );
    let first = place.run(&[
        "run",
        "plan.toml",
        "--dry-run",
        "--seed",
        "7",
        "--scale",
        "0.5",
        "--data-scale",
        "3",
    ]);
    let first = first.succeeded();
    for phrase in [
        "seed = 7\n",
        "ramp = \"5s\"\n",
        "measure = \"30s\"\n",
        "warehouses = 3\n",
        "users = [1, 2]\n",
    ] {
        assert!(
            first.stdout.contains(phrase),
            "{phrase:?} is not in {first:?}"
        );
    }
    for phrase in [
        "# under load: 1m 10s",
        "# starting, loading and checking: about ",
        "free space needed on here: about ",
    ] {
        assert!(
            first.stdout.contains(phrase),
            "{phrase:?} is not in {first:?}"
        );
    }
    assert_eq!(first.stderr, "");
    place.write("plan.toml", &first.stdout);
    let second = place.run(&["run", "plan.toml", "--dry-run"]).succeeded();
    let without_remarks = |text: &str| {
        text.lines()
            .filter(|line| !line.starts_with('#'))
            .collect::<String>()
    };
    assert_eq!(
        without_remarks(&first.stdout),
        without_remarks(&second.stdout)
    );
    place.expect_clean();
}

#[test]
fn results_go_to_stdout_and_progress_to_stderr() {
    let place = mock();
    let run = |format: &str| {
        let file = format!("{format}.run");
        place
            .run(&[
                "run",
                "plan.toml",
                "--virtual-time",
                "--format",
                format,
                "-o",
                &file,
            ])
            .succeeded()
    };
    let json: Value = serde_json::from_str(&run("json").stdout).unwrap();
    assert_eq!(json["run"]["status"], "complete");
    let csv = run("csv");
    let columns: Vec<usize> = csv
        .stdout
        .lines()
        .map(|line| line.split(',').count())
        .collect();
    assert!(
        columns.len() == 3 && columns.iter().all(|n| *n == columns[0]),
        "{csv:?}"
    );
    let table = run("table");
    assert!(
        table.stdout.contains("new orders a minute") && !table.stdout.contains('{'),
        "{table:?}"
    );
    for outcome in [csv, table] {
        for phrase in [
            "[2/2] oltp · 2 users · measure for 20s",
            "[2/2] oltp · 2 users · measured 20s · NOPM",
            "Run file: ",
        ] {
            assert!(
                outcome.stderr.contains(phrase),
                "{phrase:?} is not in {outcome:?}"
            );
            assert!(!outcome.stdout.contains(phrase), "{outcome:?}");
        }
    }
}

#[test]
fn without_a_terminal_each_measurement_is_reported_once() {
    let place = mock();
    let stderr = place
        .run(&["run", "plan.toml", "--virtual-time", "-o", "x.run"])
        .succeeded()
        .stderr;
    let count = |phrase: &str| stderr.lines().filter(|line| line.contains(phrase)).count();
    assert_eq!(
        count("[1/2] oltp · 1 user · measure for 20s"),
        1,
        "{stderr}"
    );
    assert_eq!(count("[1/2] oltp · 1 user · measured 20s"), 1, "{stderr}");
    assert!(stderr.lines().count() < 12, "{stderr}");
}

#[test]
fn inputs_vary_between_runs_unless_a_seed_is_given() {
    let place = mock();
    let run = |args: &[&str]| {
        let all = [
            &[
                "run",
                "plan.toml",
                "--virtual-time",
                "--format",
                "json",
                "-o",
                "x.run",
            ],
            args,
        ]
        .concat();
        let json: Value =
            serde_json::from_str(&place.start(&all).wait().succeeded().stdout).unwrap();
        std::fs::remove_file(place.path("x.run")).unwrap();
        (
            json["run"]["seed"].as_u64().unwrap(),
            json["summary"]["ladders"].clone(),
        )
    };
    let (first, second) = (run(&[]), run(&[]));
    assert_ne!(first.0, second.0, "drawn anew for each run");
    assert_eq!(
        run(&["--seed", &first.0.to_string()]),
        first,
        "the recorded seed repeats the run"
    );
    place.write("plan.toml", &format!("seed = {}\n{MOCK}", first.0));
    assert_eq!(run(&[]).0, first.0, "the plan's seed");
}

#[test]
fn factors_that_no_run_survives_are_refused() {
    let place = mock();
    for (flag, factor) in [
        ("--scale", "1e99"),
        ("--data-scale", "1e99"),
        ("--scale", "0"),
        ("--scale", "1e-99"),
    ] {
        let outcome = place.run(&["run", "plan.toml", "--dry-run", flag, factor]);
        outcome.failed(2, &[flag, "from 0.000001 to 1000000"]);
    }
}

#[test]
fn a_changed_run_file_is_reported_by_every_command() {
    let place = mock();
    for run in ["x.run", "y.run"] {
        place
            .run(&["run", "plan.toml", "--virtual-time", "-q", "-o", run])
            .succeeded();
    }
    let mut bytes = std::fs::read(place.path("y.run")).unwrap();
    let title = bytes
        .windows(4)
        .position(|window| window == b"Mock")
        .unwrap();
    bytes[title] ^= 1;
    std::fs::write(place.path("y.run"), bytes).unwrap();
    let export = place.run(&["export", "y.run", "--to", "csv"]).succeeded();
    assert!(
        export.stderr.contains("y.run does not match its digest"),
        "{export:?}"
    );
    let audit = place.run(&["audit", "y.run", "--strict"]);
    assert!(
        audit.code == Some(3) && audit.stdout.contains("error: INTACT"),
        "{audit:?}"
    );
    place
        .run(&["compare", "x.run", "y.run"])
        .failed(2, &["y.run does not match its digest", "backup"]);
}

#[test]
fn a_misspelled_command_gets_a_suggestion() {
    mock()
        .run(&["rnu", "plan.toml"])
        .failed(2, &["rnu", "'run'"]);
}

#[test]
fn quiet_is_quiet() {
    let place = mock();
    let outcome = place
        .run(&[
            "run",
            "plan.toml",
            "--virtual-time",
            "-q",
            "--format",
            "json",
            "-o",
            "x.run",
        ])
        .succeeded();
    assert_eq!(outcome.stderr, "");
    assert!(outcome.stdout.starts_with('{'));
}

#[test]
fn scale_and_seed_decide_the_figures() {
    let place = mock();
    let figures = |name: &str, more: &[&str]| {
        let args = [
            &[
                "run",
                "plan.toml",
                "--virtual-time",
                "--format",
                "json",
                "-o",
                name,
            ][..],
            more,
        ]
        .concat();
        let json: Value = serde_json::from_str(&place.run(&args).succeeded().stdout).unwrap();
        (
            json["run"]["seed"].clone(),
            json["summary"]["ladders"].clone(),
        )
    };
    let (seed, first) = figures("a", &["--seed", "11"]);
    assert_eq!(seed, 11);
    assert_eq!(first, figures("b", &["--seed", "11"]).1);
    assert_ne!(first, figures("c", &["--seed", "12"]).1);
    let (_, short) = figures("d", &["--scale", "0.5"]);
    assert_eq!(short[0]["points"][0]["measured_s"], 10.0);
}

#[test]
fn a_run_file_is_named_after_the_title_and_the_time() {
    let place = mock();
    place
        .run(&["run", "plan.toml", "--virtual-time", "--scale", "0.1"])
        .succeeded();
    let files = std::fs::read_dir(place.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let runs: Vec<String> = files.filter(|name| name.ends_with(".plimsoll")).collect();
    assert!(runs.len() == 1 && runs[0].starts_with("mock-2"), "{runs:?}");
    place.opens(&runs[0]);
}

#[test]
fn the_schema_is_the_one_that_editors_use() {
    let place = Place::new();
    let schema = place.run(&["schema"]).succeeded().stdout;
    let checked_in = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../plans/plan.schema.json"
    ))
    .unwrap();
    assert_eq!(schema.trim(), checked_in.trim());
}

#[test]
fn help_version_and_completions() {
    let place = Place::new();
    let help = place.run(&["--help"]).succeeded().stdout;
    for command in [
        "run",
        "report",
        "export",
        "check",
        "schema",
        "completions",
        "Exit codes: 0 ok · 1 ",
    ] {
        assert!(help.contains(command), "{command} is not in {help}");
    }
    let version = place.run(&["--version"]).succeeded().stdout;
    assert_eq!(
        version.trim(),
        concat!("plimsoll ", env!("CARGO_PKG_VERSION"))
    );
    let script = place.run(&["completions", "bash"]).succeeded().stdout;
    assert!(script.contains("_plimsoll()") && script.contains("--dry-run"));
    place.run(&["runn"]).refused(&[
        "unrecognized subcommand 'runn'",
        "similar subcommand exists: 'run'",
    ]);
    place
        .run(&["completions", "elvishh"])
        .refused(&["invalid value 'elvishh'", "bash"]);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let place = Place::new();
    let mut child = place
        .command(&["schema"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}
