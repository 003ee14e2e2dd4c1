//! `plimsoll export`: the figures of run files for other programs.

mod many;

use std::path::Path;
use std::process::ExitCode;

use plimsoll_analysis::Summary;
use plimsoll_record::Record;
use plimsoll_report::answer::answer_text;
use plimsoll_report::export::{ExportTable, to_csv, to_json};
use plimsoll_report::set::set_answer_text;

use super::io::{print, read_run, terminal_width};
use super::predict::summary_of;
use super::set;
use crate::cli::{ExportArgs, ExportFormat, Format};
use crate::failure::Failure;
use crate::output::write_whole;
use crate::output_kind::OutputKind;
use crate::set::RunSet;

pub fn export(args: &ExportArgs) -> Result<ExitCode, Failure> {
    let format = match (args.to, args.runs.as_slice()) {
        (ExportFormat::Parquet, _) => return many::export(args),
        (ExportFormat::Csv, [run]) if run.is_dir() && !RunSet::is_one(run) => {
            return many::export(args);
        }
        (ExportFormat::Csv, [_]) => Format::Csv,
        (ExportFormat::Csv, _) => return many::export(args),
        (ExportFormat::Text, _) => Format::Table,
        (ExportFormat::Json, _) => Format::Json,
    };
    let text = match args.runs.as_slice() {
        [run] if RunSet::is_one(run) => set_text(run, format)?,
        [run] if !run.is_dir() => run_text(run, format, args.table)?,
        _ => {
            return Err(Failure::usage(
                "text and JSON are of one run\nGive one run file or set, or choose --to csv or --to parquet.",
            ));
        }
    };
    match &args.output {
        Some(path) => {
            let kind = match format {
                Format::Table => OutputKind::text(&text),
                Format::Json => OutputKind::Json,
                Format::Csv => OutputKind::Csv,
            };
            write_whole(path, &text, &kind).map(|()| ExitCode::SUCCESS)
        }
        None => print(&text),
    }
}

fn set_text(dir: &Path, format: Format) -> Result<String, Failure> {
    let summary = set::summary_of(&RunSet::open(dir)?)?;
    let figures = set::render_set(&summary, format);
    if format != Format::Table {
        return Ok(figures);
    }
    let dir = dir.display().to_string();
    let answer = set_answer_text(&summary, &dir, terminal_width());
    Ok(joined(&answer, &figures))
}

fn run_text(path: &Path, format: Format, table: ExportTable) -> Result<String, Failure> {
    let record = read_run(path)?;
    let summary = summary_of(&record);
    let figures = render(&record, &summary, format, table);
    match &summary.answer {
        Some(answer) if format == Format::Table => {
            let run = path.display().to_string();
            Ok(joined(
                &answer_text(answer, &run, terminal_width()),
                &figures,
            ))
        }
        _ => Ok(figures),
    }
}

/// Two texts, each of whole lines.
fn joined(first: &str, second: &str) -> String {
    let between = if first.ends_with('\n') { "" } else { "\n" };
    format!("{first}{between}{second}")
}

/// The record in one of the formats that go to stdout.
pub fn render(record: &Record, summary: &Summary, format: Format, table: ExportTable) -> String {
    match format {
        Format::Table => plimsoll_report::text::ladder_table(summary),
        Format::Json => to_json(record, summary),
        Format::Csv => to_csv(record, summary, table),
    }
}
