//! Runs a plan: starts systems, loads data, measures point by point, checks, stops and removes;
//! records everything in the run file.

mod apart;
mod backup;
mod block;
mod context;
mod cut;
mod disk_use;
mod doctor;
mod drives;
mod error;
mod execution;
mod existing;
mod full;
mod hosts;
mod inbox;
mod job;
mod join;
mod join_plan;
mod lane;
mod lateness;
mod leftovers;
mod limits;
mod mount;
mod on_hosts;
mod point;
mod preflight;
mod prepare;
mod reach;
mod recorder;
mod requirement;
mod reset;
mod running;
mod search;
mod simulate;
mod subjects;
mod together;
mod wait;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use plimsoll_load::clock::{Clock, VirtualClock};
use plimsoll_load::engine::{CheckedData, ConditionResult};
use plimsoll_load::probe::{self, Probe};
use plimsoll_plan::resolved::{BackupPlace, CheckPolicy, LoadStep, ResolvedPlan, Step};
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::{MediumId, StepId, estimate};
use plimsoll_record::message::EventKind;
use plimsoll_record::runfile::{LABEL, RunFile};
use plimsoll_record::{Check, Event, Point, PointId, PointPurpose, RunStatus, Severity};
use plimsoll_report::message::Messages;

use context::{InstanceContext, InstanceSetup, PointSpec, StepContext};
pub use drives::{DRIVE_DIR, PreparedDrive, prepare_drive, program};
pub use error::LateDrive;
use error::{RunError, StepResult};
use execution::Execution;
pub use existing::{check_route, expect_answer};
use hosts::Hosts;
use inbox::Inbox;
pub use job::{Job, NextFactor};
pub use join::{JoinedRun, has_journals, join};
pub use leftovers::{clear_directory, clear_leftovers};
pub use preflight::{check_output, check_urls, preflight};
use running::{InstanceId, RunningSystems};
use subjects::always_watched;
pub use together::OwnPlans;

use crate::failure::{Failure, FailureReason};
use crate::progress::Progress;
use crate::signals::Interrupt;

/// Result of a run.
#[derive(Debug)]
pub struct FinishedRun {
    pub run_file: PathBuf,
    pub status: RunStatus,
    /// Why it failed.
    pub failure: Option<FailureReason>,
    /// The drive that could not answer in time and ended it.
    pub late: Option<LateDrive>,
    /// Whether a missed requirement ended it.
    pub missed: bool,
}

/// Runs the job. An error means that there is no usable run file, also because nothing was measured; every other failure is
/// recorded in it.
pub fn execute(job: &Job, interrupt: Interrupt) -> Result<FinishedRun, Failure> {
    let clock = match &job.together {
        Some(together) => together.clock().clone(),
        None if job.virtual_time => Clock::Virtual(VirtualClock::default()),
        None => Clock::real(),
    };
    let file = RunFile::create(
        &job.output,
        &job.run_info(),
        &job.plan_text_redacted(),
        &job.recorded_plan(),
    )?;
    if let (Some(label), Some((kind, name, _))) = (&job.label, always_watched().into_iter().last())
    {
        let generator = file.subject(kind, name)?;
        file.facts(generator, &[(LABEL.to_owned(), label.clone())])?;
    }
    let progress = progress_of(job, &clock);
    let mut execution = Execution::new(job, file, clock, progress, interrupt)?;
    let result = execution.run_plan(job);
    execution.finish(result)
}

fn progress_of(job: &Job, clock: &Clock) -> Progress {
    let expected = estimate(&job.plan);
    let progress = match &job.together {
        Some(together) => Progress::for_others(together.clone(), expected.duration),
        None => Progress::new(job.quiet, expected.duration),
    };
    let progress = progress.counting(expected.ladder_points());
    match clock {
        Clock::Virtual(_) => progress.simulated(),
        Clock::Real(_) => progress,
    }
}

