//! The record: what a run file holds, as types.
//!
//! These are the stored schema's own types. A record is complete by itself: report, comparison and audit are functions
//! of records and open nothing else. Times are [`Nanos`] from the run's start.

mod backup;
mod block;
mod check;
pub mod drive;
mod event;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod hist;
pub mod import_facts;
pub mod join;
pub mod lane;
pub mod leb128;
mod load_key;
pub mod message;
pub mod metric;
mod outage;
mod point;
mod power_cut;
pub mod receipt;
mod record;
mod reported;
mod reset;
mod run;
pub mod runfile;
mod search;
mod second;
mod seconds;
mod series;
mod subject;
mod wait;

pub use backup::{BackupKind, BackupOutcome, BackupRow};
pub use block::{BlockPoint, BlockShare, BlockStreamInfo, Diagnosis, DiagnosisLevel, SteadyInfo};
pub use check::Check;
pub use drive::DriveRow;
pub use event::{Event, Severity};
pub use load_key::{LoadKey, OfferedLoad};
pub use outage::Outage;
pub use point::{Phase, PhaseId, Point, PointId, PointPurpose};
pub use power_cut::{PowerCut, Receipt};
pub use record::{Record, SIMULATED_FACT};
pub use reported::Reported;
pub use reset::Reset;
pub use run::{Integrity, RunInfo, RunStatus};
pub use search::SearchInfo;
pub use second::{Second, Window};
pub use seconds::{PackedTick, PackedTimes, SecondRef, Seconds};
pub use series::{Sample, Series};
pub use subject::{
    DEVICE_FACT, Fact, HOSTS_BETWEEN, INSTANCE_OF, SYSTEM_HOST_FACT, Subject, SubjectId,
    SubjectKind,
};
pub use wait::{WaitRow, WaitState};

/// Version of the stored schema (`PRAGMA user_version` of a run file).
pub const SCHEMA_VERSION: i32 = 10;
/// `PRAGMA application_id` of a run file: "Plim".
pub const APPLICATION_ID: i32 = 0x506c_696d;
