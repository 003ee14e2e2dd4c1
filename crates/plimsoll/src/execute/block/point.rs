//! One point of a block step: a job at full speed or at a rate, measured by fio.

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

use super::super::abort::{expect_in_time, expect_required};
use super::super::drives::Drives;
use super::super::error::{RunError, StepResult};
use super::super::orders::Orders;
use super::super::recorder::{LaneRecorder, LaneResult, StartTime};
use super::super::run::RunContext;
use super::context::{BlockContext, BlockPointSpec};
use super::describe;
use super::target::Worker;
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

    fn new(job: &BlockJob, shares: &[Share], seconds: f64) -> Self {
        let mut ops: Vec<Vec<String>> = job.streams.iter().map(BlockStream::ops).collect();
        if ops.is_empty() {
            ops = vec![Block::FILE_TXNS.map(str::to_owned).to_vec()];
        }
        let mut first = 0;
        let mut streams = Vec::new();
        for ops in ops {
            let moves_bytes = |share: &&Share| {
                let op = ops.get(share.txn.wrapping_sub(first));
                op.is_some_and(|op| !is_flush(op))
            };
            let requests: u64 = shares
                .iter()
                .filter(moves_bytes)
                .map(|share| share.requests)
                .sum();
            first += ops.len();
            streams.push(if seconds > 0.0 {
                requests as f64 / seconds
            } else {
                0.0
            });
        }
        Self { streams }
    }
}

/// Outcome of fio's lane.
struct FioResult {
    lane: LaneResult,
    shares: Vec<Share>,
}

/// Measures the points of a block step.
pub(super) struct BlockRunner<'r> {
    pub run: RunContext<'r>,
    pub drives: &'r Drives<'r>,
    pub context: BlockContext<'r>,
}

