//! One HTML file that holds everything: styles, scripts, data. It opens from a disk and loads nothing from a network.
//!
//! Tables come from the template and are complete without scripts; charts are drawn by `web/src` from the data island
//! (see [`island`]).

use askama::Template;
use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::Conservation;
use plimsoll_plan::units::Nanos;
use plimsoll_record::import_facts::IMPORT_FACT;
use plimsoll_record::{Record, RunInfo, SubjectKind};

use crate::findings;
use crate::message::Messages;
use crate::number::{percent, three, whole};
use crate::table::Grid;
use crate::{ladder, text};
use tables::LadderView;

mod audit;
mod block;
mod doctor;
mod drive;
mod how;
mod imported;
mod island;
mod lateness;
mod line;
mod per_second;
mod shared;
mod tables;
mod waits;

const SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/report.js"));
const STYLE: &str = include_str!("../templates/report.css");
const SETTING: &str = "setting.";

/// Names of all charts, in the order of the page.
pub(crate) const CHART_TITLES: [&str; 15] = [
    "nopm",
    "tpm",
    "tpm-per-user",
    "rate",
    "throughput",
    "latency-time",
    "in-flight",
    "cpu",
    "iops",
    "bandwidth",
    "io-time",
    "queue",
    "cpu-one",
    "memory",
    LATENESS,
];

/// Those over time that transactions are needed for.
const OF_TRANSACTIONS: [&str; 3] = ["throughput", "latency-time", "in-flight"];

/// The one that only emulated drives have.
const LATENESS: &str = "lateness";

/// The report of `record`, whose figures are `summary`.
pub fn report(record: &Record, summary: &Summary) -> String {
    page(record, summary, SCRIPT)
}

fn page(record: &Record, summary: &Summary, script: &str) -> String {
    let m = Messages::english();
    let page = Page::new(record, summary, &m, script);
    // The template writes to a string and calls nothing that fails.
    page.render().expect("rendering to memory does not fail")
}

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    m: &'a Messages,
    title: &'a str,
    record: &'a Record,
    status: String,
    lasted: String,
    headline: Option<HeadlineView>,
    lines: Vec<line::LineView>,
    /// Steps whose lines have a chart: index and name.
    line_charts: Vec<(u32, String)>,
    before_points: Vec<String>,
    verdict: &'static str,
    conservation: String,
    /// Whether anything could be taken for a TPC result.
    tpcc: bool,
    /// Whether the run had transactions; without them their sections are left out.
    transactions: bool,
    consistency: String,
    findings: Vec<FindingView>,
    cuts: Vec<drive::CutView<'a>>,
    audit: audit::AuditView,
    doctor: Option<doctor::DoctorView>,
    shared: Vec<shared::SharedView>,
    blocks: Vec<block::StepView>,
    imports: Vec<imported::ImportView>,
    /// Whether all of it was measured by other tools: there is no plan and no seed then.
    foreign: bool,
    ladders: Vec<LadderView>,
    comparisons: Vec<drive::ComparisonView>,
    drives: Vec<drive::DriveView>,
    waits: Vec<waits::WaitsView>,
    charts: Charts,
    events: Grid,
    environment: Vec<SubjectView>,
    settings: Vec<SubjectView>,
    how: Vec<(&'static str, &'static str)>,
    footer: String,
    file: String,
    island: String,
    style: &'static str,
    script: &'a str,
}

struct HeadlineView {
    kicker: String,
    value: String,
    unit: String,
    interval: String,
    place: String,
    /// That the drive was emulated; else empty.
    drive: String,
    /// Of this point.
    verdict: &'static str,
    verdict_word: String,
    /// Value and label of what stands beside it.
    beside: Vec<(String, String)>,
}

struct FindingView {
    severity: &'static str,
    severity_text: String,
    place: String,
    text: String,
}

struct SubjectView {
    title: String,
    facts: Vec<(String, String)>,
}

