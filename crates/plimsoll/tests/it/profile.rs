//! Looking at the block workloads that plans can name.

use crate::common::Place;
use serde_json::{Value, json};

fn json_of(place: &Place, args: &[&str]) -> Value {
    let outcome = place
        .run(&[args, &["--format", "json"]].concat())
        .succeeded();
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {outcome:?}"))
}

#[test]
fn all_profiles_are_listed_for_people_and_for_programs() {
    let place = Place::new();
    let rows = json_of(&place, &["profile", "list"]);
    let rows = rows.as_array().unwrap();
    let names: Vec<&str> = rows
        .iter()
        .map(|row| row["profile"].as_str().unwrap())
        .collect();
    assert!(names.len() >= 17 && names.is_sorted(), "{names:?}");
    assert!(
        rows.iter()
            .all(|row| row["source"].as_str().unwrap().len() > 20),
        "{rows:?}"
    );
    let corners = rows
        .iter()
        .find(|row| row["profile"] == "four-corners")
        .unwrap();
    assert_eq!(
        (&corners["jobs"], &corners["points"], &corners["fill"]),
        (&json!(4), &json!(48), &Value::Null)
    );
    let table = place.run(&["profile", "list"]).succeeded().stdout;
    assert!(names.iter().all(|name| table.contains(name)), "{table}");
    assert!(
        table.lines().all(|line| line.chars().count() <= 120),
        "{table}"
    );
    let csv = place
        .run(&["profile", "list", "--format", "csv"])
        .succeeded()
        .stdout;
    assert_eq!(csv.lines().count(), names.len() + 1);
    place.expect_clean();
}

#[test]
fn a_profile_is_shown_with_its_jobs_and_its_source() {
    let place = Place::new();
    let pair = json_of(&place, &["profile", "show", "sql-data-and-log"]);
    assert_eq!(pair["size_bytes"], json!(10_u64 << 30));
    let streams = pair["jobs"][0]["streams"].as_array().unwrap();
    let names: Vec<&str> = streams
        .iter()
        .map(|stream| stream["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["data", "log"]);
    assert_eq!(
        (&streams[0]["per_second"], &streams[1]["write_bytes"]),
        (&json!(1500.0), &json!([[32_768, 100]]))
    );
    assert_eq!(
        (
            &streams[0]["read_percent"],
            &streams[0]["depth"],
            &streams[0]["threads"]
        ),
        (&json!(70), &json!(32), &json!(4))
    );
    let text = place
        .run(&["profile", "show", "sql-data-and-log"])
        .succeeded()
        .stdout;
    for part in [
        "Source: VMFleet 2",
        "1,500",
        "32KiB",
        "95 % on 5 %",
        "each write",
        "with 10GiB each, written once",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    assert!(
        !text.contains("curve"),
        "an empty column is left out: {text}"
    );
    let csv = place
        .run(&["profile", "show", "snia-iops", "--format", "csv"])
        .succeeded()
        .stdout;
    assert_eq!(csv.lines().count(), 1 + 56, "{csv}");
    place.expect_clean();
}

#[test]
fn every_profile_can_be_shown() {
    let place = Place::new();
    let rows = json_of(&place, &["profile", "list"]);
    for name in rows
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["profile"].as_str().unwrap())
    {
        let text = place.run(&["profile", "show", name]).succeeded().stdout;
        assert!(text.contains(&format!("profile = \"{name}\"")), "{text}");
        let prose = text.lines().filter(|line| !line.contains("  "));
        assert!(
            prose.into_iter().all(|line| line.chars().count() <= 100),
            "{text}"
        );
    }
    place.expect_clean();
}

#[test]
fn a_missing_profile_is_reported() {
    let place = Place::new();
    let outcome = place.run(&["profile", "show", "cristaldiskmark"]);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(
        outcome
            .stderr
            .contains("there is no profile `cristaldiskmark`"),
        "{outcome:?}"
    );
    assert!(
        outcome.stderr.contains("did you mean `crystaldiskmark`?"),
        "{outcome:?}"
    );
    place.expect_clean();
}
