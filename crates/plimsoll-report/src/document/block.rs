//! What sections consist of.

use super::PageAnswer;
use crate::chart::ScriptChart;
use crate::finding_view::FindingView;
use crate::message::Messages;
use crate::svg::chart::Chart;
use crate::table::{Grid, Table};

pub(crate) enum ReportBlock {
    Heading(BlockHeading),
    /// A paragraph; a line on a terminal.
    Text {
        class: String,
        text: String,
    },
    Table {
        /// For those who do not see it.
        label: String,
        grid: Grid,
        /// On a terminal.
        text: String,
    },
    List {
        class: &'static str,
        items: Vec<ListItem>,
    },
    Findings(Vec<FindingView>),
    /// Names with their values.
    Facts {
        class: &'static str,
        facts: Vec<(String, String)>,
    },
    Bars {
        /// Classes and names of parts.
        legend: Vec<(String, String)>,
        bars: Vec<StackedBar>,
    },
    Chart(ScriptChart),
    Drawing(Chart),
    /// Beside each other where there is room.
    Group {
        class: &'static str,
        blocks: Vec<Self>,
    },
    /// Folded away.
    Details {
        summary: String,
        is_open: bool,
        blocks: Vec<Self>,
    },
    /// Printed as it is written.
    Code(String),
    Answer(Box<PageAnswer>),
    Links {
        label: String,
        links: Vec<PageLink>,
    },
    Form(PageForm),
    /// Shown where scripts do not run.
    WithoutScript(String),
}

pub(crate) struct BlockHeading {
    pub level: u8,
    pub text: String,
    pub aside: HeadingAside,
}

/// What stands beside a heading.
pub(crate) enum HeadingAside {
    Nothing,
    Badge {
        verdict: &'static str,
        word: String,
    },
    /// Of the scale of charts.
    Switch(String),
}

pub(crate) struct ListItem {
    pub class: &'static str,
    /// What it is about; may be empty.
    pub label: String,
    pub text: String,
}

pub(crate) struct PageLink {
    pub address: String,
    pub text: String,
}

/// Asks for a page with what is filled in, or with the rows that are chosen.
pub(crate) struct PageForm {
    /// Of the form as a landmark; may be empty.
    pub role: &'static str,
    pub class: &'static str,
    /// Of the page.
    pub address: &'static str,
    pub fields: Vec<FormField>,
    pub blocks: Vec<ReportBlock>,
    pub submit: String,
    /// Behind the button.
    pub after: Vec<ReportBlock>,
}

pub(crate) struct FormField {
    pub name: &'static str,
    pub label: String,
    pub value: String,
    pub input: FieldInput,
}

pub(crate) enum FieldInput {
    /// Of this type of HTML.
    Typed(&'static str),
    /// One of these values, which people see as texts.
    Choice(Vec<FieldChoice>),
}

pub(crate) struct FieldChoice {
    pub value: String,
    pub text: String,
}

/// A whole, and its parts side by side.
pub(crate) struct StackedBar {
    pub name: String,
    /// All of it in words, for those who do not see it.
    pub label: String,
    pub parts: Vec<BarSegment>,
}

pub(crate) struct BarSegment {
    pub class: String,
    /// In percent of the bar.
    pub width: String,
    pub title: String,
    /// What stands in it; empty where there is no room.
    pub label: String,
}

impl BlockHeading {
    pub fn section(text: impl Into<String>) -> Self {
        Self {
            level: 2,
            ..Self::from(text.into())
        }
    }

    pub fn beside(self, aside: HeadingAside) -> Self {
        Self { aside, ..self }
    }
}

/// Within a section.
impl From<String> for BlockHeading {
    fn from(text: String) -> Self {
        Self {
            level: 3,
            text,
            aside: HeadingAside::Nothing,
        }
    }
}

impl From<String> for ListItem {
    fn from(text: String) -> Self {
        Self {
            class: "",
            label: String::new(),
            text,
        }
    }
}

impl ReportBlock {
    pub fn heading(text: impl Into<String>) -> Self {
        Self::Heading(text.into().into())
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self::styled("", text)
    }

    pub fn note(text: impl Into<String>) -> Self {
        Self::styled("note", text)
    }

    pub fn styled(class: impl Into<String>, text: impl Into<String>) -> Self {
        Self::Text {
            class: class.into(),
            text: text.into(),
        }
    }

    /// Of terminals and pages.
    pub fn table<R>(m: &Messages, label: &str, table: &Table<'_, R>, rows: &[R]) -> Self {
        Self::Table {
            label: label.to_owned(),
            grid: table.to_grid(m, rows),
            text: table.to_lines(m, rows).unwrap_or_default(),
        }
    }

    /// A table of a page.
    pub fn grid<R>(m: &Messages, label: &str, table: &Table<'_, R>, rows: &[R]) -> Self {
        Self::Table {
            label: label.to_owned(),
            grid: table.to_grid(m, rows),
            text: String::new(),
        }
    }

    pub fn list(items: impl IntoIterator<Item = impl Into<ListItem>>) -> Self {
        Self::List {
            class: "plain",
            items: items.into_iter().map(Into::into).collect(),
        }
    }

    pub fn facts(facts: Vec<(String, String)>) -> Self {
        Self::Facts {
            class: "facts",
            facts,
        }
    }

    pub fn group(class: &'static str, blocks: impl IntoIterator<Item = Self>) -> Self {
        Self::Group {
            class,
            blocks: blocks.into_iter().filter(Self::is_filled).collect(),
        }
    }

    pub fn figures(class: &'static str, charts: Vec<ScriptChart>) -> Self {
        Self::group(class, charts.into_iter().map(Self::Chart))
    }

    pub fn folded(summary: impl Into<String>, blocks: impl IntoIterator<Item = Self>) -> Self {
        Self::Details {
            summary: summary.into(),
            is_open: false,
            blocks: blocks.into_iter().filter(Self::is_filled).collect(),
        }
    }

    /// Whether it has content, and is neither a heading nor a note.
    pub fn is_figure(&self) -> bool {
        let is_beside = match self {
            Self::Heading(_) => true,
            Self::Text { class, .. } => class == "note",
            _ => false,
        };
        self.is_filled() && !is_beside
    }

    /// Whether it has content.
    pub fn is_filled(&self) -> bool {
        match self {
            Self::Text { text, .. } | Self::Code(text) => !text.is_empty(),
            Self::Table { grid, .. } => !grid.rows.is_empty(),
            Self::List { items, .. } => !items.is_empty(),
            Self::Findings(findings) => !findings.is_empty(),
            Self::Facts { facts, .. } => !facts.is_empty(),
            Self::Bars { bars, .. } => !bars.is_empty(),
            Self::Details { blocks, .. } | Self::Group { blocks, .. } => !blocks.is_empty(),
            Self::Links { links, .. } => !links.is_empty(),
            Self::Heading(_)
            | Self::Chart(_)
            | Self::Drawing(_)
            | Self::Answer(_)
            | Self::Form(_)
            | Self::WithoutScript(_) => true,
        }
    }
}
