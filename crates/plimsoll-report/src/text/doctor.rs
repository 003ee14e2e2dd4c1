//! Doctor checks before the first load: passed ones are counted, the others listed, the worst first.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::DiagnosisSummary;

use crate::doctor::{counts, problems, subject};
use crate::message::Messages;

/// Empty where the doctor was not asked.
pub(super) fn section(m: &Messages, summary: &Summary) -> String {
    if summary.figures.diagnoses.is_empty() {
        return String::new();
    }
    let title = m.text("doctor-title");
    let mut lines = vec![format!("{title}. {}", counts(m, summary))];
    lines.extend(problems(summary).into_iter().map(|found| line(m, found)));
    format!("{}\n\n", lines.join("\n"))
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
