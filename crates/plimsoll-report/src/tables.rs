//! Every table, for the test that checks all of them.

use std::collections::BTreeSet;
use std::path::Path;

use plimsoll_analysis::set::SetAxisSummary;

use crate::message::Messages;
use crate::section::{audit, cut, doctor, fleet, imported, media, record, scaling};
use crate::table::Declaration;
use crate::{
    answer, backup, block, drives, effect, export, history, ladder, line, live, set, versus, waits,
};

const ALL_TABLES: &[fn() -> Declaration] = &[
    || answer::transactions::table().declaration(),
    || answer::lines::table().declaration(),
    || answer::noise::table().declaration(),
    || answer::arrays::table().declaration(),
    || answer::cuts::table().declaration(),
    || answer::backups::table().declaration(),
    || answer::blocks::table().declaration(),
    || backup::times().declaration(),
    || backup::io().declaration(),
    || backup::operations().declaration(),
    || block::tables::jobs().declaration(),
    || block::tables::side_by_side().declaration(),
    || block::tables::latency().declaration(),
    || block::tables::by_op().declaration(),
    || block::tables::curve().declaration(),
    || block::tables::fsync().declaration(),
    || block::tables::workers().declaration(),
    || block::tables::each_worker().declaration(),
    || block::tables::rounds().declaration(),
    || block::tables::streams().declaration(),
    || media::table().declaration(),
    || cut::receipts().declaration(),
    || doctor::table().declaration(),
    || drives::by_load().declaration(),
    || drives::by_job().declaration(),
    || drives::members_by_load().declaration(),
    || drives::members_by_job().declaration(),
    || effect::table().declaration(),
    || export::audit::table().declaration(),
    || export::block::table().declaration(),
    || export::drive::table().declaration(),
    || export::medium::table().declaration(),
    || export::points::table(vec!["all"], vec!["payment"]).declaration(),
    || export::points::types().declaration(),
    || export::run::audited().declaration(),
    || export::seconds::table().declaration(),
    || export::seconds::samples().declaration(),
    || export::wait::table().declaration(),
    || fleet::table().declaration(),
    || history::list().declaration(),
    || history::courses().declaration(),
    || audit::fired_rules().declaration(),
    || audit::passed_rules().declaration(),
    || audit::skipped_rules().declaration(),
    || record::event_table().declaration(),
    || imported::table().declaration(),
    || ladder::table().declaration(),
    || ladder::resources().declaration(),
    || ladder::latency().declaration(),
    || line::table().declaration(),
    || live::table().declaration(),
    || scaling::table().declaration(),
    || set::answer::table(&[]).declaration(),
    || set::rows::table(&[]).declaration(),
    || set::rows::crossed(&[axis("a"), axis("b")]).declaration(),
    || versus::export::table().declaration(),
    || versus::tables::rates().declaration(),
    || versus::tables::latencies().declaration(),
    || versus::tables::differences().declaration(),
    || versus::tables::sides().declaration(),
    || versus::tables::gated().declaration(),
    || versus::gate_export::table().declaration(),
    || versus::requirement::required().declaration(),
    || waits::shares().declaration(),
    || waits::all_shares().declaration(),
    || waits::counter_table().declaration(),
];

fn axis(name: &str) -> SetAxisSummary {
    SetAxisSummary {
        name: name.to_owned(),
        key: format!("system.db.{name}"),
        values: vec!["1".to_owned(), "2".to_owned()],
    }
}

/// Ids of all headings.
pub(crate) fn headings() -> BTreeSet<String> {
    let columns = ALL_TABLES.iter().flat_map(|table| table().columns);
    columns.flat_map(|column| column.headings).collect()
}

#[test]
fn every_heading_id_and_key_is_right() {
    let m = Messages::english();
    let faults: Vec<String> = ALL_TABLES
        .iter()
        .flat_map(|table| table().faults(&m))
        .collect();
    assert_eq!(faults, Vec::<String>::new());
}

/// A heading names numbers everywhere, or words everywhere.
#[test]
fn a_heading_has_one_kind_of_values() {
    let mut words = BTreeSet::new();
    let mut numbers = BTreeSet::new();
    for column in ALL_TABLES.iter().flat_map(|table| table().columns) {
        let kind = if column.unit.is_words() {
            &mut words
        } else {
            &mut numbers
        };
        kind.extend(column.headings);
    }
    let both: Vec<&String> = words.intersection(&numbers).collect();
    // Of rates and of settings.
    assert_eq!(both, ["versus-column-first", "versus-column-second"]);
}

#[test]
fn every_table_is_checked() {
    let known: Vec<&str> = ALL_TABLES.iter().map(|table| table().name).collect();
    let unique: BTreeSet<&str> = known.iter().copied().collect();
    assert_eq!(unique.len(), known.len(), "two tables have one name");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let declared = declared(&source);
    let declared: BTreeSet<&str> = declared.iter().map(String::as_str).collect();
    assert_eq!(declared, unique);
}

/// Names of the tables that the sources declare.
fn declared(dir: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            names.extend(declared(&path));
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        // Tests have tables of their own.
        if path.ends_with("table/tests.rs") || path.ends_with("src/tables.rs") {
            continue;
        }
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or("");
        let code: String = code.chars().filter(|c| !c.is_whitespace()).collect();
        let calls: Vec<&str> = code.split("::new(\"").collect();
        for pair in calls.windows(2) {
            if pair[0].ends_with("Table") || pair[0].contains("Table::<") && pair[0].ends_with('>')
            {
                names.extend(pair[1].split('"').next().map(str::to_owned));
            }
        }
    }
    names
}
