//! Seconds without outcomes, one for each type of a point.

use std::collections::HashMap;

use crate::hist::CoarseHist;
use crate::lane::Counts;
use crate::{Phase, PhaseId, Point, PointId, Second, SubjectId};
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use rusqlite::Row;

use super::super::row::ValueBudget;

/// A phase under load.
#[derive(Debug, Clone, Copy)]
pub(in crate::runfile) struct LoadPhase {
    pub point: PointId,
    pub kind: PhaseKind,
    /// How many transaction types its point has.
    types: usize,
}

pub(in crate::runfile) type LoadPhases = HashMap<PhaseId, LoadPhase>;

pub(in crate::runfile) fn load_phases(phases: &[Phase], points: &[Point]) -> LoadPhases {
    let by_point: HashMap<PointId, usize> = points
        .iter()
        .map(|point| (point.id, point.txns.len()))
        .collect();
    phases
        .iter()
        .filter_map(|phase| {
            let point = phase.point?;
            let load_phase = LoadPhase {
                point,
                kind: phase.kind,
                types: *by_point.get(&point)?,
            };
            Some((phase.id, load_phase))
        })
        .collect()
}

/// A second without outcomes for each type of the tick's point.
pub(super) fn add_empty(
    row: &Row<'_>,
    phases: &LoadPhases,
    seconds: &mut Vec<Second>,
    budget: &mut ValueBudget,
) -> rusqlite::Result<()> {
    let empty = empty_second(row)?;
    let types = phases.get(&empty.phase).map_or(0, |phase| phase.types);
    budget.take("txns", types)?;
    seconds.extend((0..types).map(|txn| Second {
        txn: txn as u32,
        ..empty.clone()
    }));
    Ok(())
}

/// Columns as [`super::seconds`] selects them.
fn empty_second(row: &Row<'_>) -> rusqlite::Result<Second> {
    Ok(Second {
        phase: PhaseId(row.get(0)?),
        subject: SubjectId(row.get(1)?),
        txn: 0,
        start: Nanos(row.get(2)?),
        end: Nanos(row.get(3)?),
        counts: Counts::default(),
        in_flight: row.get(4)?,
        response: CoarseHist::default(),
        service: None,
    })
}
