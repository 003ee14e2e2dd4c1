//! One point of a block step: a job at full speed or at a rate, measured by fio.

use std::cell::RefCell;

use plimsoll_block::arguments::{Manner, of_job, seed};
use plimsoll_block::fio::{FioCommand, Flow, command_line};
use plimsoll_block::interval_assembler::Share;
use plimsoll_block::lane::{self, Links, Task};
use plimsoll_block::snapshot::Shape;
use plimsoll_load::clock::{Clock, unix_micros};
use plimsoll_plan::resolved::{Block, BlockJob, BlockStream, BlockWork};
use plimsoll_plan::schedule::Timeline;
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::{LaneControl, LaneEnd, LaneMessage};
use plimsoll_record::{BlockShare, Point, PointId};
use tokio::sync::{mpsc, watch};

use super::super::drives::MountedDrive;
use super::super::error::{RunError, StepResult};
use super::super::execution::Execution;
use super::super::lane::Orders;
use super::super::recorder::{LaneRecorder, LaneResult, StartTime};
use super::context::{BlockContext, BlockPointSpec};
use super::describe;
use super::target::BlockTarget;
use crate::progress::{block_title, is_flush};

/// How often the drives are checked during a point.
const POLL_INTERVAL: Nanos = Nanos::from_millis(250);
/// How often an emulator is looked for after fio failed on its drive: two seconds.
const DEATH_POLLS: u32 = 8;
/// How long fio runs beyond its time without an order to stop: fio left by a killed run ends as well.
const SPARE: Nanos = Nanos::from_secs(300);

/// Requests per second that a job has reached, of all workers, without flushes.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct RequestRates {
    pub streams: Vec<f64>,
}

impl RequestRates {
    pub fn total(&self) -> f64 {
        self.streams.iter().sum()
    }

    fn of(job: &BlockJob, shares: &[Share], seconds: f64) -> Self {
        let file = || vec![Block::FILE_TXNS.map(str::to_owned).to_vec()];
        let ops: Vec<Vec<String>> = job.streams.iter().map(BlockStream::ops).collect();
        let mut first = 0;
        let streams = if ops.is_empty() { file() } else { ops }
            .into_iter()
            .map(|ops| {
                let moves = |txn: usize| {
                    ops.get(txn.wrapping_sub(first))
                        .is_some_and(|op| !is_flush(op))
                };
                let requests: u64 = shares
                    .iter()
                    .filter(|share| moves(share.txn))
                    .map(|share| share.requests)
                    .sum();
                first += ops.len();
                if seconds > 0.0 {
                    requests as f64 / seconds
                } else {
                    0.0
                }
            });
        Self {
            streams: streams.collect(),
        }
    }
}

/// What fio's lane has left.
struct FioResult {
    lane: LaneResult,
    shares: Vec<Share>,
}

