//! `plimsoll drive learn …`.

use std::path::PathBuf;

use clap::Args;
use plimsoll_plan::units::Bytes;

use super::value::size;

#[derive(Debug, Args)]
pub struct LearnArgs {
    /// A directory on the drive (a test file is made in it, and removed), or a block device (only read without
    /// --overwrite).
    #[arg(value_name = "PATH_OR_DEVICE")]
    pub path: PathBuf,
    /// Where the drive file goes [default: MODEL.toml in the current directory].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write to the device as well: ITS DATA IS LOST. It must be given by its own name and not be in use.
    #[arg(long)]
    pub overwrite: bool,
    /// How long each load is measured, in seconds.
    #[arg(long, value_name = "N", default_value_t = 5.0, value_parser = seconds)]
    pub seconds: f64,
    /// How much of the drive is used, such as 512M or 4G [default: a quarter of the free space, at most 4 GiB].
    #[arg(long, value_parser = size)]
    pub size: Option<Bytes>,
    /// Replace the drive file if there is one.
    #[arg(long)]
    pub force: bool,
    /// Print what would be done, with fio's command lines; touch nothing.
    #[arg(long)]
    pub plan: bool,
    /// Seed of all random positions.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// No progress on stderr.
    #[arg(short, long)]
    pub quiet: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "it takes a number".to_owned())?;
    if (0.1..=600.0).contains(&seconds) {
        Ok(seconds)
    } else {
        Err("it lies between 0.1 and 600".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_lie_between_a_tenth_and_ten_minutes() {
        assert_eq!(seconds("0.5"), Ok(0.5));
        assert!(
            ["0", "x", "601", "NaN"]
                .iter()
                .all(|bad| seconds(bad).is_err())
        );
    }
}