impl<'a> Execution<'a> {
    fn new(
        job: &'a Job,
        file: RunFile,
        clock: Clock,
        progress: Progress,
        interrupt: Interrupt,
    ) -> Result<Self, Failure> {
        let (inbox, sender) = Inbox::new(clock.clone());
        let probe = match &clock {
            Clock::Virtual(_) => None,
            Clock::Real(_) => {
                let probe = probe::spawn(clock.clone(), sender);
                let no_thread = |error| Failure::run(format!("no thread for sampling: {error}"));
                Some(probe.map_err(no_thread)?)
            }
        };
        Ok(Self {
            plan: &job.plan,
            seed: job.seed,
            run_id: &job.run_id,
            overwrite: &job.overwrite,
            file,
            clock,
            probe,
            inbox,
            interrupt,
            progress,
            hosts: Hosts::default(),
            together: job.together.clone(),
            running: RunningSystems::default(),
            drives: HashMap::new(),
            simulated: HashMap::new(),
            diagnosed: HashSet::new(),
            points: 0,
            not_durable: Vec::new(),
            trouble: Vec::new(),
            next_factors: &job.next_factors,
            tried: Vec::new(),
        })
    }

    fn run_plan(&mut self, job: &Job) -> StepResult<()> {
        self.describe_machine()?;
        for note in &job.notes {
            self.record_event(None, Severity::Note, note.clone())?;
        }
        self.reach_hosts()?;
        if !self.plan.on_hosts.is_empty() {
            return self.run_on_hosts(job);
        }
        let runs = step_runs(self.plan);
        match self.plan.is_simulated() && self.plan.media.len() > 1 {
            true => self.run_media_apart(job, runs),
            false => self.run_steps(&runs),
        }
    }

    fn run_steps(&mut self, runs: &[StepRun]) -> StepResult<()> {
        for (i, now) in runs.iter().enumerate() {
            let later = &runs[i + 1..];
            let medium = now.media.first().copied();
            let name = medium.filter(|_| self.plan.media.len() > 1);
            self.progress
                .is_on(name.map(|medium| self.plan.medium(medium).name.as_str()));
            match self.plan.step(now.id) {
                Step::Load(step) => self.load_use(now.id, step, medium)?,
                Step::Block(step) => self.block_step(now.id, step, &now.media)?,
                Step::Backup(step) => now
                    .media
                    .iter()
                    .try_for_each(|medium| self.backup_step(now.id, step, *medium))?,
            }
            self.retire_unused(now.id, medium, later)?;
            for medium in now.all_media() {
                if !later.iter().any(|other| other.needs_medium(medium)) {
                    self.unmount(medium)?;
                }
            }
        }
        Ok(())
    }

    /// Stops the systems of a step that no later step uses on the same medium.
    fn retire_unused(
        &mut self,
        step: StepId,
        medium: Option<MediumId>,
        later: &[StepRun],
    ) -> StepResult<()> {
        let plan = self.plan;
        for system in plan.step(step).systems() {
            let needs_system = |other: &StepRun| {
                other.media.first().copied() == medium
                    && plan.step(other.id).systems().any(|own| own == system)
            };
            if !later.iter().any(needs_system) {
                self.retire_all(system, medium)?;
            }
        }
        Ok(())
    }

    /// A load step on one of its media.
    fn load_use(
        &mut self,
        id: StepId,
        step: &LoadStep,
        medium: Option<MediumId>,
    ) -> StepResult<()> {
        match self.load_step(id, step, medium) {
            Err(RunError::Broken(why)) if step.power_cut.is_some() => {
                self.progress.print(&why);
                self.not_durable.push(why);
                self.retire_all(step.system, medium)?;
                // The next step creates a drive whose filesystem is gone anew.
                if let Some(medium) = medium.filter(|medium| !self.drive_lives(Some(*medium))) {
                    self.unmount(medium)?;
                }
            }
            result => result?,
        }
        Ok(())
    }

    fn load_step(
        &mut self,
        id: StepId,
        step: &LoadStep,
        medium: Option<MediumId>,
    ) -> StepResult<()> {
        let plan = self.plan;
        let step_context = StepContext {
            id,
            step,
            count: plan.system(step.system).count,
            medium,
            workload: &plan.workload(step.workload).workload,
        };
        let beside = step.noise.iter().flat_map(|noise| {
            InstanceId::all(plan, noise.system, medium).map(|instance| InstanceSetup {
                step: id,
                instance,
                workload: plan.noise_data(&noise.work),
            })
        });
        let setups: Vec<InstanceSetup<'_>> = step_context
            .instances()
            .map(InstanceSetup::from)
            .chain(beside)
            .collect();
        self.prepare(id, &setups)?;
        step_context
            .instances()
            .try_for_each(|context| self.keep_first_state(&context))?;
        if let Some(precondition) = step.precondition {
            self.precondition(&step_context, precondition)?;
        }
        match &step.search {
            Some(search) => self.search(&step_context, search)?,
            None => self.ladder(&step_context)?,
        }
        if step.check == CheckPolicy::EndOfStep {
            step_context
                .instances()
                .try_for_each(|context| self.check(&context, None))?;
        }
        Ok(())
    }

