//! HammerDB, where HAMMERDB names the folder of its `hammerdbcli`: its TPROC-C in stored procedures, over the socket as
//! plimsoll's procedures.
//!
//! Its timed driver counts new orders in the database at the start and at the end of a test and prints a line at both;
//! the CPU time between these lines counts, of all its threads, and not its start. HammerDB gives no number of
//! transactions, for its TPM counts another thing on each database. It draws 10 new orders of 23 transactions, so 2.3
//! transactions are counted for each: to within 1 %.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::server::{Kind, Server};
use super::super::{USERS, child};
use super::Run;
use crate::exec::{Task, because, failed};

const TRANSACTIONS_PER_NEW_ORDER: f64 = 2.3;
/// Its database, its user, and that user's password on a server that lives as long as the bench.
const ACCOUNT: &str = "hammerdb";
/// Its times are minutes, and its driver sleeps for 6 seconds at a time.
const STEP_S: u32 = 6;
const WINDOW: child::Window = child::Window {
    from: "Timing test period of",
    to: "Test complete, Taking end Transaction Count",
};
/// `vurun` and `buildschema` wait by themselves for whole minutes only.
const WAIT: &str = "while {![vucomplete]} { after 200 {set waited 1}; vwait waited }\n";

pub struct HammerDb {
    folder: PathBuf,
    /// For its scripts, and for settings that it would keep from one run to the next.
    work: PathBuf,
    version: String,
}

impl HammerDb {
    pub fn find(work: &Path) -> Task<Option<Self>> {
        let Some(folder) = std::env::var_os("HAMMERDB") else {
            return Ok(None);
        };
        let mut found = Self {
            folder: folder.into(),
            work: work.join("hammerdb"),
            version: String::new(),
        };
        let greeting = child::measure(&mut found.command("exit\n")?)?.stdout;
        found.version = version(&greeting)?;
        Ok(Some(found))
    }

    pub fn title(&self, seconds: u32) -> String {
        let seconds = whole_steps(seconds) * STEP_S;
        format!("HammerDB {}, procedures, {seconds} s", self.version)
    }

    /// A database of its own, loaded by HammerDB.
    pub fn prepare(&self, server: &Server, warehouses: u32) -> Task {
        if server.kind() != Kind::Postgres {
            server.sql(&format!(
                "CREATE USER {ACCOUNT}@localhost IDENTIFIED BY '{ACCOUNT}'; \
                 GRANT ALL ON *.* TO {ACCOUNT}@localhost"
            ))?;
        }
        let loaders = warehouses.min(USERS);
        let settings = [
            ("count_ware", warehouses.to_string()),
            ("num_vu", loaders.to_string()),
        ];
        let script = settings_of(server, &settings) + "buildschema\n" + WAIT;
        let printed = child::measure(&mut self.command(&script)?)?.stdout;
        refuse_failure(&printed)
    }

    pub fn run(&self, server: &Server, seconds: u32) -> Task<Run> {
        let steps = whole_steps(seconds);
        let settings = [
            ("driver", "timed".into()),
            ("raiseerror", "true".into()),
            ("rampup", minutes(1)),
            ("duration", minutes(steps)),
        ];
        let run = format!("loadscript\nvuset vu {USERS}\nvucreate\nvurun\n{WAIT}vudestroy\n");
        let script = settings_of(server, &settings) + &run;
        let cost = child::measure_window(&mut self.command(&script)?, &WINDOW)?;
        refuse_failure(&cost.stdout)?;
        let nopm = new_orders_per_minute(&cost.stdout)?;
        let per_second = nopm * TRANSACTIONS_PER_NEW_ORDER / 60.0;
        let count = per_second * f64::from(steps * STEP_S);
        Ok(Run {
            cpu_us: cost.cpu.as_secs_f64() * 1e6 / count,
            per_second,
            nopm: Some(nopm),
        })
    }

