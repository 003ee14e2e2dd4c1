//! What limits constructed points of which the cause is known. The machine has four CPUs.

use super::*;
use crate::summarise;
use crate::summary::{Ticks, Verdict, point};
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use plimsoll_record::drive::DriveOp;
use plimsoll_record::hist::Hist;
use plimsoll_record::lane::Counts;
use plimsoll_record::{Sample, Series, SubjectId, WaitRow, fixture};

const HOST: SubjectId = SubjectId(1);
const SYSTEM: SubjectId = SubjectId(6);
const GENERATOR: SubjectId = SubjectId(8);
const EMULATOR: SubjectId = SubjectId(9);

/// Four users, 100 transactions a second of 40 ms each: four are under way.
struct Cause {
    /// In percent of one CPU: of four all programs, the system, plimsoll, the emulator; `None`: not watched.
    all: f32,
    system: Option<f32>,
    generator: f32,
    emulator: f32,
    /// Sessions in a sample.
    waits: &'static [(WaitState, u32)],
}

/// A machine with little to do.
const CALM: Cause = Cause {
    all: 110.0,
    system: Some(60.0),
    generator: 30.0,
    emulator: 0.0,
    waits: &[],
};

fn record(cause: &Cause) -> Record {
    let mut record = fixture::single_point();
    let cpus = record.facts.iter_mut().filter(|fact| fact.key == CPUS_FACT);
    cpus.for_each(|fact| fact.value = "4".to_owned());
    let window = |phase: &&plimsoll_record::Phase| phase.kind == PhaseKind::Measure;
    let window = record.phases.iter().find(window).unwrap().clone();
    let seconds: Vec<Nanos> = (window.start.0..window.end.0)
        .step_by(Nanos::SECOND.0 as usize)
        .map(Nanos)
        .collect();
    (record.points[0].users, record.points[0].connections) = (4, 4);
    record.seconds.edit(|all| {
        for second in all {
            let n = if second.txn == 0 { 100 } else { 0 };
            second.counts = Counts {
                offered: n,
                committed: n,
                ..Counts::default()
            };
            second.in_flight = 0;
        }
    });
    for own in &mut record.windows {
        own.response = Hist::new();
        own.service = None;
        let phase = record.phases.iter().find(|phase| phase.id == own.phase);
        let lasts = phase.unwrap().end.saturating_sub(phase.unwrap().start);
        let n = if own.txn == 0 {
            100 * lasts.0 / Nanos::SECOND.0
        } else {
            0
        };
        (0..n).for_each(|_| own.response.record(Nanos::from_millis(40)));
    }
    let series = |subject, metric, value| Series {
        subject,
        metric,
        samples: seconds
            .iter()
            .map(|start| Sample {
                at: *start + Nanos::SECOND,
                over: Nanos::SECOND,
                value,
            })
            .collect(),
    };
    record.series = vec![
        series(HOST, Metric::CpuUser, cause.all / 4.0),
        series(HOST, Metric::CpuSystem, 0.0),
        series(HOST, Metric::CpuSteal, 0.0),
        series(GENERATOR, Metric::GeneratorCpu, cause.generator),
        series(EMULATOR, Metric::SystemCpu, cause.emulator),
    ];
    let system = cause
        .system
        .map(|used| series(SYSTEM, Metric::SystemCpu, used));
    record.series.extend(system);
    record.waits.clear();
    for start in &seconds {
        record
            .waits
            .extend(cause.waits.iter().map(|(state, sessions)| WaitRow {
                subject: SYSTEM,
                start: *start,
                end: *start + Nanos::SECOND,
                state: *state,
                event: String::new(),
                sessions: sessions * 10,
                samples: 10,
            }));
    }
    (record.events, record.drive) = (Vec::new(), Vec::new());
    record
}

fn signs_of(record: &Record) -> Vec<Sign> {
    let ticks = Ticks::of(record);
    let index = Index::new(record, &ticks);
    point::summarise(&index, &record.points[0]).bottleneck
}

