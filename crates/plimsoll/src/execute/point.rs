//! One point: a load on a system, from its first intent to the check after it.

use std::collections::BTreeMap;

use plimsoll_load::error::LoadError;
use plimsoll_load::probe::Probe;
use plimsoll_model::lane::{LaneEnd, LaneSpec, LoadShape, Seeds};
use plimsoll_model::plan;
use plimsoll_model::plan::resolved::{CheckPolicy, LoadStep, Noise, NoiseWork, Precondition, TxnMode, Workload};
use plimsoll_model::receipt::CommitCounts;
use plimsoll_model::record::{Event, Interference, Point, PointId, PointPurpose, Severity};
use plimsoll_model::schedule::Timeline;
use plimsoll_model::summary::Measured;
use plimsoll_model::units::Nanos;

use super::backup::Beside;
use super::cut::Books;
use super::full::FullDisk;
use super::lane::{Driven, Load};
use super::recorder::Outcome;
use super::{Course, Execution, Halt, ended_by_itself, unresolved};

/// Where points are measured: a step on one of its media, and the instances of its system.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub step: &'a LoadStep,
    pub systems: &'a [String],
    pub medium: Option<&'a str>,
    pub workload: &'a Workload,
}

/// One of the instances.
#[derive(Clone, Copy)]
pub(super) struct Spot<'a> {
    pub step: &'a LoadStep,
    pub system: &'a str,
    pub medium: Option<&'a str>,
    pub workload: &'a Workload,
}

impl<'a> Place<'a> {
    pub fn spots(&self) -> impl Iterator<Item = Spot<'a>> + use<'a> {
        let Self { step, systems, medium, workload } = *self;
        systems.iter().map(move |system| Spot { step, system, medium, workload })
    }
}

/// What a point is measured for, and with what load.
#[derive(Debug, Clone, Copy)]
pub(super) struct Aim {
    pub purpose: PointPurpose,
    pub ordinal: u32,
    pub repeat: u32,
    pub load: LoadShape,
    pub scene: Interference,
}

