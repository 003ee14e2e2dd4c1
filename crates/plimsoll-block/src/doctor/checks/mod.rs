//! From evidence to findings: pure functions, one for each check.

mod drive;
mod filesystem;
mod machine;
mod queue;
mod sample;
mod sync;

use plimsoll_record::{Diagnosis, DiagnosisLevel};

use super::evidence::{Disk, Machine, Medium};

/// Everything about the machine.
pub fn machine(machine: &Machine) -> Vec<Diagnosis> {
    let found = [
        Some(machine::governor(machine)),
        machine::busy(machine),
        Some(machine::steal(machine)),
    ];
    found
        .into_iter()
        .flatten()
        .chain([machine::clock_source(machine)])
        .collect()
}

/// Everything about a medium, in the order in which a person would check it.
pub fn medium(medium: &Medium) -> Vec<Diagnosis> {
    let mut found = Vec::new();
    found.extend(drive::use_of(medium));
    found.extend(drive::missing(medium));
    for check in [
        drive::identity,
        drive::health,
        drive::write_cache,
        drive::power_loss,
    ] {
        let each: Vec<Diagnosis> = medium
            .disks
            .iter()
            .map(|disk| named(disk, medium, check(disk)))
            .collect();
        found.extend(each);
    }
    if let Ok(device) = &medium.device {
        found.push(queue::scheduler(device, &medium.disks));
        found.push(queue::queue(device, &medium.disks));
        found.push(queue::alignment(device, medium.space.as_ref()));
    }
    found.extend(filesystem::filesystem(medium));
    found.extend(filesystem::mount_options(medium));
    found.extend(filesystem::space(medium));
    found.push(sample::unwritten(medium));
    found.push(sample::entropy(medium));
    found.extend(queue::noise(medium));
    found.extend(sync::fsync(medium));
    found
}

/// Names the disk where there are several.
fn named(disk: &Disk, medium: &Medium, mut finding: Diagnosis) -> Diagnosis {
    if medium.disks.len() > 1 {
        finding.found = format!("{}: {}", disk.name, finding.found);
    }
    finding
}

/// A whole number with its thousands apart.
fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let from = digits.len();
    digits
        .chars()
        .enumerate()
        .map(|(i, digit)| {
            if i > 0 && (from - i).is_multiple_of(3) {
                format!(",{digit}")
            } else {
                digit.into()
            }
        })
        .collect()
}

fn finding(level: DiagnosisLevel, code: &str, found: impl Into<String>, next: &str) -> Diagnosis {
    Diagnosis {
        subject: None,
        code: code.into(),
        level,
        found: found.into(),
        next: next.into(),
    }
}

fn ok(code: &str, found: impl Into<String>) -> Diagnosis {
    finding(DiagnosisLevel::Ok, code, found, "")
}

fn unknown(code: &str, found: impl Into<String>, next: &str) -> Diagnosis {
    finding(DiagnosisLevel::Unknown, code, found, next)
}

fn warning(code: &str, found: impl Into<String>, next: &str) -> Diagnosis {
    finding(DiagnosisLevel::Warning, code, found, next)
}

fn error(code: &str, found: impl Into<String>, next: &str) -> Diagnosis {
    finding(DiagnosisLevel::Error, code, found, next)
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::evidence::{Device, DiskKind, NoHealth, Queue, Sample};
    use super::*;
    use crate::device::evidence::Target;

    /// A quiet NVMe drive without faults.
    pub fn disk() -> Disk {
        Disk {
            name: "nvme0n1".into(),
            kind: DiskKind::Nvme,
            vendor: None,
            model: Some("KINGSTON SEDC1500M960G".into()),
            firmware: Some("S67F0103".into()),
            transport: Some("pcie".into()),
            size: Some(plimsoll_plan::units::Bytes(960_197_124_096)),
            queue: queue(),
            cache_type: None,
            direct: None,
            health: Err(NoHealth::NotInstalled("smartctl")),
            known: None,
        }
    }

    pub fn queue() -> Queue {
        Queue {
            scheduler: Some("none".into()),
            nr_requests: Some(1023),
            max_sectors_kb: Some(1280),
            max_hw_sectors_kb: Some(2048),
            rotational: Some(false),
            logical_block_size: Some(512),
            physical_block_size: Some(4096),
            iostats: Some(true),
            write_cache: Some("write back".into()),
            fua: Some(true),
        }
    }

    pub fn medium_of(disk: Disk) -> Medium {
        Medium {
            target: Target::Directory("/srv".into()),
            in_use: None,
            device: Ok(Device {
                name: disk.name.clone(),
                queue: disk.queue.clone(),
                ..Device::default()
            }),
            disks: vec![disk],
            mount: None,
            space: None,
            sample: Ok(Sample::default()),
            holes: None,
            noise: None,
            sync: None,
        }
    }

    #[track_caller]
    pub fn assert_finding(finding: &Diagnosis, level: DiagnosisLevel, texts: &[&str]) {
        assert_eq!(finding.level, level, "{finding:?}");
        let text = format!("{} {}", finding.found, finding.next);
        for expected in texts {
            assert!(
                text.contains(expected),
                "{expected:?} is not in {finding:?}"
            );
        }
        let needs_advice = matches!(level, DiagnosisLevel::Warning | DiagnosisLevel::Error);
        assert!(
            !needs_advice || !finding.next.is_empty(),
            "what to do: {finding:?}"
        );
    }

    #[test]
    fn numbers_are_readable() {
        let shown = [0.4, 999.0, 1000.0, 1234567.0].map(grouped);
        assert_eq!(shown, ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn every_check_of_a_medium_gives_one_row_for_each_disk() {
        let mut medium = medium_of(disk());
        let codes = |medium: &Medium| {
            super::medium(medium)
                .into_iter()
                .map(|row| row.code)
                .collect::<Vec<_>>()
        };
        let one = codes(&medium);
        let expected = [
            "drive",
            "health",
            "write_cache",
            "power_loss",
            "scheduler",
            "queue",
            "alignment",
            "unwritten",
            "entropy",
        ];
        assert_eq!(one, expected);
        medium.disks.push(Disk {
            name: "nvme1n1".into(),
            ..disk()
        });
        let rows = super::medium(&medium);
        assert_eq!(rows.len(), expected.len() + 4);
        assert!(rows[0].found.starts_with("nvme0n1: ") && rows[1].found.starts_with("nvme1n1: "));
    }
}
