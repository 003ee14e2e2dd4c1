use std::sync::mpsc::channel;

use plimsoll_load::clock::Clock;
use plimsoll_plan::resolved::PlanHost;
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_record::SubjectId;
use plimsoll_record::lane::{Absence, LaneControl};
use plimsoll_record::message::EventKind;
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use super::super::connection::{Dial, Ends, WorkerConnection};
use super::super::link_state::{LinkedJob, REPORTS};
use super::super::{HostTarget, Shared};
use super::*;
use crate::frame;
use crate::session::tests::{lane, plan};
use crate::state::SessionId;

const LANE: JobId = JobId(1);
const PLAN: JobId = JobId(2);
const START: Nanos = Nanos::from_secs(1_000);

struct NoDial;

impl Dial for NoDial {
    fn begin(&self) -> std::io::Result<(Box<dyn WorkerConnection>, Ends)> {
        Err(std::io::ErrorKind::NotFound.into())
    }

    fn greet(&self, _: &mut Ends) -> std::io::Result<()> {
        Ok(())
    }
}

fn welcome() -> Welcome {
    Welcome {
        version: VERSION,
        incarnation: Incarnation(1),
        is_running: true,
        reports: 0,
        facts: HostFacts {
            host_name: "h".into(),
            kernel: "6".into(),
            architecture: "x86_64".into(),
            processors: 2,
            program: "0.1".into(),
            disks: vec!["sda".into()],
        },
    }
}

fn second(at: u64) -> LaneSecond {
    let mut stats = TransactionStats::default();
    stats.record(Nanos(5_000_000), Nanos(5_000_000));
    let (mut counts, response, service) = stats.into_parts();
    counts.committed = 1;
    counts.offered = 1;
    let mut tallies = vec![TransactionStats::new(counts, response, service)];
    tallies.resize(
        LaneBounds::from(&lane(2)).transactions,
        TransactionStats::default(),
    );
    LaneSecond {
        tick: Tick {
            start: Nanos::from_secs(at),
            end: Nanos::from_secs(at + 1),
            phase: PhaseKind::Measure,
        },
        in_flight: 1,
        tallies,
        earlier: Vec::new(),
        late: 0,
        overflow: 0,
        merge_lag: Nanos::ZERO,
        absence: Absence::default(),
    }
}

/// What an honest worker sends.
fn honest() -> Vec<Value> {
    let clock = HostTime {
        // Its seconds are over.
        clock: START + Nanos::from_secs(20),
        date: 1_790_000_000_000_000,
    };
    let of_lane = |message| WorkerReport::Lane { job: LANE, message };
    let of_plan = |news| WorkerReport::Plan { job: PLAN, news };
    let reports = vec![
        WorkerReport::Samples(vec![WorkerSample {
            metric: "cpu_user".into(),
            disk: Some("sda".into()),
            at: START,
            over: Nanos::SECOND,
            value: 0.5,
        }]),
        WorkerReport::Ready { job: LANE },
        of_lane(LaneMessage::Started { at: START }),
        of_lane(LaneMessage::Second(Box::new(second(0)))),
        of_lane(LaneMessage::Second(Box::new(second(1)))),
        of_lane(LaneMessage::Event(LaneEvent::new(
            Nanos::SECOND,
            EventKind::Late { outcomes: 1 },
        ))),
        of_lane(LaneMessage::Ended(LaneEnd::Failed("no server".into()))),
        of_plan(PlanNews::Progress("loading".into())),
        of_plan(PlanNews::Meeting {
            number: 0,
            what: "first".into(),
        }),
        of_plan(PlanNews::FilePart(STANDARD.encode("bytes"))),
        of_plan(PlanNews::Ended(PlanEnd::Complete)),
    ];
    let pong = WorkerReply::Pong {
        sent: Nanos(1),
        clock,
    };
    let numbered = (0..)
        .zip(reports)
        .map(|(number, report)| WorkerReply::Numbered { number, report });
    let replies = std::iter::once(pong).chain(numbered);
    replies
        .map(|reply| serde_json::to_value(reply).unwrap())
        .collect()
}

/// Why the host is lost that sends this, after all that a link has asked of it.
fn lost(frames: &[Value]) -> Option<String> {
    let bytes: Vec<u8> = frames
        .iter()
        .flat_map(|frame| frame::encode(frame).unwrap())
        .collect();
    lost_by(&bytes)
}

