//! What was learned from cases with a known answer, and the commands that learned it.
//!
//! All cases are TPC-C on emulated drives on 2 processors: `plimsoll predict --verify` of the run files named beside each
//! constant, which are in `runs/2026-11-24-vm-2cpu/predict`, those with arrays in `runs/2026-11-26-vm-2cpu/predict`.

use plimsoll_plan::resolved::EngineKind;
use serde::Serialize;

use crate::summary::Interval;

/// What changes from the measured point to the predicted one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PredictedChange {
    /// The same drive, slowed less.
    FullSpeed,
    OtherDrive,
    /// From or to an array or a cluster.
    Array,
}

impl PredictedChange {
    pub fn name(self) -> &'static str {
        match self {
            Self::FullSpeed => "full-speed",
            Self::OtherDrive => "other-drive",
            Self::Array => "array",
        }
    }
}

/// Constants of an engine under one workload, in seconds, and the errors that predictions with them had.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct EngineCalibration {
    pub engine: EngineKind,
    pub mode: &'static str,
    /// For each request between database and drive: filesystem, block layer, waking up.
    pub hop_s: f64,
    /// CPU seconds in each second beside transactions: samples of the server, its own background.
    pub cpu_beside: f64,
    /// CPU seconds in each second that transactions wait for, which are the more for each the fewer there are: caches
    /// that went cold.
    pub cpu_within: f64,
    pub full_speed: LearnedError,
    pub other_drive: LearnedError,
    pub array: LearnedError,
}

/// Root mean square of ln(predicted / measured) over cases.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LearnedError {
    pub error: f64,
    pub cases: u32,
}

impl LearnedError {
    pub fn interval(&self, per_second: f64) -> Option<Interval> {
        let degrees = f64::from(self.cases.saturating_sub(1));
        Interval::of_error(per_second, self.error, degrees)
    }
}

const CALIBRATIONS: [EngineCalibration; 2] = [
    EngineCalibration {
        engine: EngineKind::Sqlite,
        mode: "statements",
        hop_s: 25e-6,
        cpu_beside: 0.02,
        cpu_within: 0.02,
        // Constants chosen on sqlite-1 to -3, errors of sqlite-1 to -5.
        full_speed: LearnedError {
            error: 0.057,
            cases: 17,
        },
        other_drive: LearnedError {
            error: 0.055,
            cases: 293,
        },
        // Errors of sqlite-arrays-1, -2, -3 and -5: nothing was chosen on them.
        array: LearnedError {
            error: 0.074,
            cases: 330,
        },
    },
    EngineCalibration {
        engine: EngineKind::Postgres,
        mode: "procedures",
        hop_s: 34e-6,
        cpu_beside: 0.06,
        cpu_within: 0.06,
        // Constants chosen on postgres-1, -3 and -4, errors of postgres-1 to -6.
        full_speed: LearnedError {
            error: 0.133,
            cases: 25,
        },
        other_drive: LearnedError {
            error: 0.097,
            cases: 191,
        },
        // Errors of postgres-arrays-1 to -5: nothing was chosen on them.
        array: LearnedError {
            error: 0.102,
            cases: 312,
        },
    },
];

/// Whether full speed can be predicted for transactions of an engine in a mode.
pub fn is_calibrated(engine: EngineKind, mode: &str) -> bool {
    EngineCalibration::of(engine, mode).is_some()
}

impl EngineCalibration {
    pub fn of(engine: EngineKind, mode: &str) -> Option<&'static Self> {
        CALIBRATIONS
            .iter()
            .find(|own| own.engine == engine && own.mode == mode)
    }

    pub fn error(&self, change: PredictedChange) -> LearnedError {
        match change {
            PredictedChange::FullSpeed => self.full_speed,
            PredictedChange::OtherDrive => self.other_drive,
            PredictedChange::Array => self.array,
        }
    }
}
