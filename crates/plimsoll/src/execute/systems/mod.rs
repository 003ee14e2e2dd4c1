//! The systems in use: starts them on media, loads their data, stops and removes them.

mod check;
mod instance;
mod limits;
mod reset;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use plimsoll_analysis::summary::{DATA_FACT, FRESH, ORDERS_ADDED_FACT, REUSED};
use plimsoll_load::engine::{LoadControl, Loaded};
use plimsoll_load::error::LoadError;
use plimsoll_load::limit::CgroupLimits;
use plimsoll_load::probe::Watch;
use plimsoll_load::scratch::Scratch;
use plimsoll_load::system::Instance;
use plimsoll_plan::resolved::SystemKind;
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::{MediumId, SystemId};
use plimsoll_record::{INSTANCE_OF, SYSTEM_HOST_FACT, SubjectId, SubjectKind};

use super::context::InstanceSetup;
use super::drives::{Drives, ReadyMedium};
use super::error::{RunError, StepResult, ended_unexpectedly, not_prepared};
use super::existing::record_route;
use super::run::RunContext;
use super::wait::ProgressUnit;
pub(super) use instance::{InstanceId, Running};
use limits::SystemLimits;
pub(super) use limits::check as check_limits;

/// The systems in use, each instance on its medium.
pub(super) struct Systems<'a> {
    run: RunContext<'a>,
    running: HashMap<InstanceId, Running>,
    limits: SystemLimits<'a>,
}

/// Where a system's files go.
struct FilePlace {
    medium: SubjectId,
    /// Path of the medium, or where its drive is mounted.
    path: PathBuf,
    scratch: Scratch,
}

/// Under which name the log of a system has its disk.
fn log_user(system: &str) -> String {
    format!("{system}-log")
}

impl<'a> Systems<'a> {
    pub fn new(run: RunContext<'a>) -> Self {
        Self {
            run,
            running: HashMap::new(),
            limits: SystemLimits::new(run),
        }
    }

    /// An instance that has been started.
    pub fn get(&self, instance: InstanceId) -> StepResult<&Running> {
        let running = self.running.get(&instance);
        running.ok_or_else(|| not_prepared("system"))
    }

    fn get_mut(&mut self, instance: InstanceId) -> StepResult<&mut Running> {
        let running = self.running.get_mut(&instance);
        running.ok_or_else(|| not_prepared("system"))
    }

