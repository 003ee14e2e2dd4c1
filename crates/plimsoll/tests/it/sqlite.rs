//! SQLite from plan to report, a database broken by hand, and a medium that fills up.

use std::fs;
use std::path::Path;

use crate::common::server::Mount;
use crate::common::{Place, wait_for, worked};
use plimsoll_load::engine::LoadControl;
use plimsoll_load::engine::sqlite;
use plimsoll_plan::resolved::{Home, Tpcc, TxnMode};

const SHORT: &str = "users = [1, 2]\nramp = \"1s\"\nmeasure = \"2s\"";

fn database(path: &Path) {
    let tpcc = Tpcc {
        warehouses: 1,
        mode: TxnMode::Statements,
        home: Home::Fixed,
    };
    sqlite::load(path, &tpcc, 1, &Default::default(), &LoadControl::default()).unwrap();
}

#[test]
fn a_run_from_plan_to_report() {
    let place = Place::new();
    place.plan("sqlite", SHORT);
    let (outcome, json) = place.run_until(worked);
    let outcome = outcome.succeeded();
    assert!(
        outcome.stdout.contains("24 verified, all hold"),
        "{outcome:?}"
    );
    assert!(
        outcome.stderr.contains("starting db@here") && outcome.stderr.contains("oltp: loading"),
        "{outcome:?}"
    );
    assert_eq!(
        (&json["run"]["status"], &json["run"]["failure"]),
        (&"complete".into(), &serde_json::Value::Null)
    );
    let points = json["summary"]["ladders"][0]["points"].as_array().unwrap();
    assert_eq!(
        points
            .iter()
            .map(|point| point["users"].as_u64().unwrap())
            .collect::<Vec<_>>(),
        [1, 2]
    );
    for point in points {
        assert!(
            point["nopm"].as_f64().unwrap() > 0.0 && point["complete"] == true,
            "{point}"
        );
        assert_eq!(point["overall"]["counts"]["failed"], 0);
    }
    assert_eq!(json["checks"].as_array().unwrap().len(), 24);
    assert!(
        !json["events"].to_string().contains("unreadable"),
        "{}",
        json["events"]
    );
    place.expect_clean();
}

#[test]
fn a_broken_database_is_found_out() {
    let place = Place::new();
    let path = place.path("tpcc.db");
    database(&path);
    let sound = place.run(&["check", "tpcc.db"]).succeeded();
    assert_eq!(sound.stdout.matches(" holds ").count(), 12, "{sound:?}");
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute(
        "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = 1 AND d_id = 7",
        [],
    )
    .unwrap();
    drop(db);
    let before = fs::read(&path).unwrap();
    let broken = place.run(&["check", "tpcc.db"]);
    assert!(
        broken.stdout.contains("3.3.2.2   FAILS") && broken.stdout.contains('7'),
        "{broken:?}"
    );
    broken.failed(
        1,
        &[
            "of 12 consistency conditions do not hold",
            "Do not quote figures",
        ],
    );
    assert_eq!(before, fs::read(&path).unwrap(), "nothing is written to it");
    let json: serde_json::Value =
        serde_json::from_str(&place.run(&["check", "tpcc.db", "--format", "json"]).stdout).unwrap();
    let failing = json
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["holds"] == false)
        .unwrap();
    assert_eq!(failing["clause"], "3.3.2.2");
    let csv = place.run(&["check", "tpcc.db", "--format", "csv"]).stdout;
    assert_eq!(csv.lines().count(), 13);
    assert!(csv.contains("3.3.2.2,false,"), "{csv}");
}

#[test]
fn a_database_without_the_tables() {
    let place = Place::new();
    rusqlite::Connection::open(place.path("other.db"))
        .unwrap()
        .execute("CREATE TABLE t (a)", [])
        .unwrap();
    place.run(&["check", "other.db"]).failed(
        1,
        &["TPC-C data in other.db was not found", "`plimsoll run`"],
    );
    place.write("text", "no database");
    place
        .run(&["check", "text"])
        .failed(1, &["TPC-C data in text was not found"]);
}

/// Space that the plan needs is there when it begins, and taken by somebody else while data are loaded.
#[test]
fn a_disk_that_fills_up_while_loading() {
    let place = Place::new();
    let Some(_mount) = Mount::tmpfs(&place.medium(), "size=400m,mode=755") else {
        // Only root may mount, and filling the tester's own disk is no alternative: a quota stands in for it.
        return full_by_limit(&place);
    };
    place.plan("sqlite", SHORT);
    let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
    run.until_it_says("oltp: loading");
    let filler = place.medium().join("filler");
    let mut file = fs::File::create(&filler).unwrap();
    // Until the file system has no page left.
    while std::io::Write::write(&mut file, &[1; 65536]).is_ok() {}
    let outcome = run.wait();
    outcome.failed(
        1,
        &[
            "no space left on",
            "medium/.plimsoll/",
            "Free space there",
            "--data-scale",
        ],
    );
    fs::remove_file(&filler).unwrap();
    place.expect_clean();
    let json = place.opens("x.run");
    assert_eq!(json["run"]["status"], "failed");
    assert!(
        json["run"]["failure"]
            .as_str()
            .unwrap()
            .contains("no space left")
    );
}

fn full_by_limit(place: &Place) {
    place.plan("sqlite", SHORT);
    let mut command = std::process::Command::new("sh");
    let plimsoll = env!("CARGO_BIN_EXE_plimsoll");
    command.args([
        "-c",
        "ulimit -f 40000; trap '' XFSZ; exec \"$0\" run plan.toml -o x.run",
        plimsoll,
    ]);
    command
        .current_dir(place.path(""))
        .env("TMPDIR", place.path("tmp"));
    let outcome = place.start_command(command).wait();
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    place.expect_clean();
    place.opens("x.run");
}

#[test]
fn a_run_file_that_cannot_grow() {
    let place = Place::new();
    let text = "title = \"t\"\n[system.db]\nengine = \"mock\"\n[workload.w.tpcc]\nwarehouses = 1\n[[step]]\nrun = \"w\"\n\
                system = \"db\"\nusers = 1\nramp = \"1s\"\nmeasure = \"60s\"\n";
    place.write("plan.toml", text);
    if let Some(_mount) = Mount::tmpfs(&place.medium(), "size=1m,mode=755") {
        let mut run = place.start(&["run", "plan.toml", "-o", "medium/x.run"]);
        run.until_it_says("measure");
        let mut file = fs::File::create(place.medium().join("filler")).unwrap();
        while std::io::Write::write(&mut file, &[1; 4096]).is_ok() {}
        let outcome = run.wait();
        outcome.failed(1, &["the run file medium/x.run cannot be written", "full"]);
        wait_for("space", || {
            fs::remove_file(place.medium().join("filler")).ok()
        });
        assert_eq!(place.export("medium/x.run")["run"]["status"], "unfinished");
    } else {
        // Only root may mount: a limit on the size of files stands in for the full disk.
        let mut command = std::process::Command::new("bash");
        let script = "ulimit -f 200; trap '' XFSZ; exec \"$0\" run plan.toml -o x.run";
        command
            .args(["-c", script, env!("CARGO_BIN_EXE_plimsoll")])
            .current_dir(place.path(""));
        place
            .start_command(command)
            .wait()
            .failed(1, &["the run file x.run cannot be written"]);
    }
}
