//! Plans that hosts run themselves, whose places processes of this machine take.

use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::Value;

use crate::common::{Background, Place, send};
use crate::hosts::{events, workers};

const TPCC: &str =
    "[workload.oltp.tpcc]\nwarehouses = 1\n[[step]]\nrun = \"oltp\"\nsystem = \"db\"\n";

fn plan(place: &Place, hosts: &str, text: &str) {
    let plan = format!(
        "title = \"On hosts\"\nseed = 7\non_hosts = [\"n[1-2]\"]\n[host.\"n[1-2]\"]\n{hosts}\n{text}"
    );
    place.write("plan.toml", &plan);
}

fn mock(place: &Place, measure: u32) {
    let text = format!(
        "[system.db]\nmock = {{ latency = \"2ms\" }}\n{TPCC}users = [3]\nramp = \"1s\"\nmeasure = \"{measure}s\"\n\
         cool = \"0s\"\n"
    );
    plan(place, "patience = \"3s\"", &text);
}

fn point(json: &Value) -> &Value {
    &json["summary"]["ladders"][0]["points"][0]
}

/// Where workers keep what they have not sent.
fn state_of(place: &Place) -> PathBuf {
    let all = place.path("tmp").read_dir().unwrap().flatten();
    let mut paths = all.map(|entry| entry.path());
    let is_state = |path: &PathBuf| path.to_string_lossy().contains("/plimsoll-");
    paths.find(is_state).unwrap()
}

/// Until the first host's own run file has so many measured seconds.
fn until_measured(place: &Place, run: &mut Background, seconds: u32) {
    run.wait_for_message("[1/1] oltp");
    let sessions = state_of(place).read_dir().unwrap();
    let file = sessions
        .flatten()
        .map(|session| session.path().join("run.plimsoll"));
    let file = file.into_iter().find(|file| file.exists()).unwrap();
    run.until_measured_for(file.to_str().unwrap(), seconds);
}

/// Beside the run file.
fn files(place: &Place, end: &str) -> Vec<String> {
    let all = place.path("").read_dir().unwrap().flatten();
    let names = all.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(end)).collect()
}

#[test]
fn systems_of_two_hosts_are_loaded_at_the_same_time_and_added_up() {
    let place = Place::new();
    let medium = place.medium();
    let text = format!(
        "[medium.here]\npath = \"{}\"\n[system.db]\nengine = \"sqlite\"\n{TPCC}on = [\"here\"]\nusers = [2]\nrate = 40\n\
         ramp = \"1s\"\nmeasure = \"4s\"\ncool = \"1s\"\n[[step]]\nrun = \"io\"\non = [\"here\"]\nramp = \"1s\"\n\
         measure = \"2s\"\n[workload.io.block]\nsize = \"64MiB\"\n[[workload.io.block.job]]\nname = \"r\"\nread = 100\nrandom = 100\n\
         block = \"4KiB\"\ndepth = 1\nrate = 50\n",
        medium.display()
    );
    plan(&place, "", &text);
    place
        .run(&["run", "plan.toml", "-o", "two.run"])
        .succeeded();
    let json = place.opens("two.run");
    let ladder = &json["summary"]["ladders"][0];
    assert_eq!(ladder["system"], "2 × db@here");
    assert_eq!(
        ladder["fleet"]["systems"],
        serde_json::json!(["db.n1@here", "db.n2@here"])
    );
    let own = point(&json);
    assert_eq!(own["users"], 4);
    // Twice 40 a second: what is offered does not depend on the machine.
    let offered = own["overall"]["counts"]["offered"].as_u64().unwrap();
    assert!((310..=330).contains(&offered), "{own}");
    let phases = json["phases"].as_array().unwrap();
    let starts: Vec<f64> = phases
        .iter()
        .filter(|phase| phase["kind"] == "measure" && phase["step"] == "oltp")
        .map(|phase| phase["start_s"].as_f64().unwrap())
        .collect();
    assert!((starts[0] - starts[1]).abs() < 0.05, "{starts:?}");
    let job = &json["summary"]["blocks"][0]["media"][0]["jobs"][0];
    let requests = job["points"][0]["iops"]["value"].as_f64().unwrap();
    assert!((90.0..=110.0).contains(&requests), "{job}");
    let state = state_of(&place);
    assert_eq!(state.read_dir().unwrap().count(), 0);
    place.expect_clean_but(&[&state.file_name().unwrap().to_string_lossy()]);
}

