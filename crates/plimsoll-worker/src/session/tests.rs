use std::io::Write;

use plimsoll_plan::load::{LoadShape, MockScript};
use plimsoll_plan::resolved::{Home, Pacing, Tpcc, TxnMode, Workload};
use plimsoll_plan::schedule::Timeline;
use plimsoll_record::lane::{Endpoint, GeneratorShare, LaneControl, LaneMessage, LaneSpec};

use super::*;
use crate::protocol::{HostTask, JobId, MeetingStart, PlanEnd, PlanNews, PlanTask, WorkerReport};
use base64::Engine;

/// A session in a directory of its own, with a thread that serves it.
struct Served {
    dir: Option<StateDir>,
    thread: Option<std::thread::JoinHandle<io::Result<()>>>,
}

impl Served {
    fn begin(id: &SessionId) -> Self {
        let own = StateDir::of(id).unwrap();
        let thread = std::thread::spawn(move || serve(&own, Arc::new(Plans)));
        Self {
            dir: StateDir::of(id).ok(),
            thread: Some(thread),
        }
    }

    fn connect(&self) -> UnixStream {
        let socket = self.dir.as_ref().unwrap().socket();
        let clock = Clock::real();
        for _ in 0..500 {
            if let Ok(stream) = UnixStream::connect(&socket) {
                return stream;
            }
            clock.block_until(clock.now() + Nanos::from_millis(10));
        }
        panic!("no session at {}", socket.display());
    }

    fn hello(&self, received: u64) -> UnixStream {
        self.hello_for(received, Nanos::from_secs(20))
    }

    fn hello_for(&self, received: u64, patience: Nanos) -> UnixStream {
        let mut stream = self.connect();
        let hello = Request::Hello {
            version: VERSION,
            incarnation: None,
            received,
            patience,
        };
        frame::write(&mut stream, &hello).unwrap();
        let Some(WorkerReply::Welcome(_)) = frame::read(&mut stream).unwrap() else {
            panic!("no welcome")
        };
        stream
    }

    fn end(mut self) {
        frame::write(&mut self.hello(0), &Request::Leave).unwrap();
        self.thread.take().unwrap().join().unwrap().unwrap();
        assert!(!self.dir.take().unwrap().path().exists());
    }
}

/// Meets the others twice, and leaves a file with the plan's text.
pub(crate) struct Plans;

impl PlanRunner for Plans {
    fn run(
        &self,
        task: &PlanTask,
        together: &Arc<Together>,
        dir: &std::path::Path,
    ) -> Result<PlanRun, String> {
        let clock = together.clock();
        let mut starts = Vec::new();
        for what in ["first", "second"] {
            let mut order = together.order().subscribe();
            let met = clock.block_on(async {
                tokio::select! {
                    at = together.meet(what) => Some(at),
                    _ = order.wait_for(|order| *order == LaneControl::Stop) => None,
                }
            });
            starts.push(met.unwrap().ok_or("stopped")?);
        }
        together.progress(&format!("{starts:?}"));
        if task.text.is_empty() {
            return Err("nothing to do".into());
        }
        let file = dir.join("run");
        std::fs::write(&file, &task.text).unwrap();
        Ok(PlanRun {
            file,
            is_complete: true,
        })
    }

    fn clear(&self, dir: &std::path::Path) {
        std::fs::write(dir.join("cleared"), "").unwrap();
    }
}

fn id(name: &str) -> SessionId {
    SessionId::parse(&format!("test-{name}-{}", std::process::id())).unwrap()
}

pub(crate) fn lane(seconds: u64) -> LaneSpec {
    LaneSpec {
        endpoint: Endpoint::Mock(MockScript {
            latency: Nanos::from_millis(5),
            ..MockScript::default()
        }),
        workload: Workload::Tpcc(Tpcc {
            warehouses: 1,
            mode: TxnMode::Procedures,
            home: Home::Fixed,
        }),
        load: LoadShape::closed(2),
        share: GeneratorShare::default(),
        timeline: Timeline {
            warm: Nanos::ZERO,
            measure: Nanos::from_secs(seconds),
            cool: Nanos::SECOND,
        },
        pacing: Pacing::default(),
        seed: 1.into(),
        round: 1,
        max_retries: 0,
        power_cut: false,
    }
}

/// The next one that is not of samples, which come each second.
fn report(stream: &mut UnixStream, number: &mut u64) -> WorkerReport {
    loop {
        match frame::read(stream).unwrap() {
            Some(WorkerReply::Numbered {
                number: own,
                report,
            }) => {
                assert_eq!(own, *number);
                *number += 1;
                if !matches!(report, WorkerReport::Samples(_)) {
                    return report;
                }
            }
            Some(WorkerReply::Pong { .. }) => {}
            other => panic!("{other:?}"),
        }
    }
}

