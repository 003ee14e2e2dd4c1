//! What data sheets state.

/// A figure of the data sheet with what it holds for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stated {
    pub point: SheetPoint,
    /// IOPS, or bytes per second for the sequential ones.
    pub value: f64,
    pub block: u64,
    pub depth: u32,
    /// Share of the drive that holds data.
    pub fill: f64,
}

/// The four points that data sheets have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SheetPoint {
    SequentialRead,
    SequentialWrite,
    RandomRead,
    RandomWrite,
}

impl SheetPoint {
    pub fn name(self) -> &'static str {
        match self {
            Self::SequentialRead => "sequential read",
            Self::SequentialWrite => "sequential write",
            Self::RandomRead => "random read",
            Self::RandomWrite => "random write",
        }
    }

    pub fn is_sequential(self) -> bool {
        matches!(self, Self::SequentialRead | Self::SequentialWrite)
    }

    pub fn is_read(self) -> bool {
        matches!(self, Self::SequentialRead | Self::RandomRead)
    }
}
