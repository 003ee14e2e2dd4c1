//! `plimsoll profile list`.

use plimsoll_plan::profile;
use plimsoll_plan::profile::Profile;
use plimsoll_report::message::Messages;
use plimsoll_report::table::Table;
use plimsoll_report::table::Unit::{Whole, Words};

use crate::cli::ListArgs;
use crate::commands::table::with_note;

pub fn list(args: &ListArgs) -> String {
    let profiles = profile::all().iter().collect();
    let note = Messages::english().text("profiles-note");
    with_note(&table(), profiles, args.format, &note)
}

pub fn table() -> Table<'static, &'static Profile> {
    Table::<&Profile>::new("profiles")
        .prefix("profiles-")
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
