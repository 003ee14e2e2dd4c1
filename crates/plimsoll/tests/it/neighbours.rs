//! What other systems do beside those that are measured.

use std::fs;

use crate::common::Place;
use rustix::process::Signal;
use serde_json::Value;

fn ladder<'a>(json: &'a Value, scene: &str) -> &'a Value {
    let ladders = json["summary"]["ladders"].as_array().unwrap();
    ladders
        .iter()
        .find(|ladder| ladder["scene"] == scene)
        .unwrap_or_else(|| panic!("no ladder {scene}: {ladders:?}"))
}

fn rates(ladder: &Value) -> Vec<f64> {
    let points = ladder["points"].as_array().unwrap().iter();
    points
        .map(|point| point["completed_per_second"]["value"].as_f64().unwrap())
        .collect()
}

const MOCK: &str = "title = \"Noise\"\n[system.db]\ncount = 2\nmock = { latency = \"2ms\" }\n[system.loud]\nmock = { latency \
    = \"1ms\" }\n[workload.oltp.tpcc]\nwarehouses = 1\n[[step]]\nrun = \"oltp\"\nsystem = \"db\"\nusers = [1, 4]\nramp = \
    \"1s\"\nmeasure = \"10s\"\nrepeat = 2\nnoise = [{ run = \"oltp\", system = \"loud\", users = 3 }]\n";

#[test]
fn each_load_is_measured_without_noise_and_with_it() {
    let place = Place::new();
    place.write("plan.toml", MOCK);
    let outcome = place
        .run(&["run", "plan.toml", "-o", "x.run", "--virtual-time"])
        .succeeded();
    assert!(
        outcome
            .stderr
            .contains("[8/8] oltp · 4 users · repeat 2 · with noise"),
        "{outcome:?}"
    );
    let json = place.opens("x.run");
    for scene in ["quiet", "noisy"] {
        // Two systems with 2 ms each; the neighbour's transactions are in no sum.
        assert_eq!(
            rates(ladder(&json, scene)),
            [1000.0, 1000.0, 4000.0, 4000.0],
            "{scene}"
        );
    }
    let points = place.rows("x.run", "SELECT * FROM point");
    let noise: Vec<&Value> = points
        .iter()
        .filter(|point| point["purpose"] == "noise")
        .collect();
    assert_eq!(noise.len(), 4, "one for each point with noise");
    assert!(
        noise
            .iter()
            .all(|point| point["users"] == 3 && point["scene"] == "noisy"),
        "{noise:?}"
    );
    assert_eq!(points.len(), 2 * 8 + 4);
}

/// Two embedded systems, and one that is saved every second while they work.
fn saving(place: &Place, measure: &str, more: &str) {
    let (data, vault) = (place.medium(), place.path("vault"));
    fs::create_dir_all(&vault).unwrap();
    place.write(
        "plan.toml",
        &format!(
            "title = \"Noise\"\n[medium.here]\npath = {data:?}\n[medium.vault]\npath = {vault:?}\n[system.db]\nengine = \
             \"sqlite\"\ncount = 2\n[system.neighbour]\nengine = \"sqlite\"\n[workload.oltp.tpcc]\nwarehouses = 1\n\
             [workload.save.backup]\ndata = \"oltp\"\n[[step]]\nrun = \"oltp\"\nsystem = \"db\"\non = [\"here\"]\nusers = \
             1\nramp = \"1s\"\nmeasure = \"{measure}\"\ncheck = \"end_of_step\"\nnoise = [{{ run = \"save\", system = \
             \"neighbour\", to = \"vault\", {more} }}]\n"
        ),
    );
}

#[test]
fn backups_of_a_neighbour_begin_with_the_measurement_and_none_after_it() {
    let place = Place::new();
    saving(&place, "4s", "every = \"1s\"");
    place.small_data();
    place.run(&["run", "plan.toml", "-o", "x.run"]).succeeded();
    place.opens("x.run");
    let rows = place.rows("x.run", "SELECT * FROM backup ORDER BY cycle");
    assert!(
        (1..=4).contains(&rows.len()),
        "one a second, or fewer where one takes longer: {rows:?}"
    );
    let measured = "SELECT phase.* FROM phase JOIN point ON phase.point = point.id
                    WHERE scene = 'noisy' AND phase.kind = 'measure' ORDER BY phase.point";
    let measure = &place.rows("x.run", measured)[0];
    let of = |row: &Value, key: &str| row[key].as_u64().unwrap();
    let [start, end] = ["start_ns", "end_ns"].map(|at| of(measure, at));
    for row in &rows {
        assert_eq!(
            (&row["kind"], &row["point"]),
            (&Value::from("backup"), &measure["point"]),
            "and is not restored"
        );
        let due = start + of(row, "cycle") * 1_000_000_000;
        assert!(
            of(row, "start_ns") >= due,
            "none before it is due: {row} in {measure}"
        );
        assert_eq!(row["outcome"], "complete");
    }
    // A backup is only begun while the measurement lasts, which may end just then; the one before it had ended earlier.
    for pair in rows.windows(2) {
        let ended = of(&pair[0], "end_ns");
        assert!(
            ended < end && ended <= of(&pair[1], "start_ns"),
            "{pair:?} in {measure}"
        );
    }
    assert!(fs::read_dir(place.path("vault")).unwrap().next().is_none());
    place.expect_clean();
}

#[test]
fn interrupted_the_backups_end_as_well() {
    let place = Place::new();
    saving(&place, "10m", "cycles = 1000");
    place.small_data();
    // The point without noise comes first: nobody waits ten minutes for its end. Repeats keep the run going meanwhile.
    let text = fs::read_to_string(place.path("plan.toml")).unwrap();
    place.write(
        "plan.toml",
        &text.replace("measure = \"10m\"", "measure = \"3s\"\nrepeat = 5"),
    );
    let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
    run.wait_for_message("without noise · db-1 · measured 3s");
    run.signal(Signal::INT);
    run.wait().failed(
        1,
        &["interrupted: what was measured until then is in the run file"],
    );
    let json = place.opens("x.run");
    assert_eq!(json["run"]["status"], "interrupted");
    assert!(fs::read_dir(place.path("vault")).unwrap().next().is_none());
    place.expect_clean();
}

#[test]
fn noise_that_fails_ends_the_run_when_the_others_have_finished() {
    let place = Place::new();
    saving(&place, "3s", "cycles = 2");
    let vault = place.path("vault");
    let mounted = crate::common::Tmpfs::mount(&vault, "400m");
    let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
    run.wait_for_message("without noise");
    mounted.shrink("20m");
    let outcome = run.wait();
    drop(mounted);
    outcome.failed(1, &["backup 1 failed"]);
    let json = place.opens("x.run");
    assert_eq!(
        place.rows("x.run", "SELECT * FROM backup")[0]["outcome"],
        "failed"
    );
    let noisy = ladder(&json, "noisy");
    assert_eq!(
        noisy["points"][0]["complete"], true,
        "those that are measured came to their end"
    );
    place.expect_clean();
}
