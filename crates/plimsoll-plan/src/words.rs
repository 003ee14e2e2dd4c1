//! Words that plans have as values: `each_point`.

/// Declares enumerations whose variants are words in plans, run files and reports.
macro_rules! plan_words {
    ($(#[$meta:meta])* pub enum $name:ident { $($variants:tt)* }) => {
        $(#[$meta])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
            strum::IntoStaticStr,
        )]
        #[serde(rename_all = "snake_case")]
        #[strum(serialize_all = "snake_case")]
        pub enum $name { $($variants)* }

        impl $name {
            pub fn name(self) -> &'static str {
                self.into()
            }
        }

        impl $crate::value::PlanValue for $name {
            type Resolved = Self;

            fn resolved(&self) -> Self {
                *self
            }

            fn written(value: Self) -> serde_json::Value {
                value.name().into()
            }
        }
    };
}
pub(crate) use plan_words;
