//! Load from other hosts, whose places processes of this machine take.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Value;

use crate::common::server::Server;
use crate::common::{Background, Place, processes_in, send, wait_for};
use rustix::process::Signal;

/// An open loop: how much is offered does not depend on the machine.
fn plan(place: &Place, hosts: &str, from: &str, measure: u32) {
    let plan = format!(
        "title = \"Hosts\"\nseed = 7\n{hosts}\n[system.db]\nmock = {{ latency = \"2ms\" }}\n[workload.oltp.tpcc]\n\
         warehouses = 4\n[[step]]\nrun = \"oltp\"\nsystem = \"db\"\nusers = 9\nrate = 300\narrivals = \"poisson\"\n\
         ramp = \"1s\"\nmeasure = \"{measure}s\"\ncool = \"5s\"\n{from}\n"
    );
    place.write("plan.toml", &plan);
}

/// On this machine, by a command, and by a command with a path.
fn three(place: &Place) -> String {
    let program = env!("CARGO_BIN_EXE_plimsoll");
    let cache = place.path("cache");
    format!(
        "[host.near]\npatience = \"3s\"\n[host.copied]\nvia = \"env XDG_CACHE_HOME={}\"\n[host.given]\nvia = \"env\"\n\
         program = \"{program}\"\n",
        cache.display()
    )
}

const FROM: &str = "from = [\"near\", \"copied\", \"given\"]";

fn counts(json: &Value) -> &Value {
    &json["summary"]["ladders"][0]["points"][0]["overall"]["counts"]
}

pub(crate) fn events<'j>(json: &'j Value, code: &str) -> Vec<&'j Value> {
    let all = json["events"].as_array().unwrap();
    all.iter().filter(|event| event["code"] == code).collect()
}

/// The processes of workers whose command line has this, below the run's own.
pub(crate) fn workers(run: i32, serves: bool) -> Vec<i32> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<i32>() else {
            continue;
        };
        let line = fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
        let words: Vec<&str> = line.split('\0').collect();
        let is_worker = words.get(1) == Some(&"worker");
        if is_worker && words.contains(&"--serve") == serves && is_of(pid, run) {
            found.push(pid);
        }
    }
    found
}

/// Whether the run is among the process's ancestors.
fn is_of(pid: i32, run: i32) -> bool {
    let mut pid = pid;
    while pid > 1 {
        if pid == run {
            return true;
        }
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let after = stat.rsplit(')').next().unwrap_or_default();
        pid = after
            .split_whitespace()
            .nth(1)
            .map_or(0, |word| word.parse().unwrap_or(0));
    }
    false
}

#[test]
fn three_hosts_offer_what_one_does() {
    let place = Place::new();
    plan(&place, &three(&place), FROM, 3);
    place
        .run(&["run", "plan.toml", "-o", "hosts.run"])
        .succeeded();
    let hosts = place.opens("hosts.run");
    assert_eq!(
        fs::read_dir(place.path("cache/plimsoll")).unwrap().count(),
        1
    );
    fs::remove_dir_all(place.path("cache")).unwrap();
    plan(&place, "", "", 3);
    place
        .run(&["run", "plan.toml", "-o", "one.run"])
        .succeeded();
    let one = place.opens("one.run");
    let offered = |json: &Value| counts(json)["offered"].as_u64().unwrap();
    // One that is counted late is in the next second.
    assert!(
        offered(&hosts).abs_diff(offered(&one)) <= 5,
        "{} {}",
        counts(&hosts),
        counts(&one)
    );
    for key in ["host_name", "architecture", "date_ahead_ms"] {
        let facts = hosts["facts"].as_array().unwrap();
        assert_eq!(
            facts.iter().filter(|fact| fact["key"] == key).count(),
            3,
            "{key}"
        );
    }
    assert_eq!(processes_in(&place.path("")), []);
}

