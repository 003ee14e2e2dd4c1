//! Facts about a block device.

use plimsoll_block::host::chosen;
use plimsoll_block::host::device::{BlockDevice, names_in};
use plimsoll_block::host::source::KernelFiles;
use plimsoll_plan::units::Bytes;

use super::FactCollector;

/// Facts about the whole disk: model, vendor, firmware, size, rotational, scheduler, nr_requests, write_cache, fua,
/// block sizes, read_ahead_kb, numa_node; where it has them, transport, made_of (devices below), backing_file (loop),
/// raid_level (md), mapped_name (dm).
pub fn device_facts(device: &BlockDevice) -> Vec<(String, String)> {
    facts_at(&KernelFiles::new("/"), device.disk())
}

fn facts_at(source: &KernelFiles, disk: &BlockDevice) -> Vec<(String, String)> {
    let at = |path: &str| format!("sys/dev/block/{}:{}/{path}", disk.major, disk.minor);
    let mut facts = FactCollector::new(source);
    facts.add("name", Some(disk.name.clone()));
    // SCSI and ATA keep these with the device; NVMe with its controller, to which `device` leads, too.
    facts.file("model", &[&at("device/model")]);
    facts.file(
        "vendor",
        &[&at("device/vendor"), &at("device/device/vendor")],
    );
    facts.file("firmware", &[&at("device/firmware_rev"), &at("device/rev")]);
    // 512-byte sectors, whatever the device's.
    let sectors = facts
        .text(&at("size"))
        .and_then(|text| text.parse::<u64>().ok());
    facts.add(
        "size",
        sectors
            .and_then(|sectors| sectors.checked_mul(512))
            .map(|bytes| Bytes(bytes).to_string()),
    );
    let rotational = facts.text(&at("queue/rotational"));
    facts.add("rotational", rotational);
    let scheduler = facts.text(&at("queue/scheduler")).map(|text| chosen(&text));
    facts.add("scheduler", scheduler);
    for key in [
        "nr_requests",
        "write_cache",
        "fua",
        "logical_block_size",
        "physical_block_size",
        "read_ahead_kb",
    ] {
        facts.file(key, &[&at(&format!("queue/{key}"))]);
    }
    facts.file(
        "numa_node",
        &[&at("device/numa_node"), &at("device/device/numa_node")],
    );
    let some = [
        ("transport", "device/transport"),
        ("backing_file", "loop/backing_file"),
        ("raid_level", "md/level"),
        ("mapped_name", "dm/name"),
    ];
    for (key, path) in some {
        if let Some(value) = facts.text(&at(path)) {
            facts.add(key, Some(value));
        }
    }
    let below = names_in(&source.path(&at("slaves")));
    if !below.is_empty() {
        facts.add("made_of", Some(below.join(", ")));
    }
    facts.finish()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use plimsoll_block::host::device::{device_at, device_of};

    use plimsoll_record::message::doctor::NoDeviceCause;

    use super::*;

    /// An NVMe drive with a partition, and a mapped device on it, as sysfs shows them.
    fn recorded() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let file = |path: &str, text: &str| {
            let path = root.path().join("sys").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let controller = "devices/pci0000:00/nvme/nvme0";
        let disk = format!("{controller}/nvme0n1");
        file(
            &format!("{controller}/model"),
            "KINGSTON SEDC1500M960G                  \n",
        );
        file(&format!("{controller}/firmware_rev"), "S67F0103\n");
        file(&format!("{controller}/serial"), "50026B7282D0FFFF\n");
        file(&format!("{controller}/transport"), "pcie\n");
        file(&format!("{controller}/numa_node"), "0\n");
        file(&format!("{disk}/dev"), "259:0\n");
        file(&format!("{disk}/size"), "1875385008\n");
        file(&format!("{disk}/queue/rotational"), "0\n");
        file(&format!("{disk}/queue/scheduler"), "[none] mq-deadline\n");
        file(&format!("{disk}/queue/nr_requests"), "1023\n");
        file(&format!("{disk}/queue/write_cache"), "write through\n");
        file(&format!("{disk}/queue/fua"), "1\n");
        file(&format!("{disk}/queue/logical_block_size"), "512\n");
        file(&format!("{disk}/queue/physical_block_size"), "4096\n");
        file(&format!("{disk}/nvme0n1p2/partition"), "2\n");
        file("devices/virtual/block/dm-0/dm/name", "vg-data\n");
        file("devices/virtual/block/dm-0/slaves/nvme0n1p2", "");
        fs::create_dir_all(root.path().join("sys/dev/block")).unwrap();
        let link = |target: &str, number: &str| {
            symlink(
                format!("../../{target}"),
                root.path().join("sys/dev/block").join(number),
            )
            .unwrap();
        };
        symlink(
            "../../nvme0",
            root.path().join("sys").join(&disk).join("device"),
        )
        .unwrap();
        link(&disk, "259:0");
        link(&format!("{disk}/nvme0n1p2"), "259:2");
        link("devices/virtual/block/dm-0", "253:0");
        root
    }

    fn shown(source: &KernelFiles, device: &BlockDevice) -> Vec<String> {
        facts_at(source, device.disk())
            .iter()
            .map(|(key, value)| format!("{key} = {value}"))
            .collect()
    }

    #[test]
    fn a_partition_is_known_by_its_disk() {
        let root = recorded();
        let source = KernelFiles::new(root.path());
        let partition = device_at(&source, 259, 2).unwrap();
        assert_eq!(
            (partition.name.as_str(), partition.disk().name.as_str()),
            ("nvme0n1p2", "nvme0n1")
        );
        assert_eq!(partition.disk(), &device_at(&source, 259, 0).unwrap());
        let expected = [
            "name = nvme0n1",
            "model = KINGSTON SEDC1500M960G",
            "firmware = S67F0103",
            "size = 894.3 GiB",
            "rotational = 0",
            "scheduler = none",
            "nr_requests = 1023",
            "write_cache = write through",
            "fua = 1",
            "logical_block_size = 512",
            "physical_block_size = 4096",
            "numa_node = 0",
            "transport = pcie",
            "unreadable = vendor, read_ahead_kb",
        ];
        assert_eq!(shown(&source, &partition), expected);
    }

    #[test]
    fn a_mapped_device_lists_its_parts() {
        let root = recorded();
        let source = KernelFiles::new(root.path());
        let facts = shown(&source, &device_at(&source, 253, 0).unwrap());
        assert!(facts.contains(&"mapped_name = vg-data".into()), "{facts:?}");
        assert!(facts.contains(&"made_of = nvme0n1p2".into()), "{facts:?}");
        assert_eq!(device_at(&source, 7, 0), None);
    }

    #[test]
    fn what_is_in_memory_has_no_device() {
        let none = device_of(Path::new("/proc")).unwrap_err();
        assert_eq!(
            (none.cause, none.what.as_str()),
            (NoDeviceCause::NotOnDevice, "proc")
        );
    }

    #[test]
    fn the_device_of_this_directory_has_facts_or_a_reason() {
        match device_of(Path::new(".")) {
            Ok(device) => {
                let facts = device_facts(&device);
                assert!(facts.iter().any(|(key, _)| key == "size"), "{facts:?}");
                assert!(facts.iter().all(|(key, _)| key != "serial"));
            }
            Err(none) => assert!(none.cause != NoDeviceCause::Error, "{none:?}"),
        }
    }
}
