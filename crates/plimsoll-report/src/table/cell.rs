//! What a cell holds.

use plimsoll_analysis::summary::{Estimate, Interval, Verdict};
use serde_json::{Number, Value as Json};

use super::value_type::ValueType;

#[derive(Debug, Clone, PartialEq)]
pub enum CellValue {
    /// With the id of the reason, where people see one in its place.
    Missing(Option<&'static str>),
    Number(f64),
    /// Of single precision.
    Single(f32),
    Count(u64),
    Range(f64, f64),
    Flag(bool),
    Text(String),
    Time(String),
    /// One of a closed set: its name in exports, and the id of what people read.
    Word {
        name: &'static str,
        id: String,
    },
}

/// A time in UTC as RFC 3339 text.
pub struct UtcTime(pub String);

#[derive(Debug, Clone, PartialEq)]
pub struct TableCell {
    pub value: CellValue,
    /// Its style on a page.
    pub class: &'static str,
    /// What people see behind it.
    pub mark: &'static str,
    pub page: Option<Box<PageCell>>,
}

/// What a page shows beside a cell's text; what it does not have is empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PageCell {
    /// The address that the text leads to.
    pub link: String,
    pub below: String,
    pub choice: Option<RowChoice>,
}

/// A box that chooses the row, within a form.
#[derive(Debug, Clone, PartialEq)]
pub struct RowChoice {
    pub name: &'static str,
    pub value: String,
    /// For those who do not see it.
    pub label: String,
    pub is_offered: bool,
}

impl TableCell {
    pub const MISSING: Self = Self {
        value: CellValue::Missing(None),
        class: "",
        mark: "",
        page: None,
    };

    /// `name` of a closed set, whose texts have ids beginning with `prefix`.
    pub fn word(prefix: &str, name: &'static str) -> Self {
        let id = format!("{prefix}{}", name.replace('_', "-"));
        CellValue::Word { name, id }.into()
    }

    /// What stands in for a value, by its id.
    pub fn missing(reason: &'static str) -> Self {
        CellValue::Missing(Some(reason)).into()
    }

    pub fn styled(self, class: &'static str) -> Self {
        Self { class, ..self }
    }

    pub fn on_page(self, page: PageCell) -> Self {
        Self {
            page: Some(Box::new(page)),
            ..self
        }
    }

    pub fn marked(self, mark: &'static str) -> Self {
        Self { mark, ..self }
    }

    pub(super) fn is_empty(&self) -> bool {
        match &self.value {
            CellValue::Missing(None) => true,
            CellValue::Text(text) => text.is_empty() || text == crate::number::NONE,
            _ => false,
        }
    }

    pub(super) fn to_json(&self) -> Json {
        match &self.value {
            CellValue::Missing(_) => Json::Null,
            CellValue::Number(value) => Number::from_f64(*value).map_or(Json::Null, Json::Number),
            CellValue::Single(value) => (*value).into(),
            CellValue::Count(count) => (*count).into(),
            CellValue::Range(low, high) => vec![*low, *high].into(),
            CellValue::Flag(flag) => (*flag).into(),
            CellValue::Text(text) | CellValue::Time(text) => text.clone().into(),
            CellValue::Word { name, .. } => (*name).into(),
        }
    }
}

impl CellValue {
    /// As programs read it in CSV.
    pub fn to_plain(&self) -> String {
        match self {
            Self::Missing(_) => String::new(),
            Self::Number(value) => value.to_string(),
            Self::Single(value) => value.to_string(),
            Self::Count(count) => count.to_string(),
            Self::Range(low, high) => format!("{low} to {high}"),
            Self::Flag(flag) => flag.to_string(),
            Self::Text(text) | Self::Time(text) => text.clone(),
            Self::Word { name, .. } => (*name).to_owned(),
        }
    }
}

impl From<CellValue> for TableCell {
    fn from(value: CellValue) -> Self {
        Self {
            value,
            class: "",
            mark: "",
            page: None,
        }
    }
}

impl<T: Into<Self>> From<Option<T>> for TableCell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::MISSING, Into::into)
    }
}

macro_rules! from {
    ($($type:ty as $kind:ident: $value:ident => $made:expr;)*) => {
        $(impl From<$type> for TableCell {
            fn from($value: $type) -> Self {
                $made.into()
            }
        }

        impl HasValueType for $type {
            const TYPE: ValueType = ValueType::$kind;
        })*
    };
}

from! {
    f64 as Number: value => CellValue::Number(value);
    f32 as Single: value => CellValue::Single(value);
    u64 as Count: count => CellValue::Count(count);
    u32 as Count: count => CellValue::Count(count.into());
    u8 as Count: count => CellValue::Count(count.into());
    usize as Count: count => CellValue::Count(count as u64);
    bool as Flag: flag => CellValue::Flag(flag);
    String as Text: text => CellValue::Text(text);
    &String as Text: text => CellValue::Text(text.clone());
    &str as Text: text => CellValue::Text(text.to_owned());
    UtcTime as Time: time => CellValue::Time(time.0);
    Interval as Text: own => CellValue::Range(own.low, own.high);
    Estimate as Number: figure => CellValue::Number(figure.value);
    Verdict as Text: verdict => TableCell::word("verdict-", verdict.name()).styled(verdict.name());
}

/// Values that columns can have.
pub trait HasValueType: Into<TableCell> {
    const TYPE: ValueType;
}

impl<T: HasValueType> HasValueType for Option<T> {
    const TYPE: ValueType = T::TYPE;
}

/// Ranges and words.
impl HasValueType for CellValue {
    const TYPE: ValueType = ValueType::Text;
}

/// Words, and what stands in for a number on a page.
impl HasValueType for TableCell {
    const TYPE: ValueType = ValueType::Text;
}
