//! The plan of a record.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::describe::table;
use crate::references::check_references;
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

/// Version of [`SavedPlan`]. A change of names or meanings raises it.
const SAVED_VERSION: u32 = 2;

/// A plan as run files keep it, as JSON.
#[derive(Serialize, Deserialize)]
struct SavedPlan {
    version: u32,
    plan: Value,
}

impl RecordedPlan {
    pub fn new(plan: ResolvedPlan) -> Self {
        Self::Resolved(Box::new(plan))
    }

    /// From the text of a run file: JSON, empty without a plan.
    pub fn from_text(text: &str) -> Self {
        if text.is_empty() {
            return Self::Imported;
        }
        match read_saved(text) {
            Ok(plan) => Self::new(plan),
            Err(why) => Self::Unreadable {
                text: text.to_owned(),
                why,
            },
        }
    }

    /// What [`Self::from_text`] reads; passwords are redacted.
    pub fn to_text(&self) -> String {
        match self {
            Self::Resolved(plan) => {
                let plan = serde_json::to_value(plan).expect("a plan has string keys only");
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

fn read_saved(text: &str) -> Result<ResolvedPlan, String> {
    let SavedPlan { version, plan } =
        serde_json::from_str(text).map_err(|error| error.to_string())?;
    // The version first: the plan of another one may have other keys.
    if version != SAVED_VERSION {
        return Err(format!(
            "it has version {version}, and this plimsoll reads version {SAVED_VERSION}"
        ));
    }
    let plan: ResolvedPlan = serde_json::from_value(plan).map_err(|error| error.to_string())?;
    check_references(&plan)?;
    plan.audit.check_bounds()?;
    Ok(plan)
}