    /// Repeats the whole ladder, not each point, so that drift over hours shows as spread and not as a shape of the curve.
    fn ladder(&mut self, step_context: &StepContext<'_>) -> StepResult<()> {
        for repeat in 0..step_context.step.repeat {
            for (ordinal, load) in step_context.step.points.iter().enumerate() {
                for scene in step_context.step.scenes() {
                    let point_spec = PointSpec {
                        purpose: PointPurpose::Ladder,
                        ordinal: ordinal as u32,
                        repeat,
                        load: *load,
                        scene: *scene,
                    };
                    self.point(step_context, &point_spec)?;
                }
            }
        }
        Ok(())
    }

    /// Verifies the consistency conditions. A violation ends the run, except after a power cut: figures of a database
    /// with wrong content must not be quoted.
    fn check(&mut self, context: &InstanceContext<'_>, point: Option<&Point>) -> StepResult<()> {
        let step = context.step;
        let phase = self
            .file
            .open_phase(&step.name, point, PhaseKind::Check, self.clock.now())?;
        let verdicts = self.verify_conditions(context);
        self.file
            .close_phase(phase, self.clock.now(), verdicts.is_ok())?;
        if let Err(RunError::Failed(why)) = &verdicts {
            let subject = self.running.get(context.instance)?.subject;
            let event = EventKind::NotVerified {
                step: step.name.clone(),
                // Without what to do about it.
                error: why.text.lines().take(2).collect::<Vec<_>>().join(": "),
            };
            self.record_event(Some(subject), Severity::Error, event)?;
            self.file.commit()?;
        }
        let point = point.map(|point| point.id);
        let failing = self.store_checks(context, point, &verdicts?)?;
        self.file.commit()?;
        match failing {
            Some(first) => Err(RunError::Broken(format!(
                "{first}\nThe database does not hold what its transactions should have left: do not quote these figures."
            ))),
            None if self.interrupt.is_wanted() => Err(RunError::Interrupted),
            None => Ok(()),
        }
    }

    fn verify_conditions(
        &mut self,
        context: &InstanceContext<'_>,
    ) -> StepResult<Vec<ConditionResult>> {
        let step = context.step;
        let what = format!("{}: verifying the consistency conditions", step.name);
        let data = CheckedData::from(context.workload);
        self.wait_for_task(context.instance, &what, |instance, _| instance.check(data))
            .map_err(|error| match error {
                // The tables cannot be read.
                RunError::Failed(why)
                    if step.power_cut.is_some() && self.drive_lives(context.instance.medium) =>
                {
                    RunError::Broken(why.text)
                }
                error => error,
            })
    }

    /// Records the verdicts, and returns the first condition that does not hold.
    fn store_checks(
        &self,
        context: &InstanceContext<'_>,
        point: Option<PointId>,
        verdicts: &[ConditionResult],
    ) -> StepResult<Option<String>> {
        let subject = self.running.get(context.instance)?.subject;
        for verdict in verdicts {
            self.file.check(&Check {
                point,
                subject,
                clause: verdict.clause.to_owned(),
                holds: verdict.holds,
                detail: verdict.detail.clone(),
            })?;
        }
        let failing = verdicts.iter().find(|verdict| !verdict.holds);
        Ok(failing.map(|verdict| {
            let clause = &verdict.clause;
            let statement = Messages::english().check(clause, &verdict.detail);
            format!("condition {clause} does not hold: {statement}")
        }))
    }