impl Execution<'_> {
    /// Measures one point and verifies the conditions after it where the plan wants that. What has to happen to the data
    /// before a point happens here. The point is that of the first instance, what was measured that of all.
    pub(super) fn point(&mut self, place: &Place<'_>, aim: &Aim) -> Course<(Point, Measured)> {
        // Asked for when the point before had just come to its end.
        if self.interrupt.is_wanted() {
            return Err(Halt::Interrupted);
        }
        self.reset(place)?;
        let (points, measured) = self.under_load(place, aim, timeline(place.step))?;
        if place.step.check == CheckPolicy::EachPoint {
            for (spot, point) in place.spots().zip(&points) {
                self.check(&spot, Some(point))?;
            }
        }
        let first = points.into_iter().next().ok_or_else(|| unresolved("instance of", &place.step.system))?;
        Ok((first, measured))
    }

    /// Load of which no figures are taken: all of it is warm-up.
    pub(super) fn precondition(&mut self, place: &Place<'_>, precondition: Precondition) -> Course<()> {
        let Precondition { load, lasts } = precondition;
        let aim = Aim {
            purpose: PointPurpose::Precondition,
            ordinal: 0,
            repeat: 0,
            load: steady(load),
            scene: Interference::Alone,
        };
        self.reset(place)?;
        let timeline = Timeline { warm: lasts, measure: Nanos::ZERO, cool: place.step.timeline.cool };
        self.under_load(place, &aim, timeline).map(drop)
    }

    /// The lanes run on this thread's runtime beside their recorders, their users on others.
    fn under_load(&mut self, place: &Place<'_>, aim: &Aim, timeline: Timeline) -> Course<(Vec<Point>, Measured)> {
        let (step, medium) = (place.step, place.medium);
        // Without a window there is nothing that a power cut could end.
        let power_cut = step.power_cut.filter(|_| timeline.measure > Nanos::ZERO);
        let (mut loads, points) = self.loads(place, aim, &timeline, power_cut.is_some())?;
        let victims = loads.len();
        let rackets = match (aim.scene, points.first()) {
            (Interference::Noisy, Some(first)) => {
                self.noise_loads(place, aim, &timeline, &mut loads)?;
                let beside = Beside { step: &step.name, point: first.id };
                self.rackets(&step.noise, medium, beside)?
            }
            _ => Vec::new(),
        };
        let system = place.systems.first().map_or("", String::as_str);
        let before = match (power_cut, loads.first()) {
            (Some(_), Some(load)) => {
                let what = format!("{} · counting what is there", load.title);
                self.books(system, medium, &what)?
            }
            _ => CommitCounts::default(),
        };
        let systems: Vec<String> = loads.iter().map(|load| load.system.clone()).collect();
        let Driven { mut outcomes, cut, noise } = self.drive(loads, rackets, medium)?;
        self.record_warnings(self.probe.as_ref().map(Probe::take_warnings).unwrap_or_default())?;
        // First: it has stopped all others.
        let full = outcomes.iter().position(|outcome| matches!(outcome.end, LaneEnd::DiskFull { .. }));
        if let Some(full) = full.filter(|_| cut.is_none()) {
            self.after_lane(&systems[full], medium, outcomes.swap_remove(full))?;
        }
        let others = outcomes.split_off(victims.min(outcomes.len()));
        let mut measured = Measured::default();
        for ((spot, point), outcome) in place.spots().zip(&points).zip(outcomes) {
            measured.merge(&outcome.measured);
            match (cut, medium) {
                (Some(off), Some(medium)) => {
                    let books = Books { before: &before, acknowledged: &outcome.acknowledged };
                    self.after_power_cut((spot.system, medium), point, &books, off)?;
                }
                _ => {
                    self.after_lane(spot.system, medium, outcome)?;
                    if power_cut.is_some() {
                        self.no_power_cut(point)?;
                    }
                }
            }
        }
        for (system, outcome) in systems[victims..].iter().zip(others) {
            self.after_lane(system, medium, outcome)?;
        }
        noise?;
        Ok((points, measured))
    }

    /// What the neighbours' lanes are to do, beside those that are measured.
    fn noise_loads(&mut self, place: &Place<'_>, aim: &Aim, timeline: &Timeline, loads: &mut Vec<Load>) -> Course<()> {
        let plan = self.plan;
        for Noise { system, work } in &place.step.noise {
            let NoiseWork::Load { workload: name, load } = work else { continue };
            let workload = plan.workload(name).ok_or_else(|| unresolved("workload", name))?;
            for instance in self.instances(system)? {
                let spot = Spot { step: place.step, system: &instance, medium: place.medium, workload };
                let aim = Aim { purpose: PointPurpose::Noise, load: *load, ..*aim };
                let point = Point { workload: name.clone(), ..self.describe_point(&spot, &aim)? };
                self.points += 1;
                self.file.point(&point)?;
                let title = format!("{} · noise · {instance}", place.step.name);
                let spec = self.lane_spec(&spot, &point, *load, timeline, false)?;
                loads.push(Load { system: instance, spec, point, title });
            }
        }
        Ok(())
    }

    fn lane_spec(
        &self,
        spot: &Spot<'_>,
        point: &Point,
        load: LoadShape,
        timeline: &Timeline,
        power_cut: bool,
    ) -> Course<LaneSpec> {
        Ok(LaneSpec {
            endpoint: self.running(spot.system, spot.medium)?.instance.endpoint(),
            workload: spot.workload.clone(),
            load,
            pacing: spot.step.pacing,
            seed: Seeds { load: self.seed, data: self.plan.data_seed },
            round: point.id.0,
            max_retries: spot.step.max_retries,
            power_cut,
            timeline: timeline.clone(),
        })
    }

    /// The point of each instance, recorded, and what its lane is to do.
    fn loads(
        &mut self,
        place: &Place<'_>,
        aim: &Aim,
        timeline: &Timeline,
        power_cut: bool,
    ) -> Course<(Vec<Load>, Vec<Point>)> {
        let (mut loads, mut points, mut title) = (Vec::new(), Vec::new(), None);
        for spot in place.spots() {
            let point = self.describe_point(&spot, aim)?;
            self.points += 1;
            self.file.point(&point)?;
            let title = title.get_or_insert_with(|| self.progress.point_begins(&point, timeline.load_end()));
            let spec = self.lane_spec(&spot, &point, aim.load, timeline, power_cut)?;
            let named = if place.systems.len() > 1 { format!("{title} · {}", spot.system) } else { title.clone() };
            loads.push(Load { system: spot.system.to_owned(), spec, point: point.clone(), title: named });
            points.push(point);
        }
        Ok((loads, points))
    }

    fn describe_point(&self, spot: &Spot<'_>, aim: &Aim) -> Course<Point> {
        let Spot { step, system, medium, workload } = *spot;
        let Aim { purpose, ordinal, repeat, load, scene } = *aim;
        let running = self.running(system, medium)?;
        let (offered_per_second, offered_to_per_second) = match load {
            LoadShape::Open { per_second, to_per_second, .. } => {
                (Some(per_second), (to_per_second != per_second).then_some(to_per_second))
            }
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
            txns: workload.txn_names().iter().map(|&name| name.to_owned()).collect(),
            parameters: self.parameters(step),
        })
    }

    /// As a comparison reads them from the plan of a run without parameters.
    fn parameters(&self, step: &LoadStep) -> BTreeMap<String, String> {
        let plan = plan::describe(self.plan).parse().unwrap_or_default();
        plan::parameters(&plan, &step.workload, &step.name)
    }

    fn after_lane(&mut self, system: &str, medium: Option<&str>, outcome: Outcome) -> Course<()> {
        // Whatever else ended, ended because of it.
        if let Some(why) = medium.and_then(|medium| self.drives.get(medium)?.died()) {
            return Err(Halt::Failed(why));
        }
        let Outcome { end, ended_at, .. } = outcome;
        let died = self.running(system, medium)?.instance.died().filter(|_| end != LaneEnd::Complete);
        match (end, died) {
            (LaneEnd::DiskFull { place, why }, _) | (_, Some(LoadError::DiskFull { place, why, .. })) => {
                Err(self.disk_full((system, medium), ended_at, FullDisk { place, why })?)
            }
            (_, Some(error)) => Err(self.server_died((system, medium), ended_at, &error)?),
            (LaneEnd::Complete, None) => Ok(()),
            (LaneEnd::Closed | LaneEnd::Stopped, None) => Err(Halt::Interrupted),
            (LaneEnd::Failed(why), None) => Err(Halt::Failed(why)),
        }
    }

    /// Records the death beside the point: backends of PostgreSQL outlive their server by moments, connections to MariaDB
    /// do not, and how soon clients notice decides nothing.
    fn server_died(&mut self, (system, medium): (&str, Option<&str>), at: Nanos, error: &LoadError) -> Course<Halt> {
        let subject = Some(self.running(system, medium)?.subject);
        let why = ended_by_itself(system, error);
        let (severity, text) = (Severity::Error, why.lines().next().unwrap_or_default().to_owned());
        self.file.event(&Event { at, subject, severity, code: "server_died".into(), text })?;
        Ok(Halt::Failed(why))
    }
}

/// The power fails where the measurement would go on.
fn timeline(step: &LoadStep) -> Timeline {
    let measure = step.power_cut.unwrap_or(step.timeline.measure);
    Timeline { measure, ..step.timeline.clone() }
}

/// At the higher of its rates all the time.
pub(super) fn steady(load: LoadShape) -> LoadShape {
    match load {
        LoadShape::Closed { .. } => load,
        LoadShape::Open { users, per_second, to_per_second, arrivals, queue } => {
            let per_second = per_second.max(to_per_second);
            LoadShape::Open { users, per_second, to_per_second: per_second, arrivals, queue }
        }
    }
}

fn mode(workload: &Workload) -> &'static str {
    match workload {
        Workload::Tpcc(tpcc) => tpcc.mode.name(),
        Workload::Sysbench(_) => TxnMode::Statements.name(),
    }
}