const JOB: JobId = JobId(3);

#[test]
fn a_lane_goes_on_without_a_controller_and_no_report_is_missing() {
    let served = Served::begin(&id("cut"));
    let mut stream = served.hello(0);
    let task = HostTask::Lane(Box::new(lane(2)));
    frame::write(&mut stream, &Request::Run { job: JOB, task }).unwrap();
    let mut number = 0;
    assert_eq!(
        report(&mut stream, &mut number),
        WorkerReport::Ready { job: JOB }
    );
    frame::write(
        &mut stream,
        &Request::Ping {
            sent: Nanos::SECOND,
        },
    )
    .unwrap();
    let clock = loop {
        match frame::read(&mut stream).unwrap() {
            Some(WorkerReply::Pong { clock, .. }) => break clock,
            Some(WorkerReply::Numbered { .. }) => number += 1,
            other => panic!("{other:?}"),
        }
    };
    let at = clock.clock + Nanos::from_millis(100);
    frame::write(&mut stream, &Request::Start { job: JOB, at }).unwrap();
    let started = WorkerReport::Lane {
        job: JOB,
        message: LaneMessage::Started { at },
    };
    assert_eq!(report(&mut stream, &mut number), started);
    drop(stream);
    // The next connection reads on; the one after that from the beginning.
    let mut seconds = 0;
    let mut stream = served.hello(number);
    loop {
        match report(&mut stream, &mut number) {
            WorkerReport::Lane {
                message: LaneMessage::Second(second),
                ..
            } => seconds += u32::from(second.tick.end > second.tick.start),
            WorkerReport::Lane {
                message: LaneMessage::Ended(_),
                ..
            } => break,
            other => panic!("{other:?}"),
        }
    }
    assert!(seconds >= 2, "{seconds}");
    let first = report(&mut served.hello(0), &mut 0);
    assert_eq!(first, WorkerReport::Ready { job: JOB });
    drop(stream);
    served.end();
}

#[test]
fn an_order_before_the_start_ends_the_lane() {
    let served = Served::begin(&id("order"));
    let mut stream = served.hello(0);
    let task = HostTask::Lane(Box::new(lane(60)));
    frame::write(&mut stream, &Request::Run { job: JOB, task }).unwrap();
    let mut number = 0;
    assert_eq!(
        report(&mut stream, &mut number),
        WorkerReport::Ready { job: JOB }
    );
    let order = LaneControl::Stop;
    frame::write(&mut stream, &Request::Order { job: JOB, order }).unwrap();
    let WorkerReport::Lane {
        message: LaneMessage::Ended(_),
        ..
    } = report(&mut stream, &mut number)
    else {
        panic!("it does not end")
    };
    drop(stream);
    served.end();
}

#[test]
fn a_session_without_a_controller_ends_its_jobs_and_leaves_a_journal() {
    let mut served = Served::begin(&id("orphan"));
    let mut stream = served.hello_for(0, Nanos::from_millis(300));
    let task = HostTask::Lane(Box::new(lane(600)));
    frame::write(&mut stream, &Request::Run { job: JOB, task }).unwrap();
    assert_eq!(
        report(&mut stream, &mut 0),
        WorkerReport::Ready { job: JOB }
    );
    drop(stream);
    served.thread.take().unwrap().join().unwrap().unwrap();
    let dir = served.dir.take().unwrap();
    assert!(!dir.socket().exists());
    // Another session of the name reads the journal to its end, and runs nothing.
    let again = Served::begin(&id("orphan"));
    let mut stream = again.hello(0);
    assert!(again.dir.as_ref().unwrap().path().join("cleared").exists());
    let mut number = 0;
    assert_eq!(
        report(&mut stream, &mut number),
        WorkerReport::Ready { job: JOB }
    );
    let ended = report(&mut stream, &mut number);
    assert!(
        matches!(
            ended,
            WorkerReport::Lane {
                message: LaneMessage::Ended(_),
                ..
            }
        ),
        "{ended:?}"
    );
    drop(stream);
    again.end();
}

#[test]
fn a_farewell_is_heard_though_its_controller_is_gone() {
    let mut served = Served::begin(&id("farewell"));
    let mut stream = served.hello(0);
    let ping = Request::Ping {
        sent: Nanos::SECOND,
    };
    // Answers to these cannot be sent, and the farewell behind them is read.
    let mut requests = frame::encode(&ping).unwrap().repeat(500);
    requests.extend(frame::encode(&Request::Leave).unwrap());
    stream.write_all(&requests).unwrap();
    drop(stream);
    served.thread.take().unwrap().join().unwrap().unwrap();
    assert!(!served.dir.take().unwrap().path().exists());
}

