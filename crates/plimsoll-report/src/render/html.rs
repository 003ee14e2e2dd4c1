//! A document as one HTML file that holds everything: styles, scripts, data. It opens from a disk and loads nothing from
//! a network. Only charts need the script.

use askama::Template;

use crate::document::{HeadingAside, ReportBlock, ReportDocument};
use crate::message::Messages;

pub(crate) const STYLE: &str = include_str!("../../templates/report.css");

/// What charts are drawn with.
pub(crate) struct PageScripts<'a> {
    /// Fit for a script element: no `<` is left in it.
    pub data: String,
    pub script: &'a str,
}

pub(crate) fn page(m: &Messages, document: &ReportDocument) -> String {
    page_with(m, document, None)
}

pub(crate) fn page_with(
    m: &Messages,
    document: &ReportDocument,
    scripts: Option<PageScripts<'_>>,
) -> String {
    let page = DocumentPage {
        m,
        title: &document.title,
        document,
        scripts,
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
    scripts: Option<PageScripts<'a>>,
    style: &'static str,
}

#[derive(Template)]
#[template(path = "block.html")]
struct BlockPart<'a> {
    block: &'a ReportBlock,
}

/// Of a template that holds others.
fn part(block: &ReportBlock) -> BlockPart<'_> {
    BlockPart { block }
}
