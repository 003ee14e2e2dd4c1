//! SQLite on modeled drives in virtual time, by the command line.

use crate::common::{Place, run_file};
use serde_json::Value;

fn plan(limits: &str, drive: &str) -> String {
    format!(
        "title = \"Simulated\"\nseed = 7\n[medium.volume]\ndrive = \"{drive}\"\ncapacity = \"2GiB\"\n[system.db]\n\
         engine = \"sqlite\"\n{limits}\n[workload.oltp.tpcc]\nwarehouses = 1\n[[step]]\nrun = \"oltp\"\n\
         system = \"db\"\nusers = 3\nramp = \"1s\"\nmeasure = \"2s\"\n"
    )
}

fn point(place: &Place, file: &str) -> Value {
    place.run(&["run", "plan.toml", "-o", file]).succeeded();
    place.opens(file)["summary"]["ladders"][0]["points"][0].clone()
}

fn committed(point: &Value) -> u64 {
    point["overall"]["counts"]["committed"].as_u64().unwrap()
}

/// Neither FUSE nor root, and nothing of how fast or busy this machine is.
#[test]
fn equal_runs_have_equal_figures_and_are_called_simulated() {
    let place = Place::new();
    place.write("plan.toml", &plan("", "aws-gp3"));
    let [once, again] = ["a.plimsoll", "b.plimsoll"].map(|file| point(&place, file));
    assert!(committed(&once) > 100);
    assert_eq!(once["overall"], again["overall"]);
    let text = place
        .run(&["export", "a.plimsoll", "--to", "text"])
        .succeeded();
    let answer = "Simulated, not measured: SQLite itself in virtual time, on models of the drives, of 4 processors";
    let words = text.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(answer), "{}", text.stdout);
    place
        .run(&["predict", "a.plimsoll"])
        .failed(1, &["The figures are simulated"]);
}

/// Figures of both kinds in one ratio are called so, and a short window without repeats is doubtful.
#[test]
fn a_ratio_of_simulated_and_emulated_figures_is_called_so() {
    let recorded = run_file("2026-11-28-vm-2cpu/predict/sqlite-virtual-1.plimsoll");
    let place = Place::new();
    let text = plan("", "aws-gp3").replace("volume", "gp3");
    place.write("plan.toml", &text);
    let own = point(&place, "own.plimsoll");
    assert_eq!(own["verdict"], "doubtful", "two seconds without repeats");
    let compared = place
        .run(&["compare", "own.plimsoll", recorded.to_str().unwrap()])
        .succeeded();
    let words = compared
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        words.contains("is simulated in virtual time and")
            && words.contains("that of a model to a measurement"),
        "{words}"
    );
}

/// Systems on one drive take processors and drive from each other, in virtual time as well.
#[test]
fn simulated_neighbors_slow_each_other_down_in_equal_runs_alike() {
    let place = Place::new();
    let neighbor = "[system.other]\nengine = \"sqlite\"\n[workload";
    let text = plan("", "aws-gp3").replace("[workload", neighbor);
    let noise = "noise = [{ run = \"oltp\", system = \"other\", users = 3 }]\n";
    let short = text.replace("\"2s\"\n", "\"1s\"\n");
    place.write("plan.toml", &format!("{short}{noise}"));
    let [once, again] = ["a.plimsoll", "b.plimsoll"].map(|file| {
        place.run(&["run", "plan.toml", "-o", file]).succeeded();
        let ladders = place.opens(file)["summary"]["ladders"].clone();
        let of = |scene: usize| ladders[scene]["points"][0]["overall"].clone();
        [of(0), of(1)]
    });
    assert_eq!(once, again);
    let [alone, beside] = once.map(|own| own["counts"]["committed"].as_u64().unwrap());
    assert!(beside * 10 < alone * 9, "{beside} of {alone}");
}

