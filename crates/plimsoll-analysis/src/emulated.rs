//! What a run's figures are compared with that only models of drives know: this crate has none.

use crate::full_speed::FullSpeed;

/// Of the emulated drives of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EmulatedDrives {
    pub full_speed: FullSpeed,
    pub data_sheets: Vec<DataSheet>,
    /// Pairs of media, of which none may come out the wrong way round.
    pub orders: Vec<DriveOrder>,
}

/// Two media whose models say which one is faster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriveOrder {
    /// Its drive is at least as fast for every kind of request.
    pub faster: String,
    pub slower: String,
}

/// What the maker states of the drive that is emulated on a medium, at the speed at which it ran.
#[derive(Debug, Clone, PartialEq)]
pub struct DataSheet {
    pub medium: String,
    pub rates: Vec<StatedRate>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StatedRate {
    pub is_read: bool,
    pub is_sequential: bool,
    pub block_bytes: u64,
    pub in_flight: u32,
    /// Bytes where it is sequential, else requests.
    pub per_second: f64,
}
