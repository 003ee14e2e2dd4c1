//! `bench simulate`: what a simulated request costs on one core.

use std::process::Command;

use crate::exec::{Failure, Task, because, cargo, failed, root};

use super::child;
use super::table::{Row, render};

/// Five million requests per second on one core.
const GOAL_NS: f64 = 200.0;

struct Case {
    figure: &'static str,
    drive: &'static str,
    profile: &'static str,
    depth: u32,
    millions: u64,
    goal: f64,
}

const fn of(
    figure: &'static str,
    drive: &'static str,
    profile: &'static str,
    depth: u32,
    goal: f64,
) -> Case {
    Case {
        figure,
        drive,
        profile,
        depth,
        millions: 20,
        goal,
    }
}

const CASES: [Case; 6] = [
    of(
        "NVMe, 4 KiB random reads, 32 in flight",
        "kingston-dc1500m-960g",
        "randread4k",
        32,
        GOAL_NS,
    ),
    of(
        "NVMe, 4 KiB random reads, 256 in flight",
        "samsung-pm9a3-3840g",
        "randread4k",
        256,
        GOAL_NS,
    ),
    of(
        "NVMe, 4 KiB random, 70 % reads, 32 in flight",
        "kingston-dc1500m-960g",
        "mix",
        32,
        GOAL_NS,
    ),
    of(
        "disk, 4 KiB random reads, 1 in flight",
        "disk-7200rpm-4t",
        "randread4k",
        1,
        GOAL_NS,
    ),
    of(
        "disk, 4 KiB random reads, 32 in flight",
        "disk-7200rpm-4t",
        "randread4k",
        32,
        GOAL_NS,
    ),
    of(
        "volume, 4 KiB random reads, 32 in flight",
        "aws-gp3",
        "randread4k",
        32,
        GOAL_NS,
    ),
];

pub fn run() -> Task {
    cargo(&[
        "build",
        "--release",
        "-p",
        "plimsoll-drive",
        "--example",
        "simulate_cost",
    ])
    .run()?;
    let mut rows = Vec::new();
    for case in &CASES {
        eprintln!("bench: {}", case.figure);
        rows.push(Row::new(
            case.figure,
            "ns per request",
            cost_ns(case)?,
            Some(case.goal),
        ));
    }
    print!("{}", render(&rows));
    let best = rows
        .iter()
        .map(|row| row.measured)
        .fold(f64::INFINITY, f64::min);
    println!(
        "at best {:.1} million simulated requests per second on one core",
        1e3 / best
    );
    match rows.iter().filter(|row| !row.is_met()).count() {
        0 => Ok(()),
        n => Err(Failure::Missed(format!("{n} goal(s) missed"))),
    }
}

/// CPU time per request: of many, less that of a tenth of them, so that starting up does not count.
fn cost_ns(case: &Case) -> Task<f64> {
    let many = simulate(case, case.millions * 1_000_000)?;
    let few = simulate(case, case.millions * 100_000)?;
    let requests = many.requests.saturating_sub(few.requests);
    let seconds = many.cpu_seconds - few.cpu_seconds;
    if requests == 0 || seconds <= 0.0 {
        return failed(format!(
            "{}: {} requests took no longer than {}",
            case.figure, many.requests, few.requests
        ));
    }
    Ok(seconds * 1e9 / requests as f64)
}

struct Simulated {
    cpu_seconds: f64,
    requests: u64,
}

fn simulate(case: &Case, requests: u64) -> Task<Simulated> {
    let mut command = Command::new(root().join("target/release/examples/simulate_cost"));
    command.args([
        case.drive,
        case.profile,
        &case.depth.to_string(),
        &requests.to_string(),
    ]);
    let cost = child::measure(&mut command)?;
    Ok(Simulated {
        cpu_seconds: cost.cpu.as_secs_f64(),
        requests: counted(&cost.stdout)?,
    })
}

fn counted(out: &str) -> Task<u64> {
    let Some(number) = out.lines().find_map(|line| line.strip_suffix(" requests")) else {
        return failed(format!(
            "simulate_cost did not print how many requests it simulated:\n{out}"
        ));
    };
    number
        .parse()
        .map_err(because(format!("simulate_cost's count '{number}'")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_found_or_missed() {
        assert_eq!(
            counted("440000 per simulated second\n20000000 requests\n").expect("a count"),
            20_000_000
        );
        assert!(counted("").is_err() && counted("many requests\n").is_err());
    }
}
