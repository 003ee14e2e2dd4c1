//! `plimsoll run`: from a plan to a run file and a table, or to a set of run files.

mod set;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use plimsoll_analysis::summarise;
use plimsoll_load::limit;
use plimsoll_load::scratch::sweep;
use plimsoll_plan::resolved::{EngineKind, MediumKind, ResolvedPlan};
use plimsoll_plan::units::Nanos;
use plimsoll_plan::{Options, Parsed, PlanWarning, describe, estimate, matrix, parse};
use plimsoll_record::RunStatus;

use super::{command_line, print};
use crate::cli::{Format, RunArgs, Table};
use crate::commands::export::render;
use crate::drive_file;
use crate::execute::{DRIVE_DIR, Done, Job, check_output, execute, preflight};
use crate::failure::Failure;
use crate::plan_errors;
use crate::signals::Interrupt;
use plimsoll_record::runfile;

/// By which times and data can be multiplied.
const FACTORS: RangeInclusive<f64> = 1e-6..=1e6;

pub fn run(args: &RunArgs) -> Result<ExitCode, Failure> {
    let (text, options, Parsed { plan, warnings }) = read_plan(args)?;
    let name = args.plan.display().to_string();
    let matrix =
        matrix(&text, &options).map_err(|errors| plan_errors::failure(&name, &text, errors))?;
    if let Some(matrix) = matrix {
        return set::run_set(args, &text, &options, &plan.title, &matrix);
    }
    if args.resume.is_some() {
        return Err(Failure::usage(
            "--resume goes on with a set of runs, and this plan has no [matrix]",
        ));
    }
    let warnings = told(&name, &warnings);
    if args.dry_run {
        return dry_run(&plan, warnings);
    }
    let now = jiff::Timestamp::now();
    let output = args
        .output
        .clone()
        .unwrap_or_else(|| default_output(&plan.title, now, "plimsoll"));
    check(&plan, &output, args)?;
    let job = job(args, plan, text, output, warnings)?;
    let interrupt = listen()?;
    let done = execute(&job, interrupt)?;
    show(&done, args)
}

fn told(name: &str, warnings: &[PlanWarning]) -> Vec<String> {
    warnings
        .iter()
        .map(|w| format!("{name}:{}:{}: {}", w.line, w.column, w.message))
        .collect()
}

fn listen() -> Result<Interrupt, Failure> {
    Interrupt::listen().map_err(|error| Failure::run(format!("cannot receive signals: {error}")))
}

/// Refuses what cannot be run. Writes nothing.
fn check(plan: &ResolvedPlan, output: &Path, args: &RunArgs) -> Result<(), Failure> {
    let real = plan
        .systems
        .iter()
        .any(|system| system.kind.engine() != EngineKind::Mock)
        || plan.steps.iter().any(|step| step.load().is_none());
    if args.virtual_time && real {
        return Err(Failure::usage(
            "--virtual-time simulates time, and only mock systems live in it",
        ));
    }
    check_output(output)?;
    preflight(plan, &args.overwrite)
}

fn job(
    args: &RunArgs,
    plan: ResolvedPlan,
    plan_text: String,
    output: PathBuf,
    warnings: Vec<String>,
) -> Result<Job, Failure> {
    let now = jiff::Timestamp::now();
    let notes = warnings.into_iter().map(|text| ("plan", text));
    let notes = notes
        .chain(
            clear_leftovers(&plan)?
                .into_iter()
                .map(|text| ("leftovers", text)),
        )
        .collect();
    Ok(Job {
        seed: plan.seed.unwrap_or_else(drawn_seed),
        output,
        run_id: run_id(now),
        started_at: now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        command: command_line(),
        plan_text,
        label: args.label.clone(),
        quiet: args.quiet,
        virtual_time: args.virtual_time,
        overwrite: args.overwrite.clone(),
        notes,
        plan,
    })
}

/// Partly random: two containers may begin in the same second with the same process id, and a set begins several runs in
/// one second.
fn run_id(now: jiff::Timestamp) -> String {
    format!(
        "{}-{}-{:08x}",
        now.strftime("%Y%m%dT%H%M%SZ"),
        std::process::id(),
        drawn_seed()
    )
}

/// Short enough to be typed.
fn drawn_seed() -> u64 {
    RandomState::new().build_hasher().finish() >> 32
}

fn read_plan(args: &RunArgs) -> Result<(String, Options, Parsed), Failure> {
    for (flag, factor) in [("--scale", args.scale), ("--data-scale", args.data_scale)] {
        if !FACTORS.contains(&factor) {
            let least = FACTORS.start();
            let most = FACTORS.end();
            return Err(Failure::usage(format!(
                "{flag} takes a number from {least} to {most}, not {factor}"
            )));
        }
    }
    let options = Options {
        scale: args.scale,
        data_scale: args.data_scale,
        seed: args.seed,
        drives: drive_file::names(),
    };
    parse_plan(&args.plan, &options).map(|(text, parsed)| (text, options, parsed))
}

