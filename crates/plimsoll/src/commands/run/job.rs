//! A run's inputs from its arguments: checked first, named, and media cleared of what earlier runs left.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};

use plimsoll_plan::PlanWarning;
use plimsoll_plan::resolved::{EngineKind, ResolvedPlan, Step};
use plimsoll_record::message::EventKind;

use super::super::io::command_line;
use crate::cli::RunArgs;
use crate::execute::{Job, check_output, clear_leftovers, preflight};
use crate::failure::Failure;
use crate::signals::Interrupt;

pub(super) fn warning_lines(name: &str, warnings: &[PlanWarning]) -> Vec<String> {
    warnings
        .iter()
        .map(|w| format!("{name}:{}:{}: {}", w.line, w.column, w.message))
        .collect()
}

pub(super) fn listen() -> Result<Interrupt, Failure> {
    Interrupt::listen().map_err(|error| Failure::run(format!("cannot receive signals: {error}")))
}

/// Refuses what cannot be run. Writes nothing.
pub(super) fn check(plan: &ResolvedPlan, output: &Path, args: &RunArgs) -> Result<(), Failure> {
    if args.flags.virtual_time && !lives_in_virtual_time(plan) {
        return Err(Failure::usage(
            "--virtual-time simulates time, and only mock systems and SQLite on modeled drives live in it, without \
             --emulate",
        ));
    }
    check_output(output)?;
    preflight(plan, &args.flags.overwrite)
}

/// Whether all of it can run in virtual time.
fn lives_in_virtual_time(plan: &ResolvedPlan) -> bool {
    let is_mock = |step: &Step| {
        step.load()
            .is_some_and(|load| plan.system(load.system).kind.engine() == EngineKind::Mock)
    };
    plan.is_simulated() || (plan.steps.iter().all(is_mock) && plan.used_hosts().is_empty())
}

pub(super) fn job(
    args: &RunArgs,
    plan: ResolvedPlan,
    plan_text: String,
    output: PathBuf,
    warnings: Vec<String>,
) -> Result<Job, Failure> {
    let now = jiff::Timestamp::now();
    let warnings = warnings
        .into_iter()
        .map(|warning| EventKind::Plan { warning });
    let notes = warnings.chain(clear_leftovers(&plan)?).collect();
    Ok(Job {
        seed: plan.seed.unwrap_or_else(drawn_seed),
        output,
        run_id: run_id(now),
        started_at: timestamp(now),
        command: command_line(),
        plan_text,
        label: args.flags.label.clone(),
        quiet: args.flags.quiet,
        virtual_time: args.flags.virtual_time || plan.is_simulated(),
        overwrite: args.flags.overwrite.clone(),
        next_factors: Vec::new(),
        together: None,
        notes,
        plan,
    })
}

pub(super) fn timestamp(now: jiff::Timestamp) -> String {
    now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Partly random: two containers may begin in the same second with the same process id, and a set begins several runs in
/// one second.
pub(super) fn run_id(now: jiff::Timestamp) -> String {
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

/// `how-far-does-this-go-20261120-101500.plimsoll`, or `…-2.plimsoll` where that is taken; of a set `….set`.
pub(super) fn default_output(title: &str, now: jiff::Timestamp, suffix: &str) -> PathBuf {
    let slug = slug(title);
    free(
        &format!("{slug}-{}", now.strftime("%Y%m%d-%H%M%S")),
        suffix,
        Path::exists,
    )
}

/// The words of a title, in so many letters: both ends, since a server's port stands at its end.
fn slug(title: &str) -> String {
    const HEAD: usize = 30;
    const TAIL: usize = 30;
    let lower = title.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    let slug = words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("-");
    if slug.is_empty() {
        return "run".to_owned();
    }
    if slug.len() <= HEAD + TAIL {
        return slug;
    }
    let (head, tail) = (&slug[..HEAD], &slug[slug.len() - TAIL..]);
    format!(
        "{}-{}",
        head.trim_end_matches('-'),
        tail.trim_start_matches('-')
    )
}

fn free(name: &str, suffix: &str, is_taken: impl Fn(&Path) -> bool) -> PathBuf {
    let numbered = (2..).map(|n| format!("{name}-{n}.{suffix}"));
    let mut names = std::iter::once(format!("{name}.{suffix}"))
        .chain(numbered)
        .map(PathBuf::from);
    names.find(|path| !is_taken(path)).unwrap_or_default()
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
    fn a_name_keeps_the_port_of_a_server() {
        let title = |server: &str| format!("How much load can the server {server} handle?");
        let names =
            ["db.example.org:5433", "db.example.org:5434"].map(|server| slug(&title(server)));
        assert_eq!(
            names[0],
            "how-much-load-can-the-server-db-example-org-5433-handle"
        );
        assert_ne!(names[0], names[1]);
        let long = slug(&title(&format!("{}.example.org:5433", "a".repeat(60))));
        assert!(long.ends_with("5433-handle") && long.len() <= 61, "{long}");
        assert_eq!(
            (slug("??"), slug("Größe: 5 %")),
            ("run".into(), "gr-e-5".into())
        );
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
