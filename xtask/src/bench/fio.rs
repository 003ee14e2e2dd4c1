//! `bench fio`: what a job of fio's loses under plimsoll, beside the same job alone, in turns.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::Plimsoll;
use super::table::{Row, render};
use crate::exec::{Failure, Task, because, failed};

/// Share of the requests per second that may be lost, in percent.
const GOAL: f64 = 2.0;
const RAMP_S: u32 = 2;
const SIZE_MIB: u32 = 256;

#[derive(Debug, PartialEq)]
struct Options {
    seconds: u32,
    /// Rounds: in each the job runs once alone and once under plimsoll.
    rounds: u32,
    dir: PathBuf,
    /// A plimsoll that is built already; the release build unless given.
    binary: Option<PathBuf>,
}

fn parse(words: &[&str]) -> Task<Options> {
    let mut options = Options {
        seconds: 10,
        rounds: 5,
        dir: "/var/tmp".into(),
        binary: None,
    };
    for pair in words.chunks(2) {
        match pair {
            ["--seconds", value] => options.seconds = super::number(pair[0], value)?,
            ["--tries", value] => options.rounds = super::number(pair[0], value)?,
            ["--dir", value] => options.dir = value.into(),
            ["--binary", value] => options.binary = Some(value.into()),
            _ => return super::usage(format!("{} is unknown, or needs a value", pair[0])),
        }
    }
    Ok(options)
}

struct Case {
    figure: &'static str,
    depth: u32,
}

/// Many requests at a time, which keep a processor busy; and one at a time, which feel every delay.
const CASES: [Case; 2] = [
    Case {
        figure: "4 KiB random reads, 32 in flight",
        depth: 32,
    },
    Case {
        figure: "4 KiB random reads, 1 in flight",
        depth: 1,
    },
];

pub fn run(words: &[&str]) -> Task {
    let options = parse(words)?;
    let plimsoll = match &options.binary {
        Some(binary) => Plimsoll::built(binary)?,
        None => Plimsoll::build()?,
    };
    let place = Place::new(&options.dir)?;
    let mut rows = Vec::new();
    for case in &CASES {
        let rounds = measure(&plimsoll, &place, case, &options)?;
        println!("{}", reported(case, &rounds));
        rows.push(Row {
            figure: case.figure,
            unit: "% of IOPS lost",
            measured: lost_percent(&rounds),
            goal: Some(GOAL),
            to_pgbench: None,
        });
    }
    print!("{}", render(&rows));
    match rows.iter().filter(|row| !row.is_met()).count() {
        0 => Ok(()),
        n => Err(Failure::Missed(format!("{n} goal(s) missed"))),
    }
}

/// Requests per second.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Round {
    alone: f64,
    under: f64,
}

/// Who goes first changes from round to round.
fn measure(plimsoll: &Plimsoll, place: &Place, case: &Case, options: &Options) -> Task<Vec<Round>> {
    let mut rounds = Vec::new();
    for number in 1..=options.rounds {
        eprintln!(
            "bench: {}, round {number} of {}",
            case.figure, options.rounds
        );
        // Fields are evaluated as they stand here.
        rounds.push(if number % 2 == 1 {
            Round {
                alone: place.alone(case, options.seconds)?,
                under: under(plimsoll, place, case, options.seconds)?,
            }
        } else {
            Round {
                under: under(plimsoll, place, case, options.seconds)?,
                alone: place.alone(case, options.seconds)?,
            }
        });
    }
    Ok(rounds)
}

fn reported(case: &Case, rounds: &[Round]) -> String {
    let lines: Vec<String> = rounds
        .iter()
        .map(|round| format!("  {:.0} / {:.0}", round.alone, round.under))
        .collect();
    let alone = median(rounds, |round| round.alone);
    let under = median(rounds, |round| round.under);
    format!(
        "{}: IOPS alone / under plimsoll\n{}\n  medians {alone:.0} / {under:.0}, ratio {:.4}; median of the rounds' ratios {:.4}",
        case.figure,
        lines.join("\n"),
        under / alone,
        median(rounds, |round| round.under / round.alone)
    )
}

/// Of the medians over all rounds: what else runs on the machine hits either side.
fn lost_percent(rounds: &[Round]) -> f64 {
    (1.0 - median(rounds, |round| round.under) / median(rounds, |round| round.alone)) * 100.0
}

fn median(rounds: &[Round], of: impl Fn(&Round) -> f64) -> f64 {
    let mut values: Vec<f64> = rounds.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 {
        values[half]
    } else {
        (values[half - 1] + values[half]) / 2.0
    }
}

