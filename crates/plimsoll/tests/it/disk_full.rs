//! A disk that fills up while it is loaded or measured: the run ends and reports which one, and keeps what was measured.

use crate::common::{Background, Place, Tmpfs};
use rustix::process::Signal;
use serde_json::Value;

/// Too small for a window, and enough for a server to log what is wrong.
const ROOM: u64 = 3 << 20;

/// Too small for a warehouse, and enough for a load that goes on meanwhile.
const ROOM_OF_LOAD: u64 = 16 << 20;

struct Small {
    place: Place,
    medium: Tmpfs,
}

impl Small {
    fn new(engine: &str, system: &str) -> Self {
        let place = Place::new();
        let medium = Tmpfs::mount(&place.medium(), "8g");
        let plan = place.plan(
            engine,
            "users = 4\nramp = \"1s\"\nmeasure = \"30m\"\ncool = \"30m\"",
        );
        let text = std::fs::read_to_string(plan).unwrap();
        place.write(
            "plan.toml",
            &text.replace("[workload", &format!("{system}\n[workload")),
        );
        Self { place, medium }
    }

    /// Leaves next to no space when it has measured for a while.
    fn fill_up(&self) -> Background {
        let mut run = self.place.start(&["run", "plan.toml", "-o", "x.run"]);
        run.wait_for_message("· measure for 30m");
        run.until_measured("x.run");
        self.leave(ROOM);
        run
    }

    fn leave(&self, room: u64) {
        let stat = rustix::fs::statvfs(self.place.medium()).unwrap();
        let used = (stat.f_blocks - stat.f_bfree) * stat.f_frsize;
        self.medium.shrink(&(used + room).to_string());
    }

    /// Somebody else takes the space that the plan needs while data are loaded. `disk`: as far as the system knows it.
    fn expect_full_while_loading(self, disk: &str) {
        let mut run = self.place.start(&["run", "plan.toml", "-o", "x.run"]);
        run.wait_for_message("oltp: loading");
        self.leave(ROOM_OF_LOAD);
        let phrases = ["no space left on", disk, "Free space there", "--data-scale"];
        run.wait().failed(1, &phrases);
        self.place.expect_no_run("x.run");
        self.place.expect_clean();
    }

    /// Three lines, the point invalid, its figures kept, nothing left.
    fn expect_full(self, run: Background, why: &str) {
        let medium = self.place.medium().display().to_string();
        let outcome = run.wait();
        let lines = [
            &format!("no space left on {medium}"),
            why,
            " free of ",
            "Free space there",
            "--data-scale",
        ];
        let outcome = outcome.failed(1, &lines);
        assert!(outcome.stdout.contains("invalid"), "{outcome:?}");
        let json = self.place.opens("x.run");
        assert_eq!(json["run"]["status"], "failed");
        let point = &json["summary"]["ladders"][0]["points"][0];
        assert_eq!(point["verdict"], "invalid", "{point}");
        assert!(point["nopm"]["value"].as_f64().unwrap() > 0.0, "{point}");
        let full =
            |finding: &&Value| finding["event"] == "disk_full" && finding["severity"] == "error";
        let finding = point["findings"].as_array().unwrap().iter().find(full);
        assert!(
            finding.unwrap()["args"]["place"]
                .as_str()
                .unwrap()
                .contains(&medium),
            "{point}"
        );
        self.place.expect_clean();
    }
}

#[test]
fn of_sqlite() {
    let small = Small::new("sqlite", "");
    let run = small.fill_up();
    small.expect_full(run, "database or disk is full");
}

#[test]
fn of_postgres() {
    let small = Small::new("postgres", "");
    let run = small.fill_up();
    small.expect_full(run, "No space left on device");
}

#[test]
fn of_mariadb() {
    let small = Small::new("mariadb", "");
    let run = small.fill_up();
    small.expect_full(run, "error 1114");
}

#[test]
fn of_sqlite_while_loading() {
    Small::new("sqlite", "").expect_full_while_loading("medium/.plimsoll/");
}

#[test]
fn of_postgres_while_loading() {
    // By the path of its log, or by its own word where a table's file finds no room first.
    Small::new("postgres", "").expect_full_while_loading("no space left on");
}

#[test]
fn of_mariadb_while_loading() {
    Small::new("mariadb", "").expect_full_while_loading("the server's disk");
}

/// It waits for space and answers nobody meanwhile: its log states why.
#[test]
fn of_a_mariadb_that_waits_for_space() {
    let small = Small::new(
        "mariadb",
        "[system.db.settings]\nlog_bin = \"binlog\"\nserver_id = 1",
    );
    let run = small.fill_up();
    small.expect_full(run, "No space left on device");
}

/// As soon as nothing comes to its end any more, whatever comes first.
#[test]
fn and_ctrl_c() {
    let small = Small::new(
        "mariadb",
        "[system.db.settings]\nlog_bin = \"binlog\"\nserver_id = 1",
    );
    let run = small.fill_up();
    run.signal(Signal::INT);
    run.signal(Signal::INT);
    let outcome = run.wait();
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let json = small.place.opens("x.run");
    assert!(
        json["summary"]["ladders"][0]["points"][0]["nopm"]["value"]
            .as_f64()
            .unwrap()
            > 0.0
    );
    small.place.expect_clean();
}
