//! A session that a fuzzer talks to.

use std::path::Path;

use super::*;
use crate::protocol::{JobId, WorkerReport};

pub struct FuzzedSession(WorkerSession);

impl FuzzedSession {
    pub fn open(journal: &Path) -> Self {
        let journal = SessionJournal::open(journal).expect("a journal");
        (0..3).for_each(|job| journal.add(WorkerReport::Ready { job: JobId(job) }));
        Self(WorkerSession {
            clock: Clock::real(),
            jobs: WorkerJobs::new(journal.clone()),
            journal,
            is_running: false,
            attached: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    pub fn converse(&self, stream: UnixStream) {
        // However it ends.
        let _ = self.0.converse(stream);
    }
}