/// The first sign of the point, which the answer names as well.
fn limiter(cause: &Cause) -> Option<Bottleneck> {
    let record = record(cause);
    let first = signs_of(&record).first().map(|sign| sign.what);
    let answer = summarise(&record).answer.unwrap();
    let named = answer.limited_by.first().map(|own| own.limiter);
    // A result without an answer names no limit.
    if answer.verdict < Verdict::Invalid {
        assert_eq!(first, named, "the point's is the answer's");
    }
    first
}

#[test]
fn cpu_of_the_system_is_named_where_its_sessions_run() {
    let busy = Cause {
        all: 396.0,
        system: Some(310.0),
        generator: 60.0,
        waits: &[(WaitState::Cpu, 3), (WaitState::Log, 1)],
        ..CALM
    };
    assert_eq!(limiter(&busy), Some(Bottleneck::Cpu));
    // One session that never waits has a CPU to itself: the machine has three more.
    let serial = Cause {
        all: 130.0,
        system: Some(97.0),
        waits: &[(WaitState::Cpu, 1), (WaitState::Lock, 0)],
        ..CALM
    };
    let record = record(&serial);
    assert_eq!(
        signs_of(&record)[0].what,
        Bottleneck::Client,
        "three of four are elsewhere"
    );
}

#[test]
fn cpu_of_other_programs_is_theirs() {
    let others = Cause {
        all: 398.0,
        system: Some(50.0),
        waits: &[
            (WaitState::Cpu, 2),
            (WaitState::Log, 1),
            (WaitState::Idle, 1),
        ],
        ..CALM
    };
    assert_eq!(limiter(&others), Some(Bottleneck::OtherPrograms));
    let sign = signs_of(&record(&others))[0];
    assert!(
        (sign.beyond - (398.0 - 50.0 - 30.0) / 4.0).abs() < 0.01,
        "{sign:?}"
    );
    // An emulator is none of them.
    let emulated = Cause {
        emulator: 300.0,
        ..others
    };
    assert_eq!(limiter(&emulated), Some(Bottleneck::Cpu));
}

#[test]
fn waits_of_sessions_count_before_a_busy_machine() {
    // `commit_delay`: one session sleeps without an event, and those that wait for it name the log.
    let delayed = Cause {
        all: 360.0,
        system: Some(80.0),
        waits: &[(WaitState::Log, 3), (WaitState::Cpu, 1)],
        ..CALM
    };
    assert_eq!(limiter(&delayed), Some(Bottleneck::Log));
    let locks = Cause {
        all: 380.0,
        system: Some(200.0),
        waits: &[(WaitState::Lock, 3), (WaitState::Cpu, 1)],
        ..CALM
    };
    assert_eq!(limiter(&locks), Some(Bottleneck::Locks));
    let reads = Cause {
        waits: &[(WaitState::DataRead, 3), (WaitState::Cpu, 1)],
        ..CALM
    };
    assert_eq!(limiter(&reads), Some(Bottleneck::Reads));
}

#[test]
fn a_session_that_sleeps_without_an_event_uses_no_cpu() {
    let sleeps = Cause {
        all: 40.0,
        system: Some(8.0),
        waits: &[
            (WaitState::Cpu, 2),
            (WaitState::Log, 1),
            (WaitState::Latch, 1),
        ],
        ..CALM
    };
    assert_eq!(limiter(&sleeps), None);
    // What waits for it names the log where more do.
    let waits = Cause {
        waits: &[(WaitState::Cpu, 1), (WaitState::Log, 3)],
        ..sleeps
    };
    assert_eq!(limiter(&waits), Some(Bottleneck::Log));
    // Of a server that is not watched, work without a wait is CPU as a rule.
    let unwatched = Cause {
        system: None,
        ..sleeps
    };
    let mut record = record(&unwatched);
    record.points[0].medium = None;
    assert_eq!(signs_of(&record)[0].what, Bottleneck::SessionCpu);
}

