//! One table of several runs, as CSV or Parquet. Files are read on all processors, and a few of them are in memory.

use std::collections::HashMap;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use plimsoll_analysis::summarise;
use plimsoll_record::runfile::{self, RunFileError};
use plimsoll_record::{Integrity, Record};
use plimsoll_report::export::{ExportTable, ParquetError, ParquetFile, RowBatch, RunOfMany};
use plimsoll_report::table::{CellValue, CsvSink, TableSink, TypedColumn};

use crate::cli::{ExportArgs, ExportFormat};
use crate::failure::Failure;
use crate::in_order::{ResultSender, work_in_order};
use crate::output::{WholeFile, not_written};
use crate::output_kind::OutputKind;
use crate::run_path::run_files;
use crate::terminal::{note, write_stdout};

/// Values of a part of a table that passes from one thread to another: a few MB.
const PART_CELLS: usize = 1 << 18;
/// Bytes of such a part as text.
const PART_BYTES: usize = 4 << 20;

/// A file to read.
struct RunPath {
    path: PathBuf,
    /// By the user: else it was found in a directory.
    is_named: bool,
}

/// What a thread reads of a file, in this order.
enum RunPart {
    /// The run's id, and a warning about its file.
    Begin(String, Option<String>),
    Rows(RowChunk),
    /// Instead of all others.
    Unreadable(RunFileError),
}

/// Rows as they are written.
enum RowChunk {
    Csv(CsvSink),
    Parquet(RowBatch),
}

/// The file that is written.
enum TableFile {
    CsvStdout,
    CsvFile(WholeFile),
    Parquet(Box<ParquetFile<WholeFile>>),
}

pub(super) fn export(args: &ExportArgs) -> Result<ExitCode, Failure> {
    let files = files(&args.runs)?;
    let mut export = TableExport::create(args, &files)?;
    let read = |file: &RunPath, parts: &ResultSender<RunPart>| read(args, file, parts);
    let done = work_in_order(&files, read, |place, part| export.add(&files[place], part));
    match done {
        Ok(()) => export.finish(args),
        Err(ExportEnd::Failed(failure)) => Err(failure),
        Err(ExportEnd::ReaderGone) => Ok(ExitCode::SUCCESS),
    }
}

/// Run files that were named, and those of directories, by name.
fn files(runs: &[PathBuf]) -> Result<Vec<RunPath>, Failure> {
    let mut files = Vec::new();
    for run in runs {
        if !run.is_dir() {
            files.push(RunPath {
                path: run.clone(),
                is_named: true,
            });
            continue;
        }
        files.extend(run_files(run)?.into_iter().map(|path| RunPath {
            path,
            is_named: false,
        }));
    }
    Ok(files)
}

fn read(args: &ExportArgs, file: &RunPath, parts: &ResultSender<RunPart>) {
    let record = match runfile::read(&file.path) {
        Ok(record) => record,
        Err(error) => return parts.send(RunPart::Unreadable(error)),
    };
    let warning = warning(&file.path.display().to_string(), &record);
    parts.send(RunPart::Begin(record.run.id.clone(), warning));
    let summary = args.table().needs_summary().then(|| summarise(&record));
    let run = RunOfMany {
        record: &record,
        summary: summary.as_ref(),
        file: &file.path.display().to_string(),
    };
    let mut sink = ChunkSink {
        part: RowChunk::of(args.to),
        parts,
    };
    run.send(args.table(), &mut sink);
    parts.send(RunPart::Rows(sink.part));
}

fn warning(file: &str, record: &Record) -> Option<String> {
    match record.integrity {
        Integrity::Changed { .. } => Some(format!(
            "{file} does not match its digest: changed or damaged after its run"
        )),
        Integrity::NoDigest => Some(format!(
            "{file} has no digest: it was removed after the run"
        )),
        Integrity::Intact { .. } | Integrity::Open => None,
    }
}

/// Passes rows on whenever there are many.
struct ChunkSink<'a> {
    part: RowChunk,
    parts: &'a ResultSender<RunPart>,
}

impl TableSink for ChunkSink<'_> {
    fn begin(&mut self, columns: Vec<TypedColumn>) {
        match &mut self.part {
            RowChunk::Csv(csv) => csv.begin(columns),
            RowChunk::Parquet(batch) => batch.begin(columns),
        }
    }

    fn row(&mut self, cells: &[CellValue]) {
        let full = match &mut self.part {
            RowChunk::Csv(csv) => {
                csv.row(cells);
                (csv.text.len() >= PART_BYTES).then(|| RowChunk::Csv(std::mem::take(csv)))
            }
            RowChunk::Parquet(batch) => {
                batch.row(cells);
                (batch.cells() >= PART_CELLS).then(|| RowChunk::Parquet(batch.take()))
            }
        };
        if let Some(full) = full {
            self.parts.send(RunPart::Rows(full));
        }
    }
}

impl RowChunk {
    fn of(format: ExportFormat) -> Self {
        match format {
            ExportFormat::Parquet => Self::Parquet(RowBatch::default()),
            ExportFormat::Text | ExportFormat::Json | ExportFormat::Csv => {
                Self::Csv(CsvSink::default())
            }
        }
    }
}

