//! `bench intervals`: how often 95 % intervals contain the truth.

use std::process::Command;

use crate::exec::{Task, cargo, root};

use super::usage;

const TRIALS: &str = "1000";

pub fn run(words: &[&str]) -> Task {
    let trials = match words {
        [] => TRIALS,
        ["--trials", trials] if trials.parse::<u32>().is_ok_and(|trials| trials > 0) => trials,
        _ => return usage("bench intervals takes --trials N, 1000 unless given".into()),
    };
    cargo(&["build", "--release", "-p", "plimsoll-model", "--example", "interval_coverage"]).run()?;
    let mut table = Command::new(root().join("target/release/examples/interval_coverage"));
    table.arg(trials);
    print!("{}", super::child::measure(&mut table)?.stdout);
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn trials_are_a_number_above_0() {
        for bad in [&["--trials"][..], &["--trials", "0"], &["5"]] {
            assert_eq!(super::run(bad).expect_err("nonsense").exit_code(), 2, "{bad:?}");
        }
    }
}
