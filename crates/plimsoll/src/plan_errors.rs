//! Plan errors with the lines they are about.

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use plimsoll_plan::resolved::{redact, redact_word};
use plimsoll_plan::{PlanError, PlanErrors};

use crate::failure::Failure;
use crate::terminal::visible;

/// Bytes of a line that is quoted.
const LONGEST_LINE: usize = 2_000;
/// Errors that are shown.
const MOST_ERRORS: usize = 50;

/// All errors of a plan as one report.
#[derive(Debug, thiserror::Error)]
#[error("{name}: {what} ({} found)", counted(*found))]
struct PlanReport {
    name: String,
    what: &'static str,
    found: usize,
    /// The first of them.
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

/// The failure to show. A plan that holds a password is not quoted, because redacting would move the places, nor one with
/// endless lines.
pub fn failure(name: &str, text: &str, errors: PlanErrors) -> Failure {
    report(name, "the plan cannot be run", text, errors)
}

fn report(name: &str, what: &'static str, text: &str, errors: PlanErrors) -> Failure {
    let quoted = if is_quotable(text) { text } else { "" };
    let name = visible(name);
    let found = errors.0.len();
    let errors = errors.0.into_iter().take(MOST_ERRORS);
    let errors = errors.map(|error| PlanDiagnostic {
        error: visible_error(quoted, error),
        source_text: NamedSource::new(&name, visible(quoted).into_owned()),
    });
    Failure::plan(
        PlanReport {
            name: name.to_string(),
            what,
            found,
            errors: errors.collect(),
        }
        .into(),
    )
}

/// Neither as a whole nor between its quotation marks it holds what may be a password, and its lines end.
fn is_quotable(text: &str) -> bool {
    let mut values = text.split(['"', '\'']);
    redact(text) == text
        && values.all(|value| redact_word(value) == value)
        && text.lines().all(|line| line.len() <= LONGEST_LINE)
}

/// The error as the terminal shows it, with its place in the text as the terminal shows that.
fn visible_error(text: &str, error: PlanError) -> PlanError {
    let place = |at: usize| visible(&text[..text.floor_char_boundary(at)]).len();
    PlanError {
        message: visible(&error.message).into_owned(),
        help: error.help.as_deref().map(|help| visible(help).into_owned()),
        span: place(error.span.start)..place(error.span.end),
        ..error
    }
}
