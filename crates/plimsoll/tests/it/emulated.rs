//! Plans on emulated drives: what is recorded, power cuts, an emulator that dies, a machine without FUSE.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::common::{Outcome, Place, processes_in, send, wait_for};
use rustix::process::Signal;
use serde_json::Value;

const SHORT: &str = "users = [2]\nramp = \"1s\"\nmeasure = \"2s\"";

/// A plan whose medium is emulated; `drive` are its keys beside the path.
fn plan(place: &Place, engine: &str, drive: &str, step: &str) {
    let medium = place.medium();
    place.plan(engine, step);
    let text = fs::read_to_string(place.path("plan.toml")).unwrap();
    let path = format!("path = {medium:?}\n");
    assert!(text.contains(&path));
    place.write(
        "plan.toml",
        &format!(
            "emulate = true\n{}",
            text.replace(&path, &format!("{path}{drive}\n"))
        ),
    );
}

/// No mount, no loop device and no emulator of this place is left.
fn nothing_is_mounted(place: &Place) {
    let below = place.path("").display().to_string();
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let left: Vec<&str> = mounts
        .lines()
        .filter(|line| line.contains(&below))
        .collect();
    assert_eq!(left, [""; 0]);
    for device in fs::read_dir("/sys/block").unwrap().flatten() {
        let backing =
            fs::read_to_string(device.path().join("loop/backing_file")).unwrap_or_default();
        assert!(
            !backing.contains(&below),
            "{} holds {backing}",
            device.path().display()
        );
    }
    place.expect_clean();
}

fn point(json: &Value) -> &Value {
    &json["summary"]["ladders"][0]["points"][0]
}

/// What the drive did of one kind.
fn ops<'a>(json: &'a Value, kind: &str) -> &'a Value {
    let mut kinds = point(json)["drive"]["ops"].as_array().into_iter().flatten();
    kinds.find(|of| of["op"] == kind).unwrap_or(&Value::Null)
}

/// What clients saw committed, by type, before the power was cut.
fn receipts(json: &Value) -> &[Value] {
    point(json)["power_cut"]["receipts"]
        .as_array()
        .map_or(&[], Vec::as_slice)
}

/// Enough was committed before the power cut to lose some of it.
fn enough_to_lose(json: &Value) -> bool {
    let receipts = receipts(json);
    !receipts.is_empty()
        && receipts
            .iter()
            .all(|receipt| receipt["acknowledged"].as_u64() > Some(10))
}

fn emulator(place: &Place) -> i32 {
    wait_for("the emulator", || {
        processes_in(&place.path(""))
            .into_iter()
            .find(|(_, line)| line.contains("--control"))
            .map(|(pid, _)| pid)
    })
}

#[test]
fn a_run_on_an_emulated_drive_records_what_the_drive_did() {
    let place = Place::new();
    plan(
        &place,
        "sqlite",
        "drive = \"kingston-dc500m-960g\"\ncapacity = \"2GiB\"\nspeed = \"full\"",
        SHORT,
    );
    place.small_data();
    let (outcome, json) = place.run_until(|json| {
        ["write", "flush"]
            .iter()
            .all(|kind| ops(json, kind)["ops"].as_u64() > Some(10))
    });
    let outcome = outcome.succeeded();
    assert!(outcome.stdout.contains("DC500M"), "{outcome:?}");
    let drive = &point(&json)["drive"];
    for kind in ["write", "flush"] {
        let of = ops(&json, kind);
        assert!(
            of["ops"].as_u64() > Some(10) && of["errors"] == 0,
            "{drive}"
        );
        let mean = |what: &str| of[what]["mean_us"].as_f64().unwrap();
        assert!(
            mean("modelled") > 5.0 && mean("real") >= 0.5 * mean("modelled"),
            "{drive}"
        );
    }
    assert!(
        drive["host_write_mean_us"]
            .as_f64()
            .is_some_and(|us| us > 0.0)
            || !rustix::process::geteuid().is_root()
    );
    let facts = json["facts"].to_string();
    for fact in ["kingston-dc500m-960g", "calibration.floor_us"] {
        assert!(facts.contains(fact), "{fact}: {facts}");
    }
    nothing_is_mounted(&place);
}

