//! What an address means.

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

/// A name in a path: all but what needs no mark.
const NAME: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Catalog,
    Compare,
    LiveScript,
    /// For Prometheus.
    Metrics,
    /// A run's report, or its live page.
    Run(String),
    Events(String),
}

impl Route {
    /// `None` of addresses without a meaning.
    pub fn of(path: &str) -> Option<Self> {
        match path {
            "/" => return Some(Self::Catalog),
            "/compare" => return Some(Self::Compare),
            "/live.js" => return Some(Self::LiveScript),
            "/metrics" => return Some(Self::Metrics),
            _ => {}
        }
        let name = path.strip_prefix("/run/")?;
        let name = percent_decode_str(name).decode_utf8().ok()?;
        Some(match name.strip_suffix("/events") {
            Some(name) => Self::Events(name.to_owned()),
            None => Self::Run(name.into_owned()),
        })
    }
}

/// The address of a run's page.
pub(crate) fn address_of(name: &str) -> String {
    format!("/run/{}", utf8_percent_encode(name, NAME))
}
