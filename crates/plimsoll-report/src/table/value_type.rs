//! What the values of a column are, for programs that store them.

/// Follows from the type of the function that a column is declared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueType {
    Number,
    /// Of single precision.
    Single,
    Count,
    Flag,
    Text,
    /// In UTC.
    Time,
}

impl ValueType {
    /// As the documentation of exports names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Single => "single",
            Self::Count => "count",
            Self::Flag => "flag",
            Self::Text => "text",
            Self::Time => "time",
        }
    }
}
