//! That nothing here is a TPC result.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::FigureId;

use crate::document::{ReportBlock, ReportSection};
use crate::message::Messages;

/// `None` where nothing could be taken for one.
pub(crate) fn section(m: &Messages, summary: &Summary) -> Option<ReportSection> {
    let mut section = ReportSection::bare("tpc").attached();
    section.both(ReportBlock::note(m.text("not-tpc")));
    has_tpcc(summary).then_some(section)
}

/// Whether anything here could be taken for a TPC result; true where nothing was measured, since the load is unknown then.
pub(super) fn has_tpcc(summary: &Summary) -> bool {
    if is_without_transactions(summary) {
        return false;
    }
    summary
        .figures
        .points()
        .any(|point| point.value(FigureId::Tpm).is_some())
        || !summary
            .figures
            .points()
            .any(|point| point.value(FigureId::Transactions).is_some())
}

/// Block I/O and backups have no transactions.
pub(crate) fn is_without_transactions(summary: &Summary) -> bool {
    summary.figures.ladders.is_empty()
        && !(summary.figures.blocks.is_empty() && summary.figures.backups.is_empty())
}
