//! A plan with a matrix: one run for each cell, all of them in one directory.

use std::process::ExitCode;

use plimsoll_plan::resolved::ResolvedPlan;
use plimsoll_plan::units::Nanos;
use plimsoll_plan::{Cell, Matrix, Options, estimate};
use plimsoll_record::RunStatus;
use plimsoll_report::set::set_answer_text;

use super::super::io::{print, terminal_width};
use super::job::{check, default_output, job, listen, warning_lines};
use super::live::LiveServer;
use crate::cli::{Format, RunArgs};
use crate::commands::set::{render_set, summary_of};
use crate::execute::execute;
use crate::failure::Failure;
use crate::set::{RunSet, SetCell, SetList};
use crate::signals::Interrupt;
use crate::speed::{ChosenSpeed, choose};

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
    let list = SetList::new(title, matrix, options);
    let resumed = args.resume.as_deref().map(RunSet::open).transpose()?;
    if resumed.is_none() {
        some_can(args, matrix)?;
    }
    let set = match resumed {
        Some(set) => {
            set.expect(&list, text)?;
            set
        }
        None => {
            let path = args.output.clone();
            let path = path.unwrap_or_else(|| default_output(title, jiff::Timestamp::now(), "set"));
            RunSet::create(&path, list, text)?
        }
    };
    let live = LiveServer::start_if_wanted(args, &set.path)?;
    carry_out(args, &set, matrix)?;
    let _live = live.end_run();
    let summary = summary_of(&set)?;
    let is_answer = args.flags.format == Format::Table;
    if is_answer {
        let dir = set.path.display().to_string();
        print(&set_answer_text(&summary, &dir, terminal_width()))?;
    }
    if !is_answer || args.flags.verbose {
        print(&render_set(&summary, args.flags.format))?;
    }
    eprintln!("Set of runs: {}", set.path.display());
    Ok(ExitCode::SUCCESS)
}

/// A matrix of which no cell can be carried out is refused before a directory is made.
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

/// Every cell that has no complete run yet, in their order. A cell that fails does not keep the others from being tried.
fn carry_out(args: &RunArgs, set: &RunSet, matrix: &Matrix) -> Result<(), Failure> {
    let interrupt = listen()?;
    let mut failed = Vec::new();
    let all = set.list.cells.len();
    let speed = speed_of(args, set, matrix, &interrupt)?;
    for (number, (cell, planned)) in set.list.cells.iter().zip(&matrix.cells).enumerate() {
        let label = set.list.label(cell);
        let name = format!("cell {} of {all}: {label}", number + 1);
        if set.complete(cell)?.is_some() {
            report(args, &format!("{name}: done before"));
            continue;
        }
        set.put_aside(cell)?;
        let left = matrix.cells[number..]
            .iter()
            .map(|cell| estimate(&cell.parsed.plan).duration);
        let left = left.fold(Nanos::ZERO, |sum, time| Nanos(sum.0.saturating_add(time.0)));
        report(args, &format!("{name} · {left} under load left in all"));
        match one(args, set, cell, planned, speed.as_ref(), &interrupt) {
            Ok(None) => {}
            Ok(Some(RunStatus::Interrupted)) => return Err(interrupted(set, args)),
            Ok(Some(_)) => failed.push(label),
            Err(failure) => {
                report(args, &format!("{name} failed: {}", failure.text()));
                failed.push(label);
            }
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    let n = failed.len();
    let path = set.path.display();
    Err(Failure::run(format!(
        "{n} of {all} cells failed: {}\nThe others are in {path}. Repair what the errors above report, then try those that \
         failed again: --resume {path}",
        failed.join("; ")
    )))
}

/// The same speed for all cells: that of those that were done before, or a new choice.
fn speed_of(
    args: &RunArgs,
    set: &RunSet,
    matrix: &Matrix,
    interrupt: &Interrupt,
) -> Result<Option<ChosenSpeed>, Failure> {
    for cell in &set.list.cells {
        if let Some(speed) = set
            .complete(cell)?
            .as_ref()
            .and_then(ChosenSpeed::of_record)
        {
            return Ok(Some(speed));
        }
    }
    let plans: Vec<&ResolvedPlan> = matrix.cells.iter().map(|cell| &cell.parsed.plan).collect();
    choose(&plans, interrupt, args.flags.quiet)
}

fn report(args: &RunArgs, text: &str) {
    if !args.flags.quiet {
        eprintln!("{text}");
    }
}

/// Runs one cell; its outcome unless it completed.
fn one(
    args: &RunArgs,
    set: &RunSet,
    cell: &SetCell,
    planned: &Cell,
    speed: Option<&ChosenSpeed>,
    interrupt: &Interrupt,
) -> Result<Option<RunStatus>, Failure> {
    let plan = planned.parsed.plan.clone();
    let output = set.file(cell);
    check(&plan, &output, args)?;
    let warnings = warning_lines(&cell.file, &planned.parsed.warnings);
    let mut job = job(args, plan, planned.text.clone(), output, warnings)?;
    if let Some(speed) = speed {
        job = speed.clone().of_job(job);
        // A later cell at another factor could not be compared with those before it.
        job.next_factor = None;
    }
    let done = execute(&job, interrupt.clone())?;
    if let (RunStatus::Failed, Some(why)) = (done.status, done.failure) {
        return Err(Failure::run(why));
    }
    Ok((done.status != RunStatus::Complete).then_some(done.status))
}

fn interrupted(set: &RunSet, args: &RunArgs) -> Failure {
    Failure::run(format!(
        "interrupted: what was measured until then is in {}\nGo on with: plimsoll run {} --resume {0} and the same \
         options.",
        set.path.display(),
        args.plan.display()
    ))
}

fn dry_run(matrix: &Matrix) -> Result<ExitCode, Failure> {
    let mut text = String::new();
    let mut all = Nanos::ZERO;
    for (number, cell) in matrix.cells.iter().enumerate() {
        let expected = estimate(&cell.parsed.plan);
        all = Nanos(
            all.0
                .saturating_add(expected.duration.0)
                .saturating_add(expected.load_duration.0),
        );
        let repeat = if cell.repeat > 0 {
            format!(" · repeat {}", cell.repeat + 1)
        } else {
            String::new()
        };
        let label = matrix.label(&cell.choice);
        text.push_str(&format!(
            "{:>4}  {label}{repeat} · {} under load\n",
            number + 1,
            expected.duration
        ));
    }
    text.push_str(&format!(
        "# {} cells, about {all} with starting, loading and checking",
        matrix.cells.len()
    ));
    print(&text)
}
