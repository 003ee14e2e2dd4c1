//! A run while it goes on, as its live page shows it.

use askama::Template;
use plimsoll_plan::resolved::{ResolvedPlan, Step};
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use plimsoll_record::runfile::{LivePhase, LiveRows};
use plimsoll_record::{Event, Point, PointPurpose, RunStatus};
use serde::Serialize;

use crate::message::Messages;
use crate::number::{load, whole};
use crate::render::html::STYLE;

/// More names than this are counted instead.
const MOST_NAMES: usize = 3;
/// The phase that a sentence is about where systems are in several: the first of these that is open.
const BY_WEIGHT: [PhaseKind; 7] = [
    PhaseKind::Measure,
    PhaseKind::Warm,
    PhaseKind::Cool,
    PhaseKind::Backup,
    PhaseKind::Check,
    PhaseKind::Reset,
    PhaseKind::Prepare,
];

/// A run at one moment.
pub struct LiveStatus<'a> {
    pub rows: &'a LiveRows,
    pub plan: Option<&'a ResolvedPlan>,
    /// End of the last second under load.
    pub until: Nanos,
    /// Time under load that the plan has left; `None` where the plan does not fix it.
    pub left: Option<Nanos>,
    pub busy: &'a MachineBusy,
    /// The last warnings and errors.
    pub events: &'a [Event],
}

/// Shares of the last second, in percent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MachineBusy {
    pub cpu: Option<f64>,
    pub devices: Vec<BusyDevice>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct BusyDevice {
    pub name: String,
    pub percent: f64,
}

/// Its sentences.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LiveText {
    /// What is done now.
    pub headline: String,
    /// How far this phase is.
    pub phase: String,
    /// How much time is left.
    pub left: String,
    pub machine: String,
    pub warnings: Vec<String>,
}

impl LiveText {
    pub fn new(m: &Messages, status: &LiveStatus<'_>) -> Self {
        let phase = current_phase(&status.rows.phases);
        let left = status.left.filter(|_| phase.is_some());
        Self {
            headline: headline(m, status.rows, phase),
            phase: phase
                .map(|phase| progress(m, status, phase))
                .unwrap_or_default(),
            left: left
                .map(|left| m.text_with("live-left", &[("time", whole_seconds(left))]))
                .unwrap_or_default(),
            machine: machine(m, status.busy),
            warnings: status
                .events
                .iter()
                .map(|event| m.event(&event.kind))
                .collect(),
        }
    }
}

fn current_phase(open: &[LivePhase]) -> Option<&LivePhase> {
    BY_WEIGHT
        .iter()
        .find_map(|kind| open.iter().find(|phase| phase.kind == *kind))
}

fn headline(m: &Messages, rows: &LiveRows, phase: Option<&LivePhase>) -> String {
    let id = match (rows.status, phase) {
        (RunStatus::Complete, _) => return m.text("live-complete"),
        (RunStatus::Interrupted, _) => return m.text("live-interrupted"),
        (RunStatus::Failed, _) => return m.text("live-failed"),
        (RunStatus::Unfinished, None) => return m.text("live-between"),
        (RunStatus::Unfinished, Some(phase)) => match phase.kind {
            PhaseKind::Prepare => "live-prepare",
            PhaseKind::Reset => "live-reset",
            PhaseKind::Warm => "live-warm",
            PhaseKind::Measure => "live-measure",
            PhaseKind::Cool => "live-cool",
            PhaseKind::Check => "live-check",
            PhaseKind::Backup => "live-backup",
        },
    };
    let phase = phase.expect("an unfinished run without one has returned");
    let points = points_of(rows, phase);
    let args = [
        ("step", phase.step.clone()),
        ("systems", systems(m, rows, &points)),
        ("load", load_of(m, &points)),
    ];
    m.text_with(id, &args)
}

/// The points that are in the same phase, of the systems that are measured.
fn points_of<'a>(rows: &'a LiveRows, phase: &LivePhase) -> Vec<&'a Point> {
    let same = rows.phases.iter().filter(|own| own.kind == phase.kind);
    let ids: Vec<_> = same.filter_map(|own| own.point).collect();
    let mut points: Vec<&Point> = rows
        .points
        .iter()
        .filter(|point| ids.contains(&point.id))
        .collect();
    if points
        .iter()
        .any(|point| point.purpose != PointPurpose::Noise)
    {
        points.retain(|point| point.purpose != PointPurpose::Noise);
    }
    points
}

