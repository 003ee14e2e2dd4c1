//! `plimsoll export`: the figures of run files for other programs.

mod many;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use plimsoll_analysis::{Summary, summarise};
use plimsoll_record::Record;
use plimsoll_record::runfile;
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
use crate::run_path::{RunArgument, run_files};
use crate::set::RunSet;
use crate::shell::quoted;

pub fn export(args: &ExportArgs) -> Result<ExitCode, Failure> {
    let format = match (args.to, args.runs.as_slice()) {
        (ExportFormat::Parquet, _) => return export_many(args),
        (ExportFormat::Csv, [run]) if run.is_dir() && !RunSet::is_one(run) => {
            return export_many(args);
        }
        (ExportFormat::Csv, [_]) => Format::Csv,
        (ExportFormat::Csv, _) => return export_many(args),
        (ExportFormat::Text, _) => Format::Table,
        (ExportFormat::Json, _) => Format::Json,
    };
    let text = match args.runs.as_slice() {
        [run] if RunSet::is_one(run) => set_text(run, format)?,
        [run] if !run.is_dir() => run_text(run, format, args.table)?,
        runs => {
            let mut files = Vec::new();
            for run in runs {
                files.extend(RunArgument::open(run)?.files());
            }
            texts_of_runs(&files, format)?
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

fn export_many(args: &ExportArgs) -> Result<ExitCode, Failure> {
    let table = args.table.unwrap_or_else(|| table_of_first(&args.runs));
    many::export(&ExportArgs {
        table: Some(table),
        ..args.clone()
    })
}

/// The table of a run that is meant where none is named: of block I/O and of backups their own.
pub fn default_table(summary: &Summary) -> ExportTable {
    let figures = &summary.figures;
    match () {
        () if !figures.ladders.is_empty() => ExportTable::Ladder,
        () if !figures.blocks.is_empty() => ExportTable::Block,
        () if !figures.backups.is_empty() => ExportTable::Backup,
        () => ExportTable::Ladder,
    }
}

/// That of the first run that can be read.
fn table_of_first(runs: &[PathBuf]) -> ExportTable {
    let mut files = runs.iter().filter_map(|run| run_files(run).ok()).flatten();
    let first = files.find_map(|file| runfile::read(&file).ok());
    first.map_or(ExportTable::Ladder, |record| {
        default_table(&summarise(&record))
    })
}

/// Each run's text below its name; of JSON a list.
fn texts_of_runs(files: &[PathBuf], format: Format) -> Result<String, Failure> {
    let mut texts = Vec::new();
    for file in files {
        let text = run_text(file, format, None)?;
        texts.push(match format {
            Format::Table => format!("{}\n\n{text}", file.display()),
            Format::Json | Format::Csv => text.trim_end().to_owned(),
        });
    }
    Ok(match format {
        Format::Json => format!("[\n{}\n]\n", texts.join(",\n")),
        Format::Table | Format::Csv => texts.join("\n"),
    })
}

fn set_text(dir: &Path, format: Format) -> Result<String, Failure> {
    let summary = set::summary_of(&RunSet::open(dir)?)?;
    let figures = set::render_set(&summary, format);
    if format != Format::Table {
        return Ok(figures);
    }
    let dir = quoted(dir);
    let answer = set_answer_text(&summary, &dir, terminal_width());
    Ok(joined(&answer, &figures))
}

fn run_text(path: &Path, format: Format, table: Option<ExportTable>) -> Result<String, Failure> {
    let record = read_run(path)?;
    let summary = match format {
        // Tables have no predictions, which take most of the time.
        Format::Csv => summarise(&record),
        Format::Table | Format::Json => summary_of(&record),
    };
    let table = table.unwrap_or_else(|| default_table(&summary));
    let figures = render(&record, &summary, format, table);
    match &summary.answer {
        Some(answer) if format == Format::Table => {
            let run = quoted(path);
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
        Format::Table => plimsoll_report::ladder_table(summary),
        Format::Json => to_json(record, summary),
        Format::Csv => to_csv(record, summary, table),
    }
}
