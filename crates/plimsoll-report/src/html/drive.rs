//! The report's tables of emulated drives, power cuts and media side by side.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{Comparison, Ladder};

use crate::cut::{self, CutText};
use crate::drives::{self, OpRow};
use crate::message::Messages;
use crate::table::Unit::Plain;
use crate::table::{Grid, Table};
use crate::waits::load_and_repeat;
use crate::{compare, ladder, load_summary};

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
}

pub(super) fn comparison(m: &Messages, comparison: &Comparison) -> ComparisonView {
    ComparisonView {
        heading: compare::heading(m, comparison),
        note: compare::note(m, comparison),
        grid: compare::table(comparison).to_grid(m, &compare::rows(m, comparison)),
    }
}

pub(super) fn cuts<'a>(m: &Messages, summary: &'a Summary) -> Vec<CutView<'a>> {
    let view = |cut: CutText<'a>| CutView {
        receipts: cut::receipts().to_grid(m, cut.receipts),
        cut,
    };
    cut::describe(m, summary).into_iter().map(view).collect()
}

/// `None` of a ladder that is on no emulated medium.
pub(super) fn drive(m: &Messages, ladder: &Ladder) -> Option<DriveView> {
    let mut rows = Vec::new();
    for point in &ladder.points {
        let drives = point.drive.iter();
        rows.extend(drives.flat_map(|drive| OpRow::all(load_and_repeat(point), drive)));
    }
    let load = load_summary::load_id(ladder);
    let table = Table::new().column(load, Plain, |r: &OpRow<'_>| r.place.clone());
    let drive = ladder::emulated(m, ladder).filter(|_| !rows.is_empty())?;
    Some(DriveView {
        heading: ladder::heading(m, ladder),
        drive,
        grid: drives::columns(table).to_grid(m, &rows),
    })
}
