//! A made-up record for tests of everything that reads records: every kind of row is in it, and no two values that
//! could be mistaken for one another are equal.
//!
//! Step `ladder` runs 1, 4 and 16 users on the media `fast` and `slow`; step `open` offers three rates on `fast`. One
//! consistency condition fails on `slow`, one connection is lost, and the last point was interrupted. `slow` is an
//! emulated drive (see [`drive`]).

mod backup;
mod block;
mod database;
mod drive;
mod metrics;
mod search;

pub use backup::backup;
pub use block::block;
pub use search::search;

use std::sync::LazyLock;

use crate::hist::Hist;
use crate::lane::Counts;
use crate::message::EventKind;
use crate::metric::Metric;
use crate::{
    Check, Event, Fact, Integrity, Phase, PhaseId, Point, PointId, PointPurpose, Record, RunInfo,
    RunStatus, Sample, Second, Series, Severity, Subject, SubjectId, SubjectKind, Window,
};
use plimsoll_plan::Interference;
use plimsoll_plan::resolved::TPCC_TXNS;
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use plimsoll_plan::{Options, RecordedPlan, parse};

const HOST: SubjectId = SubjectId(1);
const NVME: SubjectId = SubjectId(2);
const SDA: SubjectId = SubjectId(3);
const FAST: SubjectId = SubjectId(4);
const SLOW: SubjectId = SubjectId(5);
const DB_FAST: SubjectId = SubjectId(6);
const DB_SLOW: SubjectId = SubjectId(7);
const GENERATOR: SubjectId = SubjectId(8);
const EMULATOR: SubjectId = SubjectId(9);

/// The fixture with a measure phase of ten seconds.
pub fn record() -> Record {
    // Building it takes longer than copying it, and every test wants one.
    static BUILT: LazyLock<Record> = LazyLock::new(|| lasting(10));
    BUILT.clone()
}

/// The fixture with a measure phase of `measure_s` seconds (at least 2).
pub fn lasting(measure_s: u64) -> Record {
    let mut build = Build {
        record: empty(),
        now: Nanos::ZERO,
        draws: 0,
    };
    build.phase(None, "ladder", PhaseKind::Prepare, 3, true);
    for (medium, system) in [(FAST, DB_FAST), (SLOW, DB_SLOW)] {
        for (ordinal, users) in [1, 4, 16].into_iter().enumerate() {
            build.point(
                ("ladder", 0),
                ordinal as u32,
                (medium, system),
                users,
                None,
                measure_s,
            );
        }
    }
    build.phase(None, "open", PhaseKind::Prepare, 2, true);
    for (ordinal, rate) in [50.0, 150.0, 450.0].into_iter().enumerate() {
        build.point(
            ("open", 1),
            ordinal as u32,
            (FAST, DB_FAST),
            31,
            Some(rate),
            measure_s,
        );
    }
    build.interrupt();
    build.series();
    build.events();
    build.drive();
    build.drive_events();
    build.waits();
    build.record
}

/// Interrupted in the first warm-up: nothing was measured.
pub fn nothing_measured() -> Record {
    let mut record = single_point();
    let last = PhaseId(2);
    record.phases.retain(|phase| phase.id <= last);
    record
        .phases
        .iter_mut()
        .for_each(|phase| phase.complete = phase.kind != PhaseKind::Warm);
    record.seconds.retain(|second| second.phase <= last);
    record.windows.retain(|window| window.phase <= last);
    record.checks.clear();
    record.run.status = RunStatus::Interrupted;
    record.run.lasted = record
        .phases
        .iter()
        .map(|phase| phase.end)
        .max()
        .unwrap_or_default();
    let end = record.run.lasted;
    record.events.retain(|event| event.at <= end);
    record
        .series
        .iter_mut()
        .for_each(|series| series.samples.retain(|sample| sample.at <= end));
    record
}

/// Complete, with one point only.
pub fn single_point() -> Record {
    static BUILT: LazyLock<Record> = LazyLock::new(build_single_point);
    BUILT.clone()
}

fn build_single_point() -> Record {
    let mut build = Build {
        record: empty(),
        now: Nanos::ZERO,
        draws: 0,
    };
    build.phase(None, "ladder", PhaseKind::Prepare, 3, true);
    build.point(("ladder", 0), 0, (FAST, DB_FAST), 1, None, 10);
    (build.record.run.status, build.record.run.failure) = (RunStatus::Complete, None);
    build.record.run.lasted = build.now;
    build.series();
    build.events();
    let end = build.now;
    build
        .record
        .events
        .retain(|event| event.at <= end && event.severity == Severity::Note);
    build.record
}

