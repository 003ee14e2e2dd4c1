//! `plimsoll run`: from a plan to a run file and a table, or to a set of run files.

mod attempts;
mod cells;
mod job;
mod live;
mod set;
mod slurm;
mod slurm_files;

use std::ops::RangeInclusive;
use std::path::Path;
use std::process::ExitCode;

use plimsoll_analysis::compare::{ComparedSide, require};
use plimsoll_drive::catalog;
use plimsoll_plan::resolved::ResolvedPlan;
use plimsoll_plan::{MediumNeed, Options, Parsed, describe, estimate, matrix, parse};
use plimsoll_record::runfile;
use plimsoll_record::{Record, RunStatus};
use plimsoll_report::answer::answer_text;
use plimsoll_report::versus::{requirement_sentence, requirement_text};

use super::io::{print, terminal_width};
use crate::bundled::PlanText;
use crate::cli::{Format, RunArgs};
use crate::commands::compare::exit_code;
use crate::commands::export::{default_table, render};
use crate::commands::predict::summary_of;
use crate::execute::{FinishedRun, check_urls, execute};
use crate::failure::Failure;
use crate::plan_errors;
use crate::shell::quoted;
use crate::speed::choose;
use crate::terminal::note;
use attempts::attempts;
use job::{check, default_output, job, listen, warning_lines};
use live::LiveServer;

/// By which times and data can be multiplied.
const FACTORS: RangeInclusive<f64> = 1e-6..=1e6;

pub fn run(args: &RunArgs) -> Result<ExitCode, Failure> {
    run_text(args, PlanText::read(&args.plan)?)
}

/// Runs a plan that was read, or made.
pub(super) fn run_text(args: &RunArgs, plan: PlanText) -> Result<ExitCode, Failure> {
    run_plan(args, plan).map_err(|failure| failure.with_log(args.flags.verbose))
}

fn run_plan(args: &RunArgs, plan: PlanText) -> Result<ExitCode, Failure> {
    let options = options(args)?;
    let PlanText { name, text } = plan;
    let Parsed { plan, warnings } = parsed(&name, &text, &options)?;
    check_urls(&plan)?;
    let matrix =
        matrix(&text, &options).map_err(|errors| plan_errors::failure(&name, &text, errors))?;
    if let Some(matrix) = matrix {
        return set::run_set(args, &text, &options, &plan.title, &matrix);
    }
    refuse_set_options(args)?;
    let warnings = warning_lines(&name, &warnings);
    if args.flags.dry_run {
        return dry_run(&plan, warnings);
    }
    let now = jiff::Timestamp::now();
    let output = args
        .output
        .clone()
        .unwrap_or_else(|| default_output(&plan.title, now, "plimsoll"));
    check(&plan, &output, args)?;
    let interrupt = listen()?;
    let live = LiveServer::start_if_wanted(args, &output)?;
    let mut job = job(args, plan, text, output, warnings)?;
    for chosen in choose(&job.plan, &interrupt, args.flags.quiet)? {
        job = chosen.apply_to(job);
    }
    let done = attempts(job, |job| execute(job, interrupt.clone()))?;
    let _live = live.end_run();
    show(&done, args)
}

/// What only a plan with a matrix can have.
fn refuse_set_options(args: &RunArgs) -> Result<(), Failure> {
    if args.resume.is_some() {
        return Err(Failure::usage(
            "--resume goes on with a set of runs, and this plan has no [matrix]",
        ));
    }
    if args.cell.is_some() {
        return Err(Failure::usage(
            "--cell runs one cell of a set, and this plan has no [matrix]\nRun it without --cell.",
        ));
    }
    if args.slurm.is_some() {
        return Err(Failure::usage(format!(
            "--slurm runs the cells of a set, and this plan has no [matrix]\nRun it on one node: srun --nodes=1 \
             --exclusive plimsoll run {}",
            quoted(&args.plan)
        )));
    }
    Ok(())
}