    fn command(&self, script: &str) -> Task<Command> {
        if self.work.exists() {
            std::fs::remove_dir_all(&self.work).map_err(because(self.work.display()))?;
        }
        std::fs::create_dir_all(&self.work).map_err(because(self.work.display()))?;
        let file = self.work.join("script.tcl");
        let text = format!("fconfigure stdout -buffering line\n{script}");
        std::fs::write(&file, text).map_err(because(file.display()))?;
        let mut command = Command::new(self.folder.join("hammerdbcli"));
        command.args(["tcl", "auto"]).arg(file);
        // It looks for its modules in the current directory.
        command.env("TMP", &self.work).current_dir(&self.folder);
        Ok(command)
    }
}

/// The lines that name the server and its account, then those of `more`; each setting begins with the database's name.
fn settings_of(server: &Server, more: &[(&str, String)]) -> String {
    let folder = server.socket().display();
    let (database, own) = match server.kind() {
        Kind::Postgres => (
            "pg",
            format!(
                "connection pg_host {folder}\nconnection pg_port {}\n\
                 connection pg_sslmode disable\ntpcc pg_storedprocs true",
                server.port()
            ),
        ),
        Kind::Mariadb => (
            "maria",
            format!("connection maria_host localhost\nconnection maria_socket {folder}/socket"),
        ),
        Kind::Mysql => (
            "mysql",
            format!("connection mysql_host localhost\nconnection mysql_socket {folder}/socket"),
        ),
    };
    let mut script = format!("dbset db {database}\ndbset bm TPC-C\n");
    for line in own.lines() {
        script += &format!("diset {line}\n");
    }
    for name in ["user", "pass", "dbase"] {
        script += &format!("diset tpcc {database}_{name} {ACCOUNT}\n");
    }
    for (name, value) in more {
        script += &format!("diset tpcc {database}_{name} {value}\n");
    }
    script
}

fn whole_steps(seconds: u32) -> u32 {
    seconds.div_ceil(STEP_S)
}

/// Of steps of 6 seconds: 12 are 1.2 minutes.
fn minutes(steps: u32) -> String {
    format!("{}.{}", steps / 10, steps % 10)
}

/// It ends well even when a user of it has failed.
fn refuse_failure(printed: &str) -> Task {
    let Some(line) = printed
        .lines()
        .find(|line| line.contains("Error in Virtual User"))
    else {
        return Ok(());
    };
    failed(format!("HammerDB: {line}"))
}

/// `HammerDB CLI v4.12`.
fn version(printed: &str) -> Task<String> {
    match printed
        .split("HammerDB CLI v")
        .nth(1)
        .and_then(|rest| rest.lines().next())
    {
        Some(version) if !version.is_empty() => Ok(version.into()),
        _ => failed(format!("HammerDB did not print its version:\n{printed}")),
    }
}

/// `Vuser 1:TEST RESULT : System achieved 12375.0 NOPM from 28225.0 PostgreSQL TPM`.
fn new_orders_per_minute(printed: &str) -> Task<f64> {
    let result = printed.split("System achieved").nth(1);
    let number = result.and_then(|rest| rest.split("NOPM").next());
    match number.and_then(|text| text.trim().parse().ok()) {
        Some(number) if number > 0.0 => Ok(number),
        _ => failed(format!(
            "HammerDB did not print how many new orders it did:\n{printed}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hammerdb_is_understood_or_refused() {
        let printed = "HammerDB CLI v4.12\nCopyright\n\
                       Vuser 1:TEST RESULT : System achieved 12375.0 NOPM from 28225.0 MariaDB TPM\n";
        assert_eq!(new_orders_per_minute(printed).expect("a rate"), 12_375.0);
        assert_eq!(version(printed).expect("a version"), "4.12");
        assert!(refuse_failure(printed).is_ok());
        assert!(refuse_failure("Error in Virtual User 2: deadlock\n").is_err());
        for rubbish in [
            "",
            "HammerDB CLI v",
            "System achieved x NOPM",
            "System achieved 0 NOPM",
        ] {
            assert!(new_orders_per_minute(rubbish).is_err(), "{rubbish}");
            assert!(version(rubbish).is_err(), "{rubbish}");
        }
    }

    #[test]
    fn times_are_tenths_of_minutes() {
        let shown = [1, 6, 7, 60, 61].map(|seconds| minutes(whole_steps(seconds)));
        assert_eq!(shown, ["0.1", "0.1", "0.2", "1.0", "1.1"]);
    }
}