/// Beside a load and in steps of their own, restored and compared; a plain disk reads ahead for them.
#[test]
fn backups_are_simulated_in_equal_runs_alike() {
    let place = Place::new();
    let text = plan("", "seagate-constellation2-1t").replace("users = 3", "users = 1");
    let neighbor = "[system.other]\nengine = \"sqlite\"\n[workload.save.backup]\ndata = \"oltp\"\n[workload.oltp";
    let text = text.replace("[workload.oltp", neighbor);
    let noise = "noise = [{ run = \"save\", system = \"other\" }]\n[[step]]\nrun = \"save\"\nsystem = \"db\"\ncycles = 2\n";
    place.write("plan.toml", &format!("{text}{noise}"));
    let [once, again] = ["a.plimsoll", "b.plimsoll"].map(|file| {
        place.run(&["run", "plan.toml", "-o", file]).succeeded();
        place.opens(file)["summary"]["backups"].clone()
    });
    assert_eq!(once, again);
    let step = once
        .as_array()
        .unwrap()
        .iter()
        .find(|own| own["beside"].is_null());
    let kinds = step.unwrap()["media"][0]["kinds"].as_array().unwrap();
    let rate = |kind: &Value| kind["mb_per_second"]["value"].as_f64().unwrap();
    let rates: Vec<f64> = kinds.iter().map(rate).collect();
    assert!(
        rates.len() == 2 && rates.iter().all(|rate| (40.0..120.0).contains(rate)),
        "{rates:?}"
    );
    let text = place
        .run(&["export", "a.plimsoll", "--to", "text"])
        .succeeded();
    assert!(!text.stdout.contains("mulated)"), "{}", text.stdout);
}

#[test]
fn memory_of_the_simulated_machine_decides_what_is_read() {
    let place = Place::new();
    place.write("plan.toml", &plan("", "aws-gp3"));
    let enough = committed(&point(&place, "enough.plimsoll"));
    let limits = "limits = { cpus = 16, memory = \"16MiB\" }";
    place.write("plan.toml", &plan(limits, "aws-gp3"));
    let little = committed(&point(&place, "little.plimsoll"));
    assert!(little * 10 < enough * 7, "{little} of {enough}");
    place.write(
        "plan.toml",
        &format!("emulate = true\n{}", plan(limits, "aws-gp3")),
    );
    place
        .run(&["run", "plan.toml"])
        .refused(&["nothing limits SQLite in real time"]);
    let other = "[system.other]\nengine = \"sqlite\"\nlimits = { cpus = 2 }\n[workload";
    place.write(
        "plan.toml",
        &plan(limits, "aws-gp3").replace("[workload", other),
    );
    place
        .run(&["run", "plan.toml"])
        .refused(&["one plan has one simulated machine"]);
    place.write("plan.toml", &plan(limits, "aws-gp3"));
    let dry = place
        .run(&["run", "plan.toml", "--dry-run"])
        .succeeded()
        .stdout;
    assert!(
        dry.contains("# simulated in virtual time") && !dry.contains("memory needed"),
        "{dry}"
    );
}

/// Predicted from what sessions spent their time on.
#[test]
fn other_processors_are_predicted_as_they_are_simulated() {
    let place = Place::new();
    let answer = |limits: &str, file: &str| {
        let text = plan(limits, "kingston-dc1500m-960g");
        place.write("plan.toml", &text.replace("\"2s\"\n", "\"1s\"\n"));
        place.run(&["run", "plan.toml", "-o", file]).succeeded();
        place.opens(file)["summary"]["answer"]["result"].clone()
    };
    let reference = answer("", "reference.plimsoll");
    let fast = answer("limits = { cpu_speed = 1.5 }", "fast.plimsoll");
    let predicted = reference["at_cpu_speeds"]["fast"].as_f64().unwrap();
    let simulated = fast["rate"]["value"].as_f64().unwrap();
    let off = 100.0 * (predicted / simulated - 1.0);
    assert!(off.abs() < 5.0, "{off:+.1} %");
    let gained = predicted / reference["rate"]["value"].as_f64().unwrap();
    assert!(gained > 1.2, "{gained}");
}

/// Recorded on drives that were emulated at full speed, or eight times slower.
#[test]
fn simulated_figures_are_those_that_emulated_drives_gave() {
    let recorded = run_file("2026-11-28-vm-2cpu/predict/sqlite-virtual-1.plimsoll");
    let place = Place::new();
    let text = "title = \"Cases\"\nseed = 1\n[medium.disk]\ndrive = \"disk-7200rpm-4t\"\n[medium.raid10-disk]\n\
                drive = \"raid10:4:disk-7200rpm-4t\"\n[medium.consumer-slow8]\ndrive = \"consumer-nvme-1t\"\nslower = 8\n\
                [system.db]\nengine = \"sqlite\"\n[workload.oltp.tpcc]\nwarehouses = 1\n[[step]]\nrun = \"oltp\"\n\
                system = \"db\"\non = [\"disk\", \"raid10-disk\", \"consumer-slow8\"]\nusers = [1, 6]\nramp = \"2s\"\n\
                measure = \"20s\"\n";
    place.write("plan.toml", text);
    place
        .run(&["run", "plan.toml", "-o", "own.plimsoll"])
        .succeeded();
    let compare = [
        "compare",
        "own.plimsoll",
        recorded.to_str().unwrap(),
        "--format",
        "json",
    ];
    let compared: Value = serde_json::from_str(&place.run(&compare).succeeded().stdout).unwrap();
    let points = compared[0]["others"][0]["points"].as_array().unwrap();
    assert_eq!(points.len(), 6);
    for point in points {
        let off = 100.0 * (1.0 / point["rate"]["ratio"]["ratio"].as_f64().unwrap() - 1.0);
        assert!(off.abs() < 15.0, "{off:+.1} %: {point}");
    }
}

