//! SQLite on modeled drives in virtual time, by the command line.

use crate::common::Place;
use serde_json::Value;

const PLAN: &str = "title = \"Simulated\"\nseed = 7\n[medium.volume]\ndrive = \"aws-gp3\"\ncapacity = \"2GiB\"\n\
     [system.db]\nengine = \"sqlite\"\n[workload.oltp.tpcc]\nwarehouses = 1\n[[step]]\nrun = \"oltp\"\n\
     system = \"db\"\nusers = 3\nramp = \"1s\"\nmeasure = \"2s\"\n";

fn figures(place: &Place, file: &str) -> Value {
    place
        .run(&["run", "plan.toml", "--virtual-time", "-o", file])
        .succeeded();
    let point = place.opens(file)["summary"]["ladders"][0]["points"][0].clone();
    assert!(point["overall"]["counts"]["committed"].as_u64() > Some(100));
    point["overall"].clone()
}

#[test]
fn equal_runs_have_equal_figures_and_none_is_to_be_quoted() {
    let place = Place::new();
    place.write("plan.toml", PLAN);
    assert_eq!(figures(&place, "a.plimsoll"), figures(&place, "b.plimsoll"));
    let text = place
        .run(&["export", "a.plimsoll", "--to", "text"])
        .succeeded();
    assert!(
        text.stdout.contains("No answer, the result is invalid")
            && text.stdout.contains("simulated in virtual time"),
        "{}",
        text.stdout
    );
}
