//! A point of a block step: one fio for each worker, from their start to their end.
//!
//! All start at once. Their snapshots of each second go through an [`IntervalAssembler`] and out as the same messages that
//! other lanes send. They end by SIGINT, after which each sends a last snapshot; none of them is left when [`run`] returns.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use plimsoll_import::fio_output;
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::{LaneControl, LaneEnd, LaneMessage};

use crate::fio::{FioCommand, FioEvent, FioMessages, Flow, Process, failed};
use crate::interval_assembler::{IntervalAssembler, Share};
use crate::snapshot::{Shape, Snapshot};

/// What a lane of fio is to do.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// Name of the job, for messages.
    pub job: String,
    pub workers: Vec<FioCommand>,
    pub shape: Shape,
    pub warm: Nanos,
    pub measure: Nanos,
    /// fio ends by itself when its job file is done; otherwise ending by itself is a failure.
    pub ends: bool,
}

/// The lane's surroundings.
pub struct Links<'a> {
    /// The time of the run.
    pub now: &'a dyn Fn() -> Nanos,
    /// The time of the run at which the wall clock showed so many milliseconds since 1970-01-01 UTC.
    pub of_unix_ms: &'a dyn Fn(f64) -> Nanos,
    pub order: &'a dyn Fn() -> LaneControl,
    /// Sends a message; [`Flow::Stop`]: the receiver is gone.
    pub send: &'a mut dyn FnMut(LaneMessage) -> Flow,
}

/// How often orders are checked.
const TICK: Duration = Duration::from_millis(100);
/// How many ticks fio gets to end once it was asked to, before it is killed: requests under way on a slow disk take their
/// time.
const PATIENCE: u32 = 200;
/// After so many of them it is asked once more.
const AGAIN: u32 = 20;

/// Runs the lane and returns what each worker did in the measurement. The last message is [`LaneMessage::Ended`].
pub fn run(task: &Task, mut links: Links<'_>) -> Vec<Share> {
    let (sender, events) = mpsc::channel();
    let mut workers = Vec::new();
    for (number, worker) in task.workers.iter().enumerate() {
        let sender = sender.clone();
        let process = Process::start(worker, move |event| {
            // An error means that the lane has ended.
            let _ = sender.send((number, event));
        });
        match process {
            Ok(process) => workers.push(FioWorker::new(process)),
            Err(error) => {
                (links.send)(LaneMessage::Ended(LaneEnd::Failed(error.to_string())));
                return Vec::new();
            }
        }
    }
    let assembler =
        IntervalAssembler::new(workers.len(), task.shape.txns(), task.warm, task.measure);
    let mut lane = FioLane {
        task,
        assembler,
        workers,
        events,
        origin: None,
    };
    let end = lane.drive(&mut links);
    let end = lane.finish(end, &mut links);
    (links.send)(LaneMessage::Ended(end));
    lane.assembler.shares()
}

struct FioWorker {
    process: Process,
    messages: FioMessages,
    runs: bool,
    /// It was asked to end.
    asked: bool,
    /// It was killed: its exit status has no meaning.
    killed: bool,
    /// Why it failed.
    error: Option<String>,
}

impl FioWorker {
    fn new(process: Process) -> Self {
        Self {
            process,
            messages: FioMessages::default(),
            runs: true,
            asked: false,
            killed: false,
            error: None,
        }
    }

    fn interrupt(&mut self) {
        self.asked = true;
        self.process.interrupt();
    }

    fn kill(&mut self) {
        self.killed = true;
        self.process.kill();
    }

    /// After SIGINT fio exits with 128, unless it came before fio listened to it. If it crashes then, what was measured
    /// before is complete all the same.
    fn has_ended_well(&self, status: ExitStatus) -> bool {
        let was_ended = status.code() == Some(128) || status.signal().is_some();
        status.success() || (self.asked && was_ended)
    }
}

struct FioLane<'a> {
    task: &'a Task,
    assembler: IntervalAssembler,
    workers: Vec<FioWorker>,
    events: Receiver<(usize, FioEvent)>,
    /// When it began, on the run's timeline; sent once.
    origin: Option<Nanos>,
}

