//! The engine without a database.

use super::info::{DataCost, EngineInfo};
use crate::units::{Bytes, Nanos};

const NOTHING: DataCost = DataCost::micros(0, 0, Bytes(0));

pub(super) static INFO: EngineInfo = EngineInfo {
    has_procedures: true,
    start: Nanos::ZERO,
    space: Bytes(0),
    warehouse: NOTHING,
    row: NOTHING,
    server: None,
};
