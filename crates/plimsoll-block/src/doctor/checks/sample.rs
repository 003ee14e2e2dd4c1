//! What the blocks hold that were read.

use plimsoll_record::Diagnosis;
use plimsoll_record::message::DoctorFinding;
use plimsoll_record::message::doctor::Unwritten;

use super::row::{ok, unknown, warning};
use crate::device::evidence::StorageTarget;
use crate::doctor::evidence::{Holes, MediumEvidence};

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
pub fn unwritten(medium: &MediumEvidence) -> Diagnosis {
    if let Some(Holes { size, holes }) = medium
        .holes
        .filter(|found| percent(found.holes.0, found.size.0) >= 1.0)
    {
        let found = DoctorFinding::Holes {
            holes_bytes: holes.0,
            size_bytes: size.0,
            share_percent: percent(holes.0, size.0),
        };
        return warning("unwritten", found);
    }
    let sample = match &medium.sample {
        Ok(sample) => sample,
        Err(unread) => return unknown("unwritten", (**unread).clone()),
    };
    let zero_percent = percent(u64::from(sample.zero), u64::from(sample.blocks));
    let state = match medium.target {
        _ if zero_percent < MANY => Unwritten::Written,
        StorageTarget::Directory(_) => Unwritten::MostlyZero,
        StorageTarget::Device(_) | StorageTarget::File(_) => Unwritten::NeverWritten,
    };
    let found = DoctorFinding::Unwritten {
        path: sample.of.clone(),
        state,
        blocks: sample.blocks,
        zero_percent,
        error_percent: error_of(zero_percent, sample.blocks),
        read_ns: sample.read.map(|time| time.0),
    };
    match state {
        Unwritten::NeverWritten => warning("unwritten", found),
        Unwritten::Written | Unwritten::MostlyZero => ok("unwritten", found),
    }
}

/// What the data there are like; a statement, unless nothing could be read.
pub fn entropy(medium: &MediumEvidence) -> Diagnosis {
    let sample = match &medium.sample {
        Ok(sample) => sample,
        Err(unread) => return unknown("entropy", (**unread).clone()),
    };
    let Some((bits_per_byte, saved)) = sample.entropy.zip(sample.compressible) else {
        let blocks = sample.blocks;
        return unknown("entropy", DoctorFinding::AllZero { blocks });
    };
    let found = DoctorFinding::Entropy {
        bits_per_byte,
        compressible_percent: 100.0 * saved,
        blocks: sample.blocks - sample.zero,
    };
    ok("entropy", found)
}

#[cfg(test)]
mod tests {
    use plimsoll_plan::units::{Bytes, Nanos};
    use plimsoll_record::DiagnosisLevel::{Ok as Good, Unknown, Warning};

    use super::super::tests::{assert_finding, disk, medium_of};
    use super::*;
    use crate::doctor::evidence::BlockSample;

    fn with(target: StorageTarget, zero: u32) -> MediumEvidence {
        let sample = BlockSample {
            of: "/dev/sda".into(),
            blocks: 100,
            zero,
            entropy: (zero < 100).then_some(6.25),
            compressible: (zero < 100).then_some(0.42),
            read: Some(Nanos::from_micros(8_310)),
        };
        MediumEvidence {
            target,
            sample: Ok(sample),
            ..medium_of(disk())
        }
    }

    #[test]
    fn blocks_that_nobody_wrote() {
        let device = || StorageTarget::Device("/dev/sda".into());
        assert_finding(
            &unwritten(&with(device(), 10)),
            Good,
            &[
                "/dev/sda",
                r#""state":"written","blocks":100,"zero_percent":10.0,"error_percent":6.0"#,
            ],
        );
        assert_finding(
            &unwritten(&with(device(), 80)),
            Warning,
            &["never_written", r#""zero_percent":80.0"#],
        );
        assert_finding(
            &unwritten(&with(StorageTarget::Directory("/srv".into()), 80)),
            Good,
            &["mostly_zero"],
        );
        let unread = MediumEvidence {
            sample: Err(Box::new(DoctorFinding::NoDeviceToRead)),
            ..with(device(), 0)
        };
        assert_finding(&unwritten(&unread), Unknown, &["no_device_to_read"]);
    }

    #[test]
    fn files_with_holes() {
        let of = |holes: u64| {
            let holes = Some(Holes {
                size: Bytes(1 << 20),
                holes: Bytes(holes),
            });
            unwritten(&MediumEvidence {
                holes,
                ..with(StorageTarget::File("/srv/x".into()), 0)
            })
        };
        assert_finding(
            &of(1 << 19),
            Warning,
            &[r#""holes_bytes":524288,"size_bytes":1048576,"share_percent":50.0"#],
        );
        assert_finding(&of(0), Good, &[r#""zero_percent":0.0"#]);
    }

    #[test]
    fn what_data_are_like() {
        assert_finding(
            &entropy(&with(StorageTarget::Directory("/srv".into()), 10)),
            Good,
            &[r#""bits_per_byte":6.25,"compressible_percent":42.0,"blocks":90"#],
        );
        assert_finding(
            &entropy(&with(StorageTarget::Directory("/srv".into()), 100)),
            Unknown,
            &["all_zero", "100"],
        );
        let unread = MediumEvidence {
            sample: Err(Box::new(DoctorFinding::NoDeviceToRead)),
            ..with(StorageTarget::Directory("/srv".into()), 0)
        };
        assert_finding(&entropy(&unread), Unknown, &["no_device_to_read"]);
    }
}
