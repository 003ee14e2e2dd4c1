//! Values that can be written in two ways: one thing, or a list or table of more.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::{Deserialize, Deserializer, de};

use crate::value::{At, RawSize};

/// Something and its share in percent, or two shares: a list of two.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(inline)]
pub struct RawShare<T>(pub At<T>, pub At<i64>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for RawShare<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ShareVisitor<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> de::Visitor<'de> for ShareVisitor<T> {
            type Value = RawShare<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of two, such as [95, 5] or [\"4KiB\", 40]")
            }
            fn visit_seq<A: de::SeqAccess<'de>>(
                self,
                mut list: A,
            ) -> Result<RawShare<T>, A::Error> {
                let wrong = |n, visitor: &Self| de::Error::invalid_length(n, visitor);
                let first = list.next_element()?.ok_or_else(|| wrong(0, &self))?;
                let share = list.next_element()?.ok_or_else(|| wrong(1, &self))?;
                // serde's own code for tuples would pass over what is too much.
                match list.next_element::<de::IgnoredAny>()? {
                    Some(_) => Err(wrong(3, &self)),
                    None => Ok(RawShare(first, share)),
                }
            }
        }
        deserializer.deserialize_any(ShareVisitor(std::marker::PhantomData))
    }
}

/// `"4KiB"`, or sizes with their shares.
#[derive(Debug, Clone)]
pub enum RawSizes {
    One(RawSize),
    Many(Vec<At<RawShare<RawSize>>>),
}

/// `true`, or shares in percent.
#[derive(Debug, Clone)]
pub enum RawCurve {
    Switch(bool),
    Shares(Vec<At<f64>>),
}

/// `true`, or a rule of one's own.
#[derive(Debug, Clone)]
pub enum RawSteady {
    Switch(bool),
    Rule(RawSteadyRule),
}

/// When rounds are enough.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "true, or a table such as { rounds = 25, window = 5 }"
)]
#[schemars(rename = "Steady")]
pub struct RawSteadyRule {
    /// At most so many, 2 to 1000. Default: 25.
    #[schemars(range(min = 2, max = 1000))]
    pub rounds: Option<At<i64>>,
    /// The last so many are looked at, 2 to 100. Default: 5.
    #[schemars(range(min = 2, max = 100))]
    pub window: Option<At<i64>>,
    /// Highest less lowest in the window, at most this share of the mean. Default: 0.2.
    #[schemars(range(max = 1.0))]
    pub range: Option<At<f64>>,
    /// Rise or fall of the least-squares line over the window, at most this share of the mean. Default: 0.1.
    #[schemars(range(max = 1.0))]
    pub slope: Option<At<f64>>,
}

/// A word, or a table with details.
#[derive(Debug, Clone)]
pub enum RawWord<T> {
    Word(String),
    Table(T),
}

/// The words that may stand instead of a table.
pub trait Words {
    const WORDS: &'static [&'static str];
    /// All that may be written, with examples of tables.
    const EXPECTED: &'static str;
}

impl<'de> Deserialize<'de> for RawSizes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SizesVisitor;
        impl<'de> de::Visitor<'de> for SizesVisitor {
            type Value = RawSizes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a size such as \"4KiB\", or a list such as [[\"4KiB\", 40], [\"8KiB\", 60]]",
                )
            }
            fn visit_str<E: de::Error>(self, value: &str) -> Result<RawSizes, E> {
                Ok(RawSizes::One(RawSize::Text(value.to_owned())))
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<RawSizes, E> {
                Ok(RawSizes::One(RawSize::Bare(value.to_string())))
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> Result<RawSizes, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(RawSizes::Many)
            }
        }
        deserializer.deserialize_any(SizesVisitor)
    }
}

impl<'de> Deserialize<'de> for RawCurve {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CurveVisitor;
        impl<'de> de::Visitor<'de> for CurveVisitor {
            type Value = RawCurve;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, or a list of shares in percent such as [10, 50, 100]")
            }
            fn visit_bool<E: de::Error>(self, value: bool) -> Result<RawCurve, E> {
                Ok(RawCurve::Switch(value))
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> Result<RawCurve, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(RawCurve::Shares)
            }
        }
        deserializer.deserialize_any(CurveVisitor)
    }
}

impl<'de> Deserialize<'de> for RawSteady {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SteadyVisitor;
        impl<'de> de::Visitor<'de> for SteadyVisitor {
            type Value = RawSteady;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, or a table such as { rounds = 25, window = 5 }")
            }
            fn visit_bool<E: de::Error>(self, value: bool) -> Result<RawSteady, E> {
                Ok(RawSteady::Switch(value))
            }
            fn visit_map<A: de::MapAccess<'de>>(self, table: A) -> Result<RawSteady, A::Error> {
                RawSteadyRule::deserialize(MapAccessDeserializer::new(table)).map(RawSteady::Rule)
            }
        }
        deserializer.deserialize_any(SteadyVisitor)
    }
}

impl<'de, T: Deserialize<'de> + Words> Deserialize<'de> for RawWord<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WordVisitor<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de> + Words> de::Visitor<'de> for WordVisitor<T> {
            type Value = RawWord<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(T::EXPECTED)
            }
            fn visit_str<E: de::Error>(self, value: &str) -> Result<RawWord<T>, E> {
                if T::WORDS.contains(&value) {
                    return Ok(RawWord::Word(value.to_owned()));
                }
                Err(E::invalid_value(de::Unexpected::Str(value), &self))
            }
            fn visit_map<A: de::MapAccess<'de>>(self, table: A) -> Result<RawWord<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(table)).map(RawWord::Table)
            }
        }
        deserializer.deserialize_any(WordVisitor(std::marker::PhantomData))
    }
}

impl<T: JsonSchema + Words> JsonSchema for RawWord<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("WordOr{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [{ "type": "string", "enum": T::WORDS }, table] })
    }
}

impl JsonSchema for RawSizes {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Sizes".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<RawSize>();
        let share = generator.subschema_for::<RawShare<RawSize>>();
        json_schema!({ "anyOf": [one, { "type": "array", "items": share, "minItems": 1, "maxItems": 100 }] })
    }
}

impl JsonSchema for RawCurve {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Curve".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let shares = json_schema!({ "type": "array", "items": { "type": "number" }, "minItems": 1, "maxItems": 100 });
        json_schema!({ "anyOf": [{ "type": "boolean" }, shares] })
    }
}

impl JsonSchema for RawSteady {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "SteadyOrNot".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let rule = generator.subschema_for::<RawSteadyRule>();
        json_schema!({ "anyOf": [{ "type": "boolean" }, rule] })
    }
}
