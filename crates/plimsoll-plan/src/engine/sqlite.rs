//! SQLite.

use super::info::{DataCost, EngineInfo, MB};
use crate::units::{Bytes, Nanos};

pub(super) static INFO: EngineInfo = EngineInfo {
    has_procedures: false,
    start: Nanos::from_millis(100),
    // The WAL file grows with the longest transaction, the load.
    space: Bytes::mib(64),
    warehouse: DataCost::micros(5_000_000, 500_000, Bytes(90 * MB)),
    row: DataCost::micros(5, 1, Bytes(230)),
    server: None,
};
