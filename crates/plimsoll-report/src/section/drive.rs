//! What emulated drives were asked for under each load.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::LadderSummary;

use crate::document::{ReportBlock, ReportSection};
use crate::drives::{self, MemberRow, OpRow};
use crate::ladder;
use crate::message::Messages;
use crate::table::Table;
use crate::waits::load_and_repeat;

/// `None` where no ladder is on an emulated medium.
pub(crate) fn section(m: &Messages, summary: &Summary) -> Option<ReportSection> {
    let mut section = ReportSection::new("drives", m.text("drive-title"));
    section.page(ReportBlock::note(m.text("drive-note")));
    for ladder in &summary.figures.ladders {
        add(m, ladder, &mut section);
    }
    section.if_filled()
}

fn add(m: &Messages, ladder: &LadderSummary, section: &mut ReportSection) {
    let (mut rows, mut of_members) = (Vec::new(), Vec::new());
    for point in &ladder.points {
        let is_open = point.key.load.is_open();
        let place = load_and_repeat(point);
        if let Some(drive) = &point.drive {
            rows.extend(OpRow::all(place.clone(), is_open, drive));
            of_members.extend(MemberRow::all(place.clone(), is_open, drive));
        }
    }
    if ladder.drive.is_none() || rows.is_empty() {
        return;
    }
    let heading = ladder::heading(m, ladder);
    let table = ReportBlock::grid(m, &heading, &drives::by_load(), &rows);
    section.page(ReportBlock::heading(heading));
    section.page(ReportBlock::styled("emulated", ladder::emulated(m, ladder)));
    section.page(table);
    for block in members(m, &drives::members_by_load(), &of_members) {
        section.page(block);
    }
}

/// The drives of arrays, below a note; nothing where there are none.
pub(super) fn members<'a>(
    m: &Messages,
    table: &Table<'_, MemberRow<'a>>,
    rows: &[MemberRow<'a>],
) -> Vec<ReportBlock> {
    if rows.is_empty() {
        return Vec::new();
    }
    let label = m.text("drive-members");
    vec![
        ReportBlock::note(m.text("drive-members-note")),
        ReportBlock::grid(m, &label, table, rows),
    ]
}
