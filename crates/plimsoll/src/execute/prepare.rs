//! Starts systems on media, loads their data, stops and removes them.

use std::path::{Path, PathBuf};

use plimsoll_analysis::summary::{DATA_FACT, FRESH, ORDERS_ADDED_FACT, REUSED};
use plimsoll_load::engine::{LoadControl, Loaded};
use plimsoll_load::error::LoadError;
use plimsoll_load::limit::CgroupLimits;
use plimsoll_load::probe::Watch;
use plimsoll_load::scratch::Scratch;
use plimsoll_load::system::Instance;
use plimsoll_plan::resolved::{MediumKind, SystemKind};
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::{MediumId, StepId, SystemId};
use plimsoll_record::message::EventKind;
use plimsoll_record::{INSTANCE_OF, SYSTEM_HOST_FACT, Severity, SubjectId, SubjectKind};

use super::context::InstanceSetup;
use super::drives::MountedDrive;
use super::error::{RunError, StepResult, ended_unexpectedly};
use super::execution::Execution;
use super::limits;
use super::running::{InstanceId, Running};
use super::wait::ProgressUnit;

/// Where a system's files go.
struct FilePlace {
    medium: SubjectId,
    /// Of the medium, or where its drive is mounted.
    path: PathBuf,
    scratch: Scratch,
}

/// Under which name the log of a system has its disk.
fn log_user(system: &str) -> String {
    format!("{system}-log")
}

/// A medium that files can be put on.
pub(super) struct ReadyMedium {
    pub subject: SubjectId,
    /// Where the disk of an emulated one is mounted that is for whoever asked.
    pub drive: Option<PathBuf>,
}

