//! Block steps: fio on the medium itself. Files are laid out, then all jobs are gone through, round by round.

mod describe;
mod ground;
mod layout;
mod permits;
mod point;

use std::path::Path;

use plimsoll_model::plan::resolved::{Block, BlockJob, BlockStep, BlockWork, SteadyRule};
use plimsoll_model::record::{Severity, SteadyInfo};
use plimsoll_model::rounds::fit;
use plimsoll_model::schedule::PhaseKind;
use plimsoll_model::units::Nanos;

pub(super) use permits::{device_permit, job_file_permits};

use super::{Course, Execution, unresolved};
use ground::Ground;
use point::{Aim, Speed};

/// Where points are measured: a step on one of its media, or on all of them at once.
#[derive(Clone, Copy)]
struct Place<'a> {
    step: &'a BlockStep,
    block: &'a Block,
    ground: &'a Ground,
}

impl Execution<'_> {
    /// The step on these media at the same time.
    pub(super) fn block_step(&mut self, step: &BlockStep, media: &[&str]) -> Course<()> {
        let plan = self.plan;
        let block = plan.block(&step.workload).ok_or_else(|| unresolved("workload", &step.workload))?;
        let ahead = self.progress.ahead_after(expected(step, block));
        let phase = self.file.open_phase(&step.name, None, PhaseKind::Prepare, self.clock.now())?;
        let ground = self.prepare_ground(step, block, media);
        self.file.close_phase(phase, self.clock.now(), ground.is_ok())?;
        self.file.commit()?;
        let ground = ground?;
        let place = Place { step, block, ground: &ground };
        let course = match &block.work {
            BlockWork::Jobs(jobs) => self.rounds(&place, jobs),
            BlockWork::File { path } => self.rounds(&place, &[job_of_file(path)]),
        };
        self.progress.is_ahead(ahead);
        let removed = self.leave(ground);
        course.and(removed)
    }

    /// All jobs, again and again: so often, or until they are steady.
    fn rounds(&mut self, place: &Place<'_>, jobs: &[BlockJob]) -> Course<()> {
        if let Some(rule) = place.step.steady {
            self.file.steady(&self.steady_info(place, rule))?;
        }
        let mut speeds = vec![Vec::new(); jobs.len()];
        for round in 0..place.step.rounds {
            let mut ordinal = 0;
            for (job_index, job) in jobs.iter().enumerate() {
                let aim = Aim { job, job_index, round, ordinal, share: None };
                let speed = self.block_point(place, &aim, &[])?;
                ordinal += 1;
                self.curve(place, &aim, &speed, &mut ordinal)?;
                speeds[job_index].push(speed.total());
            }
            if let Some(rule) = place.step.steady
                && speeds.iter().all(|speeds| fit(speeds, &rule).is_some_and(|fit| fit.steady))
            {
                self.progress.say(&format!("  {}: steady after {} rounds", place.step.name, round + 1));
                return Ok(());
            }
        }
        if place.step.steady.is_some() {
            let text = format!("{}: not steady after {} rounds", place.step.name, place.step.rounds);
            self.tell(Some(place.ground.subject), Severity::Warning, "not_steady", &text)?;
        }
        Ok(())
    }

    /// After a job at full speed: shares of what it has reached.
    fn curve(&mut self, place: &Place<'_>, full: &Aim<'_>, speed: &Speed, ordinal: &mut u32) -> Course<()> {
        if speed.total() <= 0.0 && !full.job.curve.is_empty() {
            let text = format!("{}: {} reached nothing, so that it has no curve", place.step.name, full.job.name);
            return self.tell(Some(place.ground.subject), Severity::Warning, "no_curve", &text);
        }
        for percent in &full.job.curve {
            let workers = place.ground.workers.len() as f64;
            // Of each worker; one request a second of a stream that has made none.
            let rates: Vec<f64> =
                speed.streams.iter().map(|reached| (reached * percent / 100.0 / workers).max(1.0)).collect();
            let aim = Aim { share: Some(*percent), ordinal: *ordinal, ..*full };
            self.block_point(place, &aim, &rates)?;
            *ordinal += 1;
        }
        Ok(())
    }

    fn steady_info(&self, place: &Place<'_>, rule: SteadyRule) -> SteadyInfo {
        let SteadyRule { window, range, slope } = rule;
        SteadyInfo {
            step: place.step.name.clone(),
            step_index: self.plan.step_index(&place.step.name),
            medium: place.ground.only_medium(),
            window,
            range,
            slope,
            most_rounds: place.step.rounds,
        }
    }
}

/// Load time of a step on one of its media, with all rounds.
fn expected(step: &BlockStep, block: &Block) -> Nanos {
    let each = (step.warm + step.measure).0;
    Nanos(each.saturating_mul(block.points_per_round()).saturating_mul(u64::from(step.rounds)))
}

/// A job file goes by its name; what is in it only fio knows.
fn job_of_file(path: &str) -> BlockJob {
    let name = Path::new(path).file_name().map_or_else(|| path.into(), |name| name.to_string_lossy().into_owned());
    BlockJob { name, streams: Vec::new(), curve: Vec::new() }
}
