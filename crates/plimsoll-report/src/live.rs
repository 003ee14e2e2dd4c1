//! A run while it goes on, as its live page shows it.

use plimsoll_analysis::summary::{FigureId, Verdict};
use plimsoll_plan::resolved::{ResolvedPlan, Step};
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use plimsoll_record::runfile::{LivePhase, LiveRows};
use plimsoll_record::{Event, Point, PointPurpose, RunStatus};

use crate::chart::{ChartAxis, LineChart, ScriptChart};
use crate::document::{PageAnswer, PageLink, ReportBlock, ReportDocument, ReportSection};
use crate::finding_view::FindingView;
use crate::message::Messages;
use crate::number::{load, whole};
use crate::render::html::{self, PageScript};
use crate::table::Table;
use crate::table::Unit::{Whole, Words};

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
    pub systems: &'a [SystemNow],
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

/// A system in its last second; without figures where it is not under load.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SystemNow {
    pub name: String,
    pub per_second: Option<f64>,
    pub median_ms: Option<f64>,
    pub p99_ms: Option<f64>,
    /// Transactions that failed at this load.
    pub failed: Option<u64>,
}

/// What changes of the page while the run goes on, as HTML.
pub fn live_html(m: &Messages, status: &LiveStatus<'_>) -> String {
    html::content(&section(m, Some(status)))
}

/// What is known of the run; nothing before its file was read.
fn section(m: &Messages, status: Option<&LiveStatus<'_>>) -> ReportSection {
    let mut section = ReportSection::untitled("live").listed().styled("live");
    section.page(ReportBlock::Answer(Box::new(answer(m, status))));
    let mut figures = vec![ReportBlock::Chart(chart(m))];
    let label = m.text("live-table");
    figures.extend(status.map(|own| ReportBlock::grid(m, &label, &table(), own.systems)));
    section.page(ReportBlock::group("grid", figures));
    if let Some(status) = status {
        section.page(ReportBlock::note(machine(m, status.busy)));
        section.page(ReportBlock::Findings(warnings(m, status.events)));
    }
    section
}

fn answer(m: &Messages, status: Option<&LiveStatus<'_>>) -> PageAnswer {
    let phase = status.and_then(|status| current_phase(&status.rows.phases));
    let headline = match status {
        Some(status) => headline(m, status.rows, phase),
        None => m.text("live-loading"),
    };
    let left = status.and_then(|status| status.left);
    let left = left.filter(|_| phase.is_some());
    let left = left.map(|left| m.text_with("live-left", &[("time", whole_seconds(left))]));
    let trust = left.into_iter().chain([m.text("live-preliminary")]);
    let progress = status.zip(phase);
    let progress = progress.and_then(|(status, phase)| progress_of(m, status, phase));
    PageAnswer {
        verdict_word: m.text("live-badge"),
        beside: progress.into_iter().collect(),
        ..PageAnswer::new(
            m,
            headline,
            Verdict::Doubtful,
            trust.collect::<Vec<_>>().join(" "),
        )
    }
}

/// The script of the page adds its lines.
fn chart(m: &Messages) -> ScriptChart {
    let chart = LineChart {
        x: ChartAxis {
            name: m.text("live-time"),
            is_clock: true,
            ..ChartAxis::default()
        },
        y: ChartAxis {
            name: m.figure_on_page(FigureId::Transactions),
            ..ChartAxis::default()
        },
        ..LineChart::default()
    };
    ScriptChart::lines("live", m.text("live-chart"), chart)
}

/// Each system in its last second.
pub(crate) fn table<'a>() -> Table<'a, SystemNow> {
    Table::<SystemNow>::new("live")
        .prefix("live-")
        .column("system", Words, |own| own.name.clone())
        .figure(FigureId::Transactions, |own| own.per_second)
        .figure(FigureId::P50, |own| own.median_ms)
        .figure(FigureId::P99, |own| own.p99_ms)
        .column("failures", Whole, |own| own.failed)
        .row_class(|own| match own.failed {
            Some(_) => "",
            None => "idle",
        })
}

