//! Ctrl-C once, twice, and while data are loaded. What an interrupted run ends with: exit code 1, status interrupted.

use std::time::Duration;

use crate::common::Place;
use rustix::process::Signal;

fn mock(place: &Place, latency: &str) {
    let plan = "title = \"Mock\"\n[system.db.mock]\nlatency = \"LATENCY\"\n[workload.oltp.tpcc]\nwarehouses = 1\n[[step]]\n\
                run = \"oltp\"\nsystem = \"db\"\nusers = [2, 4]\nramp = \"1s\"\nmeasure = \"10m\"\n\
                cool = \"10m\"\n";
    place.write("plan.toml", &plan.replace("LATENCY", latency));
}

#[test]
fn once_closes_the_phase_and_keeps_what_was_measured() {
    for signal in [Signal::INT, Signal::TERM] {
        let place = Place::new();
        mock(&place, "5ms");
        let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
        run.until_measured("x.run");
        run.signal(signal);
        let outcome = run.wait();
        assert!(
            outcome.stdout.contains("NOPM"),
            "the table of what there is: {outcome:?}"
        );
        outcome.failed(
            1,
            &[
                "interrupted: what was measured until then is in the run file",
                "Run file: x.run",
            ],
        );
        let json = place.opens("x.run");
        assert_eq!(json["run"]["status"], "interrupted");
        let point = &json["summary"]["ladders"][0]["points"][0];
        assert!(
            point["measured_s"].as_f64().unwrap() >= 1.0 && point["complete"] == false,
            "{point}"
        );
        let counts = &point["overall"]["counts"];
        let n = |name: &str| counts[name].as_u64().unwrap();
        assert_eq!(n("failed"), 0, "transactions under way completed: {counts}");
        assert!(n("committed") > 0, "{counts}");
        // Of either user one may be under way at the beginning or at the end of the phase.
        let settled = n("committed") + n("rolled_back");
        assert!(n("offered").abs_diff(settled) <= 2, "{counts}");
        let phases = json["phases"].as_array().unwrap();
        let measure = phases
            .iter()
            .find(|phase| phase["kind"] == "measure")
            .unwrap();
        assert_eq!(measure["complete"], false, "{measure}");
    }
}

#[test]
fn the_first_reports_how_to_stop_at_once_and_the_second_does() {
    let place = Place::new();
    // A transaction that takes longer than anybody waits.
    mock(&place, "60m");
    let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
    run.wait_for_message("· measure for 10m");
    run.signal(Signal::INT);
    run.wait_for_message("Ctrl-C again");
    run.signal(Signal::INT);
    run.wait().failed(1, &["interrupted"]);
    let json = place.opens("x.run");
    assert_eq!(json["run"]["status"], "interrupted");
}

#[test]
fn while_loading_nothing_is_left() {
    for engine in ["sqlite", "postgres"] {
        let place = Place::new();
        let path = place.plan(engine, "users = 1\nramp = \"1s\"\nmeasure = \"5s\"");
        let text = std::fs::read_to_string(&path).unwrap();
        place.write(
            "plan.toml",
            &text.replace("warehouses = 1", "warehouses = 20"),
        );
        let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
        run.wait_for_message("oltp: loading");
        std::thread::sleep(Duration::from_secs(1));
        run.signal(Signal::INT);
        run.wait().failed(1, &["interrupted"]);
        place.expect_clean();
        assert_eq!(place.opens("x.run")["run"]["status"], "interrupted");
        // The time is no proof that loading was interrupted: a fast machine loads all of it in less.
        let loads = place.rows("x.run", "SELECT complete FROM phase WHERE kind = 'prepare'");
        assert!(
            loads.len() == 1 && loads[0]["complete"] == 0,
            "{engine}: not loaded to the end: {loads:?}"
        );
    }
}

#[test]
fn while_a_server_starts() {
    let place = Place::new();
    place.plan("postgres", "users = 1\nramp = \"1s\"\nmeasure = \"5s\"");
    let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
    run.wait_for_message("starting db@here");
    run.signal(Signal::INT);
    run.wait().failed(1, &["interrupted"]);
    place.expect_clean();
}
