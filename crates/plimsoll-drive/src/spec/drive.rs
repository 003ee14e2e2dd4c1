//! A drive, resolved.

use plimsoll_plan::assembly::DriveAssembly;
use plimsoll_plan::units::Bytes;

use super::file::{DriveClass, DriveFile};
use super::mechanism::{Mechanism, Watts, WriteCache};
use super::sheet::Stated;

/// A drive as the model takes it.
#[derive(Debug, Clone, PartialEq)]
pub struct DriveSpec {
    /// Name of its file without `.toml`.
    pub id: String,
    /// As people call it: `Kingston DC1500M 960 GB`.
    pub title: String,
    pub capacity: Bytes,
    pub write_cache: WriteCache,
    pub kind: DriveClass,
    /// The file it was made from.
    pub file: DriveFile,
    pub mechanism: Mechanism,
    /// Several drives; all but the capacity and the title is about the first of them.
    pub assembly: Option<DriveAssembly>,
    /// Its drives in turn, the last one for all that follow (see [`Self::drive`]); none of a drive by itself.
    pub drives: Vec<Self>,
    /// All times of the mechanism count so many times; 1 is the drive as it is rated.
    pub slower: f64,
    /// What the maker states, to be compared with.
    pub stated: Vec<Stated>,
    pub watts: Option<Watts>,
    /// Terabytes that may be written in all, stated or computed from drive writes per day.
    pub tbw: Option<f64>,
    /// How long it is to last, in years.
    pub years: Option<f64>,
}
