//! `plimsoll compare` and `plimsoll gate`: runs against each other.

mod gate;
mod sides;

use std::process::ExitCode;

use plimsoll_analysis::compare::{Ask, ComparedSide, RunComparison, compare as compare_sides};
use plimsoll_report::versus::{comparison_csv, comparison_page, comparison_text};

use super::io::{json, print};
use crate::cli::{CompareArgs, Format};
use crate::failure::Failure;
use crate::output::write_whole;
use crate::output_kind::OutputKind;

pub(super) use gate::exit_code;
pub use gate::gate;
pub(super) use sides::{label, of as sides_of, warn_of_copy};

pub fn compare(args: &CompareArgs) -> Result<ExitCode, Failure> {
    let ask = Ask {
        minimum_effect: args.min_effect.unwrap_or_default(),
        factor: args.factor,
        anyway: args.anyway,
    };
    let groups = sides::of(&args.runs)?;
    let comparisons: Vec<RunComparison> = groups
        .iter()
        .map(|sides: &Vec<ComparedSide>| compare_sides(sides, &ask))
        .collect();
    if let Some(output) = &args.output {
        let names: Vec<String> = args.runs.iter().map(|path| sides::label(path)).collect();
        let page = comparison_page(&names.join(" · "), &comparisons);
        write_whole(output, &page, &OutputKind::Page)?;
    }
    let text = match args.format {
        Format::Table => comparisons
            .iter()
            .map(comparison_text)
            .collect::<Vec<_>>()
            .join("\n"),
        Format::Json => json(&comparisons)?,
        Format::Csv => csv(&comparisons),
    };
    print(&text)
}

/// One header for all.
fn csv(comparisons: &[RunComparison]) -> String {
    let parts = comparisons.iter().map(comparison_csv).enumerate();
    parts
        .map(|(i, text)| {
            let skipped = if i == 0 {
                0
            } else {
                text.find('\n').map_or(0, |end| end + 1)
            };
            text[skipped..].to_owned()
        })
        .collect()
}
