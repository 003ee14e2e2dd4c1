//! Starting systems on media, loading their data, and taking them away again.

use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};

use plimsoll_load::engine::{LoadControl, Loaded};
use plimsoll_load::error::LoadError;
use plimsoll_load::probe::Watch;
use plimsoll_load::scratch::Scratch;
use plimsoll_load::system::{FirstState, Instance};
use plimsoll_model::plan::resolved::{LoadStep, MediumKind, Workload};
use plimsoll_model::record::{Severity, SubjectId, SubjectKind};
use plimsoll_model::schedule::PhaseKind;

use super::{Course, Execution, Halt, REFRESH, ended_by_itself, unresolved};

/// A system in use. The directory outlives the server in it.
pub(super) struct Running {
    pub instance: Instance,
    pub subject: SubjectId,
    pub medium: Option<SubjectId>,
    scratch: Option<Scratch>,
    /// The state that the data can be brought back to, and of which workload they are.
    pub first: Option<FirstState>,
    pub kept_for: Option<String>,
    /// Load has changed the data since.
    pub dirty: bool,
}

impl Running {
    /// Stops the system and removes its directory; what could not be done is told.
    pub fn end(self) -> Vec<String> {
        let Self { instance, scratch, subject: _, medium: _, first: _, kept_for: _, dirty: _ } = self;
        let stopped = instance.stop().err();
        let removed = scratch.and_then(|scratch| scratch.remove().err());
        stopped.into_iter().chain(removed).map(|error| error.to_string()).collect()
    }
}

pub(super) fn key(system: &str, medium: Option<&str>) -> (String, Option<String>) {
    (system.into(), medium.map(str::to_owned))
}

