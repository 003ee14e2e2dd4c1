//! Backup steps: saved, restored, verified, and what becomes of them when something fails.

use std::fs;

use crate::common::{Place, postmaster, processes_in, send, wait_for};
use rustix::process::Signal;
use serde_json::Value;

const SMALL: &str =
    "engine = \"postgres\"\nsettings = { shared_buffers = \"32MB\", max_wal_size = \"128MB\" }";

/// A backup step of a system, with its keys; the backup medium is `vault`.
fn plan(place: &Place, system: &str, step: &str) {
    let (data, vault) = (place.medium(), place.path("vault"));
    fs::create_dir_all(&vault).unwrap();
    place.write(
        "plan.toml",
        &format!(
            "title = \"Save\"\n[medium.here]\npath = {data:?}\n[medium.vault]\npath = {vault:?}\n[system.db]\n{system}\n\
             [workload.oltp.tpcc]\nwarehouses = 1\nmode = \"statements\"\n[workload.save.backup]\ndata = \"oltp\"\n\
             [[step]]\nrun = \"save\"\nsystem = \"db\"\non = [\"here\"]\nto = \"vault\"\n{step}\n"
        ),
    );
}

/// Data that are saved in a moment, for what does not depend on them.
fn small_data(place: &Place) {
    let plan = fs::read_to_string(place.path("plan.toml")).unwrap();
    let plan = plan.replace("mode = \"statements\"\n", "");
    place.write("plan.toml", &plan);
    place.small_data();
}

/// Every backup and restore of a run file, which opens.
fn backups(place: &Place, run: &str) -> Vec<Value> {
    place.opens(run);
    place.rows(run, "SELECT * FROM backup ORDER BY start_ns")
}

fn is_empty(place: &Place, dir: &str) -> bool {
    fs::read_dir(place.path(dir)).unwrap().next().is_none()
}

#[test]
fn each_cycle_saves_restores_and_verifies() {
    let place = Place::new();
    plan(
        &place,
        "engine = \"sqlite\"\ncount = 2",
        "cycles = 2\nevery = \"2s\"",
    );
    place.run(&["run", "plan.toml", "-o", "x.run"]).succeeded();
    let rows = backups(&place, "x.run");
    assert_eq!(
        rows.len(),
        8,
        "two systems, two cycles, each saved and restored: {rows:?}"
    );
    for row in &rows {
        assert_eq!(row["outcome"], "complete", "{row}");
        assert!(row["bytes"].as_u64().unwrap() > 50_000_000, "{row}");
        let restored = row["kind"] == "restore";
        let detail = row["detail"].as_str().unwrap();
        let detail: Value = serde_json::from_str(detail).unwrap_or_default();
        let is_verified = detail["code"] == "verified" && detail["args"]["conditions"] == 12;
        assert_eq!(is_verified, restored, "{row}");
    }
    // Each is due on the run's timeline, not two seconds after the threads of the one before had begun.
    let phases = place.rows(
        "x.run",
        "SELECT start_ns, end_ns FROM phase WHERE kind = 'backup' ORDER BY start_ns",
    );
    let began: Vec<u64> = phases
        .iter()
        .map(|phase| phase["start_ns"].as_u64().unwrap())
        .collect();
    assert!(
        began.len() == 2 && began[1] >= began[0] + 2_000_000_000,
        "every two seconds: {phases:?}"
    );
    for row in &rows {
        let cycle = usize::try_from(row["cycle"].as_u64().unwrap()).unwrap();
        assert!(
            row["start_ns"].as_u64().unwrap() >= began[cycle],
            "none before it is due: {row} in {phases:?}"
        );
    }
    assert!(is_empty(&place, "vault"));
    place.expect_clean();
}

#[test]
fn a_medium_that_is_full_ends_the_run_in_the_programs_own_words() {
    let place = Place::new();
    plan(&place, SMALL, "cycles = 2");
    let vault = place.path("vault");
    let mounted = crate::common::Tmpfs::mount(&vault, "1g");
    // There is room when plimsoll looks, and little when the backup is made.
    let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
    run.wait_for_message("save: loading");
    mounted.shrink("24m");
    let outcome = run
        .wait()
        .failed(1, &["save: backup 1 failed", "No space left on device"]);
    assert!(!outcome.stderr.contains("backup 2"), "{outcome:?}");
    let rows = backups(&place, "x.run");
    assert_eq!(
        (rows.len(), &rows[0]["outcome"]),
        (1, &Value::from("failed")),
        "{rows:?}"
    );
    assert!(is_empty(&place, "vault"), "what was begun has been removed");
    drop(mounted);
    place.expect_clean();
}

#[test]
fn interrupted_or_killed_nothing_is_left() {
    let place = Place::new();
    plan(&place, SMALL, "cycles = 1000");
    small_data(&place);
    let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
    run.wait_for_message("save: backup 1 took");
    run.signal(Signal::INT);
    run.wait().failed(
        1,
        &["interrupted: what was measured until then is in the run file"],
    );
    assert_eq!(backups(&place, "x.run")[0]["outcome"], "complete");
    assert!(is_empty(&place, "vault"));
    place.expect_clean();

    let mut run = place.start(&["run", "plan.toml", "-o", "dead.run"]);
    run.wait_for_message("save: restore 1 took");
    run.signal(Signal::KILL);
    assert_eq!(run.wait().code, None);
    assert!(
        !is_empty(&place, "vault") || !is_empty(&place, "medium"),
        "nobody could remove anything"
    );
    plan(&place, "engine = \"sqlite\"", "cycles = 1");
    small_data(&place);
    place
        .run(&["run", "plan.toml", "-o", "next.run"])
        .succeeded();
    assert!(is_empty(&place, "vault"));
    place.expect_clean();
    assert_eq!(processes_in(&place.path("")), []);
}

#[test]
fn a_server_that_dies_during_a_backup_is_reported() {
    let place = Place::new();
    plan(&place, SMALL, "cycles = 1000");
    small_data(&place);
    let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
    run.wait_for_message("save: backup 1 took");
    let server = wait_for("the server", || postmaster(&place.path("medium")));
    send(server, Signal::KILL);
    run.wait().failed(1, &["ended by itself", "its log: "]);
    place.opens("x.run");
    assert!(is_empty(&place, "vault"));
    place.expect_clean();
}