#[test]
fn a_link_that_is_cut_loses_no_second() {
    let place = Place::new();
    plan(&place, &three(&place), FROM, 6);
    let mut run = place.start(&["run", "plan.toml", "-o", "cut.run"]);
    run.until_measured("cut.run");
    let fronts = workers(run.pid(), false);
    assert_eq!(fronts.len(), 3, "{fronts:?}");
    fronts.iter().for_each(|front| send(*front, Signal::KILL));
    run.wait().succeeded();
    let json = place.opens("cut.run");
    assert_eq!(events(&json, "link_cut").len(), 3, "{}", json["events"]);
    let seconds = json["seconds"].as_array().map(Vec::len);
    let counts = counts(&json);
    assert!(
        counts["offered"].as_u64().unwrap() > 1_500,
        "{counts} in {seconds:?}"
    );
    assert_eq!(json["summary"]["ladders"][0]["points"][0]["complete"], true);
    fs::remove_dir_all(place.path("cache")).unwrap();
}

#[test]
fn a_worker_that_is_killed_ends_the_run_and_its_time_is_a_hole() {
    let place = Place::new();
    plan(
        &place,
        "[host.\"near[1-2]\"]\n",
        "from = [\"near[1-2]\"]",
        60,
    );
    let mut run = place.start(&["run", "plan.toml", "-o", "lost.run"]);
    run.until_measured_for("lost.run", 2);
    let sessions = workers(run.pid(), true);
    assert_eq!(sessions.len(), 2, "{sessions:?}");
    send(sessions[0], Signal::KILL);
    run.wait().failed(
        1,
        &["was lost: its worker has ended", "Its last second ended"],
    );
    let json = place.opens("lost.run");
    let lost = events(&json, "host_lost");
    assert_eq!(lost.len(), 1, "{}", json["events"]);
    let point = &json["summary"]["ladders"][0]["points"][0];
    let measured = point["measured_s"].as_f64().unwrap();
    let since = lost[0]["args"]["since_s"].as_f64().unwrap_or(f64::NAN);
    // The ramp is a second.
    assert!(
        measured >= 1.0 && (measured - (since - 1.0)).abs() < 0.1,
        "{measured} {}",
        lost[0]
    );
    let rate = point["completed_per_second"]["value"].as_f64().unwrap();
    assert!(
        (200.0..400.0).contains(&rate),
        "half of the load would be 150: {rate}"
    );
}

#[test]
fn workers_end_without_their_controller() {
    let place = Place::new();
    let hosts = "[host.\"near[1-2]\"]\npatience = \"1s\"\n";
    plan(&place, hosts, "from = [\"near[1-2]\"]", 60);
    let mut run = place.start(&["run", "plan.toml", "-o", "dead.run"]);
    run.until_measured("dead.run");
    let sessions = workers(run.pid(), true);
    assert_eq!(sessions.len(), 2);
    kill_and_wait(run, &sessions);
    assert_eq!(place.opens("dead.run")["run"]["status"], "unfinished");
}

/// With the run's workers, which end by themselves.
fn kill_and_wait(run: Background, workers: &[i32]) {
    run.signal(Signal::KILL);
    assert_eq!(run.wait().code, None);
    wait_for("the workers' end", || {
        let is_gone = |pid: &i32| !fs::exists(format!("/proc/{pid}")).unwrap();
        workers.iter().all(is_gone).then_some(())
    });
}

/// Seconds under load that a run file has.
fn seconds_of(place: &Place, run: &str) -> usize {
    let sql = "SELECT count(DISTINCT tick.start_ns) AS n FROM tick JOIN phase ON phase.id = tick.phase WHERE phase.kind <> 'cool'";
    place.rows(run, sql)[0]["n"].as_u64().unwrap() as usize
}

