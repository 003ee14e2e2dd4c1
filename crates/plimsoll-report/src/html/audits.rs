//! Audits as one HTML file that holds everything and needs no script.

use askama::Template;
use plimsoll_analysis::audit::Audit;

use super::STYLE;
use super::audit::{Fold, fired_rules, fold, passed_rules, skipped_rules};
use super::page_answer::PageAnswer;
use crate::audit::{FindingsPlacement, adjusted, answer, counts, fired, not_evaluated, passed};
use crate::message::Messages;

/// The page of one audit, or of several.
pub fn audit_page(audits: &[Audit]) -> String {
    let m = Messages::english();
    let page = AuditPage {
        title: m.text("audit-page-question"),
        audits: audits.iter().map(|own| AuditedView::new(&m, own)).collect(),
        m: &m,
        style: STYLE,
    };
    // The template writes to a string and calls nothing that fails.
    page.render().expect("rendering to memory does not fail")
}

#[derive(Template)]
#[template(path = "audits.html")]
struct AuditPage<'a> {
    m: &'a Messages,
    title: String,
    audits: Vec<AuditedView>,
    style: &'static str,
}

/// What was audited, with its answer.
struct AuditedView {
    first: PageAnswer,
    adjusted: Vec<String>,
    passed: Fold,
    not_evaluated: Fold,
}

impl AuditedView {
    fn new(m: &Messages, audit: &Audit) -> Self {
        let fired = fired(m, audit, FindingsPlacement::Here);
        let passed = passed(m, audit);
        let trust = m.text_with("audit-heading", &counts(audit, &fired));
        Self {
            first: PageAnswer {
                table: fired_rules().to_grid(m, &fired),
                table_name: audit.of.clone(),
                ..PageAnswer::new(
                    m,
                    answer(m, audit, &fired, passed.len()),
                    audit.verdict(),
                    trust,
                )
            },
            adjusted: adjusted(m, audit),
            passed: fold(m, "audit-passed", passed_rules(), &passed),
            not_evaluated: fold(
                m,
                "audit-not-evaluated",
                skipped_rules(),
                &not_evaluated(m, audit),
            ),
        }
    }
}
