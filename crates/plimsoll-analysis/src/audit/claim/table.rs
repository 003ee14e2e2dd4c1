//! Tables of a claim: keys of their own, and figures of the catalog under the keys of these.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};

use crate::summary::{FigureId, StatedIn};

/// Figures as they are stated.
pub type StatedNumbers = BTreeMap<FigureId, f64>;

/// A table that [`claim_table`] declares.
pub(super) trait ClaimTable: Default {
    const FIELDS: &'static [&'static str];
    const FIGURES: StatedIn;

    fn read_field<'de, A: MapAccess<'de>>(
        &mut self,
        field: &str,
        table: &mut A,
    ) -> Result<(), A::Error>;

    fn numbers_mut(&mut self) -> &mut StatedNumbers;
}

/// Declares a table with its fields; all other keys are those of figures.
macro_rules! claim_table {
    (
        $(#[$about:meta])*
        $table:ident, figures stated in a $place:ident {
            $($(#[$doc:meta])* $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct $table {
            $($(#[$doc])* pub $field: $type,)*
            /// Its figures.
            pub numbers: $crate::audit::claim::table::StatedNumbers,
        }

        impl $crate::audit::claim::table::ClaimTable for $table {
            const FIELDS: &'static [&'static str] = &[$(stringify!($field)),*];
            const FIGURES: $crate::summary::StatedIn = $crate::summary::StatedIn::$place;

            fn read_field<'de, A: serde::de::MapAccess<'de>>(
                &mut self,
                field: &str,
                table: &mut A,
            ) -> Result<(), A::Error> {
                match field {
                    $(stringify!($field) => self.$field = table.next_value()?,)*
                    _ => {}
                }
                Ok(())
            }

            fn numbers_mut(&mut self) -> &mut $crate::audit::claim::table::StatedNumbers {
                &mut self.numbers
            }
        }

        impl<'de> serde::Deserialize<'de> for $table {
            fn deserialize<D: serde::Deserializer<'de>>(table: D) -> Result<Self, D::Error> {
                $crate::audit::claim::table::read(table)
            }
        }
    };
}

pub(super) use claim_table;

/// Figures that a claim may state there.
pub(super) fn figures(stated_in: StatedIn) -> impl Iterator<Item = FigureId> {
    let all = FigureId::ALL.iter().copied();
    all.filter(move |figure| figure.info().stated_in == stated_in)
}

pub(super) fn read<'de, T: ClaimTable, D: Deserializer<'de>>(table: D) -> Result<T, D::Error> {
    table.deserialize_map(TableReader(PhantomData))
}

struct TableReader<T>(PhantomData<T>);

impl<'de, T: ClaimTable> Visitor<'de> for TableReader<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<T, A::Error> {
        let mut read = T::default();
        while let Some(key) = table.next_key_seed(KeyReader::<T>(PhantomData))? {
            match key {
                ClaimKey::Field(field) => read.read_field(field, &mut table)?,
                ClaimKey::Figure(figure) => {
                    read.numbers_mut().insert(figure, table.next_value()?);
                }
            }
        }
        Ok(read)
    }
}

enum ClaimKey {
    Field(&'static str),
    Figure(FigureId),
}

/// Refuses an unknown key where it stands, in serde's words: [`plimsoll_plan::read_toml`] names the keys that are known.
struct KeyReader<T>(PhantomData<T>);

impl<'de, T: ClaimTable> DeserializeSeed<'de> for KeyReader<T> {
    type Value = ClaimKey;

    fn deserialize<D: Deserializer<'de>>(self, key: D) -> Result<ClaimKey, D::Error> {
        let key = String::deserialize(key)?;
        if let Some(field) = T::FIELDS.iter().find(|field| **field == key) {
            return Ok(ClaimKey::Field(field));
        }
        if let Some(figure) = figures(T::FIGURES).find(|figure| figure.key() == key) {
            return Ok(ClaimKey::Figure(figure));
        }
        let fields = T::FIELDS.iter().copied();
        let known: Vec<String> = fields
            .chain(figures(T::FIGURES).map(FigureId::key))
            .map(|known| format!("`{known}`"))
            .collect();
        let known = known.join(", ");
        Err(D::Error::custom(format_args!(
            "unknown field `{key}`, expected one of {known}"
        )))
    }
}
