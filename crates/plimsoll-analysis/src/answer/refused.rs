//! Which figures the audit refuses: an answer must not rest on a load on which a rule found an error.

use plimsoll_record::{OfferedLoad, Severity};

use crate::audit::{Audit, AuditSubject, AuditedLoad, Rule};
use crate::summary::{
    BlockJobSummary, BlockPointSummary, LadderSummary, LoadSummary, PointSummary, RunFigures,
    Verdict,
};

/// Subjects on which a rule found an error.
pub(super) struct RefusedFigures<'a> {
    subjects: Vec<&'a AuditSubject>,
    /// Systems, and media of block I/O: other names are of something else, which concerns every answer.
    names: Vec<&'a str>,
    has_fault: bool,
}

/// A load, as the audit names it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LoadPlace<'a> {
    pub step: &'a str,
    /// The system; of block I/O the medium.
    pub on: &'a str,
    pub job: Option<&'a str>,
    pub load: OfferedLoad,
    /// `None`: all repeats, of which one with an error is enough.
    pub repeat: Option<u32>,
}

impl<'a> LoadPlace<'a> {
    fn is(&self, load: &AuditedLoad) -> bool {
        (self.step, self.on, self.job) == (&load.step, &load.on, load.job.as_deref())
            && self.load == load.load
            && self.repeat.is_none_or(|repeat| repeat == load.repeat)
    }

    pub fn of_point(ladder: &'a LadderSummary, point: &PointSummary) -> Self {
        Self {
            step: &ladder.step,
            on: &ladder.system,
            job: None,
            load: point.key.load,
            repeat: Some(point.repeat),
        }
    }

    pub fn of_block(
        step: &'a str,
        medium: &'a str,
        job: &'a BlockJobSummary,
        point: &BlockPointSummary,
    ) -> Self {
        Self {
            step,
            on: medium,
            job: Some(&job.job),
            load: point.load(),
            repeat: Some(point.round),
        }
    }

    pub fn of_ladder(ladder: &'a LadderSummary, load: &LoadSummary) -> Self {
        Self {
            step: &ladder.step,
            on: &ladder.system,
            job: None,
            load: load.load,
            repeat: None,
        }
    }
}

impl<'a> RefusedFigures<'a> {
    pub fn new(audit: &'a Audit, figures: &'a RunFigures) -> Self {
        let verdicts = audit.verdicts.iter();
        // Which of several things made a difference is no question of the figures.
        let errors = verdicts.filter(|own| {
            own.outcome.severity() == Some(Severity::Error) && own.rule != Rule::OneFactor
        });
        let ladders = figures.ladders.iter().map(|own| own.system.as_str());
        let media = figures.blocks.iter().flat_map(|step| &step.media);
        Self {
            subjects: errors.map(|own| &own.about).collect(),
            names: ladders
                .chain(media.map(|own| own.medium.as_str()))
                .collect(),
            has_fault: !audit.faults.is_empty(),
        }
    }

    /// The verdict of a load, which is invalid where a rule found an error on it or on its system.
    pub fn verdict(&self, place: LoadPlace<'_>, own: Verdict) -> Verdict {
        let mut subjects = self.subjects.iter();
        let is_refused = subjects.any(|about| match about {
            AuditSubject::Load(load) => place.is(load),
            AuditSubject::Named(name) => name == place.on,
            AuditSubject::Whole | AuditSubject::Pair { .. } => false,
        });
        if is_refused { Verdict::Invalid } else { own }
    }

    /// Whether an error concerns the run as a whole, whatever was measured in it.
    pub fn has_whole(&self) -> bool {
        let mut subjects = self.subjects.iter();
        self.has_fault
            || subjects.any(|about| match about {
                AuditSubject::Whole => true,
                AuditSubject::Named(name) => !self.names.contains(&name.as_str()),
                AuditSubject::Load(_) | AuditSubject::Pair { .. } => false,
            })
    }

    /// Whether a comparison has an error in which both sides are among `names`.
    pub fn has_pair(&self, names: &[&str]) -> bool {
        let mut subjects = self.subjects.iter();
        subjects.any(|about| match about {
            AuditSubject::Pair { first, second } => {
                is_among(first, names) && is_among(second, names)
            }
            _ => false,
        })
    }
}

/// Whether a side of a comparison has one of these names. It may have a scene behind it: `db@fast, noisy`.
fn is_among(side: &str, names: &[&str]) -> bool {
    let mut rests = names.iter().filter_map(|name| side.strip_prefix(name));
    rests.any(|rest| rest.is_empty() || rest.starts_with(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_one_pair_is_not_that_of_a_longer_name() {
        let pair = |first: &str| AuditSubject::Pair {
            first: first.into(),
            second: "db@slow".into(),
        };
        let has_pair = |first: &str| {
            let about = pair(first);
            let refused = RefusedFigures {
                subjects: vec![&about],
                names: Vec::new(),
                has_fault: false,
            };
            refused.has_pair(&["db@fast", "db@slow"])
        };
        assert!(has_pair("db@fast") && has_pair("db@fast, quiet"));
        assert!(!has_pair("db@fast2"));
    }
}