#[test]
fn a_killed_run_is_joined_from_the_journals_of_its_hosts() {
    let place = Place::new();
    let hosts = "[host.\"near[1-2]\"]\npatience = \"3s\"\n";
    plan(&place, hosts, "from = [\"near[1-2]\"]", 60);
    let mut run = place.start(&["run", "plan.toml", "-o", "x.plimsoll"]);
    run.until_measured_for("x.plimsoll", 2);
    place
        .run(&["join", "x.plimsoll"])
        .failed(2, &["x.plimsoll is in use: its run goes on"]);
    let sessions = workers(run.pid(), true);
    assert_eq!(sessions.len(), 2);
    kill_and_wait(run, &sessions);
    let before = seconds_of(&place, "x.plimsoll");
    let hint = "plimsoll join x.plimsoll";
    let report = place.run(&["report", "x.plimsoll"]).succeeded();
    assert!(report.stderr.contains(hint), "{report:?}");
    let list = place.run(&["list"]).succeeded();
    assert!(
        list.stderr.contains("plimsoll join ./x.plimsoll"),
        "{list:?}"
    );
    let joined = place.run(&["join", "x.plimsoll"]).succeeded();
    assert!(
        joined
            .stdout
            .contains("read from the journals of near1, near2"),
        "{joined:?}"
    );
    let json = place.opens("x.plimsoll");
    assert_eq!(json["run"]["status"], "interrupted");
    assert_eq!(json["summary"]["file"]["state"], "intact");
    let after = seconds_of(&place, "x.plimsoll");
    // Patience was three seconds, of which the last may have been cut short.
    assert!(
        (before + 2..=before + 5).contains(&after),
        "{before} {after}"
    );
    let args = &events(&json, "run_joined")[0]["args"];
    let gained = args["seconds"].as_f64().unwrap();
    assert!((gained - (after - before) as f64).abs() < 0.01, "{args}");
    let point = &json["summary"]["ladders"][0]["points"][0];
    assert_eq!(
        point["measured_s"].as_f64().unwrap().round() as usize,
        after - 1
    );
    let rate = point["completed_per_second"]["value"].as_f64().unwrap();
    assert!(
        (200.0..400.0).contains(&rate),
        "half of the load would be 150: {rate}"
    );
    // Percentiles of a joined point are not those of coarse histograms.
    let windows = "SELECT count(DISTINCT phase) AS n FROM window";
    assert_eq!(place.rows("x.plimsoll", windows)[0]["n"], 2);
    expect_no_state(&place);
    let names = fs::read_dir(place.path("")).unwrap().flatten();
    let beside = names.filter(|entry| {
        entry
            .file_name()
            .to_string_lossy()
            .starts_with("x.plimsoll")
    });
    assert_eq!(beside.count(), 1);
    place
        .run(&["join", "x.plimsoll"])
        .failed(2, &["x.plimsoll is closed"]);
}

#[test]
fn joining_waits_for_workers_that_still_run() {
    let place = Place::new();
    let hosts = "[host.\"near[1-2]\"]\npatience = \"20s\"\n";
    plan(&place, hosts, "from = [\"near[1-2]\"]", 6);
    let mut run = place.start(&["run", "plan.toml", "-o", "x.plimsoll"]);
    run.until_measured("x.plimsoll");
    run.signal(Signal::KILL);
    run.wait();
    place.run(&["join", "x.plimsoll"]).succeeded();
    let json = place.opens("x.plimsoll");
    let point = &json["summary"]["ladders"][0]["points"][0];
    assert_eq!(
        (&point["complete"], &point["measured_s"]),
        (&Value::Bool(true), &Value::from(6.0))
    );
    assert_eq!(seconds_of(&place, "x.plimsoll"), 7);
    expect_no_state(&place);
}

#[test]
fn a_run_whose_host_is_away_stays_as_it_is_until_it_is_joined() {
    let place = Place::new();
    let script = place.write("via.sh", "#!/bin/sh\nexec \"$@\"\n");
    let program = env!("CARGO_BIN_EXE_plimsoll");
    let hosts = format!(
        "[host.far]\nvia = \"sh {}\"\nprogram = \"{program}\"\npatience = \"2s\"\n",
        script.display()
    );
    plan(&place, &hosts, "from = [\"far\"]", 60);
    let mut run = place.start(&["run", "plan.toml", "-o", "x.plimsoll"]);
    run.until_measured("x.plimsoll");
    let sessions = workers(run.pid(), true);
    kill_and_wait(run, &sessions);
    place.write("via.sh", "#!/bin/sh\necho away >&2\nexit 1\n");
    place.run(&["join", "x.plimsoll"]).failed(
        1,
        &[
            "the host far cannot be reached: away",
            "The run file is as it was",
        ],
    );
    assert_eq!(place.opens("x.plimsoll")["run"]["status"], "unfinished");
    let before = seconds_of(&place, "x.plimsoll");
    place.write("via.sh", "#!/bin/sh\nexec \"$@\"\n");
    let journal = fs::read_dir(state(&place))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let kept = place.path("kept");
    fs::rename(&journal, &kept).unwrap();
    fs::copy(place.path("x.plimsoll"), place.path("y.plimsoll")).unwrap();
    // Without the journal the file's own seconds stay.
    let joined = place.run(&["join", "y.plimsoll"]).succeeded();
    assert!(
        joined
            .stdout
            .contains("far was lost: it has no journal of the point"),
        "{joined:?}"
    );
    assert_eq!(seconds_of(&place, "y.plimsoll"), before);
    expect_no_state(&place);
    fs::rename(&kept, &journal).unwrap();
    place.run(&["join", "x.plimsoll"]).succeeded();
    assert_eq!(place.opens("x.plimsoll")["run"]["status"], "interrupted");
    assert!(seconds_of(&place, "x.plimsoll") > before);
    expect_no_state(&place);
}

