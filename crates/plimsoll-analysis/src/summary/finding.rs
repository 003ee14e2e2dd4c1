//! What makes a figure less than trustworthy.

mod kind;

use serde::Serialize;

pub use kind::{Finding, FindingKind};

use plimsoll_record::Severity;

/// Share of failed and dropped intents above which the figures describe something else than the load that was asked
/// for.
pub const FAILED_LIMIT: f64 = 0.01;

/// Whether figures can be trusted. Ordered from good to bad.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// No issues found.
    #[default]
    Valid,
    /// They are true, but read the warnings before using them.
    Doubtful,
    /// Not to be used.
    Invalid,
}

impl Verdict {
    pub const ALL: [Self; 3] = [Self::Valid, Self::Doubtful, Self::Invalid];

    pub fn name(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Doubtful => "doubtful",
            Self::Invalid => "invalid",
        }
    }

    pub(super) fn of(findings: &[Finding]) -> Self {
        match findings.iter().map(|f| f.severity).max() {
            Some(Severity::Error) => Self::Invalid,
            Some(Severity::Warning) => Self::Doubtful,
            Some(Severity::Note) | None => Self::Valid,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_of_one_drive_are_merged_and_those_of_each_system_kept() {
        let waited = |emulator_ms| FindingKind::EmulationWaited {
            drive: "d".into(),
            kernel_ms: 9.0,
            emulator_ms,
            added_percent: 300.0,
        };
        let [first, again] =
            [7.0, 7.1].map(|emulator_ms| waited(emulator_ms).with(Severity::Error));
        let milder = waited(7.0).with(Severity::Warning);
        let [one, other] = [1.0, 2.0]
            .map(|missing_s| FindingKind::SecondsMissing { missing_s }.with(Severity::Warning));
        let all = [&first, &one, &again, &milder, &other, &one];
        assert_eq!(
            Finding::of_all(all.into_iter()),
            [first.clone(), one.clone(), milder.clone(), other.clone()]
        );
    }
}