impl FioLane<'_> {
    /// Runs until the measurement is over, the user stops it, or a worker has ended.
    fn drive(&mut self, links: &mut Links<'_>) -> LaneEnd {
        loop {
            match (links.order)() {
                LaneControl::Run => {}
                LaneControl::Close => return LaneEnd::Closed,
                LaneControl::Stop => return LaneEnd::Stopped,
            }
            self.receive();
            if self.send_complete(links) == Flow::Stop {
                return LaneEnd::Stopped;
            }
            let ended = self.workers.iter().filter(|worker| !worker.runs).count();
            let has_failed = self.workers.iter().any(|worker| worker.error.is_some());
            if has_failed || (ended > 0 && !self.task.ends) {
                return LaneEnd::Failed(String::new());
            }
            if self.assembler.is_over() || ended == self.workers.len() {
                return LaneEnd::Complete;
            }
        }
    }

    /// Handles the next event, if one comes within a tenth of a second.
    fn receive(&mut self) {
        let Ok((number, event)) = self.events.recv_timeout(TICK) else {
            return;
        };
        let Some(worker) = self.workers.get_mut(number) else {
            return;
        };
        match event {
            FioEvent::Message(line) => worker.messages.push(line),
            FioEvent::End => worker.runs = false,
            FioEvent::Document(text) => match read(&text, &self.task.shape) {
                Ok(snapshot) => {
                    if snapshot.error != 0 {
                        worker
                            .error
                            .get_or_insert_with(|| format!("error {}", snapshot.error));
                    }
                    self.assembler.add(number, snapshot);
                }
                // What it writes when it was asked to end is not needed.
                Err(_) if worker.asked => {}
                Err(why) => drop(worker.error.get_or_insert(why)),
            },
        }
    }

    /// Sends the seconds that are complete.
    fn send_complete(&mut self, links: &mut Links<'_>) -> Flow {
        while let Some(second) = self.assembler.next_second() {
            if self.send(second, links) == Flow::Stop {
                return Flow::Stop;
            }
        }
        Flow::GoOn
    }

    fn send(
        &mut self,
        mut second: plimsoll_record::lane::LaneSecond,
        links: &mut Links<'_>,
    ) -> Flow {
        let origin = match self.origin {
            Some(origin) => origin,
            None => {
                let at = (links.of_unix_ms)(self.assembler.began_ms().unwrap_or_default());
                self.origin = Some(at);
                if (links.send)(LaneMessage::Started { at }) == Flow::Stop {
                    return Flow::Stop;
                }
                at
            }
        };
        second.merge_lag = (links.now)().saturating_sub(origin + second.tick.end);
        (links.send)(LaneMessage::Second(Box::new(second)))
    }

    /// Ends all workers, waits for them, and sends the remaining load.
    fn finish(&mut self, mut end: LaneEnd, links: &mut Links<'_>) -> LaneEnd {
        let ended_by_themselves = self.workers.iter().all(|worker| !worker.runs);
        let killed = end == LaneEnd::Stopped;
        self.workers
            .iter_mut()
            .filter(|worker| worker.runs)
            .for_each(|worker| match killed {
                true => worker.kill(),
                false => worker.interrupt(),
            });
        // Only the user stops a lane: workers that take too long to end change nothing about what was measured before.
        if self.wait_for_workers(links) == Flow::Stop && !matches!(end, LaneEnd::Failed(_)) {
            end = LaneEnd::Stopped;
        }
        let stopped = end == LaneEnd::Stopped;
        if let Some(why) = self.failure(stopped) {
            end = LaneEnd::Failed(why);
        } else if matches!(end, LaneEnd::Failed(_)) {
            end = LaneEnd::Failed(format!("fio ended by itself at {}", self.task.job));
        }
        if let Some(remainder) = self
            .assembler
            .remainder(ended_by_themselves && end == LaneEnd::Complete)
        {
            // A closed channel is no error: the lane ends here anyway.
            let _ = self.send(remainder, links);
        }
        end
    }

    /// Waits until all have ended and kills those that take too long. [`Flow::Stop`]: the user stopped the lane meanwhile.
    fn wait_for_workers(&mut self, links: &mut Links<'_>) -> Flow {
        let mut asked = true;
        let mut flow = Flow::GoOn;
        let mut ticks = 0;
        while self.workers.iter().any(|worker| worker.runs) {
            ticks += 1;
            if asked && (links.order)() == LaneControl::Stop {
                flow = Flow::Stop;
            }
            if asked && (flow == Flow::Stop || ticks > PATIENCE) {
                asked = false;
                self.workers.iter_mut().for_each(FioWorker::kill);
            } else if asked && ticks == AGAIN {
                // fio passes a signal on to the jobs that it has begun by then, and to none that come after.
                self.workers
                    .iter_mut()
                    .filter(|worker| worker.runs)
                    .for_each(FioWorker::interrupt);
            }
            self.receive();
        }
        flow
    }

    /// The first failure of a worker, with fio's messages. `stopped`: their exit status has no meaning.
    fn failure(&mut self, stopped: bool) -> Option<String> {
        for worker in &mut self.workers {
            let why = match worker.process.wait() {
                Ok(status) if stopped || worker.killed || worker.has_ended_well(status) => continue,
                Ok(status) => status.to_string(),
                Err(error) => error.to_string(),
            };
            worker.error.get_or_insert(why);
        }
        while let Ok((number, event)) = self.events.try_recv() {
            if let (Some(worker), FioEvent::Message(line)) = (self.workers.get_mut(number), event) {
                worker.messages.push(line);
            }
        }
        let (number, worker) = self
            .workers
            .iter()
            .enumerate()
            .find(|(_, worker)| worker.error.is_some())?;
        let why = worker.error.as_deref().unwrap_or_default();
        let who = if self.workers.len() > 1 {
            format!("worker {}: ", number + 1)
        } else {
            String::new()
        };
        let messages = worker.messages.to_string();
        let why = if messages.is_empty() {
            format!("{who}{why}")
        } else {
            format!("{who}{why}; {messages}")
        };
        Some(failed(&self.task.job, &self.task.workers[number].args, why).to_string())
    }
}

fn read(text: &str, shape: &Shape) -> Result<Snapshot, String> {
    let output = fio_output::parse(text).map_err(|error| error.to_string())?;
    Snapshot::read(&output, shape)
        .ok_or_else(|| "its output does not have one group for each stream".to_owned())
}

#[cfg(test)]
mod tests;