#[test]
fn a_database_runs_on_an_emulated_array() {
    let place = Place::new();
    plan(
        &place,
        "sqlite",
        "drive = \"raid5:4:kingston-dc500m-960g\"\ncapacity = \"2GiB\"\nslower = 10",
        SHORT,
    );
    place.small_data();
    let (outcome, json) = place.run_until(|json| ops(json, "write")["ops"].as_u64() > Some(10));
    outcome.succeeded();
    let title = "4 × Kingston DC500M 960 GB as RAID 5, 10 times slower";
    assert!(json.to_string().contains(title), "{json}");
    // A write takes two phases: reads, then writes.
    let mean = &ops(&json, "write")["modelled"]["mean_us"];
    assert!(mean.as_f64() > Some(1000.0), "{mean}");
    let members = point(&json)["drive"]["members"].as_array().unwrap();
    let (all, members) = members.split_first().unwrap();
    let wear = members
        .iter()
        .filter_map(|own| own["wear_percent"].as_f64());
    assert_eq!((all["member"].as_str(), members.len()), (Some("all"), 4));
    assert!(all["joules_per_transaction"].as_f64() > Some(0.0), "{all}");
    assert!((wear.sum::<f64>() - 100.0).abs() < 0.01, "{members:?}");
    nothing_is_mounted(&place);
}

fn half_a_gib(drive: &str) -> String {
    format!("drive = \"{drive}\"\ncapacity = \"512MiB\"\nslower = 2")
}

/// States of the array's phases.
fn states(json: &Value) -> Vec<&str> {
    let phases = point(json)["array"]["phases"].as_array();
    let phases = phases.into_iter().flatten();
    phases.filter_map(|phase| phase["state"].as_str()).collect()
}

fn survives_a_failure(drive: &str) {
    let place = Place::new();
    let step = "users = [2]\nramp = \"1s\"\nmeasure = \"14s\"\n\
                event = [{ at = \"3s\", fail = 2 }, { at = \"6s\", replace = 2 }]";
    plan(&place, "sqlite", &half_a_gib(drive), step);
    place.small_data();
    let (outcome, json) = place.run_until(|json| states(json).len() == 4);
    let text = outcome.succeeded().stdout.replace('\n', " ");
    assert_eq!(
        states(&json),
        ["whole", "degraded", "rebuilding", "rebuilt"]
    );
    // On a busy machine the emulator may be late, and the answer begins with that.
    assert!(text.contains("verified, all hold"), "{text}");
    nothing_is_mounted(&place);
}

#[test]
fn a_member_fails_under_load_and_is_rebuilt() {
    survives_a_failure("raid5:4:kingston-dc500m-960g");
}

#[test]
fn a_host_fails_under_load_and_is_filled_again() {
    survives_a_failure("vsan:4:2:kingston-dc500m-960g:policy=raid5");
}

fn loses_data(drive: &str, events: &str) -> String {
    let place = Place::new();
    let step = format!("users = [2]\nramp = \"1s\"\nmeasure = \"5s\"\nevent = [{events}]");
    plan(&place, "sqlite", &half_a_gib(drive), &step);
    place.small_data();
    let outcome = place.run(&["run", "plan.toml", "-o", "x.run"]);
    assert!(outcome.code != Some(0), "{outcome:?}");
    assert!(outcome.stderr.contains("and data are lost"), "{outcome:?}");
    nothing_is_mounted(&place);
    outcome.stderr
}

#[test]
fn an_array_that_loses_data_answers_with_errors() {
    let events = "{ at = \"1s\", fail = 0 }, { at = \"2s\", fail = 3 }";
    loses_data("raid5:4:kingston-dc500m-960g", events);
}

#[test]
fn a_cluster_with_one_copy_loses_data_with_a_host() {
    let drive = "vsan:3:2:kingston-dc500m-960g:policy=ftt0:width=3";
    let events = "{ at = \"1s\", network = \"1Gb\" }, { at = \"1s\", slow = 0, factor = 10 }, \
                  { at = \"2s\", slow = 0, factor = 1 }, { at = \"2s\", fail = 1 }";
    let progress = loses_data(drive, events);
    for event in [
        "The network has 1 Gbit/s (25 Gbit/s before",
        "Member 0 of the array is 10.0 times slower",
        "Member 0 of the array is as fast again",
    ] {
        assert!(progress.contains(event), "{event}: {progress}");
    }
}

fn a_power_cut_loses_nothing(engine: &str) {
    survives_a_power_cut(engine, "drive = \"consumer-nvme-1t\"\ncapacity = \"4GiB\"");
}

