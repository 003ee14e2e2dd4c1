//! Hosts that lose what their worker keeps, and hosts that do not answer while a run is to end.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use rustix::process::Signal;
use serde_json::Value;

use crate::common::{Place, send, wait_for};
use crate::hosts::{events, workers};

/// A lane that two hosts share, or a plan that both run.
fn plan(place: &Place, top: &str, from: &str, system: &str, step: &str) {
    let text = format!(
        "title = \"Lost\"\nseed = 7\n{top}\n[host.\"n[1-2]\"]\nvia = \"sh {}\"\nprogram = \"{}\"\n[system.db]\nmock = {{ {system} }}\n\
         [workload.oltp.tpcc]\nwarehouses = 4\n[[step]]\nrun = \"oltp\"\nsystem = \"db\"\n{step}\n{from}\n",
        script(place).display(),
        env!("CARGO_BIN_EXE_plimsoll"),
    );
    place.write("plan.toml", &text);
}

/// Reaches no host while the file `away` is there.
fn script(place: &Place) -> PathBuf {
    let text = format!(
        "[ ! -e {} ] || exit 1\nexec \"$@\"\n",
        place.path("away").display()
    );
    place.write("via.sh", &text)
}

const ON_HOSTS: &str = "on_hosts = [\"n[1-2]\"]";
const QUICK: &str = "latency = \"2ms\"";

/// What the worker of this process keeps.
fn state_of(place: &Place, session: i32) -> PathBuf {
    let line = fs::read_to_string(format!("/proc/{session}/cmdline")).unwrap();
    let session = line.split('\0').nth(3).unwrap();
    let user = rustix::process::geteuid().as_raw();
    place.path(&format!("tmp/plimsoll-{user}/{session}"))
}

/// The host begins anew: its worker is gone, and what it kept.
fn lose(place: &Place, session: i32) {
    fs::remove_dir_all(state_of(place, session)).unwrap();
    send(session, Signal::KILL);
}

/// The sessions of the first host and of the second.
fn sessions(place: &Place, run: i32) -> [i32; 2] {
    let mut found = workers(run, true);
    assert_eq!(found.len(), 2, "{found:?}");
    found.sort_by_key(|session| state_of(place, *session));
    [found[0], found[1]]
}

#[test]
fn a_host_that_lost_its_session_is_lost_and_its_load_is_not_begun_again() {
    let place = Place::new();
    let step = "users = 9\nrate = 300\nramp = \"1s\"\nmeasure = \"60s\"";
    plan(&place, "", "from = [\"n[1-2]\"]", QUICK, step);
    let mut run = place.start(&["run", "plan.toml", "-o", "lost.run"]);
    run.until_measured_for("lost.run", 2);
    let [first, _] = sessions(&place, run.pid());
    lose(&place, first);
    run.wait()
        .failed(1, &["the host n1 was lost: its session is gone"]);
    let json = place.opens("lost.run");
    let lost = events(&json, "host_lost");
    assert_eq!(lost.len(), 1, "{}", json["events"]);
    let point = &json["summary"]["ladders"][0]["points"][0];
    let since = lost[0]["args"]["since_s"].as_f64().unwrap_or(f64::NAN);
    let measured = point["measured_s"].as_f64().unwrap();
    // The ramp is a second.
    assert!(
        (measured - (since - 1.0)).abs() < 0.1,
        "{point} {}",
        lost[0]
    );
    let rate = point["completed_per_second"]["value"].as_f64().unwrap();
    assert!(
        (200.0..400.0).contains(&rate),
        "half of the load would be 150: {rate}"
    );
}

#[test]
fn a_host_that_lost_its_session_ends_the_plan_that_it_ran() {
    let place = Place::new();
    let step = "users = [3]\nramp = \"1s\"\nmeasure = \"60s\"\ncool = \"0s\"";
    plan(&place, ON_HOSTS, "", QUICK, step);
    let mut run = place.start(&["run", "plan.toml", "-o", "lost.run"]);
    run.wait_for_message("[1/1] oltp");
    let [first, second] = sessions(&place, run.pid());
    let file = state_of(&place, second).join("run.plimsoll");
    run.until_measured_for(file.to_str().unwrap(), 2);
    lose(&place, first);
    run.wait().failed(
        1,
        &[
            "on n1: it was lost: its session is gone",
            "What another host measured: ",
        ],
    );
}

