//! A value in a JSON document with its path, for error messages.

use std::collections::BTreeMap;

use serde_json::Value;

use super::error::FioError;

/// A value and the path that leads to it: `jobs[0].read.clat_ns`.
pub(super) struct JsonNode<'a> {
    value: &'a Value,
    path: String,
}

impl<'a> JsonNode<'a> {
    pub fn root(value: &'a Value) -> Self {
        Self {
            value,
            path: String::new(),
        }
    }

    /// The path of a field of this object.
    pub fn name(&self, field: &str) -> String {
        if self.path.is_empty() {
            field.to_owned()
        } else {
            format!("{}.{field}", self.path)
        }
    }

    pub fn find(&self, field: &str) -> Option<Self> {
        self.value.get(field).map(|value| Self {
            value,
            path: self.name(field),
        })
    }

    pub fn get(&self, field: &str) -> Result<Self, FioError> {
        self.find(field).ok_or_else(|| FioError::Field {
            field: self.name(field),
            why: "is missing".into(),
        })
    }

    fn is_not(&self, what: &str) -> FioError {
        let found: String = self.value.to_string().chars().take(40).collect();
        FioError::Field {
            field: self.path.clone(),
            why: format!("is {found}, which is not {what}"),
        }
    }

    pub fn items(&self) -> Result<Vec<Self>, FioError> {
        let items = self.value.as_array().ok_or_else(|| self.is_not("a list"))?;
        let items = items.iter().enumerate();
        Ok(items
            .map(|(i, value)| Self {
                value,
                path: format!("{}[{i}]", self.path),
            })
            .collect())
    }

    pub fn text(&self) -> Result<String, FioError> {
        self.value
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| self.is_not("a text"))
    }

    pub fn number(&self) -> Result<f64, FioError> {
        self.value.as_f64().ok_or_else(|| self.is_not("a number"))
    }

    pub fn count(&self) -> Result<u64, FioError> {
        self.value
            .as_u64()
            .ok_or_else(|| self.is_not("a whole number"))
    }

    pub fn signed(&self) -> Result<i64, FioError> {
        self.value
            .as_i64()
            .ok_or_else(|| self.is_not("a whole number"))
    }

    /// `{"99.000000": 124416, …}`.
    pub fn counts_in_order(&self) -> Result<Vec<(String, u64)>, FioError> {
        let object = self.value.as_object();
        let object = object.ok_or_else(|| self.is_not("an object"))?;
        let mut counts = Vec::with_capacity(object.len());
        for (key, value) in object {
            let at = Self {
                value,
                path: self.name(key),
            };
            counts.push((key.clone(), at.count()?));
        }
        Ok(counts)
    }

    /// `{"2088960": 1, …}`.
    pub fn counts_by_number(&self) -> Result<BTreeMap<u64, u64>, FioError> {
        let mut counts = BTreeMap::new();
        for (key, count) in self.counts_in_order()? {
            let number = key.parse().map_err(|_| FioError::Field {
                field: self.name(&key),
                why: format!("is {count}, which is not under a whole number"),
            })?;
            counts.insert(number, count);
        }
        Ok(counts)
    }
}
