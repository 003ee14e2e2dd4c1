//! Sizes of the files that workers read and write.

use crate::findings::Findings;
use crate::raw::LEAST_FILE;
use crate::size::{LARGEST, write};
use crate::units::Bytes;
use crate::value::{At, RawSize};

/// Reports a file that is too small for jobs of the plan.
pub fn check(size: &At<RawSize>, findings: &mut Findings<'_>) {
    if size.value().0 < LEAST_FILE {
        let message = format!("`size` cannot be {}", write(size.value()));
        let help = format!("{} at least", write(Bytes(LEAST_FILE)));
        findings.error(size.span(), message, help);
    }
}

/// Whole MiB, so that every usual size of requests divides it, within the sizes that a plan may state.
pub fn scaled(size: Bytes, factor: f64) -> Bytes {
    let mebibyte = Bytes::mib(1).0;
    let mebibytes = if factor == 1.0 {
        size.0 / mebibyte
    } else {
        (size.0 as f64 * factor) as u64 / mebibyte
    };
    // Whatever the factor, sums of sizes do not overflow.
    Bytes(mebibytes.min(LARGEST.0 / mebibyte) * mebibyte).max(Bytes(LEAST_FILE))
}
