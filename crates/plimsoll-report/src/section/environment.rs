//! Facts about the machine, the systems and their settings.

use plimsoll_record::import_facts::{IMPORT_FACT, notes};
use plimsoll_record::{Fact, Record, Subject, SubjectKind};

use crate::document::{ReportBlock, ReportSection};
use crate::message::Messages;

const SETTING: &str = "setting.";

/// Behind `meta`, which may be empty. What is known of an import stands in a section of its own.
pub(crate) fn environment(
    m: &Messages,
    record: &Record,
    meta: Option<ReportBlock>,
) -> ReportSection {
    let mut section = ReportSection::new("environment", m.text("environment-title")).listed();
    meta.into_iter().for_each(|meta| section.page(meta));
    let facts = facts(m, record, |kind, key| {
        let of_import = kind == SubjectKind::System && key.starts_with(IMPORT_FACT);
        (!key.starts_with(SETTING) && !of_import).then_some(key)
    });
    add_facts(m, &mut section, "environment-none", facts);
    section
}

/// `None` of an import without any.
pub(crate) fn settings(m: &Messages, record: &Record, is_foreign: bool) -> Option<ReportSection> {
    let facts = facts(m, record, |_, key| key.strip_prefix(SETTING));
    if is_foreign && facts.is_empty() {
        return None;
    }
    let mut section = ReportSection::new("settings", m.text("settings-title"));
    add_facts(m, &mut section, "settings-none", facts);
    Some(section)
}

fn add_facts(m: &Messages, section: &mut ReportSection, none: &str, facts: Vec<ReportBlock>) {
    if facts.is_empty() {
        section.page(ReportBlock::note(m.text(none)));
    }
    section.page(ReportBlock::group("subjects", facts));
}

/// Facts by subject, those whose key `name` gives a name.
fn facts(
    m: &Messages,
    record: &Record,
    name: fn(SubjectKind, &str) -> Option<&str>,
) -> Vec<ReportBlock> {
    let mut blocks = Vec::new();
    for subject in &record.subjects {
        let own = record.facts.iter();
        let facts: Vec<(String, String)> = own
            .filter(|fact| fact.subject == subject.id)
            .filter_map(|fact| {
                let name = name(subject.kind, &fact.key)?;
                Some((name.to_owned(), value(m, fact)))
            })
            .collect();
        if !facts.is_empty() {
            let title = ReportBlock::heading(title(m, subject));
            blocks.push(ReportBlock::group("", [title, ReportBlock::facts(facts)]));
        }
    }
    blocks
}

fn value(m: &Messages, fact: &Fact) -> String {
    if fact.key.starts_with(IMPORT_FACT) {
        m.import_notes(&notes(&fact.value))
    } else {
        fact.value.clone()
    }
}

fn title(m: &Messages, subject: &Subject) -> String {
    let kind = m.text(&format!("subject-{}", subject.kind.name()));
    match subject.kind {
        SubjectKind::Host | SubjectKind::Generator => kind,
        _ => format!("{kind} {}", subject.name),
    }
}