/// Cuts of a medium's power, with what was lost of what clients saw committed, and acknowledged.
fn cuts(run: &Value, medium: &str) -> Vec<[u64; 2]> {
    let ladders = run["summary"]["ladders"].as_array().unwrap();
    let own = ladders.iter().filter(|ladder| ladder["medium"] == medium);
    let points = own.flat_map(|ladder| ladder["points"].as_array().unwrap());
    points
        .map(|point| {
            let cut = &point["power_cut"];
            assert!(cut["recovery_ms"].as_u64().is_some(), "{cut}");
            ["lost", "acknowledged"].map(|key| cut[key].as_u64().unwrap())
        })
        .collect()
}

/// At moments that no transaction knows: what was promised is kept by an honest drive, with a log and with a rollback
/// journal (without `EXTRA` SQLite does not sync that it has deleted it), and a drive that lies is found.
#[test]
fn power_cuts_take_nothing_from_honest_drives_and_find_a_lie() {
    let place = Place::new();
    let step = |system: &str, medium: &str| {
        format!(
            "[[step]]\nname = \"{system} {medium}\"\nrun = \"oltp\"\nsystem = \"{system}\"\non = [\"{medium}\"]\n\
             users = 4\nramp = \"0s\"\nmeasure = \"1s\"\npower_cut = \"1s\"\nrepeat = 2\n"
        )
    };
    let text = format!(
        "title = \"Cuts\"\nseed = 3\n[medium.honest]\ndrive = \"aws-gp3\"\ncapacity = \"2GiB\"\n[medium.lying]\n\
         drive = \"consumer-nvme-1t\"\ncapacity = \"2GiB\"\nflush = \"ignored\"\n[system.wal]\nengine = \"sqlite\"\n\
         [system.rollback]\nengine = \"sqlite\"\nsettings = {{ journal_mode = \"DELETE\", synchronous = \"EXTRA\" }}\n\
         [workload.oltp.tpcc]\nwarehouses = 1\n{}{}{}",
        step("wal", "honest"),
        step("rollback", "honest"),
        step("wal", "lying")
    );
    place.write("plan.toml", &text);
    let outcome = place.run(&["run", "plan.toml", "-o", "x.plimsoll"]);
    outcome.failed(1, &["acknowledged transactions are LOST"]);
    let run = place.opens("x.plimsoll");
    let honest = cuts(&run, "honest");
    assert_eq!(honest.len(), 4, "{honest:?}");
    assert!(honest.iter().all(|cut| cut[0] == 0), "{honest:?}");
    assert!(honest.iter().all(|cut| cut[1] > 10), "{honest:?}");
    let lying = cuts(&run, "lying");
    assert!(lying.iter().all(|cut| cut[0] > 0), "{lying:?}");
}

/// A RAID 5 goes on without a drive, and is filled again; without a second one its data are lost.
#[test]
fn members_of_a_simulated_array_fail() {
    let place = Place::new();
    let text = plan("", "raid5:4:aws-gp3").replace("\"2s\"\n", "\"8s\"\n");
    let text = text.replace("\"2GiB\"", "\"512MiB\"");
    let events = "event = [{ at = \"1s\", fail = 1 }, { at = \"2s\", replace = 1 }]\n";
    place.write("plan.toml", &format!("{text}{events}"));
    place
        .run(&["run", "plan.toml", "-o", "rebuilt.plimsoll"])
        .succeeded();
    let run = place.opens("rebuilt.plimsoll");
    let events = run["events"].to_string();
    for event in ["member_failed", "member_replaced", "member_rebuilt"] {
        assert!(events.contains(event), "{event}: {events}");
    }
    let events = "event = [{ at = \"1s\", fail = 1 }, { at = \"2s\", fail = 2 }]\n";
    place.write("plan.toml", &format!("{text}{events}"));
    let outcome = place.run(&["run", "plan.toml", "-o", "lost.plimsoll"]);
    outcome.failed(1, &["and data are lost"]);
}
