//! A whole plan as a job: the host runs it itself, in step with others, and sends its run file.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use plimsoll_load::clock::Clock;
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::LaneControl;
use tokio::sync::watch;

use crate::journal::SessionJournal;
use crate::protocol::{JobId, MeetingStart, PlanEnd, PlanNews, PlanTask, WorkerReport};

/// Of a run file, in one report.
/// Small enough to arrive on slow links within the silence after which a link is given up.
const PART_BYTES: u64 = 64 << 10;

/// Runs plans: the program that the worker is part of.
pub trait PlanRunner: Send + Sync {
    /// Leaves a run file below `dir`; an error where there is none.
    fn run(&self, task: &PlanTask, together: &Arc<Together>, dir: &Path)
    -> Result<PlanRun, String>;

    /// Ends and removes what a run left whose session was killed; `dir` is as above.
    fn clear(&self, dir: &Path);
}

/// A plan that was run.
pub struct PlanRun {
    pub file: PathBuf,
    /// Neither failed nor interrupted.
    pub is_complete: bool,
}

/// What hosts that run the same plan have in common, seen from one of them.
pub struct Together {
    job: JobId,
    journal: SessionJournal,
    clock: Clock,
    order: watch::Sender<LaneControl>,
    start: watch::Receiver<Option<MeetingStart>>,
    meetings: AtomicU32,
}

impl std::fmt::Debug for Together {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Together")
            .field("job", &self.job)
            .finish_non_exhaustive()
    }
}

impl Together {
    pub(super) fn new(
        job: JobId,
        journal: SessionJournal,
        clock: Clock,
        order: watch::Sender<LaneControl>,
        start: watch::Receiver<Option<MeetingStart>>,
    ) -> Self {
        Self {
            job,
            journal,
            clock,
            order,
            start,
            meetings: AtomicU32::new(0),
        }
    }

    /// The session's, whose distance from the controller's is known.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// What the user wants by now.
    pub fn order(&self) -> watch::Sender<LaneControl> {
        self.order.clone()
    }

    /// A line for whoever waits.
    pub fn progress(&self, text: &str) {
        self.report(PlanNews::Progress(text.to_owned()));
    }

    /// Returns when all hosts begin `what`, once all have come to it. Whoever may be stopped selects on something else.
    pub async fn meet(&self, what: &str) -> Nanos {
        let number = self.meetings.fetch_add(1, Ordering::Relaxed);
        let what = what.to_owned();
        self.report(PlanNews::Meeting { number, what });
        let mut start = self.start.clone();
        let is_own = |start: &Option<MeetingStart>| start.is_some_and(|it| it.number == number);
        match start.wait_for(is_own).await {
            Ok(start) => start.map_or(Nanos::ZERO, |start| start.at),
            // The session ends, and orders the job to stop.
            Err(_) => std::future::pending().await,
        }
    }

    fn report(&self, news: PlanNews) {
        let job = self.job;
        self.journal.add(WorkerReport::Plan { job, news });
    }
}

pub(super) struct PlanJob {
    pub runner: Arc<dyn PlanRunner>,
    pub dir: PathBuf,
    pub together: Together,
}

impl PlanJob {
    pub fn run(self, task: &PlanTask) {
        let together = Arc::new(self.together);
        let run = self.runner.run(task, &together, &self.dir);
        let sent = run.and_then(|run| {
            send(&run.file, &together)
                .map_err(|error| format!("{} cannot be read: {error}", run.file.display()))?;
            Ok(run.is_complete)
        });
        together.report(PlanNews::Ended(match sent {
            Ok(true) => PlanEnd::Complete,
            Ok(false) => PlanEnd::Incomplete,
            Err(why) => PlanEnd::Failed(why),
        }));
    }
}

/// The file stays until its session has been left.
fn send(file: &Path, together: &Together) -> io::Result<()> {
    let mut file = File::open(file)?;
    loop {
        let mut part = Vec::new();
        (&mut file).take(PART_BYTES).read_to_end(&mut part)?;
        if part.is_empty() {
            return Ok(());
        }
        together.report(PlanNews::FilePart(STANDARD.encode(&part)));
    }
}
