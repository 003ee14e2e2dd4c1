//! `plimsoll report`: a self-contained HTML file of a run, or of a set of runs.

use std::process::ExitCode;

use plimsoll_model::summary::summarise;
use plimsoll_report::set::set_page;

use super::set::summary_of;
use super::{print, write_whole};
use crate::cli::ReportArgs;
use crate::failure::Failure;
use crate::runfile;
use crate::set::RunSet;

pub fn report(args: &ReportArgs) -> Result<ExitCode, Failure> {
    let output = args.output.clone().unwrap_or_else(|| args.run.with_extension("html"));
    let html = if RunSet::is_one(&args.run) {
        set_page(&summary_of(&RunSet::open(&args.run)?)?)
    } else {
        let record = runfile::read(&args.run)?;
        plimsoll_report::html::report(&record, &summarise(&record))
    };
    write_whole(&output, &html)?;
    print(&output.display().to_string())
}
