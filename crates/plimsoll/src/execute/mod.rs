//! Runs a plan: starts systems, loads data, measures point by point, checks, stops and removes;
//! records everything in the run file.

mod backup;
mod block;
mod context;
mod cut;
mod doctor;
mod drives;
mod error;
mod execution;
mod full;
mod inbox;
mod job;
mod lane;
mod limits;
mod mount;
mod point;
mod preflight;
mod prepare;
mod recorder;
mod reset;
mod running;
mod search;
mod subjects;
mod wait;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use plimsoll_load::clock::{Clock, VirtualClock};
use plimsoll_load::engine::{CheckedData, ConditionResult};
use plimsoll_load::probe::{self, Probe};
use plimsoll_plan::estimate;
use plimsoll_plan::resolved::{CheckPolicy, LoadStep, Noise, ResolvedPlan, Step, Workload};
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_record::message::EventKind;
use plimsoll_record::runfile::{LABEL, RunFile};
use plimsoll_record::{Check, Event, Point, PointId, PointPurpose, RunStatus, Severity};
use plimsoll_report::message::Messages;

use context::{InstanceContext, InstanceSetup, PointSpec, StepContext};
pub use drives::{DRIVE_DIR, PreparedDrive, prepare_drive, program};
use error::{RunError, StepResult, unresolved};
use execution::Execution;
use inbox::Inbox;
pub use job::Job;
pub use preflight::{check_output, preflight};
use running::{InstanceName, RunningSystems};
use subjects::always_watched;

use crate::failure::Failure;
use crate::progress::Progress;
use crate::signals::Interrupt;

/// Result of a run.
#[derive(Debug)]
pub struct FinishedRun {
    pub run_file: PathBuf,
    pub status: RunStatus,
    /// Why it failed.
    pub failure: Option<String>,
}

/// Runs the job. An error means that there is no usable run file; every other failure is recorded in it.
pub fn execute(job: &Job, interrupt: Interrupt) -> Result<FinishedRun, Failure> {
    let clock = if job.virtual_time {
        Clock::Virtual(VirtualClock::default())
    } else {
        Clock::real()
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
    let (inbox, sender) = Inbox::new(clock.clone());
    let probe = match &clock {
        Clock::Virtual(_) => None,
        Clock::Real(_) => {
            let probe = probe::spawn(clock.clone(), sender);
            Some(probe.map_err(|error| Failure::run(format!("no thread for sampling: {error}")))?)
        }
    };
    let expected = estimate(&job.plan);
    let mut execution = Execution {
        plan: &job.plan,
        seed: job.seed,
        run_id: &job.run_id,
        overwrite: &job.overwrite,
        file,
        clock,
        probe,
        inbox,
        interrupt,
        progress: Progress::new(job.quiet, expected.duration).counting(expected.ladder_points()),
        running: RunningSystems::new(),
        drives: HashMap::new(),
        diagnosed: HashSet::new(),
        points: 0,
        not_durable: Vec::new(),
        tried: Vec::new(),
    };
    let result = execution.run_plan(job);
    execution.finish(result)
}

/// A system that generates noise.
struct Neighbour<'a> {
    of: &'a str,
    /// Its instances.
    systems: Vec<String>,
    workload: Workload,
}

impl Neighbour<'_> {
    fn setups<'s>(
        &'s self,
        step: &'s str,
        medium: Option<&'s str>,
    ) -> impl Iterator<Item = InstanceSetup<'s>> {
        self.systems.iter().map(move |system| InstanceSetup {
            step,
            of: self.of,
            instance: InstanceName { system, medium },
            workload: &self.workload,
        })
    }
}

