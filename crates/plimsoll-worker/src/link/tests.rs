//! A host that loses what its worker keeps, at each step of the protocol; and links that end too often.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;

use plimsoll_plan::schedule::Tick;
use plimsoll_record::lane::{LaneEnd, LaneMessage};
use serde_json::Value;

use super::connection::{Ends, WorkerConnection};
use super::*;
use crate::protocol::{PlanEnd, PlanNews};
use crate::session::serve;
use crate::session::tests::{Plans, lane, plan};
use crate::state::StateDir;

/// A frame of either side, and which of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    frame: &'static str,
    nth: u32,
}

/// All frames of a lane and of a plan, but the farewell, after which nothing is expected.
const FRAMES: [&str; 18] = [
    "hello",
    "welcome",
    "ping",
    "pong",
    "watch_disks",
    "run",
    "ready",
    "start",
    "Started",
    "Second",
    "samples",
    "order",
    "Ended",
    "meeting",
    "meet",
    "progress",
    "file_part",
    "ended",
];

fn name_of(frame: &[u8]) -> &'static str {
    let mut value: Value = serde_json::from_slice(&frame[4..]).unwrap();
    for pointer in ["/numbered/report", "/lane/message", "/plan/news"] {
        if let Some(inner) = value.pointer_mut(pointer) {
            value = inner.take();
        }
    }
    let name = match &value {
        Value::String(name) => name.clone(),
        Value::Object(fields) => fields.keys().next().unwrap().clone(),
        other => panic!("{other}"),
    };
    let mut known = FRAMES.into_iter();
    known.find(|frame| *frame == name).unwrap_or("leave")
}

/// A worker in this process, whose directory is another one from its loss on.
struct LosingHost {
    dirs: tempfile::TempDir,
    /// `None`: it loses nothing.
    loses_after: Option<Step>,
    state: Mutex<LosingState>,
}

#[derive(Default)]
struct LosingState {
    frames: BTreeMap<&'static str, u32>,
    /// Which of its lives it leads.
    lives: usize,
    is_lost: bool,
    /// Jobs that were given to the second life.
    begun_again: u32,
    sessions: Vec<std::thread::JoinHandle<io::Result<()>>>,
}

impl LosingHost {
    fn new(loses_after: Option<Step>) -> Arc<Self> {
        Arc::new(Self {
            dirs: tempfile::tempdir().unwrap(),
            loses_after,
            state: Mutex::default(),
        })
    }

    fn dir(&self, life: usize) -> StateDir {
        StateDir::at(&self.dirs.path().join(life.to_string())).unwrap()
    }

    /// Returns whether the host is still there after this frame.
    fn passes(&self, frame: &[u8]) -> bool {
        let frame = name_of(frame);
        let mut state = lock(&self.state);
        state.begun_again += u32::from(state.is_lost && frame == "run");
        let nth = state.frames.entry(frame).or_default();
        *nth += 1;
        let step = Step { frame, nth: *nth };
        let is_lost = self.loses_after == Some(step);
        state.is_lost |= is_lost;
        !is_lost
    }

    fn connect(&self) -> UnixStream {
        let mut state = lock(&self.state);
        if state.lives == 0 || (state.lives == 1 && state.is_lost) {
            let dir = self.dir(state.lives);
            state.lives += 1;
            state
                .sessions
                .push(std::thread::spawn(move || serve(&dir, Arc::new(Plans))));
        }
        let socket = self.dir(state.lives - 1).socket();
        drop(state);
        wait_for("the session's socket", || UnixStream::connect(&socket).ok())
    }

    /// Ends all its sessions, used or not.
    fn end(&self) {
        let mut state = lock(&self.state);
        for life in 0..state.lives {
            let Ok(mut stream) = UnixStream::connect(self.dir(life).socket()) else {
                continue;
            };
            let hello = Request::Hello {
                version: VERSION,
                incarnation: None,
                received: 0,
                patience: Nanos::SECOND,
            };
            let _ = frame::write(&mut stream, &hello);
            let _ = frame::write(&mut stream, &Request::Leave);
        }
        for session in state.sessions.drain(..) {
            session.join().unwrap().unwrap();
        }
    }
}

