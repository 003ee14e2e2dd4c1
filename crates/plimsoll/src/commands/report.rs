//! `plimsoll report`: a self-contained HTML file.

use std::process::ExitCode;

use plimsoll_model::summary::summarise;

use super::{print, write_whole};
use crate::cli::ReportArgs;
use crate::failure::Failure;
use crate::runfile;

pub fn report(args: &ReportArgs) -> Result<ExitCode, Failure> {
    let record = runfile::read(&args.run)?;
    let output = args.output.clone().unwrap_or_else(|| args.run.with_extension("html"));
    let html = plimsoll_report::html::report(&record, &summarise(&record));
    write_whole(&output, &html)?;
    print(&output.display().to_string())
}