impl Execution<'_> {
    /// Measures one point. `rates`: requests per second of each stream of each worker; empty for the job's own.
    pub(super) fn block_point(
        &mut self,
        context: &BlockContext<'_>,
        spec: &BlockPointSpec<'_>,
        rates: &[f64],
    ) -> StepResult<RequestRates> {
        let streams = spec.job.streams.iter().enumerate();
        let rates: Vec<Option<f64>> = streams
            .map(|(i, stream)| rates.get(i).copied().or(stream.per_second))
            .collect();
        let task = match &context.block.work {
            BlockWork::Jobs(_) => self.task(context, spec, &rates),
            BlockWork::File { .. } => file_task(context, spec),
        };
        self.run_task(context, spec, &rates, &task)
    }

    fn task(
        &self,
        context: &BlockContext<'_>,
        spec: &BlockPointSpec<'_>,
        rates: &[Option<f64>],
    ) -> Task {
        let BlockContext { step, target, .. } = *context;
        Task {
            job: spec.job.name.clone(),
            workers: target
                .workers
                .iter()
                .enumerate()
                .map(|(number, worker)| {
                    let numbers = [
                        number as u64 + 1,
                        spec.job_index as u64,
                        u64::from(spec.round),
                        u64::from(spec.ordinal),
                    ];
                    let manner = Manner {
                        engine: target.fio.engine,
                        seed: seed(self.seed, &numbers),
                        at_most: step.warm + step.measure + SPARE,
                        rates: rates.to_vec(),
                    };
                    FioCommand {
                        args: of_job(spec.job, &worker.part, &manner),
                        directory: Some(worker.part.directory.clone()),
                        writable: vec![worker.part.path()],
                        ..FioCommand::default()
                    }
                })
                .collect(),
            shape: Shape::of_job(spec.job),
            warm: step.warm,
            measure: step.measure,
            ends: false,
        }
    }

    /// Runs the lane; records its messages and the share of each worker.
    fn run_task(
        &mut self,
        context: &BlockContext<'_>,
        spec: &BlockPointSpec<'_>,
        rates: &[Option<f64>],
        task: &Task,
    ) -> StepResult<RequestRates> {
        // Ctrl-C at the end of the previous point.
        if self.interrupt.is_wanted() {
            return Err(RunError::Interrupted);
        }
        let step_index = context.id.index() as u32;
        let point = describe::point(self.points + 1, step_index, context, spec, rates);
        self.points += 1;
        self.file.point(&point)?;
        self.file
            .block_point(&describe::block_point(point.id, context, spec, rates))?;
        if let Some(first) = task.workers.first() {
            let fact = (
                format!("command.{}", spec.job.name),
                command_line(&first.args),
            );
            self.file.facts(context.target.subject, &[fact])?;
        }
        let timeline = Timeline {
            warm: task.warm,
            measure: known_duration(task),
            cool: Nanos::ZERO,
        };
        let title = block_title(&point, &spec.job.name, spec.share);
        let title = self
            .progress
            .named_point_begins(&title, timeline.load_end());
        self.meet_others(&title)?;
        let FioResult { lane, shares } =
            self.drive_fio(context.target, &point, &title, timeline, task)?;
        self.record_shares(context.target, point.id, &lane, &shares)?;
        self.after_fio(context.target, lane.end)?;
        self.expect_in_time(context.target.media(), &title, &[point.id])?;
        self.expect_required(&[point.id])?;
        let seconds: f64 = lane
            .measured
            .ticks
            .iter()
            .map(|(lasted, _)| lasted.as_secs_f64())
            .sum();
        Ok(RequestRates::of(spec.job, &shares, seconds))
    }

    /// The lane is on a thread of its own, the recorder on this one.
    fn drive_fio(
        &mut self,
        target: &BlockTarget,
        point: &Point,
        title: &str,
        timeline: Timeline,
        task: &Task,
    ) -> StepResult<FioResult> {
        let (out, messages) = mpsc::channel(256);
        let parts = self.parts();
        let clock = parts.clock;
        let orders = Orders::of(parts.interrupt);
        let control = orders.of_lane();
        let drives: Vec<&MountedDrive> = target
            .media()
            .filter_map(|medium| parts.drives.get(&medium))
            .collect();
        let sink = RefCell::new(parts.sink);
        let recorder = LaneRecorder::new(&sink, point, timeline, title, StartTime::default());
        let stopped = async {
            while drives.iter().all(|drive| drive.died().is_none()) {
                clock.sleep(POLL_INTERVAL).await;
            }
            orders.stop();
        };
        let recorded = orders.beside(recorder.record(messages, orders.of_user()), stopped);
        std::thread::scope(|scope| {
            let lane = scope.spawn(|| run_fio(task, clock, &control, out));
            let result = clock.block_on(recorded);
            let shares = lane.join();
            let result = result
                .map_err(|error| RunError::failed(format!("no runtime for the lane: {error}")))??;
            let shares = shares
                .map_err(|_| RunError::failed(format!("{title}: ended by a fault of plimsoll")))?;
            Ok(FioResult {
                lane: result,
                shares,
            })
        })
    }

    /// Records the shares of the workers, unless the measurement never began.
    fn record_shares(
        &self,
        target: &BlockTarget,
        point: PointId,
        result: &LaneResult,
        shares: &[Share],
    ) -> StepResult<()> {
        let measured = !result.measured.ticks.is_empty();
        for share in shares.iter().filter(|_| measured) {
            let Share {
                worker,
                txn,
                requests,
                bytes,
                response,
            } = share;
            let Some(medium) = target.workers.get(*worker).map(|worker| worker.medium) else {
                continue;
            };
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

    /// fio reads the error of a dead drive before plimsoll hears of the emulator's end.
    fn wait_for_drive_death(&self, target: &BlockTarget) {
        let is_emulated = |medium| self.drives.contains_key(&medium);
        if !target.media().any(is_emulated) {
            return;
        }
        // Without a runtime the error of fio stands.
        let _ = self.clock.block_on(async {
            for _ in 0..DEATH_POLLS {
                if self.drive_death(target).is_some() {
                    return;
                }
                self.clock.sleep(POLL_INTERVAL).await;
            }
        });
    }

    fn after_fio(&self, target: &BlockTarget, end: LaneEnd) -> StepResult<()> {
        if matches!(end, LaneEnd::Failed(_)) {
            self.wait_for_drive_death(target);
        }
        // fio's error is only a consequence of the drive's failure.
        if let Some(why) = self.drive_death(target) {
            return Err(RunError::failed(why));
        }
        match end {
            LaneEnd::Complete => Ok(()),
            LaneEnd::Closed | LaneEnd::Stopped => Err(RunError::Interrupted),
            LaneEnd::Failed(why) | LaneEnd::DiskFull { why, .. } => Err(RunError::failed(why)),
        }
    }
}

/// fio with a job file. It ends by itself, and all of it is measured.
fn file_task(context: &BlockContext<'_>, spec: &BlockPointSpec<'_>) -> Task {
    let target = context.target;
    let workers = target.workers.iter();
    Task {
        job: spec.job.name.clone(),
        workers: workers
            .map(|worker| target.job_file_command(worker))
            .collect(),
        shape: Shape::Whole,
        warm: Nanos::ZERO,
        measure: Nanos(u64::MAX),
        ends: true,
    }
}

/// Length of the measurement; zero if unknown, because the job file ends by itself.
fn known_duration(task: &Task) -> Nanos {
    if task.ends { Nanos::ZERO } else { task.measure }
}

fn run_fio(
    task: &Task,
    clock: &Clock,
    orders: &watch::Receiver<LaneControl>,
    out: mpsc::Sender<LaneMessage>,
) -> Vec<Share> {
    let now = || clock.now();
    // The wall clock at the run's zero; read anew for each lane, because it may be set.
    let zero = unix_micros() as f64 / 1e3 - clock.now().as_secs_f64() * 1e3;
    let of_unix_ms = |ms: f64| Nanos(((ms - zero).max(0.0) * 1e6) as u64);
    let order = || *orders.borrow();
    let mut send = |message| {
        if out.blocking_send(message).is_ok() {
            Flow::GoOn
        } else {
            Flow::Stop
        }
    };
    lane::run(
        task,
        Links {
            now: &now,
            of_unix_ms: &of_unix_ms,
            order: &order,
            send: &mut send,
        },
    )
}

#[cfg(test)]
mod tests {
    use plimsoll_plan::load::Arrivals;
    use plimsoll_plan::resolved::{Access, SizeShare, SyncPolicy};
    use plimsoll_plan::units::Bytes;
    use plimsoll_record::hist::Hist;

    use super::*;

    #[test]
    fn the_speed_of_a_job_excludes_flushes() {
        let size = vec![SizeShare {
            size: Bytes(4096),
            percent: 100,
        }];
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
        let job = BlockJob {
            name: "pair".into(),
            streams: vec![stream("data", 70), stream("log", 0)],
            curve: vec![],
        };
        assert_eq!(
            job.txns(),
            [
                "data read",
                "data write",
                "data sync",
                "log write",
                "log sync"
            ]
        );
        let share = |worker, txn, requests| Share {
            worker,
            txn,
            requests,
            bytes: 0,
            response: Hist::new(),
        };
        let of = |worker, n| {
            (0..5)
                .map(move |txn| share(worker, txn, n * 10u64.pow(txn as u32)))
                .collect::<Vec<_>>()
        };
        let speed = RequestRates::of(&job, &[of(0, 1), of(1, 2)].concat(), 2.0);
        assert_eq!(speed.streams, [16.5, 1500.0]);
        assert_eq!(RequestRates::of(&job, &[], 0.0).total(), 0.0);
    }
}
