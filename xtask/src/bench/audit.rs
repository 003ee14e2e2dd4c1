//! `bench audit RUN`: how long a run of hours takes to audit, to compare and to report.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::exec::{Failure, Task, because, cargo, failed, root};

use super::table::{Row, render};
use super::{child, remove_if_there, usage};

/// The longest window that is published.
const MINUTES: &str = "330";
const GOAL_AUDIT_S: f64 = 2.0;
const GOAL_REPORT_S: f64 = 3.0;

pub fn run(words: &[&str]) -> Task {
    let [run] = words else {
        return usage(
            "bench audit takes a run file with many systems; its load is repeated for 330 minutes"
                .into(),
        );
    };
    cargo(&[
        "build",
        "--release",
        "-p",
        "plimsoll",
        "--bin",
        "plimsoll",
        "--example",
        "long_run",
    ])
    .run()?;
    let work = root().join("target/bench");
    std::fs::create_dir_all(&work).map_err(because(work.display()))?;
    let files = [work.join("long-a.plimsoll"), work.join("long-b.plimsoll")];
    for file in &files {
        remove_if_there(file)?;
        let mut long = Command::new(root().join("target/release/examples/long_run"));
        long.arg(run).arg(file).arg(MINUTES);
        child::measure(&mut long)?;
    }
    let [first, second] = files.each_ref().map(PathBuf::as_path);
    let page = work.join("long.html");
    println!(
        "{MINUTES} minutes made of {run}: {:.1} MB",
        megabytes(first)?
    );
    let rows = [
        timed("audit", GOAL_AUDIT_S, &["audit".as_ref(), first])?,
        timed(
            "compare",
            GOAL_AUDIT_S,
            &["compare".as_ref(), first, second],
        )?,
        timed(
            "report",
            GOAL_REPORT_S,
            &["report".as_ref(), first, "-o".as_ref(), &page],
        )?,
    ];
    print!("{}", render(&rows));
    println!("the report is a page of {:.1} MB", megabytes(&page)?);
    match rows.iter().filter(|row| !row.is_met()).count() {
        0 => Ok(()),
        n => Err(Failure::Missed(format!("{n} goal(s) missed"))),
    }
}

/// The elapsed time; CPU time is reported beside it.
fn timed(figure: &'static str, goal: f64, words: &[&Path]) -> Task<Row> {
    let mut command = Command::new(root().join("target/release/plimsoll"));
    command.args(words).current_dir(root().join("target/bench"));
    let cost = child::measure(&mut command)?;
    if cost.stdout.is_empty() {
        return failed(format!("plimsoll {figure} printed nothing"));
    }
    eprintln!(
        "bench: {figure}: {:.2} s of CPU time, {:.0} MB",
        cost.cpu.as_secs_f64(),
        cost.peak_rss as f64 / 1e6
    );
    Ok(Row {
        figure,
        unit: "s",
        measured: cost.wall.as_secs_f64(),
        goal: Some(goal),
        to_pgbench: None,
    })
}

fn megabytes(path: &Path) -> Task<f64> {
    Ok(std::fs::metadata(path)
        .map_err(because(path.display()))?
        .len() as f64
        / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_file_is_needed() {
        for words in [&[][..], &["a", "b"]] {
            assert_eq!(run(words).expect_err("usage").exit_code(), 2);
        }
    }
}
