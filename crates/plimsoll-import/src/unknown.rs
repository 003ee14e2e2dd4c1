//! Information that outputs of other tools lack.

use plimsoll_record::import_facts::note_key;
use plimsoll_record::message::ImportNote;

use super::load::ImportedLoad;

impl ImportedLoad {
    /// What follows from the load itself, once it is complete.
    pub(super) fn note_what_is_missing(&mut self) {
        // No tool reports the machine that its system ran on.
        self.add_missing(ImportNote::EnvironmentUnknown);
        self.add_missing(ImportNote::DurabilityUnknown);
        self.add_missing(ImportNote::DataSizeUnknown);
        self.add_missing(ImportNote::InFlightUnknown);
        if self.started.is_none() {
            self.add_missing(ImportNote::StartTimeUnknown);
        }
        if self.windows.iter().all(Option::is_none) {
            self.add_missing(ImportNote::NoDistribution);
        }
        if self.ticks.len() < 2 {
            self.add_missing(ImportNote::NoIntervals);
        }
        if self.users == 0 {
            self.add_missing(ImportNote::UsersUnknown);
        }
    }

    /// Unless the parser knows more about it.
    fn add_missing(&mut self, note: ImportNote) {
        let key = note_key(&note);
        if self.notes.iter().all(|own| note_key(own) != key) {
            self.notes.push(note);
        }
    }
}
