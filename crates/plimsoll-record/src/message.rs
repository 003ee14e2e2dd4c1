//! Messages of a run, as data: a code and its arguments. One module for each family.
//!
//! A sentence stands only in the catalog of `plimsoll-report`, under the family's name and the code. The names of arguments
//! carry their units (`_bytes`, `_ns`, `_percent`), by which they are formatted. An argument is a value, a name, a number
//! or the output of another program, never a phrase. The variant `Stored` has a sentence as it was recorded, or what is
//! stored of a code that this version does not know.

pub mod check;
pub mod doctor;
pub mod event;
pub mod import;
mod outcome;

pub use check::CheckDetail;
pub use doctor::DoctorFinding;
pub use event::EventKind;
pub use import::{CountsSource, ImportNote, OfferedUnknown};
pub use outcome::{BackupDetail, FirstLost, ResetCheck};
