//! `plimsoll export`: a run file's figures for other programs.

use std::process::ExitCode;

use plimsoll_analysis::Summary;
use plimsoll_record::Record;
use plimsoll_report::answer::answer_text;
use plimsoll_report::export::{CsvKind, to_csv, to_json};
use plimsoll_report::set::set_answer_text;

use super::io::{print, read_run, terminal_width};
use super::predict::summary_of;
use super::set;
use crate::cli::{ExportArgs, ExportFormat, Format};
use crate::failure::Failure;
use crate::set::RunSet;

pub fn export(args: &ExportArgs) -> Result<ExitCode, Failure> {
    let format = match args.to {
        ExportFormat::Text => Format::Table,
        ExportFormat::Json => Format::Json,
        ExportFormat::Csv => Format::Csv,
    };
    if RunSet::is_one(&args.run) {
        let summary = set::summary_of(&RunSet::open(&args.run)?)?;
        if args.to == ExportFormat::Text {
            let dir = args.run.display().to_string();
            print(&set_answer_text(&summary, &dir, terminal_width()))?;
        }
        return print(&set::render_set(&summary, format));
    }
    let record = read_run(&args.run)?;
    let summary = summary_of(&record);
    if let (ExportFormat::Text, Some(answer)) = (args.to, &summary.answer) {
        let run = args.run.display().to_string();
        print(&answer_text(answer, &run, terminal_width()))?;
    }
    print(&render(&record, &summary, format, args.table))
}

/// The record in one of the formats that go to stdout.
pub fn render(record: &Record, summary: &Summary, format: Format, table: CsvKind) -> String {
    match format {
        Format::Table => plimsoll_report::text::ladder_table(summary),
        Format::Json => to_json(record, summary),
        Format::Csv => to_csv(record, summary, table),
    }
}