/// Why an export ends before its last row.
enum ExportEnd {
    Failed(Failure),
    /// The program that reads stdout has closed it (`| head`).
    ReaderGone,
}

impl From<Failure> for ExportEnd {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// The table as far as it is written.
struct TableExport {
    output: PathBuf,
    file: TableFile,
    /// The file of each run.
    runs: HashMap<String, PathBuf>,
    /// Whether rows of the present file are left out, because another file has its run.
    is_copy: bool,
    files: usize,
    unreadable: usize,
}

impl TableExport {
    fn create(args: &ExportArgs, files: &[RunPath]) -> Result<Self, Failure> {
        let mut file = match (args.to, &args.output) {
            (ExportFormat::Parquet, None) => {
                return Err(Failure::usage(
                    "Parquet needs a file to write\nGive one with --output FILE.",
                ));
            }
            (ExportFormat::Parquet, Some(path)) => {
                let file = ParquetFile::create(
                    WholeFile::create(path, &OutputKind::Parquet)?,
                    args.table(),
                );
                TableFile::Parquet(Box::new(file.map_err(|error| not_written(path, &error))?))
            }
            (_, Some(path)) => TableFile::CsvFile(WholeFile::create(path, &OutputKind::Csv)?),
            (_, None) => TableFile::CsvStdout,
        };
        let output = args.output.clone().unwrap_or_else(|| "stdout".into());
        if let Err(ExportEnd::Failed(failure)) = file.header(&output, args.table()) {
            return Err(failure);
        }
        Ok(Self {
            output,
            file,
            runs: HashMap::new(),
            is_copy: false,
            files: files.len(),
            unreadable: 0,
        })
    }

    fn add(&mut self, file: &RunPath, part: RunPart) -> Result<(), ExportEnd> {
        match part {
            RunPart::Begin(run, warning) => {
                warning.iter().for_each(|text| note!("warning: {text}"));
                self.begin_run(run, file);
                Ok(())
            }
            RunPart::Rows(_) if self.is_copy => Ok(()),
            RunPart::Rows(rows) => self.file.write(&self.output, rows),
            // Other programs' files are skipped silently, as by `plimsoll list`.
            RunPart::Unreadable(RunFileError::Foreign { .. }) if !file.is_named => Ok(()),
            RunPart::Unreadable(error @ RunFileError::Damaged { .. }) => {
                self.leave_out(&error);
                Ok(())
            }
            RunPart::Unreadable(error) if file.is_named => Err(Failure::from(error).into()),
            RunPart::Unreadable(error) => {
                self.leave_out(&error);
                Ok(())
            }
        }
    }

    fn begin_run(&mut self, run: String, file: &RunPath) {
        let first = self.runs.get(&run);
        self.is_copy = first.is_some();
        match first {
            Some(first) => note!(
                "warning: {} holds the run of {}: left out",
                file.path.display(),
                first.display()
            ),
            None => {
                self.runs.insert(run, file.path.clone());
            }
        }
    }

    fn leave_out(&mut self, error: &RunFileError) {
        note!("warning: {error}");
        self.unreadable += 1;
    }

    fn finish(self, args: &ExportArgs) -> Result<ExitCode, Failure> {
        if self.files == 0 {
            return Err(Failure::usage(
                "no run files found\nName run files, or a directory that holds some.",
            ));
        }
        self.file.finish(&self.output)?;
        if self.unreadable == 0 {
            return Ok(ExitCode::SUCCESS);
        }
        let table = args.table().name();
        Err(Failure::run(format!(
            "{} of {} run files cannot be read\nThe table {table} is complete without them.\n\
             Remove the files that the warnings name, or take them from a backup.",
            self.unreadable, self.files
        )))
    }
}

impl TableFile {
    /// Parquet has its columns in another place.
    fn header(&mut self, output: &Path, table: ExportTable) -> Result<(), ExportEnd> {
        if let Self::Parquet(_) = self {
            return Ok(());
        }
        let mut header = CsvSink::with_header();
        header.begin(table.columns());
        self.write(output, RowChunk::Csv(header))
    }

    fn write(&mut self, output: &Path, rows: RowChunk) -> Result<(), ExportEnd> {
        let written = match (self, rows) {
            (Self::CsvStdout, RowChunk::Csv(rows)) => write_stdout(&rows.text),
            (Self::CsvFile(file), RowChunk::Csv(rows)) => file.write_all(rows.text.as_bytes()),
            (Self::Parquet(file), RowChunk::Parquet(rows)) => {
                file.append(rows).map_err(ParquetError::into)
            }
            _ => Ok(()),
        };
        written.map_err(|error| match error.kind() {
            ErrorKind::BrokenPipe => ExportEnd::ReaderGone,
            _ => ExportEnd::Failed(not_written(output, &error)),
        })
    }

    fn finish(self, output: &Path) -> Result<(), Failure> {
        match self {
            Self::CsvStdout => Ok(()),
            Self::CsvFile(file) => file.finish(),
            Self::Parquet(file) => {
                let file = file.finish();
                file.map_err(|error| not_written(output, &error))?.finish()
            }
        }
    }
}
