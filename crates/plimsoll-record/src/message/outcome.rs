//! Results of a reset, a backup or a power cut: what was compared, and what differs.

use serde::{Deserialize, Serialize};

use super::CheckDetail;

/// The comparison after a reset of the data set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "code", content = "args", rename_all = "snake_case")]
pub enum ResetCheck {
    /// The content is as at first, when the data had `bytes`; `None`: conditions were not verified.
    AsAtFirst { bytes: u64, conditions: Option<u64> },
    /// As it stands in a run file.
    #[serde(untagged)]
    Stored { text: String },
}

/// How a restore compared, or why an operation failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "code", content = "args", rename_all = "snake_case")]
pub enum BackupDetail {
    /// Conditions that hold, and rows that are as they were.
    Verified {
        conditions: u64,
        rows: u64,
        tables: u64,
    },
    ConditionFails {
        clause: String,
        check: Box<CheckDetail>,
    },
    /// The first table whose rows are not as many; `None`: it is not there.
    TableDiffers {
        table: String,
        rows: Option<u64>,
        restored: Option<u64>,
    },
    /// Ended before it was verified.
    NotVerified,
    Failed {
        error: String,
    },
    /// As it stands in a run file.
    #[serde(untagged)]
    Stored {
        text: String,
    },
}

/// Where the first transactions that a power cut took were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "code", content = "args", rename_all = "snake_case")]
pub enum FirstLost {
    /// Lost and acknowledged ones of a district of TPC-C; `before_load` were there before the load already.
    OfDistrict {
        lost: u64,
        acknowledged: u64,
        before_load: Option<u64>,
        warehouse: u32,
        district: u32,
    },
    /// As it stands in a run file.
    #[serde(untagged)]
    Stored { text: String },
}

impl From<String> for ResetCheck {
    fn from(text: String) -> Self {
        Self::Stored { text }
    }
}

impl From<String> for BackupDetail {
    fn from(text: String) -> Self {
        Self::Stored { text }
    }
}

impl From<String> for FirstLost {
    fn from(text: String) -> Self {
        Self::Stored { text }
    }
}