fn wait_for<T>(what: &str, mut try_it: impl FnMut() -> Option<T>) -> T {
    let clock = Clock::real();
    while clock.now() < Nanos::from_secs(30) {
        if let Some(found) = try_it() {
            return found;
        }
        clock.block_until(clock.now() + Nanos::from_millis(5));
    }
    panic!("waited for {what}")
}

struct LosingDial(Arc<LosingHost>);

struct LosingConnection(UnixStream);

struct ToLosing(Arc<LosingHost>, UnixStream);

struct FromLosing {
    host: Arc<LosingHost>,
    /// Of the host's life.
    is_first: bool,
    stream: UnixStream,
    frame: Vec<u8>,
}

impl Dial for LosingDial {
    fn begin(&self) -> io::Result<(Box<dyn WorkerConnection>, Ends)> {
        let stream = self.0.connect();
        let is_first = lock(&self.0.state).lives == 1;
        let from: Box<dyn Read + Send> = Box::new(FromLosing {
            host: self.0.clone(),
            is_first,
            stream: stream.try_clone()?,
            frame: Vec::new(),
        });
        let ends = Ends {
            to: Box::new(ToLosing(self.0.clone(), stream.try_clone()?)),
            from: BufReader::new(from),
        };
        Ok((Box::new(LosingConnection(stream)), ends))
    }

    fn greet(&self, _: &mut Ends) -> io::Result<()> {
        Ok(())
    }
}

impl WorkerConnection for LosingConnection {
    fn kill(&mut self) {
        let _ = self.0.shutdown(Shutdown::Both);
    }

    fn end(mut self: Box<Self>) -> String {
        self.kill();
        String::new()
    }
}

impl Write for ToLosing {
    /// A frame at a time, as they are written.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.1.write_all(bytes)?;
        if !self.0.passes(bytes) {
            let _ = self.1.shutdown(Shutdown::Both);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for ToLosing {
    /// As a command does that reads to the end of its input.
    fn drop(&mut self) {
        let _ = self.1.shutdown(Shutdown::Write);
    }
}

impl Read for FromLosing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.frame.is_empty() {
            // What is on its way is lost, too.
            if self.is_first && lock(&self.host.state).is_lost {
                return Ok(0);
            }
            let Some(body) = frame::read_bytes(&mut self.stream)? else {
                return Ok(0);
            };
            let length = u32::try_from(body.len()).unwrap();
            self.frame = [&length.to_le_bytes()[..], &body].concat();
            if !self.host.passes(&self.frame) {
                let _ = self.stream.shutdown(Shutdown::Both);
            }
        }
        let have = buffer.len().min(self.frame.len());
        let rest = self.frame.split_off(have);
        buffer[..have].copy_from_slice(&self.frame);
        self.frame = rest;
        Ok(have)
    }
}

fn target(orders: watch::Receiver<LaneControl>) -> HostTarget {
    HostTarget {
        host: PlanHost {
            name: "loser".into(),
            via: Vec::new(),
            program: None,
            patience: Nanos::from_secs(20),
        },
        session: SessionId::parse("test-loser").unwrap(),
        subject: SubjectId(1),
        samples: channel().0,
        past: None,
        orders,
    }
}

const JOB: JobId = JobId(4);

/// What became of a job.
#[derive(Debug, Default)]
struct Heard {
    ticks: Vec<Tick>,
    is_complete: bool,
    lost: Option<String>,
}

