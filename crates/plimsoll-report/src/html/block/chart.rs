//! A chart of block I/O: its place in the island, and its title.

pub(in crate::html) struct ChartView {
    pub kind: &'static str,
    /// Index into the blocks of the island.
    pub block: usize,
    /// Index into the charts of this kind of the block.
    pub place: usize,
    /// Index into the block's media, where the chart is about one of them.
    pub medium: usize,
    pub title: String,
}
