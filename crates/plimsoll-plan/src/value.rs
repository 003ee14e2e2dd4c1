//! Values of the raw plan with their span in the text.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::SeqAccessDeserializer;
use serde::{Deserialize, Deserializer, de};
use toml::Spanned;

/// A value and its span in the plan's text. In the JSON Schema it is the value alone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct At<T>(Spanned<T>);

impl<T> At<T> {
    pub fn get(&self) -> &T {
        self.0.get_ref()
    }

    /// Bytes of the text.
    pub fn span(&self) -> Range<usize> {
        self.0.span()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for At<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Spanned::deserialize(deserializer).map(Self)
    }
}

impl<T: JsonSchema> JsonSchema for At<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// One number, or a list of them that is gone through in order.
#[derive(Debug, Clone)]
pub enum Ladder<T> {
    One(At<T>),
    Many(Vec<At<T>>),
}

impl<T> Ladder<T> {
    pub fn loads(&self) -> &[At<T>] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Many(values) => values,
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ladder<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // What kind of value it is shows only when it is read, and the span of a lone number has to be kept.
        let spanned = Spanned::<Rungs<T>>::deserialize(deserializer)?;
        let span = spanned.span();
        Ok(match spanned.into_inner() {
            Rungs::One(value) => Self::One(At(Spanned::new(span, value))),
            Rungs::Many(values) => Self::Many(values),
        })
    }
}

enum Rungs<T> {
    One(T),
    Many(Vec<At<T>>),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Rungs<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RungsVisitor<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> de::Visitor<'de> for RungsVisitor<T> {
            type Value = Rungs<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a list of numbers")
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
                T::deserialize(de::value::I64Deserializer::new(value)).map(Rungs::One)
            }
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Self::Value, E> {
                T::deserialize(de::value::F64Deserializer::new(value)).map(Rungs::One)
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(Rungs::Many)
            }
        }
        deserializer.deserialize_any(RungsVisitor(std::marker::PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for Ladder<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("LadderOf{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1, "maxItems": 100 }] })
    }
}

/// A length of time as written. A bare number is kept, so that it can be refused with a suggestion.
#[derive(Debug, Clone)]
pub enum RawTime {
    Text(String),
    Bare(String),
}

/// A size as written. A bare number is kept, so that it can be refused with a suggestion.
#[derive(Debug, Clone)]
pub enum RawSize {
    Text(String),
    Bare(String),
}

/// The value of a server's setting, kept as text whatever it was written as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting(pub String);

struct Scalar {
    expecting: &'static str,
    bool_is_fine: bool,
}

impl<'de> de::Visitor<'de> for Scalar {
    /// The text, and whether it was written in quotes.
    type Value = (String, bool);
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expecting)
    }
    fn visit_str<E: de::Error>(self, value: &str) -> Result<Self::Value, E> {
        Ok((value.to_owned(), true))
    }
    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
        Ok((value.to_string(), false))
    }
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Self::Value, E> {
        Ok((value.to_string(), false))
    }
    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Self::Value, E> {
        if self.bool_is_fine {
            return Ok((value.to_string(), false));
        }
        Err(E::invalid_type(de::Unexpected::Bool(value), &self))
    }
}

impl<'de> Deserialize<'de> for RawTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let scalar = Scalar {
            expecting: "a length of time such as \"10s\"",
            bool_is_fine: false,
        };
        deserializer.deserialize_any(scalar).map(|(text, quoted)| {
            if quoted {
                Self::Text(text)
            } else {
                Self::Bare(text)
            }
        })
    }
}

impl<'de> Deserialize<'de> for RawSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let scalar = Scalar {
            expecting: "a size such as \"16GiB\"",
            bool_is_fine: false,
        };
        deserializer.deserialize_any(scalar).map(|(text, quoted)| {
            if quoted {
                Self::Text(text)
            } else {
                Self::Bare(text)
            }
        })
    }
}

impl<'de> Deserialize<'de> for Setting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let scalar = Scalar {
            expecting: "text in quotes, a number, true or false",
            bool_is_fine: true,
        };
        deserializer
            .deserialize_any(scalar)
            .map(|(text, _)| Self(text))
    }
}

impl JsonSchema for RawTime {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "examples": ["10s", "2m", "1h 30m", "250ms"] })
    }
}

impl JsonSchema for RawSize {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Size".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "examples": ["16GiB", "512MiB", "960GB"] })
    }
}

impl JsonSchema for Setting {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Setting".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "integer", "number", "boolean"] })
    }
}
