//! Keys that block workloads and profiles have: workers, the size of files and how they are filled.

use std::ops::RangeInclusive;

use crate::findings::Findings;
use crate::resolve::values::size;
use crate::size as sizes;
use crate::units::Bytes;
use crate::value::{At, RawSize};

pub(super) const MOST_WORKERS: u32 = 256;

/// Less is in some drives' own memory as a whole.
const LEAST_SIZE: Bytes = Bytes::mib(64);

const FILLS: RangeInclusive<f64> = 0.0..=100.0;

pub(super) fn file_size(
    written: &At<RawSize>,
    factor: f64,
    findings: &mut Findings<'_>,
) -> Option<Bytes> {
    let size = size(written, findings)?;
    if size < LEAST_SIZE {
        let help = format!("{} at least", sizes::write(LEAST_SIZE));
        findings.error(
            written.span(),
            format!("a file of {} is too small", sizes::write(size)),
            help,
        );
        return None;
    }
    Some(scaled(size, factor))
}

/// Whole MiB, so that every usual size of requests divides it.
pub(super) fn scaled(size: Bytes, factor: f64) -> Bytes {
    let mebibyte = Bytes::mib(1).0;
    let mebibytes = if factor == 1.0 {
        size.0 / mebibyte
    } else {
        (size.0 as f64 * factor) as u64 / mebibyte
    };
    // Whatever the factor, sums of sizes do not overflow.
    Bytes(mebibytes.min(sizes::LARGEST.0 / mebibyte) * mebibyte).max(LEAST_SIZE)
}

pub(super) fn fill(written: &At<f64>, findings: &mut Findings<'_>) -> Option<f64> {
    let fill = *written.get();
    if !FILLS.contains(&fill) {
        let help = "how often each file is written before the first job: 0 to 100";
        findings.error(written.span(), format!("`fill` cannot be {fill}"), help);
        return None;
    }
    // Not -0.0, which reads oddly.
    Some(fill.abs())
}
