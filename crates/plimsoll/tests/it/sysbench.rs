//! sysbench's scripts from plan to report.

use crate::common::{Place, worked};

fn plan(place: &Place, engine: &str) {
    let medium = place.medium();
    let workload = |name: &str, script: &str| {
        format!("[workload.{name}.sysbench]\nscript = \"{script}\"\ntables = 2\nrows = 1000\n")
    };
    let step = |name: &str| {
        format!(
            "[[step]]\nrun = \"{name}\"\nsystem = \"db\"\nusers = 2\nramp = \"1s\"\nmeasure = \"2s\"\n"
        )
    };
    place.write(
        "plan.toml",
        &format!(
            "title = \"Test\"\n[medium.here]\npath = {medium:?}\n[system.db]\nengine = \"{engine}\"\n{}{}{}{}",
            workload("mix", "read_write"),
            workload("grow", "insert"),
            step("mix"),
            step("grow")
        ),
    );
}

fn expect_run(engine: &str) {
    let place = Place::new();
    plan(&place, engine);
    let (outcome, json) = place.run_until(worked);
    let outcome = outcome.succeeded();
    assert!(
        outcome.stdout.contains("6 verified, all hold"),
        "{outcome:?}"
    );
    let printed = format!("{}{}", outcome.stdout, outcome.stderr);
    assert!(
        !printed.contains("NOPM") && !printed.contains("TPC"),
        "{printed}"
    );
    let ladders = json["summary"]["ladders"].as_array().unwrap();
    assert_eq!(ladders.len(), 2);
    for (ladder, (script, trips)) in ladders.iter().zip([("read_write", 19.0), ("insert", 1.0)]) {
        assert_eq!(ladder["mode"], "statements");
        let point = &ladder["points"][0];
        assert!(
            point["nopm"].is_null()
                && point["completed_per_second"]["value"].as_f64().unwrap() > 0.0,
            "{point}"
        );
        assert_eq!(
            (&point["overall"]["counts"]["failed"], &point["complete"]),
            (&0.into(), &true.into()),
            "{point}"
        );
        assert_eq!(point["types"][0]["name"], script);
        assert!(
            point["round_trips_per_txn"]["value"].as_f64().unwrap() >= trips,
            "{point}"
        );
    }
    let clauses: Vec<&str> = json["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|check| check["clause"].as_str().unwrap())
        .collect();
    assert_eq!(clauses, ["rows", "ids", "values", "rows", "ids", "values"]);
    place.expect_clean();
}

#[test]
fn on_sqlite() {
    expect_run("sqlite");
}

#[test]
fn on_postgres() {
    expect_run("postgres");
}

#[test]
fn on_mariadb() {
    expect_run("mariadb");
}
