//! Inspecting and simulating emulated drives.

use crate::common::Place;
use serde_json::Value;

fn json(place: &Place, args: &[&str]) -> Value {
    let outcome = place
        .run(&[args, &["--format", "json"]].concat())
        .succeeded();
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {outcome:?}"))
}

/// Every line has as many columns as the first.
fn csv(place: &Place, args: &[&str]) -> Vec<String> {
    let outcome = place
        .run(&[args, &["--format", "csv"]].concat())
        .succeeded();
    let lines: Vec<String> = outcome.stdout.lines().map(str::to_owned).collect();
    let columns = |line: &String| line.split(',').count();
    assert!(
        lines.len() > 1 && lines.iter().all(|line| columns(line) == columns(&lines[0])),
        "{lines:?}"
    );
    lines
}

#[test]
fn all_drives_are_listed_for_people_and_for_programs() {
    let place = Place::new();
    let rows = json(&place, &["drive", "list"]);
    let names: Vec<&str> = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["drive"].as_str().unwrap())
        .collect();
    assert!(names.len() >= 17, "{names:?}");
    let micron = rows
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["drive"] == "micron-5200-eco-1920g")
        .unwrap();
    assert_eq!(micron["random_write_iops"], 22_000.0);
    assert!(
        micron["unverified_figures"]
            .as_str()
            .unwrap()
            .contains("random_write_iops"),
        "{micron}"
    );
    let table = place.run(&["drive", "list"]).succeeded().stdout;
    assert!(names.iter().all(|name| table.contains(name)), "{table}");
    assert!(
        table.contains("22,000?") && table.lines().all(|line| line.chars().count() <= 120),
        "{table}"
    );
    assert_eq!(csv(&place, &["drive", "list"]).len(), names.len() + 1);
    place.expect_clean();
}

