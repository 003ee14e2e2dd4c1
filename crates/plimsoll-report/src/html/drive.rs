//! The report's tables of emulated drives, power cuts and media side by side.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{Comparison, LadderSummary};

use crate::cut::{self, CutText};
use crate::drives::{self, MemberRow, OpRow};
use crate::message::Messages;
use crate::table::Grid;
use crate::waits::load_and_repeat;
use crate::{compare, ladder};

pub(super) struct ComparisonView {
    pub heading: String,
    pub note: String,
    pub grid: Grid,
}

pub(super) struct CutView<'a> {
    pub cut: CutText<'a>,
    pub receipts: Grid,
}

pub(super) struct DriveView {
    pub heading: String,
    pub drive: String,
    pub grid: Grid,
    /// Of an array or a cluster.
    pub members: Grid,
}

pub(super) fn comparison(m: &Messages, comparison: &Comparison) -> ComparisonView {
    ComparisonView {
        heading: compare::heading(m, comparison),
        note: compare::note(m, comparison),
        grid: compare::table().to_grid(m, &compare::rows(m, comparison)),
    }
}

pub(super) fn cuts<'a>(m: &Messages, summary: &'a Summary) -> Vec<CutView<'a>> {
    let cuts = cut::describe(m, summary).into_iter();
    cuts.map(|cut| CutView {
        receipts: cut::receipts().to_grid(m, cut.receipts),
        cut,
    })
    .collect()
}

/// `None` of a ladder that is on no emulated medium.
pub(super) fn drive(m: &Messages, ladder: &LadderSummary) -> Option<DriveView> {
    let (mut rows, mut members) = (Vec::new(), Vec::new());
    for point in &ladder.points {
        let is_open = point.key.load.is_open();
        let place = load_and_repeat(point);
        if let Some(drive) = &point.drive {
            rows.extend(OpRow::all(place.clone(), is_open, drive));
            members.extend(MemberRow::all(place.clone(), is_open, drive));
        }
    }
    ladder.drive.as_ref().filter(|_| !rows.is_empty())?;
    Some(DriveView {
        heading: ladder::heading(m, ladder),
        drive: ladder::emulated(m, ladder),
        grid: drives::by_load().to_grid(m, &rows),
        members: drives::members_by_load().to_grid(m, &members),
    })
}
