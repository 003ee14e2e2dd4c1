//! What a run reports in words, as data: a code and its arguments. One module for each family.
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

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use check::CheckDetail;
pub use doctor::DoctorFinding;
pub use event::EventKind;
pub use import::{CountsSource, ImportNote, OfferedUnknown};
pub use outcome::{BackupDetail, FirstLost, ResetCheck};

/// A column of a run file: a JSON object of `code` and `args`.
pub(crate) fn to_column(message: &impl Serialize) -> String {
    serde_json::json!(message).to_string()
}

/// From [`to_column`]; a code that this version does not know is kept as it stands.
pub(crate) fn of_column<T: DeserializeOwned>(column: String, stored: fn(String) -> T) -> T {
    serde_json::from_str(&column).unwrap_or_else(|_| stored(column))
}

/// Empty where there is none.
pub(crate) fn to_optional_column(message: Option<&impl Serialize>) -> String {
    message.map(to_column).unwrap_or_default()
}

pub(crate) fn of_optional_column<T: DeserializeOwned>(
    column: String,
    stored: fn(String) -> T,
) -> Option<T> {
    (!column.is_empty()).then(|| of_column(column, stored))
}