struct Build {
    record: Record,
    now: Nanos,
    draws: u64,
}

impl Build {
    /// A number in 0..1 that differs from all others: Weyl's sequence of the golden ratio.
    fn draw(&mut self) -> f64 {
        self.draws += 1;
        (self.draws as f64 * 0.618_033_988_749_895).fract()
    }

    fn phase(
        &mut self,
        point: Option<PointId>,
        step: &str,
        kind: PhaseKind,
        seconds: u64,
        complete: bool,
    ) -> PhaseId {
        let id = PhaseId(self.record.phases.len() as u32 + 1);
        let start = self.now;
        let end = self.now + Nanos::from_secs(seconds);
        self.record.phases.push(Phase {
            id,
            point,
            step: step.to_owned(),
            kind,
            start,
            end,
            complete,
        });
        self.now = end;
        id
    }

    fn describe(
        &self,
        (step, step_index): (&str, u32),
        ordinal: u32,
        (medium, system): (SubjectId, SubjectId),
        mode: &str,
        users: u32,
    ) -> Point {
        Point {
            id: PointId(self.record.points.len() as u32 + 1),
            step: step.to_owned(),
            step_index,
            ordinal,
            system,
            medium: Some(medium),
            workload: "oltp".to_owned(),
            mode: mode.to_owned(),
            users,
            connections: users,
            offered_per_second: None,
            offered_to_per_second: None,
            repeat: 0,
            purpose: PointPurpose::Ladder,
            scene: Interference::Alone,
            txns: TPCC_TXNS.map(str::to_owned).to_vec(),
            parameters: [("warehouses".to_owned(), "4".to_owned())].into(),
        }
    }

    fn point(
        &mut self,
        (step, step_index): (&str, u32),
        ordinal: u32,
        (medium, system): (SubjectId, SubjectId),
        users: u32,
        offered_per_second: Option<f64>,
        measure_s: u64,
    ) {
        let mode = if step_index == 0 {
            "procedures"
        } else {
            "statements"
        };
        let point = self.describe((step, step_index), ordinal, (medium, system), mode, users);
        let point = Point {
            offered_per_second,
            ..point
        };
        let id = point.id;
        self.record.points.push(point.clone());
        let mut in_flight = 0;
        for (kind, seconds) in [
            (PhaseKind::Warm, 2),
            (PhaseKind::Measure, measure_s),
            (PhaseKind::Cool, 1),
        ] {
            let start = self.now;
            let phase = self.phase(Some(id), step, kind, seconds, true);
            let mut windows: Vec<(Hist, Hist)> = vec![Default::default(); TPCC_TXNS.len()];
            for s in 0..seconds {
                let to = if kind == PhaseKind::Cool {
                    0
                } else {
                    u64::from(users)
                };
                self.second(
                    &point,
                    phase,
                    start + Nanos::from_secs(s),
                    (in_flight, to),
                    &mut windows,
                );
                in_flight = to;
            }
            for (txn, (response, service)) in windows.into_iter().enumerate() {
                let service = offered_per_second.map(|_| service);
                let window = Window {
                    phase,
                    subject: system,
                    txn: txn as u32,
                    response,
                    service,
                    coarse: false,
                };
                self.record.windows.push(window);
            }
        }
        self.phase(Some(id), step, PhaseKind::Check, 1, true);
        self.checks(id, system);
    }

