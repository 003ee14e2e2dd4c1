//! A lane of real fio on small files.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::time::Instant;

use plimsoll_plan::resolved::{BlockJob, SyncPolicy};
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_record::lane::LaneSecond;

use super::*;
use crate::arguments::tests::stream;
use crate::arguments::{Manner, Part, of_job};
use crate::fio::{FioName, find};

const SIZE: u64 = 8 << 20;

fn job() -> BlockJob {
    let data = plimsoll_plan::resolved::BlockStream {
        read_percent: 50,
        depth: 4,
        threads: 1,
        direct: false,
        sync: SyncPolicy::Flush { every: 16 },
        ..stream()
    };
    BlockJob {
        name: "mixed".into(),
        streams: vec![data],
        curve: Vec::new(),
    }
}

fn task(directory: &Path, workers: usize, measure: u64) -> Task {
    let engine = find().unwrap().engine;
    let worker = |number: usize| {
        let name = number.to_string();
        std::fs::write(directory.join(&name), vec![7; SIZE as usize]).unwrap();
        let part = Part {
            directory: directory.into(),
            file: FioName::new(Path::new(&name)).unwrap(),
            offset: 0,
            size: SIZE,
        };
        let manner = Manner {
            engine,
            seed: 1,
            at_most: Nanos::from_secs(600),
            rates: vec![Some(200.0)],
        };
        FioCommand {
            args: of_job(&job(), &part, &manner),
            directory: Some(part.directory.clone()),
            writable: vec![part.path()],
            ..FioCommand::default()
        }
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

fn drive(
    task: &Task,
    order: impl Fn(&[LaneMessage]) -> LaneControl,
) -> (Vec<LaneMessage>, Vec<Share>) {
    let messages = RefCell::new(Vec::new());
    let began = Instant::now();
    let links = Links {
        now: &|| began.elapsed().into(),
        of_unix_ms: &|_| Nanos::ZERO,
        order: &|| order(&messages.borrow()),
        send: &mut |message| {
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
    let Some(LaneMessage::Ended(end)) = messages.last() else {
        panic!("no end")
    };
    end
}

#[test]
fn two_workers_are_measured_and_shared_out() {
    let directory = tempfile::tempdir().unwrap();
    // On a starved machine little may be done in two seconds.
    let all_types = [2, 20, 200].iter().any(|&length| {
        let (messages, shares) = drive(&task(directory.path(), 2, length), |_| LaneControl::Run);
        assert_eq!(*end(&messages), LaneEnd::Complete);
        assert!(matches!(messages[0], LaneMessage::Started { .. }));
        let seconds = seconds(&messages);
        let measured: Vec<_> = seconds
            .iter()
            .filter(|second| second.tick.phase == PhaseKind::Measure)
            .collect();
        assert_eq!(measured.len() as u64, length);
        assert!(
            shares
                .iter()
                .all(|share| share.requests == share.response.count())
        );
        (0..3).all(|txn| {
            let of_seconds: u64 = measured
                .iter()
                .map(|second| second.tallies[txn].counts.committed)
                .sum();
            let of_workers: u64 = shares
                .iter()
                .filter(|share| share.txn == txn)
                .map(|share| share.requests)
                .sum();
            assert_eq!(of_seconds, of_workers);
            of_seconds > 0
        })
    });
    assert!(all_types, "requests of each type");
}

#[test]
fn a_lane_that_is_ended_early_keeps_what_was_measured() {
    let directory = tempfile::tempdir().unwrap();
    for (order, expected) in [
        (LaneControl::Close, LaneEnd::Closed),
        (LaneControl::Stop, LaneEnd::Stopped),
    ] {
        let after_three = |sent: &[LaneMessage]| {
            if sent.len() > 2 {
                order
            } else {
                LaneControl::Run
            }
        };
        let (messages, _) = drive(&task(directory.path(), 1, 50), after_three);
        assert_eq!(*end(&messages), expected);
        assert!(
            seconds(&messages)
                .iter()
                .any(|second| second.tick.phase == PhaseKind::Measure)
        );
    }
}

#[test]
fn a_failed_worker_is_reported_with_the_messages_of_fio() {
    let directory = tempfile::tempdir().unwrap();
    let task = task(directory.path(), 2, 50);
    std::fs::remove_file(directory.path().join("1")).unwrap();
    let (messages, shares) = drive(&task, |_| LaneControl::Run);
    let LaneEnd::Failed(why) = end(&messages) else {
        panic!("{:?}", end(&messages))
    };
    assert!(why.starts_with("fio failed at mixed: worker 2: "), "{why}");
    assert!(
        why.contains("file creation disallowed") && why.contains("\nThe command was: fio "),
        "{why}"
    );
    assert_eq!(shares.iter().map(|share| share.requests).sum::<u64>(), 0);
}

#[test]
fn a_worker_that_is_killed_ends_the_lane_and_what_was_measured_stays() {
    let directory = tempfile::tempdir().unwrap();
    let task = task(directory.path(), 2, 50);
    let killed = Cell::new(false);
    let (messages, shares) = drive(&task, |sent| {
        if sent.len() > 2 && !killed.replace(true) {
            kill_fio_at(directory.path(), "0");
        }
        LaneControl::Run
    });
    let LaneEnd::Failed(why) = end(&messages) else {
        panic!("{:?}", end(&messages))
    };
    assert!(
        why.contains("worker 1: ") && why.contains("signal: 9"),
        "{why}"
    );
    assert!(
        seconds(&messages)
            .iter()
            .any(|second| second.tick.phase == PhaseKind::Measure)
    );
    assert!(shares.iter().any(|share| share.requests > 0));
}

/// What was measured is complete by then.
#[test]
fn a_worker_that_crashes_while_it_ends_is_no_failure() {
    let directory = tempfile::tempdir().unwrap();
    let (messages, _) = drive(&task(directory.path(), 2, 50), |sent| {
        if sent.len() < 3 {
            return LaneControl::Run;
        }
        kill_fio_at(directory.path(), "0");
        LaneControl::Close
    });
    assert_eq!(*end(&messages), LaneEnd::Closed);
}

fn kill_fio_at(directory: &Path, file: &str) {
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line);
        let works_here =
            std::fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd == directory);
        if works_here && line.starts_with("fio") && line.contains(&format!("--filename={file}\0")) {
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
    let args = [
        "--output-format=json+",
        "--status-interval=1",
        "--name=w",
        "--rw=write",
        "--size=4M",
        "--bs=4k",
    ];
    let args = args.map(String::from).into();
    let task = Task {
        job: "own.fio".into(),
        workers: vec![FioCommand {
            args,
            directory: Some(directory.path().into()),
            writable: vec![directory.path().into()],
            ..FioCommand::default()
        }],
        shape: Shape::Whole,
        warm: Nanos::ZERO,
        measure: Nanos::from_secs(60),
        ends: true,
    };
    let (messages, shares) = drive(&task, |_| LaneControl::Run);
    assert_eq!(*end(&messages), LaneEnd::Complete);
    let writes: u64 = seconds(&messages)
        .iter()
        .map(|second| second.tallies[1].counts.committed)
        .sum();
    assert_eq!(
        (writes, shares[1].requests, shares[1].bytes),
        (1024, 1024, 4 << 20)
    );
    assert!(
        directory.path().join("w.0.0").exists(),
        "in its own directory"
    );
}
