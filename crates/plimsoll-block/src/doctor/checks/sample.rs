//! What the blocks hold that were read.

use plimsoll_record::Diagnosis;

use super::{ok, unknown, warning};
use crate::device::evidence::Target;
use crate::doctor::evidence::{Holes, Medium, Sample, Unread};

/// Half of what is measured would not be the medium.
const MANY: f64 = 50.0;

fn percent(part: u64, of: u64) -> f64 {
    100.0 * part as f64 / of.max(1) as f64
}

/// How far off the share may be: two standard errors of a proportion, at most half.
fn error_of(share: f64, blocks: u32) -> f64 {
    let p = (share / 100.0).clamp(0.0, 1.0);
    200.0 * (p * (1.0 - p) / f64::from(blocks.max(1))).sqrt()
}

/// Parts of the medium that were never written: reading them costs a drive nothing.
pub fn unwritten(medium: &Medium) -> Diagnosis {
    const WRITE: &str = "Write all of it once before reads are measured (plimsoll's block jobs do, in files of their own).";
    if let Some(Holes { size, holes }) = medium
        .holes
        .filter(|found| percent(found.holes.0, found.size.0) >= 1.0)
    {
        let share = percent(holes.0, size.0);
        let found = format!(
            "{holes} of {size} ({share:.0} %) are holes: reading them touches no drive, writing them allocates first"
        );
        return warning("unwritten", found, WRITE);
    }
    let Sample {
        of,
        blocks,
        zero,
        read,
        ..
    } = match &medium.sample {
        Ok(sample) => sample,
        Err(Unread { why, next }) => return unknown("unwritten", why.clone(), next),
    };
    let share = percent(u64::from(*zero), u64::from(*blocks));
    let took = read
        .map(|time| format!("; a read took {:.2} ms", time.as_millis_f64()))
        .unwrap_or_default();
    let found = format!(
        "{share:.0} % (±{:.0}) of {blocks} blocks of {of} are zero{took}",
        error_of(share, *blocks)
    );
    match medium.target {
        _ if share < MANY => ok("unwritten", found),
        Target::Directory(_) => ok(
            "unwritten",
            format!(
                "{found}: a drive much of which is unwritten; first writes may have to allocate, and garbage collection has room"
            ),
        ),
        Target::Device(_) | Target::File(_) => warning(
            "unwritten",
            format!("{found}: probably never written, and read without touching the medium"),
            WRITE,
        ),
    }
}

/// What the data there are like; a statement, unless nothing could be read.
pub fn entropy(medium: &Medium) -> Diagnosis {
    let sample = match &medium.sample {
        Ok(sample) => sample,
        Err(Unread { why, next }) => return unknown("entropy", why.clone(), next),
    };
    let Some((bits, saved)) = sample.entropy.zip(sample.compressible) else {
        return unknown(
            "entropy",
            format!("all {} blocks that were read are zero", sample.blocks),
            "",
        );
    };
    let percent = 100.0 * saved;
    ok(
        "entropy",
        format!(
            "{bits:.1} bits a byte, about {percent:.0} % compressible, of {} blocks that are not zero",
            sample.blocks - sample.zero
        ),
    )
}

#[cfg(test)]
mod tests {
    use plimsoll_plan::units::{Bytes, Nanos};
    use plimsoll_record::DiagnosisLevel::{Ok as Good, Unknown, Warning};

    use super::super::tests::{assert_finding, disk, medium_of};
    use super::*;

    fn with(target: Target, zero: u32) -> Medium {
        let sample = Sample {
            of: "/dev/sda".into(),
            blocks: 100,
            zero,
            entropy: (zero < 100).then_some(6.25),
            compressible: (zero < 100).then_some(0.42),
            read: Some(Nanos::from_micros(8_310)),
        };
        Medium {
            target,
            sample: Ok(sample),
            ..medium_of(disk())
        }
    }

    #[test]
    fn blocks_that_nobody_wrote() {
        let device = || Target::Device("/dev/sda".into());
        assert_finding(
            &unwritten(&with(device(), 10)),
            Good,
            &["10 % (±6) of 100 blocks of /dev/sda", "8.31 ms"],
        );
        assert_finding(
            &unwritten(&with(device(), 80)),
            Warning,
            &["80 %", "Write all of it once"],
        );
        assert_finding(
            &unwritten(&with(Target::Directory("/srv".into()), 80)),
            Good,
            &["first writes may have to allocate"],
        );
        let unread = |why: &str, next| {
            Err(Unread {
                why: why.into(),
                next,
            })
        };
        let unread = Medium {
            sample: unread("it cannot be read", "Run as root."),
            ..with(device(), 0)
        };
        assert_finding(
            &unwritten(&unread),
            Unknown,
            &["cannot be read", "Run as root"],
        );
    }

    #[test]
    fn files_with_holes() {
        let of = |holes: u64| {
            let holes = Some(Holes {
                size: Bytes(1 << 20),
                holes: Bytes(holes),
            });
            unwritten(&Medium {
                holes,
                ..with(Target::File("/srv/x".into()), 0)
            })
        };
        assert_finding(
            &of(1 << 19),
            Warning,
            &["512.0 KiB of 1.0 MiB (50 %) are holes"],
        );
        assert_finding(&of(0), Good, &["0 %"]);
    }

    #[test]
    fn what_data_are_like() {
        assert_finding(
            &entropy(&with(Target::Directory("/srv".into()), 10)),
            Good,
            &["6.2 bits", "42 % compressible", "of 90 blocks"],
        );
        assert_finding(
            &entropy(&with(Target::Directory("/srv".into()), 100)),
            Unknown,
            &["all 100 blocks"],
        );
        let none = Unread {
            why: "no device".into(),
            next: "",
        };
        let unread = Medium {
            sample: Err(none),
            ..with(Target::Directory("/srv".into()), 0)
        };
        assert_finding(&entropy(&unread), Unknown, &["no device"]);
    }
}
