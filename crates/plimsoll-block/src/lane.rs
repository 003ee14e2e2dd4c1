//! A point of a block step: one fio for each worker, from their start to their end.
//!
//! All start at once. What they tell each second goes through a [`Course`] and out as the same messages that other lanes
//! send. They end by SIGINT, after which each tells a last time; nothing of them is left when [`run`] returns.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use plimsoll_model::fio;
use plimsoll_model::lane::{LaneControl, LaneEnd, LaneMessage};
use plimsoll_model::units::Nanos;

use crate::course::{Course, Share};
use crate::fio::{Flow, Heard, Process, Words, failed};
use crate::snapshot::{Shape, Snapshot};

/// What a lane of fio is to do.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// Name of the job, for messages.
    pub job: String,
    pub workers: Vec<WorkerTask>,
    pub shape: Shape,
    pub warm: Nanos,
    pub measure: Nanos,
    /// fio ends by itself when it has done what its job file says; else that it ends is a failure.
    pub ends: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct WorkerTask {
    pub args: Vec<String>,
    /// Where it is started; `None`: where this program is.
    pub directory: Option<PathBuf>,
}

/// The lane's surroundings.
pub struct Links<'a> {
    /// The time of the run.
    pub now: &'a dyn Fn() -> Nanos,
    /// The time of the run at which the wall clock showed so many milliseconds since 1970-01-01 UTC.
    pub of_unix_ms: &'a dyn Fn(f64) -> Nanos,
    pub order: &'a dyn Fn() -> LaneControl,
    /// Takes messages; [`Flow::Stop`]: nobody listens any more.
    pub tell: &'a mut dyn FnMut(LaneMessage) -> Flow,
}

/// How often orders are looked for.
const TICK: Duration = Duration::from_millis(100);
/// How many ticks fio gets to end once it was asked to, before it is killed: requests under way on a slow disk take their
/// time.
const PATIENCE: u32 = 200;
/// After so many of them it is asked once more.
const AGAIN: u32 = 20;

/// Runs the lane and returns what each worker did in the measurement. The last message is [`LaneMessage::Ended`].
///
/// The thread that calls this must live until it returns, which it does.
pub fn run(task: &Task, mut links: Links<'_>) -> Vec<Share> {
    let (heard, events) = mpsc::channel();
    let mut workers = Vec::new();
    for (number, worker) in task.workers.iter().enumerate() {
        let heard = heard.clone();
        // Nobody listens any more: the lane has ended.
        let hear = move |piece| drop(heard.send((number, piece)));
        match Process::start(&worker.args, worker.directory.as_deref(), hear) {
            Ok(process) => workers.push(Worker::new(process)),
            Err(error) => {
                (links.tell)(LaneMessage::Ended(LaneEnd::Failed(error.to_string())));
                return Vec::new();
            }
        }
    }
    let course = Course::new(workers.len(), task.shape.txns(), task.warm, task.measure);
    let mut lane = Lane { task, course, workers, events, origin: None };
    let end = lane.drive(&mut links);
    let end = lane.finish(end, &mut links);
    (links.tell)(LaneMessage::Ended(end));
    lane.course.shares()
}

struct Worker {
    process: Process,
    words: Words,
    runs: bool,
    /// It was told to end.
    asked: bool,
    /// It was ended at once: how it ended says nothing.
    killed: bool,
    /// Why it failed.
    error: Option<String>,
}

impl Worker {
    fn new(process: Process) -> Self {
        Self { process, words: Words::default(), runs: true, asked: false, killed: false, error: None }
    }

    fn interrupt(&mut self) {
        self.asked = true;
        self.process.interrupt();
    }

    fn kill(&mut self) {
        self.killed = true;
        self.process.kill();
    }

    /// After SIGINT fio exits with 128, unless it came before fio listened to it.
    fn has_ended_well(&self, status: ExitStatus) -> bool {
        status.success() || (self.asked && (status.code() == Some(128) || status.signal() == Some(2)))
    }
}

struct Lane<'a> {
    task: &'a Task,
    course: Course,
    workers: Vec<Worker>,
    events: Receiver<(usize, Heard)>,
    /// When it began, on the run's timeline; told once.
    origin: Option<Nanos>,
}

