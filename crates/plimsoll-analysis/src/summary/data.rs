//! Whether a system's data set was loaded for the run.

use serde::Serialize;

use super::index::Index;
use plimsoll_record::SubjectId;

/// A fact of a system: `fresh` or `reused`.
pub const DATA_FACT: &str = "data";
pub const FRESH: &str = "fresh";
pub const REUSED: &str = "reused";
/// A fact of a system whose data were reused: New-Orders since they were loaded.
pub const ORDERS_ADDED_FACT: &str = "data_orders_added";

/// The data set of a system when the run began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "data", rename_all = "snake_case")]
pub enum DataState {
    Fresh,
    /// Loaded by an earlier run, and changed by it. `orders_added`: by so many orders; `None`: not counted.
    Reused {
        orders_added: Option<u64>,
    },
}

/// `None`: not recorded, as in older runs and for systems without data.
pub(super) fn state(index: &Index, system: SubjectId) -> Option<DataState> {
    match index.fact(system, DATA_FACT)? {
        FRESH => Some(DataState::Fresh),
        REUSED => Some(DataState::Reused {
            orders_added: index
                .fact(system, ORDERS_ADDED_FACT)
                .and_then(|n| n.parse().ok()),
        }),
        _ => None,
    }
}
