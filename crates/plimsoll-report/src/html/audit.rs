//! The audit: fired rules first, the others folded.

use plimsoll_analysis::audit::Audit;
use plimsoll_record::Severity;

use crate::audit::{
    FindingsPlacement, Fired, SilentRule, adjusted, counts, fired, not_evaluated, passed,
};
use crate::message::Messages;
use crate::table::Unit::{Plain, Sentences, Words};
use crate::table::{Grid, Table, TableCell};

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
    let fired = fired(m, audit, FindingsPlacement::Above);
    let not_evaluated = not_evaluated(m, audit);
    AuditView {
        sentence: m.text_with("audit-heading", &counts(audit, &fired)),
        adjusted: adjusted(m, audit),
        fired: fired_rules().to_grid(m, &fired),
        passed: fold(m, "audit-passed", passed_rules(), &passed(m, audit)),
        not_evaluated: fold(m, "audit-not-evaluated", skipped_rules(), &not_evaluated),
    }
}

pub(crate) fn fired_rules<'a>() -> Table<'a, Fired> {
    Table::<Fired>::new("audit-fired")
        .prefix("column-")
        .message("severity", Words, |fired, m| {
            // A sign and text: not all readers can distinguish colors.
            let (sign, class) = match fired.severity {
                Severity::Error => ("✕", "invalid"),
                Severity::Warning => ("!", "doubtful"),
                Severity::Note => ("·", ""),
            };
            let severity = m.text(&format!("severity-{}", fired.severity.name()));
            TableCell::from(format!("{sign} {severity}")).styled(class)
        })
        .column("rule", Words, |fired| fired.code)
        .column("evidence", Sentences, Fired::evidence)
        .column("next", Sentences, |fired| fired.next.clone())
}

pub(crate) fn passed_rules<'a>() -> Table<'a, SilentRule> {
    quiet(Table::new("audit-passed")).column("evidence", Sentences, |own| own.text.clone())
}

pub(crate) fn skipped_rules<'a>() -> Table<'a, SilentRule> {
    quiet(Table::new("audit-not-evaluated")).column("because", Sentences, |own| own.text.clone())
}

fn quiet(table: Table<'_, SilentRule>) -> Table<'_, SilentRule> {
    table
        .prefix("column-")
        .column("rule", Words, |own| own.code)
        .column("places", Plain, |own| own.places)
}

pub(super) fn fold(
    m: &Messages,
    title: &str,
    table: Table<'_, SilentRule>,
    all: &[SilentRule],
) -> Fold {
    let codes: Vec<&str> = all.iter().map(|quiet| quiet.code).collect();
    Fold {
        summary: format!("{}: {}", m.text(title), codes.join(", ")),
        grid: table.to_grid(m, all),
    }
}
