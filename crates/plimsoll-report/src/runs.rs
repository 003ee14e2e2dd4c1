//! The catalog of runs as a page: filters, a table, and a choice of runs to compare.

use plimsoll_record::RunStatus;

use crate::document::{
    FieldChoice, FieldInput, FormField, PageForm, PageLink, ReportBlock, ReportDocument,
    ReportSection,
};
use crate::history::{self, ListedRun};
use crate::message::Messages;
use crate::render;

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
    runs: &[ListedRun],
    total: usize,
    filter: &CatalogFilter,
    choices: &CatalogChoices,
) -> String {
    let m = Messages::english();
    let title = m.text("runs-title");
    let mut filters = ReportSection::bare("filters");
    filters.page(ReportBlock::Form(filter_form(&m, filter, choices)));
    let shown = [("n", runs.len().to_string()), ("total", total.to_string())];
    let mut list = ReportSection::untitled("list");
    list.page(ReportBlock::note(m.text_with("runs-shown", &shown)));
    list.page(if runs.is_empty() {
        ReportBlock::text(m.text("list-none"))
    } else {
        ReportBlock::Form(comparison_form(&m, &title, runs))
    });
    let document = ReportDocument {
        title,
        is_question: false,
        header: Vec::new(),
        sections: vec![filters, list],
        footer: Vec::new(),
    };
    render::html::page(&m, &document)
}

fn filter_form(m: &Messages, filter: &CatalogFilter, choices: &CatalogChoices) -> PageForm {
    let field = |name, label, value: &String, input| FormField {
        name,
        label: m.text(label),
        value: value.clone(),
        input,
    };
    let any = || FieldChoice {
        value: String::new(),
        text: m.text("runs-any"),
    };
    let names = |names: &[String]| {
        let names = names.iter().map(|name| FieldChoice {
            value: name.clone(),
            text: name.clone(),
        });
        FieldInput::Choice([any()].into_iter().chain(names).collect())
    };
    let statuses = STATUSES.map(|status| FieldChoice {
        value: status.name().to_owned(),
        text: m.text(&format!("status-{}", status.name())),
    });
    let statuses = FieldInput::Choice([any()].into_iter().chain(statuses).collect());
    let (systems, media) = (names(&choices.systems), names(&choices.media));
    PageForm {
        role: "search",
        class: "filters",
        address: "/",
        fields: vec![
            field(
                "text",
                "runs-text",
                &filter.text,
                FieldInput::Typed("search"),
            ),
            field("system", "list-systems", &filter.system, systems),
            field("medium", "list-media", &filter.medium, media),
            field("status", "list-status", &filter.status, statuses),
            field(
                "since",
                "runs-since",
                &filter.since,
                FieldInput::Typed("date"),
            ),
        ],
        blocks: Vec::new(),
        submit: m.text("runs-filter"),
        after: vec![ReportBlock::Links {
            label: m.text("live-contents"),
            links: vec![to_runs(m, "runs-all")],
        }],
    }
}

const STATUSES: [RunStatus; 4] = [
    RunStatus::Unfinished,
    RunStatus::Complete,
    RunStatus::Interrupted,
    RunStatus::Failed,
];

/// Runs of which some are chosen.
fn comparison_form(m: &Messages, title: &str, runs: &[ListedRun]) -> PageForm {
    let rows: Vec<&ListedRun> = runs.iter().collect();
    PageForm {
        role: "",
        class: "runs",
        address: "/compare",
        fields: Vec::new(),
        blocks: vec![ReportBlock::grid(m, title, &history::list(), &rows)],
        submit: m.text("runs-compare-chosen"),
        after: vec![ReportBlock::note(m.text("runs-compare-note"))],
    }
}

/// A link to the list of all runs.
fn to_runs(m: &Messages, id: &str) -> PageLink {
    PageLink {
        address: "/".to_owned(),
        text: m.text(id),
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
        links: vec![to_runs(&m, "runs-title")],
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
