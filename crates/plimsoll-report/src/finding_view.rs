//! A sentence with how much it matters, as pages and text list it.

use plimsoll_record::Severity;

use crate::message::Messages;

pub(crate) struct FindingView {
    pub severity: &'static str,
    pub severity_text: String,
    /// Empty where it is about all.
    pub place: String,
    pub text: String,
    /// The figures behind it; may be empty.
    pub detail: String,
    /// What to do; may be empty.
    pub next: String,
}

impl FindingView {
    pub fn new(m: &Messages, severity: Severity, place: String, text: String) -> Self {
        Self {
            severity: severity.name(),
            severity_text: m.text(&format!("severity-{}", severity.name())),
            place,
            text,
            detail: String::new(),
            next: String::new(),
        }
    }

    /// On one line, without the detail.
    pub fn line(&self) -> String {
        let colon = if self.place.is_empty() { "" } else { ": " };
        let space = if self.next.is_empty() { "" } else { " " };
        format!(
            "{}: {}{colon}{}{space}{}",
            self.severity_text, self.place, self.text, self.next
        )
    }
}
