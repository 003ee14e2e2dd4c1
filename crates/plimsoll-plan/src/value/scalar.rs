//! Texts, times and sizes as they are written, and what is wrong with them.

use std::fmt;
use std::marker::PhantomData;

use serde::{Deserializer, de};

use super::PlanValue;
use crate::shortened::LONGEST_TEXT;
use crate::units::{Bytes, Nanos};
use crate::{duration, size};

/// What is wrong with a value of the right type, and what to write instead. A message that begins with a small letter
/// lacks its subject, which is the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueFault {
    pub message: String,
    pub help: String,
}

impl ValueFault {
    pub fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: help.into(),
        }
    }

    /// A value outside of its bounds.
    pub fn impossible(value: impl fmt::Display, help: impl Into<String>) -> Self {
        Self::new(format!("cannot be {value}"), help)
    }

    /// The fault that serde passed on as text; `None`: the text is of serde itself.
    pub fn parse(text: &str) -> Option<Self> {
        let (message, help) = text.split_once('\n')?;
        Some(Self::new(message, help))
    }
}

/// Text that [`ValueFault::parse`] reads.
impl fmt::Display for ValueFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.message, self.help)
    }
}

/// A single value as it is written.
pub enum Scalar<'t> {
    Text(&'t str),
    Whole(i64),
    Decimal(f64),
    Bool(bool),
}

impl Scalar<'_> {
    /// A number without quotes, as text.
    fn number(&self) -> Option<String> {
        match self {
            Self::Whole(number) => Some(number.to_string()),
            Self::Decimal(number) => Some(number.to_string()),
            Self::Text(_) | Self::Bool(_) => None,
        }
    }

    fn unexpected(&self) -> de::Unexpected<'_> {
        match self {
            Self::Text(text) => de::Unexpected::Str(text),
            Self::Whole(number) => de::Unexpected::Signed(*number),
            Self::Decimal(number) => de::Unexpected::Float(*number),
            Self::Bool(value) => de::Unexpected::Bool(*value),
        }
    }
}

/// A value that is written as a text, a number or a switch.
pub trait FromScalar: Sized {
    /// "expected …", for a value of another type.
    const EXPECTED: &'static str;

    /// `None`: it is of another type.
    fn from_scalar(scalar: &Scalar<'_>) -> Option<Result<Self, ValueFault>>;
}

/// Reads a scalar.
pub struct ScalarVisitor<T>(PhantomData<T>);

impl<T: FromScalar> ScalarVisitor<T> {
    pub fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_any(Self(PhantomData))
    }

    /// The value, unless it is of another type: then `expected` is what would be possible.
    pub fn visit<E: de::Error>(scalar: &Scalar<'_>, expected: &dyn de::Expected) -> Result<T, E> {
        match T::from_scalar(scalar) {
            Some(value) => value.map_err(E::custom),
            None => Err(E::invalid_type(scalar.unexpected(), expected)),
        }
    }
}