/// Which charts have something to show.
#[derive(Default)]
struct Charts {
    throughput: Vec<Group<&'static str>>,
    /// By transaction type.
    latency: Vec<Group<String>>,
    time: Vec<&'static str>,
}

/// Charts over one kind of horizontal axis: `users` or `offered`.
struct Group<T> {
    axis: &'static str,
    names: Vec<T>,
}

impl<'a> Page<'a> {
    fn new(record: &'a Record, summary: &'a Summary, m: &'a Messages, script: &'a str) -> Self {
        let transactions = !text::is_without_transactions(summary);
        Self {
            m,
            title: &record.run.title,
            record,
            status: m.text(&format!("status-{}", record.run.status.name())),
            lasted: lasted(record.run.lasted),
            headline: headline(m, summary)
                .or_else(|| block::headline(m, summary))
                .or_else(|| shared::headline(m, summary)),
            lines: line::views(m, summary),
            line_charts: line::charts(summary),
            before_points: crate::line::before_points(m, summary),
            verdict: summary.verdict.name(),
            conservation: conservation(m, summary),
            tpcc: transactions && text::has_tpcc(summary),
            transactions,
            consistency: text::consistency(m, summary),
            findings: finding_views(m, summary),
            cuts: drive::cuts(m, summary),
            audit: audit::view(m, &summary.audit),
            doctor: doctor::view(m, summary),
            shared: shared::views(m, summary),
            blocks: block::views(m, summary),
            imports: imported::views(m, summary),
            foreign: is_foreign(record),
            ladders: summary
                .ladders
                .iter()
                .map(|ladder| LadderView::new(m, ladder))
                .collect(),
            comparisons: summary
                .comparisons
                .iter()
                .map(|own| drive::comparison(m, own))
                .collect(),
            drives: summary
                .ladders
                .iter()
                .filter_map(|ladder| drive::drive(m, ladder))
                .collect(),
            waits: waits::views(m, summary),
            charts: charts(record, summary),
            events: tables::events(m, record),
            environment: facts(m, record, |kind, key| {
                // What is known of an import stands in a section of its own.
                let of_import = kind == SubjectKind::System && key.starts_with(IMPORT_FACT);
                (!key.starts_with(SETTING) && !of_import).then_some(key)
            }),
            settings: facts(m, record, |_, key| key.strip_prefix(SETTING)),
            how: how::terms(summary),
            footer: footer(m, &record.run),
            file: m.file_state(&summary.file),
            island: island::json(record, summary, m),
            style: STYLE,
            script,
        }
    }
}

/// A run that plimsoll carried out has a plan.
fn is_foreign(record: &Record) -> bool {
    record.plan_written.is_empty() && record.plan_resolved.is_empty()
}

impl Page<'_> {
    /// Where only lines were searched for, they are what the run is about.
    fn has_headline(&self) -> bool {
        self.headline.is_some() || self.lines.is_empty()
    }

    fn any_chart(&self) -> bool {
        !self.charts.time.is_empty()
            || !self.blocks.is_empty()
            || self.shared.iter().any(|own| !own.charts.is_empty())
    }

    fn line_title(&self, step: &str) -> String {
        self.m.text_with("line-chart", &[("step", step.to_owned())])
    }

    fn chart_title(&self, name: &str) -> String {
        self.m.text(&format!("chart-title-{name}"))
    }

    /// Whether tables of means and latencies have any rows.
    fn measured(&self) -> bool {
        !self.charts.throughput.is_empty()
    }

    fn any_latency(&self) -> bool {
        self.charts
            .latency
            .iter()
            .any(|group| !group.names.is_empty())
    }

    /// Of a run that others measured there may be nothing but figures of the load.
    fn any_resource(&self) -> bool {
        !self.foreign || !self.record.series.is_empty()
    }

    fn axis_title(&self, axis: &str) -> String {
        self.m.text(if axis == "users" {
            "axis-users"
        } else {
            "axis-offered"
        })
    }

    fn verdict_word(&self) -> String {
        self.m.text(&format!("verdict-{}", self.verdict))
    }

    fn verdict_sentence(&self) -> String {
        self.m.text(&format!("trust-{}", self.verdict))
    }
}

