//! The rule about the run file itself.

use super::result::RuleResult;
use crate::audit::{About, Evidence, Missing, Next, Rule, RuleVerdict};
use crate::record::Integrity;
use crate::record::Severity::Error;

pub(super) fn judge(file: &Integrity) -> RuleVerdict {
    let mut looked = RuleResult::default();
    match file.clone() {
        Integrity::Intact { digest } => looked.good(Evidence::DigestMatches { digest }),
        Integrity::Changed { digest, found } => {
            looked.bad(Evidence::DigestDiffers { digest, found }, Error, Next::RestoreFile);
        }
        Integrity::NoDigest => looked.bad(Evidence::NoDigest, Error, Next::RestoreFile),
        Integrity::Open => looked.untold(Missing::FileOpen),
        Integrity::Older { .. } => looked.untold(Missing::FileOlder),
    }
    looked.judged(Rule::Intact, &About::Whole)
}