impl Execution<'_> {
    fn run_plan(&mut self, job: &Job) -> StepResult<()> {
        self.describe_machine()?;
        for note in &job.notes {
            self.record_event(None, Severity::Note, note.clone())?;
        }
        let uses = uses(self.plan);
        for (i, now @ StepRun { step, media, .. }) in uses.iter().enumerate() {
            let later = &uses[i + 1..];
            let medium = media.first().copied();
            match step {
                Step::Load(step) => self.load_use(step, medium)?,
                Step::Block(step) => self.block_step(step, media)?,
                Step::Backup(step) => {
                    self.backup_step(
                        step,
                        medium.ok_or_else(|| unresolved("medium of step", &step.name))?,
                    )?;
                }
            }
            self.retire_unused(step, medium, later)?;
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
        step: &Step,
        medium: Option<&str>,
        later: &[StepRun<'_>],
    ) -> StepResult<()> {
        for system in step.systems() {
            if !later.iter().any(|other| other.needs_system(system, medium)) {
                self.retire_all(system, medium)?;
            }
        }
        Ok(())
    }

    /// A load step on one of its media.
    fn load_use(&mut self, step: &LoadStep, medium: Option<&str>) -> StepResult<()> {
        match self.load_step(step, medium) {
            Err(RunError::Broken(why)) if step.power_cut.is_some() => {
                self.progress.print(&why);
                self.not_durable.push(why);
                self.retire_all(&step.system, medium)?;
                // The next step creates a drive whose filesystem is gone anew.
                if let Some(medium) = medium.filter(|medium| !self.drive_lives(Some(medium))) {
                    self.unmount(medium)?;
                }
            }
            result => result?,
        }
        Ok(())
    }

    fn load_step(&mut self, step: &LoadStep, medium: Option<&str>) -> StepResult<()> {
        let workload = self
            .plan
            .workload(&step.workload)
            .ok_or_else(|| unresolved("workload", &step.workload))?
            .clone();
        let systems = self.instances(&step.system)?;
        let step_context = StepContext {
            step,
            systems: &systems,
            medium,
            workload: &workload,
        };
        let neighbours = self.neighbours(step)?;
        let beside = neighbours
            .iter()
            .flat_map(|neighbour| neighbour.setups(&step.name, medium));
        let setups: Vec<InstanceSetup<'_>> = step_context
            .instances()
            .map(InstanceSetup::from)
            .chain(beside)
            .collect();
        self.prepare(&step.name, &setups)?;
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

    /// The systems that generate a step's noise, their instances and their data.
    fn neighbours<'s>(&self, step: &'s LoadStep) -> StepResult<Vec<Neighbour<'s>>> {
        step.noise
            .iter()
            .map(|Noise { system, work }| {
                let workload = self
                    .plan
                    .noise_data(work)
                    .ok_or_else(|| unresolved("data of", system))?;
                Ok(Neighbour {
                    of: system,
                    systems: self.instances(system)?,
                    workload: workload.clone(),
                })
            })
            .collect()
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
                    RunError::Broken(why)
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
        let subject = self.running(context.instance)?.subject;
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
        let mut trouble: Vec<String> = self
            .running
            .drain()
            .flat_map(|(_, running)| running.end())
            .collect();
        trouble.extend(self.drives.drain().flat_map(|(_, drive)| drive.end()));
        trouble.iter().for_each(|text| self.progress.print(text));
        self.progress.finish();
        let (status, failure) = match result {
            Ok(()) if self.not_durable.is_empty() => (RunStatus::Complete, None),
            Ok(()) => {
                let lost = self.not_durable.join("\n");
                (
                    RunStatus::Failed,
                    Some(format!("{lost}\nThe report lists the losses by step.")),
                )
            }
            Err(RunError::Interrupted) => (RunStatus::Interrupted, None),
            Err(RunError::Failed(why) | RunError::Broken(why)) => (RunStatus::Failed, Some(why)),
            // The file cannot be written: errors of later writes would hide this one.
            Err(RunError::Unrecorded(failure)) => return Err(failure),
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
        let run_file = self.file.finish(status, failure.as_deref(), lasted)?;
        Ok(FinishedRun {
            run_file,
            status,
            failure,
        })
    }
}

/// A step with the media that it uses at the same time; none for a system that keeps its data elsewhere.
struct StepRun<'a> {
    step: &'a Step,
    media: Vec<&'a str>,
    /// Other media, which backups are written to.
    vaults: Vec<&'a str>,
}

impl<'a> StepRun<'a> {
    fn all_media(&self) -> impl Iterator<Item = &'a str> {
        self.media.iter().chain(&self.vaults).copied()
    }

    fn needs_medium(&self, medium: &str) -> bool {
        self.all_media().any(|needed| needed == medium)
    }

    fn needs_system(&self, system: &str, medium: Option<&str>) -> bool {
        self.media.first().copied() == medium && self.step.systems().any(|needed| needed == system)
    }
}

/// The steps in order: each on each of its media, unless it uses all of them at once.
fn uses(plan: &ResolvedPlan) -> Vec<StepRun<'_>> {
    plan.steps
        .iter()
        .flat_map(|step| {
            let media: Vec<&str> = Step::on(step).iter().map(String::as_str).collect();
            let at_once = match step {
                Step::Block(step) => step.at_once,
                Step::Load(_) | Step::Backup(_) => media.is_empty(),
            };
            let groups = if at_once {
                vec![media]
            } else {
                media.into_iter().map(|medium| vec![medium]).collect()
            };
            groups.into_iter().map(move |media| {
                let on = media.first().copied().unwrap_or_default();
                let vaults = step
                    .backup_places()
                    .map(|place| place.medium(on))
                    .filter(|vault| !media.contains(vault));
                StepRun {
                    step,
                    vaults: vaults.collect(),
                    media,
                }
            })
        })
        .collect()
}
