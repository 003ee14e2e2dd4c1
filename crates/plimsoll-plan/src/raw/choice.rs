//! Values that can be written in two ways: a single value, or a list or table with more.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::{Deserialize, Deserializer, de};

use super::table::PlanTable;
use crate::value::{At, FromScalar, Scalar, ScalarVisitor, ValueFault};

/// A single value, or a list or table.
#[derive(Debug, Clone)]
pub enum Either<S, C> {
    Simple(S),
    Composite(C),
}

/// A list or table that a single value may stand for.
pub trait Composite {
    /// "expected …", for what is neither.
    const EXPECTED: &'static str;
    const IS_TABLE: bool = false;
}

impl<T: PlanTable> Composite for T {
    const EXPECTED: &'static str = T::EXPECTED;
    const IS_TABLE: bool = true;
}

struct EitherVisitor<S, C>(PhantomData<(S, C)>);

impl<'de, S: FromScalar, C: Composite + Deserialize<'de>> de::Visitor<'de> for EitherVisitor<S, C> {
    type Value = Either<S, C>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(C::EXPECTED)
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Self::Value, E> {
        ScalarVisitor::visit(&Scalar::Text(value), &self).map(Either::Simple)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
        ScalarVisitor::visit(&Scalar::Whole(value), &self).map(Either::Simple)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Self::Value, E> {
        ScalarVisitor::visit(&Scalar::Bool(value), &self).map(Either::Simple)
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        if C::IS_TABLE {
            return Err(de::Error::invalid_type(de::Unexpected::Seq, &self));
        }
        C::deserialize(SeqAccessDeserializer::new(list)).map(Either::Composite)
    }

    fn visit_map<A: de::MapAccess<'de>>(self, table: A) -> Result<Self::Value, A::Error> {
        if !C::IS_TABLE {
            return Err(de::Error::invalid_type(de::Unexpected::Map, &self));
        }
        C::deserialize(MapAccessDeserializer::new(table)).map(Either::Composite)
    }
}

impl<'de, S: FromScalar, C: Composite + Deserialize<'de>> Deserialize<'de> for Either<S, C> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EitherVisitor(PhantomData))
    }
}

impl<S: JsonSchema, C: JsonSchema> JsonSchema for Either<S, C> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("{}Or{}", S::schema_name(), C::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let simple = generator.subschema_for::<S>();
        let composite = generator.subschema_for::<C>();
        json_schema!({ "anyOf": [simple, composite] })
    }
}

// No documentation: the schema shows that of the key.
#[derive(Debug, Clone, Copy, JsonSchema)]
#[schemars(inline, transparent)]
pub struct Switch(pub bool);

impl FromScalar for Switch {
    const EXPECTED: &'static str = "true or false";

    fn from_scalar(scalar: &Scalar<'_>) -> Option<Result<Self, ValueFault>> {
        match scalar {
            Scalar::Bool(is_on) => Some(Ok(Self(*is_on))),
            _ => None,
        }
    }
}

/// Something and its share in percent, or two shares: a list of two.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(inline)]
pub struct RawShare<T>(pub At<T>, pub At<i64>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for RawShare<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ShareVisitor<T>(PhantomData<T>);
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
        deserializer.deserialize_any(ShareVisitor(PhantomData))
    }
}
