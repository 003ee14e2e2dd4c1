//! A chart of block I/O: its place in the island, and its title.

use crate::document::{ReportBlock, ScriptChart};

pub(super) struct ChartView {
    pub kind: &'static str,
    /// Index into the blocks of the island.
    pub block: usize,
    /// Index into the charts of this kind of the block.
    pub place: usize,
    /// Index into the block's media, where the chart is about one of them.
    pub medium: usize,
    pub title: String,
}

impl From<ChartView> for ReportBlock {
    fn from(own: ChartView) -> Self {
        Self::Chart(ScriptChart {
            title: own.title,
            data: vec![
                ("chart", own.kind.to_owned()),
                ("block", own.block.to_string()),
                ("place", own.place.to_string()),
                ("medium", own.medium.to_string()),
            ],
        })
    }
}
