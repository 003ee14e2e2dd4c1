//! Starts systems on media, loads their data, stops and removes them.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};

use plimsoll_analysis::summary::{DATA_FACT, FRESH, INSTANCE_OF, ORDERS_ADDED_FACT, REUSED};
use plimsoll_load::engine::{LoadControl, Loaded};
use plimsoll_load::error::LoadError;
use plimsoll_load::probe::Watch;
use plimsoll_load::scratch::Scratch;
use plimsoll_load::system::{InitialState, Instance};
use plimsoll_plan::resolved::{MediumKind, Workload};
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_record::{Severity, SubjectId, SubjectKind};

use super::point::InstanceContext;
use super::{Execution, REFRESH, RunError, StepResult, ended_unexpectedly, limits, unresolved};

/// A system in use. The directory outlives the server in it.
pub(super) struct Running {
    pub instance: Instance,
    pub subject: SubjectId,
    pub medium: Option<SubjectId>,
    scratch: Option<Scratch>,
    /// The state that the data can be brought back to, and of which workload they are.
    pub first: Option<InitialState>,
    pub kept_for: Option<String>,
    /// Load has changed the data.
    pub dirty: bool,
}

impl Running {
    /// Stops the system and removes its directory; returns what failed.
    pub fn end(self) -> Vec<String> {
        let Self {
            instance,
            scratch,
            subject: _,
            medium: _,
            first: _,
            kept_for: _,
            dirty: _,
        } = self;
        let stopped = instance.stop().err();
        let removed = scratch.and_then(|scratch| scratch.remove().err());
        stopped
            .into_iter()
            .chain(removed)
            .map(|error| error.to_string())
            .collect()
    }
}

/// One instance of a system with the data set that it is to hold.
#[derive(Clone, Copy)]
pub(super) struct InstanceSetup<'a> {
    /// The step that wants it.
    pub step: &'a str,
    /// The plan's system that it is an instance of.
    pub of: &'a str,
    pub system: &'a str,
    pub medium: Option<&'a str>,
    pub workload: &'a Workload,
}

impl<'a> From<InstanceContext<'a>> for InstanceSetup<'a> {
    fn from(context: InstanceContext<'a>) -> Self {
        let InstanceContext {
            step,
            system,
            medium,
            workload,
        } = context;
        Self {
            step: &step.name,
            of: &step.system,
            system,
            medium,
            workload,
        }
    }
}

pub(super) fn key(system: &str, medium: Option<&str>) -> (String, Option<String>) {
    (system.into(), medium.map(str::to_owned))
}

