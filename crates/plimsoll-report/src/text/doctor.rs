//! Doctor checks before the first load: passed ones are counted, the others listed, the worst first.

use plimsoll_analysis::summary::{DiagnosisSummary, Summary};
use plimsoll_record::DiagnosisLevel;

use crate::message::Messages;

/// Empty where the doctor was not asked.
pub(super) fn section(m: &Messages, summary: &Summary) -> String {
    if summary.diagnoses.is_empty() {
        return String::new();
    }
    let count = |level| {
        summary
            .diagnoses
            .iter()
            .filter(|found| found.level == level)
            .count()
            .to_string()
    };
    let args = [
        ("errors", count(DiagnosisLevel::Error)),
        ("warnings", count(DiagnosisLevel::Warning)),
        ("unknown", count(DiagnosisLevel::Unknown)),
        ("ok", count(DiagnosisLevel::Ok)),
    ];
    let mut wrong: Vec<&DiagnosisSummary> = summary
        .diagnoses
        .iter()
        .filter(|found| found.level > DiagnosisLevel::Ok)
        .collect();
    wrong.sort_by_key(|found| std::cmp::Reverse(found.level));
    let mut lines = vec![format!(
        "{}. {}",
        m.text("doctor-title"),
        m.text_with("doctor-sentence", &args)
    )];
    lines.extend(wrong.into_iter().map(|found| line(m, found)));
    format!("{}\n\n", lines.join("\n"))
}

fn line(m: &Messages, found: &DiagnosisSummary) -> String {
    let level = m.text(&format!("level-{}", found.level.name()));
    let about = found
        .medium
        .clone()
        .unwrap_or_else(|| m.text("subject-host"));
    let next = if found.next.is_empty() {
        String::new()
    } else {
        format!(" {}", found.next)
    };
    let stop = if found.found.ends_with('.') { "" } else { "." };
    format!(
        "{level}: {about}, {}: {}{stop}{next}",
        found.code, found.found
    )
}
