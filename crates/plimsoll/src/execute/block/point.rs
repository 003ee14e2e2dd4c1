//! One point of a block step: a job at full speed or at a rate, measured by fio.

use std::cell::RefCell;

use plimsoll_block::arguments::{Manner, of_file, of_job, seed};
use plimsoll_block::course::Share;
use plimsoll_block::fio::{Flow, command_line};
use plimsoll_block::lane::{self, Links, Task, WorkerTask};
use plimsoll_block::snapshot::Shape;
use plimsoll_load::clock::{Clock, unix_micros};
use plimsoll_model::lane::{LaneControl, LaneEnd};
use plimsoll_model::plan::resolved::{Block, BlockJob, BlockStream, BlockWork};
use plimsoll_model::record::{BlockShare, Point, PointId};
use plimsoll_model::schedule::Timeline;
use plimsoll_model::units::Nanos;
use tokio::sync::watch;

use super::super::lane::relay;
use super::super::recorder::{Desk, Outcome, Recorder};
use super::super::{Course, Execution, Halt};
use super::ground::{Ground, Worker};
use super::{Place, describe};
use crate::progress::block_title;

/// How often it is looked whether a drive is gone.
const LOOK: Nanos = Nanos::from_millis(250);
/// How long fio goes on when nobody ends it: a leftover of a killed run ends as well.
const SPARE: Nanos = Nanos::from_secs(300);

/// What is measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Aim<'a> {
    pub job: &'a BlockJob,
    pub job_index: usize,
    pub round: u32,
    /// Running number in the step and round.
    pub ordinal: u32,
    /// Percent of what the job reached at full speed.
    pub share: Option<f64>,
}

/// Requests per second that a job has reached, of all workers, without flushes.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Speed {
    pub streams: Vec<f64>,
}

impl Speed {
    pub fn total(&self) -> f64 {
        self.streams.iter().sum()
    }

    fn of(job: &BlockJob, shares: &[Share], seconds: f64) -> Self {
        let file = || vec![Block::FILE_TXNS.map(str::to_owned).to_vec()];
        let ops: Vec<Vec<String>> = job.streams.iter().map(BlockStream::ops).collect();
        let mut first = 0;
        let streams = if ops.is_empty() { file() } else { ops }.into_iter().map(|ops| {
            let moves = |txn: usize| ops.get(txn.wrapping_sub(first)).is_some_and(|op| !is_flush(op));
            let requests: u64 = shares.iter().filter(|share| moves(share.txn)).map(|share| share.requests).sum();
            first += ops.len();
            if seconds > 0.0 { requests as f64 / seconds } else { 0.0 }
        });
        Self { streams: streams.collect() }
    }
}

fn is_flush(op: &str) -> bool {
    op == "sync" || op.ends_with(" sync")
}