fn lost_by(mut bytes: &[u8]) -> Option<String> {
    let target = HostTarget {
        host: PlanHost {
            name: "hostile".into(),
            via: Vec::new(),
            program: None,
            patience: Nanos::SECOND,
        },
        session: SessionId::parse("test-hostile").unwrap(),
        subject: SubjectId(1),
        samples: channel().0,
        past: None,
        orders: watch::channel(LaneControl::Run).1,
    };
    let shared = Shared::new(target, Box::new(NoDial), Clock::real());
    let mut kept = Vec::new();
    let mut state = shared.state();
    state.intake.welcome(&welcome(), 0).unwrap();
    state.intake.asked(Nanos(1));
    for (job, task) in [(LANE, HostTask::Lane(Box::new(lane(2)))), (PLAN, plan("p"))] {
        let (news, receiver) = mpsc::channel(REPORTS);
        kept.push(receiver);
        state.intake.begin(job, &task);
        state.jobs.insert(job, LinkedJob::new(Some(task), news));
    }
    state.intake.start(LANE, START);
    drop(state);
    shared.read(&mut bytes);
    shared.state().lost.clone()
}

/// A frame of [`honest`], by its place, with a field that is another one.
struct Hostile {
    frame: usize,
    field: &'static str,
    value: Value,
    refused: &'static str,
}

