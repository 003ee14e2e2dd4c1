//! A directory of run files, a set and a run file are taken alike by every command that reads runs.

use std::fs;

use crate::common::Place;
use serde_json::Value;

/// Three runs of one plan in each directory, which need no time.
fn directories(place: &Place, names: &[&str]) {
    let plan = "title = \"Mock\"\n[system.db.mock]\nlatency = \"100ms\"\njitter = \"10ms\"\n[workload.oltp.tpcc]\nwarehouses = 1\n\
                [[step]]\nrun = \"oltp\"\nsystem = \"db\"\nusers = [1, 2]\nramp = \"1s\"\nmeasure = \"30s\"\n";
    place.write("plan.toml", plan);
    for (name, first) in names.iter().zip([1, 11]) {
        fs::create_dir(place.path(name)).unwrap();
        for seed in first..first + 3 {
            let (file, seed) = (format!("{name}/{seed}.plimsoll"), seed.to_string());
            let args = [
                "run",
                "plan.toml",
                "--virtual-time",
                "-q",
                "--seed",
                &seed,
                "-o",
                &file,
            ];
            place.run(&args).succeeded();
        }
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_directory_of_runs_stands_for_its_repeats() {
    let place = Place::new();
    directories(&place, &["A", "B.1"]);
    // Other programs' files are no runs.
    fs::write(place.path("A/notes.plimsoll"), "mine").unwrap();
    let compared = place
        .run(&["compare", "A/", "B.1/", "--format", "json"])
        .succeeded();
    let compared = json(&compared.stdout);
    assert_eq!(compared.as_array().unwrap().len(), 1, "{compared}");
    for (side, label) in compared[0]["sides"]
        .as_array()
        .unwrap()
        .iter()
        .zip(["A", "B.1"])
    {
        assert_eq!(side["label"], label, "{compared}");
        assert_eq!(side["run_ids"].as_array().unwrap().len(), 3, "{compared}");
    }
    let gated = place.run(&["gate", "--baseline", "A", "--max-regression", "20%", "B.1"]);
    assert_eq!(gated.code, Some(0), "{gated:?}");
    let audited = place.run(&["audit", "A", "--format", "json"]).succeeded();
    assert!(json(&audited.stdout).as_array().unwrap().len() >= 3);
    let pages = place.run(&["report", "A"]).succeeded().stdout;
    assert_eq!(
        pages.lines().collect::<Vec<_>>(),
        ["A/1.html", "A/2.html", "A/3.html"]
    );
    place
        .run(&["report", "A", "-o", "one.html"])
        .refused(&["A holds 3 runs", "Name one of its run files"]);
    let exported = place.run(&["export", "A", "--to", "json"]).succeeded();
    assert_eq!(json(&exported.stdout).as_array().unwrap().len(), 3);
    let text = place
        .run(&["export", "A", "--to", "text"])
        .succeeded()
        .stdout;
    assert!(
        text.contains("A/1.plimsoll\n") && text.contains("A/3.plimsoll\n"),
        "{text}"
    );

    place.write("other.toml", "title = \"Other\"\n[system.db.mock]\nlatency = \"1ms\"\n[workload.oltp.tpcc]\nwarehouses = 1\n[[step]]\nrun = \"oltp\"\nsystem = \"db\"\nusers = 1\nmeasure = \"5s\"\n");
    place
        .run(&[
            "run",
            "other.toml",
            "--virtual-time",
            "-q",
            "-o",
            "A/9.plimsoll",
        ])
        .succeeded();
    place.run(&["compare", "A", "B.1"]).refused(&[
        "A holds runs of different plans",
        "\"Mock\"",
        "\"Other\"",
    ]);
    fs::create_dir(place.path("empty")).unwrap();
    for command in ["report", "audit", "predict"] {
        place
            .run(&[command, "empty"])
            .refused(&["empty holds no run file", "Name a run file"]);
    }
}

#[test]
fn a_list_has_rate_p99_and_verdict() {
    let place = Place::new();
    directories(&place, &["A"]);
    let listed = place.run(&["list", "A", "--format", "json"]).succeeded();
    let run = &json(&listed.stdout)["runs"][0];
    // 2 users, 0.45 New-Orders a transaction, 100 ms each.
    let rate = run["rate"].as_f64().unwrap();
    assert!((450.0..650.0).contains(&rate), "{run}");
    assert_eq!(
        (&run["rate_kind"], &run["verdict"]),
        (&"nopm".into(), &"doubtful".into())
    );
    assert!(
        (100.0..200.0).contains(&run["p99_ms"].as_f64().unwrap()),
        "{run}"
    );
    let text = place.run(&["list", "A/1.plimsoll"]).succeeded().stdout;
    for part in ["orders/min", "p99", "doubtful"] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    let csv = place
        .run(&["list", "A", "--format", "csv"])
        .succeeded()
        .stdout;
    let header = csv.lines().next().unwrap();
    assert!(
        header.ends_with("rate,rate_kind,p99_ms,verdict"),
        "{header}"
    );
}

#[test]
fn a_block_run_has_its_own_table_by_default() {
    let place = Place::new();
    let run = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../runs/2026-11-21-vm-2cpu/storage.plimsoll"
    );
    let table = |args: &[&str]| {
        let args = [&["export", run, "--to", "csv"], args].concat();
        place.run(&args).succeeded().stdout
    };
    let by_default = table(&[]);
    assert!(by_default.lines().count() > 20, "{by_default}");
    assert_eq!(by_default, table(&["--table", "block"]));
    assert_eq!(table(&["--table", "ladder"]).lines().count(), 1);
    fs::create_dir(place.path("A")).unwrap();
    fs::copy(run, place.path("A/one.plimsoll")).unwrap();
    let of_many = place
        .run(&["export", "A", "--to", "csv"])
        .succeeded()
        .stdout;
    assert_eq!(of_many.lines().count(), by_default.lines().count());
}

/// Programs search what a pipe gets line by line.
#[test]
fn without_a_terminal_each_command_and_option_is_one_line() {
    let place = Place::new();
    let help = place.run(&["--help"]).succeeded().stdout;
    let commands = help.split("Commands:\n").nth(1).unwrap();
    let commands = commands.split("\n\n").next().unwrap();
    assert!(commands.lines().count() > 20, "{commands}");
    for line in commands.lines() {
        assert!(
            line.starts_with("  ") && !line.starts_with("   "),
            "{line:?}"
        );
    }
    let options = place.run(&["run", "--help"]).succeeded().stdout;
    let options = options.split("Options:\n").nth(1).unwrap();
    assert!(
        options
            .lines()
            .all(|line| line.trim_start().starts_with('-')),
        "{options}"
    );
    let plans = place.run(&["plans"]).succeeded().stdout;
    assert!(
        plans.contains("What would NVMe, SATA, RAID 5 or a disk change for SQLite?"),
        "{plans}"
    );
    place.write("plan.toml", "title = \"Mock\"\n[system.db.mock]\nlatency = \"1ms\"\n[workload.oltp.tpcc]\nwarehouses = 1\n[[step]]\nrun = \"oltp\"\nsystem = \"db\"\nusers = 2\nmeasure = \"5s\"\n");
    let file = format!("a b {}.plimsoll", "c".repeat(80));
    let run = ["run", "plan.toml", "--virtual-time", "-q", "-o", &file];
    let answer = place.run(&run).succeeded().stdout;
    for command in ["report", "export"] {
        let line = answer
            .lines()
            .find(|line| line.contains(&format!("plimsoll {command} '")));
        assert!(
            line.is_some_and(|line| line.contains(&format!("'{file}'"))),
            "{answer}"
        );
    }
}
