//! Committed transactions after a power cut.

use serde::{Deserialize, Serialize};

use crate::PointId;
use crate::message::FirstLost;
use plimsoll_plan::units::Nanos;

/// Committed transactions after the power failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PowerCut {
    pub point: PointId,
    /// When the power failed.
    pub at: Nanos,
    /// From the return of the power until the database took connections again; `None`: it never did.
    pub recovery: Option<Nanos>,
    /// Acknowledged writes that were not flushed when the power failed, and were lost.
    pub lost_writes: u64,
    pub lost_bytes: u64,
    /// Lost writes that a flush had been acknowledged for: the drive lied.
    pub lost_flushed_writes: u64,
    /// Transactions acknowledged to clients before the power failed, by type; those that can be searched for.
    pub receipts: Vec<Receipt>,
}

/// Transactions of one type: those acknowledged to clients, and those in the database after recovery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    pub txn: String,
    /// The database acknowledged their commit.
    pub acknowledged: u64,
    /// Acknowledged ones that are not in the database after recovery.
    pub lost: u64,
    /// In the database without having been acknowledged: they were under way.
    pub in_doubt: u64,
    /// Where the first lost ones were; `None` if none was.
    pub first_lost: Option<FirstLost>,
}
