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
/// How many ticks fio gets to end once it was asked to: requests under way on a slow disk take their time.
const PATIENCE: u32 = 600;

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
    /// Why it failed.
    error: Option<String>,
}

impl Worker {
    fn new(process: Process) -> Self {
        Self { process, words: Words::default(), runs: true, asked: false, error: None }
    }

    fn interrupt(&mut self) {
        self.asked = true;
        self.process.interrupt();
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
            true => worker.process.kill(),
            false => worker.interrupt(),
        });
        if !self.hear_out(links) && !killed {
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

    /// Until all have ended. `false`: they had to be killed.
    fn hear_out(&mut self, links: &mut Links<'_>) -> bool {
        let mut asked = true;
        let mut ticks = 0;
        while self.workers.iter().any(|worker| worker.runs) {
            ticks += 1;
            if asked && ((links.order)() == LaneControl::Stop || ticks > PATIENCE) {
                asked = false;
                self.workers.iter().for_each(|worker| worker.process.kill());
            }
            self.hear();
        }
        asked
    }

    /// The first worker's failure, in fio's words. `stopped`: how they ended says nothing.
    fn failure(&mut self, stopped: bool) -> Option<String> {
        for worker in &mut self.workers {
            let why = match worker.process.wait() {
                Ok(status) if stopped || worker.has_ended_well(status) => continue,
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
mod tests {
    use std::cell::{Cell, RefCell};
    use std::path::Path;
    use std::time::Instant;

    use plimsoll_model::lane::LaneSecond;
    use plimsoll_model::plan::resolved::{BlockJob, SyncPolicy};
    use plimsoll_model::schedule::PhaseKind;

    use super::*;
    use crate::arguments::tests::stream;
    use crate::arguments::{Manner, Part, of_job};
    use crate::fio::find;

    const SIZE: u64 = 8 << 20;

    fn job() -> BlockJob {
        let data = plimsoll_model::plan::resolved::BlockStream {
            read_percent: 50,
            depth: 4,
            threads: 1,
            direct: false,
            sync: SyncPolicy::Flush { every: 16 },
            ..stream()
        };
        BlockJob { name: "mixed".into(), streams: vec![data], curve: Vec::new() }
    }

    fn task(directory: &Path, workers: usize, measure: u64) -> Task {
        let engine = find().unwrap().engine;
        let worker = |number: usize| {
            let file = directory.join(number.to_string());
            std::fs::write(&file, vec![7; SIZE as usize]).unwrap();
            let part = Part { file, offset: 0, size: SIZE };
            let manner = Manner { engine, seed: 1, at_most: Nanos::from_secs(60), rates: vec![Some(200.0)] };
            WorkerTask { args: of_job(&job(), &part, &manner), directory: None }
        };
        Task {
            job: "mixed".into(),
            workers: (0..workers).map(worker).collect(),
            shape: Shape::of_job(&job()),
            warm: Nanos::SECOND,
            measure: Nanos::from_secs(measure),
            ends: false,
        }
    }

    fn drive(task: &Task, order: impl Fn(&[LaneMessage]) -> LaneControl) -> (Vec<LaneMessage>, Vec<Share>) {
        let messages = RefCell::new(Vec::new());
        let began = Instant::now();
        let links = Links {
            now: &|| began.elapsed().into(),
            of_unix_ms: &|_| Nanos::ZERO,
            order: &|| order(&messages.borrow()),
            tell: &mut |message| {
                messages.borrow_mut().push(message);
                Flow::GoOn
            },
        };
        let shares = run(task, links);
        (messages.into_inner(), shares)
    }

    fn seconds(messages: &[LaneMessage]) -> Vec<&LaneSecond> {
        let mut seconds = Vec::new();
        for message in messages {
            if let LaneMessage::Second(second) = message {
                seconds.push(second.as_ref());
            }
        }
        seconds
    }

    fn end(messages: &[LaneMessage]) -> &LaneEnd {
        let Some(LaneMessage::Ended(end)) = messages.last() else { panic!("no end") };
        end
    }

    #[test]
    fn two_workers_are_measured_and_shared_out() {
        let directory = tempfile::tempdir().unwrap();
        let (messages, shares) = drive(&task(directory.path(), 2, 2), |_| LaneControl::Run);
        assert_eq!(*end(&messages), LaneEnd::Complete);
        assert!(matches!(messages[0], LaneMessage::Started { .. }));
        let seconds = seconds(&messages);
        let measured: Vec<_> = seconds.iter().filter(|second| second.tick.phase == PhaseKind::Measure).collect();
        assert_eq!(measured.len(), 2);
        for txn in 0..3 {
            let of_seconds: u64 = measured.iter().map(|second| second.tallies[txn].counts.committed).sum();
            let of_workers: u64 = shares.iter().filter(|share| share.txn == txn).map(|share| share.requests).sum();
            assert!(of_seconds > 0);
            assert_eq!(of_seconds, of_workers);
        }
        assert!(shares.iter().all(|share| share.requests == share.response.count()));
    }

    #[test]
    fn the_user_ends_it_early_and_keeps_what_was_measured() {
        let directory = tempfile::tempdir().unwrap();
        for (order, expected) in [(LaneControl::Close, LaneEnd::Closed), (LaneControl::Stop, LaneEnd::Stopped)] {
            let after_three = |told: &[LaneMessage]| if told.len() > 2 { order } else { LaneControl::Run };
            let (messages, _) = drive(&task(directory.path(), 1, 50), after_three);
            assert_eq!(*end(&messages), expected);
            assert!(seconds(&messages).iter().any(|second| second.tick.phase == PhaseKind::Measure));
        }
    }

    #[test]
    fn a_worker_that_cannot_work_is_told_in_its_own_words() {
        let directory = tempfile::tempdir().unwrap();
        let task = task(directory.path(), 2, 50);
        std::fs::remove_file(directory.path().join("1")).unwrap();
        let (messages, shares) = drive(&task, |_| LaneControl::Run);
        let LaneEnd::Failed(why) = end(&messages) else { panic!("{:?}", end(&messages)) };
        assert!(why.starts_with("fio failed at mixed: worker 2: "), "{why}");
        assert!(why.contains("file creation disallowed") && why.contains("\nThe command was: fio "), "{why}");
        assert_eq!(shares.iter().map(|share| share.requests).sum::<u64>(), 0);
    }

    #[test]
    fn a_worker_that_is_killed_ends_the_lane_and_what_was_measured_stays() {
        let directory = tempfile::tempdir().unwrap();
        let task = task(directory.path(), 2, 50);
        let killed = Cell::new(false);
        let file = directory.path().join("0").display().to_string();
        let (messages, shares) = drive(&task, |told| {
            if told.len() > 2 && !killed.replace(true) {
                kill_fio_at(&file);
            }
            LaneControl::Run
        });
        let LaneEnd::Failed(why) = end(&messages) else { panic!("{:?}", end(&messages)) };
        assert!(why.contains("worker 1: ") && why.contains("signal: 9"), "{why}");
        assert!(seconds(&messages).iter().any(|second| second.tick.phase == PhaseKind::Measure));
        assert!(shares.iter().any(|share| share.requests > 0));
    }

    fn kill_fio_at(file: &str) {
        for process in std::fs::read_dir("/proc").unwrap().flatten() {
            let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line);
            if line.starts_with("fio") && line.contains(&format!("--filename={file}\0")) {
                let pid = process.file_name().to_string_lossy().parse().unwrap();
                let pid = rustix::process::Pid::from_raw(pid).unwrap();
                rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
            }
        }
    }

    /// A job file that is run as it is: its jobs are counted together, and it ends by itself.
    #[test]
    fn a_job_that_ends_by_itself_is_measured_to_its_end() {
        let directory = tempfile::tempdir().unwrap();
        let args = ["--output-format=json+", "--status-interval=1", "--name=w", "--rw=write", "--size=4M", "--bs=4k"];
        let args = args.map(String::from).into();
        let task = Task {
            job: "own.fio".into(),
            workers: vec![WorkerTask { args, directory: Some(directory.path().into()) }],
            shape: Shape::Whole,
            warm: Nanos::ZERO,
            measure: Nanos::from_secs(60),
            ends: true,
        };
        let (messages, shares) = drive(&task, |_| LaneControl::Run);
        assert_eq!(*end(&messages), LaneEnd::Complete);
        let writes: u64 = seconds(&messages).iter().map(|second| second.tallies[1].counts.committed).sum();
        assert_eq!((writes, shares[1].requests, shares[1].bytes), (1024, 1024, 4 << 20));
        assert!(directory.path().join("w.0.0").exists(), "in its own directory");
    }
}
