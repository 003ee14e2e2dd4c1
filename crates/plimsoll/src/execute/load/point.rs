//! Points of a load step: a load on its systems, from the first transaction to the check after it.

use plimsoll_analysis::summary::MeasuredPoint;
use plimsoll_plan::Interference;
use plimsoll_plan::load::LoadShape;
use plimsoll_plan::resolved::{CheckPolicy, Noise, NoiseWork, Precondition};
use plimsoll_record::lane::{GeneratorShare, LaneSpec, Seeds};
use plimsoll_record::message::EventKind;
use plimsoll_record::receipt::CommitCounts;
use plimsoll_record::{Point, PointId, PointPurpose, Severity};

use super::super::abort::{expect_in_time, expect_required};
use super::super::backup::noise_jobs;
use super::super::context::{InstanceContext, PointSpec, StepContext, warm_up};
use super::super::drives::Drives;
use super::super::error::StepResult;
use super::super::hosts::{Hosts, job_of};
use super::super::lane::{EndedLane, LaneTask, PointTasks, measure_point};
use super::super::run::RunContext;
use super::super::systems::{InstanceId, Systems};
use super::cut::{CommitsAtCut, PowerCutCheck, commit_counts};
use super::lane_end::LaneEnds;

/// Measures the points of a load step.
pub(in crate::execute) struct LoadRunner<'r, 'a> {
    pub run: RunContext<'a>,
    pub hosts: &'r Hosts,
    pub systems: &'r mut Systems<'a>,
    pub drives: &'r mut Drives<'a>,
    /// Acknowledged commits and data that were lost, a text each.
    pub losses: &'r mut Vec<String>,
    pub context: StepContext<'a>,
}

/// The points of a step's instances under the same load.
pub(super) struct MeasuredPoints {
    pub points: Vec<Point>,
    /// The measurement of all instances.
    pub measured: MeasuredPoint,
}

impl LoadRunner<'_, '_> {
    /// Resets the data, measures one point, and verifies the conditions after it, as the plan requires.
    pub(super) fn measure(&mut self, spec: &PointSpec) -> StepResult<MeasuredPoints> {
        // Ctrl-C at the end of the previous point.
        self.run.expect_uninterrupted()?;
        self.systems.reset(self.drives, &self.context)?;
        let result = self.under_load(spec)?;
        if self.context.step.check == CheckPolicy::EachPoint {
            for (context, point) in self.context.instances().zip(&result.points) {
                self.systems.check(self.drives, &context, Some(point))?;
            }
        }
        let points: Vec<PointId> = result.points.iter().map(|point| point.id).collect();
        expect_required(self.run, &points)?;
        Ok(result)
    }

    /// Load without a measurement: all of it is warm-up.
    pub(super) fn precondition(&mut self, precondition: Precondition) -> StepResult<()> {
        self.systems.reset(self.drives, &self.context)?;
        self.under_load(&PointSpec {
            purpose: PointPurpose::Precondition,
            ordinal: 0,
            repeat: 0,
            load: steady(precondition.load),
            scene: Interference::Alone,
            timeline: warm_up(self.context.step, precondition.lasts),
        })?;
        Ok(())
    }

    /// Verifies the conditions of all instances.
    pub(super) fn check_all(&self) -> StepResult<()> {
        let mut instances = self.context.instances();
        instances.try_for_each(|context| self.systems.check(self.drives, &context, None))
    }

    fn cuts_power(&self, spec: &PointSpec) -> bool {
        self.context.step.power_cut.is_some() && spec.is_measured()
    }

