//! What the doctor found on machine and media before the first load.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::DiagnosisSummary;
use plimsoll_record::DiagnosisLevel;

use crate::message::Messages;
use crate::table::Unit::{Sentences, Words};
use crate::table::{Table, TableCell};

/// How much of each level there is.
pub(crate) fn counts(m: &Messages, summary: &Summary) -> String {
    let args = [
        ("errors", count(summary, DiagnosisLevel::Error)),
        ("warnings", count(summary, DiagnosisLevel::Warning)),
        ("unknown", count(summary, DiagnosisLevel::Unknown)),
        ("ok", count(summary, DiagnosisLevel::Ok)),
    ];
    m.text_with("doctor-sentence", &args)
}

fn count(summary: &Summary, level: DiagnosisLevel) -> String {
    let found = summary
        .figures
        .diagnoses
        .iter()
        .filter(|own| own.diagnosis.level == level);
    found.count().to_string()
}

/// What is not as it should be, the worst first.
pub(crate) fn problems(summary: &Summary) -> Vec<&DiagnosisSummary> {
    let found = summary.figures.diagnoses.iter();
    let mut problems: Vec<_> = found
        .filter(|own| own.diagnosis.level > DiagnosisLevel::Ok)
        .collect();
    problems.sort_by_key(|own| std::cmp::Reverse(own.diagnosis.level));
    problems
}

/// A medium, or the machine.
pub(crate) fn subject(m: &Messages, found: &DiagnosisSummary) -> String {
    let medium = found.medium.clone();
    medium.unwrap_or_else(|| m.text("subject-host"))
}

pub(crate) fn table<'a>() -> Table<'a, &'a DiagnosisSummary> {
    Table::<&DiagnosisSummary>::new("doctor")
        .prefix("column-")
        .message("level", Words, |found, m| {
            // A sign and a word: not all readers can distinguish colors.
            let (sign, class) = match found.diagnosis.level {
                DiagnosisLevel::Ok => ("✓", "valid"),
                DiagnosisLevel::Unknown => ("?", ""),
                DiagnosisLevel::Warning => ("!", "doubtful"),
                DiagnosisLevel::Error => ("✕", "invalid"),
            };
            let level = m.text(&format!("level-{}", found.diagnosis.level.name()));
            TableCell::from(format!("{sign} {level}")).styled(class)
        })
        .message("subject", Words, |found, m| subject(m, found))
        .column("check", Words, |found| found.diagnosis.code.clone())
        .message("found", Sentences, |found, m| m.diagnosis(&found.diagnosis))
        .message("next", Sentences, |found, m| {
            Some(m.advice(&found.diagnosis)).filter(|next| !next.is_empty())
        })
}
