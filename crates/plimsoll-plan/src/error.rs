//! What is wrong with a plan, where, and what to do about it.

use std::fmt;
use std::ops::Range;

use super::resolved::redact;
use crate::shortened::cut;

/// What a plan holds may be quoted, however long it is.
const LONGEST_MESSAGE: usize = 2_000;

/// One thing that is wrong with a plan. Holds no passwords.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct PlanError {
    pub message: String,
    /// Bytes of the plan's text. Always on character boundaries within it; empty if the error has no position in it.
    pub span: Range<usize>,
    /// Counted from 1.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
    /// What to do about it.
    pub help: Option<String>,
}

/// Something that is allowed but perhaps not meant; reported in the same way as an error.
pub type PlanWarning = PlanError;

/// Everything that is wrong with a plan, in the order of the text. Never empty.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct PlanErrors(pub Vec<PlanError>);

impl fmt::Display for PlanErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().enumerate() {
            write!(f, "{}{error}", if i > 0 { "\n" } else { "" })?;
            if let Some(help) = &error.help {
                write!(f, "\n  help: {help}")?;
            }
        }
        Ok(())
    }
}

impl PlanError {
    /// At the nearest position within `text`.
    pub fn new(text: &str, span: Range<usize>, message: impl Into<String>) -> Self {
        let span = within(text, span);
        let before = &text[..span.start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Self {
            message: cut(&redact(&message.into()), LONGEST_MESSAGE),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            span,
            help: None,
        }
    }

    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(cut(&redact(&help.into()), LONGEST_MESSAGE));
        self
    }
}

/// The nearest range that lies within the text and on character boundaries.
fn within(text: &str, span: Range<usize>) -> Range<usize> {
    let start = text.floor_char_boundary(span.start);
    start..text.floor_char_boundary(span.end).max(start)
}

/// The name that was probably meant: the one with a unit behind what is written, or the nearest, if few enough letters differ.
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let known: Vec<&str> = known.into_iter().collect();
    let has_unit = |name: &&&str| {
        let rest = name.strip_prefix(written);
        written.len() > 1 && rest.is_some_and(|rest| rest.starts_with('_'))
    };
    if let [one] = known.iter().filter(has_unit).collect::<Vec<_>>().as_slice() {
        return Some(one);
    }
    let allowed = (written.chars().count() / 3).clamp(1, 3);
    known
        .into_iter()
        .map(|name| (distance(&written.to_lowercase(), name), name))
        .filter(|(far, name)| *far <= allowed && *far < name.chars().count())
        .min_by_key(|(far, _)| *far)
        .map(|(_, name)| name)
}

/// "did you mean …?", or which names there are.
pub fn suggestion(written: &str, known: &[&str], none: &str) -> String {
    match (nearest(written, known.iter().copied()), known) {
        (Some(name), _) => format!("did you mean `{name}`?"),
        (None, []) => none.to_owned(),
        (None, [one]) => format!("the only one known here is `{one}`"),
        (None, many) => format!("known here: {}", list(many)),
    }
}

/// The item that is meant: its name is written in full, or it alone has a name that begins, or has a part behind a
/// hyphen that begins, with what is written.
///
/// # Errors
/// What to do instead: the nearest name, all that may be meant, or `none`.
pub fn by_short_name<'a, T>(
    written: &str,
    items: &'a [T],
    name: impl Fn(&T) -> &str,
    none: &str,
) -> Result<&'a T, String> {
    if let Some(item) = items.iter().find(|item| name(item) == written) {
        return Ok(item);
    }
    let part = format!("-{written}");
    let is_meant = |item: &&T| name(item).starts_with(written) || name(item).contains(&part);
    let meant: Vec<&T> = items.iter().filter(is_meant).collect();
    match meant.as_slice() {
        [one] if !written.is_empty() => Ok(one),
        [_, _, ..] if !written.is_empty() => {
            let names: Vec<&str> = meant.into_iter().map(&name).collect();
            Err(format!("which of {}?", list(&names)))
        }
        _ => Err(nearest(written, items.iter().map(name))
            .map_or(none.to_owned(), |name| format!("did you mean `{name}`?"))),
    }
}

pub(super) fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// Edits (insert, delete, replace, swap neighbours) between two words: optimal string alignment distance.
fn distance(a: &str, b: &str) -> usize {
    // Longer words are not mistyped into one another; bounds the table below.
    const LONG: usize = 100;
    let a: Vec<char> = a.chars().take(LONG).collect();
    let b: Vec<char> = b.chars().take(LONG).collect();
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let best = replaced.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
                let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                if swapped {
                    best.min(table[i - 2][j - 2] + 1)
                } else {
                    best
                }
            };
        }
    }
    table[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_word_that_was_meant_is_found() {
        assert_eq!(nearest("usres", ["users", "run"]), Some("users"));
        assert_eq!(nearest("Measure", ["measure"]), Some("measure"));
        assert_eq!(
            nearest("warehouse", ["warehouses", "mode"]),
            Some("warehouses")
        );
        assert_eq!(nearest("p99", ["p99_ms", "p999_ms", "of"]), Some("p99_ms"));
        assert_eq!(
            nearest("x", ["on", "run"]),
            None,
            "any two letters are near each other"
        );
        assert_eq!(
            suggestion("zzz", &["a1", "b1"], ""),
            "known here: `a1`, `b1`"
        );
    }

    #[test]
    fn places_are_counted_in_characters() {
        let error = PlanError::new("a\n\u{e4}b = 1", 4..5, "x");
        assert_eq!((error.line, error.column), (2, 2));
    }

    proptest! {
        #[test]
        fn any_span_is_brought_into_the_text(text in ".*", start in 0usize..100, end in 0usize..100) {
            let error = PlanError::new(&text, start..end, "x");
            prop_assert!(text.get(error.span).is_some());
        }
    }

    #[test]
    fn a_short_name_is_a_part_of_one_name_only() {
        let known = ["postgres", "existing-postgres", "power-cut"];
        for (written, name) in [
            ("postgres", "postgres"),
            ("exist", "existing-postgres"),
            ("cut", "power-cut"),
        ] {
            let found = by_short_name(written, &known, |name| name, "none");
            assert_eq!(found, Ok(&name), "{written}");
        }
        for (written, help) in [
            ("post", "which of `postgres`, `existing-postgres`?"),
            ("pwer-cut", "did you mean `power-cut`?"),
            ("", "none"),
            ("elsewhere", "none"),
        ] {
            let found = by_short_name(written, &known, |name| name, "none");
            assert_eq!(found, Err(help.into()), "{written}");
        }
    }
}