fn footer(m: &Messages, run: &RunInfo) -> String {
    let args = [
        ("version", run.plimsoll_version.clone()),
        ("commit", run.plimsoll_commit.clone()),
        ("run", run.id.clone()),
    ];
    m.text_with("footer", &args)
}

/// Whole seconds: a run's length needs no more.
fn lasted(time: Nanos) -> String {
    Nanos::from_secs(time.0.saturating_add(Nanos::SECOND.0 / 2) / Nanos::SECOND.0).to_string()
}

fn headline(m: &Messages, summary: &Summary) -> Option<HeadlineView> {
    let (ladder, rung) = summary.headline()?;
    let point = &ladder.points[rung.typical];
    type Format = fn(f64) -> String;
    let (figure, shown, unit) = match rung.nopm {
        Some(nopm) => (nopm, whole as Format, m.text("headline-nopm")),
        None => (
            rung.completed_per_second?,
            three as Format,
            m.text("headline-rate"),
        ),
    };
    let ends = |low: f64, high: f64| [("low", shown(low)), ("high", shown(high))];
    let interval = match figure.interval {
        Some(i) => m.text_with("headline-interval", &ends(i.low, i.high)),
        None if rung.repeats() > 1 => m.text_with("headline-spread", &ends(figure.min, figure.max)),
        None => m.text("headline-no-interval"),
    };
    let mut beside = Vec::new();
    let mut add =
        |value: Option<String>, label: String| beside.extend(value.map(|value| (value, label)));
    add(
        rung.tpm.map(|tpm| whole(tpm.median)),
        m.text("headline-tpm"),
    );
    add(point.tpm_per_user.map(whole), m.text("headline-per-user"));
    let p99 = rung.p99_ms.map(|p99| format!("{} ms", three(p99.median)));
    add(
        p99,
        m.text_with("headline-p99", &[("txn", ladder::main_txn(m, ladder))]),
    );
    let resources = &point.resources;
    add(
        resources
            .host_cpu_busy_percent
            .map(|v| format!("{} %", percent(v))),
        m.text("headline-cpu"),
    );
    if let Some(device) = &resources.device {
        let written = resources
            .device_write_mb_per_second
            .map(|v| format!("{} MB/s", three(v)));
        add(
            written,
            m.text_with("headline-write", &[("device", device.clone())]),
        );
    }
    let repeats = rung.repeats().to_string();
    let place = [
        ("point", m.point(point)),
        ("measured", three(point.measured_s)),
        ("repeats", repeats),
    ];
    let place = if rung.repeats() > 1 {
        m.text_with("headline-median", &place)
    } else {
        m.text_with("headline-where", &place)
    };
    Some(HeadlineView {
        kicker: m.text("headline-kicker"),
        value: shown(figure.median),
        unit,
        interval,
        place,
        drive: ladder::emulated(m, ladder).unwrap_or_default(),
        verdict: rung.verdict.name(),
        verdict_word: m.text(&format!("verdict-{}", rung.verdict.name())),
        beside,
    })
}

fn conservation(m: &Messages, summary: &Summary) -> String {
    let (mut seconds, mut holds, mut open, mut broken) = (0, 0, 0, 0);
    for point in summary.points() {
        match point.conservation {
            Conservation::Holds { seconds: n } => (seconds, holds) = (seconds + n, holds + 1),
            Conservation::Open { seconds: n, .. } => (seconds, open) = (seconds + n, open + 1),
            Conservation::Broken { .. } => broken += 1,
            Conservation::Unknown => {}
        }
    }
    let shown = |n: u64| whole(n as f64);
    let imported =
        summary.points().next().is_some() && summary.points().all(|point| point.imported.is_some());
    match (holds + open, broken) {
        (0, 0) if imported => m.text("trust-conserved-imported"),
        (0, 0) => m.text("trust-conserved-none"),
        (_, 0) => {
            let args = [
                ("seconds", shown(seconds)),
                ("holds", shown(holds)),
                ("points", shown(holds + open)),
            ];
            m.text_with("trust-conserved", &args)
        }
        _ => m.text_with("trust-conserved-broken", &[("broken", shown(broken))]),
    }
}

