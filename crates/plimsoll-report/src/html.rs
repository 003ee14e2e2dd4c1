//! One HTML file that holds everything: styles, scripts, data. It opens from a disk and loads nothing from a network.
//!
//! Tables come from the template and are complete without scripts; charts are drawn by `web/src` from the data island
//! (see [`island`]).

use askama::Template;
use plimsoll_analysis::Summary;
use plimsoll_plan::RecordedPlan;
use plimsoll_plan::units::Nanos;
use plimsoll_record::{Record, RunInfo};

use crate::finding_view::FindingView;
use crate::message::Messages;
use crate::number::three;
use crate::table::Grid;
use crate::text;
use charts::Charts;
use environment::SubjectView;
use page_answer::PageAnswer;
use tables::LadderView;

pub(crate) mod audit;
pub(crate) mod audits;
mod block;
mod bounded;
pub mod catalog;
mod charts;
mod doctor;
mod drive;
mod environment;
mod first;
mod how;
mod imported;
mod island;
mod lateness;
mod line;
pub(crate) mod page_answer;
mod per_second;
mod rounding;
mod shared;
pub(crate) mod tables;
mod trust;
mod waits;

#[cfg(test)]
pub(crate) use charts::CHART_TITLES;

const SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/report.js"));
pub(crate) const STYLE: &str = include_str!("../templates/report.css");

/// The report of `record`, whose figures are `summary`.
pub fn report(record: &Record, summary: &Summary) -> String {
    page(record, summary, SCRIPT)
}

fn page(record: &Record, summary: &Summary, script: &str) -> String {
    let m = Messages::english();
    let page = ReportPage::new(record, summary, &m, script);
    // The template writes to a string and calls nothing that fails.
    page.render().expect("rendering to memory does not fail")
}

#[derive(Template)]
#[template(path = "report.html")]
struct ReportPage<'a> {
    m: &'a Messages,
    title: &'a str,
    record: &'a Record,
    status: String,
    lasted: String,
    first: Option<PageAnswer>,
    /// Ids and titles of sections.
    contents: Vec<(&'static str, String)>,
    lines: Vec<line::LineView<'a>>,
    line_charts: Vec<line::LineChart>,
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
    imports: Vec<imported::ImportView<'a>>,
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
    /// Ids of the terms that are explained.
    how: Vec<&'static str>,
    footer: String,
    file: String,
    island: String,
    /// That not all points of lines are drawn; empty where all are.
    reduced: String,
    style: &'static str,
    script: &'a str,
}

impl<'a> ReportPage<'a> {
    fn new(record: &'a Record, summary: &'a Summary, m: &'a Messages, script: &'a str) -> Self {
        let transactions = !text::is_without_transactions(summary);
        // A run of plimsoll's own has a plan.
        let foreign = record.plan == RecordedPlan::Imported;
        let ladders = &summary.figures.ladders;
        let island = island::text(record, summary, m);
        Self {
            m,
            title: &record.run.title,
            record,
            status: m.text(&format!("status-{}", record.run.status.name())),
            lasted: lasted(record.run.lasted),
            first: first::view(m, summary, RUN),
            contents: contents(m, summary),
            lines: line::views(m, summary),
            line_charts: line::charts(m, summary),
            before_points: crate::line::before_points(m, summary),
            verdict: summary.verdict.name(),
            conservation: trust::conservation(m, summary),
            tpcc: transactions && text::has_tpcc(summary),
            transactions,
            consistency: text::consistency(m, summary),
            findings: trust::findings(m, summary),
            cuts: drive::cuts(m, summary),
            audit: audit::view(m, &summary.audit),
            doctor: doctor::view(m, summary),
            shared: shared::views(m, summary),
            blocks: block::views(m, summary),
            imports: imported::views(m, summary),
            foreign,
            ladders: ladders.iter().map(|own| LadderView::new(m, own)).collect(),
            comparisons: summary
                .figures
                .comparisons
                .iter()
                .map(|own| drive::comparison(m, own))
                .collect(),
            drives: ladders
                .iter()
                .filter_map(|own| drive::drive(m, own))
                .collect(),
            waits: waits::views(m, summary),
            charts: Charts::of(record, summary, foreign),
            events: tables::event_grid(m, record),
            environment: environment::environment(m, record),
            settings: environment::settings(m, record),
            how: how::terms(summary),
            footer: footer(m, &record.run),
            file: m.file_state(&summary.figures.file),
            reduced: island
                .reduced_to
                .map_or_else(String::new, |s| reduced(m, s)),
            island: island.json,
            style: STYLE,
            script,
        }
    }

    fn any_chart(&self) -> bool {
        !self.charts.time.is_empty()
            || !self.blocks.is_empty()
            || self.shared.iter().any(|own| !own.charts.is_empty())
    }

    fn chart_title(&self, name: &str) -> String {
        self.m.text(&format!("chart-title-{name}"))
    }

    /// Whether tables of means and latencies have any rows.
    fn measured(&self) -> bool {
        !self.charts.throughput.is_empty()
    }

    fn any_latency(&self) -> bool {
        let mut groups = self.charts.latency.iter();
        groups.any(|group| !group.names.is_empty())
    }

    /// Of a run that others measured there may be nothing but figures of the load.
    fn any_resource(&self) -> bool {
        !self.foreign || !self.record.series.is_empty()
    }

    fn axis_title(&self, axis: &str) -> String {
        self.m.text(&format!("axis-{axis}"))
    }

    fn explained(&self, term: &str) -> String {
        self.m.text(&format!("{term}-text"))
    }

    fn verdict_word(&self) -> String {
        self.m.text(&format!("verdict-{}", self.verdict))
    }

    fn verdict_sentence(&self) -> String {
        self.m.text(&format!("trust-{}", self.verdict))
    }
}

/// What stands below charts over time with more points than are drawn.
fn reduced(m: &Messages, seconds: f64) -> String {
    let args = [("seconds", three(seconds)), ("run", RUN.to_owned())];
    m.text_with("chart-reduced", &args)
}

/// What stands for the run file in commands: a page does not know its name.
const RUN: &str = "RUN";

fn contents(m: &Messages, summary: &Summary) -> Vec<(&'static str, String)> {
    let figures = &summary.figures;
    let all = [
        ("trust", "trust-title", true),
        ("audit", "audit-title", true),
        ("ladder", "ladder-title", !figures.ladders.is_empty()),
        ("media", "compare-title", !figures.comparisons.is_empty()),
        ("environment", "environment-title", true),
        ("again", "again-title", true),
        ("how", "how-title", true),
    ];
    let there = all.into_iter().filter(|(.., is_there)| *is_there);
    there.map(|(id, title, _)| (id, m.text(title))).collect()
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

#[cfg(test)]
mod tests;