    /// One second of a saturating curve: 900 transactions a second for ever more users on `fast`, 300 on `slow`.
    fn second(
        &mut self,
        point: &Point,
        phase: PhaseId,
        start: Nanos,
        (from, to): (u64, u64),
        windows: &mut [(Hist, Hist)],
    ) {
        let users = f64::from(point.users);
        let (capacity, half) = if point.medium == Some(FAST) {
            (900.0, 5.0)
        } else {
            (300.0, 3.0)
        };
        let rate = point
            .offered_per_second
            .unwrap_or(capacity * users / (users + half));
        let rate = rate * (0.94 + 0.12 * self.draw());
        for (txn, share) in [0.45, 0.43, 0.041, 0.04, 0.039].into_iter().enumerate() {
            let counts = self.counts(point, txn, rate * share, (from, to));
            let completed = counts.completed();
            // Little's law gives the mean; heavier types take longer.
            let base = users.min(rate / 10.0) / rate * [1.0, 0.6, 0.4, 2.5, 1.4][txn] * 0.6e9;
            let (response, service) =
                self.latencies(base, completed, point.offered_per_second.is_some());
            windows[txn].0.merge(&response);
            windows[txn].1.merge(&service);
            self.record.seconds.push(Second {
                phase,
                subject: point.system,
                txn: txn as u32,
                start,
                end: start + Nanos::SECOND,
                counts,
                in_flight: to,
                response: response.coarse(),
                service: point.offered_per_second.map(|_| service.coarse()),
            });
        }
    }

    /// What ends in a second of about `mean` transactions; at the end (`to` is 0) only what was under way.
    fn counts(&mut self, point: &Point, txn: usize, mean: f64, (from, to): (u64, u64)) -> Counts {
        let trips = if point.mode == "procedures" {
            1
        } else {
            9 + txn as u64 * 7
        };
        if to == 0 {
            let committed = if txn == 0 { from } else { 0 };
            return Counts {
                committed,
                round_trips: committed * trips,
                ..Counts::default()
            };
        }
        let completed = (mean * (0.97 + 0.06 * self.draw())).round().max(1.0) as u64;
        let rolled_back = if txn == 0 {
            (completed + self.draws % 100) / 100
        } else {
            0
        };
        let failed = if self.draw() > 0.985 {
            1 + txn as u64
        } else {
            0
        };
        let dropped = if point.offered_per_second.is_some_and(|r| r > 400.0) {
            2 + txn as u64
        } else {
            0
        };
        let retries = (completed as f64 * 0.02 * self.draw()) as u64;
        Counts {
            offered: completed + failed + dropped + if txn == 0 { to - from } else { 0 },
            committed: completed - rolled_back,
            rolled_back,
            failed,
            dropped,
            retries,
            round_trips: (completed + failed + retries) * trips,
            bytes: 0,
        }
    }

    /// `n` latencies around `base` nanoseconds with a long tail: response and service.
    fn latencies(&mut self, base: f64, n: u64, open: bool) -> (Hist, Hist) {
        let mut response = Hist::new();
        let mut service = Hist::new();
        for _ in 0..n {
            let q = self.draw();
            let ns = base * (0.5 + 0.8 * q + 0.01 / (1.002 - q));
            let wait = if open { base * 0.7 * q * q } else { 0.0 };
            response.record(Nanos((ns + wait) as u64));
            service.record(Nanos(ns as u64));
        }
        (response, service)
    }

    fn checks(&mut self, point: PointId, system: SubjectId) {
        for n in 1..=12 {
            let holds = !(point == PointId(5) && n == 4);
            let detail = if holds {
                format!("{} rows compared", 40 + point.0 * 13 + n)
            } else {
                "warehouse 2, district 7: sum(O_OL_CNT) is 30187, ORDER-LINE rows are 30186"
                    .to_owned()
            };
            let check = Check {
                point: Some(point),
                subject: system,
                clause: format!("3.3.2.{n}"),
                holds,
                detail,
            };
            self.record.checks.push(check);
        }
    }

    /// Ends the run in the last point's window: its second half, cool phase and checks are not there.
    fn interrupt(&mut self) {
        let last = PointId(self.record.points.len() as u32);
        self.record.checks.retain(|check| check.point != Some(last));
        self.record
            .phases
            .retain(|phase| phase.point != Some(last) || phase.kind <= PhaseKind::Measure);
        let Some(phase) = self.record.phases.last_mut() else {
            return;
        };
        let whole = (phase.end - phase.start).0 / Nanos::SECOND.0;
        phase.end = phase.start + Nanos::from_secs(whole / 2);
        phase.complete = false;
        let id = phase.id;
        let end = phase.end;
        self.now = end;
        self.record
            .seconds
            .retain(|s| s.phase <= id && s.start < end);
        self.record.windows.retain(|w| w.phase <= id);
        // What the crash left: rebuilt from the seconds.
        for window in self.record.windows.iter_mut().filter(|w| w.phase == id) {
            let rows = self
                .record
                .seconds
                .iter()
                .filter(|s| s.phase == id && s.txn == window.txn);
            let mut response = Hist::new();
            let mut service = Hist::new();
            rows.for_each(|row| {
                response.merge(&row.response.to_hist());
                row.service
                    .iter()
                    .for_each(|hist| service.merge(&hist.to_hist()));
            });
            (window.response, window.service, window.coarse) = (response, Some(service), true);
        }
        self.record.run.lasted = end;
    }

