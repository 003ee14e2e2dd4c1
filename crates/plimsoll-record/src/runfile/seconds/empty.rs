//! Seconds without outcomes, one for each type of a point.

use std::collections::HashMap;

use crate::hist::CoarseHist;
use crate::lane::Counts;
use crate::{Phase, PhaseId, Point, PointId, Second, SubjectId};
use plimsoll_plan::units::Nanos;
use rusqlite::Row;

use super::super::row::ValueBudget;

/// Of each phase under load, how many transaction types its point has.
pub(in crate::runfile) type Types = HashMap<PhaseId, usize>;

pub(in crate::runfile) fn types(phases: &[Phase], points: &[Point]) -> Types {
    let by_point: HashMap<PointId, usize> = points
        .iter()
        .map(|point| (point.id, point.txns.len()))
        .collect();
    phases
        .iter()
        .filter_map(|phase| Some((phase.id, *by_point.get(&phase.point?)?)))
        .collect()
}

/// A second without outcomes for each type of the tick's point.
pub(super) fn add_empty(
    row: &Row<'_>,
    types: &Types,
    seconds: &mut Vec<Second>,
    budget: &mut ValueBudget,
) -> rusqlite::Result<()> {
    let empty = empty_second(row)?;
    let types = types.get(&empty.phase).copied().unwrap_or_default();
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
