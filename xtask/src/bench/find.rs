//! `bench find`: load lines that searches find on the mock engine in virtual time, beside the true ones.
//!
//! The truth of M/M/c is a formula, that of the other systems a simulation of a queue with the same servers, written
//! here and sharing nothing with what is tried.

mod queue;

use std::path::Path;

use crate::exec::{Task, failed};

use super::{Plimsoll, usage};
use queue::{Arrivals, Service, System};

/// A found line this close to the true one is right.
const NEAR: f64 = 0.05;
/// Of 100 seeds.
const GOAL: f64 = 0.95;

struct Options<'a> {
    seeds: u32,
    binary: Option<&'a Path>,
    /// Systems whose names hold this.
    only: &'a str,
}

/// A system to search, and how long each load is measured.
struct Case {
    name: &'static str,
    system: System,
    limit_ms: f64,
    measure_s: u32,
}

const SYSTEM: System = System {
    servers: 4,
    arrivals: Arrivals::Poisson,
    service: Service {
        fixed_s: 0.0,
        jitter_s: 0.0,
        exponential_s: 0.0,
        slow: (0.0, 0.0),
    },
    stall_s: 0.0,
};

const CASES: [Case; 5] = [
    Case {
        name: "M/M/1, 5 ms",
        system: System {
            servers: 1,
            service: Service {
                exponential_s: 0.005,
                ..SYSTEM.service
            },
            ..SYSTEM
        },
        limit_ms: 460.0,
        measure_s: 100,
    },
    Case {
        name: "M/M/8, 20 ms",
        system: System {
            servers: 8,
            service: Service {
                exponential_s: 0.02,
                ..SYSTEM.service
            },
            ..SYSTEM
        },
        limit_ms: 240.0,
        measure_s: 50,
    },
    Case {
        name: "noise: 4 × 10 to 30 ms",
        system: System {
            service: Service {
                fixed_s: 0.01,
                jitter_s: 0.02,
                ..SYSTEM.service
            },
            ..SYSTEM
        },
        limit_ms: 200.0,
        measure_s: 130,
    },
    Case {
        name: "bimodal: 4 × 8 to 12 ms, 2 % 60 ms more",
        system: System {
            service: Service {
                fixed_s: 0.008,
                jitter_s: 0.004,
                slow: (0.02, 0.06),
                ..SYSTEM.service
            },
            ..SYSTEM
        },
        limit_ms: 180.0,
        measure_s: 70,
    },
    Case {
        name: "stalls: 4 × 10 ms, 50 ms of each second",
        system: System {
            arrivals: Arrivals::Constant,
            service: Service {
                fixed_s: 0.01,
                ..SYSTEM.service
            },
            stall_s: 0.05,
            ..SYSTEM
        },
        limit_ms: 100.0,
        measure_s: 20,
    },
];

fn parse<'a>(words: &[&'a str]) -> Option<Options<'a>> {
    let mut options = Options {
        seeds: 100,
        binary: None,
        only: "",
    };
    for pair in words.chunks(2) {
        match *pair {
            ["--seeds", seeds] => options.seeds = seeds.parse().ok().filter(|seeds| *seeds > 0)?,
            ["--binary", file] => options.binary = Some(Path::new(file)),
            ["--only", only] => options.only = only,
            _ => return None,
        }
    }
    Some(options)
}

pub fn run(words: &[&str]) -> Task {
    let Some(options) = parse(words) else {
        return usage(
            "bench find takes --seeds N (100), --binary FILE (a plimsoll that is built already) and --only TEXT".into(),
        );
    };
    let plimsoll = match options.binary {
        Some(file) => Plimsoll::built(file)?,
        None => Plimsoll::build()?,
    };
    println!(
        "{:<40} {:>6} {:>7} {:>15} {:>17} {:>6}",
        "system (p99 limit)", "truth", "median", "5 to 95 of 100", "within 5 % of it", "loads"
    );
    let mut missed = 0;
    for case in CASES.iter().filter(|case| case.name.contains(options.only)) {
        missed += u32::from(!try_case(&plimsoll, case, options.seeds)?);
    }
    match missed {
        0 => Ok(()),
        n => failed(format!(
            "{n} of the systems were not found in 95 of 100 searches"
        )),
    }
}

/// Whether enough searches found the line.
fn try_case(plimsoll: &Plimsoll, case: &Case, seeds: u32) -> Task<bool> {
    let truth = case.system.line(case.limit_ms / 1e3);
    let mut found = Vec::new();
    let mut loads = Vec::new();
    // Several may run at once.
    let name = format!("find-{}", std::process::id());
    for seed in 1..=seeds {
        let plan = case.plan(seed);
        let run = plimsoll.run_with(&name, &plan, &["--virtual-time", "--quiet"])?;
        let line = &run.json["summary"]["ladders"][0]["line"];
        // No line at all is as wrong as one can be.
        found.push(line["line"].as_f64().unwrap_or(0.0));
        loads.push(line["tried"].as_array().map_or(0, Vec::len));
    }
    let near = found
        .iter()
        .filter(|line| (**line / truth - 1.0).abs() <= NEAR)
        .count();
    found.sort_by(f64::total_cmp);
    loads.sort_unstable();
    let at = |share: f64| found[((found.len() - 1) as f64 * share).round() as usize];
    println!(
        "{:<40} {truth:>6.1} {:>7.1} {:>7.1} {:>7.1} {:>8} of {:>4} {:>6}",
        format!("{} ({} ms)", case.name, case.limit_ms),
        at(0.5),
        at(0.05),
        at(0.95),
        near,
        found.len(),
        loads[loads.len() / 2],
    );
    Ok(near as f64 >= GOAL * f64::from(seeds))
}

impl Case {
    fn plan(&self, seed: u32) -> String {
        let System {
            servers,
            arrivals,
            service,
            stall_s,
        } = self.system;
        let Service {
            fixed_s,
            jitter_s,
            exponential_s,
            slow: (share, by),
        } = service;
        let ms = |seconds: f64| format!("\"{}ms\"", (seconds * 1e3).round());
        // Over the longest window, with its ramp and its end.
        let seconds = if stall_s > 0.0 { 2 * self.measure_s } else { 0 };
        let stalls: Vec<String> = (0..seconds)
            .map(|at| format!("{{ at = \"{at}s\", lasts = {} }}", ms(stall_s)))
            .collect();
        format!(
            "title = \"{}\"\nseed = {seed}\n\
             [system.m.mock]\nlatency = {}\njitter = {}\nexponential = {}\nslow = {{ share = {share}, by = {} }}\n\
             stalls = [{}]\n\
             [workload.oltp.tpcc]\nwarehouses = 1\n\
             [[step]]\nrun = \"oltp\"\nsystem = \"m\"\nrate = 100\nusers = {servers}\narrivals = \"{}\"\n\
             find = {{ p99_ms = {}, precision = 0.03 }}\nramp = \"5s\"\nmeasure = \"{}s\"\ncheck = \"off\"\n",
            self.name,
            ms(fixed_s),
            ms(jitter_s),
            ms(exponential_s),
            ms(by),
            stalls.join(", "),
            arrivals.name(),
            self.limit_ms,
            self.measure_s,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_is_refused() {
        for bad in [&["--seeds"][..], &["--seeds", "0"], &["x"], &["--wat", "1"]] {
            assert_eq!(run(bad).expect_err("nonsense").exit_code(), 2, "{bad:?}");
        }
    }
}