fn warnings(m: &Messages, events: &[Event]) -> Vec<FindingView> {
    let views = events
        .iter()
        .map(|event| FindingView::new(m, event.severity, String::new(), m.event(&event.kind)));
    views.collect()
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

/// How far a phase under load is.
fn progress_of(m: &Messages, status: &LiveStatus<'_>, phase: &LivePhase) -> Option<String> {
    if !phase.kind.is_under_load() {
        return None;
    }
    let done = whole_seconds(status.until.saturating_sub(phase.start));
    let points = points_of(status.rows, phase);
    let planned = points
        .first()
        .and_then(|point| planned(status.plan?, point, phase.kind));
    Some(match planned {
        Some(planned) => {
            let args = [("done", done), ("planned", whole_seconds(planned))];
            m.text_with("live-phase-of", &args)
        }
        None => m.text_with("live-phase", &[("done", done)]),
    })
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

/// The page of a run that goes on, before its script has anything to show. `report_now`: the address of the report of
/// what is measured so far; none on the machine that measures, whose processor rendering would take.
pub fn live_page(title: &str, file: &str, report_now: Option<&str>) -> String {
    let m = Messages::english();
    let link = |address: &str, id: &str| PageLink {
        address: address.to_owned(),
        text: m.text(id),
    };
    let mut around = ReportSection::bare("around");
    around.page(ReportBlock::styled("state", m.text("live-lost")));
    around.page(ReportBlock::WithoutScript(m.text("live-no-script")));
    let report = report_now.map(|address| link(address, "live-report-now"));
    around.page(ReportBlock::Links {
        label: m.text("live-contents"),
        links: [link("/", "runs-title")]
            .into_iter()
            .chain(report)
            .collect(),
    });
    let document = ReportDocument {
        title: title.to_owned(),
        is_question: true,
        header: Vec::new(),
        sections: vec![section(&m, None), around],
        footer: vec![ReportBlock::text(file)],
    };
    html::page_with(&m, &document, PageScript::File("/live.js"))
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

    fn text(rows: &LiveRows, left: Option<Nanos>) -> String {
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
        let systems = [
            SystemNow {
                name: "<db>".into(),
                per_second: Some(1234.5),
                median_ms: Some(1.234),
                p99_ms: None,
                failed: Some(2),
            },
            SystemNow {
                name: "idle".into(),
                ..SystemNow::default()
            },
        ];
        let record = fixture::single_point();
        let status = LiveStatus {
            rows,
            plan: record.plan.resolved(),
            until: Nanos::from_millis(21_500),
            left,
            busy: &busy,
            systems: &systems,
            events: &[event],
        };
        live_html(&Messages::english(), &status)
    }

    #[test]
    fn a_run_is_described_in_plain_words() {
        insta::assert_snapshot!(text(
            &rows(PhaseKind::Measure, 1),
            Some(Nanos::from_secs(90))
        ));
        let two = text(&rows(PhaseKind::Warm, 2), None);
        assert!(
            two.contains(">Warming up db-0 and db-1 with 4 users each.<"),
            "{two}"
        );
        assert!(!two.contains(" left "), "{two}");
        let many = text(&rows(PhaseKind::Measure, 12), None);
        assert!(
            many.contains(">Measuring 12 systems with 4 users each.<"),
            "{many}"
        );
    }

    #[test]
    fn the_heaviest_phase_and_the_end_are_what_is_described() {
        let mut both = rows(PhaseKind::Prepare, 1);
        both.phases.extend(rows(PhaseKind::Measure, 1).phases);
        assert!(text(&both, None).contains(">Measuring "));
        let prepared = text(&rows(PhaseKind::Prepare, 1), None);
        assert!(
            prepared.contains(">Starting systems and loading data for oltp.<"),
            "{prepared}"
        );
        assert!(!prepared.contains("12s"), "{prepared}");
        both.status = RunStatus::Complete;
        both.phases.clear();
        let ended = text(&both, Some(Nanos::SECOND));
        assert!(ended.contains(">The run is complete.<"), "{ended}");
        assert!(!ended.contains(" left "), "{ended}");
    }

    #[test]
    fn a_page_waits_for_its_script_and_links_what_there_is() {
        let page = live_page("Fast?", "<a>.plimsoll", None);
        assert!(page.contains("<script src=\"/live.js\"></script>"));
        assert!(page.contains("script-src 'self'; connect-src 'self'; img-src"));
        assert!(page.contains("id=\"live\"") && !page.contains("?now"));
        let other = live_page("Fast?", "a.plimsoll", Some("/run/a.plimsoll?now"));
        assert!(other.contains("<a href=\"/run/a.plimsoll?now\">"));
    }
}