fn run(host: &Arc<LosingHost>, task: HostTask) -> Heard {
    let clock = Clock::real();
    let orders = watch::channel(LaneControl::Run).1;
    let dial = Box::new(LosingDial(host.clone()));
    let link = Link::begin_with(target(orders), dial, clock.clone()).unwrap();
    let mut heard = Heard::default();
    match link.reached_within(Nanos::from_secs(20)) {
        Some(Ok(())) => {}
        Some(Err(error)) => {
            heard.lost = Some(error.why);
            return heard;
        }
        None => panic!("not reached in 20 s"),
    }
    link.watch_disks(BTreeMap::from([("none".into(), SubjectId(2))]));
    let mut news = link.run(JOB, task);
    while heard.lost.is_none() && !heard.is_complete {
        let next = wait_for("the job", || match news.try_recv() {
            Ok(news) => Some(Some(news)),
            Err(mpsc::error::TryRecvError::Disconnected) => Some(None),
            Err(mpsc::error::TryRecvError::Empty) => None,
        });
        match next {
            Some(LaneNews::Ready) => link.start(JOB, clock.now() + Nanos::from_millis(50)),
            Some(LaneNews::Message(LaneMessage::Second(second))) => {
                if heard.ticks.is_empty() {
                    link.order(JOB, LaneControl::Close);
                }
                heard.ticks.push(second.tick);
            }
            Some(LaneNews::Message(LaneMessage::Ended(end))) => {
                assert!(
                    matches!(end, LaneEnd::Complete | LaneEnd::Closed),
                    "{end:?}"
                );
                heard.is_complete = true;
            }
            Some(LaneNews::Plan(PlanNews::Meeting { number, .. })) => {
                link.meet(JOB, number, clock.now());
            }
            Some(LaneNews::Plan(PlanNews::Ended(end))) => {
                assert_eq!(end, PlanEnd::Complete);
                heard.is_complete = true;
            }
            Some(LaneNews::Lost(why)) => heard.lost = Some(why),
            Some(LaneNews::Message(_) | LaneNews::Plan(_)) => {}
            None => heard.lost = Some("without a word".into()),
        }
    }
    if heard.is_complete {
        // The samples of a second come with the next one.
        wait_for("samples", || {
            let state = lock(&host.state);
            (state.is_lost || state.frames.contains_key("samples")).then_some(())
        });
    }
    heard
}

fn step(frame: &'static str, nth: u32) -> Step {
    Step { frame, nth }
}

#[test]
fn a_host_that_loses_its_session_is_lost_at_every_step_and_never_begun_again() {
    let last = FIRST_PINGS + 1;
    let both = [
        step("hello", 1),
        step("welcome", 1),
        step("ping", 1),
        step("pong", 1),
        step("ping", last),
        step("pong", FIRST_PINGS),
        step("watch_disks", 1),
        step("run", 1),
    ];
    let lanes = [
        step("ready", 1),
        step("start", 1),
        step("Started", 1),
        step("Second", 1),
        step("order", 1),
        step("Second", 2),
        step("Ended", 1),
        step("samples", 1),
    ];
    let plans = [
        step("meeting", 1),
        step("meet", 1),
        step("meeting", 2),
        step("meet", 2),
        step("progress", 1),
        step("file_part", 1),
        step("ended", 1),
    ];
    let of_lane = both.iter().chain(&lanes).map(|step| (*step, true));
    let of_plan = both.iter().chain(&plans).map(|step| (*step, false));
    let covered: BTreeSet<&str> = of_lane
        .clone()
        .chain(of_plan.clone())
        .map(|(step, _)| step.frame)
        .collect();
    assert_eq!(covered, BTreeSet::from(FRAMES), "a frame without its fault");
    std::thread::scope(|scope| {
        for (step, is_lane) in of_lane.chain(of_plan) {
            scope.spawn(move || loses_after(step, is_lane));
        }
        for is_lane in [true, false] {
            scope.spawn(move || {
                let host = LosingHost::new(None);
                let heard = run(&host, task(is_lane));
                assert!(heard.is_complete, "{heard:?}");
                host.end();
            });
        }
    });
}