/// They have copies of the mount, by which the filesystem that had no power goes on for a while: read-only, with what its memory
/// holds. SQLite would be found whole there.
#[test]
fn a_power_cut_waits_for_programs_with_mount_namespaces_of_their_own() {
    let place = Place::new();
    plan(
        &place,
        "postgres",
        "drive = \"consumer-nvme-1t\"\ncapacity = \"4GiB\"\nspeed = \"full\"",
        "users = [2]\nramp = \"1s\"\nmeasure = \"3s\"\npower_cut = \"2s\"",
    );
    let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
    run.wait_for_message("[1/1] oltp");
    // Longer than the load.
    let other = Command::new("unshare")
        .args(["--mount", "sleep", "6"])
        .spawn();
    let outcome = run.wait().succeeded();
    assert!(other.unwrap().wait().unwrap().success());
    assert!(
        outcome
            .stderr
            .contains("no acknowledged transaction is lost"),
        "{outcome:?}"
    );
    nothing_is_mounted(&place);
}

#[test]
fn a_power_cut_of_an_array_loses_nothing_on_sqlite() {
    let drive = "drive = \"raid5:4:consumer-nvme-1t\"\ncapacity = \"2GiB\"";
    survives_a_power_cut("sqlite", drive);
}

fn survives_a_power_cut(engine: &str, drive: &str) {
    let place = Place::new();
    plan(
        &place,
        engine,
        &format!("{drive}\nspeed = \"full\""),
        "users = [2]\nramp = \"1s\"\nmeasure = \"3s\"\npower_cut = \"2s\"",
    );
    let (outcome, json) = place.run_until(enough_to_lose);
    let outcome = outcome.succeeded();
    assert!(
        outcome
            .stderr
            .contains("no acknowledged transaction is lost"),
        "{outcome:?}"
    );
    assert!(enough_to_lose(&json), "{}", point(&json));
    assert!(
        receipts(&json).iter().all(|receipt| receipt["lost"] == 0),
        "{:?}",
        receipts(&json)
    );
    let mut checks = json["checks"].as_array().unwrap().iter();
    assert!(checks.all(|check| check["holds"] == true), "{json}");
    nothing_is_mounted(&place);
}

#[test]
fn a_power_cut_loses_nothing_on_sqlite() {
    a_power_cut_loses_nothing("sqlite");
}

#[test]
fn a_power_cut_loses_nothing_on_postgres() {
    a_power_cut_loses_nothing("postgres");
}

#[test]
fn a_power_cut_loses_nothing_on_mariadb() {
    a_power_cut_loses_nothing("mariadb");
}

#[test]
fn a_power_cut_without_fsync_names_what_is_lost() {
    let place = Place::new();
    let step = "users = [4]\nramp = \"1s\"\nmeasure = \"3s\"\npower_cut = \"2s\"";
    plan(
        &place,
        "postgres",
        "drive = \"kingston-dc1500m-960g\"\ncapacity = \"4GiB\"\nspeed = \"full\"",
        step,
    );
    let text = fs::read_to_string(place.path("plan.toml")).unwrap();
    place.write(
        "plan.toml",
        &text.replace("engine = ", "settings = { fsync = false }\nengine = "),
    );
    let lost = |json: &Value| {
        receipts(json)
            .iter()
            .map(|receipt| receipt["lost"].as_u64().unwrap())
            .sum::<u64>()
    };
    let (outcome, json) = place.run_until(|json| lost(json) > 0);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(lost(&json) > 0, "{}", point(&json));
    // Either some are lost and the rest is there, or the database reports why it does not start.
    let recovered = !point(&json)["power_cut"]["recovery_ms"].is_null();
    let failure = json["run"]["failure"].as_str().unwrap();
    assert!(
        failure.contains(if recovered {
            "LOST"
        } else {
            "does not come up again"
        }),
        "{failure}"
    );
    for receipt in receipts(&json) {
        assert!(
            receipt["lost"].as_u64() <= receipt["acknowledged"].as_u64(),
            "{receipt}"
        );
    }
    assert_eq!(json["run"]["status"], "failed");
    nothing_is_mounted(&place);
}

