//! A document as one HTML file that holds everything: styles, scripts, data. It opens from a disk and loads nothing from
//! a network. Only charts need the script.

use askama::Template;

use crate::chart::{ScriptChart, island};
use crate::document::{HeadingAside, ReportBlock, ReportDocument, ReportSection};
use crate::message::Messages;

pub(crate) const STYLE: &str = include_str!("../../templates/report.css");

pub(crate) fn page(m: &Messages, document: &ReportDocument) -> String {
    page_with(m, document, None)
}

/// `script` draws its charts.
pub(crate) fn page_with(m: &Messages, document: &ReportDocument, script: Option<&str>) -> String {
    let charts = charts(document);
    let page = DocumentPage {
        m,
        title: &document.title,
        document,
        data: island::text(m, &charts),
        charts,
        script,
        style: STYLE,
    };
    // The template writes to a string and calls nothing that fails.
    page.render().expect("rendering to memory does not fail")
}

#[derive(Template)]
#[template(path = "document.html")]
struct DocumentPage<'a> {
    m: &'a Messages,
    title: &'a str,
    document: &'a ReportDocument,
    charts: Vec<&'a ScriptChart>,
    /// What they are drawn from.
    data: String,
    script: Option<&'a str>,
    style: &'static str,
}

impl DocumentPage<'_> {
    fn part<'a>(&'a self, block: &'a ReportBlock) -> BlockPart<'a> {
        BlockPart {
            block,
            charts: &self.charts,
        }
    }
}

#[derive(Template)]
#[template(path = "block.html")]
struct BlockPart<'a> {
    block: &'a ReportBlock,
    charts: &'a [&'a ScriptChart],
}

impl BlockPart<'_> {
    fn part<'a>(&'a self, block: &'a ReportBlock) -> BlockPart<'a> {
        BlockPart {
            block,
            charts: self.charts,
        }
    }

    /// Of the chart's data among those of all charts.
    fn place(&self, chart: &ScriptChart) -> usize {
        let mut charts = self.charts.iter();
        let place = charts.position(|own| std::ptr::eq(*own, chart));
        place.expect("all charts of the document are collected")
    }
}

fn charts(document: &ReportDocument) -> Vec<&ScriptChart> {
    let sections = document.sections.iter();
    let blocks = sections.flat_map(ReportSection::on_page);
    let mut charts = Vec::new();
    blocks.for_each(|block| add_charts(block, &mut charts));
    charts
}

fn add_charts<'a>(block: &'a ReportBlock, charts: &mut Vec<&'a ScriptChart>) {
    match block {
        ReportBlock::Chart(chart) => charts.push(chart),
        ReportBlock::Group { blocks, .. } | ReportBlock::Details { blocks, .. } => {
            blocks.iter().for_each(|block| add_charts(block, charts));
        }
        _ => {}
    }
}
