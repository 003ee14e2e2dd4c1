//! Load steps: prepares the systems, measures a ladder of loads or searches one, checks the data.

mod cut;
mod full;
mod lane_end;
mod point;
mod search;

use plimsoll_plan::ResolvedPlan;
use plimsoll_plan::resolved::CheckPolicy;
use plimsoll_record::PointPurpose;

use super::context::{InstanceSetup, PointSpec, StepContext, timeline};
use super::error::{RunError, StepResult};
use super::systems::InstanceId;
pub(super) use point::LoadRunner;
use search::search;

/// Runs a load step on one of its media. A database with wrong content after a power cut is a result, and the plan
/// continues.
pub(super) fn run_load_step(mut runner: LoadRunner<'_, '_>) -> StepResult<()> {
    let result = prepare_and_measure(&mut runner);
    let StepContext { step, medium, .. } = runner.context;
    match result {
        Err(RunError::Broken(why)) if step.power_cut.is_some() => {
            runner.run.log.progress().print(&why);
            runner.losses.push(why);
            let LoadRunner {
                systems, drives, ..
            } = runner;
            systems.retire_all(drives, step.system, medium)?;
            // The next step creates a drive whose filesystem is gone anew.
            match medium.filter(|_| drives.died(medium).is_some()) {
                Some(medium) => drives.unmount(medium),
                None => Ok(()),
            }
        }
        result => result,
    }
}

fn prepare_and_measure(runner: &mut LoadRunner<'_, '_>) -> StepResult<()> {
    prepare(runner)?;
    let step = runner.context.step;
    if let Some(precondition) = step.precondition {
        runner.precondition(precondition)?;
    }
    match &step.search {
        Some(wanted) => search(runner, wanted)?,
        None => ladder(runner)?,
    }
    match step.check {
        CheckPolicy::EndOfStep => runner.check_all(),
        CheckPolicy::EachPoint | CheckPolicy::Off => Ok(()),
    }
}

/// Starts and loads the step's systems and its neighbours; keeps the data that points begin with.
fn prepare(runner: &mut LoadRunner<'_, '_>) -> StepResult<()> {
    let context = runner.context;
    let neighbours = neighbours(runner.run.plan(), &context);
    let setups: Vec<InstanceSetup<'_>> = context
        .instances()
        .map(InstanceSetup::from)
        .chain(neighbours)
        .collect();
    let LoadRunner {
        systems, drives, ..
    } = runner;
    systems.prepare(drives, &context.step.name, &setups)?;
    let mut instances = context.instances();
    instances.try_for_each(|instance| systems.keep_first_state(drives, &instance))
}

/// Repeats the whole ladder, not each point, so that drift over hours shows as spread and not as a shape of the curve.
fn ladder(runner: &mut LoadRunner<'_, '_>) -> StepResult<()> {
    let step = runner.context.step;
    for repeat in 0..step.repeat {
        for (ordinal, load) in step.points.iter().enumerate() {
            for scene in step.scenes() {
                runner.measure(&PointSpec {
                    purpose: PointPurpose::Ladder,
                    ordinal: ordinal as u32,
                    repeat,
                    load: *load,
                    scene: *scene,
                    timeline: timeline(step),
                })?;
            }
        }
    }
    Ok(())
}

/// Systems that make noise beside the step's.
fn neighbours<'a>(
    plan: &'a ResolvedPlan,
    context: &StepContext<'a>,
) -> impl Iterator<Item = InstanceSetup<'a>> + use<'a> {
    let StepContext { id, medium, .. } = *context;
    context.step.noise.iter().flat_map(move |noise| {
        InstanceId::all(plan, noise.system, medium).map(move |instance| InstanceSetup {
            step: id,
            instance,
            workload: plan.noise_data(&noise.work),
        })
    })
}
