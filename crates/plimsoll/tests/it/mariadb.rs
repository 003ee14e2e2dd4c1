//! MariaDB that plimsoll manages: from plan to report, and what happens when it does not go well.

use std::fs;

use crate::common::{Place, expect_died, processes_in, send, wait_for, worked};
use rustix::process::Signal;

fn server(place: &Place) -> Option<i32> {
    let is_server = |command: &str| {
        command.contains("mariadbd --defaults-file") && !command.contains("--bootstrap")
    };
    processes_in(&place.path(""))
        .into_iter()
        .find(|(_, command)| is_server(command))
        .map(|(pid, _)| pid)
}

#[test]
fn a_run_from_plan_to_report_in_both_modes() {
    let place = Place::new();
    let text =
        fs::read_to_string(place.plan("mariadb", "users = [2]\nramp = \"1s\"\nmeasure = \"2s\""))
            .unwrap();
    for mode in ["procedures", "statements"] {
        place.write(
            "plan.toml",
            &text.replace(
                "warehouses = 1",
                &format!("warehouses = 1\nmode = \"{mode}\""),
            ),
        );
        let (outcome, json) = place.run_until(worked);
        let outcome = outcome.succeeded();
        assert!(
            outcome.stdout.contains("12 verified, all hold"),
            "{outcome:?}"
        );
        let ladder = &json["summary"]["ladders"][0];
        assert_eq!(ladder["mode"], mode);
        let point = &ladder["points"][0];
        assert!(
            point["nopm"].as_f64().unwrap() > 0.0 && point["complete"] == true,
            "{point}"
        );
        assert_eq!(point["overall"]["counts"]["failed"], 0, "{point}");
        let trips = point["round_trips_per_txn"].as_f64().unwrap();
        assert!(
            if mode == "procedures" {
                trips < 1.2
            } else {
                trips > 10.0
            },
            "{point}"
        );
        let facts = json["facts"].to_string();
        assert!(
            facts.contains("MariaDB") && facts.contains("innodb_flush_log_at_trx_commit"),
            "{facts}"
        );
        fs::remove_file(place.path("x.run")).unwrap();
    }
    place.expect_clean();
}

#[test]
fn a_server_killed_while_measuring() {
    let place = Place::new();
    place.plan("mariadb", "users = [2]\nramp = \"1s\"\nmeasure = \"60s\"");
    let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
    run.until_it_says("measure for 1m");
    run.until_measured("x.run");
    send(server(&place).unwrap(), Signal::KILL);
    let outcome = run.wait();
    outcome.failed(
        1,
        &[
            "the server of system db ended unexpectedly",
            "signal: 9",
            "its log ends with:",
            "dmesg",
        ],
    );
    let json = place.opens("x.run");
    assert_eq!(json["run"]["status"], "failed");
    expect_died(&json["summary"]["ladders"][0]["points"][0]);
    wait_for("the server's end", || {
        processes_in(&place.path("")).is_empty().then_some(())
    });
    place.expect_clean();
}

#[test]
fn a_wrong_setting_gets_the_servers_words() {
    let place = Place::new();
    let text =
        fs::read_to_string(place.plan("mariadb", "users = [2]\nramp = \"1s\"\nmeasure = \"2s\""))
            .unwrap();
    let wrong = text.replace(
        "engine = ",
        "settings = { innodb_bufer_pool_size = \"1G\" }\nengine = ",
    );
    place.write("plan.toml", &wrong);
    let outcome = place.run(&["run", "plan.toml", "-o", "x.run"]);
    outcome.failed(
        1,
        &[
            "unknown variable 'innodb_bufer_pool_size=1G'",
            "correct `settings` in the plan",
        ],
    );
    place.expect_clean();
}

#[test]
fn nobody_listens_there() {
    let place = Place::new();
    let url = "mysql://tester:gh3im-W0rt@127.0.0.1:1/db";
    let checked = place.run(&["check", url]);
    assert!(
        !format!("{checked:?}").contains("gh3im-W0rt"),
        "{checked:?}"
    );
    checked.failed(
        1,
        &[
            "MariaDB at 127.0.0.1:1 cannot be reached",
            "Check host and port in the URL",
        ],
    );
}
