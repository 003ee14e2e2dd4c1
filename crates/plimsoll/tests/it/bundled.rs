//! Plans and claims inside the program: it works in an empty directory, without a checkout.

use std::fs::{self, File};

use crate::common::Place;

#[test]
fn plans_are_listed_and_run_by_name_or_by_their_path_in_the_repository() {
    let place = Place::new();
    let table = place.run(&["plans"]).succeeded().stdout;
    for part in ["quickstart", "FUSE, PostgreSQL", "plimsoll plans --all"] {
        assert!(table.contains(part), "{table}");
    }
    assert!(!table.contains("k-b-sequential"), "{table}");
    let json = place.run(&["plans", "--all", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json.succeeded().stdout).unwrap();
    assert!(json.as_array().unwrap().len() > 25, "{json}");

    let run = ["--virtual-time", "--scale", "0.1", "-o", "x.run"];
    place
        .run(&[&["run", "mock-stall"], &run[..]].concat())
        .succeeded();
    assert_eq!(place.export("x.run")["run"]["status"], "complete");
    place
        .run(&["run", "plans/kingston/k-b-sequential.toml", "--dry-run"])
        .succeeded();
    place.run(&["run", "quikstart"]).refused(&[
        "the plan quikstart cannot be read: No such file",
        "did you mean `quickstart`?",
    ]);
}

#[test]
fn a_plan_comes_from_standard_input() {
    let place = Place::new();
    let plan = place.plan("mock", "users = [1]\nramp = \"1s\"\nmeasure = \"1s\"");
    let mut command = place.command(&["run", "-", "--virtual-time", "-o", "x.run"]);
    command.stdin(File::open(&plan).unwrap());
    place.start_command(command).wait().succeeded();

    fs::write(&plan, "title = 1").unwrap();
    let mut command = place.command(&["run", "-"]);
    command.stdin(File::open(&plan).unwrap());
    place
        .start_command(command)
        .wait()
        .refused(&["standard input:1:9"]);
}

#[test]
fn a_plan_is_written_to_start_from_and_never_over_another() {
    let place = Place::new();
    place.run(&["init", "power-cut"]).succeeded();
    let text = fs::read_to_string(place.path("power-cut.toml")).unwrap();
    assert!(text.starts_with("# Is what the database"), "{text}");
    place
        .run(&["run", "power-cut.toml", "--dry-run"])
        .succeeded();
    place
        .run(&["init", "power-cut"])
        .refused(&["cannot write power-cut.toml", "The file exists already."]);
    assert_eq!(
        place.run(&["init", "power-cut", "-o", "-"]).stdout,
        text,
        "standard output"
    );
    place
        .run(&["init", "elsewhere"])
        .refused(&["there is no bundled plan elsewhere", "plimsoll plans"]);
}

#[test]
fn published_tables_are_audited_by_name() {
    let place = Place::new();
    let list = place.run(&["audit", "claims"]).succeeded().stdout;
    assert!(list.contains("storagereview-vsan\n    "), "{list}");
    let by_name = place.run(&["audit", "claims", "kingston-dc1500m-st"]);
    let by_path = place.run(&["audit", "claims/kingston-dc1500m-storage.toml"]);
    let by_name = by_name.succeeded().stdout;
    assert!(by_name.lines().count() > 10, "{by_name}");
    assert_eq!(by_name, by_path.succeeded().stdout);
    place.run(&["audit", "claims", "nowhere"]).refused(&[
        "there is no bundled claim nowhere",
        "`plimsoll audit claims` lists them.",
    ]);
}

#[test]
fn manual_pages_are_written_for_every_command() {
    let place = Place::new();
    place.run(&["man", "tmp"]).succeeded();
    let page = fs::read_to_string(place.path("tmp/plimsoll-bench.1")).unwrap();
    assert!(page.contains("\\-\\-find"), "{page}");
    assert!(place.path("tmp/plimsoll-drive-learn.1").exists());
    place
        .run(&["man", "nowhere"])
        .refused(&["the manual pages cannot be written to nowhere"]);
}
