//! From evidence to findings: pure functions, one for each check.

mod array;
mod drive;
mod filesystem;
mod machine;
mod queue;
mod row;
mod sample;
mod sync;

use plimsoll_record::Diagnosis;

use super::evidence::{DiskEvidence, Machine, MediumEvidence};

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
pub fn medium(medium: &MediumEvidence) -> Vec<Diagnosis> {
    let mut found = Vec::new();
    found.extend(drive::use_of(medium));
    found.extend(drive::missing(medium));
    let checks: [fn(&DiskEvidence) -> Vec<Diagnosis>; 4] = [
        |disk| vec![drive::identity(disk)],
        drive::health,
        |disk| vec![drive::write_cache(disk)],
        |disk| vec![drive::power_loss(disk)],
    ];
    for check in checks {
        for disk in &medium.disks {
            found.extend(
                check(disk)
                    .into_iter()
                    .map(|own| on_disk(disk, medium, own)),
            );
        }
    }
    found.extend(array::arrays(medium));
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
fn on_disk(disk: &DiskEvidence, medium: &MediumEvidence, found: Diagnosis) -> Diagnosis {
    Diagnosis {
        disk: (medium.disks.len() > 1).then(|| disk.name.clone()),
        ..found
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::evidence::{BlockSample, DiskKind, NoHealth, Queue, VolumeEvidence};
    use plimsoll_record::DiagnosisLevel;
    use plimsoll_report::message::Messages;

    use super::*;
    use crate::device::evidence::StorageTarget;

    /// A quiet NVMe drive without faults.
    pub fn disk() -> DiskEvidence {
        DiskEvidence {
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

    pub fn medium_of(disk: DiskEvidence) -> MediumEvidence {
        MediumEvidence {
            target: StorageTarget::Directory("/srv".into()),
            in_use: None,
            device: Ok(VolumeEvidence {
                name: disk.name.clone(),
                queue: disk.queue.clone(),
                ..VolumeEvidence::default()
            }),
            disks: vec![disk],
            arrays: Vec::new(),
            mount: None,
            space: None,
            sample: Ok(BlockSample::default()),
            holes: None,
            noise: None,
            sync: None,
        }
    }

    /// The finding's code and arguments contain these.
    #[track_caller]
    pub fn assert_finding(finding: &Diagnosis, level: DiagnosisLevel, texts: &[&str]) {
        assert_eq!(finding.level, level, "{finding:?}");
        let advice = Messages::english().advice(finding);
        let needs_advice = level >= DiagnosisLevel::Warning;
        assert!(!needs_advice || !advice.is_empty(), "{finding:?}");
        let text = serde_json::to_string(finding).unwrap();
        for expected in texts {
            assert!(text.contains(expected), "{expected:?} is not in {text}");
        }
    }

    #[test]
    fn every_check_of_a_medium_gives_one_row_for_each_disk() {
        let mut medium = medium_of(disk());
        let codes = |medium: &MediumEvidence| {
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
        medium.disks.push(DiskEvidence {
            name: "nvme1n1".into(),
            ..disk()
        });
        let rows = super::medium(&medium);
        assert_eq!(rows.len(), expected.len() + 4);
        let disks = [&rows[0], &rows[1]].map(|row| row.disk.as_deref());
        assert_eq!(disks, [Some("nvme0n1"), Some("nvme1n1")]);
    }
}