impl Execution<'_> {
    pub(super) fn running(&self, system: &str, medium: Option<&str>) -> StepResult<&Running> {
        self.running
            .get(&key(system, medium))
            .ok_or_else(|| unresolved("running system", system))
    }

    /// Names of the system's instances: its own where it has one.
    pub(super) fn instances(&self, system: &str) -> StepResult<Vec<String>> {
        let spec = self
            .plan
            .system(system)
            .ok_or_else(|| unresolved("system", system))?;
        Ok(spec.instances())
    }

    /// Starts a step's systems unless they run already, and loads their data unless they are loaded.
    pub(super) fn prepare(&mut self, step: &str, setups: &[InstanceSetup<'_>]) -> StepResult<()> {
        let phase = self
            .file
            .open_phase(step, None, PhaseKind::Prepare, self.clock.now())?;
        for setup in setups {
            self.prepare_one(setup)?;
        }
        self.file.close_phase(phase, self.clock.now(), true)?;
        self.file.commit()?;
        Ok(())
    }

    fn prepare_one(&mut self, setup: &InstanceSetup<'_>) -> StepResult<()> {
        let InstanceSetup {
            step,
            of,
            system,
            medium,
            workload,
        } = *setup;
        let starts = !self.running.contains_key(&key(system, medium));
        if starts {
            let model = self.model_of(setup)?;
            self.start(of, system, medium, model.as_deref())?;
        }
        let name = if system == of {
            String::new()
        } else {
            format!(" {system}")
        };
        let what = format!("{step}: loading{name}");
        let seed = self.plan.data_seed;
        let (subject, loaded) =
            self.wait_for_task(system, medium, &what, move |instance, control| {
                instance.load(workload, seed, control)
            })?;
        // The file of an embedded database takes its place only now.
        if let Some(watch @ Watch::EmbeddedData { .. }) =
            self.running(system, medium)?.instance.watch()
        {
            self.watch(subject, watch);
        }
        // The settings of a reused database may have changed.
        if starts || loaded == Loaded::Fresh {
            let facts = self.running(system, medium)?.instance.facts()?;
            self.file.facts(subject, &facts)?;
        }
        if starts {
            self.record_data(setup, subject, loaded)?;
        }
        Ok(())
    }

    /// Whether the data were loaded for this run; later steps go on with what this one has left. Only an existing server
    /// keeps data from run to run: a copy of another instance's data is as fresh as these.
    fn record_data(
        &mut self,
        setup: &InstanceSetup<'_>,
        subject: SubjectId,
        loaded: Loaded,
    ) -> StepResult<()> {
        let instance = &self.running(setup.system, setup.medium)?.instance;
        if !instance.has_data() {
            return Ok(());
        }
        let reused = loaded == Loaded::Reused && instance.is_existing();
        let mut facts = vec![(
            DATA_FACT.to_owned(),
            if reused { REUSED } else { FRESH }.to_owned(),
        )];
        if reused {
            let added = instance.orders_added(setup.workload)?;
            facts.extend(added.map(|orders| (ORDERS_ADDED_FACT.to_owned(), orders.to_string())));
        }
        Ok(self.file.facts(subject, &facts)?)
    }

    /// The first instance of a system, where another one can begin with a copy of its data: it has just been loaded.
    fn model_of(&self, setup: &InstanceSetup<'_>) -> StepResult<Option<String>> {
        let first = self
            .instances(setup.of)?
            .into_iter()
            .next()
            .filter(|first| first != setup.system);
        let running = |first: &String| self.running.get(&key(first, setup.medium));
        Ok(first.filter(|first| {
            running(first).is_some_and(|first| !first.dirty && first.instance.has_files())
        }))
    }

    /// Starts one instance of a system; with a `model` as its copy.
    fn start(
        &mut self,
        of: &str,
        system: &str,
        medium: Option<&str>,
        model: Option<&str>,
    ) -> StepResult<()> {
        let spec = self
            .plan
            .system(of)
            .ok_or_else(|| unresolved("system", of))?;
        let name = medium.map_or_else(|| system.to_owned(), |medium| format!("{system}@{medium}"));
        let subject = self.file.subject(SubjectKind::System, &name)?;
        if spec.count > 1 {
            self.file
                .facts(subject, &[(INSTANCE_OF.to_owned(), of.to_owned())])?;
        }
        let mut scratch = None;
        let (mut on, mut place): (_, Option<PathBuf>) = (None, None);
        if let Some(medium) = medium {
            let (subject, drive) = self.prepare_medium(medium)?;
            let path = &self
                .plan
                .medium(medium)
                .ok_or_else(|| unresolved("medium", medium))?
                .path;
            on = Some(subject);
            place = Some(drive.clone().unwrap_or_else(|| path.into()));
            scratch = Some(match drive {
                Some(mount) => Scratch::inside(&mount, system)?,
                None => Scratch::create(Path::new(path), &format!("{}-{system}", self.run_id))?,
            });
        }
        self.progress
            .begin(self.clock.now(), &format!("starting {name}"));
        let limits = self.limit_system(spec, subject, place.as_deref())?;
        let instance = match (model, scratch.as_mut()) {
            (Some(model), Some(scratch)) => self.while_unwatched((model, medium), |this| {
                let what = format!("copying the data of {model} for {system}");
                let twin =
                    |first: &Instance, control: &LoadControl| first.twin(scratch, limits, control);
                Ok(this.wait_for_task(model, medium, &what, twin)?.1)
            })?,
            (_, scratch) => Instance::start(&spec.kind, scratch, limits)?,
        };
        limits::verify(spec, &instance)?;
        if let Some(watch) = instance
            .watch()
            .filter(|watch| !matches!(watch, Watch::EmbeddedData { .. }))
        {
            self.watch(subject, watch);
        }
        self.sample_statistics(subject, &instance)?;
        self.running.insert(
            key(system, medium),
            Running {
                instance,
                subject,
                medium: on,
                scratch,
                first: None,
                kept_for: None,
                dirty: false,
            },
        );
        Ok(())
    }

    /// A medium made ready for files: described, its drive mounted if it is an emulated one, and then where.
    pub(super) fn prepare_medium(
        &mut self,
        medium: &str,
    ) -> StepResult<(SubjectId, Option<PathBuf>)> {
        let plan = self.plan;
        let medium = plan
            .medium(medium)
            .ok_or_else(|| unresolved("medium", medium))?;
        let mounted = match &medium.kind {
            // Plans in which files are put on a device are refused.
            MediumKind::Directory | MediumKind::Device => false,
            MediumKind::Emulated(drive) => self.mount(medium, drive)?,
        };
        let drive = self
            .drives
            .get(&medium.name)
            .filter(|_| mounted)
            .map(|drive| drive.path.clone());
        let subject = self.describe_medium(medium, drive.as_deref())?;
        Ok((subject, drive))
    }

    /// Watches the system's processes and files, and samples its statistics.
    pub(super) fn watch_system(&self, system: &str, medium: Option<&str>) -> StepResult<()> {
        let running = self.running(system, medium)?;
        if let Some(watch) = running.instance.watch() {
            self.watch(running.subject, watch);
        }
        self.sample_statistics(running.subject, &running.instance)
    }

    /// Samples the system's own statistics from now on, if it is a server.
    fn sample_statistics(&self, subject: SubjectId, instance: &Instance) -> StepResult<()> {
        let asked = self
            .probe
            .as_ref()
            .map_or(Ok(()), |probe| probe.ask(subject, instance.endpoint()));
        asked.map_err(|error| {
            RunError::Failed(format!(
                "cannot start a thread to sample the server's statistics: {error}"
            ))
        })
    }

    /// Stops and removes all instances of a system that no later step uses.
    pub(super) fn retire_all(&mut self, system: &str, medium: Option<&str>) -> StepResult<()> {
        self.instances(system)?
            .iter()
            .try_for_each(|instance| self.retire(instance, medium))
    }

    /// Stops and removes one instance.
    fn retire(&mut self, system: &str, medium: Option<&str>) -> StepResult<()> {
        let Some(running) = self.running.remove(&key(system, medium)) else {
            return Ok(());
        };
        if let Some(probe) = &self.probe {
            probe.unwatch(running.subject);
        }
        let subject = running.subject;
        for text in running.end() {
            self.record_event(Some(subject), Severity::Warning, "cleanup", &text)?;
        }
        Ok(())
    }

    /// Runs a blocking task of a system on a thread; shows progress, stores samples and handles Ctrl-C meanwhile.
    pub(super) fn wait_for_task<T: Send>(
        &mut self,
        system: &str,
        medium: Option<&str>,
        what: &str,
        task: impl FnOnce(&Instance, &LoadControl) -> Result<T, LoadError> + Send,
    ) -> StepResult<(SubjectId, T)> {
        let Self {
            running,
            drives,
            progress,
            clock,
            inbox,
            file,
            interrupt,
            ..
        } = self;
        let Running {
            instance, subject, ..
        } = running
            .get(&key(system, medium))
            .ok_or_else(|| unresolved("running system", system))?;
        let control = LoadControl::default();
        progress.begin(clock.now(), what);
        let began = clock.now();
        let result = std::thread::scope(|scope| {
            let (done, result) = mpsc::channel();
            let task_control = control.clone();
            let thread = scope.spawn(move || {
                // The receiver lives until the result is there.
                let _ = done.send(task(instance, &task_control));
            });
            loop {
                match result.recv_timeout(REFRESH.into()) {
                    Ok(result) => return result.map_err(RunError::from),
                    Err(RecvTimeoutError::Disconnected) => {
                        // Joined here, its panic does not become this thread's; it has printed its message.
                        let _ = thread.join();
                        return Err(RunError::Failed(format!(
                            "{what}: ended by a fault of plimsoll"
                        )));
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
                if interrupt.is_wanted() && !control.is_cancelled() {
                    control.cancel();
                    progress.print(&format!("{what}: stopping (Ctrl-C)"));
                }
                let kept = inbox.store(file, progress).and_then(|()| file.commit());
                if let Err(error) = kept {
                    // The scope waits for the task: it must not go on for long.
                    control.cancel();
                    return Err(error.into());
                }
                let now = clock.now();
                progress.now(
                    now,
                    &loading_line(what, &control, (now - began).as_secs_f64()),
                );
            }
        });
        // A connection's error is only a consequence of the server's death.
        let drive_died = medium.and_then(|medium| drives.get(medium)?.died());
        let result = result.map_err(|error| match (error, instance.died()) {
            (RunError::Failed(_), _) if drive_died.is_some() => {
                RunError::Failed(drive_died.unwrap_or_default())
            }
            (RunError::Failed(_), Some(error)) => {
                RunError::Failed(format!("{what}: {}", ended_unexpectedly(system, &error)))
            }
            (error, _) => error,
        })?;
        Ok((*subject, result))
    }
}

/// `oltp: loading · 1,200,000 of 2,000,000 rows · 60 % · 7s left`.
fn loading_line(what: &str, control: &LoadControl, seconds: f64) -> String {
    let (done, total) = (control.rows_done(), control.rows_total());
    if total == 0 || done == 0 {
        return what.to_owned();
    }
    let share = (done as f64 / total as f64).min(1.0);
    let left = (seconds / share - seconds).ceil();
    format!(
        "{what} · {done} of about {total} rows · {:.0} % · {left} s left",
        share * 100.0
    )
}
