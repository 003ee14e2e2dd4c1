//! Writes the fixture's reports to a folder: `cargo run -p plimsoll-report --example fixture_html -- DIR`.

use std::path::PathBuf;
use std::{env, fs, io};

use plimsoll_analysis::summarise;
use plimsoll_record::fixture;
use plimsoll_report::report;

fn main() -> io::Result<()> {
    let dir = PathBuf::from(env::args_os().nth(1).unwrap_or_else(|| ".".into()));
    let records = [
        ("full", fixture::lasting(30)),
        ("single", fixture::single_point()),
        ("nothing", fixture::nothing_measured()),
        ("search", fixture::search()),
        ("media", fixture::block()),
        ("backup", fixture::backup()),
    ];
    for (name, record) in records {
        fs::write(
            dir.join(format!("{name}.html")),
            report(&record, &summarise(&record)),
        )?;
    }
    Ok(())
}
