//! Facts about the machine, the systems and their settings.

use plimsoll_record::import_facts::{IMPORT_FACT, notes};
use plimsoll_record::{Fact, Record, Subject, SubjectKind};

use crate::message::Messages;

const SETTING: &str = "setting.";

pub(super) struct SubjectView {
    pub title: String,
    pub facts: Vec<(String, String)>,
}

/// What is known of an import stands in a section of its own.
pub(super) fn environment(m: &Messages, record: &Record) -> Vec<SubjectView> {
    facts(m, record, |kind, key| {
        let of_import = kind == SubjectKind::System && key.starts_with(IMPORT_FACT);
        (!key.starts_with(SETTING) && !of_import).then_some(key)
    })
}

pub(super) fn settings(m: &Messages, record: &Record) -> Vec<SubjectView> {
    facts(m, record, |_, key| key.strip_prefix(SETTING))
}

/// Facts by subject, those whose key `name` gives a name.
fn facts(
    m: &Messages,
    record: &Record,
    name: fn(SubjectKind, &str) -> Option<&str>,
) -> Vec<SubjectView> {
    let mut views = Vec::new();
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
            let title = title(m, subject);
            views.push(SubjectView { title, facts });
        }
    }
    views
}

fn value(m: &Messages, fact: &Fact) -> String {
    let is_import = fact.key.starts_with(IMPORT_FACT);
    match notes(&fact.value) {
        notes if is_import && !notes.is_empty() => m.import_notes(&notes),
        _ => fact.value.clone(),
    }
}

fn title(m: &Messages, subject: &Subject) -> String {
    let kind = m.text(&format!("subject-{}", subject.kind.name()));
    match subject.kind {
        SubjectKind::Host | SubjectKind::Generator => kind,
        _ => format!("{kind} {}", subject.name),
    }
}