    fn series(&mut self) {
        let subjects = self.record.subjects.clone();
        let end = self.now.0 / Nanos::SECOND.0;
        for metric in Metric::ALL {
            for subject in subjects
                .iter()
                .filter(|subject| metrics::has(subject.kind, *metric))
            {
                let samples = (1..=end)
                    .map(|s| self.sample(*metric, subject.id, s))
                    .collect();
                self.record.series.push(Series {
                    subject: subject.id,
                    metric: *metric,
                    samples,
                });
            }
        }
        // The device was unreadable for two seconds: a gap.
        let gap = Nanos::from_secs(8)..=Nanos::from_secs(9);
        let device = self
            .record
            .series
            .iter_mut()
            .filter(|series| series.subject == NVME);
        device.for_each(|series| series.samples.retain(|sample| !gap.contains(&sample.at)));
    }

    fn sample(&mut self, metric: Metric, subject: SubjectId, s: u64) -> Sample {
        let other = match subject {
            NVME | FAST | DB_FAST => Some(SLOW),
            SDA | SLOW | DB_SLOW | EMULATOR => Some(FAST),
            _ => None,
        };
        let at = Nanos::from_secs(s);
        let point = self
            .record
            .phases
            .iter()
            .find(|p| p.start < at && at <= p.end)
            .and_then(|p| p.point);
        let point = point.and_then(|id| self.record.points.iter().find(|p| p.id == id));
        // 0 idle, 1 saturated.
        let busy = point.map_or(0.05, |p| {
            0.2 + 0.7 * f64::from(p.users) / (f64::from(p.users) + 5.0)
        });
        let mine = point.is_none_or(|p| p.medium != other);
        let busy = if mine { busy } else { 0.02 };
        if metric.is_of_database() {
            return self.database_sample(metric, subject, s, busy);
        }
        let noise = 0.9 + 0.2 * self.draw();
        let value = metrics::level(metric, busy) * noise + f64::from(subject.0) * 0.001;
        Sample {
            at,
            over: Nanos::SECOND,
            value: value as f32,
        }
    }

    fn events(&mut self) {
        let lost = self
            .record
            .phases
            .iter()
            .find(|p| p.point == Some(PointId(6)) && p.kind == PhaseKind::Measure);
        let lost = lost.map_or(Nanos::ZERO, |phase| phase.start + Nanos::from_millis(1250));
        self.record.events = vec![
            event(
                Nanos::from_secs_f64(0.25),
                Some(HOST),
                Severity::Warning,
                "unreadable",
                "/proc/pressure/memory cannot be read: not supported",
            ),
            event(
                Nanos::from_secs_f64(7.5),
                Some(DB_FAST),
                Severity::Note,
                "checkpoint",
                "checkpoint complete: wrote 811 buffers",
            ),
            event(
                Nanos::from_secs_f64(9.75),
                Some(DB_FAST),
                Severity::Note,
                "checkpoint",
                "checkpoint complete: wrote 1207 buffers",
            ),
            event(
                lost,
                Some(DB_SLOW),
                Severity::Warning,
                "connection_lost",
                "session 3: server closed the connection",
            ),
            event(
                lost + Nanos::SECOND,
                Some(DB_SLOW),
                Severity::Warning,
                "connection_lost",
                "session 5: server closed the connection",
            ),
        ];
    }
}

fn subject(id: SubjectId, kind: SubjectKind, name: &str) -> Subject {
    Subject {
        id,
        kind,
        name: name.to_owned(),
    }
}

fn fact(subject: SubjectId, key: &str, value: &str) -> Fact {
    Fact {
        subject,
        key: key.to_owned(),
        value: value.to_owned(),
    }
}

fn event(
    at: Nanos,
    subject: Option<SubjectId>,
    severity: Severity,
    code: &str,
    text: &str,
) -> Event {
    Event {
        at,
        subject,
        severity,
        kind: EventKind::stored(code, text),
    }
}

