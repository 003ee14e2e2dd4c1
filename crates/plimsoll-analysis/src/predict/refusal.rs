//! Why there is no prediction.

use serde::Serialize;

/// A reason to give no figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "refused", rename_all = "kebab-case")]
pub enum Refusal {
    /// The point is the sum of several systems.
    ManySystems,
    /// The point's medium is no emulated drive, so that its model is not known.
    NotEmulated,
    /// Its figures are simulated: another drive can be simulated as well.
    Simulated,
    /// The load was offered at a rate: its throughput is not the drive's doing.
    OfferedRate,
    /// The audit found the point invalid.
    InvalidSource,
    /// The rate rose, fell or scattered: the point is no steady state.
    Unsteady,
    NothingMeasured,
    /// The run file has no plan that can be read.
    NoPlan,
    /// No cases with a known answer for this engine, workload, mode or kind of change.
    NotCalibrated,
    /// The model is far from what was measured at the source point.
    NotModelled,
    /// Processors would be busy for more than the limit, where nothing was measured.
    Processors {
        busy_percent: f64,
    },
    /// Another number of processors than was measured: no cases with a known answer.
    ProcessorsNotCalibrated,
    /// Another amount of memory than was measured.
    Memory,
}

/// A point without a prediction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PointRefusal {
    pub medium: String,
    pub users: u32,
    #[serde(flatten)]
    pub refusal: Refusal,
}

impl Refusal {
    /// Of its message in the catalog.
    pub fn name(self) -> &'static str {
        match self {
            Self::ManySystems => "many-systems",
            Self::NotEmulated => "not-emulated",
            Self::Simulated => "simulated",
            Self::OfferedRate => "offered-rate",
            Self::InvalidSource => "invalid-source",
            Self::Unsteady => "unsteady",
            Self::NothingMeasured => "nothing-measured",
            Self::NoPlan => "no-plan",
            Self::NotCalibrated => "not-calibrated",
            Self::NotModelled => "not-modelled",
            Self::Processors { .. } => "processors",
            Self::ProcessorsNotCalibrated => "processors-not-calibrated",
            Self::Memory => "memory",
        }
    }
}
