//! `[audit]`: thresholds that are not the usual ones.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::findings::Findings;
use super::super::value::At;
use crate::{Thresholds, for_each_threshold};

macro_rules! raw_audit {
    ($($key:ident, $default:literal, $unit:literal, $low:literal, $high:literal, $source:literal, $what:literal;)*) => {
        /// Thresholds of the audit that are not the usual ones. Shown in the report.
        #[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields, expecting = "a table such as { interval = 10 }")]
        #[schemars(rename = "Audit")]
        pub struct RawAudit {
            $(
                #[doc = $what]
                #[doc = concat!("Default: ", stringify!($default), " ", $unit, ".")]
                #[schemars(range(min = $low, max = $high))]
                pub $key: Option<At<f64>>,
            )*
        }

        impl RawAudit {
            /// The usual thresholds, but for those written.
            pub(in crate) fn resolve(&self, findings: &mut Findings<'_>) -> Thresholds {
                let mut thresholds = Thresholds::default();
                $(
                    if let Some(value) = &self.$key {
                        if ($low..=$high).contains(value.get()) {
                            thresholds.$key = *value.get();
                        } else {
                            let message = format!("`{}` cannot be {}", stringify!($key), value.get());
                            let help = format!("{} to {} is possible; usual is {}", $low, $high, $default);
                            findings.error(value.span(), message, help);
                        }
                    }
                )*
                thresholds
            }
        }
    };
}

for_each_threshold!(raw_audit);
