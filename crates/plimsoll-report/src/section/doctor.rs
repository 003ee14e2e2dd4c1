//! What the doctor found on machine and media before the first load.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::DiagnosisSummary;
use plimsoll_record::DiagnosisLevel;

use crate::document::{ReportBlock, ReportSection};
use crate::message::Messages;
use crate::table::Unit::{Sentences, Words};
use crate::table::{Table, TableCell};

/// Passed checks are counted on a terminal, the others listed, the worst first. `None` where the doctor was not asked.
pub(crate) fn section(m: &Messages, summary: &Summary) -> Option<ReportSection> {
    let all = &summary.figures.diagnoses;
    if all.is_empty() {
        return None;
    }
    let title = m.text("doctor-title");
    let counts = counts(m, summary);
    let problems = problems(summary);
    let passed: Vec<&DiagnosisSummary> = all
        .iter()
        .filter(|found| found.diagnosis.level == DiagnosisLevel::Ok)
        .collect();
    let mut section = ReportSection::new("doctor", &title).styled("doctor");
    section.line(format!("{title}. {counts}"));
    section.lines(problems.iter().map(|found| line(m, found)));
    section.page(ReportBlock::text(counts));
    section.page(ReportBlock::grid(m, &title, &table(), &problems));
    let label = m.text("doctor-fine");
    let passed = ReportBlock::grid(m, &label, &table(), &passed);
    section.page(ReportBlock::folded(label, [passed]));
    Some(section)
}

fn line(m: &Messages, found: &DiagnosisSummary) -> String {
    let diagnosis = &found.diagnosis;
    let level = m.text(&format!("level-{}", diagnosis.level.name()));
    let text = m.diagnosis(diagnosis);
    let stop = if text.ends_with('.') { "" } else { "." };
    let text = format!(
        "{level}: {}, {}: {text}{stop} {}",
        subject(m, found),
        diagnosis.code,
        m.advice(diagnosis)
    );
    text.trim_end().to_owned()
}

/// How much of each level there is.
fn counts(m: &Messages, summary: &Summary) -> String {
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
fn problems(summary: &Summary) -> Vec<&DiagnosisSummary> {
    let found = summary.figures.diagnoses.iter();
    let mut problems: Vec<_> = found
        .filter(|own| own.diagnosis.level > DiagnosisLevel::Ok)
        .collect();
    problems.sort_by_key(|own| std::cmp::Reverse(own.diagnosis.level));
    problems
}

/// A medium, or the machine.
fn subject(m: &Messages, found: &DiagnosisSummary) -> String {
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
