//! A figure of a drive file: a number with its source.

use std::ops::Range;

use serde::{Deserialize, Deserializer};
use toml::Spanned;

/// Where a figure is from when it is in no list of sources: remembered, and found in no public copy.
pub const UNVERIFIED: &str = "unverified";
/// Chosen because a drive of this kind has to have some value here, and none is published.
pub const ASSUMED: &str = "assumed";

/// `{ value = 3100, source = "sheet" }`. The unit is the end of the key's name.
#[derive(Debug, Clone, PartialEq)]
pub struct SpecFigure {
    pub value: f64,
    /// A key of the file's `[sources]`, or [`UNVERIFIED`], or [`ASSUMED`].
    pub source: String,
    /// How far the value may be off, by the fit that found it.
    pub error_percent: Option<f64>,
    /// Of a figure in `[datasheet]`: the block size it is stated for.
    pub block_kib: Option<f64>,
    /// Of a figure in `[datasheet]`: how many requests were in flight.
    pub depth: Option<f64>,
    place: Position,
}

/// Where in the text it stands. Two figures are equal wherever they stand.
#[derive(Debug, Clone, Default)]
struct Position(Range<usize>);

impl PartialEq for Position {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl SpecFigure {
    pub fn new(value: f64, source: impl Into<String>) -> Self {
        Self {
            value,
            source: source.into(),
            error_percent: None,
            block_kib: None,
            depth: None,
            place: Position::default(),
        }
    }

    #[must_use]
    pub fn with_error(mut self, percent: f64) -> Self {
        self.error_percent = Some(percent);
        self
    }

    /// At this block size and depth.
    #[must_use]
    pub fn at(mut self, block_kib: f64, depth: f64) -> Self {
        self.block_kib = Some(block_kib);
        self.depth = Some(depth);
        self
    }

    /// Bytes of the file's text; empty if it was never in one.
    pub fn span(&self) -> Range<usize> {
        self.place.0.clone()
    }

    pub fn is_verified(&self) -> bool {
        self.source != UNVERIFIED && self.source != ASSUMED
    }

    pub(super) fn to_toml(&self) -> String {
        let mut out = format!("{{ value = {}", number(self.value));
        for (key, value) in [
            ("block_kib", self.block_kib),
            ("depth", self.depth),
            ("error_percent", self.error_percent),
        ] {
            if let Some(value) = value {
                out.push_str(&format!(", {key} = {}", number(value)));
            }
        }
        out + &format!(", source = {} }}", quoted(&self.source))
    }
}

/// The shortest text that reads back as the same number.
pub(super) fn number(value: f64) -> String {
    format!("{value}")
}

/// Text as TOML quotes it, also in keys: as JSON does, but for one character.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text)
        .to_string()
        .replace('\u{7f}', "\\u007F")
}

impl<'de> Deserialize<'de> for SpecFigure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(
            deny_unknown_fields,
            expecting = "a figure such as { value = 3100, source = \"sheet\" }"
        )]
        struct FigureTable {
            value: f64,
            source: String,
            error_percent: Option<f64>,
            block_kib: Option<f64>,
            depth: Option<f64>,
        }
        let spanned = Spanned::<FigureTable>::deserialize(deserializer)?;
        let place = Position(spanned.span());
        let FigureTable {
            value,
            source,
            error_percent,
            block_kib,
            depth,
        } = spanned.into_inner();
        Ok(Self {
            value,
            source,
            error_percent,
            block_kib,
            depth,
            place,
        })
    }
}
