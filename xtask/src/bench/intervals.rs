//! `bench intervals`: how often 95 % intervals contain the truth.

use std::process::Command;

use crate::exec::{Task, cargo, root};

use super::usage;

/// What the table is made with.
struct Options<'a> {
    trials: &'a str,
    first_seed: &'a str,
    /// Rows whose names hold this.
    only: &'a str,
}

fn parse<'a>(words: &[&'a str]) -> Option<Options<'a>> {
    let mut options = Options {
        trials: "1000",
        first_seed: "0",
        only: "",
    };
    for pair in words.chunks(2) {
        match *pair {
            ["--trials", trials] if trials.parse::<u32>().is_ok_and(|trials| trials > 0) => {
                options.trials = trials
            }
            ["--seed", seed] if seed.parse::<u32>().is_ok() => options.first_seed = seed,
            ["--only", only] => options.only = only,
            _ => return None,
        }
    }
    Some(options)
}

pub fn run(words: &[&str]) -> Task {
    let Some(Options {
        trials,
        first_seed,
        only,
    }) = parse(words)
    else {
        return usage(
            "bench intervals takes --trials N (1000), --seed FIRST (0) and --only TEXT (all rows)"
                .into(),
        );
    };
    cargo(&[
        "build",
        "--release",
        "-p",
        "plimsoll-analysis",
        "--example",
        "interval_coverage",
    ])
    .run()?;
    let mut table = Command::new(root().join("target/release/examples/interval_coverage"));
    table.args([trials, first_seed, only]);
    print!("{}", super::child::measure(&mut table)?.stdout);
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn trials_are_a_number_above_0() {
        for bad in [
            &["--trials"][..],
            &["--trials", "0"],
            &["5"],
            &["--seed", "x"],
            &["--only"],
        ] {
            assert_eq!(
                super::run(bad).expect_err("nonsense").exit_code(),
                2,
                "{bad:?}"
            );
        }
    }
}