#[test]
fn a_second_ctrl_c_does_not_wait_for_a_host_that_does_not_answer() {
    let place = Place::new();
    let step = "users = 9\nrate = 300\nramp = \"1s\"\nmeasure = \"60s\"";
    plan(&place, "", "from = [\"n[1-2]\"]", QUICK, step);
    let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
    run.until_measured("x.run");
    let [first, _] = sessions(&place, run.pid());
    send(first, Signal::STOP);
    place.write("away", "");
    for front in workers(run.pid(), false) {
        send(front, Signal::KILL);
    }
    let began = Instant::now();
    run.signal(Signal::INT);
    run.wait_for_message("press Ctrl-C again");
    run.signal(Signal::TERM);
    run.wait().failed(1, &["interrupted"]);
    // Its patience is a minute.
    let lasted = began.elapsed().as_secs();
    assert!(lasted < 30, "{lasted} s");
    send(first, Signal::KILL);
    let json = place.opens("x.run");
    let point = &json["summary"]["ladders"][0]["points"][0];
    assert!(point["measured_s"].as_f64().unwrap() >= 1.0, "{point}");
}

#[test]
fn ctrl_c_ends_the_joining_of_a_plan_whose_hosts_go_on() {
    let place = Place::new();
    // What is under way is waited for.
    let step = "users = [3]\nramp = \"0s\"\nmeasure = \"60s\"\ncool = \"40s\"";
    plan(&place, ON_HOSTS, "", "latency = \"600s\"", step);
    let mut run = place.start(&["run", "plan.toml", "-o", "dead.run"]);
    run.wait_for_message("[1/1] oltp");
    let sessions = sessions(&place, run.pid());
    let file = state_of(&place, sessions[0]).join("run.plimsoll");
    let sql = "SELECT count(*) AS n FROM tick";
    wait_for("a second", || {
        let ticks = place.rows(file.to_str().unwrap(), sql)[0]["n"].as_u64();
        (ticks > Some(0)).then_some(())
    });
    run.signal(Signal::KILL);
    run.wait();
    let mut join = place.start(&["join", "dead.run"]);
    join.wait_for_message("Reading journals: n1, n2");
    // Reached, they are ordered to close.
    for session in sessions {
        let journal = state_of(&place, session).join("run.plimsoll");
        let sql = "SELECT count(*) AS n FROM phase WHERE kind = 'cool'";
        wait_for("the order", || {
            let cools = place.rows(journal.to_str().unwrap(), sql)[0]["n"].as_u64();
            (cools > Some(0)).then_some(())
        });
    }
    join.signal(Signal::INT);
    join.wait()
        .failed(1, &["interrupted: the run file is as it was"]);
    assert_eq!(place.opens("dead.run")["run"]["status"], "unfinished");
    for session in sessions {
        assert!(state_of(&place, session).join("journal").exists());
        send(session, Signal::KILL);
    }
}

#[test]
fn a_meeting_waits_for_a_host_whose_link_is_cut_just_then() {
    let place = Place::new();
    let step = "users = [3, 4]\nramp = \"1s\"\nmeasure = \"2s\"\ncool = \"0s\"";
    plan(&place, ON_HOSTS, "", QUICK, step);
    let mut run = place.start(&["run", "plan.toml", "-o", "met.run"]);
    run.wait_for_message("[1/2] oltp");
    let [first, second] = sessions(&place, run.pid());
    let has_met = |session: i32| {
        let journal = fs::read(state_of(&place, session).join("journal")).unwrap();
        String::from_utf8_lossy(&journal).contains("\"meeting\":{\"number\":1")
    };
    let file = state_of(&place, second).join("run.plimsoll");
    run.until_measured_for(file.to_str().unwrap(), 1);
    send(first, Signal::STOP);
    wait_for("the second host", || has_met(second).then_some(()));
    place.write("away", "");
    let fronts = workers(run.pid(), false);
    fronts.iter().for_each(|front| send(*front, Signal::KILL));
    send(first, Signal::CONT);
    wait_for("the first host", || has_met(first).then_some(()));
    fs::remove_file(place.path("away")).unwrap();
    run.wait().succeeded();
    let json = place.opens("met.run");
    assert_eq!(events(&json, "link_cut").len(), 2, "{}", json["events"]);
    let points = &json["summary"]["ladders"][0]["points"];
    assert_eq!(points[1]["complete"], Value::Bool(true), "{points}");
}
