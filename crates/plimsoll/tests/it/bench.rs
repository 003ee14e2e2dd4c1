//! `plimsoll bench`: one line makes a plan, and runs it.

use std::fs;

use crate::common::Place;

/// What `--dry-run` prints of the plan that a line makes.
fn dry_run(place: &Place, line: &str) -> String {
    let words = format!("bench {line} --dry-run");
    let words: Vec<&str> = words.split(' ').collect();
    place.run(&words).succeeded().stdout
}

#[test]
fn a_line_is_a_plan_that_runs_and_can_be_kept() {
    let place = Place::new();
    let line = "bench mock --threads 1,2 -T 10 --repeat 2 --virtual-time --seed 1 --save-plan p.toml -o x.run";
    let words: Vec<&str> = line.split(' ').collect();
    place.run(&words).succeeded();
    let json = place.export("x.run");
    let points = json["summary"]["ladders"][0]["points"].as_array().unwrap();
    assert_eq!(points.len(), 4, "two loads, twice");

    let plan = fs::read_to_string(place.path("p.toml")).unwrap();
    assert!(
        plan.contains("\n# So many users at the same time"),
        "{plan}"
    );
    place
        .run(&["run", "p.toml", "--virtual-time", "-o", "y.run"])
        .succeeded();
    place
        .run(&words)
        .refused(&["cannot write p.toml", "The file exists already."]);
}

#[test]
fn lines_for_each_system_make_the_plans_that_they_describe() {
    let place = Place::new();
    let lines: [(&str, &[&str]); 6] = [
        (
            "sqlite medium --drive nvme,sata",
            &[
                "title = \"How much load can SQLite handle on nvme and sata?\"",
                "drive = \"kingston-dc1500m-960g\"",
                "drive = \"micron-5200-eco-1920g\"",
                "users = [1, 4]",
            ],
        ),
        (
            "postgres medium --users 1,2,4,8 --time 60",
            &[
                "title = \"How much load can PostgreSQL handle in medium?\"",
                "users = [1, 2, 4, 8]",
                "measure = \"1m\"",
                "warehouses = 4",
            ],
        ),
        (
            "postgres://me:secret@db.example.org/test --find p99=20ms --save-plan found.toml",
            &[
                "title = \"How much load can the server db.example.org handle with New-Order p99 ≤ 20ms?\"",
                "p99_ms = 20",
                "rate = ",
            ],
        ),
        (
            "mysql://me@db.example.org/test --schema mine",
            &["schema = \"mine\""],
        ),
        (
            "mariadb medium --rate 10,20 -s 2",
            &["engine = \"mariadb\"", "rate = [10", "warehouses = 2"],
        ),
        (
            "block medium --profile four-corners --size 64M",
            &["title = \"How fast is the storage in medium?\"", "64MiB"],
        ),
    ];
    for (line, parts) in lines {
        let text = dry_run(&place, line);
        for part in parts {
            assert!(text.contains(part), "{line}: no {part} in\n{text}");
        }
    }
    let kept = fs::read_to_string(place.path("found.toml")).unwrap();
    assert!(
        kept.contains("me:***@db") && !kept.contains("secret"),
        "{kept}"
    );
    place.expect_clean();
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_made() {
    let place = Place::new();
    let refused = |line: &str, parts: &[&str]| {
        let words: Vec<&str> = line.split(' ').collect();
        place.run(&words).refused(parts);
    };
    refused(
        "bench postgres://u@127.0.0.1:1/db /tmp --dry-run",
        &["DIR cannot be used here: the data of a running server lie where they lie"],
    );
    refused(
        "bench sqlite medium --schema x",
        &["--schema cannot be used here"],
    );
    refused(
        "bench sqlte",
        &["sqlte", "give sqlite, postgres, mariadb, block, or a URL"],
    );
    refused(
        "bench sqlite medium --drive nvmee",
        &["there is no drive `nvmee`", "did you mean `nvme`?"],
    );
    refused(
        "bench sqlite medium --drive dc1500m",
        &["which of `kingston-dc1500m-1920g`, `kingston-dc1500m-960g`?"],
    );
    refused(
        "bench postgres://h/d --drive nvme",
        &["--drive cannot be used here", "Leave it out"],
    );
    refused(
        "bench mariadb postgres://u:secret@h/d",
        &["postgres://u:***@h/d is no directory, and no URL of the system to measure"],
    );
    refused(
        "bench block medium --users 4",
        &["--users cannot be used here: bench block measures storage without users"],
    );
    refused(
        "bench sqlite medium --find p98=20ms",
        &["give an objective such as p99=20ms"],
    );
    let made = fs::read_dir(place.path("")).unwrap().count();
    assert_eq!(made, 2, "medium and tmp");
}
