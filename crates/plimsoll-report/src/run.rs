//! A run as a page and on a terminal: one list of sections.

use plimsoll_analysis::Summary;
use plimsoll_plan::RecordedPlan;
use plimsoll_record::{Record, RunInfo};

use crate::document::{ReportBlock, ReportDocument, ReportSection, contents};
use crate::html::island;
use crate::message::Messages;
use crate::number::three;
use crate::render;
use crate::render::html::PageScripts;
use crate::section::{
    audit, block, charts, cut, doctor, drive, environment, first, how, imported, ladder, line,
    media, record, shared, tpc, trust, waits,
};

const SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/report.js"));
/// What stands for the run file in commands: a page does not know its name.
const RUN: &str = "RUN";

/// The order on a terminal, whose last lines are read first: whether figures can be trusted stands behind them.
const ON_TERMINAL: [&str; 13] = [
    "doctor",
    "block",
    "line",
    "precondition",
    "ladder",
    "imported",
    "shared",
    "media",
    "cuts",
    "trust",
    "audit",
    "tpc",
    "file",
];

/// All tables, verified conditions, findings and the audit, for a terminal.
pub fn ladder_table(summary: &Summary) -> String {
    let mut sections = figures(&Messages::english(), summary, "");
    sections.sort_by_key(|section| ON_TERMINAL.iter().position(|id| *id == section.id));
    render::text::sections(&sections)
}

/// The report of `record`, whose figures are `summary`.
pub fn report(record: &Record, summary: &Summary) -> String {
    page(record, summary, SCRIPT)
}

pub(crate) fn page(record: &Record, summary: &Summary, script: &str) -> String {
    let m = Messages::english();
    let island = island::text(record, summary, &m);
    let reduced = island.reduced_to.map(|seconds| reduced(&m, seconds));
    let document = document(&m, record, summary, &reduced.unwrap_or_default());
    let scripts = PageScripts {
        data: island.json,
        script,
    };
    render::html::page_with(&m, &document, Some(scripts))
}

/// `reduced`: that not all points of charts are drawn; empty where all are.
fn document(m: &Messages, record: &Record, summary: &Summary, reduced: &str) -> ReportDocument {
    // A run of plimsoll's own has a plan.
    let is_foreign = record.plan == RecordedPlan::Imported;
    let mut sections = figures(m, summary, reduced);
    sections.extend(with_charts(m, record, summary, is_foreign, reduced));
    let meta = record::meta(m, record, is_foreign);
    let (meta_above, meta) = match summary.answer {
        Some(_) => (None, Some(meta)),
        None => (Some(meta), None),
    };
    sections.extend(record::events(m, record));
    sections.push(environment::environment(m, record, meta));
    if !tpc::is_without_transactions(summary) {
        sections.extend(environment::settings(m, record, is_foreign));
    }
    sections.push(record::again(m, record, is_foreign));
    sections.push(how::section(m, summary));
    if summary.answer.is_some() {
        sections.insert(1, contents(m.text("answer-contents"), &sections));
    }
    ReportDocument {
        title: record.run.title.clone(),
        is_question: summary.answer.is_some(),
        header: meta_above.into_iter().collect(),
        sections,
        footer: vec![
            ReportBlock::text(footer(m, &record.run)),
            ReportBlock::text(m.file_state(&summary.figures.file)),
        ],
    }
}

/// What the figures alone decide, in the order of a page.
fn figures(m: &Messages, summary: &Summary, reduced: &str) -> Vec<ReportSection> {
    let mut sections = Vec::new();
    sections.extend(first::section(m, summary, RUN));
    sections.extend(tpc::section(m, summary));
    sections.push(trust::section(m, summary));
    sections.push(audit::section(m, &summary.audit));
    sections.extend(doctor::section(m, summary));
    sections.extend(cut::section(m, summary));
    sections.extend(line::section(m, summary));
    sections.extend(line::before_points(m, summary));
    sections.extend(ladder::section(m, summary));
    sections.extend(media::section(m, summary));
    sections.extend(shared::sections(m, summary, reduced));
    sections.extend(imported::sections(m, summary));
    sections.extend(block::sections(m, summary, reduced));
    let mut file = ReportSection::bare("file").attached();
    file.line(m.file_state(&summary.figures.file));
    sections.push(file);
    sections
}

/// Charts, and the tables of what they show.
fn with_charts(
    m: &Messages,
    record: &Record,
    summary: &Summary,
    is_foreign: bool,
    reduced: &str,
) -> Vec<ReportSection> {
    let charts = charts::sections(m, record, summary, is_foreign, reduced);
    let is_measured = charts.iter().any(|section| section.id == "throughput");
    let mut sections = Vec::new();
    let timelines = &summary.figures.timelines;
    if !charts.is_empty() || !summary.figures.blocks.is_empty() || !timelines.is_empty() {
        let mut none = ReportSection::bare("scripts");
        none.page(ReportBlock::WithoutScript(m.text("charts-none")));
        sections.push(none);
    }
    sections.extend(charts);
    if is_measured {
        // Of a run that others measured there may be nothing but figures of the load.
        if !is_foreign || !record.series.is_empty() {
            sections.push(ladder::resources(m, summary));
        }
        sections.extend(waits::section(m, summary));
        sections.extend(drive::section(m, summary));
        sections.push(ladder::latencies(m, summary));
    }
    sections
}

/// What stands below charts over time with more points than are drawn.
fn reduced(m: &Messages, seconds: f64) -> String {
    let args = [("seconds", three(seconds)), ("run", RUN.to_owned())];
    m.text_with("chart-reduced", &args)
}

fn footer(m: &Messages, run: &RunInfo) -> String {
    let args = [
        ("version", run.plimsoll_version.clone()),
        ("commit", run.plimsoll_commit.clone()),
        ("run", run.id.clone()),
    ];
    m.text_with("footer", &args)
}

#[cfg(test)]
mod tests;
