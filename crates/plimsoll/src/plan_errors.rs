//! Plan errors with the lines they are about.

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use plimsoll_plan::resolved::redact;
use plimsoll_plan::{PlanError, PlanErrors};

use crate::failure::Failure;

/// All errors of a plan as one report.
#[derive(Debug, thiserror::Error)]
#[error("{name}: {what} ({} found)", counted(errors.len()))]
struct PlanReport {
    name: String,
    what: &'static str,
    errors: Vec<PlanDiagnostic>,
}

fn counted(n: usize) -> String {
    if n == 1 {
        "1 error".into()
    } else {
        format!("{n} errors")
    }
}

impl Diagnostic for PlanReport {
    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(
            self.errors.iter().map(|error| error as &dyn Diagnostic),
        ))
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{}:{}:{}: {}", source_text.name(), error.line, error.column, error.message)]
struct PlanDiagnostic {
    error: PlanError,
    source_text: NamedSource<String>,
}

impl Diagnostic for PlanDiagnostic {
    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        self.error
            .help
            .as_ref()
            .map(|help| Box::new(help) as Box<dyn std::fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source_text)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        if self.error.span.is_empty() || self.source_text.inner().is_empty() {
            return None;
        }
        Some(Box::new(std::iter::once(LabeledSpan::new_with_span(
            None,
            self.error.span.clone(),
        ))))
    }
}

/// The failure to show for a drive file.
pub fn drive_failure(name: &str, text: &str, errors: PlanErrors) -> Failure {
    report(name, "the drive file cannot be used", text, errors)
}

/// The failure to show for a claim.
pub fn claim_failure(name: &str, text: &str, errors: PlanErrors) -> Failure {
    report(name, "the claim cannot be audited", text, errors)
}

/// The failure to show. A plan that holds a password is not quoted, because redacting would move the places.
pub fn failure(name: &str, text: &str, errors: PlanErrors) -> Failure {
    report(name, "the plan cannot be run", text, errors)
}

fn report(name: &str, what: &'static str, text: &str, errors: PlanErrors) -> Failure {
    let quoted = if redact(text) == text { text } else { "" };
    let errors = errors.0.into_iter();
    let errors = errors.map(|error| PlanDiagnostic {
        error,
        source_text: NamedSource::new(name, quoted.to_owned()),
    });
    Failure::plan(
        PlanReport {
            name: name.into(),
            what,
            errors: errors.collect(),
        }
        .into(),
    )
}
