//! `plimsoll profile list`.

use plimsoll_plan::profile;
use plimsoll_plan::profile::Profile;

use crate::cli::{Format, ListArgs};
use crate::commands::table::{Cell, Rows};

const COLUMNS: [(&str, &str); 8] = [
    ("profile", "profile"),
    ("title", "title"),
    ("jobs", "jobs"),
    ("points", "points"),
    ("workers", "workers"),
    ("size_gib", "GiB each"),
    ("fill", "fill"),
    ("source", "source"),
];

pub fn list(args: &ListArgs) -> String {
    let mut rows = Rows::new(&COLUMNS);
    for profile in profile::all() {
        let Profile {
            name,
            title,
            about: _,
            source,
            workers,
            size,
            fill,
            jobs,
        } = profile;
        let points: usize = jobs.iter().map(|job| 1 + job.curve.len()).sum();
        rows.push(vec![
            Cell::text(*name),
            Cell::text(title),
            Cell::count(jobs.len() as u64),
            Cell::count(points as u64),
            Cell::maybe(workers.map(f64::from), 0),
            Cell::maybe(size.map(|size| size.0 as f64 / f64::from(1 << 30)), 0),
            Cell::maybe(*fill, 0),
            Cell::text(source),
        ]);
    }
    match args.format {
        Format::Table => format!(
            "{}\n\nPoints are measured in each round: each job, and each rate of its curve. – is as any block workload\n\
             has it: 1 worker, 1 GiB, filled once.\n\
             `plimsoll profile show PROFILE` has every job, and where the profile comes from.",
            rows.without(&["source"]).table()
        ),
        Format::Json | Format::Csv => rows.render(args.format),
    }
}
