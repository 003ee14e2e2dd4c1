//! Collects everything that is wrong with a plan, so that all faults are reported at once and not one per attempt.

use std::ops::Range;

use super::error::{PlanError, PlanErrors, PlanWarning};
use super::value::{At, ValueFault};

/// A key or value that was taken out of the plan because of its shape; its absence is not reported again.
#[derive(Debug)]
pub(super) struct BrokenKey {
    /// Span of the table or list that contained it.
    pub parent: Range<usize>,
    /// Names from the root; a misspelled key stands as what was probably meant.
    pub path: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Findings<'t> {
    text: &'t str,
    errors: Vec<PlanError>,
    warnings: Vec<PlanWarning>,
    broken: Vec<BrokenKey>,
}

impl<'t> Findings<'t> {
    pub fn new(text: &'t str) -> Self {
        Self {
            text,
            errors: Vec::new(),
            warnings: Vec::new(),
            broken: Vec::new(),
        }
    }

    pub fn text(&self) -> &'t str {
        self.text
    }

    pub fn push(&mut self, error: PlanError) {
        self.errors.push(error);
    }

    pub fn error(
        &mut self,
        span: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.errors
            .push(PlanError::new(self.text, span, message).help(help));
    }

    /// An error, if there is a fault.
    pub fn fault(&mut self, span: Range<usize>, fault: Option<ValueFault>) {
        if let Some(ValueFault { message, help }) = fault {
            self.error(span, message, help);
        }
    }

    pub fn warn(
        &mut self,
        span: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.warnings
            .push(PlanError::new(self.text, span, message).help(help));
    }

    pub fn broke(&mut self, broken: BrokenKey) {
        self.broken.push(broken);
    }

    /// Whether a reported fault explains why `key` is missing from the table at `parent`.
    pub fn explains(&self, parent: &Range<usize>, key: &str) -> bool {
        self.broken
            .iter()
            .any(|b| b.parent == *parent && b.path.last().is_some_and(|last| last == key))
    }

    /// Whether something was taken out of the table or list at `parent`.
    pub fn is_incomplete(&self, parent: &Range<usize>) -> bool {
        self.broken.iter().any(|b| b.parent == *parent)
    }

    /// Whether a reported fault explains why the section (`system`, …) or this name in it is missing.
    pub fn explains_name(&self, section: &str, name: &str) -> bool {
        self.broken.iter().any(|b| match b.path.as_slice() {
            [only] => only == section,
            [first, second] => first == section && second == name,
            _ => false,
        })
    }

    /// The value of a key that has to be there.
    pub fn required<'a, T>(
        &mut self,
        table: &Range<usize>,
        key: &str,
        value: &'a Option<At<T>>,
        help: &str,
    ) -> Option<&'a At<T>> {
        if value.is_none() && !self.explains(table, key) {
            self.error(table.clone(), format!("`{key}` is missing"), help);
        }
        value.as_ref()
    }

    /// `value` with the warnings, or the errors if there are any, in the order of the text.
    pub fn finish<T>(self, value: Option<T>) -> Result<(T, Vec<PlanWarning>), PlanErrors> {
        let Self {
            text,
            mut errors,
            mut warnings,
            ..
        } = self;
        match value {
            Some(value) if errors.is_empty() => {
                warnings.sort_by_key(|warning| warning.span.start);
                Ok((value, warnings))
            }
            _ => {
                if errors.is_empty() {
                    errors.push(PlanError::new(text, 0..0, "the plan cannot be resolved"));
                }
                errors.sort_by_key(|error| error.span.start);
                Err(PlanErrors(merge_equal(errors)))
            }
        }
    }
}

/// One mistake, such as a misspelled name that others refer to, is one error: the first, with the lines of the others.
fn merge_equal(errors: Vec<PlanError>) -> Vec<PlanError> {
    const MOST_LINES: usize = 5;
    let mut first: Vec<(PlanError, Vec<usize>)> = Vec::new();
    for error in errors {
        let same = |(own, _): &&mut (PlanError, Vec<usize>)| {
            own.message == error.message && own.help == error.help
        };
        match first.iter_mut().find(same) {
            Some((own, lines)) if own.line != error.line && !lines.contains(&error.line) => {
                lines.push(error.line);
            }
            Some(_) => {}
            None => first.push((error, Vec::new())),
        }
    }
    let merged = first.into_iter().map(|(mut error, lines)| {
        let shown: Vec<String> = lines
            .iter()
            .take(MOST_LINES)
            .map(usize::to_string)
            .collect();
        let lines_word = if lines.len() == 1 { "line" } else { "lines" };
        let more = if lines.len() > MOST_LINES {
            ", …"
        } else {
            ""
        };
        if !lines.is_empty() {
            error.message = format!(
                "{} (also in {lines_word} {}{more})",
                error.message,
                shown.join(", ")
            );
        }
        error
    });
    merged.collect()
}