impl Execution<'_> {
    /// Measures one point. `rates`: requests per second of each stream of each worker; empty for the job's own.
    pub(super) fn block_point(&mut self, place: &Place<'_>, aim: &Aim<'_>, rates: &[f64]) -> Course<Speed> {
        let own = |(i, stream): (usize, &BlockStream)| rates.get(i).copied().or(stream.per_second);
        let rates: Vec<Option<f64>> = aim.job.streams.iter().enumerate().map(own).collect();
        let task = match &place.block.work {
            BlockWork::Jobs(_) => self.task(place, aim, &rates),
            BlockWork::File { path } => file_task(place, aim, path),
        };
        self.run_task(place, aim, &rates, &task)
    }

    fn task(&self, place: &Place<'_>, aim: &Aim<'_>, rates: &[Option<f64>]) -> Task {
        let Place { step, ground, .. } = *place;
        let worker = |(number, worker): (usize, &Worker)| {
            let numbers = [number as u64 + 1, aim.job_index as u64, u64::from(aim.round), u64::from(aim.ordinal)];
            let manner = Manner {
                engine: ground.fio.engine,
                seed: seed(self.seed, &numbers),
                at_most: step.warm + step.measure + SPARE,
                rates: rates.to_vec(),
            };
            WorkerTask { args: of_job(aim.job, &worker.part, &manner), directory: None }
        };
        Task {
            job: aim.job.name.clone(),
            workers: ground.workers.iter().enumerate().map(worker).collect(),
            shape: Shape::of_job(aim.job),
            warm: step.warm,
            measure: step.measure,
            ends: false,
        }
    }

    /// Runs the lane, and keeps what it tells and what each worker did.
    fn run_task(&mut self, place: &Place<'_>, aim: &Aim<'_>, rates: &[Option<f64>], task: &Task) -> Course<Speed> {
        // Asked for when the point before had just come to its end.
        if self.interrupt.is_wanted() {
            return Err(Halt::Interrupted);
        }
        let step_index = self.plan.step_index(&place.step.name);
        let point = describe::point(self.points + 1, step_index, place, aim, rates);
        self.points += 1;
        self.file.point(&point)?;
        self.file.block_point(&describe::block_point(point.id, place, aim, rates))?;
        if let Some(first) = task.workers.first() {
            let fact = (format!("command.{}", aim.job.name), command_line(&first.args));
            self.file.facts(place.ground.subject, &[fact])?;
        }
        let timeline = Timeline { warm: task.warm, measure: known(task), cool: Nanos::ZERO };
        let title = block_title(&point, &aim.job.name, aim.share);
        let title = self.progress.named_point_begins(&title, timeline.load_end());
        let (outcome, shares) = self.drive_fio(place.ground, &point, &title, timeline, task)?;
        self.keep_shares(place.ground, point.id, &outcome, &shares)?;
        self.after_fio(place.ground, outcome.end)?;
        let seconds: f64 = outcome.measured.ticks.iter().map(|(lasted, _)| lasted.as_secs_f64()).sum();
        Ok(Speed::of(aim.job, &shares, seconds))
    }

    /// The lane is on a thread of its own, the recorder on this one.
    fn drive_fio(
        &mut self,
        ground: &Ground,
        point: &Point,
        title: &str,
        timeline: Timeline,
        task: &Task,
    ) -> Course<(Outcome, Vec<Share>)> {
        let (out, messages) = tokio::sync::mpsc::channel(256);
        let user = self.interrupt.subscribe();
        let orders = watch::channel(*user.borrow()).0;
        let (heard, clock) = (orders.subscribe(), self.clock.clone());
        let drives: Vec<_> = ground.media().filter_map(|medium| self.drives.get(medium)).collect();
        let tell_start = watch::channel(None).0;
        let desk = RefCell::new(Desk { file: &mut self.file, inbox: &self.inbox, progress: &mut self.progress });
        let recorder = Recorder::new(&desk, point, timeline, title, tell_start);
        let all = async {
            let drive_fails = async {
                while drives.iter().all(|drive| drive.died().is_none()) {
                    clock.sleep(LOOK).await;
                }
                orders.send_replace(LaneControl::Stop);
                std::future::pending().await
            };
            tokio::select! {
                recorded = recorder.listen(messages, user.clone()) => recorded,
                never = relay(user.clone(), &orders) => never,
                never = drive_fails => never,
            }
        };
        let (outcome, shares) = std::thread::scope(|scope| {
            let lane = scope.spawn(|| run_fio(task, &clock, &heard, out));
            let outcome = clock.block_on(all);
            (outcome, lane.join())
        });
        let outcome = outcome.map_err(|error| Halt::Failed(format!("no runtime for the lane: {error}")))??;
        let shares = shares.map_err(|_| Halt::Failed(format!("{title}: ended by a fault of plimsoll")))?;
        Ok((outcome, shares))
    }

    /// Nothing was measured where the measurement did not begin.
    fn keep_shares(&self, ground: &Ground, point: PointId, outcome: &Outcome, shares: &[Share]) -> Course<()> {
        let measured = !outcome.measured.ticks.is_empty();
        for share in shares.iter().filter(|_| measured) {
            let Share { worker, txn, requests, bytes, response } = share;
            let Some(medium) = ground.workers.get(*worker).map(|worker| worker.medium) else { continue };
            self.file.block_share(&BlockShare {
                point,
                worker: *worker as u32,
                medium,
                txn: *txn as u32,
                requests: *requests,
                bytes: *bytes,
                response: response.clone(),
            })?;
        }
        self.file.commit()?;
        Ok(())
    }

    fn after_fio(&self, ground: &Ground, end: LaneEnd) -> Course<()> {
        // Whatever fio saw, it saw because of it.
        if let Some(why) = self.drive_death(ground) {
            return Err(Halt::Failed(why));
        }
        match end {
            LaneEnd::Complete => Ok(()),
            LaneEnd::Closed | LaneEnd::Stopped => Err(Halt::Interrupted),
            LaneEnd::Failed(why) | LaneEnd::DiskFull { why, .. } => Err(Halt::Failed(why)),
        }
    }
}