fn empty() -> Record {
    Record {
        drive: Vec::new(),
        cuts: Vec::new(),
        searches: Vec::new(),
        resets: Vec::new(),
        waits: Vec::new(),
        blocks: Vec::new(),
        shares: Vec::new(),
        steady: Vec::new(),
        diagnoses: Vec::new(),
        backups: Vec::new(),
        outages: Vec::new(),
        reported: Vec::new(),
        integrity: Integrity::Intact {
            digest: "9f86d081884c7d65".repeat(4),
        },
        run: RunInfo {
            id: "0193-fixture".to_owned(),
            title: "How far do two drives carry orders & payments?".to_owned(),
            plimsoll_version: "0.1.0".to_owned(),
            plimsoll_commit: "c0ffee1".to_owned(),
            command: "plimsoll run plans/two-drives.toml --seed 77".to_owned(),
            seed: 77,
            started_at: "2031-02-03T04:05:06Z".to_owned(),
            lasted: Nanos::ZERO,
            status: RunStatus::Interrupted,
            failure: Some("Ctrl-C at users 31, open".to_owned()),
        },
        plan_written: PLAN.to_owned(),
        plan: plan(PLAN),
        subjects: vec![
            subject(HOST, SubjectKind::Host, "host"),
            subject(NVME, SubjectKind::Device, "nvme0n1"),
            subject(SDA, SubjectKind::Device, "sda"),
            subject(FAST, SubjectKind::Medium, "fast"),
            subject(SLOW, SubjectKind::Medium, "slow"),
            subject(DB_FAST, SubjectKind::System, "db@fast"),
            subject(DB_SLOW, SubjectKind::System, "db@slow"),
            subject(GENERATOR, SubjectKind::Generator, "plimsoll"),
            subject(EMULATOR, SubjectKind::Emulator, "slow"),
        ],
        facts: facts(),
        points: Vec::new(),
        phases: Vec::new(),
        seconds: Vec::new(),
        windows: Vec::new(),
        series: Vec::new(),
        events: Vec::new(),
        checks: Vec::new(),
    }
}

fn facts() -> Vec<Fact> {
    let all: [(SubjectId, &str, &str); 20] = [
        (HOST, "cpu_model", "Example 9000 @ 3.10GHz"),
        (HOST, "cpus", "12"),
        (HOST, "kernel", "6.18.5"),
        (HOST, "governor", "performance"),
        (HOST, "mitigation.spectre_v2", "Mitigation: Enhanced IBRS"),
        (NVME, "model", "Example NVMe 1TB"),
        (NVME, "firmware", "3B2QEXM7"),
        (SDA, "model", "Example SATA 2TB"),
        (SDA, "firmware", "RVT04B6Q"),
        (FAST, "path", "/srv/fast"),
        (FAST, "device", "nvme0n1"),
        (FAST, "mount_options", "rw,noatime"),
        (SLOW, "path", "/srv/slow"),
        (SLOW, "device", "sda"),
        (SLOW, "mount_options", "rw,relatime"),
        (DB_FAST, "version", "PostgreSQL 17.2"),
        (DB_FAST, "setting.shared_buffers", "256MB </script><b>&"),
        (DB_SLOW, "version", "PostgreSQL 17.1"),
        (DB_SLOW, "setting.shared_buffers", "128MB"),
        (GENERATOR, "workers", "2"),
    ];
    all.map(|(subject, key, value)| fact(subject, key, value))
        .into_iter()
        .chain(drive::facts())
        .collect()
}

/// A plan as a run stores it.
pub fn plan(text: &str) -> RecordedPlan {
    let options = Options {
        seed: Some(77),
        ..Options::default()
    };
    let parsed = parse(text, &options).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    RecordedPlan::new(parsed.plan)
}

const PLAN: &str = r#"title = "How far do two drives carry orders & payments?"

[medium.fast]
path = "/srv/fast"
[medium.slow]
path = "/srv/slow"

[system.db]
engine = "postgres"

[workload.oltp.tpcc]
warehouses = 4

[[step]]
name = "ladder"
run = "oltp"
system = "db"
on = ["fast", "slow"]
users = [1, 4, 16]

[[step]]
name = "open"
run = "oltp"
system = "db"
on = ["fast"]
users = 31
rate = [50, 150, 450]
"#;