#[test]
fn a_server_that_waits_for_its_client_does_not_limit() {
    // Three of four transactions are on their way, whatever the fourth waits for.
    let network = Cause {
        waits: &[(WaitState::Client, 3), (WaitState::Log, 1)],
        ..CALM
    };
    assert_eq!(limiter(&network), Some(Bottleneck::Client));
    let generator = Cause {
        all: 280.0,
        generator: 195.0,
        waits: &[(WaitState::Client, 3), (WaitState::Cpu, 1)],
        ..CALM
    };
    assert_eq!(limiter(&generator), Some(Bottleneck::Generator));
}

#[test]
fn an_emulator_that_is_late_limits_and_not_its_drive() {
    let flushes = Cause {
        waits: &[(WaitState::Log, 4)],
        ..CALM
    };
    let record = record(&flushes);
    let ticks = Ticks::of(&record);
    let index = Index::new(&record, &ticks);
    let mut figures = point::summarise(&index, &record.points[0]);
    let late = FindingKind::Emulated {
        drive: "disk".into(),
        op: DriveOp::Write,
        ops: 9_000,
        modelled_p50_us: 100.0,
        late_p50_us: 90.0,
        late_percent: 90.0,
        beyond_percent: 40.0,
        added_percent: 92.0,
    };
    let queued = FindingKind::EmulationWaited {
        drive: "disk".into(),
        kernel_ms: 9.0,
        emulator_ms: 7.0,
        added_percent: 52.0,
    };
    // On a real drive they would queue there as well.
    figures.findings.push(queued.with(Severity::Warning));
    assert_eq!(signs(&index, None, &figures)[0].what, Bottleneck::Log);
    figures.findings.push(late.with(Severity::Error));
    let first = signs(&index, None, &figures)[0];
    assert_eq!((first.what, first.beyond), (Bottleneck::Emulator, 92.0));
}

#[test]
fn a_limit_of_cpu_that_is_reached_limits() {
    let half_a_cpu = Cause {
        all: 80.0,
        system: Some(49.5),
        waits: &[(WaitState::Cpu, 4)],
        ..CALM
    };
    let limiter = |cpus| {
        let mut record = record(&half_a_cpu);
        record.plan = fixture::plan(&format!(
            "title = \"limited\"\n[medium.disk]\npath = \"/data\"\n\
             [system.db]\nengine = \"postgres\"\nlimits = {{ cpus = {cpus} }}\n\
             [workload.oltp.tpcc]\nwarehouses = 1\n[[step]]\nrun = \"oltp\"\nsystem = \"db\"\nusers = [4]\n"
        ));
        signs_of(&record).first().map(|sign| sign.what)
    };
    assert_eq!(limiter("0.5"), Some(Bottleneck::CpuLimit));
    // Sessions that wait for nothing, and do not use what they may.
    assert_eq!(limiter("2.0"), None);
    // A limit that is not in effect.
    assert_eq!(limiter("0.25"), None);
}

#[test]
fn nothing_is_claimed_of_a_system_whose_cpu_is_unknown() {
    let without_medium = |cause: &Cause| {
        let mut record = record(cause);
        record.points[0].medium = None;
        record
    };
    let full = Cause {
        all: 399.0,
        system: None,
        ..CALM
    };
    // Its own or that of others: running sessions do not show which.
    assert_eq!(
        signs_of(&without_medium(&full))[0].what,
        Bottleneck::Processors
    );
    let mock = "title = \"mock\"\n[system.db.mock]\nlatency = \"30ms\"\n[workload.oltp.tpcc]\nwarehouses = 1\n\
                [[step]]\nrun = \"oltp\"\nsystem = \"db\"\nusers = [4]\n";
    let mut record = without_medium(&full);
    record.plan = fixture::plan(mock);
    assert_eq!(signs_of(&record), []);
    let ticks = Ticks::of(&record);
    let index = Index::new(&record, &ticks);
    let cpu = point::summarise(&index, &record.points[0]).cpu.unwrap();
    assert!(
        (cpu.others_percent.unwrap() - 369.0 / 4.0).abs() < 0.01,
        "{cpu:?}"
    );
}
