//! What a run's slowed drives would give at full speed.

use plimsoll_record::Record;
use serde::Serialize;

use crate::predict::{
    MeasuredDemand, PointRefusal, PredictedChange, PredictedDrive, Prediction, PredictionTask,
    demands, pool_cpu, predict,
};
use crate::summary::RunFigures;

/// Predictions for a run's points on slowed drives; empty where no drive was slowed.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct FullSpeed {
    pub points: Vec<FullSpeedPoint>,
    pub refused: Vec<PointRefusal>,
}

impl FullSpeed {
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }
}

/// A point on a slowed drive, and what is predicted for the same drive at full speed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FullSpeedPoint {
    pub step: String,
    pub mode: String,
    pub medium: String,
    pub users: u32,
    pub prediction: Prediction,
}

/// The models of a drive that was slowed.
pub struct SlowedDrive<D> {
    pub change: PredictedChange,
    pub as_measured: D,
    pub at_full_speed: D,
}

/// `model` gives the drive of a point; `None` for one that ran at full speed, or whose file cannot be read.
pub fn full_speed<D: PredictedDrive>(
    record: &Record,
    figures: &RunFigures,
    model: impl Fn(&MeasuredDemand) -> Option<SlowedDrive<D>>,
) -> FullSpeed {
    let mut all = FullSpeed::default();
    let mut demands = demands(record, figures);
    pool_cpu(demands.iter_mut().flatten());
    for demand in demands {
        let demand = match demand {
            Ok(demand) => demand,
            Err(refusal) => {
                all.refused.push(refusal);
                continue;
            }
        };
        let Some(drive) = model(&demand) else {
            continue;
        };
        let task = PredictionTask {
            change: drive.change,
            processors: None,
            memory: None,
        };
        match predict(&demand, &task, &drive.as_measured, &drive.at_full_speed) {
            Ok(prediction) => all.points.push(FullSpeedPoint {
                step: demand.step,
                mode: demand.mode,
                medium: demand.medium,
                users: demand.users,
                prediction,
            }),
            Err(refusal) => all.refused.push(demand.refused(refusal)),
        }
    }
    all
}
