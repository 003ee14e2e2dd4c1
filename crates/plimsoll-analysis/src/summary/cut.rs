//! A power cut: what was lost, and whether it was acknowledged to clients.

use serde::Serialize;

use super::finding::{Finding, FindingKind};
use plimsoll_plan::units::Nanos;
use plimsoll_record::{PowerCut, Receipt, Severity};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CutSummary {
    #[serde(skip)]
    pub at: Nanos,
    /// From the run's start, to the millisecond.
    pub at_ms: u64,
    /// From the return of the power until the database took connections again; `None`: it never did.
    pub recovery_ms: Option<u64>,
    /// Acknowledged writes that had not been flushed, gone with the power.
    pub lost_writes: u64,
    pub lost_bytes: u64,
    /// Of them, those that a flush had been acknowledged for: the drive lied.
    pub lost_flushed_writes: u64,
    /// Sums over all types.
    pub acknowledged: u64,
    pub lost: u64,
    pub in_doubt: u64,
    pub receipts: Vec<Receipt>,
}

impl CutSummary {
    pub(super) fn of(cut: &PowerCut) -> Self {
        let PowerCut {
            point: _,
            at,
            recovery,
            lost_writes,
            lost_bytes,
            lost_flushed_writes,
            receipts,
        } = cut;
        Self {
            at: *at,
            at_ms: at.0 / 1_000_000,
            recovery_ms: recovery.map(|time| time.0 / 1_000_000),
            lost_writes: *lost_writes,
            lost_bytes: *lost_bytes,
            lost_flushed_writes: *lost_flushed_writes,
            acknowledged: sum(receipts, |receipt| receipt.acknowledged),
            lost: sum(receipts, |receipt| receipt.lost),
            in_doubt: sum(receipts, |receipt| receipt.in_doubt),
            receipts: receipts.clone(),
        }
    }
}

/// Acknowledged transactions that are missing, by type; and that nothing was evaluated if none were acknowledged.
pub(super) fn findings(cut: &CutSummary) -> Vec<Finding> {
    let lost = cut.receipts.iter().filter(|receipt| receipt.lost > 0);
    let mut found: Vec<Finding> = lost.map(committed_lost).collect();
    if cut.recovery_ms.is_none() {
        found.push(Finding {
            severity: Severity::Error,
            kind: FindingKind::NotRecovered,
        });
    } else if found.is_empty() && cut.acknowledged == 0 {
        found.push(Finding {
            severity: Severity::Warning,
            kind: FindingKind::CutNotEvaluated,
        });
    }
    found
}

fn sum(receipts: &[Receipt], of: fn(&Receipt) -> u64) -> u64 {
    let counts = receipts.iter().map(of);
    counts.fold(0, u64::saturating_add)
}

fn committed_lost(receipt: &Receipt) -> Finding {
    let Receipt {
        txn,
        acknowledged,
        lost,
        in_doubt: _,
        first_lost,
    } = receipt.clone();
    Finding {
        severity: Severity::Error,
        kind: FindingKind::CommittedLost {
            txn,
            lost,
            acknowledged,
            first_lost,
        },
    }
}

/// The power failed as planned: a phase that ended with it and connections that it took do not affect the figures
/// from before.
pub(super) fn excuse(finding: &mut Finding, cut: &CutSummary) {
    let expected = match &finding.kind {
        FindingKind::PhaseIncomplete { .. } | FindingKind::NotDrained { .. } => {
            finding.severity == Severity::Warning
        }
        // However long: the plan ordered it.
        FindingKind::ServerAway { .. } => true,
        FindingKind::Event { at_s, .. } => {
            *at_s >= cut.at.as_secs_f64() && finding.severity == Severity::Warning
        }
        _ => false,
    };
    if expected {
        finding.severity = Severity::Note;
    }
}