#[test]
fn a_drive_is_shown_with_the_source_of_every_figure() {
    let place = Place::new();
    let drive = json(&place, &["drive", "show", "samsung-pm9a3-3840g"]);
    let figures = drive["figures"].as_array().unwrap();
    assert!(
        figures.len() > 15
            && figures
                .iter()
                .all(|figure| figure["source"].as_str() != Some("")),
        "{drive}"
    );
    let read = figures
        .iter()
        .find(|figure| figure["key"] == "sequential_read_mb_s")
        .unwrap();
    assert_eq!(
        (&read["value"], &read["source"]),
        (&Value::from(6500.0), &Value::from("heise"))
    );
    assert!(
        drive["sources"]["heise"]
            .as_str()
            .unwrap()
            .contains("6500/3500 MB/s")
    );
    assert!(
        drive["derived"]
            .as_array()
            .unwrap()
            .iter()
            .any(|row| row["parameter"] == "units of flash")
    );
    let text = place
        .run(&["drive", "show", "samsung-pm9a3-3840g"])
        .succeeded()
        .stdout;
    for part in [
        "Samsung PM9A3 3.84 TB",
        "6,500",
        "heise: ",
        "write cache: protected",
        "Parameters of the model",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    place.expect_clean();
}

#[test]
fn a_simulation_prints_its_figures_and_is_the_same_for_the_same_seed() {
    let place = Place::new();
    let simulate = |seed: &str| {
        let args = [
            "drive",
            "simulate",
            "kingston-dc1500m-960g",
            "--profile",
            "k-a",
            "--seconds",
            "0.2",
            "--seed",
            seed,
        ];
        place.run(&args).succeeded().stdout
    };
    let text = simulate("7");
    for part in [
        "75 % reads, 32 in flight",
        "IOPS",
        "p99.9",
        "reads",
        "writes",
        "TB a day",
        "1681 TB last",
        " W, ",
        " mJ for each request.",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    assert_eq!(text, simulate("7"));
    assert_ne!(text, simulate("8"));
    let args = [
        "drive",
        "simulate",
        "aws-gp3",
        "--profile",
        "randread4k",
        "--rate",
        "4000",
        "--depth",
        "64",
    ];
    let open = &json(
        &place,
        &[&args[..], &["--block", "8k", "--seconds", "2"]].concat(),
    )[0];
    assert!(
        (open["iops"].as_f64().unwrap() - 3000.0).abs() < 30.0,
        "{open}"
    );
    assert!(
        (open["mb_s"].as_f64().unwrap() - 24.576).abs() < 0.3,
        "{open}"
    );
    assert!(
        open["queued"].as_f64().unwrap() > 1000.0 && open["watts"].is_null(),
        "{open}"
    );
    place.expect_clean();
}

#[test]
fn a_data_sheet_is_compared_with_the_model() {
    let place = Place::new();
    let rows = json(&place, &["drive", "simulate", "micron-5200-eco-1920g"]);
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 4);
    for row in rows {
        assert!(
            row["deviation_percent"].as_f64().unwrap().abs() < 5.0,
            "{row}"
        );
    }
    csv(&place, &["drive", "simulate", "aws-io2"]);
}

#[test]
fn a_cluster_is_simulated_and_shows_each_drive() {
    let place = Place::new();
    let cluster = "vsan:4:3:nvme:policy=raid5:failed=1";
    let args = [
        "drive",
        "simulate",
        cluster,
        "--profile",
        "mix",
        "--seconds",
        "0.1",
    ];
    let simulated = json(&place, &args);
    let members = simulated["members"].as_array().unwrap();
    assert_eq!(members.len(), 12);
    let down = ["host 1 buffer", "host 1 data 1", "host 1 data 2"];
    for own in members {
        let name = own["member"].as_str().unwrap();
        let (state, writes) = (&own["state"], own["writes_s"].as_f64());
        match down.contains(&name) {
            true => assert!(state == "failed" && writes == Some(0.0), "{own}"),
            false => assert_eq!(state, "ok", "{own}"),
        }
    }
    let refused = ["drive", "simulate", "vsan:2:3:nvme", "--profile", "mix"];
    place
        .run(&refused)
        .refused(&["FTT 1 needs at least 3 hosts, there are 2"]);
}

#[test]
fn arrays_are_compared_by_how_likely_they_lose_data() {
    let place = Place::new();
    let command = ["drive", "reliability"];
    let arrays = ["raid5:6:disk", "raid6:6:disk", "--histories", "5000"];
    let losses = json(
        &place,
        &[command, [arrays[0], arrays[1]], [arrays[2], arrays[3]]].concat(),
    );
    let losses = losses.as_array().unwrap();
    let lost = |number: usize| losses[number]["lost_percent"].as_f64().unwrap();
    assert!(lost(0) > 1000.0 * lost(1) && lost(1) > 0.0, "{losses:?}");
    let text = place
        .run(&["drive", "reliability", "raid5:3:sata"])
        .succeeded()
        .stdout;
    assert!(
        text.contains("Probability of data loss within 5 years"),
        "{text}"
    );
    assert!(
        text.contains("Assumed: 0.9 % of drives fail in a year"),
        "{text}"
    );
    place
        .run(&["drive", "reliability", "sata"])
        .refused(&["is neither an array nor a cluster"]);
    place
        .run(&["drive", "reliability", "raid6:8:disk:failed=0"])
        .refused(&["is not whole"]);
}

#[test]
fn an_array_is_simulated_and_shows_each_member() {
    let place = Place::new();
    let simulate = |array: &'static str| {
        let args = ["drive", "simulate", array, "--profile", "randwrite4k"];
        [&args[..], &["--seconds", "0.5"]].concat()
    };
    let healthy = json(&place, &simulate("raid5:6:dc500m-960g"));
    let members = healthy["members"].as_array().unwrap();
    assert_eq!(members.len(), 6);
    let sum = |key: &str| -> f64 {
        let of = members.iter().map(|member| member[key].as_f64().unwrap());
        of.sum()
    };
    let iops = healthy["requests"][0]["iops"].as_f64().unwrap();
    // Read-modify-write: data and parity are read, and then written.
    for key in ["reads_s", "writes_s"] {
        assert!((sum(key) / iops - 2.0).abs() < 0.05, "{healthy}");
    }
    let degraded = json(&place, &simulate("raid5:6:dc500m-960g:failed=2"));
    assert_eq!(degraded["members"][2]["state"], "failed");
    assert_eq!(degraded["members"][2]["writes_s"], 0.0);
    let rebuild = place
        .run(&simulate("raid10:4:dc500m-960g:rebuild=1"))
        .succeeded()
        .stdout;
    assert!(rebuild.contains("4 × Kingston DC500M 960 GB as RAID 10, 1 being rebuilt"));
    assert!(rebuild.contains("Member 1 was rebuilt at"), "{rebuild}");
    csv(&place, &simulate("raid6:5:dc500m-960g"));
    let refused = |array: &'static str, parts: &[&str]| place.run(&simulate(array)).refused(parts);
    refused("raid7:4:nvme", &["no RAID level `raid7`"]);
    refused(
        "raid5:4:nvmee",
        &["no drive `nvmee`", "did you mean `nvme`?"],
    );
    refused(
        "raid5:4:nvme:failed=0+1",
        &["loses data without the members 0, 1"],
    );
}

