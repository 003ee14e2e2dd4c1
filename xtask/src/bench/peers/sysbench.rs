//! The real sysbench, and plimsoll's workload of the same statements on tables of the same size.

use std::process::Command;

use super::super::server::{Kind, Server};
use super::super::{USERS, child};
use super::Run;
use crate::exec::{Task, because, failed};

const TABLES: u32 = 4;
const ROWS: u32 = 10_000;
const DATABASE: &str = "sbtest";

/// The rest of a workload's table, from its kind on.
pub fn workload() -> String {
    format!("sysbench]\nscript = \"read_write\"\ntables = {TABLES}\nrows = {ROWS}")
}

fn command(server: &Server, words: &[&str]) -> Command {
    let mut command = server.client("sysbench");
    let dir = server.socket().display().to_string();
    match server.kind() {
        Kind::Postgres => command
            .args(["--db-driver=pgsql", "--pgsql-user=postgres"])
            .args([
                format!("--pgsql-host={dir}"),
                format!("--pgsql-port={}", server.port()),
                format!("--pgsql-db={DATABASE}"),
            ]),
        Kind::Mariadb | Kind::Mysql => command
            .args(["--db-driver=mysql", "--mysql-user=root"])
            .args([
                format!("--mysql-socket={dir}/socket"),
                format!("--mysql-db={DATABASE}"),
            ]),
    };
    command
        .arg(format!("--tables={TABLES}"))
        .arg(format!("--table-size={ROWS}"))
        .args(words);
    command
}

/// A database of its own, loaded by sysbench.
pub fn prepare(server: &Server) -> Task {
    server.sql(&format!("CREATE DATABASE {DATABASE}"))?;
    child::measure(&mut command(server, &["oltp_read_write", "prepare"])).map(drop)
}

pub fn run(server: &Server, seconds: u32) -> Task<Run> {
    let words = [format!("--threads={USERS}"), format!("--time={seconds}")];
    let words = ["oltp_read_write", &words[0], &words[1], "run"];
    let cost = child::measure(&mut command(server, &words))?;
    let count = transactions(&cost.stdout)?;
    Ok(Run {
        cpu_us: cost.cpu.as_secs_f64() * 1e6 / count,
        per_second: count / f64::from(seconds),
        nopm: None,
    })
}

/// `    transactions:                        3124   (312.05 per sec.)`.
fn transactions(printed: &str) -> Task<f64> {
    let line = printed
        .lines()
        .find_map(|line| line.trim_start().strip_prefix("transactions:"));
    let Some(number) = line.and_then(|rest| rest.split_whitespace().next()) else {
        return failed(format!(
            "sysbench did not print how many transactions it did:\n{printed}"
        ));
    };
    match number
        .parse::<u32>()
        .map_err(because(format!("sysbench's count '{number}'")))?
    {
        0 => failed("sysbench did no transaction"),
        n => Ok(n.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sysbench_is_understood_or_refused() {
        let printed =
            "SQL statistics:\n    transactions:                        3124   (312.05 per sec.)\n";
        assert_eq!(transactions(printed).expect("a count"), 3124.0);
        for rubbish in [
            "",
            "transactions:",
            "transactions: x (1 per sec.)",
            "transactions: 0 (0 per sec.)",
        ] {
            assert!(transactions(rubbish).is_err(), "{rubbish}");
        }
    }
}
