//! Ends a run at a point: one that misses a requirement, and one at which an emulated drive could not answer in time.

use plimsoll_analysis::audited::figures;
use plimsoll_analysis::compare::{ComparedSide, require};
use plimsoll_plan::MediumId;
use plimsoll_record::PointId;
use plimsoll_report::versus::missed_sentence;

use super::error::{LateDrive, RunError, StepResult};
use super::run::RunContext;

/// An error if one of these points misses a requirement, and the plan wants the run to end then.
pub(super) fn expect_required(run: RunContext<'_>, points: &[PointId]) -> StepResult<()> {
    if !run.plan().abort_on_fail {
        return Ok(());
    }
    let record = run.log.record_of(points)?;
    let side = ComparedSide::of("", &record);
    match require(&side, &run.plan().requirements).missed() {
        None => Ok(()),
        Some(point) => Err(RunError::Missed(missed_sentence(point))),
    }
}

/// An error if the audit finds these points invalid because a drive whose speed plimsoll chose was late, and the run can
/// begin again with a slower one.
pub(super) fn expect_in_time(
    run: RunContext<'_>,
    media: impl IntoIterator<Item = MediumId>,
    title: &str,
    points: &[PointId],
) -> StepResult<()> {
    let mut media = media.into_iter().map(|id| run.plan().medium(id));
    let Some(medium) = media.find(|medium| {
        let is_auto = medium.kind.emulated().is_some_and(|drive| drive.auto);
        is_auto && (run.job.next_factors.iter()).any(|next| next.is_for(&medium.name))
    }) else {
        return Ok(());
    };
    match figures(&run.log.record_of(points)?).too_late() {
        None => Ok(()),
        Some(late) => Err(RunError::Late(LateDrive {
            medium: medium.name.clone(),
            // Without the count of points.
            point: title
                .split_once("] ")
                .map_or(title, |(_, name)| name)
                .to_owned(),
            late,
        })),
    }
}
