//! One point: a load on a system, from its first transaction to the check after it.

use plimsoll_analysis::summary::MeasuredPoint;
use plimsoll_load::error::LoadError;
use plimsoll_load::probe::Probe;
use plimsoll_plan::Interference;
use plimsoll_plan::load::LoadShape;
use plimsoll_plan::resolved::{CheckPolicy, LoadStep, Noise, NoiseWork, Precondition};
use plimsoll_plan::schedule::Timeline;
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::{GeneratorShare, LaneEnd, LaneSpec, Seeds};
use plimsoll_record::message::EventKind;
use plimsoll_record::receipt::CommitCounts;
use plimsoll_record::{Event, Point, PointId, PointPurpose, Severity};

use super::context::{InstanceContext, PointSpec, StepContext};
use super::cut::CommitsAtCut;
use super::drives::MountedDrive;
use super::error::{RunError, StepResult, ended_unexpectedly};
use super::execution::Execution;
use super::full::FullDisk;
use super::hosts::job_of;
use super::lane::{EndedLane, LaneTask, PointTasks};
use super::recorder::LaneResult;
use super::running::InstanceId;

/// The points of a step's instances under the same load.
pub(super) struct MeasuredPoints {
    pub points: Vec<Point>,
    /// The measurement of all instances.
    pub measured: MeasuredPoint,
}