    /// Runs the lanes on this thread's runtime beside their recorders, their users on other threads.
    fn under_load(&mut self, spec: &PointSpec) -> StepResult<MeasuredPoints> {
        let power_cut = self.cuts_power(spec);
        let tasks = self.point_tasks(spec)?;
        let before = self.prepare_power_cut(power_cut, &tasks)?;
        let is_alone = tasks.noise.is_empty();
        let result = measure_point(self.run, self.systems, self.drives, tasks)?;
        self.run.log.record_probe_warnings()?;
        self.after_lanes(&result.lanes, before.as_ref())?;
        result.noise?;
        // A power cut answers requests with errors.
        self.drives.record_requests()?;
        // A machine does not know whose program spends its time.
        if let (Some(medium), [only], true) =
            (self.context.medium, result.lanes.as_slice(), is_alone)
        {
            self.drives.record_time(medium, only.task.point.system)?;
        }
        if let (false, Some(first)) = (power_cut, result.lanes.first()) {
            let points: Vec<PointId> = (result.lanes.iter())
                .map(|lane| lane.task.point.id)
                .collect();
            expect_in_time(self.run, self.context.medium, &first.task.title, &points)?;
        }
        // Lanes of neighbours come after them.
        let lanes = result.lanes.into_iter().take(self.context.count as usize);
        let mut measured = MeasuredPoint::default();
        let points = lanes.map(|lane| {
            measured.merge(&lane.result.measured);
            lane.task.point
        });
        Ok(MeasuredPoints {
            points: points.collect(),
            measured,
        })
    }

    /// Counts the commits before a power cut.
    fn prepare_power_cut(
        &self,
        power_cut: bool,
        tasks: &PointTasks,
    ) -> StepResult<Option<CommitCounts>> {
        let Some(task) = tasks.lanes.first().filter(|_| power_cut) else {
            return Ok(None);
        };
        if let Some(medium) = self.context.medium {
            self.drives.watch_changes(medium)?;
        }
        let text = format!("{} · counting committed transactions", task.title);
        commit_counts(self.systems, self.drives, task.instance, &text).map(Some)
    }

    /// Acts on each lane's end. `before`: commits before a planned power cut.
    fn after_lanes(
        &mut self,
        lanes: &[EndedLane],
        before: Option<&CommitCounts>,
    ) -> StepResult<()> {
        let ends = LaneEnds {
            run: self.run,
            systems: self.systems,
            drives: self.drives,
        };
        // First: it has stopped all others.
        if let Some(full) = lanes.iter().find(|lane| lane.ran_full()) {
            ends.expect_complete(full.task.instance, &full.result)?;
        }
        for EndedLane { task, result } in lanes {
            if let (Some(before), Some(off)) = (before, result.power_off) {
                let check = PowerCutCheck {
                    run: self.run,
                    systems: self.systems,
                    drives: self.drives,
                    instance: task.instance,
                    point: &task.point,
                    commits: CommitsAtCut {
                        before,
                        acknowledged: &result.acknowledged,
                    },
                    off,
                };
                if let Some(loss) = check.recover_and_compare()? {
                    self.losses.push(loss);
                }
                self.systems.watch(task.instance)?;
                continue;
            }
            ends.expect_complete(task.instance, result)?;
            if result.data_lost {
                let name = task.instance.name(self.run.plan());
                let text = format!("{name}: members of its array failed, and its data are LOST");
                self.losses.push(text);
            }
            if before.is_some() {
                let step = task.point.step.clone();
                let no_power_cut = EventKind::NoPowerCut { step };
                let system = Some(task.point.system);
                self.run
                    .log
                    .event(system, Severity::Warning, no_power_cut)?;
            }
        }
        Ok(())
    }

    /// Records the points, and returns the tasks: the lanes of the step's instances come first, those of neighbours after
    /// them.
    fn point_tasks(&mut self, spec: &PointSpec) -> StepResult<PointTasks> {
        let mut tasks = PointTasks {
            lanes: self.lane_tasks(spec)?,
            noise: Vec::new(),
        };
        if spec.scene == Interference::Noisy
            && let Some(first) = tasks.lanes.first()
        {
            let point = first.point.id;
            self.add_noise_lanes(spec, &mut tasks.lanes)?;
            let timeline = &spec.timeline;
            tasks.noise = noise_jobs(
                self.run,
                self.systems,
                self.drives,
                &self.context,
                point,
                timeline,
            )?;
        }
        Ok(tasks)
    }

