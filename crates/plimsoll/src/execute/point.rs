//! One point: a load on a system, from its first transaction to the check after it.

use std::collections::BTreeMap;

use plimsoll_analysis::summary::Measured;
use plimsoll_load::error::LoadError;
use plimsoll_load::probe::Probe;
use plimsoll_plan::Interference;
use plimsoll_plan::load::LoadShape;
use plimsoll_plan::resolved::{
    CheckPolicy, LoadStep, Noise, NoiseWork, Precondition, TxnMode, Workload,
};
use plimsoll_plan::schedule::Timeline;
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::{LaneEnd, LaneSpec, Seeds};
use plimsoll_record::receipt::CommitCounts;
use plimsoll_record::{Event, Point, PointId, PointPurpose, Severity};

use super::backup::Beside;
use super::cut::Books;
use super::full::FullDisk;
use super::lane::{LaneTask, PointResult};
use super::recorder::LaneResult;
use super::{Execution, RunError, StepResult, ended_unexpectedly, unresolved};

/// A step on one of its media, with the instances of its system.
#[derive(Clone, Copy)]
pub(super) struct StepContext<'a> {
    pub step: &'a LoadStep,
    pub systems: &'a [String],
    pub medium: Option<&'a str>,
    pub workload: &'a Workload,
}

/// A step on one of its system's instances.
#[derive(Clone, Copy)]
pub(super) struct InstanceContext<'a> {
    pub step: &'a LoadStep,
    pub system: &'a str,
    pub medium: Option<&'a str>,
    pub workload: &'a Workload,
}

impl<'a> StepContext<'a> {
    pub fn instances(&self) -> impl Iterator<Item = InstanceContext<'a>> + use<'a> {
        let Self {
            step,
            systems,
            medium,
            workload,
        } = *self;
        systems.iter().map(move |system| InstanceContext {
            step,
            system,
            medium,
            workload,
        })
    }
}

/// Purpose and load of a point.
#[derive(Debug, Clone, Copy)]
pub(super) struct PointSpec {
    pub purpose: PointPurpose,
    pub ordinal: u32,
    pub repeat: u32,
    pub load: LoadShape,
    pub scene: Interference,
}

