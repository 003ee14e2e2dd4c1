//! Bottlenecks in words.

use plimsoll_analysis::summary::Bottleneck;

use crate::message::Messages;
use crate::number::three;

/// A bottleneck and its figure within a sentence: `the log (60.0 % of active sessions wait for it)`.
pub(crate) fn sign_words(m: &Messages, what: Bottleneck, figure: f64) -> String {
    let id = format!("answer-sign-{}", what.name().replace('_', "-"));
    m.text_with(&id, &[("figure", three(figure))])
}
