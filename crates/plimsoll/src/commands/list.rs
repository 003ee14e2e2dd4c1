//! `plimsoll list`: a folder of run files as a catalog, and as a history.

use std::collections::HashMap;
use std::convert::Infallible;
use std::path::Path;
use std::process::ExitCode;

use plimsoll_analysis::compare::ComparedSide;
use plimsoll_analysis::history::{FigureSeries, HistoryRun, figure_series};
use plimsoll_analysis::{ListedResult, summarise};
use plimsoll_report::history::{ListedRun, course_csv, list_csv, list_text};
use serde::Serialize;

use super::compare::warn_of_copy;
use super::io::{join_hint, print};
use crate::cli::{Format, RunsArgs};
use crate::execute::has_journals;
use crate::failure::Failure;
use crate::in_order::{ResultSender, work_in_order};
use crate::run_path::run_files;
use crate::terminal::note;
use plimsoll_record::RunStatus;
use plimsoll_record::runfile::{self, Head};

#[derive(Serialize)]
struct Listed<'a> {
    runs: Vec<ListedHead<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    courses: Option<&'a [FigureSeries]>,
}

#[derive(Serialize)]
struct ListedHead<'a> {
    #[serde(flatten)]
    head: &'a Head,
    #[serde(flatten)]
    result: Option<ListedResult>,
}

pub fn list(args: &RunsArgs) -> Result<ExitCode, Failure> {
    let mut heads: Vec<Head> = Vec::new();
    for path in run_files(&args.dir)? {
        match runfile::read_head(&path) {
            Ok(head) => heads.push(head),
            // Other programs' files are skipped silently; a run file that cannot be read is reported.
            Err(runfile::RunFileError::Foreign { .. }) => {}
            Err(error) => note!("warning: {error}"),
        }
    }
    heads.retain(|head| is_wanted(args, head));
    heads.sort_by(|a, b| (&a.run.started_at, &a.path).cmp(&(&b.run.started_at, &b.path)));
    heads.iter().for_each(hint_at_journals);
    let courses = args.changes.then(|| history(args, &heads));
    if courses.is_none() {
        warn_of_copies(args, &heads);
    }
    let listed = with_results(args, &heads);
    print(&match (args.format, &courses) {
        (Format::Table, courses) => list_text(&listed, courses.as_deref()),
        (Format::Csv, None) => list_csv(&listed),
        (Format::Csv, Some(courses)) => course_csv(courses),
        (Format::Json, courses) => {
            let heads = heads.iter().zip(&listed);
            let all = Listed {
                runs: heads
                    .map(|(head, run)| ListedHead {
                        head,
                        result: run.result,
                    })
                    .collect(),
                courses: courses.as_deref(),
            };
            serde_json::to_string_pretty(&all)
                .map_err(|error| Failure::run(format!("no JSON can be made: {error}")))?
        }
    })
}

/// Each run with its figures. One that cannot be read as a whole is listed without.
fn with_results(args: &RunsArgs, heads: &[Head]) -> Vec<ListedRun> {
    let mut listed: Vec<ListedRun> = heads
        .iter()
        .map(|head| ListedRun::of(name(&args.dir, head), head))
        .collect();
    let read = |head: &Head, results: &ResultSender<Option<ListedResult>>| {
        results.send(listed_result(head));
    };
    // Nothing that takes a result fails.
    let _ = work_in_order(heads, read, |place, result| {
        listed[place].result = result;
        Ok::<(), Infallible>(())
    });
    listed
}

/// The figures of a run that is over.
pub(super) fn listed_result(head: &Head) -> Option<ListedResult> {
    if head.run.status == RunStatus::Unfinished {
        return None;
    }
    let record = runfile::read(&head.path).ok()?;
    Some(ListedResult::of(&summarise(&record)))
}

fn hint_at_journals(head: &Head) {
    if head.run.status != RunStatus::Unfinished {
        return;
    }
    // A file whose plan cannot be read has been reported.
    if runfile::read_plan(&head.path).is_ok_and(|plan| has_journals(head.run.status, &plan)) {
        note!("{}", join_hint(&head.path));
    }
}

fn is_wanted(args: &RunsArgs, head: &Head) -> bool {
    holds(&head.run.title, &args.title)
        && holds(&head.label, &args.label)
        && args.status.as_ref().is_none_or(|status| head.run.status.name() == status)
        // Times are RFC 3339 in UTC, whose order is that of their letters.
        && args.since.as_ref().is_none_or(|since| head.run.started_at.as_str() >= since.as_str())
        && names(&head.systems, &args.system)
        && names(&head.media, &args.medium)
}

fn holds(text: &str, part: &Option<String>) -> bool {
    part.as_ref()
        .is_none_or(|part| text.to_lowercase().contains(&part.to_lowercase()))
}

fn names(all: &[String], name: &Option<String>) -> bool {
    name.as_ref().is_none_or(|name| all.contains(name))
}

/// Files that hold a run of another file as well.
fn warn_of_copies(args: &RunsArgs, heads: &[Head]) {
    let mut firsts: HashMap<&str, &Head> = HashMap::new();
    for head in heads {
        let first = firsts.entry(&head.run.id).or_insert(head);
        if first.path != head.path {
            warn_of_copy(&name(&args.dir, head), &name(&args.dir, first));
        }
    }
}

fn name(dir: &Path, head: &Head) -> String {
    let name = head.path.strip_prefix(dir).ok();
    // Of a file that was named itself nothing would be left.
    name.filter(|name| !name.as_os_str().is_empty())
        .unwrap_or(&head.path)
        .display()
        .to_string()
}

/// Each run once, of however many files.
fn history(args: &RunsArgs, heads: &[Head]) -> Vec<FigureSeries> {
    let mut runs: Vec<HistoryRun> = Vec::new();
    for head in heads {
        let record = match runfile::read(&head.path)
            .and_then(|record| runfile::require_intact(&head.path, record))
        {
            Ok(record) => record,
            // One damaged file hides nothing of the others.
            Err(error) => {
                note!("warning: {error}");
                continue;
            }
        };
        let side = ComparedSide::of(head.label.clone(), &record);
        if let Some(first) = runs.iter().position(|run| run.side.shares_run(&side)) {
            let first = Path::new(&runs[first].file);
            let first = first.strip_prefix(&args.dir).unwrap_or(first).display();
            warn_of_copy(&name(&args.dir, head), &first.to_string());
            continue;
        }
        runs.push(HistoryRun {
            file: head.path.display().to_string(),
            label: head.label.clone(),
            side,
        });
    }
    figure_series(&runs)
}
