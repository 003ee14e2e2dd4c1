//! What predictions start from: points of run files, and the models of their drives.

use plimsoll_analysis::audited::figures;
use plimsoll_analysis::predict::{
    DriveAnswer, MeasuredDemand, PointRefusal, PredictedChange, PredictedDrive, demands,
};
use plimsoll_drive::model::{Completion, DriveOp, Op, RequestId, Setup, Storage};
use plimsoll_drive::spec::DriveSpec;
use plimsoll_drive::storage_model::StorageModel;
use plimsoll_plan::units::Nanos;
use plimsoll_record::Record;

use crate::cli::PredictArgs;
use crate::commands::io::read_run;
use crate::failure::Failure;
use crate::run_path::RunArgument;

/// The model of a drive, an array or a cluster, answering the closed loop.
#[derive(Clone)]
pub struct ModelledDrive(StorageModel);

impl PredictedDrive for ModelledDrive {
    type Request = RequestId;

    fn submit(&mut self, now: Nanos, kind: DriveOp, offset: u64, len: u64) -> RequestId {
        self.0.submit(now, Op { kind, offset, len })
    }

    fn next_event(&self) -> Option<Nanos> {
        self.0.next_event()
    }

    fn advance(&mut self, to: Nanos) -> Option<DriveAnswer<RequestId>> {
        let Completion { id, at } = self.0.advance(to)?;
        Some(DriveAnswer { request: id, at })
    }
}

impl ModelledDrive {
    /// As large and as full as the one that was measured.
    pub fn like(spec: &DriveSpec, demand: &MeasuredDemand) -> Self {
        let capacity = demand.drive.capacity.unwrap_or(spec.capacity);
        Self(StorageModel::new(
            spec,
            &Setup {
                capacity: capacity.min(spec.capacity),
                fill: demand.drive.fill,
                seed: 1,
                ignores_flush: false,
            },
        ))
    }
}

/// A point and its drive.
pub struct SourcePoint {
    pub demand: MeasuredDemand,
    pub spec: DriveSpec,
}

/// What there is to predict from.
pub struct Sources {
    pub points: Vec<SourcePoint>,
    pub refused: Vec<PointRefusal>,
}

pub fn read_sources(args: &PredictArgs) -> Result<Sources, Failure> {
    let mut points = Vec::new();
    let mut refused = Vec::new();
    for path in &args.runs {
        for run in RunArgument::open(path)?.files() {
            let sources = sources_of(&read_run(&run)?)?;
            points.extend(sources.points);
            refused.extend(sources.refused);
        }
    }
    if !args.users.is_empty() {
        points.retain(|point| args.users.contains(&point.demand.users));
        refused.retain(|point| args.users.contains(&point.users));
    }
    if points.is_empty() && refused.is_empty() {
        return Err(Failure::usage(
            "the runs have no points with transactions and so many users\n`plimsoll export RUN --to csv` lists their points.",
        ));
    }
    Ok(Sources { points, refused })
}

fn sources_of(record: &Record) -> Result<Sources, Failure> {
    let mut points = Vec::new();
    let mut refused = Vec::new();
    for demand in demands(record, &figures(record)) {
        match demand {
            Ok(demand) => points.push(SourcePoint {
                spec: recorded(&demand)?,
                demand,
            }),
            Err(refusal) => refused.push(refusal),
        }
    }
    Ok(Sources { points, refused })
}

pub fn recorded(demand: &MeasuredDemand) -> Result<DriveSpec, Failure> {
    DriveSpec::parse(&demand.drive.name, &demand.drive.file).map_err(|_| {
        Failure::run(format!(
            "the drive file of {} in the run file cannot be read\nIt was written by another version of plimsoll: run the plan again.",
            demand.medium
        ))
    })
}

pub fn change(from: &DriveSpec, to: &DriveSpec) -> PredictedChange {
    if from.assembly.is_some() || to.assembly.is_some() {
        PredictedChange::Array
    } else if from.mechanism == to.mechanism && from.slower > to.slower {
        PredictedChange::FullSpeed
    } else {
        PredictedChange::OtherDrive
    }
}
