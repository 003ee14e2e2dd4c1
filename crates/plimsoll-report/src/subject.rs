//! Names of what a record is about.

use plimsoll_record::{Record, SubjectId};

/// Empty where the record does not have it.
pub(crate) fn name(record: &Record, id: SubjectId) -> &str {
    let mut subjects = record.subjects.iter();
    subjects
        .find(|subject| subject.id == id)
        .map_or("", |subject| &subject.name)
}