#[test]
fn a_host_that_cannot_be_reached_is_named_with_what_its_command_wrote() {
    let place = Place::new();
    let script = place.write(
        "no.sh",
        "#!/bin/sh\necho 'Permission denied (publickey).' >&2\nexit 255\n",
    );
    let hosts = format!("[host.far]\nvia = \"sh {}\"\n", script.display());
    plan(&place, &hosts, "from = [\"far\"]", 3);
    place.run(&["run", "plan.toml", "-o", "no.run"]).failed(
        1,
        &[
            "the host far cannot be reached: Permission denied (publickey).",
            "Try its command by hand",
        ],
    );
    place.expect_no_run("no.run");
}

/// What workers of this machine leave.
fn state(place: &Place) -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    place.path(&format!("tmp/plimsoll-{user}"))
}

/// A worker that is left removes its directory while it ends.
fn expect_no_state(place: &Place) {
    wait_for("the end of what workers keep", || {
        (fs::read_dir(state(place)).unwrap().count() == 0).then_some(())
    });
}

/// Whether a file of the directory, or below it, holds the word.
fn holds(dir: &Path, word: &str) -> bool {
    let holds_word = |bytes: Vec<u8>| {
        bytes
            .windows(word.len())
            .any(|window| window == word.as_bytes())
    };
    fs::read_dir(dir)
        .unwrap()
        .flatten()
        .any(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => holds(&entry.path(), word),
            Ok(kind) if kind.is_file() => fs::read(entry.path()).is_ok_and(holds_word),
            _ => false,
        })
}

#[test]
fn a_password_in_the_command_of_a_host_is_not_stored() {
    const SECRET: &str = "gh3im-W0rt";
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_plimsoll");
    let host = format!("[host.n]\nvia = \"env API_TOKEN={SECRET} X=1\"\nprogram = \"{program}\"\n");
    plan(&place, &host, "from = [\"n\"]", 1);
    place.run(&["run", "plan.toml", "-o", "x.run"]).succeeded();
    let bytes = fs::read(place.path("x.run")).unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains(SECRET));
    let facts = place.rows("x.run", "SELECT value FROM fact WHERE key = 'via'");
    assert_eq!(facts[0]["value"], "env API_TOKEN=*** X=1");
}

