//! A session that a fuzzer talks to.

use std::path::Path;

use super::*;
use crate::protocol::{JobId, PlanTask, WorkerReport};

/// Of a session that has ended no plan is asked for.
struct NoPlans;

impl PlanRunner for NoPlans {
    fn run(&self, _: &PlanTask, _: &Arc<Together>, _: &Path) -> Result<PlanRun, String> {
        Err("no plans".into())
    }

    fn clear(&self, _: &Path) {}
}

pub struct FuzzedSession(WorkerSession);

impl FuzzedSession {
    pub fn open(path: &Path) -> Self {
        let journal = SessionJournal::open(path).expect("a journal");
        (0..3).for_each(|job| journal.add(WorkerReport::Ready { job: JobId(job) }));
        Self(WorkerSession {
            clock: Clock::real(),
            jobs: WorkerJobs::new(journal.clone(), Arc::new(NoPlans), path),
            journal,
            probe: Mutex::default(),
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