/// A plan with its text. The failure shows every mistake where it stands.
pub(super) fn parse_plan(path: &Path, options: &Options) -> Result<(String, Parsed), Failure> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::usage(format!(
            "the plan {name} cannot be read: {error}\nPlans to start from are in plans/."
        ))
    })?;
    match parse(&text, options) {
        Ok(parsed) => Ok((text, parsed)),
        Err(errors) => Err(plan_errors::failure(&name, &text, errors)),
    }
}

fn dry_run(plan: &ResolvedPlan, warnings: Vec<String>) -> Result<ExitCode, Failure> {
    for warning in warnings {
        eprintln!("warning: {warning}");
    }
    let expected = estimate(plan);
    let mut text = describe(plan);
    text.push_str(&format!("\n# under load: {}", expected.duration));
    text.push_str(&format!(
        "\n# starting, loading and checking: about {}",
        expected.load_duration
    ));
    for (medium, space) in expected.space {
        text.push_str(&format!("\n# free space needed on {medium}: about {space}"));
    }
    for (medium, memory) in expected.memory {
        text.push_str(&format!(
            "\n# memory needed for what is written on {medium}: about {memory}"
        ));
    }
    print(&text)
}

/// Media may hold what a killed run left; it is cleared before anything new is made, and nothing else is touched.
fn clear_leftovers(plan: &ResolvedPlan) -> Result<Vec<String>, Failure> {
    let mut cleared = Vec::new();
    // Nothing is made on a device that could be left.
    for medium in plan
        .used_media()
        .filter(|medium| medium.kind != MediumKind::Device)
    {
        cleared.extend(sweep(Path::new(&medium.path), &clear_drives)?);
    }
    // After the servers in them.
    if plan.systems.iter().any(|system| !system.limits.is_none()) {
        cleared.extend(
            limit::sweep()
                .into_iter()
                .map(|group| group.display().to_string()),
        );
    }
    Ok(cleared)
}

/// Mounts and loop devices of an emulator that is gone, or about to be: its run is.
fn clear_drives(dir: &Path) -> std::io::Result<Vec<String>> {
    const PATIENCE: Nanos = Nanos::from_millis(60_000);
    let dir = dir.join(DRIVE_DIR);
    if !dir.exists() && dir.symlink_metadata().is_err() {
        return Ok(Vec::new());
    }
    plimsoll_drive::emulate::clear(&dir, PATIENCE)
}

/// `how-far-does-this-go-20261120-101500.plimsoll`, or `…-2.plimsoll` where that is taken; of a set `….set`.
fn default_output(title: &str, now: jiff::Timestamp, suffix: &str) -> PathBuf {
    let mut slug: String = title
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .take(40)
        .collect();
    while slug.contains("--") {
        slug = slug.replace("--", "-");
    }
    let slug = slug.trim_matches('-');
    let slug = if slug.is_empty() { "run" } else { slug };
    free(
        &format!("{slug}-{}", now.strftime("%Y%m%d-%H%M%S")),
        suffix,
        Path::exists,
    )
}

fn free(name: &str, suffix: &str, is_taken: impl Fn(&Path) -> bool) -> PathBuf {
    let numbered = (2..).map(|n| format!("{name}-{n}.{suffix}"));
    let mut names = std::iter::once(format!("{name}.{suffix}"))
        .chain(numbered)
        .map(PathBuf::from);
    names.find(|path| !is_taken(path)).unwrap_or_default()
}

fn show(done: &Done, args: &RunArgs) -> Result<ExitCode, Failure> {
    let record = runfile::read(&done.run_file)?;
    print(&render(
        &record,
        &summarise(&record),
        args.format,
        Table::Ladder,
    ))?;
    if !args.quiet || args.format == Format::Table {
        eprintln!("Run file: {}", done.run_file.display());
        eprintln!("Report:   plimsoll report {}", done.run_file.display());
    }
    match (done.status, &done.failure) {
        (RunStatus::Complete, _) => Ok(ExitCode::SUCCESS),
        (RunStatus::Interrupted, _) => Err(Failure::run(
            "interrupted: what was measured until then is in the run file",
        )),
        (_, failure) => Err(Failure::run(failure.as_deref().unwrap_or("the run failed"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_runs_of_one_second_and_process_id_have_ids_of_their_own() {
        let drawn: Vec<String> = (0..2)
            .map(|_| run_id(jiff::Timestamp::UNIX_EPOCH))
            .map(|id| {
                let start = format!("19700101T000000Z-{}-", std::process::id());
                id.strip_prefix(&start)
                    .unwrap_or_else(|| panic!("{id} has no random part"))
                    .to_owned()
            })
            .collect();
        assert!(
            drawn
                .iter()
                .all(|part| part.len() == 8 && part != "00000000"),
            "{drawn:?}"
        );
        assert_ne!(drawn[0], drawn[1]);
    }

    #[test]
    fn two_runs_of_one_title_in_one_second_have_names_of_their_own() {
        assert_eq!(
            free("a-20261120-101500", "plimsoll", |_| false),
            Path::new("a-20261120-101500.plimsoll")
        );
        let taken = ["a-20261120-101500.plimsoll", "a-20261120-101500-2.plimsoll"].map(Path::new);
        let third = free("a-20261120-101500", "plimsoll", |path| {
            taken.contains(&path)
        });
        assert_eq!(third, Path::new("a-20261120-101500-3.plimsoll"));
    }
}
