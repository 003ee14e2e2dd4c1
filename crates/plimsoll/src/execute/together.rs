//! A host that runs a plan in step with others: the worker's side.

use std::path::Path;
use std::sync::Arc;

use plimsoll_drive::catalog;
use plimsoll_plan::{Options, RecordedPlan, parse};
use plimsoll_record::RunStatus;
use plimsoll_record::runfile::read_plan;
use plimsoll_worker::protocol::PlanTask;
use plimsoll_worker::session::{PlanRun, PlanRunner, Together};

use super::execute;
use super::job::Job;
use super::leftovers::clear_leftovers;
use super::preflight::preflight;
use crate::failure::Failure;
use crate::signals::Interrupt;
use crate::terminal::note;

/// Name of the run file in a session's directory.
const RUN_FILE: &str = "run.plimsoll";

/// Runs plans by this program.
pub struct OwnPlans;

impl PlanRunner for OwnPlans {
    fn run(
        &self,
        task: &PlanTask,
        together: &Arc<Together>,
        dir: &Path,
    ) -> Result<PlanRun, String> {
        run_plan(task, together, dir).map_err(|failure| failure.text())
    }

    fn clear(&self, dir: &Path) {
        if let Err(left) = clear_run(&dir.join(RUN_FILE)) {
            // It goes to the session's log.
            note!("{left}");
        }
    }
}

/// Clears what the run of a file left on its media. `Err`: what was left there, and why.
fn clear_run(file: &Path) -> Result<(), String> {
    // A session without a plan has none.
    if file.symlink_metadata().is_err() {
        return Ok(());
    }
    let left = |why: &str| {
        format!(
            "What the run of {} left on its media is left there: {why}\n\
             The next run on a medium clears it, and so does plimsoll clean DIR.",
            file.display()
        )
    };
    match read_plan(file) {
        Ok(RecordedPlan::Resolved(plan)) => match clear_leftovers(&plan) {
            Ok(_) => Ok(()),
            Err(failure) => Err(left(&failure.text())),
        },
        Ok(RecordedPlan::Imported) => Ok(()),
        Ok(RecordedPlan::Unreadable { why, .. }) => {
            Err(left(&format!("its plan cannot be read: {why}")))
        }
        Err(error) => Err(left(&error.to_string())),
    }
}

fn run_plan(task: &PlanTask, together: &Arc<Together>, dir: &Path) -> Result<PlanRun, Failure> {
    let options = Options {
        scale: task.scale,
        data_scale: task.data_scale,
        seed: Some(task.seed),
        emulate: true,
        drives: catalog::known(),
    };
    // It was parsed before: what differs here are the files that it names.
    let parsed =
        parse(&task.text, &options).map_err(|errors| Failure::usage(errors.to_string()))?;
    let mut plan = parsed.plan;
    plan.on_hosts.clear();
    preflight(&plan, &task.overwrite)?;
    let notes = clear_leftovers(&plan)?;
    let job = Job {
        seed: task.seed,
        plan_text: task.text.clone(),
        output: dir.join(RUN_FILE),
        run_id: task.run_id.clone(),
        started_at: task.started_at.clone(),
        command: task.command.clone(),
        label: task.label.clone(),
        quiet: true,
        virtual_time: false,
        overwrite: task.overwrite.clone(),
        next_factors: Vec::new(),
        together: Some(together.clone()),
        notes,
        plan,
    };
    let done = execute(&job, Interrupt::of(together.order()))?;
    Ok(PlanRun {
        file: done.run_file,
        is_complete: done.status == RunStatus::Complete,
    })
}

#[cfg(test)]
mod tests {
    use plimsoll_record::APPLICATION_ID;

    use super::*;

    #[test]
    fn a_run_file_that_is_not_understood_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(RUN_FILE);
        assert_eq!(clear_run(&file), Ok(()));
        let older = rusqlite::Connection::open(&file).unwrap();
        let head = format!(
            "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 9; CREATE TABLE run (id)"
        );
        older.execute_batch(&head).unwrap();
        drop(older);
        let left = clear_run(&file).unwrap_err();
        assert!(
            left.contains(&file.display().to_string()) && left.contains("schema 9"),
            "{left}"
        );
        assert!(file.exists());
    }
}