fn task(is_lane: bool) -> HostTask {
    match is_lane {
        true => HostTask::Lane(Box::new(lane(2))),
        false => plan("a plan"),
    }
}

fn loses_after(step: Step, is_lane: bool) {
    let host = LosingHost::new(Some(step));
    let heard = run(&host, task(is_lane));
    let is_last = ["Ended", "ended"].contains(&step.frame);
    let may_be_whole = is_last || step.frame == "samples";
    assert!(lock(&host.state).is_lost, "{step:?} never came: {heard:?}");
    assert!(
        heard.is_complete != heard.lost.is_some(),
        "{step:?} {heard:?}"
    );
    assert!(heard.is_complete <= may_be_whole, "{step:?} {heard:?}");
    if let Some(why) = heard.lost.filter(|_| step.frame != "hello") {
        assert_eq!(why, FORGOTTEN, "{step:?}");
    }
    let is_doubled = heard.ticks.windows(2).any(|two| two[1].start < two[0].end);
    assert!(!is_doubled, "{step:?}: {:?}", heard.ticks);
    host.end();
    assert_eq!(lock(&host.state).begun_again, 0, "{step:?}");
}

/// Welcomes, and ends at once.
struct FailingDial(AtomicU32);

impl Dial for FailingDial {
    fn begin(&self) -> io::Result<(Box<dyn WorkerConnection>, Ends)> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let welcome = serde_json::json!({ "welcome": {
            "version": VERSION, "incarnation": 1, "is_running": true, "reports": 0,
            "facts": {
                "host_name": "h", "kernel": "k", "architecture": "a", "processors": 1, "program": "p", "disks": [],
            },
        } });
        let bytes = frame::encode(&welcome)?;
        let from: Box<dyn Read + Send> = Box::new(io::Cursor::new(bytes));
        let ends = Ends {
            to: Box::new(io::sink()),
            from: BufReader::new(from),
        };
        Ok((Box::new(LosingConnection(UnixStream::pair()?.0)), ends))
    }

    fn greet(&self, _: &mut Ends) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_host_that_ends_each_time_is_given_up() {
    let (_orders, user) = watch::channel(LaneControl::Run);
    let mut target = target(user);
    target.host.patience = Nanos::from_millis(1_200);
    let dial = Box::new(FailingDial(AtomicU32::default()));
    let link = Link::begin_with(target, dial, Clock::real()).unwrap();
    let why = wait_for("its loss", || link.reached_within(Nanos::from_millis(10)));
    let why = why.unwrap_err().why;
    assert!(why.contains("was not reached again"), "{why}");
}

#[test]
fn a_second_ctrl_c_does_not_wait_for_a_host_whose_link_is_cut() {
    let (orders, user) = watch::channel(LaneControl::Run);
    let dial = Box::new(FailingDial(AtomicU32::default()));
    let link = Link::begin_with(target(user), dial, Clock::real()).unwrap();
    wait_for("the first welcome", || link.facts());
    let mut news = link.run(JOB, task(true));
    orders.send_replace(LaneControl::Stop);
    // Its patience is 20 s: `wait_for` has more.
    let clock = Clock::real();
    let lost = wait_for("its loss", || news.try_recv().ok());
    assert!(matches!(lost, LaneNews::Lost(_)), "{lost:?}");
    drop(link);
    assert!(clock.now() < Nanos::from_secs(10));
}

#[test]
fn a_link_that_held_gets_all_its_patience_again() {
    let mut retries = link_state::Retries::default();
    let patience = Nanos::from_secs(60);
    let at = Nanos::from_secs;
    let first = retries.after_cut(at(100), patience);
    assert_eq!((first.until, first.is_first), (at(160), true));
    retries.welcomed = at(102);
    let second = retries.after_cut(at(105), patience);
    assert_eq!((second.until, second.is_first), (at(160), false));
    retries.welcomed = at(110);
    let third = retries.after_cut(at(121), patience);
    assert_eq!((third.until, third.is_first), (at(181), true));
}