impl BlockRunner<'_> {
    /// Measures one point; records its lane's messages and the share of each worker. `rates`: requests per second of each
    /// stream of each worker; empty for the job's.
    pub fn measure(&self, spec: &BlockPointSpec<'_>, rates: &[f64]) -> StepResult<RequestRates> {
        // Ctrl-C at the end of the previous point.
        self.run.expect_uninterrupted()?;
        let streams = spec.job.streams.iter().enumerate();
        let rates: Vec<Option<f64>> = streams
            .map(|(i, stream)| rates.get(i).copied().or(stream.per_second))
            .collect();
        let task = match &self.context.block.work {
            BlockWork::Jobs(_) => self.job_task(spec, &rates),
            BlockWork::File { .. } => self.file_task(spec),
        };
        let point = self.begin_point(spec, &rates, &task)?;
        let timeline = Timeline {
            warm: task.warm,
            measure: known_duration(&task),
            cool: Nanos::ZERO,
        };
        let title = block_title(&point, &spec.job.name, spec.share);
        let progress = self.run.log.progress();
        let title = progress.named_point_begins(&title, timeline.load_end());
        self.run.meet_others(&title)?;
        let FioResult { lane, shares } = self.drive_fio(&point, &title, timeline, &task)?;
        self.record_shares(point.id, &lane, &shares)?;
        self.expect_complete(lane.end)?;
        let media = self.context.target.media();
        expect_in_time(self.run, media, &title, &[point.id])?;
        expect_required(self.run, &[point.id])?;
        let seconds: f64 = lane
            .measured
            .ticks
            .iter()
            .map(|(lasted, _)| lasted.as_secs_f64())
            .sum();
        Ok(RequestRates::new(spec.job, &shares, seconds))
    }

    /// fio with a job of the plan for each worker.
    fn job_task(&self, spec: &BlockPointSpec<'_>, rates: &[Option<f64>]) -> Task {
        let BlockContext { step, target, .. } = self.context;
        let command = |(number, worker): (usize, &Worker)| {
            let numbers = [
                number as u64 + 1,
                spec.job_index as u64,
                u64::from(spec.round),
                u64::from(spec.ordinal),
            ];
            let manner = Manner {
                engine: target.fio.engine,
                seed: seed(self.run.job.seed, &numbers),
                at_most: step.warm + step.measure + SPARE,
                rates: rates.to_vec(),
            };
            FioCommand {
                args: of_job(spec.job, &worker.part, &manner),
                directory: Some(worker.part.directory.clone()),
                writable: vec![worker.part.path()],
                ..FioCommand::default()
            }
        };
        Task {
            job: spec.job.name.clone(),
            workers: target.workers.iter().enumerate().map(command).collect(),
            shape: Shape::of_job(spec.job),
            warm: step.warm,
            measure: step.measure,
            ends: false,
        }
    }

    /// fio with a job file. It ends by itself, and all of it is measured.
    fn file_task(&self, spec: &BlockPointSpec<'_>) -> Task {
        let target = self.context.target;
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

    /// Records the point with the command of its first worker.
    fn begin_point(
        &self,
        spec: &BlockPointSpec<'_>,
        rates: &[Option<f64>],
        task: &Task,
    ) -> StepResult<Point> {
        let log = self.run.log;
        let point = describe::point(log.next_point(), &self.context, spec, rates);
        log.begin_point(&point)?;
        let block_point = describe::block_point(point.id, &self.context, spec, rates);
        log.file().block_point(&block_point)?;
        if let Some(first) = task.workers.first() {
            let key = format!("command.{}", spec.job.name);
            let command = command_line(&first.args);
            log.fact(self.context.target.subject, &key, &command)?;
        }
        Ok(point)
    }

    /// Runs the lane on another thread, the recorder on this one.
    fn drive_fio(
        &self,
        point: &Point,
        title: &str,
        timeline: Timeline,
        task: &Task,
    ) -> StepResult<FioResult> {
        let (out, messages) = mpsc::channel(256);
        let log = self.run.log;
        let clock = log.clock();
        let orders = Orders::new(self.run.interrupt);
        let control = orders.lane_orders();
        let recorder = LaneRecorder::new(log, point, timeline, title, StartTime::default());
        let stopped = async {
            while self.drive_death().is_none() {
                clock.sleep(POLL_INTERVAL).await;
            }
            orders.stop();
        };
        let recorded = orders.beside(recorder.record(messages, orders.user_orders()), stopped);
        std::thread::scope(|scope| {
            let lane = scope.spawn(|| run_fio(task, clock, &control, out));
            let result = log.block_on(recorded);
            let shares = lane.join();
            let lane = result??;
            let shares = shares
                .map_err(|_| RunError::failed(format!("{title}: ended by a fault of plimsoll")))?;
            Ok(FioResult { lane, shares })
        })
    }

    /// Records the shares of the workers, unless the measurement never began.
    fn record_shares(
        &self,
        point: PointId,
        result: &LaneResult,
        shares: &[Share],
    ) -> StepResult<()> {
        let file = self.run.log.file();
        let measured = !result.measured.ticks.is_empty();
        for share in shares.iter().filter(|_| measured) {
            let Share {
                worker,
                txn,
                requests,
                bytes,
                response,
            } = share;
            let Some(Worker { medium, .. }) = self.context.target.workers.get(*worker) else {
                continue;
            };
            file.block_share(&BlockShare {
                point,
                worker: *worker as u32,
                medium: *medium,
                txn: *txn as u32,
                requests: *requests,
                bytes: *bytes,
                response: response.clone(),
            })?;
        }
        Ok(file.commit()?)
    }

    fn drive_death(&self) -> Option<String> {
        self.context.target.drive_death(self.drives)
    }

    /// fio reads the error of a dead drive before plimsoll hears of the emulator's end.
    fn wait_for_drive_death(&self) {
        let mut media = self.context.target.media();
        if !media.any(|medium| self.drives.is_mounted(medium)) {
            return;
        }
        let log = self.run.log;
        // Without a runtime the error of fio stands.
        let _ = log.block_on(async {
            for _ in 0..DEATH_POLLS {
                if self.drive_death().is_some() {
                    return;
                }
                log.clock().sleep(POLL_INTERVAL).await;
            }
        });
    }

    /// An error with the reason, unless the lane is complete.
    fn expect_complete(&self, end: LaneEnd) -> StepResult<()> {
        if matches!(end, LaneEnd::Failed(_)) {
            self.wait_for_drive_death();
        }
        // fio's error is only a consequence of the drive's failure.
        if let Some(why) = self.drive_death() {
            return Err(RunError::failed(why));
        }
        match end {
            LaneEnd::Complete => Ok(()),
            LaneEnd::Closed | LaneEnd::Stopped => Err(RunError::Interrupted),
            LaneEnd::Failed(why) | LaneEnd::DiskFull { why, .. } => Err(RunError::failed(why)),
        }
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
        let shares = |worker, n| {
            (0..5)
                .map(move |txn| share(worker, txn, n * 10u64.pow(txn as u32)))
                .collect::<Vec<_>>()
        };
        let speed = RequestRates::new(&job, &[shares(0, 1), shares(1, 2)].concat(), 2.0);
        assert_eq!(speed.streams, [16.5, 1500.0]);
        assert_eq!(RequestRates::new(&job, &[], 0.0).total(), 0.0);
    }
}
