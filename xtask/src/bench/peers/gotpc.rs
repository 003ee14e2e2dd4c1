//! go-tpc, where it is installed: TPC-C in prepared statements over TCP, and plimsoll's statements over TCP beside it.
//! `go install github.com/pingcap/go-tpc/cmd/go-tpc@latest` gets it.

use std::process::{Command, Stdio};

use super::super::server::{Kind, Server};
use super::super::{USERS, child};
use super::Run;
use crate::exec::{Task, failed};

const PROGRAM: &str = "go-tpc";
const DATABASE: &str = "gotpc";

pub fn is_installed() -> bool {
    let mut asked = Command::new(PROGRAM);
    asked
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    asked.status().is_ok()
}

fn command(server: &Server, warehouses: u32, words: &[&str]) -> Command {
    let port = server.port();
    let mut command = server.client(PROGRAM);
    command.args(["tpcc", "--host=127.0.0.1", &format!("--port={port}")]);
    command.args([&format!("--db={DATABASE}"), &format!("--threads={USERS}")]);
    command.arg(format!("--warehouses={warehouses}"));
    match server.kind() {
        Kind::Postgres => command.args(["-U", "postgres", "-d", "postgres"]),
        Kind::Mariadb | Kind::Mysql => command.args(["-U", "tcp", "-d", "mysql"]),
    };
    if server.kind() == Kind::Postgres {
        command.args(["--conn-params", "sslmode=disable"]);
    }
    command.args(words);
    command
}

/// A database of its own, loaded by go-tpc.
pub fn prepare(server: &Server, warehouses: u32) -> Task {
    server.sql(&format!("CREATE DATABASE {DATABASE}"))?;
    child::measure(&mut command(server, warehouses, &["prepare", "--no-check"])).map(drop)
}

pub fn run(server: &Server, warehouses: u32, seconds: u32) -> Task<Run> {
    let time = format!("--time={seconds}s");
    let cost = child::measure(&mut command(server, warehouses, &["run", &time]))?;
    let per_second = per_minute(&cost.stdout, "tpmTotal:")? / 60.0;
    Ok(Run {
        cpu_us: cost.cpu.as_secs_f64() * 1e6 / (per_second * f64::from(seconds)),
        per_second,
        nopm: Some(per_minute(&cost.stdout, "tpmC:")?),
    })
}

/// New orders or transactions of all kinds: `tpmC: 12345.6, tpmTotal: 27435.1, efficiency: …`.
fn per_minute(printed: &str, name: &str) -> Task<f64> {
    let named = printed.split(name).nth(1);
    let number = named.and_then(|rest| rest.split([',', '\n']).next());
    match number.and_then(|text| text.trim().parse().ok()) {
        Some(number) if number > 0.0 => Ok(number),
        _ => failed(format!(
            "go-tpc did not print how many transactions it did:\n{printed}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_tpc_is_understood_or_refused() {
        let printed = "tpmC: 24000.5, tpmTotal: 53333.3, efficiency: 93312.2%\n";
        assert_eq!(per_minute(printed, "tpmTotal:").expect("a rate"), 53_333.3);
        assert_eq!(per_minute(printed, "tpmC:").expect("a rate"), 24_000.5);
        for rubbish in ["", "tpmTotal:", "tpmTotal: x", "tpmTotal: 0, "] {
            assert!(per_minute(rubbish, "tpmTotal:").is_err(), "{rubbish}");
        }
    }
}