#[test]
fn an_emulator_that_dies_ends_the_run_and_leaves_nothing() {
    for engine in ["sqlite", "postgres"] {
        let place = Place::new();
        let drive = "drive = \"kingston-dc1500m-960g\"\ncapacity = \"2GiB\"\nspeed = \"full\"";
        plan(
            &place,
            engine,
            drive,
            "users = [2]\nramp = \"1s\"\nmeasure = \"60s\"",
        );
        place.small_data();
        let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
        run.wait_for_message("measure for 1m");
        run.until_measured("x.run");
        send(emulator(&place), Signal::KILL);
        run.wait().failed(
            1,
            &[
                "the emulator of medium here ended unexpectedly",
                "everything measured until then",
            ],
        );
        let json = place.opens("x.run");
        assert_eq!(json["run"]["status"], "failed");
        assert!(
            point(&json)["completed_per_second"]["value"]
                .as_f64()
                .unwrap()
                > 0.0,
            "{}",
            point(&json)
        );
        nothing_is_mounted(&place);
    }
}

/// Both are killed: what they leave is cleared by the next run.
#[test]
fn the_next_run_clears_what_a_killed_one_left_mounted() {
    let place = Place::new();
    let drive = "drive = \"kingston-dc1500m-960g\"\ncapacity = \"2GiB\"\nspeed = \"full\"";
    plan(
        &place,
        "postgres",
        drive,
        "users = [2]\nramp = \"1s\"\nmeasure = \"60s\"",
    );
    place.small_data();
    let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
    run.wait_for_message("measure for 1m");
    let emulator = emulator(&place);
    send(run.pid(), Signal::KILL);
    run.wait();
    send(emulator, Signal::KILL);
    plan(&place, "postgres", drive, SHORT);
    place.small_data();
    let outcome = place.run(&["run", "plan.toml", "-o", "y.run"]).succeeded();
    assert!(outcome.stderr.contains("Removed "), "{outcome:?}");
    nothing_is_mounted(&place);
}

/// The emulator outlives its run for a moment, and leaves nothing behind.
#[test]
fn a_killed_run_takes_its_server_and_its_drive_with_it() {
    let place = Place::new();
    let drive = "drive = \"kingston-dc1500m-960g\"\ncapacity = \"2GiB\"\nspeed = \"full\"";
    plan(
        &place,
        "postgres",
        drive,
        "users = [2]\nramp = \"1s\"\nmeasure = \"60s\"",
    );
    place.small_data();
    let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
    run.wait_for_message("measure for 1m");
    emulator(&place);
    send(run.pid(), Signal::KILL);
    run.wait();
    wait_for("the end of its processes", || {
        processes_in(&place.path("")).is_empty().then_some(())
    });
    let below = place.path("").display().to_string();
    assert!(
        !fs::read_to_string("/proc/self/mountinfo")
            .unwrap()
            .contains(&below),
        "unmounted"
    );
    plan(&place, "sqlite", drive, SHORT);
    place.small_data();
    place.run(&["run", "plan.toml", "-o", "y.run"]).succeeded();
    nothing_is_mounted(&place);
}

/// Ctrl-C goes to the run alone, which takes its drive down when it has finished.
#[test]
fn an_interrupted_run_takes_its_drive_down() {
    let place = Place::new();
    plan(
        &place,
        "sqlite",
        "drive = \"disk-7200rpm-4t\"\ncapacity = \"2GiB\"\nspeed = \"full\"",
        "users = [2]\nramp = \"1s\"\nmeasure = \"60s\"",
    );
    place.small_data();
    let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
    run.wait_for_message("measure for 1m");
    run.signal(Signal::INT);
    let outcome = run.wait();
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert_eq!(place.opens("x.run")["run"]["status"], "interrupted");
    nothing_is_mounted(&place);
}