#[test]
fn another_version_and_garbage_are_refused_and_the_session_goes_on() {
    let served = Served::begin(&id("garbage"));
    let mut stream = served.connect();
    let hello = Request::Hello {
        version: VERSION + 1,
        incarnation: None,
        received: 0,
        patience: Nanos::SECOND,
    };
    frame::write(&mut stream, &hello).unwrap();
    let Some(WorkerReply::Refused { why }) = frame::read(&mut stream).unwrap() else {
        panic!("not refused")
    };
    assert!(why.contains("use the same plimsoll"), "{why}");
    for garbage in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        &[0xff; 64],
        &[9, 0, 0, 0, b'{'],
    ] {
        let mut stream = served.connect();
        // It may be closed already.
        let _ = stream.write_all(garbage);
        let _ = stream.shutdown(Shutdown::Write);
        assert!(!matches!(
            frame::read::<WorkerReply>(&mut stream),
            Ok(Some(_))
        ));
    }
    // A share of nothing is a failed job.
    let mut stream = served.hello(0);
    let mut task = Box::new(lane(1));
    task.share = GeneratorShare { index: 5, of: 6 };
    let task = HostTask::Lane(task);
    frame::write(&mut stream, &Request::Run { job: JOB, task }).unwrap();
    let failed = format!("{:?}", report(&mut stream, &mut 0));
    assert!(failed.contains("share"), "{failed}");
    drop(stream);
    served.end();
}

pub(crate) fn plan(text: &str) -> HostTask {
    HostTask::Plan(Box::new(PlanTask {
        text: text.into(),
        scale: 1.0,
        data_scale: 1.0,
        seed: 1,
        run_id: "r".into(),
        started_at: String::new(),
        command: String::new(),
        label: None,
        overwrite: Vec::new(),
    }))
}

fn plan_news(stream: &mut UnixStream, number: &mut u64) -> PlanNews {
    match report(stream, number) {
        WorkerReport::Plan { job: JOB, news } => news,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_plan_meets_the_others_and_its_file_arrives_whole() {
    let served = Served::begin(&id("plan"));
    // More than one part.
    let text: String = (0..300_000).map(|i| format!("{i} ")).collect();
    let mut stream = served.hello(0);
    let task = plan(&text);
    frame::write(&mut stream, &Request::Run { job: JOB, task }).unwrap();
    let mut seen = 0;
    for (number, what) in [(0, "first"), (1, "second")] {
        let what = what.to_owned();
        let met = PlanNews::Meeting { number, what };
        assert_eq!(plan_news(&mut stream, &mut seen), met);
        // A new connection gives the time once more.
        stream = served.hello(seen);
        let at = Nanos::from_secs(u64::from(number) + 5);
        let meeting = MeetingStart { number, at };
        for _ in 0..2 {
            frame::write(&mut stream, &Request::Meet { job: JOB, meeting }).unwrap();
        }
    }
    let starts = format!("{:?}", [5, 6].map(Nanos::from_secs));
    assert_eq!(
        plan_news(&mut stream, &mut seen),
        PlanNews::Progress(starts)
    );
    let mut file = Vec::new();
    loop {
        match plan_news(&mut stream, &mut seen) {
            PlanNews::FilePart(part) => {
                file.extend(base64::prelude::BASE64_STANDARD.decode(part).unwrap());
            }
            PlanNews::Ended(end) => break assert_eq!(end, PlanEnd::Complete),
            other => panic!("{other:?}"),
        }
    }
    assert!(file == text.as_bytes());
    drop(stream);
    served.end();
}

#[test]
fn a_session_that_is_not_the_known_one_refuses_and_leaves_nothing() {
    let mut served = Served::begin(&id("other"));
    let hello = |incarnation, received| Request::Hello {
        version: VERSION,
        incarnation,
        received,
        patience: Nanos::from_secs(20),
    };
    let mut stream = served.hello(0);
    let used = |hello: &Request| {
        let mut stream = served.connect();
        frame::write(&mut stream, hello).unwrap();
        frame::read::<WorkerReply>(&mut stream).unwrap().unwrap()
    };
    let other = Some(Incarnation(7));
    assert_eq!(used(&hello(other, 0)), WorkerReply::Forgotten);
    assert_eq!(used(&hello(None, 1_000)), WorkerReply::Forgotten);
    // Whoever is connected stays connected.
    frame::write(&mut stream, &Request::Leave).unwrap();
    served.thread.take().unwrap().join().unwrap().unwrap();
    let mut unused = Served::begin(&id("other"));
    let mut stream = unused.connect();
    frame::write(&mut stream, &hello(other, 0)).unwrap();
    let answer = frame::read::<WorkerReply>(&mut stream).unwrap();
    assert_eq!(answer, Some(WorkerReply::Forgotten));
    unused.thread.take().unwrap().join().unwrap().unwrap();
    assert!(!unused.dir.take().unwrap().path().exists());
}