impl Execution<'_> {
    pub(super) fn running(&self, system: &str, medium: Option<&str>) -> Course<&Running> {
        self.running.get(&key(system, medium)).ok_or_else(|| unresolved("running system", system))
    }

    /// Starts the step's system unless it runs already, and loads its data unless they are there.
    pub(super) fn prepare(&mut self, step: &LoadStep, medium: Option<&str>, workload: &Workload) -> Course<()> {
        let phase = self.file.open_phase(&step.name, None, PhaseKind::Prepare, self.clock.now())?;
        let starts = !self.running.contains_key(&key(&step.system, medium));
        if starts {
            self.start(&step.system, medium)?;
        }
        let what = format!("{}: loading", step.name);
        let seed = self.plan.seed;
        let (subject, loaded) =
            self.waiting(&step.system, medium, &what, move |instance, control| instance.load(workload, seed, control))?;
        // The file of an embedded database takes its place only now.
        if let Some(watch @ Watch::EmbeddedData { .. }) = self.running(&step.system, medium)?.instance.watch() {
            self.watch(subject, watch);
        }
        // A database that is used again may have been set otherwise since.
        if starts || loaded == Loaded::Fresh {
            let facts = self.running(&step.system, medium)?.instance.facts()?;
            self.file.facts(subject, &facts)?;
        }
        self.file.close_phase(phase, self.clock.now(), true)?;
        self.file.commit()?;
        Ok(())
    }

    fn start(&mut self, system: &str, medium: Option<&str>) -> Course<()> {
        let spec = self.plan.system(system).ok_or_else(|| unresolved("system", system))?;
        let name = medium.map_or_else(|| system.to_owned(), |medium| format!("{system}@{medium}"));
        let subject = self.file.subject(SubjectKind::System, &name)?;
        let mut scratch = None;
        let mut on = None;
        if let Some(medium) = medium {
            let plan = self.plan;
            let medium = plan.medium(medium).ok_or_else(|| unresolved("medium", medium))?;
            let mounted = match &medium.kind {
                // Plans in which a system keeps its data on a device are refused.
                MediumKind::Directory | MediumKind::Device => false,
                MediumKind::Emulated(drive) => self.mount(medium, drive)?,
            };
            let drive = self.drives.get(&medium.name).filter(|_| mounted).map(|drive| drive.path.clone());
            on = Some(self.describe_medium(medium, drive.as_deref())?);
            scratch = Some(match drive {
                Some(mount) => Scratch::inside(&mount, system)?,
                None => Scratch::create(Path::new(&medium.path), &format!("{}-{system}", self.run_id))?,
            });
        }
        self.progress.begin(self.clock.now(), &format!("starting {name}"));
        let instance = Instance::start(&spec.kind, scratch.as_mut())?;
        if let Some(watch) = instance.watch().filter(|watch| !matches!(watch, Watch::EmbeddedData { .. })) {
            self.watch(subject, watch);
        }
        self.ask(subject, &instance)?;
        self.running.insert(
            key(system, medium),
            Running { instance, subject, medium: on, scratch, first: None, kept_for: None, dirty: false },
        );
        Ok(())
    }

    /// Watches the system's processes and files from now on, and asks it about itself.
    pub(super) fn watch_system(&self, system: &str, medium: Option<&str>) -> Course<()> {
        let running = self.running(system, medium)?;
        if let Some(watch) = running.instance.watch() {
            self.watch(running.subject, watch);
        }
        self.ask(running.subject, &running.instance)
    }

    /// Asks the system about itself from now on, if it is a server.
    fn ask(&self, subject: SubjectId, instance: &Instance) -> Course<()> {
        let asked = self.probe.as_ref().map_or(Ok(()), |probe| probe.ask(subject, instance.endpoint()));
        asked.map_err(|error| Halt::Failed(format!("no thread to ask the server about itself: {error}")))
    }

    /// Stops and removes a system that no later step uses.
    pub(super) fn retire(&mut self, system: &str, medium: Option<&str>) -> Course<()> {
        let Some(running) = self.running.remove(&key(system, medium)) else { return Ok(()) };
        if let Some(probe) = &self.probe {
            probe.unwatch(running.subject);
        }
        let subject = running.subject;
        for text in running.end() {
            self.tell(Some(subject), Severity::Warning, "cleanup", &text)?;
        }
        Ok(())
    }

    /// Runs a blocking task of a system on a thread, while progress is shown, samples are kept and Ctrl-C is heard.
    pub(super) fn waiting<T: Send>(
        &mut self,
        system: &str,
        medium: Option<&str>,
        what: &str,
        task: impl FnOnce(&Instance, &LoadControl) -> Result<T, LoadError> + Send,
    ) -> Course<(SubjectId, T)> {
        let Self { running, drives, progress, clock, inbox, file, interrupt, .. } = self;
        let Running { instance, subject, .. } =
            running.get(&key(system, medium)).ok_or_else(|| unresolved("running system", system))?;
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
                    Ok(result) => return result.map_err(Halt::from),
                    Err(RecvTimeoutError::Disconnected) => {
                        // Joined here, its panic does not become this thread's; it has printed its message.
                        let _ = thread.join();
                        return Err(Halt::Failed(format!("{what}: ended by a fault of plimsoll")));
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
                if interrupt.is_wanted() && !control.is_cancelled() {
                    control.cancel();
                    progress.say(&format!("{what}: stopping, as you want"));
                }
                let kept = inbox.store(file, progress).and_then(|()| file.commit());
                if let Err(error) = kept {
                    // The scope waits for the task: it must not go on for long.
                    control.cancel();
                    return Err(error.into());
                }
                let now = clock.now();
                progress.now(now, &loading_line(what, &control, (now - began).as_secs_f64()));
            }
        });
        // What a connection saw says less than why the server is gone.
        let drive_died = medium.and_then(|medium| drives.get(medium)?.died());
        let result = result.map_err(|halt| match (halt, instance.died()) {
            (Halt::Failed(_), _) if drive_died.is_some() => Halt::Failed(drive_died.unwrap_or_default()),
            (Halt::Failed(_), Some(error)) => Halt::Failed(format!("{what}: {}", ended_by_itself(system, &error))),
            (halt, _) => halt,
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
    format!("{what} · {done} of about {total} rows · {:.0} % · {left} s left", share * 100.0)
}