impl Execution<'_> {
    /// Resets the data, measures one point, and verifies the conditions after it, as the plan requires. Returns the first
    /// instance's point, and the measurement of all instances.
    pub(super) fn point(
        &mut self,
        step_context: &StepContext<'_>,
        point_spec: &PointSpec,
    ) -> StepResult<(Point, Measured)> {
        // Ctrl-C at the end of the previous point.
        if self.interrupt.is_wanted() {
            return Err(RunError::Interrupted);
        }
        self.reset(step_context)?;
        let (points, measured) =
            self.under_load(step_context, point_spec, timeline(step_context.step))?;
        if step_context.step.check == CheckPolicy::EachPoint {
            for (context, point) in step_context.instances().zip(&points) {
                self.check(&context, Some(point))?;
            }
        }
        let first = points
            .into_iter()
            .next()
            .ok_or_else(|| unresolved("instance of", &step_context.step.system))?;
        Ok((first, measured))
    }

    /// Load without a measurement: all of it is warm-up.
    pub(super) fn precondition(
        &mut self,
        step_context: &StepContext<'_>,
        precondition: Precondition,
    ) -> StepResult<()> {
        let Precondition { load, lasts } = precondition;
        let point_spec = PointSpec {
            purpose: PointPurpose::Precondition,
            ordinal: 0,
            repeat: 0,
            load: steady(load),
            scene: Interference::Alone,
        };
        self.reset(step_context)?;
        let timeline = Timeline {
            warm: lasts,
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
    ) -> StepResult<(Vec<Point>, Measured)> {
        let (step, medium) = (step_context.step, step_context.medium);
        // Without a window there is nothing that a power cut could end.
        let power_cut = step.power_cut.filter(|_| timeline.measure > Nanos::ZERO);
        let (mut tasks, points) =
            self.lane_tasks(step_context, point_spec, &timeline, power_cut.is_some())?;
        let victims = tasks.len();
        let noise_jobs = match (point_spec.scene, points.first()) {
            (Interference::Noisy, Some(first)) => {
                self.add_noise_tasks(step_context, point_spec, &timeline, &mut tasks)?;
                let beside = Beside {
                    step: &step.name,
                    point: first.id,
                };
                self.noise_jobs(&step.noise, medium, beside)?
            }
            _ => Vec::new(),
        };
        let system = step_context.systems.first().map_or("", String::as_str);
        let before = match (power_cut, tasks.first()) {
            (Some(_), Some(task)) => {
                let what = format!("{} · counting committed transactions", task.title);
                self.books(system, medium, &what)?
            }
            _ => CommitCounts::default(),
        };
        let systems: Vec<String> = tasks.iter().map(|task| task.system.clone()).collect();
        let PointResult {
            mut lane_results,
            cut,
            noise,
        } = self.run_lanes(tasks, noise_jobs, medium)?;
        self.record_warnings(
            self.probe
                .as_ref()
                .map(Probe::take_warnings)
                .unwrap_or_default(),
        )?;
        // First: it has stopped all others.
        let full = lane_results
            .iter()
            .position(|result| matches!(result.end, LaneEnd::DiskFull { .. }));
        if let Some(full) = full.filter(|_| cut.is_none()) {
            self.after_lane(&systems[full], medium, lane_results.swap_remove(full))?;
        }
        let others = lane_results.split_off(victims.min(lane_results.len()));
        let mut measured = Measured::default();
        for ((context, point), result) in step_context.instances().zip(&points).zip(lane_results) {
            measured.merge(&result.measured);
            match (cut, medium) {
                (Some(off), Some(medium)) => {
                    let books = Books {
                        before: &before,
                        acknowledged: &result.acknowledged,
                    };
                    self.after_power_cut((context.system, medium), point, &books, off)?;
                }
                _ => {
                    self.after_lane(context.system, medium, result)?;
                    if power_cut.is_some() {
                        self.no_power_cut(point)?;
                    }
                }
            }
        }
        for (system, result) in systems[victims..].iter().zip(others) {
            self.after_lane(system, medium, result)?;
        }
        noise?;
        Ok((points, measured))
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
            let NoiseWork::Load {
                workload: name,
                load,
            } = work
            else {
                continue;
            };
            let workload = plan
                .workload(name)
                .ok_or_else(|| unresolved("workload", name))?;
            for instance in self.instances(system)? {
                let context = InstanceContext {
                    step: step_context.step,
                    system: &instance,
                    medium: step_context.medium,
                    workload,
                };
                let point_spec = PointSpec {
                    purpose: PointPurpose::Noise,
                    load: *load,
                    ..*point_spec
                };
                let point = Point {
                    workload: name.clone(),
                    ..self.describe_point(&context, &point_spec)?
                };
                self.points += 1;
                self.file.point(&point)?;
                let title = format!("{} · noise · {instance}", step_context.step.name);
                let spec = self.lane_spec(&context, &point, *load, timeline, false)?;
                tasks.push(LaneTask {
                    system: instance,
                    spec,
                    point,
                    title,
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
        Ok(LaneSpec {
            endpoint: self
                .running(context.system, context.medium)?
                .instance
                .endpoint(),
            workload: context.workload.clone(),
            load,
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

    /// Records the point of each instance, and returns the points and the tasks of their lanes.
    fn lane_tasks(
        &mut self,
        step_context: &StepContext<'_>,
        point_spec: &PointSpec,
        timeline: &Timeline,
        power_cut: bool,
    ) -> StepResult<(Vec<LaneTask>, Vec<Point>)> {
        let (mut tasks, mut points, mut title) = (Vec::new(), Vec::new(), None);
        for context in step_context.instances() {
            let point = self.describe_point(&context, point_spec)?;
            self.points += 1;
            self.file.point(&point)?;
            let title = title
                .get_or_insert_with(|| self.progress.point_begins(&point, timeline.load_end()));
            let spec = self.lane_spec(&context, &point, point_spec.load, timeline, power_cut)?;
            let named = if step_context.systems.len() > 1 {
                format!("{title} · {}", context.system)
            } else {
                title.clone()
            };
            tasks.push(LaneTask {
                system: context.system.to_owned(),
                spec,
                point: point.clone(),
                title: named,
            });
            points.push(point);
        }
        Ok((tasks, points))
    }

    fn describe_point(
        &self,
        context: &InstanceContext<'_>,
        point_spec: &PointSpec,
    ) -> StepResult<Point> {
        let InstanceContext {
            step,
            system,
            medium,
            workload,
        } = *context;
        let PointSpec {
            purpose,
            ordinal,
            repeat,
            load,
            scene,
        } = *point_spec;
        let running = self.running(system, medium)?;
        let (offered_per_second, offered_to_per_second) = match load {
            LoadShape::Open {
                per_second,
                to_per_second,
                ..
            } => (
                Some(per_second),
                (to_per_second != per_second).then_some(to_per_second),
            ),
            LoadShape::Closed { .. } => (None, None),
        };
        Ok(Point {
            id: PointId(self.points + 1),
            step: step.name.clone(),
            step_index: self.plan.step_index(&step.name),
            ordinal,
            system: running.subject,
            medium: running.medium,
            workload: step.workload.clone(),
            mode: mode(workload).into(),
            users: load.users(),
            connections: load.connections(),
            offered_per_second,
            offered_to_per_second,
            repeat,
            purpose,
            scene,
            txns: workload
                .txn_names()
                .iter()
                .map(|&name| name.to_owned())
                .collect(),
            parameters: self.parameters(step),
        })
    }

    /// As a comparison reads them from the plan of a run without parameters.
    fn parameters(&self, step: &LoadStep) -> BTreeMap<String, String> {
        let plan = plimsoll_plan::describe(self.plan)
            .parse()
            .unwrap_or_default();
        plimsoll_plan::parameters(&plan, &step.workload, &step.name)
    }

    fn after_lane(
        &mut self,
        system: &str,
        medium: Option<&str>,
        result: LaneResult,
    ) -> StepResult<()> {
        // Other failures are only its consequences.
        if let Some(why) = medium.and_then(|medium| self.drives.get(medium)?.died()) {
            return Err(RunError::Failed(why));
        }
        let LaneResult { end, ended_at, .. } = result;
        let died = self
            .running(system, medium)?
            .instance
            .died()
            .filter(|_| end != LaneEnd::Complete);
        match (end, died) {
            (LaneEnd::DiskFull { place, why }, _)
            | (_, Some(LoadError::DiskFull { place, why, .. })) => {
                Err(self.disk_full((system, medium), ended_at, FullDisk { place, why })?)
            }
            (_, Some(error)) => Err(self.server_died((system, medium), ended_at, &error)?),
            (LaneEnd::Complete, None) => Ok(()),
            (LaneEnd::Closed | LaneEnd::Stopped, None) => Err(RunError::Interrupted),
            (LaneEnd::Failed(why), None) => Err(RunError::Failed(why)),
        }
    }

    /// Records the death beside the point: backends of PostgreSQL outlive their server by moments, connections to MariaDB
    /// do not, and how soon clients notice decides nothing.
    fn server_died(
        &mut self,
        (system, medium): (&str, Option<&str>),
        at: Nanos,
        error: &LoadError,
    ) -> StepResult<RunError> {
        let subject = Some(self.running(system, medium)?.subject);
        let why = ended_unexpectedly(system, error);
        let (severity, text) = (
            Severity::Error,
            why.lines().next().unwrap_or_default().to_owned(),
        );
        self.file.event(&Event {
            at,
            subject,
            severity,
            code: "server_died".into(),
            text,
        })?;
        Ok(RunError::Failed(why))
    }
}

/// The power fails where the measurement would go on.
fn timeline(step: &LoadStep) -> Timeline {
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

fn mode(workload: &Workload) -> &'static str {
    match workload {
        Workload::Tpcc(tpcc) => tpcc.mode.name(),
        Workload::Sysbench(_) => TxnMode::Statements.name(),
    }
}
