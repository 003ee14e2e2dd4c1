//! A sentence with how much it matters, as pages and text list it.

use plimsoll_record::Severity;

use crate::message::Messages;

pub(crate) struct FindingView {
    pub severity: &'static str,
    pub severity_text: String,
    /// Empty where it is about all.
    pub place: String,
    pub text: String,
}

impl FindingView {
    pub fn new(m: &Messages, severity: Severity, place: String, text: String) -> Self {
        Self {
            severity: severity.name(),
            severity_text: m.text(&format!("severity-{}", severity.name())),
            place,
            text,
        }
    }

    /// On one line.
    pub fn line(&self) -> String {
        let colon = if self.place.is_empty() { "" } else { ": " };
        format!("{}: {}{colon}{}", self.severity_text, self.place, self.text)
    }
}