    /// Stops and removes what was started, also after an error, and closes the run file.
    fn finish(mut self, result: StepResult<()>) -> Result<FinishedRun, Failure> {
        let lasted = self.clock.now();
        // The probe first: it would report a server that is stopped here.
        let warnings = self.probe.take().map(Probe::stop).unwrap_or_default();
        let hosts_left = self.leave_hosts();
        let mut trouble = std::mem::take(&mut self.trouble);
        trouble.extend(self.running.end());
        trouble.extend(self.drives.drain().flat_map(|(_, drive)| drive.end()));
        trouble.iter().for_each(|text| self.progress.print(text));
        self.progress.finish();
        let mut late = None;
        let missed = matches!(result, Err(RunError::Missed(_)));
        let (status, failure) = match result.and(hosts_left) {
            Ok(()) if self.not_durable.is_empty() => (RunStatus::Complete, None),
            Ok(()) => {
                let lost = self.not_durable.join("\n");
                (
                    RunStatus::Failed,
                    Some(format!("{lost}\nThe report lists the losses by step.").into()),
                )
            }
            Err(RunError::Interrupted) => (RunStatus::Interrupted, None),
            Err(RunError::Failed(why)) => (RunStatus::Failed, Some(why)),
            Err(RunError::Broken(why)) => (RunStatus::Failed, Some(why.into())),
            Err(RunError::Late(drive)) => {
                let why = drive.to_string();
                late = Some(drive);
                (RunStatus::Failed, Some(why.into()))
            }
            Err(RunError::Missed(why)) => {
                let text = format!(
                    "a requirement is missed: {why}\nThe run ends here: the plan has abort_on_fail."
                );
                (RunStatus::Failed, Some(text.into()))
            }
            // The file cannot be written: errors of later writes would hide this one.
            Err(RunError::Unrecorded(failure)) => return Err(failure),
        };
        let is_empty = self.file.is_empty()?;
        let failure = match (status, failure, is_empty) {
            (RunStatus::Failed, Some(why), true) => {
                self.file.discard()?;
                return Err(Failure::run(why));
            }
            (_, failure, _) => failure,
        };
        self.record_warnings(warnings)?;
        self.inbox.store(&mut self.file, &self.progress)?;
        for error in trouble {
            let event = Event {
                at: lasted,
                subject: None,
                severity: Severity::Warning,
                kind: EventKind::Cleanup { error },
            };
            self.file.event(&event)?;
        }
        if let Some(log) = failure
            .as_ref()
            .map(|failure| &failure.log)
            .filter(|log| !log.is_empty())
        {
            let event = Event {
                at: lasted,
                subject: None,
                severity: Severity::Note,
                kind: EventKind::EndOfLog { log: log.clone() },
            };
            self.file.event(&event)?;
        }
        if !is_empty {
            self.report_what_stays();
        }
        let why = failure.as_ref().map(|failure| failure.text.as_str());
        let run_file = self.file.finish(status, why, lasted)?;
        Ok(FinishedRun {
            run_file,
            status,
            failure,
            late,
            missed,
        })
    }
}

/// A step with the media that it uses at the same time; none for a system that keeps its data elsewhere.
struct StepRun {
    id: StepId,
    media: Vec<MediumId>,
    /// Other media, which backups are written to.
    vaults: Vec<MediumId>,
}

impl StepRun {
    fn new(id: StepId, step: &Step, media: Vec<MediumId>) -> Self {
        let on = media.first().copied();
        let vaults = step
            .backup_places()
            .filter_map(|place| match place {
                BackupPlace::Beside => on,
                BackupPlace::Medium(medium) => Some(medium),
            })
            .filter(|vault| !media.contains(vault))
            .collect();
        Self { id, media, vaults }
    }

    fn all_media(&self) -> impl Iterator<Item = MediumId> {
        self.media.iter().chain(&self.vaults).copied()
    }

    fn needs_medium(&self, medium: MediumId) -> bool {
        self.all_media().any(|needed| needed == medium)
    }
}

/// The steps in order: each on each of its media, unless it uses all of them at once.
fn step_runs(plan: &ResolvedPlan) -> Vec<StepRun> {
    let mut runs = Vec::new();
    for id in plan.step_ids() {
        let step = plan.step(id);
        let media = step.on();
        let at_once = match step {
            Step::Block(step) => step.at_once,
            Step::Load(_) | Step::Backup(_) => media.is_empty(),
        };
        if at_once {
            runs.push(StepRun::new(id, step, media.to_vec()));
        } else {
            let each = media.iter().map(|medium| vec![*medium]);
            runs.extend(each.map(|media| StepRun::new(id, step, media)));
        }
    }
    runs
}