#[test]
fn a_drive_file_of_ones_own_is_used_or_refused_with_places() {
    let place = Place::new();
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../drives/consumer-nvme-1t.toml"
    ));
    let text = text.unwrap();
    place.write("mine.toml", &text.replace("value = 3300", "value = 1234"));
    let rows = json(&place, &["drive", "simulate", "mine.toml"]);
    assert_eq!(rows[1]["stated"], 1234.0);
    place.write(
        "bad.toml",
        &text
            .replace("read_us", "raed_us")
            .replace("value = 3300", "value = -1"),
    );
    place.run(&["drive", "show", "bad.toml"]).refused(&[
        "bad.toml: the drive file cannot be used",
        "unknown key `raed_us`",
        "did you mean `read_us`?",
    ]);
    place
        .run(&["drive", "show", "nowhere.toml"])
        .refused(&["nowhere.toml cannot be read", "plimsoll drive list"]);
    place
        .run(&["drive", "show", "aws-gp4"])
        .refused(&["no drive `aws-gp4`", "did you mean `aws-gp3`?"]);
    let args = ["drive", "simulate", "aws-gp3", "--profile", "randraed4k"];
    place
        .run(&args)
        .refused(&["no profile `randraed4k`", "did you mean `randread4k`?"]);
}

#[test]
fn logged_requests_are_simulated_again_and_compared() {
    let place = Place::new();
    // A disk with nothing to write answers a flush after a command's 100 µs.
    let log = "request,arrived_ns,kind,offset,bytes,modelled_ns,client_ns\n\
               0,0,flush,0,0,100000,110000\n\
               1,500000,flush,0,0,100000,130000\n";
    place.write("requests.csv", log);
    let args = ["drive", "simulate", "disk-7200rpm-4t", "--requests"];
    let with = |file: &'static str| [&args[..], &[file, "--capacity", "2GiB"]].concat();
    let rows = json(&place, &with("requests.csv"));
    let difference = |row: usize| {
        assert_eq!(
            (&rows[row]["requests"], &rows[row]["ops"]),
            (&"flush".into(), &2.into())
        );
        rows[row]["mean_difference_percent"].as_f64()
    };
    assert_eq!(rows[0]["mean_us"], 100.0);
    assert_eq!(
        [difference(0), difference(1), difference(2)],
        [None, Some(0.0), Some(20.0)]
    );
    csv(&place, &with("requests.csv"));
    let text = place.run(&with("requests.csv")).succeeded().stdout;
    assert!(text.contains("2 logged requests, 2.0 GiB"), "{text}");
    place.write("bad.csv", &log.replace(",500000,", ",soon,"));
    place
        .run(&with("bad.csv"))
        .refused(&["bad.csv: line 3: \"soon\" is not a whole number"]);
    place.expect_clean();
}
