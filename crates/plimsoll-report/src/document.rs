//! A document as data: what a terminal and a page show of a run, a comparison, a set or an audit.
//!
//! Sections decide what is shown, where and in which order. Renderers know blocks only.

mod answer;
mod block;

use crate::chart::ScriptChart;
use crate::message::Messages;
use crate::number::three;

pub(crate) use answer::{AnswerNote, PageAnswer};
pub(crate) use block::{
    BarSegment, BlockHeading, FieldChoice, FieldInput, FormField, HeadingAside, ListItem, PageForm,
    PageLink, ReportBlock, StackedBar,
};

pub(crate) struct ReportDocument {
    pub title: String,
    /// Whether the title is a question, which what is below it answers.
    pub is_question: bool,
    /// Below the title of a page.
    pub header: Vec<ReportBlock>,
    pub sections: Vec<ReportSection>,
    /// At the end of a page.
    pub footer: Vec<ReportBlock>,
}

pub(crate) struct ReportSection {
    /// Its place in an order of sections, and the target of links to it.
    pub id: &'static str,
    pub title: String,
    /// Its style on a page; `None` where its blocks stand by themselves.
    pub class: Option<String>,
    /// Whether pages link to it in their contents.
    pub is_listed: bool,
    /// Whether no blank line stands before it on a terminal.
    pub is_attached: bool,
    blocks: Vec<PlacedBlock>,
}

/// Where a block is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ShownOn {
    Terminal,
    Page,
    Both,
}

struct PlacedBlock {
    place: ShownOn,
    block: ReportBlock,
}

impl ReportSection {
    /// With its title as a heading on pages; a terminal's is a line of the section.
    pub fn new(id: &'static str, title: impl Into<String>) -> Self {
        Self::headed(id, BlockHeading::section(title))
    }

    pub fn headed(id: &'static str, heading: BlockHeading) -> Self {
        let title = heading.text.clone();
        let mut section = Self {
            title,
            class: Some(String::new()),
            ..Self::bare(id)
        };
        section.page(ReportBlock::Heading(heading));
        section
    }

    /// Without a heading.
    pub fn untitled(id: &'static str) -> Self {
        Self {
            class: Some(String::new()),
            ..Self::bare(id)
        }
    }

    /// Blocks that stand by themselves.
    pub fn bare(id: &'static str) -> Self {
        Self {
            id,
            title: String::new(),
            class: None,
            is_listed: false,
            is_attached: false,
            blocks: Vec::new(),
        }
    }

    pub fn styled(self, class: impl Into<String>) -> Self {
        Self {
            class: Some(class.into()),
            ..self
        }
    }

    pub fn listed(self) -> Self {
        Self {
            is_listed: true,
            ..self
        }
    }

    pub fn attached(self) -> Self {
        Self {
            is_attached: true,
            ..self
        }
    }

    pub fn both(&mut self, block: ReportBlock) {
        self.push(ShownOn::Both, block);
    }

    pub fn page(&mut self, block: ReportBlock) {
        self.push(ShownOn::Page, block);
    }

    /// On a page, below a heading and a note, which may be empty; without content neither of them.
    pub fn page_under(
        &mut self,
        heading: impl Into<BlockHeading>,
        note: String,
        blocks: impl IntoIterator<Item = ReportBlock>,
    ) {
        let blocks: Vec<ReportBlock> = blocks.into_iter().collect();
        if blocks.iter().any(ReportBlock::is_figure) {
            self.page(ReportBlock::Heading(heading.into()));
            self.page(ReportBlock::note(note));
            blocks.into_iter().for_each(|block| self.page(block));
        }
    }

    /// On a terminal only.
    pub fn line(&mut self, text: impl Into<String>) {
        self.push(ShownOn::Terminal, ReportBlock::text(text));
    }

    pub fn lines(&mut self, texts: impl IntoIterator<Item = String>) {
        texts.into_iter().for_each(|text| self.line(text));
    }

    /// A blank line on a terminal; none at the beginning and the end of a section.
    pub fn gap(&mut self) {
        self.blocks.push(PlacedBlock {
            place: ShownOn::Terminal,
            block: ReportBlock::text(""),
        });
    }

    /// `None` of nothing but headings and notes.
    pub fn if_filled(self) -> Option<Self> {
        let mut blocks = self.blocks.iter();
        blocks.any(|own| own.block.is_figure()).then_some(self)
    }

    /// What has no content is left out.
    fn push(&mut self, place: ShownOn, block: ReportBlock) {
        if block.is_filled() {
            self.blocks.push(PlacedBlock { place, block });
        }
    }

    pub fn on_page(&self) -> impl Iterator<Item = &ReportBlock> {
        self.without(ShownOn::Terminal)
    }

    pub fn on_terminal(&self) -> impl Iterator<Item = &ReportBlock> {
        self.without(ShownOn::Page)
    }

    fn without(&self, place: ShownOn) -> impl Iterator<Item = &ReportBlock> {
        let blocks = self.blocks.iter();
        blocks
            .filter(move |own| own.place != place)
            .map(|own| &own.block)
    }
}

/// What stands for the run file in commands: a page does not know its name.
pub(crate) const RUN: &str = "RUN";

/// What stands below charts over time of which not all points are drawn; nothing of others.
pub(crate) fn reduced_note<'a>(
    m: &Messages,
    charts: impl IntoIterator<Item = &'a ScriptChart>,
) -> ReportBlock {
    let reduced = charts.into_iter().filter_map(ScriptChart::reduced_to);
    let note = reduced.reduce(f64::max).map(|seconds| {
        let args = [("seconds", three(seconds)), ("run", RUN.to_owned())];
        m.text_with("chart-reduced", &args)
    });
    ReportBlock::note(note.unwrap_or_default())
}

/// Links to the sections that are listed.
pub(crate) fn contents(label: String, sections: &[ReportSection]) -> ReportSection {
    let listed = sections.iter().filter(|section| section.is_listed);
    let links = listed.map(|section| PageLink {
        address: format!("#{}", section.id),
        text: section.title.clone(),
    });
    let links = links.collect();
    let mut contents = ReportSection::bare("contents");
    contents.page(ReportBlock::Links { label, links });
    contents
}
