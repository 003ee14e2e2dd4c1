//! `cases`: runs loads that were emulated in real time again in virtual time, and compares both.
//!
//! Cases are the plans of SQLite in `runs/*/predict`, each beside the run file that was recorded with it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::exec::{Failure, Task, because, failed, root};

/// Goals: median and 90th percentile of the error of throughput, median of that of p99, in percent.
const MEDIAN: f64 = 4.0;
const NINETY: f64 = 12.0;
const P99_MEDIAN: f64 = 15.0;
/// Loads that differ by less have no order, in percent.
const PAIR: f64 = 10.0;

struct Load {
    medium: String,
    users: u64,
    per_second: f64,
    p99_ms: f64,
}

struct Case {
    plan: String,
    recorded: Load,
    simulated: Load,
}

pub fn run(words: &[&str]) -> Task {
    let binary = match words {
        [] => root().join("target/release/plimsoll"),
        ["--binary", file] => PathBuf::from(file),
        _ => return Err(Failure::Usage("cases [--binary FILE]".into())),
    };
    let dir = root().join("target/tmp/cases");
    fs::create_dir_all(&dir).map_err(because(dir.display()))?;
    let mut cases = Vec::new();
    for plan in plans()? {
        let own = of_plan(&binary, &plan, &dir)?;
        for Case {
            plan,
            recorded,
            simulated,
        } in &own
        {
            println!(
                "{plan:16} {:22} {:2} users  {:7.1}/s recorded {:7.1}/s simulated {:+6.1} %   p99 {:7.1} ms {:7.1} ms",
                recorded.medium,
                recorded.users,
                recorded.per_second,
                simulated.per_second,
                off(recorded.per_second, simulated.per_second),
                recorded.p99_ms,
                simulated.p99_ms,
            );
        }
        cases.extend(own);
    }
    summary(&cases)
}

fn plans() -> Task<Vec<PathBuf>> {
    let runs = root().join("runs");
    let mut found = Vec::new();
    for run in fs::read_dir(&runs)
        .map_err(because(runs.display()))?
        .flatten()
    {
        let files = fs::read_dir(run.path().join("predict"))
            .into_iter()
            .flatten()
            .flatten();
        let paths = files.map(|file| file.path());
        found.extend(paths.filter(|path| {
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or_default();
            name.starts_with("sqlite") && name.ends_with(".toml")
        }));
    }
    found.sort();
    Ok(found)
}

fn of_plan(binary: &Path, plan: &Path, dir: &Path) -> Task<Vec<Case>> {
    let name = plan
        .file_stem()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let own = dir.join(format!("{name}.plimsoll"));
    let _ = fs::remove_file(&own);
    let mut run = Command::new(binary);
    run.args(["run", "--quiet", "--seed", "1", "--format", "json", "-o"])
        .arg(&own)
        .arg(plan);
    let ran = run
        .current_dir(dir)
        .output()
        .map_err(because(binary.display()))?;
    if !ran.status.success() {
        return failed(String::from_utf8_lossy(&ran.stderr));
    }
    let recorded = loads(binary, &plan.with_extension("plimsoll"))?;
    let mut simulated = loads(binary, &own)?;
    let pairs = recorded.into_iter().filter_map(|recorded| {
        let is_same = |own: &Load| own.medium == recorded.medium && own.users == recorded.users;
        let place = simulated.iter().position(is_same)?;
        let simulated = simulated.swap_remove(place);
        let plan = name.to_owned();
        Some(Case {
            plan,
            recorded,
            simulated,
        })
    });
    Ok(pairs.collect())
}

fn loads(binary: &Path, run: &Path) -> Task<Vec<Load>> {
    let export = Command::new(binary)
        .args(["export", "--to", "json"])
        .arg(run)
        .output();
    let export = export.map_err(because(binary.display()))?;
    let json: Value = serde_json::from_slice(&export.stdout).map_err(because(run.display()))?;
    let ladders = json["summary"]["ladders"].as_array().into_iter().flatten();
    let points = ladders.flat_map(|ladder| ladder["points"].as_array().into_iter().flatten());
    let load = |point: &Value| {
        Some(Load {
            medium: point["medium"].as_str()?.to_owned(),
            users: point["users"].as_u64()?,
            per_second: point["completed_per_second"]["value"]
                .as_f64()
                .filter(|rate| *rate > 0.0)?,
            p99_ms: point["overall"]["response"]["p99_ms"].as_f64()?,
        })
    };
    Ok(points.filter_map(load).collect())
}

/// In percent.
fn off(recorded: f64, simulated: f64) -> f64 {
    100.0 * (simulated / recorded - 1.0)
}

fn summary(cases: &[Case]) -> Task {
    let rates = errors(cases, |load| load.per_second);
    let p99s = errors(cases, |load| load.p99_ms);
    let (right, pairs) = ordered(cases);
    let (median, ninety, p99) = (
        quantile(&rates, 0.5),
        quantile(&rates, 0.9),
        quantile(&p99s, 0.5),
    );
    let text = format!(
        "{} cases: throughput off by {median:.1} % in the median (goal {MEDIAN} %), 90 % within {ninety:.1} % (goal {NINETY} \
         %); p99 off by {p99:.1} % in the median (goal {P99_MEDIAN} %); order right in {right} of {pairs} pairs",
        cases.len()
    );
    println!("{text}");
    match median <= MEDIAN && ninety <= NINETY && p99 <= P99_MEDIAN && right == pairs {
        true => Ok(()),
        false => Err(Failure::Missed(text)),
    }
}

fn errors(cases: &[Case], figure: impl Fn(&Load) -> f64) -> Vec<f64> {
    let mut errors: Vec<f64> = cases
        .iter()
        .map(|case| off(figure(&case.recorded), figure(&case.simulated)).abs())
        .collect();
    errors.sort_by(f64::total_cmp);
    errors
}

fn quantile(sorted: &[f64], q: f64) -> f64 {
    let place = (sorted.len() as f64 * q) as usize;
    sorted
        .get(place.min(sorted.len().saturating_sub(1)))
        .copied()
        .unwrap_or(f64::NAN)
}

/// Of pairs of one plan and as many users that were recorded apart: how many are simulated in their order, and all.
fn ordered(cases: &[Case]) -> (usize, usize) {
    let (mut right, mut pairs) = (0, 0);
    for (number, one) in cases.iter().enumerate() {
        for other in &cases[..number] {
            let is_pair = one.plan == other.plan && one.recorded.users == other.recorded.users;
            let recorded = off(other.recorded.per_second, one.recorded.per_second);
            if is_pair && recorded.abs() > PAIR {
                let simulated = off(other.simulated.per_second, one.simulated.per_second);
                pairs += 1;
                right += usize::from(recorded.signum() == simulated.signum());
            }
        }
    }
    (right, pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(medium: &str, recorded: f64, simulated: f64) -> Case {
        let load = |per_second| Load {
            medium: medium.to_owned(),
            users: 4,
            per_second,
            p99_ms: 1.0,
        };
        Case {
            plan: "a".to_owned(),
            recorded: load(recorded),
            simulated: load(simulated),
        }
    }

    #[test]
    fn pairs_that_are_apart_are_compared_in_their_order() {
        let cases = [
            case("a", 100.0, 90.0),
            case("b", 200.0, 95.0),
            case("c", 205.0, 80.0),
        ];
        assert_eq!(ordered(&cases), (1, 2));
        let errors = errors(&cases, |load| load.per_second);
        assert!((quantile(&errors, 0.5) - 52.5).abs() < 1e-9);
    }
}
