//! The rule about the run file itself.

use super::looked::Looked;
use crate::audit::{About, Evidence, Judged, Missing, Next, Rule};
use crate::record::Integrity;
use crate::record::Severity::Error;

pub(super) fn judge(file: &Integrity) -> Judged {
    let mut looked = Looked::default();
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
