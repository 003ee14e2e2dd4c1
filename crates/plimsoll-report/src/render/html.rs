//! A document as one HTML file that holds everything: styles, scripts, data. It opens from a disk and loads nothing from
//! a network. Only charts need the script.

use askama::Template;

use crate::chart::{ScriptChart, island};
use crate::document::{FieldInput, HeadingAside, ReportBlock, ReportDocument, ReportSection};
use crate::message::Messages;

pub(crate) const STYLE: &str = include_str!("../../templates/report.css");

/// What draws the charts of a page.
#[derive(Clone, Copy)]
pub(crate) enum PageScript<'a> {
    None,
    /// Within the page.
    Own(&'a str),
    /// Of the server, which it reads figures from too.
    File(&'static str),
}

pub(crate) fn page(m: &Messages, document: &ReportDocument) -> String {
    page_with(m, document, PageScript::None)
}

/// What stands within a section.
pub(crate) fn content(section: &ReportSection) -> String {
    let blocks: Vec<&ReportBlock> = section.on_page().collect();
    let charts = charts(blocks.iter().copied());
    let parts = blocks.iter().map(|block| {
        let part = BlockPart {
            block,
            charts: &charts,
        };
        part.render().expect(IN_MEMORY)
    });
    parts.collect::<Vec<_>>().join("\n")
}

pub(crate) fn page_with(m: &Messages, document: &ReportDocument, script: PageScript<'_>) -> String {
    let sections = document.sections.iter();
    let charts = charts(sections.flat_map(ReportSection::on_page));
    let page = DocumentPage {
        m,
        title: &document.title,
        document,
        data: island::text(m, &charts),
        charts,
        script,
        style: STYLE,
    };
    page.render().expect(IN_MEMORY)
}

/// Templates write to a string and call nothing that fails.
const IN_MEMORY: &str = "rendering to memory does not fail";

#[derive(Template)]
#[template(path = "document.html")]
struct DocumentPage<'a> {
    m: &'a Messages,
    title: &'a str,
    document: &'a ReportDocument,
    charts: Vec<&'a ScriptChart>,
    /// What they are drawn from.
    data: String,
    script: PageScript<'a>,
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

fn charts<'a>(blocks: impl Iterator<Item = &'a ReportBlock>) -> Vec<&'a ScriptChart> {
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
