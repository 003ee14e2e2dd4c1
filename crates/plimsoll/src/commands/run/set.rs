//! A plan with a matrix: one run for each cell, all of them in one directory.

use std::path::Path;
use std::process::ExitCode;

use plimsoll_plan::units::Nanos;
use plimsoll_plan::{Matrix, Options, estimate};
use plimsoll_report::set::set_answer_text;

use super::super::io::{print, terminal_width};
use super::cells::{CellRunner, saturating_sum};
use super::job::{check, default_output, listen};
use super::live::LiveServer;
use super::slurm::run_on_slurm;
use crate::cli::{Format, RunArgs};
use crate::commands::set::{render_set, summary_of};
use crate::failure::Failure;
use crate::set::{RunSet, SetList};
use crate::shell::quoted;
use crate::slurm::{SbatchOptions, expect_commands};
use crate::terminal::note;

pub fn run_set(
    args: &RunArgs,
    text: &str,
    options: &Options,
    title: &str,
    matrix: &Matrix,
) -> Result<ExitCode, Failure> {
    if args.flags.dry_run {
        return dry_run(matrix);
    }
    if let Some(cell) = args.cell {
        return run_cell(args, text, options, title, matrix, cell as usize);
    }
    let slurm = args
        .slurm
        .as_deref()
        .map(SbatchOptions::parse)
        .transpose()?;
    if slurm.is_some() {
        expect_commands()?;
    } else if args.resume.is_none() {
        some_can(args, matrix)?;
    }
    let list = SetList::new(title, matrix, options);
    let set = match &args.resume {
        Some(path) => resumed(path, &list, text)?,
        None => {
            let path = args.output.clone();
            let path = path.unwrap_or_else(|| default_output(title, jiff::Timestamp::now(), "set"));
            RunSet::create(&path, list, text)?
        }
    };
    let live = LiveServer::start_if_wanted(args, &set.path)?;
    let interrupt = listen()?;
    match &slurm {
        Some(options) => run_on_slurm(args, &set, matrix, options, &interrupt)?,
        None => CellRunner::new(args, &set, matrix, interrupt)?.run_all()?,
    }
    let _live = live.end_run();
    show(args, &set)
}

fn resumed(path: &Path, list: &SetList, text: &str) -> Result<RunSet, Failure> {
    let set = RunSet::open(path)?;
    set.expect(list, text)?;
    Ok(set)
}

/// One cell of a set that other processes run cells of, too.
fn run_cell(
    args: &RunArgs,
    text: &str,
    options: &Options,
    title: &str,
    matrix: &Matrix,
    cell: usize,
) -> Result<ExitCode, Failure> {
    let cells = matrix.cells.len();
    if cell > cells {
        return Err(Failure::usage(format!(
            "the plan has no cell {cell}\nGive --cell a number from 1 to {cells}; --dry-run lists them."
        )));
    }
    let list = SetList::new(title, matrix, options);
    let set = match (&args.resume, &args.output) {
        (Some(path), _) => resumed(path, &list, text)?,
        (None, Some(path)) => {
            let set = RunSet::open_or_create(path, list.clone(), text)?;
            set.expect(&list, text)?;
            set
        }
        (None, None) => {
            return Err(Failure::usage(
                "--cell needs the set that the cell belongs to\nAdd --output DIR, the same for all cells.",
            ));
        }
    };
    CellRunner::new(args, &set, matrix, listen()?)?.run_one(cell)?;
    let file = set.file(&set.list.cells[cell - 1]);
    note!("Run file: {}", file.display());
    Ok(ExitCode::SUCCESS)
}

fn show(args: &RunArgs, set: &RunSet) -> Result<ExitCode, Failure> {
    let summary = summary_of(set)?;
    let is_answer = args.flags.format == Format::Table;
    if is_answer {
        let dir = quoted(&set.path);
        print(&set_answer_text(&summary, &dir, terminal_width()))?;
    }
    if !is_answer || args.flags.verbose {
        print(&render_set(&summary, args.flags.format))?;
    }
    note!("Set of runs: {}", set.path.display());
    Ok(ExitCode::SUCCESS)
}

/// A matrix of which no cell can be run is refused before a directory is made.
fn some_can(args: &RunArgs, matrix: &Matrix) -> Result<(), Failure> {
    let nowhere = std::env::temp_dir().join("plimsoll-no-such-run");
    let mut refused = None;
    for cell in &matrix.cells {
        match check(&cell.parsed.plan, &nowhere, args) {
            Ok(()) => return Ok(()),
            Err(failure) => refused = refused.or(Some(failure)),
        }
    }
    refused.map_or(Ok(()), Err)
}

fn dry_run(matrix: &Matrix) -> Result<ExitCode, Failure> {
    let mut text = String::new();
    let mut all = Nanos::ZERO;
    for (number, cell) in matrix.cells.iter().enumerate() {
        let expected = estimate(&cell.parsed.plan);
        all = [expected.duration, expected.load_duration]
            .into_iter()
            .fold(all, saturating_sum);
        let repeat = if cell.repeat > 0 {
            format!(" · repeat {}", cell.repeat + 1)
        } else {
            String::new()
        };
        let label = matrix.label(&cell.choice);
        text.push_str(&format!(
            "{:>4}  {label}{repeat} · {} under load\n",
            number + 1,
            expected.duration.rounded()
        ));
    }
    text.push_str(&format!(
        "# {} cells, about {} with starting, loading and checking",
        matrix.cells.len(),
        all.rounded()
    ));
    print(&text)
}
