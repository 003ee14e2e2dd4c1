//! PostgreSQL that plimsoll manages: from plan to report, and what happens when it does not go well.

use std::fs;

use crate::common::server::psql;
use crate::common::{Place, postmaster, wait_for};

const LONG: &str = "users = [2]\nramp = \"1s\"\nmeasure = \"5s\"";

#[test]
fn a_row_broken_by_hand_is_found_by_the_next_check() {
    let place = Place::new();
    place.plan("postgres", LONG);
    let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
    run.wait_for_message("measure for 5s");
    let pid = postmaster(&place.path("")).unwrap();
    let socket = wait_for("the socket", || {
        // Line 5 of postmaster.pid is the directory of the socket.
        let text = fs::read_to_string(format!("/proc/{pid}/cwd/postmaster.pid")).ok()?;
        text.lines().nth(4).map(str::to_owned)
    });
    let target = format!("host={socket} port=5432 user=plimsoll dbname=postgres");
    psql(
        &target,
        "UPDATE plimsoll.warehouse SET w_ytd = w_ytd + 1000 WHERE w_id = 1",
    );
    let outcome = run.wait();
    assert!(outcome.stdout.contains("3.3.2.1"), "{outcome:?}");
    outcome.failed(
        1,
        &[
            "condition 3.3.2.1 does not hold",
            "do not quote these figures",
        ],
    );
    let json = place.opens("x.run");
    let failing = json["checks"]
        .as_array()
        .unwrap()
        .iter()
        .find(|check| check["holds"] == false)
        .unwrap();
    assert_eq!(failing["clause"], "3.3.2.1", "{failing}");
    place.expect_clean();
}