fn systems(m: &Messages, rows: &LiveRows, points: &[&Point]) -> String {
    let loaded = |id| points.iter().any(|point| point.system == id);
    let names: Vec<&str> = rows
        .systems
        .iter()
        .filter(|system| loaded(system.id))
        .map(|system| system.name.as_str())
        .collect();
    if names.len() > MOST_NAMES {
        return m.text_with("live-systems", &[("n", names.len().to_string())]);
    }
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => {
            let args = [("first", others.join(", ")), ("second", (*last).to_owned())];
            m.text_with("list-and", &args)
        }
        _ => names.concat(),
    }
}

/// Systems side by side have the same load.
fn load_of(m: &Messages, points: &[&Point]) -> String {
    let Some(point) = points.first() else {
        return String::new();
    };
    let own = point.load();
    let text = if point.is_block() && !own.is_open() {
        m.text_with("load-in-flight", &[("requests", load(own))])
    } else {
        m.load(own)
    };
    if points.len() > 1 {
        m.text_with("live-each", &[("load", text)])
    } else {
        text
    }
}

fn progress(m: &Messages, status: &LiveStatus<'_>, phase: &LivePhase) -> String {
    if !phase.kind.is_under_load() {
        return String::new();
    }
    let done = whole_seconds(status.until.saturating_sub(phase.start));
    let points = points_of(status.rows, phase);
    let planned = points
        .first()
        .and_then(|point| planned(status.plan?, point, phase.kind));
    match planned {
        Some(planned) => {
            let args = [("done", done), ("planned", whole_seconds(planned))];
            m.text_with("live-phase-of", &args)
        }
        None => m.text_with("live-phase", &[("done", done)]),
    }
}

/// How long a phase of a point lasts, where the plan fixes that.
fn planned(plan: &ResolvedPlan, point: &Point, kind: PhaseKind) -> Option<Nanos> {
    let step = plan.steps.get(point.step_index as usize)?;
    let lasts = match (step, kind) {
        (Step::Load(step), _) if point.purpose == PointPurpose::Precondition => {
            step.precondition.map(|own| own.lasts)
        }
        (Step::Load(step), PhaseKind::Warm) => Some(step.timeline.warm),
        (Step::Load(step), PhaseKind::Measure) => Some(step.timeline.measure),
        (Step::Block(step), PhaseKind::Warm) => Some(step.warm),
        (Step::Block(step), PhaseKind::Measure) => Some(step.measure),
        _ => None,
    };
    lasts.filter(|lasts| *lasts > Nanos::ZERO)
}

fn machine(m: &Messages, busy: &MachineBusy) -> String {
    let mut parts = Vec::new();
    if let Some(cpu) = busy.cpu {
        parts.push(m.text_with("live-cpu", &[("percent", whole(cpu))]));
    }
    for device in &busy.devices {
        let args = [
            ("device", device.name.clone()),
            ("percent", whole(device.percent)),
        ];
        parts.push(m.text_with("live-device", &args));
    }
    parts.join(" · ")
}

/// Begun seconds count.
fn whole_seconds(time: Nanos) -> String {
    Nanos::from_secs(time.0.div_ceil(Nanos::SECOND.0)).to_string()
}

/// The page of a run that goes on. Its figures come as events of the server's, and its script from `/live.js`.
#[derive(Template)]
#[template(path = "live.html")]
struct LivePage<'a> {
    m: &'a Messages,
    title: &'a str,
    file: &'a str,
    events: &'a str,
    report: &'a str,
    report_now: Option<&'a str>,
    style: &'static str,
}

/// Where the page's script finds what belongs to a run.
pub struct LiveAddresses<'a> {
    pub events: &'a str,
    /// Where it goes when the run has ended.
    pub report: &'a str,
    /// The report of what is measured so far. Not on the machine that measures: rendering takes its processor.
    pub report_now: Option<&'a str>,
}

