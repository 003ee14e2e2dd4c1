//! SQLite: a database broken by hand, and a run file that cannot grow.

use std::fs;
use std::path::Path;

use crate::common::server::Mount;
use crate::common::{Place, wait_for};
use plimsoll_load::engine::LoadControl;
use plimsoll_load::engine::sqlite;
use plimsoll_plan::resolved::{Home, Tpcc, TxnMode};

fn database(path: &Path) {
    let tpcc = Tpcc {
        warehouses: 1,
        mode: TxnMode::Statements,
        home: Home::Fixed,
    };
    sqlite::load(path, &tpcc, 1, &Default::default(), &LoadControl::default()).unwrap();
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

#[test]
fn a_run_file_that_cannot_grow() {
    let place = Place::new();
    let text = "title = \"t\"\n[system.db]\nengine = \"mock\"\n[workload.w.tpcc]\nwarehouses = 1\n[[step]]\nrun = \"w\"\n\
                system = \"db\"\nusers = 1\nramp = \"1s\"\nmeasure = \"60s\"\n";
    place.write("plan.toml", text);
    if let Some(_mount) = Mount::tmpfs(&place.medium(), "size=1m,mode=755") {
        let mut run = place.start(&["run", "plan.toml", "-o", "medium/x.run"]);
        run.wait_for_message("measure");
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
