//! What a cell holds.

use plimsoll_analysis::summary::{Figure, Interval, Verdict};
use serde_json::{Number, Value as Json};

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// With the id of the reason, where people see one in its place.
    Missing(Option<&'static str>),
    Number(f64),
    Count(u64),
    Range(f64, f64),
    Flag(bool),
    Text(String),
    /// One of a closed set: its name in exports, and the id of what people read.
    Word {
        name: &'static str,
        id: String,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    pub value: Value,
    /// Its style on a page.
    pub class: &'static str,
    /// What people see behind it.
    pub mark: &'static str,
}

impl Cell {
    pub const MISSING: Self = Self {
        value: Value::Missing(None),
        class: "",
        mark: "",
    };

    /// `name` of a closed set, whose texts have ids beginning with `prefix`.
    pub fn word(prefix: &str, name: &'static str) -> Self {
        let id = format!("{prefix}{}", name.replace('_', "-"));
        Value::Word { name, id }.into()
    }

    /// What stands in for a value, by its id.
    pub fn missing(reason: &'static str) -> Self {
        Value::Missing(Some(reason)).into()
    }

    pub fn styled(self, class: &'static str) -> Self {
        Self { class, ..self }
    }

    pub fn marked(self, mark: &'static str) -> Self {
        Self { mark, ..self }
    }

    pub(super) fn is_empty(&self) -> bool {
        match &self.value {
            Value::Missing(None) => true,
            Value::Text(text) => text.is_empty() || text == crate::number::NONE,
            _ => false,
        }
    }

    /// As programs read it in CSV.
    pub(super) fn to_plain(&self) -> String {
        match &self.value {
            Value::Missing(_) => String::new(),
            Value::Number(value) => value.to_string(),
            Value::Count(count) => count.to_string(),
            Value::Range(low, high) => format!("{low} to {high}"),
            Value::Flag(flag) => flag.to_string(),
            Value::Text(text) => text.clone(),
            Value::Word { name, .. } => (*name).to_owned(),
        }
    }

    pub(super) fn to_json(&self) -> Json {
        match &self.value {
            Value::Missing(_) => Json::Null,
            Value::Number(value) => Number::from_f64(*value).map_or(Json::Null, Json::Number),
            Value::Count(count) => (*count).into(),
            Value::Range(low, high) => vec![*low, *high].into(),
            Value::Flag(flag) => (*flag).into(),
            Value::Text(text) => text.clone().into(),
            Value::Word { name, .. } => (*name).into(),
        }
    }
}

impl From<Value> for Cell {
    fn from(value: Value) -> Self {
        Self {
            value,
            class: "",
            mark: "",
        }
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::MISSING, Into::into)
    }
}

macro_rules! from {
    ($($type:ty: $value:ident => $made:expr;)*) => {
        $(impl From<$type> for Cell {
            fn from($value: $type) -> Self {
                $made.into()
            }
        })*
    };
}

from! {
    f64: value => Value::Number(value);
    u64: count => Value::Count(count);
    u32: count => Value::Count(count.into());
    u8: count => Value::Count(count.into());
    usize: count => Value::Count(count as u64);
    bool: flag => Value::Flag(flag);
    String: text => Value::Text(text);
    &String: text => Value::Text(text.clone());
    &str: text => Value::Text(text.to_owned());
    Interval: own => Value::Range(own.low, own.high);
    Figure: figure => Value::Number(figure.median);
    Verdict: verdict => Cell::word("verdict-", verdict.name()).styled(verdict.name());
}