/// Which factor it is depends on the machine; it is the same for both, and stands beside their figures.
#[test]
fn drives_without_a_speed_get_the_factor_that_this_machine_needs() {
    let place = Place::new();
    let disk = "drive = \"disk-7200rpm-4t\"\ncapacity = \"2GiB\"";
    plan(
        &place,
        "sqlite",
        disk,
        "on = [\"here\", \"fast\"]\nusers = 1\nramp = \"1s\"\nmeasure = \"2s\"",
    );
    place.small_data();
    let text = fs::read_to_string(place.path("plan.toml")).unwrap();
    let medium = place.medium();
    let fast = format!(
        "[medium.fast]\npath = {medium:?}\ndrive = \"consumer-nvme-1t\"\ncapacity = \"2GiB\"\n[system.db]"
    );
    place.write("plan.toml", &text.replace("[system.db]", &fast));
    let outcome = place.run(&["run", "plan.toml", "-o", "x.run"]);
    let outcome = outcome.succeeded();
    for medium in ["here", "fast"] {
        let tried = format!("choosing the speed · {medium} ");
        assert!(outcome.stderr.contains(&tried), "{outcome:?}");
    }
    let json = place.export("x.run");
    let events = json["events"].as_array().unwrap();
    let chosen = |event: &&Value| {
        ["full_speed", "slowed_down", "begun_again"].contains(&event["code"].as_str().unwrap())
    };
    let Some(Value::Object(event)) = events.iter().rev().find(chosen) else {
        panic!("{events:?}")
    };
    let factor = event["args"]["factor"].as_u64().unwrap_or(1);
    assert_eq!(
        factor == 1,
        event["code"] == "full_speed",
        "{event:?}: {outcome:?}"
    );
    let sql = "SELECT s.name, f.value FROM fact f JOIN subject s ON s.id = f.subject WHERE f.key = 'drive_title'";
    let titles = place.rows("x.run", sql);
    assert_eq!(titles.len(), 2);
    for title in titles {
        let title = title["value"].as_str().unwrap();
        let marked = title.ends_with(&format!(", {factor} times slower"));
        assert_eq!(marked, factor != 1, "{title}");
        assert!(outcome.stdout.contains(title), "{title}: {outcome:?}");
    }
    nothing_is_mounted(&place);
}

/// The program as a user who has no FUSE: root may open the device and mount, others need a program for that.
fn without_fuse(place: &Place, args: &[&str]) -> Outcome {
    let mut command = place.command(args);
    command.env("PATH", place.path("tmp"));
    if rustix::process::geteuid().is_root() {
        for dir in ["", "medium", "tmp"] {
            std::os::unix::fs::chown(place.path(dir), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        command.uid(NOBODY).gid(NOBODY);
    }
    place.start_command(command).wait()
}

const NOBODY: u32 = 65_534;

#[test]
fn without_fuse_a_plan_is_refused_or_uses_its_fallback() {
    let place = Place::new();
    let drive = "drive = \"kingston-dc1500m-960g\"\ncapacity = \"2GiB\"\nspeed = \"full\"";
    plan(&place, "sqlite", drive, SHORT);
    place.small_data();
    without_fuse(&place, &["run", "plan.toml", "-o", "x.run"]).refused(&[
        "medium here: ",
        "fuse",
        "without_fuse = ",
        "plimsoll drive simulate",
    ]);
    let bench = ["bench", "sqlite", "medium", "--drive", "nvme", "--emulate"];
    without_fuse(&place, &bench).refused(&["medium nvme: ", "fuse", "no --drive"]);
    for (key, step, what) in [
        (
            "form = \"block\"",
            SHORT.to_owned(),
            "an emulated block device needs root",
        ),
        (
            "",
            format!("{SHORT}\npower_cut = \"1s\""),
            "a power cut needs an emulated block device",
        ),
    ] {
        plan(&place, "sqlite", &format!("{drive}\n{key}"), &step);
        let outcome = without_fuse(&place, &["run", "plan.toml", "-o", "x.run"]);
        assert_eq!(outcome.stderr.lines().count(), 3, "{outcome:?}");
        outcome.refused(&["medium here: ", what, "you are ", "Run plimsoll as root"]);
    }
    let mut left = fs::read_dir(place.path("")).unwrap();
    let is_run = |name: &str| name.ends_with(".run") || name.contains(".plimsoll");
    assert!(!left.any(|file| is_run(&file.unwrap().file_name().to_string_lossy())));
    nothing_is_mounted(&place);
    plan(
        &place,
        "sqlite",
        &format!("{drive}\nwithout_fuse = \"plain_directory\""),
        SHORT,
    );
    place.small_data();
    let outcome = without_fuse(&place, &["run", "plan.toml", "-o", "y.run"]).succeeded();
    assert!(outcome.stderr.contains("is NOT emulated"), "{outcome:?}");
    let json = place.opens("y.run");
    assert!(
        point(&json)["drive"].is_null()
            && point(&json)["completed_per_second"]["value"].is_number(),
        "{}",
        point(&json)
    );
    nothing_is_mounted(&place);
}