pub fn live_page(title: &str, file: &str, addresses: &LiveAddresses<'_>) -> String {
    let m = Messages::english();
    let page = LivePage {
        m: &m,
        title,
        file,
        events: addresses.events,
        report: addresses.report,
        report_now: addresses.report_now,
        style: STYLE,
    };
    // The template writes to a string and calls nothing that fails.
    page.render().expect("rendering to memory does not fail")
}

/// The script of [`live_page`].
pub const LIVE_SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/live.js"));

#[cfg(test)]
mod tests {
    use plimsoll_record::message::EventKind;
    use plimsoll_record::runfile::LiveSystem;
    use plimsoll_record::{Severity, SubjectId, fixture};

    use super::*;

    fn rows(kind: PhaseKind, systems: u32) -> LiveRows {
        let point = fixture::single_point().points[0].clone();
        let ids = 0..systems;
        LiveRows {
            run_id: String::new(),
            title: String::new(),
            status: RunStatus::Unfinished,
            systems: ids
                .clone()
                .map(|id| LiveSystem {
                    id: SubjectId(id),
                    name: format!("db-{id}"),
                })
                .collect(),
            phases: ids
                .clone()
                .map(|id| LivePhase {
                    point: Some(plimsoll_record::PointId(id)),
                    step: "oltp".into(),
                    kind,
                    start: Nanos::from_secs(10),
                })
                .collect(),
            points: ids
                .map(|id| Point {
                    id: plimsoll_record::PointId(id),
                    system: SubjectId(id),
                    users: 4,
                    ..point.clone()
                })
                .collect(),
            under_load: Nanos::ZERO,
            seconds: Vec::new(),
            samples: Vec::new(),
            events: Vec::new(),
        }
    }

    fn text(rows: &LiveRows, left: Option<Nanos>) -> LiveText {
        let busy = MachineBusy {
            cpu: Some(43.4),
            devices: vec![BusyDevice {
                name: "sda".into(),
                percent: 71.2,
            }],
        };
        let event = Event {
            at: Nanos::ZERO,
            subject: None,
            severity: Severity::Warning,
            kind: EventKind::Late { outcomes: 3 },
        };
        let record = fixture::single_point();
        let status = LiveStatus {
            rows,
            plan: record.plan.resolved(),
            until: Nanos::from_millis(21_500),
            left,
            busy: &busy,
            events: &[event],
        };
        LiveText::new(&Messages::english(), &status)
    }

    #[test]
    fn a_run_is_described_in_plain_words() {
        let one = text(&rows(PhaseKind::Measure, 1), Some(Nanos::from_secs(90)));
        assert_eq!(one.headline, "Measuring db-0 with 4 users.");
        assert!(one.phase.starts_with("12s"), "{}", one.phase);
        assert!(one.left.starts_with("About 1m 30s left"), "{}", one.left);
        assert_eq!(one.machine, "CPU 43 % busy · sda 71 % busy");
        assert_eq!(one.warnings.len(), 1);
        let two = text(&rows(PhaseKind::Warm, 2), None);
        assert_eq!(two.headline, "Warming up db-0 and db-1 with 4 users each.");
        assert_eq!(two.left, "");
        let many = text(&rows(PhaseKind::Measure, 12), None);
        assert_eq!(many.headline, "Measuring 12 systems with 4 users each.");
    }

    #[test]
    fn the_heaviest_phase_and_the_end_are_what_is_described() {
        let mut both = rows(PhaseKind::Prepare, 1);
        both.phases.extend(rows(PhaseKind::Measure, 1).phases);
        assert!(text(&both, None).headline.starts_with("Measuring "));
        let prepared = text(&rows(PhaseKind::Prepare, 1), None);
        assert_eq!(
            prepared.headline,
            "Starting systems and loading data for oltp."
        );
        assert_eq!(prepared.phase, "");
        both.status = RunStatus::Complete;
        both.phases.clear();
        let ended = text(&both, Some(Nanos::SECOND));
        assert_eq!(
            (ended.headline.as_str(), ended.left.as_str()),
            ("The run is complete.", "")
        );
    }
}