#[test]
fn a_cut_link_and_ctrl_c_lose_nothing_that_was_measured() {
    let place = Place::new();
    mock(&place, 60);
    let mut run = place.start(&["run", "plan.toml", "-o", "cut.run"]);
    until_measured(&place, &mut run, 1);
    let fronts = workers(run.pid(), false);
    assert_eq!(fronts.len(), 2, "{fronts:?}");
    fronts.iter().for_each(|front| send(*front, Signal::KILL));
    until_measured(&place, &mut run, 4);
    run.signal(Signal::INT);
    run.wait().failed(
        1,
        &["interrupted: what was measured until then is in the run file"],
    );
    let json = place.opens("cut.run");
    assert_eq!(events(&json, "link_cut").len(), 2, "{}", json["events"]);
    assert_eq!(json["run"]["status"], "interrupted");
    let measured = point(&json)["measured_s"].as_f64().unwrap();
    assert!(measured >= 2.0, "{measured}");
    assert_eq!(files(&place, ".part"), Vec::<String>::new());
}

#[test]
fn the_file_of_the_other_host_stays_where_one_is_killed() {
    let place = Place::new();
    mock(&place, 60);
    let mut run = place.start(&["run", "plan.toml", "-o", "lost.run"]);
    until_measured(&place, &mut run, 2);
    let sessions = workers(run.pid(), true);
    assert_eq!(sessions.len(), 2, "{sessions:?}");
    send(sessions[0], Signal::KILL);
    run.wait().failed(
        1,
        &[
            "it was lost: its worker has ended",
            "What another host measured: ",
        ],
    );
    let kept = files(&place, ".plimsoll");
    assert_eq!(kept.len(), 1, "{kept:?}");
    let other = place.opens(&kept[0]);
    assert_eq!(other["run"]["status"], "interrupted");
    assert!(point(&other)["measured_s"].as_f64().unwrap() >= 1.0);
}

#[test]
fn what_a_host_lacks_is_reported_with_its_name() {
    let place = Place::new();
    let text = format!(
        "[medium.far]\npath = \"/no/such/directory\"\n[system.db]\nengine = \"sqlite\"\n{TPCC}on = [\"far\"]\nusers = 1\n"
    );
    plan(&place, "", &text);
    place.run(&["run", "plan.toml", "-o", "no.run"]).failed(
        1,
        &["on n", "medium far: /no/such/directory cannot be used"],
    );
    place.expect_no_run("no.run");
}

#[test]
fn a_run_whose_plimsoll_was_killed_is_joined_from_its_hosts() {
    let place = Place::new();
    mock(&place, 60);
    let mut run = place.start(&["run", "plan.toml", "-o", "dead.run"]);
    until_measured(&place, &mut run, 3);
    run.signal(Signal::KILL);
    assert_eq!(run.wait().code, None);
    // Workers that still wait for it end now.
    place.run(&["join", "dead.run"]).succeeded();
    let json = place.opens("dead.run");
    assert_eq!(json["run"]["status"], "interrupted");
    assert_eq!(events(&json, "run_joined").len(), 1, "{}", json["events"]);
    let own = point(&json);
    assert_eq!(own["users"], 6);
    assert!(own["measured_s"].as_f64().unwrap() >= 2.0, "{own}");
    assert_eq!(state_of(&place).read_dir().unwrap().count(), 0);
    assert_eq!(files(&place, ".part"), Vec::<String>::new());
}

#[test]
fn a_cell_whose_hosts_have_more_of_it_is_joined_before_its_set_goes_on() {
    let place = Place::new();
    let text = format!(
        "[system.db]\nmock = {{ latency = \"2ms\" }}\n{TPCC}users = 1\nramp = \"1s\"\nmeasure = \"3s\"\ncool = \"0s\"\n\
         [matrix]\nstep.oltp.users = [2, 3]\n"
    );
    plan(&place, "patience = \"3s\"", &text);
    let mut run = place.start(&["run", "plan.toml", "-o", "two.set"]);
    until_measured(&place, &mut run, 1);
    run.signal(Signal::KILL);
    run.wait();
    let again = ["run", "plan.toml", "--resume", "two.set"];
    place
        .run(&again)
        .failed(2, &["hosts may have more of it", "plimsoll join"]);
    place
        .run(&["join", "two.set/001-users=2.plimsoll"])
        .succeeded();
    place.run(&again).succeeded();
    let set = place.path("two.set").read_dir().unwrap().flatten();
    let runs = set.filter(|entry| entry.path().extension().is_some_and(|it| it == "plimsoll"));
    // Both cells, and what the killed one had.
    assert_eq!(runs.count(), 3);
}
