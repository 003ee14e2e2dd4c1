//! The audit: fired rules first, the others folded.

use plimsoll_analysis::audit::Audit;
use plimsoll_record::Severity;

use super::tables::{Cell, Grid, Row, head, words};
use crate::audit::{Findings, Fired, Quiet, adjusted, counts, fired, not_evaluated, passed};
use crate::message::Messages;

pub(super) struct AuditView {
    /// The counts of findings and rules.
    pub sentence: String,
    /// Thresholds that the plan changes.
    pub adjusted: Vec<String>,
    /// The worst first.
    pub fired: Grid,
    pub passed: Fold,
    pub not_evaluated: Fold,
}

/// A table behind its summary.
pub(super) struct Fold {
    pub summary: String,
    pub grid: Grid,
}

pub(super) fn view(m: &Messages, audit: &Audit) -> AuditView {
    let fired = fired(m, audit, Findings::Above);
    let columns = [
        "column-severity",
        "column-rule",
        "column-evidence",
        "column-next",
    ];
    let rows = fired.iter().map(|fired| row(m, fired)).collect();
    AuditView {
        sentence: m.text_with("audit-heading", &counts(audit, &fired)),
        adjusted: adjusted(m, audit),
        fired: Grid {
            header: columns.map(|id| head(m, id)).into(),
            rows,
        },
        passed: fold(m, ("audit-passed", "column-evidence"), passed(m, audit)),
        not_evaluated: fold(
            m,
            ("audit-not-evaluated", "column-because"),
            not_evaluated(m, audit),
        ),
    }
}

fn row(m: &Messages, fired: &Fired) -> Row {
    let Fired {
        severity,
        code,
        place,
        text,
        next,
    } = fired;
    // A sign and text: not all readers can distinguish colors.
    let (sign, class) = match severity {
        Severity::Error => ("✕", "words invalid"),
        Severity::Warning => ("!", "words doubtful"),
        Severity::Note => ("·", "words"),
    };
    let colon = if place.is_empty() { "" } else { ": " };
    let long = |text: String| Cell {
        text,
        class: "words long",
    };
    let severity = Cell {
        text: format!(
            "{sign} {}",
            m.text(&format!("severity-{}", severity.name()))
        ),
        class,
    };
    let cells = vec![
        severity,
        words((*code).to_owned()),
        long(format!("{place}{colon}{text}")),
        long(next.clone()),
    ];
    Row { class: "", cells }
}

fn fold(m: &Messages, (title, column): (&str, &str), all: Vec<Quiet>) -> Fold {
    let codes: Vec<&str> = all.iter().map(|quiet| quiet.code).collect();
    let summary = format!("{}: {}", m.text(title), codes.join(", "));
    let header = ["column-rule", "column-places", column]
        .map(|id| head(m, id))
        .into();
    let row = |Quiet { code, places, text }: Quiet| {
        let count = Cell {
            text: places.to_string(),
            class: "",
        };
        Row {
            class: "",
            cells: vec![
                words(code.to_owned()),
                count,
                Cell {
                    text,
                    class: "words long",
                },
            ],
        }
    };
    Fold {
        summary,
        grid: Grid {
            header,
            rows: all.into_iter().map(row).collect(),
        },
    }
}