    /// Records the point of each instance, and returns the tasks of their lanes.
    fn lane_tasks(&self, spec: &PointSpec) -> StepResult<Vec<LaneTask>> {
        let log = self.run.log;
        let step = self.context.step;
        let mut tasks = Vec::new();
        let mut title = None;
        for context in self.context.instances() {
            let point = self.describe_point(&context, spec)?;
            log.begin_point(&point)?;
            let title = title.get_or_insert_with(|| {
                log.progress()
                    .point_begins(&point, spec.timeline.load_end())
            });
            let title = match self.context.count {
                1 => title.clone(),
                _ => format!("{title} · {}", context.instance.name(self.run.plan())),
            };
            tasks.push(LaneTask {
                // Times count from a measurement.
                events: match spec.is_measured() {
                    true => step.events.clone(),
                    false => Vec::new(),
                },
                from: self.hosts.links(&step.from),
                ..self.lane_task(&context, spec, point, title)?
            });
        }
        self.hosts.record_anchors(log, &step.from)?;
        Ok(tasks)
    }

    /// Adds the tasks of the neighbours' lanes to those that are measured.
    fn add_noise_lanes(&self, spec: &PointSpec, tasks: &mut Vec<LaneTask>) -> StepResult<()> {
        let plan = self.run.plan();
        for Noise { system, work } in &self.context.step.noise {
            let NoiseWork::Load { workload, load } = work else {
                continue;
            };
            let named = plan.workload(*workload);
            let spec = PointSpec {
                purpose: PointPurpose::Noise,
                load: *load,
                ..spec.clone()
            };
            for instance in InstanceId::all(plan, *system, self.context.medium) {
                let context = InstanceContext {
                    id: self.context.id,
                    step: self.context.step,
                    instance,
                    workload: &named.workload,
                };
                let point = Point {
                    workload: named.name.clone(),
                    ..self.describe_point(&context, &spec)?
                };
                self.run.log.begin_point(&point)?;
                let name = instance.name(plan);
                let title = format!("{} · noise · {name}", self.context.step.name);
                tasks.push(self.lane_task(&context, &spec, point, title)?);
            }
        }
        Ok(())
    }

    /// A lane whose load comes from here, without failures.
    fn lane_task(
        &self,
        context: &InstanceContext<'_>,
        spec: &PointSpec,
        point: Point,
        title: String,
    ) -> StepResult<LaneTask> {
        let instance = context.instance;
        let endpoint = self.systems.get(instance)?.instance.endpoint();
        Ok(LaneTask {
            instance,
            title,
            events: Vec::new(),
            from: Vec::new(),
            job: job_of(point.id),
            spec: LaneSpec {
                endpoint: self.drives.timed_endpoint(endpoint, instance.medium),
                workload: context.workload.clone(),
                load: spec.load,
                share: GeneratorShare::default(),
                pacing: context.step.pacing,
                seed: Seeds {
                    load: self.run.job.seed,
                    data: self.run.plan().data_seed,
                },
                round: point.id.0,
                max_retries: context.step.max_retries,
                power_cut: spec.purpose != PointPurpose::Noise && self.cuts_power(spec),
                timeline: spec.timeline.clone(),
            },
            point,
        })
    }

    fn describe_point(&self, context: &InstanceContext<'_>, spec: &PointSpec) -> StepResult<Point> {
        let step = context.step;
        let named = self.run.plan().workload(step.workload);
        let running = self.systems.get(context.instance)?;
        let mut offered_per_second = None;
        let mut offered_to_per_second = None;
        if let LoadShape::Open {
            per_second,
            to_per_second,
            ..
        } = spec.load
        {
            offered_per_second = Some(per_second);
            offered_to_per_second = Some(to_per_second).filter(|to| *to != per_second);
        }
        Ok(Point {
            id: self.run.log.next_point(),
            step: step.name.clone(),
            step_index: context.id.index() as u32,
            ordinal: spec.ordinal,
            system: running.subject,
            medium: running.medium,
            workload: named.name.clone(),
            mode: context.workload.mode().name().into(),
            users: spec.load.users(),
            connections: spec.load.connections(),
            offered_per_second,
            offered_to_per_second,
            repeat: spec.repeat,
            purpose: spec.purpose,
            scene: spec.scene,
            txns: context
                .workload
                .txn_names()
                .iter()
                .map(|&name| name.to_owned())
                .collect(),
            parameters: named.workload.parameters(Some(step)),
        })
    }
}

/// The load at the higher of its rates all the time.
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