fn hostile(frame: usize, field: &'static str, value: Value, refused: &'static str) -> Hostile {
    Hostile {
        frame,
        field,
        value,
        refused,
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn what_no_worker_sends_makes_a_lost_host() {
    let honest = honest();
    assert_eq!(lost(&honest), None);
    let max = || json!(u64::MAX);
    let long = || json!("x".repeat(1 << 20));
    const REPORT: &str = "/numbered/report";
    let cases = [
        hostile(0, "/pong/clock/clock", max(), "a time that no clock shows"),
        hostile(0, "/pong/clock/clock", json!(-1), "cannot be read"),
        hostile(
            0,
            "/pong/clock/date",
            json!(i64::MIN),
            "a date that cannot be",
        ),
        hostile(
            0,
            "/pong/clock/date",
            json!(i64::MAX),
            "a date that cannot be",
        ),
        hostile(0, "/pong/sent", json!(2), "not asked"),
        hostile(0, "/pong", json!({}), "cannot be read"),
        hostile(1, "/numbered/number", json!(1), "out of their order"),
        hostile(1, "/numbered/number", max(), "out of their order"),
        hostile(
            1,
            "/samples/0/at",
            json!(1_u64 << 63),
            "a time that no clock shows",
        ),
        hostile(
            1,
            "/samples/0/at",
            json!(START.0 + 60_000_000_000),
            "still to come",
        ),
        hostile(1, "/samples/0/over", max(), "a sample over more"),
        hostile(1, "/samples/0/value", json!(1e300), "finite"),
        hostile(1, "/samples/0/value", Value::Null, "cannot be read"),
        hostile(1, "/samples/0/metric", long(), "the name of a metric"),
        hostile(1, "/samples/0/disk", long(), "the name of a disk"),
        hostile(2, "/ready/job", json!(77), "a job that it was not given"),
        hostile(
            3,
            "/lane/message/Started/at",
            max(),
            "a time that no clock shows",
        ),
        hostile(
            3,
            "/lane/message/Started/at",
            json!(5),
            "not given the time of",
        ),
        hostile(
            3,
            "/lane/message",
            json!({ "Acknowledged": { "counts": [] } }),
            "a power cut",
        ),
        hostile(
            4,
            "/lane/message/Second/tick/start",
            max(),
            "does not follow",
        ),
        hostile(
            4,
            "/lane/message/Second/tick/end",
            json!(60_000_000_000_u64),
            "still to come",
        ),
        hostile(4, "/lane/message/Second/tick/end", max(), "does not follow"),
        hostile(
            4,
            "/lane/message/Second/tick/phase",
            json!("backup"),
            "does not follow",
        ),
        hostile(4, "/lane/message/Second/in_flight", max(), "a count"),
        hostile(4, "/lane/message/Second/late", max(), "a count"),
        hostile(4, "/lane/message/Second/overflow", max(), "a count"),
        hostile(4, "/lane/message/Second/merge_lag", max(), "a wait"),
        hostile(4, "/lane/message/Second/absence/server", max(), "a wait"),
        hostile(
            4,
            "/lane/message/Second/absence/connections",
            max(),
            "a wait",
        ),
        hostile(
            4,
            "/lane/message/Second/tallies",
            json!([]),
            "other transactions",
        ),
        hostile(
            4,
            "/lane/message/Second/tallies/0/counts/committed",
            max(),
            "a count",
        ),
        hostile(
            4,
            "/lane/message/Second/tallies/0/counts/committed",
            json!(2),
            "a histogram",
        ),
        hostile(
            4,
            "/lane/message/Second/tallies/0/counts/bytes",
            max(),
            "a count",
        ),
        hostile(
            4,
            "/lane/message/Second/tallies/0/response",
            json!([1, 2, 3]),
            "cannot be read",
        ),
        hostile(
            5,
            "/lane/message/Second/tick/start",
            json!(0),
            "does not follow",
        ),
        hostile(
            6,
            "/lane/message/Event/at",
            max(),
            "an event after its load",
        ),
        hostile(
            6,
            "/lane/message/Event/kind",
            json!({ "Failed": 7 }),
            "cannot be read",
        ),
        hostile(7, "/lane/message/Ended/Failed", long(), "a reason"),
        hostile(8, "/plan/news/progress", long(), "progress"),
        hostile(
            9,
            "/plan/news/meeting/number",
            json!(3),
            "meetings out of their order",
        ),
        hostile(9, "/plan/news/meeting/what", long(), "a meeting"),
        hostile(10, "/plan/news/file_part", json!("*"), "no base64"),
        hostile(
            11,
            "/plan/news/ended",
            json!({ "failed": "x".repeat(1 << 20) }),
            "a reason",
        ),
    ];
    for Hostile {
        frame,
        field,
        value,
        refused,
    } in cases
    {
        let mut frames = honest.clone();
        let prefix = match field {
            whole if whole.starts_with("/numbered") || whole.starts_with("/pong") => "",
            _ => REPORT,
        };
        let path = format!("{prefix}{field}");
        *frames[frame]
            .pointer_mut(&path)
            .unwrap_or_else(|| panic!("{path}")) = value;
        let why = lost(&frames).unwrap_or_else(|| panic!("{path}: not refused"));
        assert!(why.contains(refused), "{path}: {why}");
    }
    let again = |frame: usize| {
        let mut frames = honest[..=frame].to_vec();
        frames.push(honest[frame].clone());
        let number = frames.len() - 2;
        *frames[frame + 1].pointer_mut("/numbered/number").unwrap() = json!(number);
        lost(&frames).unwrap_or_default()
    };
    assert!(again(2).contains("ready once more"), "{}", again(2));
    assert!(again(3).contains("not given the time of"), "{}", again(3));
    assert!(again(4).contains("does not follow"), "{}", again(4));
    assert!(again(7).contains("after its end"), "{}", again(7));
    assert!(
        again(9).contains("meetings out of their order"),
        "{}",
        again(9)
    );
    // A second before its start, a second welcome.
    let mut early = honest[..=4].to_vec();
    early.remove(3);
    *early[3].pointer_mut("/numbered/number").unwrap() = json!(2);
    assert!(lost(&early).unwrap().contains("has not started"));
    let welcome = serde_json::to_value(WorkerReply::Welcome(welcome())).unwrap();
    assert!(lost(&[welcome]).unwrap().contains("a second welcome"));
    assert!(
        lost(&[json!("forgotten")])
            .unwrap()
            .contains("its session is gone")
    );
    assert!(lost_by(&[0xff; 64]).unwrap().contains("cannot be read"));
    // Half a frame is a cut.
    assert_eq!(lost_by(&frame::encode(&honest[0]).unwrap()[..9]), None);
}

#[test]
fn a_welcome_that_no_worker_sends_is_refused() {
    type Change = fn(&mut Welcome);
    let cases: [(Change, &str); 8] = [
        (|it| it.version += 1, "another version's"),
        (|it| it.incarnation.0 += 1, "another session's"),
        (|it| it.reports = 2, "fewer reports"),
        (
            |it| it.facts.kernel = "x".repeat(1 << 20),
            "a name of 1048576 bytes",
        ),
        (
            |it| it.facts.program = "\u{1b}[2J".into(),
            "control characters",
        ),
        (
            |it| it.facts.host_name = "a\nb".into(),
            "control characters",
        ),
        (|it| it.facts.disks = vec!["sda".into(); 5000], "more disks"),
        (
            |it| it.facts.disks = vec!["x".repeat(300)],
            "a name of 300 bytes",
        ),
    ];
    for (change, refused) in cases {
        let mut intake = Intake::default();
        intake.welcome(&welcome(), 0).unwrap();
        let mut other = welcome();
        other.reports = 9;
        change(&mut other);
        let why = intake.welcome(&other, 3).unwrap_err();
        assert!(why.contains(refused), "{why}");
    }
}

#[test]
fn a_clock_has_to_move_as_ours_does() {
    let ask = |intake: &mut Intake, now: u64, clock: u64| {
        let sent = Nanos::from_secs(now);
        intake.asked(sent);
        let clock = Nanos::from_millis(clock * 10);
        intake.pong(sent, HostTime { clock, date: 0 }, sent)
    };
    let begun = || {
        let mut intake = Intake::default();
        intake.welcome(&welcome(), 0).unwrap();
        ask(&mut intake, 1, 500).unwrap();
        ask(&mut intake, 2, 600).unwrap();
        intake
    };
    assert!(ask(&mut begun(), 3, 599).unwrap_err().contains("backwards"));
    let stands = ask(&mut begun(), 30, 700).unwrap_err();
    assert!(stands.contains("stands still"), "{stands}");
    // This machine was asleep for an hour.
    ask(&mut begun(), 3, 400_000).unwrap();
    let mut long = begun();
    (3..600).for_each(|second| ask(&mut long, second, 400 + second * 100).unwrap());
}

#[test]
fn a_load_of_which_nothing_is_heard_any_more_is_overdue() {
    let mut intake = Intake::default();
    intake.begin(LANE, &HostTask::Lane(Box::new(lane(2))));
    let at = |seconds| START + Nanos::from_secs(seconds);
    assert_eq!(intake.overdue(at(500)), None);
    intake.start(LANE, START);
    assert_eq!(intake.overdue(at(59)), None);
    assert!(intake.overdue(at(61)).is_some());
}

/// Numbers and texts at their limits, and what is neither.
fn odd_values() -> Vec<Value> {
    vec![
        json!(0),
        json!(-1),
        json!(1_u64 << 40),
        json!(1_u64 << 63),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1e300),
        json!(-1e300),
        json!("x".repeat(70_000)),
        json!("\u{1b}]0;x\u{7}"),
        Value::Null,
        json!([]),
        json!({}),
    ]
}

/// Changes the n-th value of a tree, counted through all of it.
fn change(value: &mut Value, n: &mut usize, other: &Value) {
    if *n == 0 {
        *value = other.clone();
    }
    *n = n.wrapping_sub(1);
    match value {
        Value::Array(values) => values.iter_mut().for_each(|own| change(own, n, other)),
        Value::Object(fields) => fields.values_mut().for_each(|own| change(own, n, other)),
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    /// What enters can be added up for many hosts, and written.
    #[test]
    fn whatever_a_frame_holds_is_refused_or_harmless(
        changes in prop::collection::vec((0usize..12, 0usize..60, 0usize..13), 1..4),
    ) {
        let mut frames = honest();
        for (frame, nth, value) in changes {
            change(&mut frames[frame], &mut nth.clone(), &odd_values()[value]);
        }
        lost(&frames);
        let mut intake = Intake::of_past(None);
        intake.expect(LANE, Some(LaneBounds::from(&lane(2))));
        let mut merger = crate::fleet::SecondMerger::new(8);
        for frame in &frames {
            let Ok(WorkerReply::Numbered { number, report }) = serde_json::from_value(frame.clone()) else {
                continue;
            };
            let arrival = FrameArrival { now: START, host: None, received: number };
            if intake.report(&report, arrival).is_err() {
                break;
            }
            if let WorkerReport::Lane { message: LaneMessage::Second(second), .. } = report {
                for part in 0..8 {
                    for whole in merger.add(part, (*second).clone()) {
                        prop_assert!(i64::try_from((START + whole.tick.end).0).is_ok());
                        prop_assert!(i64::try_from(whole.absence.connections.0).is_ok());
                        prop_assert!(i64::try_from(whole.in_flight).is_ok());
                        let all = whole.tallies.iter().map(|stats| stats.counts.completed());
                        prop_assert!(i64::try_from(all.sum::<u64>()).is_ok());
                    }
                }
            }
        }
    }
}