impl<'de, T: FromScalar> de::Visitor<'de> for ScalarVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<T, E> {
        Self::visit(&Scalar::Text(value), &self)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<T, E> {
        Self::visit(&Scalar::Whole(value), &self)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<T, E> {
        Self::visit(&Scalar::Decimal(value), &self)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<T, E> {
        Self::visit(&Scalar::Bool(value), &self)
    }
}

/// Text that is not empty, not endless and in one line.
#[derive(Debug, Clone)]
pub struct RawText(String);

impl RawText {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromScalar for RawText {
    const EXPECTED: &'static str = "text in quotes";

    fn from_scalar(scalar: &Scalar<'_>) -> Option<Result<Self, ValueFault>> {
        let Scalar::Text(text) = scalar else {
            return None;
        };
        let fault = match *text {
            text if text.trim().is_empty() => "is empty",
            text if text.chars().count() > LONGEST_TEXT => "is longer than 500 characters",
            text if text.chars().any(char::is_control) => "holds line breaks or control characters",
            text => return Some(Ok(Self(text.to_owned()))),
        };
        Some(Err(ValueFault::new(fault, "write one line of text here")))
    }
}

impl PlanValue for RawText {
    type Resolved = String;

    fn resolved(&self) -> String {
        self.0.clone()
    }

    fn written(value: String) -> serde_json::Value {
        value.into()
    }
}

/// A length of time: `"1h 30m"`.
#[derive(Debug, Clone, Copy)]
pub struct RawTime(Nanos);

impl FromScalar for RawTime {
    const EXPECTED: &'static str = "a length of time such as \"10s\"";

    fn from_scalar(scalar: &Scalar<'_>) -> Option<Result<Self, ValueFault>> {
        let Scalar::Text(text) = scalar else {
            let number = scalar.number()?;
            let help = format!("write times with a unit and in quotes: \"{number}s\"");
            return Some(Err(ValueFault::new(format!("{number} has no unit"), help)));
        };
        let fault = match duration::parse(text) {
            Ok(time) => return Some(Ok(Self(time))),
            Err(_) if text.trim().parse::<f64>().is_ok_and(|number| number >= 0.0) => {
                let help = format!("write times with a unit: \"{}s\"", text.trim());
                ValueFault::new(format!("\"{text}\" has no unit"), help)
            }
            Err(fault) => ValueFault::new(
                format!("\"{}\" {fault}", text.escape_debug()),
                "write times such as \"10s\", \"2m\", \"1h 30m\" or \"250ms\"",
            ),
        };
        Some(Err(fault))
    }
}

impl PlanValue for RawTime {
    type Resolved = Nanos;

    fn resolved(&self) -> Nanos {
        self.0
    }

    fn written(value: Nanos) -> serde_json::Value {
        value.to_string().into()
    }
}

/// A moment: a time, or one that the seed draws.
#[derive(Debug, Clone, Copy)]
pub enum RawMoment {
    Random,
    After(Nanos),
}

impl FromScalar for RawMoment {
    const EXPECTED: &'static str = RawTime::EXPECTED;

    fn from_scalar(scalar: &Scalar<'_>) -> Option<Result<Self, ValueFault>> {
        match scalar {
            Scalar::Text("random") => Some(Ok(Self::Random)),
            _ => {
                let time = RawTime::from_scalar(scalar)?;
                Some(time.map(|time| Self::After(time.resolved())))
            }
        }
    }
}

/// A size from `LEAST` to `MOST` bytes: `"16GiB"`.
#[derive(Debug, Clone, Copy)]
pub struct RawSize<const LEAST: u64 = 0, const MOST: u64 = { size::LARGEST.0 }>(Bytes);

impl<const LEAST: u64, const MOST: u64> FromScalar for RawSize<LEAST, MOST> {
    const EXPECTED: &'static str = "a size such as \"16GiB\"";

    fn from_scalar(scalar: &Scalar<'_>) -> Option<Result<Self, ValueFault>> {
        let Scalar::Text(text) = scalar else {
            let number = scalar.number()?;
            let unit = if MOST < 1 << 30 { "KiB" } else { "GiB" };
            let help = format!("write sizes with a unit and in quotes: \"{number}{unit}\"");
            return Some(Err(ValueFault::new(format!("{number} has no unit"), help)));
        };
        let fault = match size::parse(text) {
            Ok(bytes) if (LEAST..=MOST).contains(&bytes.0) => return Some(Ok(Self(bytes))),
            Ok(bytes) => {
                let least = size::write(Bytes(LEAST));
                let help = match MOST == size::LARGEST.0 {
                    true => format!("{least} at least"),
                    false => format!("{least} to {} is possible", size::write(Bytes(MOST))),
                };
                ValueFault::impossible(size::write(bytes), help)
            }
            Err(fault) => ValueFault::new(
                format!("\"{}\" {fault}", text.escape_debug()),
                "write sizes such as \"16GiB\", \"512MiB\" or \"960GB\"",
            ),
        };
        Some(Err(fault))
    }
}

impl<const LEAST: u64, const MOST: u64> PlanValue for RawSize<LEAST, MOST> {
    type Resolved = Bytes;

    fn resolved(&self) -> Bytes {
        self.0
    }

    fn written(value: Bytes) -> serde_json::Value {
        size::write(value).into()
    }
}

/// Value of a server's setting, kept as text whatever it was written as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting(pub String);

impl FromScalar for Setting {
    const EXPECTED: &'static str = "text in quotes, a number, true or false";

    fn from_scalar(scalar: &Scalar<'_>) -> Option<Result<Self, ValueFault>> {
        Some(Ok(Self(match scalar {
            Scalar::Text(text) => (*text).to_owned(),
            Scalar::Whole(number) => number.to_string(),
            Scalar::Decimal(number) => number.to_string(),
            Scalar::Bool(value) => value.to_string(),
        })))
    }
}

/// Reads types from scalars, and describes them in the schema.
macro_rules! scalars {
    ($(impl[$($generics:tt)*] $type:ty, $name:expr, $schema:tt;)*) => {$(
        impl<'de, $($generics)*> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::value::ScalarVisitor::read(deserializer)
            }
        }

        impl<$($generics)*> schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!($schema)
            }
        }
    )*};
}
pub(super) use scalars;

scalars! {
    impl[] RawText, "Text", { "type": "string" };
    impl[] RawTime, "Time", { "type": "string", "examples": ["10s", "2m", "1h 30m", "250ms"] };
    impl[] RawMoment, "Moment", { "type": "string", "examples": ["10s", "2m", "random"] };
    impl[const LEAST: u64, const MOST: u64] RawSize<LEAST, MOST>, "Size", {
        "type": "string", "examples": ["16GiB", "512MiB", "960GB"]
    };
    impl[] Setting, "Setting", { "type": ["string", "integer", "number", "boolean"] };
}
