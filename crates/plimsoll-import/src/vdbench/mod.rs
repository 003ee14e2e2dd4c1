//! vdbench's `flatfile.html`, `summary.html`, `totals.html` and what it prints, of raw and of file system workloads.
//!
//! All have for each interval rates, mean response times and their standard deviation, and no distribution. Columns are
//! found by the header: they differ between versions and between workloads. The row `avg_2-5` is over intervals 2 to 5:
//! those before it are warm-up. The length of an interval is the time between its row and the one before.

mod flatfile;
mod load;
mod run;
mod summary;

use super::fault::{Fault, Read};
use super::format::{OutputFormat, OutputReader};
use super::load::ImportedLoad;
use plimsoll_record::message::ImportNote;

use flatfile::header;

pub(super) static FORMAT: OutputFormat = OutputFormat {
    tool: load::TOOL,
    is: |start| header(start.text).is_some() || start.has("Starting RD="),
    reader: OutputReader::Loads(read),
};

fn read(text: &str) -> Read<Vec<ImportedLoad>> {
    let is_flatfile = header(text).is_some();
    let mut runs = match is_flatfile {
        true => flatfile::runs(text)?,
        false => summary::runs(text)?,
    };
    runs.retain(|run| !run.is_empty());
    let preparations = runs.iter().filter(|run| run.is_preparation());
    let names: Vec<String> = preparations.map(|run| run.name.clone()).collect();
    if names.len() < runs.len() {
        runs.retain(|run| !run.is_preparation());
    }
    let mut loads = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let mut load = load::of_run(index, run)?;
        if !names.is_empty() {
            load.fact("import.preparation", names.join(", "));
        }
        loads.push(load);
    }
    let Some(last) = loads.last_mut() else {
        let expected = "a row of figures for at least one interval";
        return Err(Fault::end(text, expected));
    };
    if !is_flatfile && !text.contains("Vdbench execution completed") {
        last.note(ImportNote::EndMissing);
    }
    Ok(loads)
}
