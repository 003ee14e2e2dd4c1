//! The plan of a record.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::describe::table;
use crate::kept_names;
use crate::parse::parse_described;
use crate::resolved::ResolvedPlan;

/// What is known of the plan that a record was made by.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum RecordedPlan {
    Resolved(Box<ResolvedPlan>),
    /// Another tool measured, and had no plan.
    #[default]
    Imported,
    /// Written by another version of plimsoll, or changed since.
    Unreadable {
        /// As it is stored.
        text: String,
        why: String,
    },
}

/// Version of [`SavedPlan`]. A change that an older plimsoll cannot read raises it.
const SAVED_VERSION: u32 = 1;

/// A plan as run files since schema 8 keep it, as JSON.
#[derive(Serialize, Deserialize)]
struct SavedPlan {
    version: u32,
    plan: Value,
}

impl RecordedPlan {
    pub fn new(plan: ResolvedPlan) -> Self {
        Self::Resolved(Box::new(plan))
    }

    /// From the text of a run file: empty without a plan, TOML up to schema 7, JSON since.
    pub fn from_text(text: &str) -> Self {
        match text.as_bytes().first() {
            None => Self::Imported,
            Some(b'{') => Self::from_json(text),
            Some(_) => Self::from_toml(text),
        }
    }

    /// What [`Self::from_text`] reads; passwords are redacted.
    pub fn to_text(&self) -> String {
        match self {
            Self::Resolved(plan) => {
                let mut plan = serde_json::to_value(plan).expect("a plan has string keys only");
                kept_names::to_names(&mut plan);
                let saved = SavedPlan {
                    version: SAVED_VERSION,
                    plan,
                };
                serde_json::to_string(&saved).expect("a value is JSON")
            }
            Self::Imported => String::new(),
            Self::Unreadable { text, .. } => text.clone(),
        }
    }

    fn from_json(text: &str) -> Self {
        // The version first: the plan of another one may have other keys.
        let saved: Result<SavedPlan, _> = serde_json::from_str(text);
        match saved {
            Ok(saved) if saved.version != SAVED_VERSION => Self::unreadable(
                text,
                format!(
                    "it has version {}, and this plimsoll reads version {SAVED_VERSION}",
                    saved.version
                ),
            ),
            Ok(saved) => match from_saved(saved.plan) {
                Ok(plan) => Self::new(plan),
                Err(why) => Self::unreadable(text, why),
            },
            Err(error) => Self::unreadable(text, error.to_string()),
        }
    }

    /// From the TOML of [`crate::describe`].
    fn from_toml(text: &str) -> Self {
        match parse_described(text) {
            Ok(mut plan) => {
                // Schemas up to 7 had no choice of a factor: a drive without one was as rated.
                for drive in plan.emulated_mut() {
                    drive.auto = false;
                }
                Self::new(plan)
            }
            Err(errors) => Self::unreadable(text, errors.0[0].to_string()),
        }
    }

    fn unreadable(text: &str, why: String) -> Self {
        let text = text.to_owned();
        Self::Unreadable { text, why }
    }

    pub fn resolved(&self) -> Option<&ResolvedPlan> {
        match self {
            Self::Resolved(plan) => Some(plan),
            Self::Imported | Self::Unreadable { .. } => None,
        }
    }

    /// Why it cannot be read.
    pub fn fault(&self) -> Option<&str> {
        match self {
            Self::Unreadable { why, .. } => Some(why),
            Self::Resolved(_) | Self::Imported => None,
        }
    }

    /// As data by the keys that people write; as text where it cannot be read, `null` without a plan.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Resolved(plan) => {
                serde_json::to_value(table(plan)).expect("a table has string keys only")
            }
            Self::Imported => Value::Null,
            Self::Unreadable { text, .. } => Value::String(text.clone()),
        }
    }
}

fn from_saved(mut plan: Value) -> Result<ResolvedPlan, String> {
    kept_names::to_ids(&mut plan)?;
    serde_json::from_value(plan).map_err(|error| error.to_string())
}