/// fio with a job file as it is. It ends by itself, and all of it is measured.
fn file_task(place: &Place<'_>, aim: &Aim<'_>, path: &str) -> Task {
    // It is run in another directory.
    let path = std::path::absolute(path).map_or_else(|_| path.to_owned(), |path| path.display().to_string());
    let worker = |worker: &Worker| WorkerTask { args: of_file(&path), directory: Some(worker.directory.clone()) };
    Task {
        job: aim.job.name.clone(),
        workers: place.ground.workers.iter().map(worker).collect(),
        shape: Shape::Whole,
        warm: Nanos::ZERO,
        measure: Nanos(u64::MAX),
        ends: true,
    }
}

/// A job file that ends by itself ends when it likes.
fn known(task: &Task) -> Nanos {
    if task.ends { Nanos::ZERO } else { task.measure }
}

fn run_fio(
    task: &Task,
    clock: &Clock,
    orders: &watch::Receiver<LaneControl>,
    out: tokio::sync::mpsc::Sender<plimsoll_model::lane::LaneMessage>,
) -> Vec<Share> {
    let now = || clock.now();
    // The wall clock at the run's zero; read anew for each lane, because it may be set.
    let zero = unix_micros() as f64 / 1e3 - clock.now().as_secs_f64() * 1e3;
    let of_unix_ms = |ms: f64| Nanos(((ms - zero).max(0.0) * 1e6) as u64);
    let order = || *orders.borrow();
    let mut tell = |message| if out.blocking_send(message).is_ok() { Flow::GoOn } else { Flow::Stop };
    lane::run(task, Links { now: &now, of_unix_ms: &of_unix_ms, order: &order, tell: &mut tell })
}

#[cfg(test)]
mod tests {
    use plimsoll_model::hist::Hist;
    use plimsoll_model::lane::Arrivals;
    use plimsoll_model::plan::resolved::{Access, SizeShare, SyncPolicy};
    use plimsoll_model::units::Bytes;

    use super::*;

    #[test]
    fn what_a_curve_is_a_share_of_leaves_flushes_out() {
        let size = vec![SizeShare { size: Bytes(4096), percent: 100 }];
        let stream = |name: &str, read_percent| BlockStream {
            name: name.into(),
            read_percent,
            random_percent: 100,
            read_sizes: size.clone(),
            write_sizes: size.clone(),
            depth: 1,
            threads: 1,
            per_second: None,
            arrivals: Arrivals::Constant,
            access: Access::Uniform,
            compressible_percent: 0,
            direct: true,
            sync: SyncPolicy::Flush { every: 1 },
        };
        let job = BlockJob { name: "pair".into(), streams: vec![stream("data", 70), stream("log", 0)], curve: vec![] };
        assert_eq!(job.txns(), ["data read", "data write", "data sync", "log write", "log sync"]);
        let share = |worker, txn, requests| Share { worker, txn, requests, bytes: 0, response: Hist::new() };
        let of = |worker, n| (0..5).map(move |txn| share(worker, txn, n * 10u64.pow(txn as u32))).collect::<Vec<_>>();
        let speed = Speed::of(&job, &[of(0, 1), of(1, 2)].concat(), 2.0);
        assert_eq!(speed.streams, [16.5, 1500.0]);
        assert_eq!(Speed::of(&job, &[], 0.0).total(), 0.0);
    }
}