impl Execution<'_> {
    /// Resets the data, measures one point, and verifies the conditions after it, as the plan requires.
    pub(super) fn point(
        &mut self,
        step_context: &StepContext<'_>,
        point_spec: &PointSpec,
    ) -> StepResult<MeasuredPoints> {
        self.timed_point(step_context, point_spec, timeline(step_context.step))
    }

    /// As [`Self::point`], with phases of its own.
    pub(super) fn timed_point(
        &mut self,
        step_context: &StepContext<'_>,
        point_spec: &PointSpec,
        timeline: Timeline,
    ) -> StepResult<MeasuredPoints> {
        // Ctrl-C at the end of the previous point.
        if self.interrupt.is_wanted() {
            return Err(RunError::Interrupted);
        }
        self.reset(step_context)?;
        let result = self.under_load(step_context, point_spec, timeline)?;
        if step_context.step.check == CheckPolicy::EachPoint {
            for (context, point) in step_context.instances().zip(&result.points) {
                self.check(&context, Some(point))?;
            }
        }
        let points: Vec<PointId> = result.points.iter().map(|point| point.id).collect();
        self.expect_required(&points)?;
        Ok(result)
    }

    /// Load without a measurement: all of it is warm-up.
    pub(super) fn precondition(
        &mut self,
        step_context: &StepContext<'_>,
        precondition: Precondition,
    ) -> StepResult<()> {
        let point_spec = PointSpec {
            purpose: PointPurpose::Precondition,
            ordinal: 0,
            repeat: 0,
            load: steady(precondition.load),
            scene: Interference::Alone,
        };
        self.reset(step_context)?;
        let timeline = Timeline {
            warm: precondition.lasts,
            measure: Nanos::ZERO,
            cool: step_context.step.timeline.cool,
        };
        self.under_load(step_context, &point_spec, timeline)
            .map(drop)
    }

    /// The lanes run on this thread's runtime beside their recorders, their users on others.
    fn under_load(
        &mut self,
        step_context: &StepContext<'_>,
        point_spec: &PointSpec,
        timeline: Timeline,
    ) -> StepResult<MeasuredPoints> {
        // Without a window there is nothing that a power cut could end.
        let power_cut = step_context.step.power_cut.is_some() && timeline.measure > Nanos::ZERO;
        let tasks = self.point_tasks(step_context, point_spec, &timeline, power_cut)?;
        if let (true, Some(medium)) = (power_cut, step_context.medium) {
            self.watch_changes(medium)?;
        }
        let before = match tasks.lanes.first() {
            Some(task) if power_cut => {
                let what = format!("{} · counting committed transactions", task.title);
                Some(self.commit_counts(step_context.first_instance(), &what)?)
            }
            _ => None,
        };
        let is_alone = tasks.noise.is_empty();
        let result = self.measure_point(tasks)?;
        let warnings = self.probe.as_ref().map(Probe::take_warnings);
        self.record_warnings(warnings.unwrap_or_default())?;
        self.after_lanes(&result.lanes, before.as_ref())?;
        result.noise?;
        // A power cut answers requests with errors.
        self.record_requests()?;
        // A machine does not know whose program spends its time.
        if let (Some(medium), [only], true) =
            (step_context.medium, result.lanes.as_slice(), is_alone)
        {
            self.record_time(medium, only.task.point.system)?;
        }
        if let (false, Some(first)) = (power_cut, result.lanes.first()) {
            let points = result.lanes.iter().map(|lane| lane.task.point.id);
            let media = step_context.medium.into_iter();
            self.expect_in_time(media, &first.task.title, &points.collect::<Vec<_>>())?;
        }
        let own = result.lanes.into_iter().take(step_context.count as usize);
        let mut measured = MeasuredPoint::default();
        let points = own.map(|lane| {
            measured.merge(&lane.result.measured);
            lane.task.point
        });
        Ok(MeasuredPoints {
            points: points.collect(),
            measured,
        })
    }

    /// What each lane's end means. `before`: commits before a planned power cut.
    fn after_lanes(
        &mut self,
        lanes: &[EndedLane],
        before: Option<&CommitCounts>,
    ) -> StepResult<()> {
        // First: it has stopped all others.
        if let Some(full) = lanes.iter().find(|lane| lane.ran_full()) {
            self.after_lane(full.task.instance, &full.result)?;
        }
        for EndedLane { task, result } in lanes {
            let instance = task.instance;
            if let (Some(before), Some(off)) = (before, result.power_off) {
                let commits = CommitsAtCut {
                    before,
                    acknowledged: &result.acknowledged,
                };
                self.after_power_cut(instance, &task.point, &commits, off)?;
                continue;
            }
            self.after_lane(instance, result)?;
            if result.data_lost {
                let name = instance.name(self.plan);
                let text = format!("{name}: members of its array failed, and its data are LOST");
                self.not_durable.push(text);
            }
            if before.is_some() {
                self.no_power_cut(&task.point)?;
            }
        }
        Ok(())
    }

    /// Records the points, and returns the tasks: the lanes of the step's instances come first, those of neighbours after
    /// them.
    fn point_tasks(
        &mut self,
        step_context: &StepContext<'_>,
        point_spec: &PointSpec,
        timeline: &Timeline,
        power_cut: bool,
    ) -> StepResult<PointTasks> {
        let mut tasks = PointTasks {
            lanes: self.lane_tasks(step_context, point_spec, timeline, power_cut)?,
            noise: Vec::new(),
        };
        if point_spec.scene == Interference::Noisy
            && let Some(first) = tasks.lanes.first()
        {
            let point = first.point.clone();
            self.add_noise_tasks(step_context, point_spec, timeline, &mut tasks.lanes)?;
            tasks.noise = self.noise_jobs(step_context, &point, timeline)?;
        }
        Ok(tasks)
    }

    /// Adds the tasks of the neighbours' lanes to those that are measured.
    fn add_noise_tasks(
        &mut self,
        step_context: &StepContext<'_>,
        point_spec: &PointSpec,
        timeline: &Timeline,
        tasks: &mut Vec<LaneTask>,
    ) -> StepResult<()> {
        let plan = self.plan;
        for Noise { system, work } in &step_context.step.noise {
            let NoiseWork::Load { workload, load } = work else {
                continue;
            };
            let named = plan.workload(*workload);
            for instance in InstanceId::all(plan, *system, step_context.medium) {
                let context = InstanceContext {
                    id: step_context.id,
                    step: step_context.step,
                    instance,
                    workload: &named.workload,
                };
                let point_spec = PointSpec {
                    purpose: PointPurpose::Noise,
                    load: *load,
                    ..*point_spec
                };
                let point = Point {
                    workload: named.name.clone(),
                    ..self.describe_point(&context, &point_spec)?
                };
                self.points += 1;
                self.file.point(&point)?;
                let name = instance.name(plan);
                let title = format!("{} · noise · {name}", step_context.step.name);
                let spec = self.lane_spec(&context, &point, *load, timeline, false)?;
                tasks.push(LaneTask {
                    instance,
                    spec,
                    title,
                    events: Vec::new(),
                    from: Vec::new(),
                    job: job_of(point.id),
                    point,
                });
            }
        }
        Ok(())
    }

    fn lane_spec(
        &self,
        context: &InstanceContext<'_>,
        point: &Point,
        load: LoadShape,
        timeline: &Timeline,
        power_cut: bool,
    ) -> StepResult<LaneSpec> {
        let instance = context.instance;
        let endpoint = self.running.get(instance)?.instance.endpoint();
        Ok(LaneSpec {
            endpoint: self.timed_endpoint(endpoint, instance.medium),
            workload: context.workload.clone(),
            load,
            share: GeneratorShare::default(),
            pacing: context.step.pacing,
            seed: Seeds {
                load: self.seed,
                data: self.plan.data_seed,
            },
            round: point.id.0,
            max_retries: context.step.max_retries,
            power_cut,
            timeline: timeline.clone(),
        })
    }

    /// Records the point of each instance, and returns the tasks of their lanes.
    fn lane_tasks(
        &mut self,
        step_context: &StepContext<'_>,
        point_spec: &PointSpec,
        timeline: &Timeline,
        power_cut: bool,
    ) -> StepResult<Vec<LaneTask>> {
        let mut tasks = Vec::new();
        let mut title = None;
        // Times count from a measurement.
        let events = match timeline.measure > Nanos::ZERO {
            true => step_context.step.events.clone(),
            false => Vec::new(),
        };
        for context in step_context.instances() {
            let point = self.describe_point(&context, point_spec)?;
            self.points += 1;
            self.file.point(&point)?;
            let title = title
                .get_or_insert_with(|| self.progress.point_begins(&point, timeline.load_end()));
            let spec = self.lane_spec(&context, &point, point_spec.load, timeline, power_cut)?;
            tasks.push(LaneTask {
                events: events.clone(),
                from: self.hosts.links(&step_context.step.from),
                job: job_of(point.id),
                title: if step_context.count > 1 {
                    format!("{title} · {}", context.instance.name(self.plan))
                } else {
                    title.clone()
                },
                instance: context.instance,
                spec,
                point,
            });
        }
        self.record_anchors(&step_context.step.from)?;
        Ok(tasks)
    }

    fn describe_point(
        &self,
        context: &InstanceContext<'_>,
        point_spec: &PointSpec,
    ) -> StepResult<Point> {
        let step = context.step;
        let own = self.plan.workload(step.workload);
        let workload = context.workload;
        let load = point_spec.load;
        let running = self.running.get(context.instance)?;
        let mut offered_per_second = None;
        let mut offered_to_per_second = None;
        if let LoadShape::Open {
            per_second,
            to_per_second,
            ..
        } = load
        {
            offered_per_second = Some(per_second);
            offered_to_per_second = Some(to_per_second).filter(|to| *to != per_second);
        }
        Ok(Point {
            id: PointId(self.points + 1),
            step: step.name.clone(),
            step_index: context.id.index() as u32,
            ordinal: point_spec.ordinal,
            system: running.subject,
            medium: running.medium,
            workload: own.name.clone(),
            mode: workload.mode().name().into(),
            users: load.users(),
            connections: load.connections(),
            offered_per_second,
            offered_to_per_second,
            repeat: point_spec.repeat,
            purpose: point_spec.purpose,
            scene: point_spec.scene,
            txns: workload
                .txn_names()
                .iter()
                .map(|&name| name.to_owned())
                .collect(),
            parameters: own.workload.parameters(Some(step)),
        })
    }

    fn after_lane(&mut self, instance: InstanceId, result: &LaneResult) -> StepResult<()> {
        // Other failures are only its consequences.
        let drive = instance.medium.and_then(|medium| self.drives.get(&medium));
        if let Some(why) = drive.and_then(MountedDrive::died) {
            return Err(RunError::failed(why));
        }
        let died = self.running.get(instance)?.instance.died();
        let died = died.filter(|_| !result.is_complete());
        match (result.end.clone(), died) {
            (LaneEnd::DiskFull { place, why }, _)
            | (_, Some(LoadError::DiskFull { place, why, .. })) => {
                let full = FullDisk { place, why };
                Err(self.disk_full(instance, result.ended_at, full)?)
            }
            (_, Some(error)) => Err(self.server_died(instance, result.ended_at, &error)?),
            (LaneEnd::Complete, None) => Ok(()),
            (LaneEnd::Closed | LaneEnd::Stopped, None) => Err(RunError::Interrupted),
            (LaneEnd::Failed(why), None) => Err(RunError::failed(why)),
        }
    }

    /// Records the death beside the point: backends of PostgreSQL outlive their server by moments, connections to MariaDB
    /// do not, and how soon clients notice decides nothing.
    fn server_died(
        &mut self,
        instance: InstanceId,
        at: Nanos,
        error: &LoadError,
    ) -> StepResult<RunError> {
        let system = instance.name(self.plan);
        let mut why = ended_unexpectedly(&system, error);
        why.text
            .push_str(" The run file has everything measured until then.");
        let error = error.to_string();
        self.file.event(&Event {
            at,
            subject: Some(self.running.get(instance)?.subject),
            severity: Severity::Error,
            kind: EventKind::ServerDied {
                system,
                error: error.lines().next().unwrap_or_default().to_owned(),
            },
        })?;
        Ok(RunError::Failed(why))
    }
}

/// The power fails where the measurement would go on.
pub(super) fn timeline(step: &LoadStep) -> Timeline {
    let measure = step.power_cut.unwrap_or(step.timeline.measure);
    Timeline {
        measure,
        ..step.timeline.clone()
    }
}

/// At the higher of its rates all the time.
pub(super) fn steady(load: LoadShape) -> LoadShape {
    match load {
        LoadShape::Closed { .. } => load,
        LoadShape::Open {
            users,
            per_second,
            to_per_second,
            arrivals,
            queue,
        } => {
            let per_second = per_second.max(to_per_second);
            LoadShape::Open {
                users,
                per_second,
                to_per_second: per_second,
                arrivals,
                queue,
            }
        }
    }
}
