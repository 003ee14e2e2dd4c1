//! What the doctor found on machine and media before the first load.

use plimsoll_analysis::summary::{DiagnosisSummary, Summary};
use plimsoll_record::DiagnosisLevel;

use super::tables::{Cell, Grid, Row, head, words};
use crate::message::Messages;

pub(super) struct DoctorView {
    /// How much of each level there is.
    pub sentence: String,
    /// What is not as it should be, the worst first.
    pub findings: Grid,
    pub fine: Grid,
}

/// `None` where the doctor was not asked.
pub(super) fn view(m: &Messages, summary: &Summary) -> Option<DoctorView> {
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
    let (fine, mut wrong): (Vec<_>, Vec<_>) = summary
        .diagnoses
        .iter()
        .partition(|found| found.level == DiagnosisLevel::Ok);
    wrong.sort_by_key(|found| std::cmp::Reverse(found.level));
    (!summary.diagnoses.is_empty()).then(|| DoctorView {
        sentence: m.text_with("doctor-sentence", &args),
        findings: grid(m, &wrong),
        fine: grid(m, &fine),
    })
}

fn grid(m: &Messages, found: &[&DiagnosisSummary]) -> Grid {
    let columns = [
        "column-level",
        "column-subject",
        "column-check",
        "column-found",
        "column-next",
    ];
    let row = |found: &&DiagnosisSummary| {
        let about = found
            .medium
            .clone()
            .unwrap_or_else(|| m.text("subject-host"));
        let next = if found.next.is_empty() {
            crate::number::NONE.to_owned()
        } else {
            found.next.clone()
        };
        let mut cells = vec![
            level(m, found.level),
            words(about),
            words(found.code.clone()),
        ];
        cells.extend([found.found.clone(), next].map(|text| Cell {
            text,
            class: "words long",
        }));
        Row { class: "", cells }
    };
    Grid {
        header: columns.map(|id| head(m, id)).into(),
        rows: found.iter().map(row).collect(),
    }
}

/// A sign and a word: colour alone is not read by everybody.
fn level(m: &Messages, level: DiagnosisLevel) -> Cell {
    let (sign, class) = match level {
        DiagnosisLevel::Ok => ("✓", "words sound"),
        DiagnosisLevel::Unknown => ("?", "words"),
        DiagnosisLevel::Warning => ("!", "words doubtful"),
        DiagnosisLevel::Error => ("✕", "words invalid"),
    };
    Cell {
        text: format!("{sign} {}", m.text(&format!("level-{}", level.name()))),
        class,
    }
}