impl Execution<'_> {
    /// Starts a step's systems unless they run already, and loads their data unless they are loaded.
    pub(super) fn prepare(&mut self, step: StepId, setups: &[InstanceSetup<'_>]) -> StepResult<()> {
        let name = self.plan.step(step).name();
        let phase = self
            .file
            .open_phase(name, None, PhaseKind::Prepare, self.clock.now())?;
        for setup in setups {
            self.prepare_one(setup)?;
        }
        self.file.close_phase(phase, self.clock.now(), true)?;
        self.file.commit()?;
        Ok(())
    }

    fn prepare_one(&mut self, setup: &InstanceSetup<'_>) -> StepResult<()> {
        let instance = setup.instance;
        let starts = self.running.find(instance).is_none();
        if starts {
            self.start(instance, self.model_of(instance))?;
        }
        let step = self.plan.step(setup.step).name();
        let what = if self.plan.system(instance.system).count == 1 {
            format!("{step}: loading")
        } else {
            format!("{step}: loading {}", instance.name(self.plan))
        };
        let workload = setup.workload;
        let seed = self.plan.data_seed;
        let loaded = self.wait_for_task(instance, &what, |instance, control| {
            instance.load(workload, seed, control)
        })?;
        let running = self.running.get(instance)?;
        // The file of an embedded database takes its place only now.
        if let Some(watch @ Watch::EmbeddedData { .. }) = running.instance.watch() {
            self.watch(running.subject, watch);
        }
        // The settings of a reused database may have changed.
        if starts || loaded == Loaded::Fresh {
            self.file
                .facts(running.subject, &running.instance.facts()?)?;
        }
        if starts {
            self.record_data(setup, loaded)?;
            self.record_host(instance)?;
            let running = self.running.get(instance)?;
            self.record_route(&running.instance, running.subject)?;
        }
        Ok(())
    }

    /// The host whose processors are the system's.
    fn record_host(&self, instance: InstanceId) -> StepResult<()> {
        let Some(host) = self.plan.system(instance.system).host else {
            return Ok(());
        };
        let subject = self.running.get(instance)?.subject;
        let name = self.plan.host(host).name.clone();
        Ok(self
            .file
            .facts(subject, &[(SYSTEM_HOST_FACT.to_owned(), name)])?)
    }

    /// Whether the data were loaded for this run; later steps go on with what this one has left. Only an existing server
    /// keeps data from run to run: a copy of another instance's data is as fresh as these.
    fn record_data(&self, setup: &InstanceSetup<'_>, loaded: Loaded) -> StepResult<()> {
        let running = self.running.get(setup.instance)?;
        let instance = &running.instance;
        if !instance.has_data() {
            return Ok(());
        }
        let reused = loaded == Loaded::Reused && instance.is_existing();
        let data = if reused { REUSED } else { FRESH };
        let mut facts = vec![(DATA_FACT.to_owned(), data.to_owned())];
        if reused {
            let added = instance.orders_added(setup.workload)?;
            facts.extend(added.map(|orders| (ORDERS_ADDED_FACT.to_owned(), orders.to_string())));
        }
        Ok(self.file.facts(running.subject, &facts)?)
    }

    /// The first instance of a system, where another one can begin with a copy of its data: it has just been loaded.
    fn model_of(&self, instance: InstanceId) -> Option<InstanceId> {
        let first = InstanceId {
            index: 0,
            ..instance
        };
        let running = self.running.find(first)?;
        let can_be_copied = !running.dirty && running.instance.has_files();
        (first != instance && can_be_copied).then_some(first)
    }

    /// Starts one instance of a system; with a `model` as its copy.
    fn start(&mut self, id: InstanceId, model: Option<InstanceId>) -> StepResult<()> {
        let spec = self.plan.system(id.system);
        let name = id.subject(self.plan);
        let subject = self.file.subject(SubjectKind::System, &name)?;
        if spec.count > 1 {
            self.file
                .facts(subject, &[(INSTANCE_OF.to_owned(), spec.name.clone())])?;
        }
        let place = match id.medium {
            Some(medium) => Some(self.make_place(id, medium)?),
            None => None,
        };
        if let SystemKind::Managed { .. } = spec.kind {
            self.progress
                .begin(self.clock.now(), &format!("starting {name}"));
        }
        let on = place.as_ref().map(|place| place.path.as_path());
        let limits = self.limit_system(spec, subject, on)?;
        let medium = place.as_ref().map(|place| place.medium);
        let mut scratch = place.map(|place| place.scratch);
        let instance = match (model, scratch.as_mut()) {
            (Some(model), Some(scratch)) => self.copy_instance(model, id, scratch, limits)?,
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
            id,
            Running {
                instance,
                subject,
                medium,
                scratch,
                first: None,
                kept_for: None,
                dirty: false,
            },
        );
        Ok(())
    }

    fn copy_instance(
        &mut self,
        model: InstanceId,
        copy: InstanceId,
        scratch: &mut Scratch,
        limits: Option<CgroupLimits>,
    ) -> StepResult<Instance> {
        let what = format!(
            "copying the data of {} for {}",
            model.name(self.plan),
            copy.name(self.plan)
        );
        self.while_unwatched(model, |this| {
            this.wait_for_task(model, &what, |model, control| {
                model.copied(scratch, limits, control)
            })
        })
    }

    /// A directory for a system on a medium, which is made ready.
    fn make_place(&mut self, id: InstanceId, medium: MediumId) -> StepResult<FilePlace> {
        let system = &id.name(self.plan);
        let plan = self.plan;
        let ReadyMedium { subject, drive } = self.ready_medium(medium, id.system, system)?;
        let path = &plan.medium(medium).path;
        // Drives that are simulated beside each other may have one directory.
        let name = match plan.medium(medium).kind.emulated() {
            Some(_) => &id.subject(plan),
            None => system,
        };
        Ok(match drive {
            Some(mount) => FilePlace {
                medium: subject,
                scratch: self.with_log(id, Scratch::inside(&mount, system)?)?,
                path: mount,
            },
            None => FilePlace {
                medium: subject,
                scratch: Scratch::create(Path::new(path), &format!("{}-{name}", self.run_id))?,
                path: path.into(),
            },
        })
    }

    /// Gives the log a disk of its own where the system has `log_disk`.
    fn with_log(&mut self, id: InstanceId, scratch: Scratch) -> StepResult<Scratch> {
        let drive = id.medium.and_then(|own| self.drives.get_mut(&own));
        let Some(drive) = drive.filter(|_| self.plan.system(id.system).log_disk) else {
            return Ok(scratch);
        };
        let user = log_user(&id.name(self.plan));
        let disk = drive.disks.take(&user);
        Ok(scratch.with_log(Scratch::inside(&disk, &user)?))
    }

    /// Makes a medium ready for files of a system: its drive is simulated in virtual time, on the system's machine, else it is
    /// mounted.
    pub(super) fn ready_medium(
        &mut self,
        id: MediumId,
        system: SystemId,
        user: &str,
    ) -> StepResult<ReadyMedium> {
        let plan = self.plan;
        let simulated = self.virtual_clock().zip(plan.medium(id).kind.emulated());
        let Some((clock, drive)) = simulated else {
            return self.prepare_medium(id, user);
        };
        Ok(ReadyMedium {
            subject: self.simulate(id, drive, &plan.system(system).limits, &clock)?,
            drive: None,
        })
    }

    /// Describes a medium, and mounts its drive if it is an emulated one. `user` gets a disk there.
    fn prepare_medium(&mut self, id: MediumId, user: &str) -> StepResult<ReadyMedium> {
        let plan = self.plan;
        let mounted = match &plan.medium(id).kind {
            // Plans in which files are put on a device are refused.
            MediumKind::Directory | MediumKind::Device => false,
            MediumKind::Emulated(drive) => self.mount(id, drive)?,
        };
        let mut drive = self.drives.get_mut(&id).filter(|_| mounted);
        let drive = drive.as_mut().map(|drive| drive.disks.take(user));
        let subject = self.describe_medium(id, mounted)?;
        Ok(ReadyMedium { subject, drive })
    }

    /// Watches the system's processes and files, and samples its statistics.
    pub(super) fn watch_system(&self, instance: InstanceId) -> StepResult<()> {
        let running = self.running.get(instance)?;
        if let Some(watch) = running.instance.watch() {
            self.watch(running.subject, watch);
        }
        self.sample_statistics(running.subject, &running.instance)
    }

    /// Samples the system's own statistics from now on, if it is a server.
    fn sample_statistics(&self, subject: SubjectId, instance: &Instance) -> StepResult<()> {
        let Some(probe) = &self.probe else {
            return Ok(());
        };
        probe.ask(subject, instance.endpoint()).map_err(|error| {
            RunError::failed(format!(
                "cannot start a thread to sample the server's statistics: {error}"
            ))
        })
    }

    /// Stops and removes all instances of a system that no later step uses.
    pub(super) fn retire_all(
        &mut self,
        system: SystemId,
        medium: Option<MediumId>,
    ) -> StepResult<()> {
        InstanceId::all(self.plan, system, medium).try_for_each(|instance| self.retire(instance))
    }

    /// Stops and removes one instance.
    fn retire(&mut self, instance: InstanceId) -> StepResult<()> {
        let Some(running) = self.running.remove(instance) else {
            return Ok(());
        };
        if let Some(probe) = &self.probe {
            probe.unwatch(running.subject);
        }
        if let Some(drive) = instance.medium.and_then(|own| self.drives.get_mut(&own)) {
            let name = instance.name(self.plan);
            drive.disks.leave(&log_user(&name));
            drive.disks.leave(&name);
        }
        let subject = running.subject;
        for error in running.end() {
            self.record_event(
                Some(subject),
                Severity::Warning,
                EventKind::Cleanup { error },
            )?;
        }
        Ok(())
    }

    /// Runs a blocking task of a system on a thread; shows progress, stores samples and handles Ctrl-C meanwhile.
    pub(super) fn wait_for_task<T: Send>(
        &mut self,
        id: InstanceId,
        what: &str,
        task: impl FnOnce(&Instance, &LoadControl) -> Result<T, LoadError> + Send,
    ) -> StepResult<T> {
        let plan = self.plan;
        let mut parts = self.parts();
        let instance = &parts.running.get(id)?.instance;
        let drive = id.medium.and_then(|medium| parts.drives.get(&medium));
        // A server whose power has failed is dead until it is started again, which explains no failure to do so.
        let was_dead = instance.died().is_some();
        let result = parts
            .waiter(what, ProgressUnit::Rows)
            .run(|control| task(instance, control))?;
        result.map_err(|error| match error {
            LoadError::Cancelled => RunError::Interrupted,
            // A connection's error is only a consequence of the drive's or the server's failure.
            error => RunError::Failed(
                match (drive.and_then(MountedDrive::died), instance.died()) {
                    (None, Some(_)) if was_dead => error.into(),
                    (Some(why), _) => why.into(),
                    (None, Some(death)) => {
                        let mut why = ended_unexpectedly(&id.name(plan), &death);
                        why.text.insert_str(0, &format!("{what}: "));
                        why
                    }
                    (None, None) => error.into(),
                },
            ),
        })
    }
}