impl Lane<'_> {
    /// Until the measurement is over, the user wants an end, or a worker has ended.
    fn drive(&mut self, links: &mut Links<'_>) -> LaneEnd {
        loop {
            match (links.order)() {
                LaneControl::Run => {}
                LaneControl::Close => return LaneEnd::Closed,
                LaneControl::Stop => return LaneEnd::Stopped,
            }
            self.hear();
            if self.pass_on(links) == Flow::Stop {
                return LaneEnd::Stopped;
            }
            let ended = self.workers.iter().filter(|worker| !worker.runs).count();
            let has_failed = self.workers.iter().any(|worker| worker.error.is_some());
            if has_failed || (ended > 0 && !self.task.ends) {
                return LaneEnd::Failed(String::new());
            }
            if self.course.is_over() || ended == self.workers.len() {
                return LaneEnd::Complete;
            }
        }
    }

    /// Whatever is told in the next tenth of a second, at most one thing.
    fn hear(&mut self) {
        let Ok((number, heard)) = self.events.recv_timeout(TICK) else { return };
        let Some(worker) = self.workers.get_mut(number) else { return };
        match heard {
            Heard::Said(line) => worker.words.take(line),
            Heard::End => worker.runs = false,
            Heard::Document(text) => match read(&text, &self.task.shape) {
                Ok(snapshot) => {
                    if snapshot.error != 0 {
                        worker.error.get_or_insert_with(|| format!("error {}", snapshot.error));
                    }
                    self.course.take(number, snapshot);
                }
                Err(why) => drop(worker.error.get_or_insert(why)),
            },
        }
    }

    /// Tells the seconds that are complete.
    fn pass_on(&mut self, links: &mut Links<'_>) -> Flow {
        while let Some(second) = self.course.second() {
            if self.tell(second, links) == Flow::Stop {
                return Flow::Stop;
            }
        }
        Flow::GoOn
    }

    fn tell(&mut self, mut second: plimsoll_model::lane::LaneSecond, links: &mut Links<'_>) -> Flow {
        let origin = match self.origin {
            Some(origin) => origin,
            None => {
                let at = (links.of_unix_ms)(self.course.began_ms().unwrap_or_default());
                self.origin = Some(at);
                if (links.tell)(LaneMessage::Started { at }) == Flow::Stop {
                    return Flow::Stop;
                }
                at
            }
        };
        second.merge_lag = (links.now)().saturating_sub(origin + second.tick.end);
        (links.tell)(LaneMessage::Second(Box::new(second)))
    }

    /// Ends all workers, hears them out, and tells the rest.
    fn finish(&mut self, mut end: LaneEnd, links: &mut Links<'_>) -> LaneEnd {
        let came_to_its_end = self.workers.iter().all(|worker| !worker.runs);
        let killed = end == LaneEnd::Stopped;
        self.workers.iter_mut().filter(|worker| worker.runs).for_each(|worker| match killed {
            true => worker.kill(),
            false => worker.interrupt(),
        });
        // Only the user stops a lane: workers that take too long to end change nothing about what was measured before.
        if self.hear_out(links) == Flow::Stop && !matches!(end, LaneEnd::Failed(_)) {
            end = LaneEnd::Stopped;
        }
        let stopped = end == LaneEnd::Stopped;
        if let Some(why) = self.failure(stopped) {
            end = LaneEnd::Failed(why);
        } else if matches!(end, LaneEnd::Failed(_)) {
            end = LaneEnd::Failed(format!("fio ended by itself at {}", self.task.job));
        }
        if let Some(rest) = self.course.rest(came_to_its_end && end == LaneEnd::Complete) {
            // A closed channel: nobody wants to know.
            let _ = self.tell(rest, links);
        }
        end
    }

    /// Until all have ended; those that take too long are killed. Tells whether the user wanted no more.
    fn hear_out(&mut self, links: &mut Links<'_>) -> Flow {
        let (mut asked, mut flow, mut ticks) = (true, Flow::GoOn, 0);
        while self.workers.iter().any(|worker| worker.runs) {
            ticks += 1;
            if asked && (links.order)() == LaneControl::Stop {
                flow = Flow::Stop;
            }
            if asked && (flow == Flow::Stop || ticks > PATIENCE) {
                asked = false;
                self.workers.iter_mut().for_each(Worker::kill);
            } else if asked && ticks == AGAIN {
                // fio passes a signal on to the jobs that it has begun by then, and to none that come after.
                self.workers.iter_mut().filter(|worker| worker.runs).for_each(Worker::interrupt);
            }
            self.hear();
        }
        flow
    }

    /// The first worker's failure, in fio's words. `stopped`: how they ended says nothing.
    fn failure(&mut self, stopped: bool) -> Option<String> {
        for worker in &mut self.workers {
            let why = match worker.process.wait() {
                Ok(status) if stopped || worker.killed || worker.has_ended_well(status) => continue,
                Ok(status) => status.to_string(),
                Err(error) => error.to_string(),
            };
            worker.error.get_or_insert(why);
        }
        // What was said until the end.
        while let Ok((number, heard)) = self.events.try_recv() {
            if let (Some(worker), Heard::Said(line)) = (self.workers.get_mut(number), heard) {
                worker.words.take(line);
            }
        }
        let (number, worker) = self.workers.iter().enumerate().find(|(_, worker)| worker.error.is_some())?;
        let (why, words) = (worker.error.as_deref().unwrap_or_default(), &worker.words);
        let who = if self.workers.len() > 1 { format!("worker {}: ", number + 1) } else { String::new() };
        let said = words.to_string();
        let why = if said.is_empty() { format!("{who}{why}") } else { format!("{who}{why}; {said}") };
        Some(failed(&self.task.job, &self.task.workers[number].args, why).to_string())
    }
}

fn read(text: &str, shape: &Shape) -> Result<Snapshot, String> {
    let output = fio::parse(text).map_err(|error| error.to_string())?;
    Snapshot::read(&output, shape).ok_or_else(|| "its output does not tell one group for each stream".to_owned())
}

#[cfg(test)]
mod tests;
