//! A run that goes on: what was read of its file so far, and what a page is sent of it.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::time::Duration;

use plimsoll_plan::RecordedPlan;
use plimsoll_plan::estimate;
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use plimsoll_record::metric::Metric;
use plimsoll_record::runfile::{
    LiveCursor, LiveRows, LiveSecond, LiveSystem, RunFileError, read_live, read_plan,
};
use plimsoll_record::{Event, PointId, RunStatus, SubjectId};
use plimsoll_report::live::{BusyDevice, LiveStatus, MachineBusy, SystemNow, live_html};
use plimsoll_report::message::Messages;
use serde::Serialize;

/// Seconds that a page gets when it opens: ten minutes of twelve systems.
const KEPT: usize = 7_200;
/// Warnings and errors that a page shows.
const EVENTS: usize = 5;
/// Devices that a page names: the busiest.
const DEVICES: usize = 3;
/// A system without a second for so long is not under load.
const IDLE_S: f64 = 3.0;
/// A run that added nothing for so long was killed.
const SILENCE: Duration = Duration::from_secs(60);

/// Whether something was added to a run file, or to the WAL beside it, a short while ago. Opens neither.
pub fn is_growing(path: &Path) -> bool {
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    [path, Path::new(&wal)].iter().any(|file| {
        let changed = file.metadata().and_then(|data| data.modified());
        // A time that lies ahead is a short while ago.
        changed.is_ok_and(|changed| changed.elapsed().unwrap_or_default() < SILENCE)
    })
}

/// What was read so far.
pub(crate) struct LiveRun {
    path: PathBuf,
    cursor: LiveCursor,
    plan: RecordedPlan,
    planned: Nanos,
    rows: Option<LiveRows>,
    recent: VecDeque<SecondFigures>,
    systems: BTreeMap<SubjectId, SystemState>,
    until: Nanos,
    busy: MachineBusy,
    events: VecDeque<Event>,
}

/// A system at its present load.
#[derive(Default)]
struct SystemState {
    point: Option<PointId>,
    failed: u64,
    /// Its last second that has a place in the chart.
    last: Option<LiveSecond>,
}

/// One second of one system, as `web/src/live.ts` takes it.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct SecondFigures {
    #[serde(skip)]
    ordinal: u64,
    system: SubjectId,
    /// Its end, in seconds from the run's start.
    at: f64,
    lasted: f64,
    is_warm: bool,
    rate: f64,
}

#[derive(Serialize)]
struct SystemName<'a> {
    id: SubjectId,
    name: &'a str,
}

#[derive(Serialize)]
struct LiveUpdate<'a> {
    run: &'a str,
    ended: bool,
    /// What has changed of the page.
    html: String,
    systems: Vec<SystemName<'a>>,
    seconds: Vec<&'a SecondFigures>,
}

/// What a page has been sent: the last second, and of which run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SentUntil {
    pub ordinal: u64,
    pub run: String,
}

impl SentUntil {
    /// From the id of an event: `1234@20261120T101500Z-1-0000002a`. Anything else is the beginning.
    pub fn parse(id: &str) -> Self {
        let parsed = id.split_once('@').and_then(|(ordinal, run)| {
            Some(Self {
                ordinal: ordinal.parse().ok()?,
                run: run.to_owned(),
            })
        });
        parsed.unwrap_or_default()
    }
}

/// An event for a page, and what it then has.
#[derive(Debug)]
pub(crate) struct LiveEvent {
    pub data: String,
    pub sent: SentUntil,
}

/// How far a run was read, and which one it was.
pub(crate) struct LivePosition {
    path: PathBuf,
    cursor: LiveCursor,
    run: Option<String>,
}

/// What was added since.
pub(crate) struct LiveReading {
    rows: LiveRows,
    cursor: LiveCursor,
    /// Of a run that was not read before.
    plan: Option<RecordedPlan>,
}

impl LivePosition {
    /// Reads the file, which may take a while on a disk under load.
    pub fn read(mut self) -> Result<LiveReading, RunFileError> {
        let mut rows = read_live(&self.path, &mut self.cursor)?;
        let is_new = self.run.as_ref() != Some(&rows.run_id);
        if is_new {
            // Another run took the place of the one before: from its beginning.
            self.cursor = LiveCursor::default();
            rows = read_live(&self.path, &mut self.cursor)?;
        }
        Ok(LiveReading {
            rows,
            cursor: self.cursor,
            plan: is_new.then(|| read_plan(&self.path)).transpose()?,
        })
    }
}

