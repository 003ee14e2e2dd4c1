//! Systems that are limited like smaller machines, by the kernel's control groups.

use std::fs;
use std::path::PathBuf;

use crate::common::{Place, postmaster, send};
use rustix::process::Signal;

const STEP: &str = "users = [2]\nramp = \"1s\"\nmeasure = \"4s\"";

fn limited(place: &Place, limits: &str, settings: &str, step: &str) {
    place.write(
        "plan.toml",
        &format!(
            "title = \"Test\"\n[medium.here]\npath = {:?}\n[system.db]\nengine = \"postgres\"\nlimits = {{ {limits} }}\n\
             settings = {{ {settings} }}\n[workload.oltp.tpcc]\nwarehouses = 1\n[[step]]\nrun = \"oltp\"\nsystem = \"db\"\n\
             {step}\n",
            place.medium()
        ),
    );
}

/// Control groups of the process with that number.
fn groups_of(pid: i32) -> Vec<PathBuf> {
    let below = |dir: PathBuf| {
        fs::read_dir(dir)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
    };
    let named = |path: &PathBuf| {
        path.file_name().is_some_and(|name| {
            name.to_string_lossy()
                .starts_with(&format!("plimsoll-{pid}-"))
        })
    };
    // Trees of version 1 lie side by side, and this process may be deep in one.
    let mut dirs: Vec<PathBuf> = vec!["/sys/fs/cgroup".into()];
    let mut found = Vec::new();
    while let Some(dir) = dirs.pop() {
        let entries: Vec<PathBuf> = below(dir).filter(|path| path.is_dir()).collect();
        found.extend(entries.iter().filter(|path| named(path)).cloned());
        dirs.extend(entries);
    }
    found
}

#[test]
fn a_server_keeps_to_its_limits() {
    let place = Place::new();
    limited(
        &place,
        "cpus = 0.5, memory = \"256MiB\"",
        "shared_buffers = \"64MB\"",
        STEP,
    );
    place.small_data();
    let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
    run.wait_for_message("measure for 4s");
    let groups = groups_of(run.pid());
    assert!(!groups.is_empty());
    run.wait().succeeded();
    let json = place.opens("x.run");
    let facts = json["facts"].to_string();
    assert!(
        facts.contains("limit.memory") && facts.contains("268435456"),
        "{facts}"
    );
    assert!(
        facts.contains("limit.cpu") && facts.contains("50000"),
        "{facts}"
    );
    let series = place
        .run(&["export", "x.run", "--to", "csv", "--table", "series"])
        .succeeded()
        .stdout;
    let cpu: Vec<f64> = series
        .lines()
        .filter(|line| line.contains("db@here") && line.contains(",system_cpu,"))
        .filter_map(|line| line.rsplit(',').next()?.parse().ok())
        .collect();
    assert!(!cpu.is_empty(), "{series}");
    let mean = cpu.iter().sum::<f64>() / cpu.len() as f64;
    assert!(
        mean < 75.0,
        "half a CPU, and a period more in single seconds: {cpu:?}"
    );
    assert!(groups.iter().all(|group| !group.exists()), "{groups:?}");
    place.expect_clean();
}

#[test]
fn limits_of_io_are_tried_out_where_the_data_will_be() {
    let place = Place::new();
    let limits = "write_bytes = \"60MiB\", reads = 5000";
    limited(
        &place,
        limits,
        "fsync = \"off\"",
        "users = [1]\nramp = \"1s\"\nmeasure = \"1s\"",
    );
    place.small_data();
    let outcome = place.run(&["run", "plan.toml", "-o", "x.run"]);
    // A directory on no disk of its own, as in some containers, or a kernel without such limits: that is reported, and no
    // server is started without them.
    if outcome.code == Some(0) {
        let facts = place.opens("x.run")["facts"].to_string();
        assert!(
            facts.contains("62914560") && facts.contains("5000"),
            "{facts}"
        );
    } else {
        outcome.failed(1, &["system db: ", "limit"]);
    }
    place.expect_clean();
}

#[test]
fn a_server_short_of_memory_is_reported() {
    let place = Place::new();
    limited(
        &place,
        "memory = \"128MiB\"",
        "shared_buffers = \"1GB\", huge_pages = \"off\"",
        STEP,
    );
    place.run(&["run", "plan.toml", "-o", "x.run"]).failed(
        1,
        &[
            "the memory that the plan allows was used up (",
            "Raise `limits.memory`",
        ],
    );
    place.expect_no_run("x.run");
    place.expect_clean();
}

#[test]
fn groups_of_a_killed_run_are_cleared_by_the_next() {
    let place = Place::new();
    limited(
        &place,
        "cpus = 1.0",
        "fsync = \"off\"",
        "users = [1]\nramp = \"1s\"\nmeasure = \"60s\"",
    );
    place.small_data();
    let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
    run.wait_for_message("measure for 1m");
    let (pid, groups) = (run.pid(), groups_of(run.pid()));
    assert!(!groups.is_empty() && postmaster(&place.path("")).is_some());
    send(pid, Signal::KILL);
    run.wait();
    assert!(
        groups.iter().all(|group| group.exists()),
        "nobody has cleared them yet"
    );
    limited(
        &place,
        "cpus = 1.0",
        "fsync = \"off\"",
        "users = [1]\nramp = \"1s\"\nmeasure = \"1s\"",
    );
    place.small_data();
    place.run(&["run", "plan.toml", "-o", "y.run"]).succeeded();
    assert!(groups.iter().all(|group| !group.exists()), "{groups:?}");
    place.expect_clean();
}
