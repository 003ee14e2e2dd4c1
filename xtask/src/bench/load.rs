//! `bench load`: what loading one warehouse into PostgreSQL costs the client, and how long it takes.

use crate::exec::{Failure, Task, failed};

use super::server::{Kind, Server};
use super::table::{Row, render};
use super::{Options, Plimsoll, SETTINGS, plan};

const CPU_S: f64 = 0.5;
const WALL_S: f64 = 4.0;

/// A run with the shortest load: one user for one second, which costs a client some hundredths of a second of CPU.
/// All of it is counted as loading, so the figures are upper bounds; the second of measuring is taken off the wall.
pub fn run(options: &Options) -> Task {
    if options.pgbench_only {
        return Err(Failure::Usage(
            "--pgbench-only belongs to bench client".into(),
        ));
    }
    let plimsoll = Plimsoll::build()?;
    let server = Server::start(Kind::Postgres, &options.dir, &SETTINGS)?;
    eprintln!("bench: loading {} warehouses", options.warehouses);
    let run = plimsoll.run(
        "load",
        &plan(&server, "procedures", options.warehouses, 1, 0, 1),
    )?;
    let cpu = run.cost.cpu.as_secs_f64();
    let wall = run.cost.wall.as_secs_f64() - 1.0;
    if wall <= 0.0 {
        return failed("the run was over within its second of load: nothing can have been loaded");
    }
    let rows = rows(cpu, wall, options.warehouses, run.cost.peak_rss);
    print!("{}", render(&rows));
    match rows.iter().filter(|row| !row.is_met()).count() {
        0 => Ok(()),
        n => Err(Failure::Missed(format!("{n} goal(s) missed"))),
    }
}

fn rows(cpu_s: f64, wall_s: f64, warehouses: u32, peak_rss: u64) -> [Row; 3] {
    [
        Row::new(
            "client CPU per warehouse",
            "s",
            cpu_s / f64::from(warehouses),
            Some(CPU_S),
        ),
        Row::new(
            "wall time per warehouse",
            "s",
            wall_s / f64::from(warehouses),
            Some(WALL_S),
        ),
        Row::new("peak memory (RSS)", "MB", peak_rss as f64 / 1e6, None),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_per_warehouse() {
        let rows = rows(1.0, 20.0, 4, 7_000_000);
        assert_eq!(rows.clone().map(|row| row.measured), [0.25, 5.0, 7.0]);
        assert_eq!(rows.map(|row| row.is_met()), [true, false, true]);
    }
}
