//! Whether two run files hold the same run: one file given twice is no repeat.

use std::hash::{DefaultHasher, Hash, Hasher};

use plimsoll_record::Record;
use plimsoll_record::import_facts::TOOL_FACT;

/// What a run is known by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunIdentity {
    id: String,
    /// Of an imported run a digest of the tool's output, which is the same however often it is imported.
    output: Option<u64>,
}

impl RunIdentity {
    pub fn of(record: &Record) -> Self {
        let is_imported = record.facts.iter().any(|fact| fact.key == TOOL_FACT);
        Self {
            id: record.run.id.clone(),
            output: is_imported.then(|| digest(record)),
        }
    }

    pub fn is_same_run(&self, other: &Self) -> bool {
        self.id == other.id || (self.output.is_some() && self.output == other.output)
    }
}

fn digest(record: &Record) -> u64 {
    let mut hasher = DefaultHasher::new();
    for second in record.seconds.iter() {
        let counts = &second.counts;
        (
            second.start.0,
            second.end.0,
            second.txn,
            counts.committed,
            counts.failed,
            counts.dropped,
        )
            .hash(&mut hasher);
    }
    record
        .windows
        .iter()
        .for_each(|window| (window.response.count(), window.response.sum()).hash(&mut hasher));
    for figure in &record.reported {
        (&figure.source, &figure.txn, &figure.name, &figure.printed).hash(&mut hasher);
    }
    for point in &record.points {
        (&point.workload, point.users, &point.txns, &point.parameters).hash(&mut hasher);
    }
    record
        .blocks
        .iter()
        .for_each(|block| format!("{:?}", block.streams).hash(&mut hasher));
    hasher.finish()
}