    /// Starts a step's systems unless they run already, and loads their data unless they are loaded.
    pub fn prepare(
        &mut self,
        drives: &mut Drives<'a>,
        step: &str,
        setups: &[InstanceSetup<'_>],
    ) -> StepResult<()> {
        let log = self.run.log;
        log.phase(step, None, PhaseKind::Prepare, |_| {
            setups
                .iter()
                .try_for_each(|setup| self.prepare_one(drives, step, setup))
        })
    }

    fn prepare_one(
        &mut self,
        drives: &mut Drives<'a>,
        step: &str,
        setup: &InstanceSetup<'_>,
    ) -> StepResult<()> {
        let log = self.run.log;
        let starts = !self.running.contains_key(&setup.instance);
        if starts {
            self.start(drives, setup.instance)?;
        }
        let loaded = self.load(drives, step, setup)?;
        let Running {
            instance, subject, ..
        } = self.get(setup.instance)?;
        // The file of an embedded database takes its place only now.
        if let Some(watch @ Watch::EmbeddedData { .. }) = instance.watch() {
            log.watch(*subject, watch);
        }
        // The settings of a reused database may have changed.
        if starts || loaded == Loaded::Fresh {
            log.file().facts(*subject, &instance.facts()?)?;
        }
        if starts {
            self.record_data(setup, loaded)?;
            self.record_host(setup.instance)?;
            record_route(log, instance, *subject)?;
        }
        Ok(())
    }

    fn load(
        &self,
        drives: &Drives<'_>,
        step: &str,
        setup: &InstanceSetup<'_>,
    ) -> StepResult<Loaded> {
        let plan = self.run.plan();
        let id = setup.instance;
        let text = if plan.system(id.system).count == 1 {
            format!("{step}: loading")
        } else {
            format!("{step}: loading {}", id.name(plan))
        };
        self.wait_for_task(drives, id, &text, |instance, control| {
            instance.load(setup.workload, plan.data_seed, control)
        })
    }

    /// Records the host whose processors are the system's.
    fn record_host(&self, instance: InstanceId) -> StepResult<()> {
        let plan = self.run.plan();
        match plan.system(instance.system).host {
            Some(host) => {
                let subject = self.get(instance)?.subject;
                let name = &plan.host(host).name;
                self.run.log.fact(subject, SYSTEM_HOST_FACT, name)
            }
            None => Ok(()),
        }
    }

    /// Records whether the data were loaded for this run; later steps use what this one has left. Only an existing server
    /// keeps data from run to run: a copy of another instance's data is as fresh as these.
    fn record_data(&self, setup: &InstanceSetup<'_>, loaded: Loaded) -> StepResult<()> {
        let log = self.run.log;
        let running = self.get(setup.instance)?;
        let instance = &running.instance;
        if !instance.has_data() {
            return Ok(());
        }
        let reused = loaded == Loaded::Reused && instance.is_existing();
        let data = if reused { REUSED } else { FRESH };
        log.fact(running.subject, DATA_FACT, data)?;
        if reused && let Some(orders) = instance.orders_added(setup.workload)? {
            log.fact(running.subject, ORDERS_ADDED_FACT, &orders.to_string())?;
        }
        Ok(())
    }

    /// The first instance of a system, where another one can begin with a copy of its data: it has just been loaded.
    fn model_of(&self, instance: InstanceId) -> Option<InstanceId> {
        let first = InstanceId {
            index: 0,
            ..instance
        };
        let running = self.running.get(&first)?;
        let can_be_copied = !running.dirty && running.instance.has_files();
        (first != instance && can_be_copied).then_some(first)
    }

    /// Starts one instance of a system; as a copy of another one, where it can begin so.
    fn start(&mut self, drives: &mut Drives<'a>, id: InstanceId) -> StepResult<()> {
        let RunContext { job, log, .. } = self.run;
        let spec = job.plan.system(id.system);
        let model = self.model_of(id);
        let name = id.subject(&job.plan);
        let subject = log.subject(SubjectKind::System, &name)?;
        if spec.count > 1 {
            log.fact(subject, INSTANCE_OF, &spec.name)?;
        }
        let place = match id.medium {
            Some(medium) => Some(self.make_place(drives, id, medium)?),
            None => None,
        };
        if let SystemKind::Managed { .. } = spec.kind {
            log.progress().begin(log.now(), &format!("starting {name}"));
        }
        let on = place.as_ref().map(|place| place.path.as_path());
        let limits = self.limits.create(spec, subject, on)?;
        let medium = place.as_ref().map(|place| place.medium);
        let mut scratch = place.map(|place| place.scratch);
        let instance = match (model, scratch.as_mut()) {
            (Some(model), Some(scratch)) => self.copy(drives, model, id, scratch, limits)?,
            (_, scratch) => Instance::start(&spec.kind, scratch, limits)?,
        };
        limits::verify(spec, &instance)?;
        if let Some(watch) = instance
            .watch()
            .filter(|watch| !matches!(watch, Watch::EmbeddedData { .. }))
        {
            log.watch(subject, watch);
        }
        self.sample_statistics(subject, &instance)?;
        let running = Running {
            instance,
            subject,
            medium,
            scratch,
            first: None,
            kept_for: None,
            dirty: false,
        };
        self.running.insert(id, running);
        Ok(())
    }

    fn copy(
        &self,
        drives: &Drives<'_>,
        model: InstanceId,
        copy: InstanceId,
        scratch: &mut Scratch,
        limits: Option<CgroupLimits>,
    ) -> StepResult<Instance> {
        let [from, to] = [model, copy].map(|id| id.name(self.run.plan()));
        let text = format!("copying the data of {from} for {to}");
        self.while_unwatched(model, || {
            self.wait_for_task(drives, model, &text, |model, control| {
                model.copied(scratch, limits, control)
            })
        })
    }

    /// A directory for a system on a medium, which is made ready.
    fn make_place(
        &self,
        drives: &mut Drives<'a>,
        id: InstanceId,
        medium: MediumId,
    ) -> StepResult<FilePlace> {
        let job = self.run.job;
        let spec = job.plan.system(id.system);
        let system = id.name(&job.plan);
        let ReadyMedium { subject, drive } = drives.ready(medium, &system, &spec.limits)?;
        if let Some(mount) = drive {
            let scratch = Scratch::inside(&mount, &system)?;
            return Ok(FilePlace {
                medium: subject,
                scratch: self.with_log(drives, id, scratch)?,
                path: mount,
            });
        }
        let medium = job.plan.medium(medium);
        // Drives that are simulated beside each other may have one directory.
        let name = match medium.kind.emulated() {
            Some(_) => id.subject(&job.plan),
            None => system,
        };
        Ok(FilePlace {
            medium: subject,
            scratch: Scratch::create(Path::new(&medium.path), &format!("{}-{name}", job.run_id))?,
            path: (&medium.path).into(),
        })
    }

    /// Gives the log a separate disk where the system has `log_disk`.
    fn with_log(
        &self,
        drives: &mut Drives<'a>,
        id: InstanceId,
        scratch: Scratch,
    ) -> StepResult<Scratch> {
        let plan = self.run.plan();
        let Some(medium) = id.medium.filter(|_| plan.system(id.system).log_disk) else {
            return Ok(scratch);
        };
        let user = log_user(&id.name(plan));
        Ok(match drives.take_disk(medium, &user) {
            Some(disk) => scratch.with_log(Scratch::inside(&disk, &user)?),
            None => scratch,
        })
    }

    /// Limits of a system that is restored from a backup, with its data in the directory `place`.
    pub fn limit_restored(
        &mut self,
        instance: InstanceId,
        place: &Path,
    ) -> StepResult<Option<CgroupLimits>> {
        let subject = self.get(instance)?.subject;
        let spec = self.run.plan().system(instance.system);
        self.limits.create(spec, subject, Some(place))
    }

    /// Watches the system's processes and files, and samples its statistics.
    pub fn watch(&self, instance: InstanceId) -> StepResult<()> {
        let running = self.get(instance)?;
        if let Some(watch) = running.instance.watch() {
            self.run.log.watch(running.subject, watch);
        }
        self.sample_statistics(running.subject, &running.instance)
    }

    /// Does not watch the system while `work` stops it and starts it again: the probe would report that it is gone.
    fn while_unwatched<T>(
        &self,
        instance: InstanceId,
        work: impl FnOnce() -> StepResult<T>,
    ) -> StepResult<T> {
        self.run.log.unwatch(self.get(instance)?.subject);
        let done = work()?;
        self.watch(instance)?;
        Ok(done)
    }

    /// Samples the system's statistics from now on, if it is a server.
    fn sample_statistics(&self, subject: SubjectId, instance: &Instance) -> StepResult<()> {
        let Some(probe) = self.run.log.probe() else {
            return Ok(());
        };
        probe.ask(subject, instance.endpoint()).map_err(|error| {
            RunError::failed(format!(
                "cannot start a thread to sample the server's statistics: {error}"
            ))
        })
    }

    /// Stops and removes all instances of a system that no later step uses.
    pub fn retire_all(
        &mut self,
        drives: &mut Drives<'a>,
        system: SystemId,
        medium: Option<MediumId>,
    ) -> StepResult<()> {
        InstanceId::all(self.run.plan(), system, medium)
            .try_for_each(|instance| self.retire(drives, instance))
    }

    /// Stops and removes one instance.
    fn retire(&mut self, drives: &mut Drives<'a>, instance: InstanceId) -> StepResult<()> {
        let Some(running) = self.running.remove(&instance) else {
            return Ok(());
        };
        let log = self.run.log;
        let subject = running.subject;
        log.unwatch(subject);
        let name = instance.name(self.run.plan());
        drives.leave_disk(instance.medium, &log_user(&name));
        drives.leave_disk(instance.medium, &name);
        log.cleanup_failed(subject, running.end())
    }

    /// Stops and removes all; returns what failed.
    pub fn end(&mut self) -> Vec<String> {
        let systems = self.running.drain();
        systems.flat_map(|(_, running)| running.end()).collect()
    }

    /// Runs a blocking task of a system on a thread; shows progress, stores samples and handles Ctrl-C meanwhile.
    pub fn wait_for_task<T: Send>(
        &self,
        drives: &Drives<'_>,
        id: InstanceId,
        text: &str,
        task: impl FnOnce(&Instance, &LoadControl) -> Result<T, LoadError> + Send,
    ) -> StepResult<T> {
        let instance = &self.get(id)?.instance;
        // A server whose power has failed is dead until it is started again, which explains no failure to do so.
        let was_dead = instance.died().is_some();
        let waiter = self.run.waiter(text, ProgressUnit::Rows);
        let result = waiter.run(|control| task(instance, control))?;
        result.map_err(|error| match error {
            LoadError::Cancelled => RunError::Interrupted,
            // A connection's error is only a consequence of the drive's or the server's failure.
            error => RunError::Failed(match (drives.died(id.medium), instance.died()) {
                (None, Some(_)) if was_dead => error.into(),
                (Some(why), _) => why.into(),
                (None, Some(death)) => {
                    let mut why = ended_unexpectedly(&id.name(self.run.plan()), &death);
                    why.text.insert_str(0, &format!("{text}: "));
                    why
                }
                (None, None) => error.into(),
            }),
        })
    }
}
