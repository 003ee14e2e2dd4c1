//! Values of the raw plan with their span in the text.

mod number;
mod scalar;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::SeqAccessDeserializer;
use serde::{Deserialize, Deserializer, de};
use toml::Spanned;

pub(crate) use number::bounds;
pub use number::{ABOVE_ZERO, Bounds, Decimal, Whole};
pub use scalar::{
    FromScalar, RawMoment, RawSize, RawText, RawTime, Scalar, ScalarVisitor, Setting, ValueFault,
};

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

impl<T: PlanValue> At<T> {
    pub fn value(&self) -> T::Resolved {
        self.get().resolved()
    }
}

/// A value of a plan, and what becomes of it.
pub trait PlanValue {
    /// Type that the resolved plan has.
    type Resolved;

    fn resolved(&self) -> Self::Resolved;

    /// The value as people write it, for the schema.
    fn written(value: Self::Resolved) -> serde_json::Value;
}

impl PlanValue for bool {
    type Resolved = Self;

    fn resolved(&self) -> Self {
        *self
    }

    fn written(value: Self) -> serde_json::Value {
        value.into()
    }
}

/// A key that may be left out.
pub trait OptionalKey {
    type Value;

    fn value(&self) -> Option<<Self::Value as PlanValue>::Resolved>
    where
        Self::Value: PlanValue;

    /// Where it is written, or the table that leaves it out.
    fn span_or(&self, table: &Range<usize>) -> Range<usize>;
}

impl<T> OptionalKey for Option<At<T>> {
    type Value = T;

    fn value(&self) -> Option<T::Resolved>
    where
        T: PlanValue,
    {
        self.as_ref().map(At::value)
    }

    fn span_or(&self, table: &Range<usize>) -> Range<usize> {
        self.as_ref().map_or(table.clone(), At::span)
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
        let spanned = Spanned::<LadderLoads<T>>::deserialize(deserializer)?;
        let span = spanned.span();
        Ok(match spanned.into_inner() {
            LadderLoads::One(value) => Self::One(At(Spanned::new(span, value))),
            LadderLoads::Many(values) => Self::Many(values),
        })
    }
}

/// The loads of a ladder, whose own span is not known yet.
enum LadderLoads<T> {
    One(T),
    Many(Vec<At<T>>),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for LadderLoads<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LoadsVisitor<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> de::Visitor<'de> for LoadsVisitor<T> {
            type Value = LadderLoads<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a list of numbers")
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
                T::deserialize(de::value::I64Deserializer::new(value)).map(LadderLoads::One)
            }
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Self::Value, E> {
                T::deserialize(de::value::F64Deserializer::new(value)).map(LadderLoads::One)
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(LadderLoads::Many)
            }
        }
        deserializer.deserialize_any(LoadsVisitor(std::marker::PhantomData))
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