impl LiveRun {
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            cursor: LiveCursor::default(),
            plan: RecordedPlan::default(),
            planned: Nanos::ZERO,
            rows: None,
            recent: VecDeque::new(),
            systems: BTreeMap::new(),
            until: Nanos::ZERO,
            busy: MachineBusy::default(),
            events: VecDeque::new(),
        }
    }

    /// What has to be known to read on.
    pub fn position(&self) -> LivePosition {
        LivePosition {
            path: self.path.clone(),
            cursor: self.cursor,
            run: self.rows.as_ref().map(|rows| rows.run_id.clone()),
        }
    }

    pub fn add(&mut self, reading: LiveReading) {
        if let Some(plan) = reading.plan {
            *self = Self::new(std::mem::take(&mut self.path));
            self.planned = plan
                .resolved()
                .map_or(Nanos::ZERO, |plan| estimate(plan).duration);
            self.plan = plan;
        }
        let mut rows = reading.rows;
        for second in rows.seconds.drain(..) {
            self.add_second(second);
        }
        self.add_samples(&rows);
        self.events.extend(rows.events.drain(..));
        self.events
            .drain(..self.events.len().saturating_sub(EVENTS));
        self.recent.drain(..self.recent.len().saturating_sub(KEPT));
        self.cursor = reading.cursor;
        self.rows = Some(rows);
    }

    fn add_second(&mut self, second: LiveSecond) {
        self.until = self.until.max(second.end);
        let lasted = seconds_of(&second);
        let system = self.systems.entry(second.system).or_default();
        if system.point != second.point {
            system.point = second.point;
            system.failed = 0;
        }
        system.failed += second.counts.failed;
        // While the last transactions finish, nothing is offered: those seconds are no throughput.
        if lasted > 0.0 && second.phase != PhaseKind::Cool {
            self.recent.push_back(SecondFigures {
                ordinal: second.ordinal,
                system: second.system,
                at: second.end.as_secs_f64(),
                lasted,
                is_warm: second.phase == PhaseKind::Warm,
                rate: second.counts.committed as f64 / lasted,
            });
            system.last = Some(second);
        }
    }

    fn add_samples(&mut self, rows: &LiveRows) {
        if rows.samples.is_empty() {
            return;
        }
        let mut busy = MachineBusy::default();
        for sample in &rows.samples {
            let percent = f64::from(sample.value);
            match sample.metric {
                Metric::CpuIdle => busy.cpu = Some(100.0 - percent),
                _ => busy.devices.push(BusyDevice {
                    name: sample.name.clone(),
                    percent,
                }),
            }
        }
        busy.devices.sort_by(|a, b| b.percent.total_cmp(&a.percent));
        busy.devices.truncate(DEVICES);
        self.busy = busy;
    }

    /// Whether the run has ended; `false` also before anything was read.
    pub fn has_ended(&self) -> bool {
        let status = self.rows.as_ref().map(|rows| rows.status);
        status.is_some_and(|status| status != RunStatus::Unfinished)
    }

    /// What a page lacks that was sent so much. `None` before anything was read.
    pub fn event(&self, sent: &SentUntil, ended: bool) -> Option<LiveEvent> {
        let rows = self.rows.as_ref()?;
        let after = if sent.run == rows.run_id {
            sent.ordinal
        } else {
            0
        };
        let from = self
            .recent
            .partition_point(|second| second.ordinal <= after);
        let status = LiveStatus {
            rows,
            plan: self.plan.resolved(),
            until: self.until,
            left: Some(self.planned.saturating_sub(rows.under_load))
                .filter(|left| *left > Nanos::ZERO),
            busy: &self.busy,
            systems: &self.systems_now(rows),
            events: &self.events.iter().cloned().collect::<Vec<_>>(),
        };
        let update = LiveUpdate {
            run: &rows.run_id,
            ended,
            html: live_html(&Messages::english(), &status),
            systems: rows
                .systems
                .iter()
                .map(|system| SystemName {
                    id: system.id,
                    name: &system.name,
                })
                .collect(),
            seconds: self.recent.range(from..).collect(),
        };
        Some(LiveEvent {
            data: serde_json::to_string(&update).ok()?,
            sent: SentUntil {
                ordinal: self.recent.back().map_or(0, |second| second.ordinal),
                run: rows.run_id.clone(),
            },
        })
    }

    fn systems_now(&self, rows: &LiveRows) -> Vec<SystemNow> {
        let last = self.systems.values().filter_map(|own| own.last.as_ref());
        let until = last
            .map(|second| second.end.as_secs_f64())
            .fold(0.0, f64::max);
        let systems = rows.systems.iter();
        systems
            .map(|system| self.system_now(system, until))
            .collect()
    }

    fn system_now(&self, system: &LiveSystem, until: f64) -> SystemNow {
        let name = system.name.clone();
        let state = self.systems.get(&system.id);
        let last = state.and_then(|state| Some((state, state.last.as_ref()?)));
        let under_load = last.filter(|(_, last)| until - last.end.as_secs_f64() < IDLE_S);
        match under_load {
            Some((state, last)) => SystemNow {
                name,
                per_second: Some(last.counts.committed as f64 / seconds_of(last)),
                median_ms: millis(last, 0.5),
                p99_ms: millis(last, 0.99),
                failed: Some(state.failed),
            },
            None => SystemNow {
                name,
                ..SystemNow::default()
            },
        }
    }
}

/// How long it lasted.
fn seconds_of(second: &LiveSecond) -> f64 {
    second.end.saturating_sub(second.start).as_secs_f64()
}

fn millis(second: &LiveSecond, quantile: f64) -> Option<f64> {
    let time = second.response.quantile(quantile)?;
    Some(time.as_millis_f64())
}
