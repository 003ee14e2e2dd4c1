//! What is refused before anything is touched: exit code 2, a message with what, where and what next.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use crate::common::Place;
use crate::common::server::Mount;

const SHORT: &str = "users = [1]\nramp = \"1s\"\nmeasure = \"1s\"";

/// Nothing was made: no run file, nothing on the medium.
fn expect_untouched(place: &Place) {
    place.expect_clean();
    let made: Vec<_> = fs::read_dir(place.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    let run_files = made
        .iter()
        .filter(|name| name.to_string_lossy().contains(".plimsoll"));
    assert_eq!(run_files.count(), 0, "{made:?}");
}

#[test]
fn every_mistake_of_a_plan_is_shown_where_it_stands() {
    let place = Place::new();
    let text =
        fs::read_to_string(place.plan("sqlte", "users = [1]\nramp = \"-3s\"\nmesure = \"1s\""))
            .unwrap();
    place.write("plan.toml", &text.replace("warehouses", "warehousess"));
    let outcome = place.run(&["run", "plan.toml", "-o", "x.plimsoll"]);
    outcome.refused(&[
        "plan.toml: the plan cannot be run (4 errors found)",
        "plan.toml:5:10: unknown value `sqlte`",
        "did you mean `sqlite`?",
        "plan.toml:7:1: unknown key `warehousess`",
        "did you mean `warehouses`?",
        "plan.toml:12:8: \"-3s\" is negative",
        "write times such as \"10s\"",
        "plan.toml:13:1: unknown key `mesure`",
        "did you mean `measure`?",
    ]);
    expect_untouched(&place);
}

#[test]
fn a_plan_that_is_no_toml_or_not_there() {
    let place = Place::new();
    place.write("plan.toml", "title = \"unfinished\n");
    place.run(&["run", "plan.toml"]).refused(&["plan.toml:1:"]);
    let missing = place.run(&["run", "elsewhere.toml"]);
    missing.refused(&[
        "the plan elsewhere.toml cannot be read: No such file",
        "`plimsoll plans` lists the plans that plimsoll has.",
    ]);
    place
        .run(&["run", "medium"])
        .refused(&["the plan medium cannot be read", "directory"]);
    expect_untouched(&place);
}

#[test]
fn a_factor_below_zero() {
    let place = Place::new();
    place.plan("sqlite", SHORT);
    for flag in ["--scale", "--data-scale"] {
        let outcome = place.run(&["run", "plan.toml", &format!("{flag}=-1")]);
        outcome.refused(&[&format!(
            "{flag} takes a number from 0.000001 to 1000000, not -1"
        )]);
    }
    expect_untouched(&place);
}

#[test]
fn a_medium_that_is_not_there_or_a_file() {
    let place = Place::new();
    let text = fs::read_to_string(place.plan("sqlite", SHORT)).unwrap();
    place.write("plan.toml", &text.replace("/medium\"", "/nowhere\""));
    let outcome = place.run(&["run", "plan.toml"]);
    outcome.refused(&[
        "medium here:",
        "/nowhere cannot be used\n  No such file",
        "Create it (mkdir -p ",
    ]);
    place.write("plan.toml", &text.replace("/medium\"", "/plan.toml\""));
    let outcome = place.run(&["run", "plan.toml"]);
    outcome.refused(&[
        "medium here:",
        "/plan.toml is not a directory",
        "Name a directory.",
    ]);
    expect_untouched(&place);
}

#[test]
fn a_medium_that_cannot_be_written_to() {
    let place = Place::new();
    place.plan("sqlite", SHORT);
    let phrases = [
        "medium here: cannot write to ",
        "/medium\n  ",
        "Name a directory that this user may write to",
    ];
    if let Some(_mount) = Mount::tmpfs(&place.medium(), "ro,size=1m") {
        place.run(&["run", "plan.toml"]).refused(&phrases);
        place.expect_clean();
    } else {
        // Root may write where the mode forbids it, and only root may mount.
        fs::set_permissions(place.medium(), Permissions::from_mode(0o555)).unwrap();
        place.run(&["run", "plan.toml"]).refused(&phrases);
        fs::set_permissions(place.medium(), Permissions::from_mode(0o755)).unwrap();
    }
    expect_untouched(&place);
}

#[test]
fn too_little_space() {
    let place = Place::new();
    place.plan("sqlite", SHORT);
    let mut args = vec!["run", "plan.toml"];
    let mount = Mount::tmpfs(&place.medium(), "size=20m,mode=755");
    if mount.is_none() {
        // No file system has room for this.
        args.push("--data-scale=90000");
    }
    let phrases = [
        "medium here: not enough space in ",
        " are free, and the plan needs about ",
        "shrink the data with --data-scale",
    ];
    place.run(&args).refused(&phrases);
    expect_untouched(&place);
}

#[test]
fn an_output_that_exists_or_has_no_directory() {
    let place = Place::new();
    place.plan("sqlite", SHORT);
    place.write("mine", "precious");
    let outcome = place.run(&["run", "plan.toml", "-o", "mine"]);
    outcome.refused(&[
        "mine exists already",
        "Give another name with --output, or move the file away.",
    ]);
    assert_eq!(fs::read_to_string(place.path("mine")).unwrap(), "precious");
    let outcome = place.run(&["run", "plan.toml", "-o", "nowhere/x.run"]);
    outcome.refused(&[
        "the run file nowhere/x.run cannot be created",
        "there is no directory nowhere",
        "--output",
    ]);
    expect_untouched(&place);
}

#[test]
fn virtual_time_for_a_real_database() {
    let place = Place::new();
    place.plan("sqlite", SHORT);
    place
        .run(&["run", "plan.toml", "--virtual-time"])
        .refused(&["only mock systems and SQLite on modeled drives live in it"]);
    expect_untouched(&place);
}

#[test]
fn files_that_are_no_run_files() {
    let place = Place::new();
    place.write("text", "no database");
    place
        .run(&["report", "text"])
        .refused(&["text is not a run file of plimsoll"]);
    place
        .run(&["export", "text", "--to", "json"])
        .refused(&["text is not a run file of plimsoll"]);
    place
        .run(&["report", "nothing"])
        .refused(&["nothing cannot be opened: there is no such file"]);
    place.run(&["check", "nothing"]).failed(
        1,
        &["the database nothing was not found", "Name a SQLite file"],
    );
    assert!(!place.path("text.html").exists());
}
