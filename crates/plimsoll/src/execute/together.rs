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
        if let Ok(RecordedPlan::Resolved(plan)) = read_plan(&dir.join(RUN_FILE)) {
            // What cannot be cleared now is cleared before the next run on the medium.
            let _ = clear_leftovers(&plan);
        }
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