fn options(args: &RunArgs) -> Result<Options, Failure> {
    for (flag, factor) in [("--scale", args.scale), ("--data-scale", args.data_scale)] {
        if !FACTORS.contains(&factor) {
            let least = FACTORS.start();
            let most = FACTORS.end();
            return Err(Failure::usage(format!(
                "{flag} takes a number from {least} to {most}, not {factor}"
            )));
        }
    }
    Ok(Options {
        scale: args.scale,
        data_scale: args.data_scale,
        seed: args.flags.seed,
        emulate: args.flags.emulate,
        drives: catalog::known(),
    })
}

/// A plan in a file, or a bundled one. The failure shows every mistake where it stands.
pub(super) fn parse_plan(path: &Path, options: &Options) -> Result<Parsed, Failure> {
    let PlanText { name, text } = PlanText::read(path)?;
    parsed(&name, &text, options)
}

pub(super) fn parsed(name: &str, text: &str, options: &Options) -> Result<Parsed, Failure> {
    parse(text, options).map_err(|errors| plan_errors::failure(name, text, errors))
}

fn dry_run(plan: &ResolvedPlan, warnings: Vec<String>) -> Result<ExitCode, Failure> {
    for warning in warnings {
        note!("warning: {warning}");
    }
    let expected = estimate(plan);
    let mut text = describe(plan);
    if plan.is_simulated() {
        text.push_str("\n# simulated in virtual time: figures of models, not of this machine; --emulate emulates the drives");
    }
    text.push_str(&format!("\n# under load: {}", expected.duration));
    for step in &expected.per_step {
        if let Some(longest) = step.longest_search {
            text.push_str(&format!(
                "\n# of that the search `{}`: about {}; at most {longest}, if each load needs its longest window",
                step.step, step.duration
            ));
        }
    }
    text.push_str(&format!(
        "\n# starting, loading and checking: about {}",
        expected.load_duration.rounded()
    ));
    for MediumNeed { medium, bytes } in expected.space {
        let medium = &plan.medium(medium).name;
        text.push_str(&format!("\n# free space needed on {medium}: about {bytes}"));
    }
    for MediumNeed { medium, bytes } in expected.memory {
        let medium = &plan.medium(medium).name;
        text.push_str(&format!(
            "\n# memory needed for what is written on {medium}: about {bytes}"
        ));
    }
    print(&text)
}

fn show(done: &FinishedRun, args: &RunArgs) -> Result<ExitCode, Failure> {
    let record = runfile::read(&done.run_file)?;
    let summary = summary_of(&record);
    let answer = summary
        .answer
        .as_ref()
        .filter(|_| args.flags.format == Format::Table);
    if let Some(answer) = answer {
        let run = quoted(&done.run_file);
        print(&answer_text(answer, &run, terminal_width()))?;
    }
    if answer.is_none() || args.flags.verbose {
        print(&render(
            &record,
            &summary,
            args.flags.format,
            default_table(&summary),
        ))?;
    }
    if !args.flags.quiet || args.flags.format == Format::Table {
        note!("Run file: {}", done.run_file.display());
    }
    if answer.is_none() && args.flags.format == Format::Table {
        note!("Report:   plimsoll report {}", quoted(&done.run_file));
    }
    match (done.status, &done.failure) {
        (RunStatus::Complete, _) => evaluate_requirements(&record, args.flags.format),
        (RunStatus::Interrupted, _) => Err(Failure::run(
            "interrupted: what was measured until then is in the run file",
        )),
        (_, Some(failure)) if done.missed => Err(Failure::threshold(failure.clone())),
        (_, Some(failure)) => Err(Failure::run(failure.clone())),
        (_, None) => Err(Failure::run("the run failed")),
    }
}

/// Those of the plan, at the end of a complete run.
fn evaluate_requirements(record: &Record, format: Format) -> Result<ExitCode, Failure> {
    let plan = record.plan.resolved();
    let requirements = plan.map_or(&[][..], |plan| &plan.requirements);
    if requirements.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let report = require(&ComparedSide::of("", record), requirements);
    match format {
        Format::Table => print(&format!("\n{}", requirement_text(&report))).map(drop)?,
        // Tables for programs hold the run's figures alone.
        Format::Csv | Format::Json => note!("{}", requirement_sentence(&report)),
    }
    Ok(exit_code(report.outcome))
}
