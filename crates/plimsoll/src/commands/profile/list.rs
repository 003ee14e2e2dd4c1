//! `plimsoll profile list`.

use plimsoll_plan::profile;
use plimsoll_plan::profile::Profile;

use plimsoll_report::table::Table;
use plimsoll_report::table::Unit::{Whole, Words};

use crate::cli::{Format, ListArgs};
use crate::commands::table::render;

pub fn list(args: &ListArgs) -> String {
    let shown = render(&table(), profile::all().iter().collect(), args.format);
    match args.format {
        Format::Table => format!(
            "{shown}\n\nPoints are measured in each round: each job, and each rate of its curve. – is as any block workload\n\
             has it: 1 worker, 1 GiB, filled once.\n\
             `plimsoll profile show PROFILE` has every job, and where the profile comes from."
        ),
        Format::Json | Format::Csv => shown,
    }
}

fn table() -> Table<'static, &'static Profile> {
    Table::<&Profile>::with_prefix("profiles-")
        .column("profile", Words, |own| own.name)
        .column("title", Words, |own| own.title.clone())
        .column("jobs", Whole, |own| own.jobs.len())
        .column("points", Whole, |own| {
            own.jobs
                .iter()
                .map(|job| 1 + job.curve.len())
                .sum::<usize>()
        })
        .column("workers", Whole, |own| own.workers.map(f64::from))
        .column("size-gib", Whole, |own| {
            own.size.map(|size| size.0 as f64 / f64::from(1 << 30))
        })
        .column("fill", Whole, |own| own.fill)
        .field("source", |own| own.source.clone())
        .with_keys()
        .with_long_headings()
}
