//! The catalog: which runs pass the filters of an address, newest first.

use plimsoll_record::RunStatus;
use plimsoll_report::history::ListedRun;
use plimsoll_report::runs::{CatalogChoices, CatalogFilter, runs_page};

use crate::live::is_growing;
use crate::route::address_of;
use crate::source::FoundRun;

/// A run that goes on; of one that was killed the file was never closed either.
pub(crate) fn is_live(run: &FoundRun) -> bool {
    run.head.run.status == RunStatus::Unfinished && is_growing(&run.path)
}

pub(crate) fn catalog_page(runs: &[FoundRun], query: &str) -> String {
    let filter = filter_of(query);
    let choices = CatalogChoices {
        systems: all_names(runs, |run| &run.head.systems),
        media: all_names(runs, |run| &run.head.media),
    };
    let shown: Vec<ListedRun> = runs
        .iter()
        .rev()
        .filter(|run| passes(run, &filter))
        .map(listed)
        .collect();
    runs_page(&shown, runs.len(), &filter, &choices)
}

fn filter_of(query: &str) -> CatalogFilter {
    let mut filter = CatalogFilter::default();
    for (key, value) in form_urlencoded::parse(query.as_bytes()) {
        let field = match &*key {
            "text" => &mut filter.text,
            "system" => &mut filter.system,
            "medium" => &mut filter.medium,
            "status" => &mut filter.status,
            "since" => &mut filter.since,
            _ => continue,
        };
        *field = value.trim().to_owned();
    }
    filter
}

fn passes(run: &FoundRun, filter: &CatalogFilter) -> bool {
    let head = &run.head;
    let text = filter.text.to_lowercase();
    let holds = |field: &str| field.to_lowercase().contains(&text);
    (holds(&head.run.title) || holds(&head.label) || holds(&run.name))
        && (filter.system.is_empty() || head.systems.contains(&filter.system))
        && (filter.medium.is_empty() || head.media.contains(&filter.medium))
        && (filter.status.is_empty() || head.run.status.name() == filter.status)
        // Times are RFC 3339 in UTC, whose order is that of their letters.
        && head.run.started_at >= filter.since
}

fn all_names(runs: &[FoundRun], of: fn(&FoundRun) -> &Vec<String>) -> Vec<String> {
    let mut names: Vec<String> = runs.iter().flat_map(of).cloned().collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn listed(run: &FoundRun) -> ListedRun {
    ListedRun {
        result: run.result,
        address: address_of(&run.name),
        is_live: is_live(run),
        ..ListedRun::of(run.name.clone(), &run.head)
    }
}
