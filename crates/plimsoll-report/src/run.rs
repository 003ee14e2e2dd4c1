//! A run as a page and on a terminal: one list of sections.

use plimsoll_analysis::Summary;
use plimsoll_plan::RecordedPlan;
use plimsoll_record::{Record, RunInfo};

use crate::document::{RUN, ReportBlock, ReportDocument, ReportSection, contents};
use crate::message::Messages;
use crate::render;
use crate::render::html::PageScript;
use crate::section::{
    audit, block, charts, cut, doctor, drive, environment, first, how, imported, ladder, line,
    media, record, shared, time, tpc, trust, waits,
};
use crate::svg::color::MediumColors;

const SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/report.js"));

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
    let colors = MediumColors { media: &[] };
    let mut sections = figures(&Messages::english(), summary, colors);
    sections.sort_by_key(|section| ON_TERMINAL.iter().position(|id| *id == section.id));
    render::text::sections(&sections)
}

/// The report of `record`, whose figures are `summary`.
pub fn report(record: &Record, summary: &Summary) -> String {
    page(record, summary, SCRIPT)
}

pub(crate) fn page(record: &Record, summary: &Summary, script: &str) -> String {
    let m = Messages::english();
    let document = document(&m, record, summary);
    render::html::page_with(&m, &document, PageScript::Own(script))
}

fn document(m: &Messages, record: &Record, summary: &Summary) -> ReportDocument {
    let media: Vec<String> = record.media().into_iter().map(str::to_owned).collect();
    let colors = MediumColors { media: &media };
    // A run of plimsoll's own has a plan.
    let is_foreign = record.plan == RecordedPlan::Imported;
    let mut sections = figures(m, summary, colors);
    sections.extend(with_charts(m, record, summary, colors, is_foreign));
    let meta = record::meta(m, record, is_foreign);
    let has_answer = sections.iter().any(|own| own.id == first::ID);
    let (meta_above, meta) = match has_answer {
        true => (None, Some(meta)),
        false => (Some(meta), None),
    };
    sections.extend(record::events(m, record));
    sections.push(environment::environment(m, record, meta));
    if !tpc::is_without_transactions(summary) {
        sections.extend(environment::settings(m, record, is_foreign));
    }
    sections.push(record::again(m, record, is_foreign));
    sections.push(how::section(m, summary));
    if has_answer {
        sections.insert(1, contents(m.text("answer-contents"), &sections));
    }
    ReportDocument {
        title: record.run.title.clone(),
        is_question: has_answer,
        header: meta_above.into_iter().collect(),
        sections,
        footer: vec![
            ReportBlock::text(footer(m, &record.run)),
            ReportBlock::text(m.file_state(&summary.figures.file)),
        ],
    }
}

/// What the figures alone decide, in the order of a page.
fn figures(m: &Messages, summary: &Summary, colors: MediumColors<'_>) -> Vec<ReportSection> {
    let mut sections = Vec::new();
    sections.extend(first::section(m, summary, RUN));
    sections.extend(tpc::section(m, summary));
    sections.push(trust::section(m, summary));
    sections.push(audit::section(m, &summary.audit));
    sections.extend(doctor::section(m, summary));
    sections.extend(cut::section(m, summary));
    sections.extend(line::section(m, summary, colors));
    sections.extend(line::before_points(m, summary));
    sections.extend(ladder::section(m, summary));
    sections.extend(media::section(m, summary));
    sections.extend(shared::sections(m, summary, colors));
    sections.extend(imported::sections(m, summary));
    sections.extend(block::sections(m, summary, colors));
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
    colors: MediumColors<'_>,
    is_foreign: bool,
) -> Vec<ReportSection> {
    let mut charts = charts::sections(m, summary, colors);
    let is_measured = !charts.is_empty();
    charts.extend(time::section(m, record, colors, is_foreign));
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
