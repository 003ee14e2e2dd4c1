//! What a run reports in words, as data: a code and its arguments. One module for each family.
//!
//! A sentence stands only in the catalogue of `plimsoll-report`, under the family's name and the code. The names of arguments
//! carry their units (`_bytes`, `_ns`, `_percent`), by which they are formatted. An argument is a value, a name, a number
//! or the output of another program, never a phrase. The variant `Stored` has the text of a run file from before schema 8.

pub mod doctor;
pub mod event;
pub mod import;

pub use doctor::DoctorFinding;
pub use event::EventKind;
pub use import::{CountsSource, ImportNote, OfferedUnknown};
