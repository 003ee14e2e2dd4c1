//! The catalog of runs as a page: filters, a table, and a choice of runs to compare.

use askama::Template;
use plimsoll_record::RunStatus;

use crate::document::{PageLink, ReportBlock, ReportDocument, ReportSection};
use crate::history::ListedRun;
use crate::message::Messages;
use crate::number::three;
use crate::render;
use crate::render::html::STYLE;

/// A run of the catalog.
#[derive(Debug, Clone, PartialEq)]
pub struct CatalogRun {
    pub listed: ListedRun,
    /// The address of its page.
    pub address: String,
    /// Whether it goes on.
    pub is_live: bool,
}

/// What the form was filled in with; empty is no filter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CatalogFilter {
    /// In title, label or file, ignoring case.
    pub text: String,
    pub system: String,
    pub medium: String,
    pub status: String,
    /// A date; runs that began earlier are left out.
    pub since: String,
}

/// What there is to choose from, over all runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CatalogChoices {
    pub systems: Vec<String>,
    pub media: Vec<String>,
}

/// The page of those runs that pass the filter, out of `total`.
pub fn runs_page(
    runs: &[CatalogRun],
    total: usize,
    filter: &CatalogFilter,
    choices: &CatalogChoices,
) -> String {
    let m = Messages::english();
    let shown = [("n", runs.len().to_string()), ("total", total.to_string())];
    let page = RunsPage {
        title: m.text("runs-title"),
        shown: m.text_with("runs-shown", &shown),
        runs,
        filter,
        choices,
        m: &m,
        style: STYLE,
    };
    // The template writes to a string and calls nothing that fails.
    page.render().expect("rendering to memory does not fail")
}

#[derive(Template)]
#[template(path = "runs.html")]
struct RunsPage<'a> {
    m: &'a Messages,
    title: String,
    shown: String,
    runs: &'a [CatalogRun],
    filter: &'a CatalogFilter,
    choices: &'a CatalogChoices,
    style: &'static str,
}

impl RunsPage<'_> {
    fn statuses(&self) -> [RunStatus; 4] {
        [
            RunStatus::Unfinished,
            RunStatus::Complete,
            RunStatus::Interrupted,
            RunStatus::Failed,
        ]
    }

    fn status(&self, status: &RunStatus) -> String {
        self.m.text(&format!("status-{}", status.name()))
    }

    /// To the minute.
    fn began(&self, run: &CatalogRun) -> String {
        let began = run.listed.started_at.chars().take(16);
        began.map(|c| if c == 'T' { ' ' } else { c }).collect()
    }

    fn p99(&self, run: &CatalogRun) -> String {
        run.listed.p99_ms().map_or(String::new(), three)
    }

    fn verdict(&self, run: &CatalogRun) -> String {
        let verdict = run.listed.verdict();
        verdict.map_or(String::new(), |verdict| {
            self.m.text(&format!("verdict-{}", verdict.name()))
        })
    }

    /// A run that goes on is `running`: `unfinished` also is one that was killed.
    fn status_of(&self, run: &CatalogRun) -> String {
        if run.is_live {
            self.m.text("runs-live")
        } else {
            self.status(&run.listed.status)
        }
    }
}

/// Why there is no other page.
pub fn notice_page(title: &str, text: &str) -> String {
    let m = Messages::english();
    let mut why = ReportSection::untitled("why");
    text.lines()
        .for_each(|line| why.page(ReportBlock::text(line)));
    let mut links = ReportSection::bare("links");
    links.page(ReportBlock::Links {
        label: m.text("live-contents"),
        links: vec![PageLink {
            address: "/".to_owned(),
            text: m.text("runs-title"),
        }],
    });
    let document = ReportDocument {
        title: title.to_owned(),
        is_question: false,
        header: Vec::new(),
        sections: vec![why, links],
        footer: Vec::new(),
    };
    render::html::page(&m, &document)
}
