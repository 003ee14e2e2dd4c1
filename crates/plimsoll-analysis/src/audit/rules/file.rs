//! The rule about the run file itself.

use super::result::RuleResult;
use crate::audit::{AuditSubject, Evidence, Missing, Next, Rule, RuleVerdict};
use plimsoll_record::Integrity;
use plimsoll_record::Severity::Error;

pub(super) fn evaluate(file: &Integrity) -> RuleVerdict {
    let mut result = RuleResult::default();
    match file.clone() {
        Integrity::Intact { digest } => result.pass(Evidence::DigestMatches { digest }),
        Integrity::Changed { digest, found } => {
            result.fail(
                Evidence::DigestDiffers { digest, found },
                Error,
                Next::RestoreFile,
            );
        }
        Integrity::NoDigest => result.fail(Evidence::NoDigest, Error, Next::RestoreFile),
        Integrity::Open => result.missing(Missing::FileOpen),
    }
    result.verdict(Rule::Intact, &AuditSubject::Whole)
}