/// A directory with the file that the job alone works on; removed at the end.
struct Place(PathBuf);

impl Place {
    fn new(dir: &Path) -> Task<Self> {
        let path = dir.join(format!("plimsoll-bench-fio-{}", std::process::id()));
        std::fs::create_dir(&path).map_err(because(path.display()))?;
        let place = Self(path);
        place.fio(&[
            "--name=layout",
            "--rw=write",
            "--bs=1m",
            "--refill_buffers",
            "--end_fsync=1",
        ])?;
        Ok(place)
    }

    fn fio(&self, args: &[&str]) -> Task<Value> {
        let mut fio = Command::new("fio");
        fio.args(["--output-format=json", "--direct=1", "--thread"])
            .args(args);
        fio.arg(format!("--size={SIZE_MIB}m"))
            .arg(format!("--filename={}", self.0.join("file").display()));
        let out = fio.output().map_err(because("fio"))?;
        if !out.status.success() {
            return failed(format!(
                "fio ended with {}: {}",
                out.status,
                String::from_utf8_lossy(&out.stderr)
            ));
        }
        let text = String::from_utf8_lossy(&out.stdout);
        serde_json::from_str(text.find('{').map(|at| &text[at..]).unwrap_or_default())
            .map_err(because("fio's output"))
    }

    /// As plimsoll has it, without its snapshots.
    fn alone(&self, case: &Case, seconds: u32) -> Task<f64> {
        let json = self.fio(&[
            "--name=reads",
            "--rw=randread",
            "--bs=4096",
            "--ioengine=libaio",
            "--numjobs=1",
            &format!("--iodepth={}", case.depth),
            "--norandommap=1",
            "--invalidate=0",
            "--group_reporting=1",
            "--time_based=1",
            &format!("--ramp_time={RAMP_S}"),
            &format!("--runtime={seconds}"),
        ])?;
        match json["jobs"][0]["read"]["iops"].as_f64() {
            Some(iops) if iops > 0.0 => Ok(iops),
            _ => failed("fio printed no IOPS"),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What cannot be removed is reported by whoever looks at the directory.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn under(plimsoll: &Plimsoll, place: &Place, case: &Case, seconds: u32) -> Task<f64> {
    let run = plimsoll.run("fio", &plan(&place.0, case, seconds))?;
    match run.json["summary"]["blocks"][0]["media"][0]["jobs"][0]["points"][0]["iops"]["value"]
        .as_f64()
    {
        Some(iops) if iops > 0.0 => Ok(iops),
        _ => failed("the exported run has no IOPS"),
    }
}

fn plan(dir: &Path, case: &Case, seconds: u32) -> String {
    format!(
        "title = \"cargo xtask bench fio\"\n\n[medium.here]\npath = {dir:?}\n\n\
         [workload.reads.block]\nsize = \"{SIZE_MIB}MiB\"\n\n\
         [[workload.reads.block.job]]\nname = \"reads\"\nread = 100\nrandom = 100\nblock = \"4KiB\"\ndepth = {}\n\n\
         [[step]]\nrun = \"reads\"\nramp = \"{RAMP_S}s\"\nmeasure = \"{seconds}s\"\n",
        case.depth
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_is_of_the_medians() {
        let rounds = [(100.0, 99.0), (80.0, 97.0), (102.0, 60.0)]
            .map(|(alone, under)| Round { alone, under });
        assert!(
            (lost_percent(&rounds) - 3.0).abs() < 1e-9,
            "{}",
            lost_percent(&rounds)
        );
        assert_eq!(median(&rounds[..2], |round| round.alone), 90.0);
        let text = reported(&CASES[0], &rounds);
        assert!(
            text.contains("  80 / 97\n") && text.contains("medians 100 / 97, ratio 0.9700"),
            "{text}"
        );
    }

    #[test]
    fn options_are_read_and_nonsense_is_refused() {
        let given = parse(&[
            "--tries",
            "7",
            "--seconds",
            "3",
            "--dir",
            "/x",
            "--binary",
            "/p",
        ])
        .expect("good");
        let expected = Options {
            seconds: 3,
            rounds: 7,
            dir: "/x".into(),
            binary: Some("/p".into()),
        };
        assert_eq!(given, expected);
        for bad in [&["--tries", "0"][..], &["--tries"], &["--wat", "1"]] {
            assert_eq!(parse(bad).expect_err("nonsense").exit_code(), 2, "{bad:?}");
        }
    }
}
