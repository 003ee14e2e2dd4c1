//! Writes the fixture's reports to a folder: `cargo run -p plimsoll-report --example fixture_html -- DIR`.

#[path = "../src/section/block/made.rs"]
mod made;

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
    for (name, mut record) in [
        ("made", fixture::nothing_measured()),
        ("made-mixed", fixture::lasting(30)),
    ] {
        let mut summary = summarise(&record);
        (summary.figures.blocks, summary.figures.diagnoses) = (made::blocks(), made::diagnoses());
        if name == "made" {
            // As a run has it that was about media alone.
            record.points.clear();
            record.seconds.clear();
            (summary.figures.ladders, summary.figures.findings) = (Vec::new(), Vec::new());
        }
        fs::write(dir.join(format!("{name}.html")), report(&record, &summary))?;
    }
    Ok(())
}