fn finding_views(m: &Messages, summary: &Summary) -> Vec<FindingView> {
    let mut all = findings::describe(m, summary);
    all.sort_by_key(|line| std::cmp::Reverse(line.finding.severity));
    let view = |findings::FindingLine { place, finding }| FindingView {
        severity: finding.severity.name(),
        severity_text: m.text(&format!("severity-{}", finding.severity.name())),
        place,
        text: m.finding(finding),
    };
    all.into_iter().map(view).collect()
}

/// Facts by subject, those whose key `shown` gives a name.
fn facts(
    m: &Messages,
    record: &Record,
    shown: impl Fn(SubjectKind, &str) -> Option<&str>,
) -> Vec<SubjectView> {
    let subjects = record.subjects.iter().filter_map(|subject| {
        let own = record
            .facts
            .iter()
            .filter(|fact| fact.subject == subject.id);
        let facts: Vec<(String, String)> = own
            .filter_map(|fact| {
                Some((
                    shown(subject.kind, &fact.key)?.to_owned(),
                    fact.value.clone(),
                ))
            })
            .collect();
        let kind = m.text(&format!("subject-{}", subject.kind.name()));
        let alone = matches!(subject.kind, SubjectKind::Host | SubjectKind::Generator);
        let title = if alone {
            kind
        } else {
            format!("{kind} {}", subject.name)
        };
        (!facts.is_empty()).then_some(SubjectView { title, facts })
    });
    subjects.collect()
}

fn charts(record: &Record, summary: &Summary) -> Charts {
    let mut charts = Charts::default();
    for (axis, open) in [("users", false), ("offered", true)] {
        let points: Vec<_> = summary
            .points()
            .filter(|p| p.offered_per_second.is_some() == open && p.completed_per_second.is_some())
            .collect();
        if points.is_empty() {
            continue;
        }
        let tpcc = points.iter().any(|point| point.tpm.is_some());
        let mut names: Vec<&'static str> = if tpcc {
            vec!["nopm", "tpm"]
        } else {
            vec!["rate"]
        };
        if tpcc && !open {
            names.push("tpm-per-user");
        }
        charts.throughput.push(Group { axis, names });
        let mut names: Vec<String> = Vec::new();
        for txn in points.iter().flat_map(|point| &point.types) {
            if txn.response.is_some() && !names.contains(&txn.name) {
                names.push(txn.name.clone());
            }
        }
        charts.latency.push(Group { axis, names });
    }
    // Those of block I/O have charts of their own.
    let block = per_second::block_phases(record);
    let seconds = record
        .seconds
        .iter()
        .any(|second| !block.contains(&second.phase));
    if seconds
        || record
            .series
            .iter()
            .any(|series| !series.samples.is_empty())
    {
        let drive = !record.drive.is_empty();
        let names = CHART_TITLES[4..]
            .iter()
            .filter(|name| drive || **name != LATENESS);
        let names = names.filter(|name| seconds || !OF_TRANSACTIONS.contains(name));
        let of_series = |name: &str| !OF_TRANSACTIONS.contains(&name);
        let foreign = is_foreign(record);
        // Other tools do not report what was in flight, and seldom the latencies of each second.
        let timed = record
            .seconds
            .iter()
            .any(|second| second.response.count() > 0);
        let describe = |name: &str| match name {
            "in-flight" => false,
            "latency-time" => timed,
            name => !of_series(name) || !record.series.is_empty(),
        };
        charts
            .time
            .extend(names.filter(|name| !foreign || describe(name)));
    }
    charts
}

#[cfg(test)]
mod tests;