#[test]
fn a_password_of_the_environment_reaches_hosts_and_is_stored_nowhere() {
    const SECRET: &str = "gh3im-W0rt";
    let (place, servers) = (Place::new(), Place::new());
    let server = Server::start(&servers.medium());
    server.psql(&format!(
        "CREATE ROLE tester LOGIN PASSWORD '{SECRET}'; CREATE DATABASE db OWNER tester"
    ));
    server.require_passwords();
    let plan = format!(
        "title = \"Secret\"\n[host.\"bare[1-2]\"]\nvia = \"env -u PGPASSWORD\"\nprogram = \"{}\"\n[system.db]\n\
         url = \"postgres://tester@127.0.0.1:{}/db\"\n[workload.oltp.tpcc]\nwarehouses = 1\n[[step]]\nrun = \"oltp\"\n\
         system = \"db\"\nusers = 2\nramp = \"1s\"\nmeasure = \"4s\"\nfrom = [\"bare[1-2]\"]\n",
        env!("CARGO_BIN_EXE_plimsoll"),
        server.port()
    );
    place.write("plan.toml", &plan);
    place.small_data();
    let mut command = place.command(&["run", "plan.toml", "-o", "x.run"]);
    command.env("PGPASSWORD", SECRET);
    let mut run = place.start_command(command);
    run.until_measured("x.run");
    let sessions = workers(run.pid(), true);
    assert_eq!(sessions.len(), 2, "{sessions:?}");
    let file = |pid: i32, name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap();
    for pid in sessions {
        let seen = [file(pid, "environ"), file(pid, "cmdline")].concat();
        assert!(!String::from_utf8_lossy(&seen).contains(SECRET));
    }
    assert_eq!(fs::read_dir(state(&place)).unwrap().count(), 2);
    assert!(!holds(&place.path(""), SECRET), "while it runs");
    let outcome = run.wait().succeeded();
    assert!(!format!("{outcome:?}").contains(SECRET));
    assert!(!holds(&place.path(""), SECRET), "after the run");
    let json = place.opens("x.run");
    assert!(counts(&json)["committed"].as_u64().unwrap() > 0, "{json}");
}

#[test]
fn ctrl_c_ends_a_run_whose_host_does_not_answer() {
    let place = Place::new();
    // A shell that waits for what it has started: both end.
    let script = place.write("hangs.sh", "sleep 600\necho late\n");
    let hosts = format!(
        "[host.near]\n[host.far]\nvia = \"sh {}\"\n",
        script.display()
    );
    plan(&place, &hosts, "from = [\"near\", \"far\"]", 3);
    let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
    run.wait_for_message("Starting workers: near, far");
    wait_for("the host's command", || {
        let sleeps = |(_, line): &(i32, String)| line.contains("sleep 600");
        processes_in(&place.path(""))
            .iter()
            .any(sleeps)
            .then_some(())
    });
    let began = Instant::now();
    run.signal(Signal::INT);
    run.wait().failed(1, &["interrupted"]);
    let lasted = began.elapsed().as_secs();
    assert!(lasted < 8, "{lasted} s");
    assert_eq!(processes_in(&place.path("")), []);
    // A worker that has not been greeted yet ends after ten seconds.
    expect_no_state(&place);
}

#[test]
fn a_cut_is_recorded_when_the_link_is_back() {
    let place = Place::new();
    plan(&place, "[host.near]\n", "from = [\"near\"]", 60);
    let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
    run.until_measured("x.run");
    for front in workers(run.pid(), false) {
        send(front, Signal::KILL);
    }
    run.wait_for_message("The link to the host near was cut");
    let sql = "SELECT count(*) AS n FROM event WHERE code = 'link_cut'";
    wait_for("the event", || {
        (place.rows("x.run", sql)[0]["n"] == 1).then_some(())
    });
    run.signal(Signal::INT);
    run.wait().failed(1, &["interrupted"]);
    let json = place.opens("x.run");
    assert_eq!(events(&json, "link_cut").len(), 1, "{}", json["events"]);
}

#[test]
fn what_happens_to_a_part_of_a_lane_names_its_host() {
    let place = Place::new();
    plan(
        &place,
        "[host.\"near[1-2]\"]\n",
        "from = [\"near[1-2]\"]",
        2,
    );
    let text = fs::read_to_string(place.path("plan.toml")).unwrap();
    place.write(
        "plan.toml",
        &text.replace("latency = \"2ms\"", "latency = \"2ms\", fail_every = 50"),
    );
    let outcome = place.run(&["run", "plan.toml", "-o", "x.run"]).succeeded();
    assert!(
        outcome
            .stderr
            .contains("(host near2): A transaction failed"),
        "{outcome:?}"
    );
    let json = place.opens("x.run");
    let failed = events(&json, "failed");
    for host in ["near1", "near2"] {
        let own = |event: &&&Value| event["subject"].as_str().unwrap().contains(host);
        assert!(failed.iter().filter(own).count() > 0, "{failed:?}");
    }
}
