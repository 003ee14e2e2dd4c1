//! The jobs of a session: each a thread, whose messages go into the journal.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use plimsoll_load::clock::Clock;
use plimsoll_load::runner::{Gate, run_lane_together};
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::{LaneControl, LaneEnd, LaneMessage, LaneSpec};
use tokio::sync::{mpsc, watch};

use super::plan::{PlanJob, PlanRunner, Together};
use crate::journal::SessionJournal;
use crate::protocol::{HostTask, JobId, MeetingStart, WorkerReport};

pub(super) struct WorkerJobs {
    journal: SessionJournal,
    runner: Arc<dyn PlanRunner>,
    /// Of the session.
    dir: PathBuf,
    jobs: Mutex<HashMap<JobId, RunningJob>>,
}

struct RunningJob {
    start: watch::Sender<Option<Nanos>>,
    meeting: watch::Sender<Option<MeetingStart>>,
    order: watch::Sender<LaneControl>,
    thread: JoinHandle<()>,
}

impl WorkerJobs {
    pub fn new(journal: SessionJournal, runner: Arc<dyn PlanRunner>, dir: &Path) -> Self {
        Self {
            journal,
            runner,
            dir: dir.to_owned(),
            jobs: Mutex::default(),
        }
    }

    fn jobs(&self) -> MutexGuard<'_, HashMap<JobId, RunningJob>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a job unless it has begun.
    pub fn run(&self, job: JobId, task: HostTask, clock: &Clock) -> io::Result<()> {
        let mut jobs = self.jobs();
        if jobs.contains_key(&job) {
            return Ok(());
        }
        let start = watch::channel(None).0;
        let meeting = watch::channel(None).0;
        let order = watch::channel(LaneControl::Run).0;
        let lane = LaneJob {
            job,
            journal: self.journal.clone(),
            clock: clock.clone(),
            start: start.subscribe(),
            order: order.subscribe(),
        };
        let plan = PlanJob {
            runner: self.runner.clone(),
            dir: self.dir.clone(),
            together: Together::new(
                job,
                self.journal.clone(),
                clock.clone(),
                order.clone(),
                meeting.subscribe(),
            ),
        };
        let thread = std::thread::Builder::new()
            .name("plimsoll-job".into())
            .spawn(move || match task {
                HostTask::Lane(task) => lane.run(*task),
                HostTask::Plan(task) => plan.run(&task),
            })?;
        let begun = RunningJob {
            start,
            meeting,
            order,
            thread,
        };
        jobs.insert(job, begun);
        Ok(())
    }

    pub fn start(&self, job: JobId, at: Nanos) {
        if let Some(job) = self.jobs().get(&job) {
            job.start.send_replace(Some(at));
        }
    }

    pub fn meet(&self, job: JobId, meeting: MeetingStart) {
        if let Some(job) = self.jobs().get(&job) {
            job.meeting.send_replace(Some(meeting));
        }
    }

    /// An order does not weaken one that was given before.
    pub fn order(&self, job: JobId, order: LaneControl) {
        if let Some(job) = self.jobs().get(&job) {
            job.order.send_modify(|given| *given = order.max(*given));
        }
    }

    /// Returns when all have ended.
    pub fn stop_all(&self) {
        let jobs = std::mem::take(&mut *self.jobs());
        for job in jobs.values() {
            job.order.send_replace(LaneControl::Stop);
        }
        for job in jobs.into_values() {
            // A job that panicked has printed its message.
            let _ = job.thread.join();
        }
    }
}

struct LaneJob {
    job: JobId,
    journal: SessionJournal,
    clock: Clock,
    start: watch::Receiver<Option<Nanos>>,
    order: watch::Receiver<LaneControl>,
}

impl LaneJob {
    fn run(self, task: LaneSpec) {
        if !task.share.is_valid() || task.connections() == 0 {
            return self.fail("its share of the load is nothing");
        }
        let clock = self.clock.clone();
        if let Err(error) = clock.block_on(self.lane(task)) {
            self.fail(&format!("no runtime for a job: {error}"));
        }
    }

    fn fail(&self, why: &str) {
        self.report(LaneMessage::Ended(LaneEnd::Failed(why.into())));
    }

    fn report(&self, message: LaneMessage) {
        let job = self.job;
        self.journal.add(WorkerReport::Lane { job, message });
    }

    async fn lane(&self, task: LaneSpec) {
        let (out, mut messages) = mpsc::channel(256);
        // The lane, and the controller's start time.
        let gate = Gate::of(2);
        let clock = self.clock.clone();
        let lane = run_lane_together(task, clock, self.order.clone(), out, gate.clone());
        let reports = async {
            while let Some(message) = messages.recv().await {
                self.report(message);
            }
        };
        tokio::select! {
            biased;
            _ = async { tokio::join!(lane, reports) } => {}
            () = self.start_when_ready(&gate) => {}
        }
    }

    /// Never returns: the lane ends by itself.
    async fn start_when_ready(&self, gate: &Gate) {
        gate.others().await;
        self.journal.add(WorkerReport::Ready { job: self.job });
        let mut start = self.start.clone();
        if let Ok(at) = start.wait_for(Option::is_some).await
            && let Some(at) = *at
        {
            gate.open(&self.clock, at);
        }
        std::future::pending().await
    }
}
