//! Against a recorded output, others made after the format, and rubbish.

use proptest::prelude::*;

use super::*;

macro_rules! sample {
    ($name:literal) => {
        include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/data/doctor/",
            $name
        ))
    };
}

#[test]
fn an_nvme_drive() {
    let expected = Smart {
        source: "smartctl",
        model: Some("KINGSTON SEDC1500M960G".into()),
        firmware: Some("S67F0103".into()),
        passed: Some(true),
        critical_warning: Some(0),
        used_percent: Some(3),
        spare: Some((100, 10)),
        media_errors: Some(2),
        celsius: Some(31),
        ..Smart::default()
    };
    assert_eq!(smartctl(sample!("smartctl-nvme.json")), Ok(expected));
}

#[test]
fn a_sata_disk_that_fails() {
    let expected = Smart {
        source: "smartctl",
        model: Some("ST91000640NS".into()),
        firmware: Some("SN03".into()),
        rpm: Some(7200),
        passed: Some(false),
        reallocated: Some(3912),
        pending: Some(16),
        uncorrectable: Some(7),
        celsius: Some(27),
        write_cache: Some(true),
        failing: Some("Reallocated_Sector_Ct".into()),
        ..Smart::default()
    };
    assert_eq!(smartctl(sample!("smartctl-ata.json")), Ok(expected));
}

#[test]
fn a_sas_disk() {
    let smart = smartctl(sample!("smartctl-scsi.json")).unwrap();
    assert_eq!(
        (smart.model.as_deref(), smart.firmware.as_deref()),
        (Some("SEAGATE ST4000NM0043"), Some("MS03"))
    );
    assert_eq!(
        (smart.reallocated, smart.media_errors, smart.rpm),
        (Some(56), Some(4), Some(7200))
    );
}

#[test]
fn a_virtual_disk_as_recorded() {
    let error = smartctl(sample!("smartctl-virtio.json")).unwrap_err();
    assert_eq!(
        error,
        HealthFailure::error("/dev/vda: Unable to detect device type")
    );
}

#[test]
fn nvme_cli_of_both_versions() {
    let text = sample!("nvme-smart-log.json");
    let smart = nvme(text).unwrap();
    assert_eq!(
        (smart.passed, smart.critical_warning, smart.used_percent),
        (Some(false), Some(4), Some(12))
    );
    assert_eq!(
        (smart.spare, smart.media_errors, smart.celsius),
        (Some((97, 10)), Some(5), Some(49))
    );
    let newer = text.replace(
        "\"critical_warning\": 4",
        "\"critical_warning\": { \"value\": 4, \"ro\": 0 }",
    );
    let newer = newer.replace("\"media_errors\": 5", "\"media_errors\": \"5\"");
    assert_eq!(nvme(&newer), Ok(smart));
    assert_eq!(
        nvme("{}").unwrap_err().cause,
        HealthFault::NoCriticalWarning
    );
}

proptest! {
    #[test]
    fn rubbish_never_panics(text in "\\PC*", number in any::<i64>()) {
        prop_assert!(smartctl(&text).is_err() && nvme(&text).is_err());
        let _ = nvme(&format!("{{\"critical_warning\": {number}, \"temperature\": {number}}}"));
        let _ = smartctl(&format!("{{\"smart_status\": {number}, \"smartctl\": {{\"messages\": {number}}}}}"));
    }

    #[test]
    fn cut_or_changed_outputs_never_panic(at in 0_usize..3000, byte in any::<u8>()) {
        let files = [
            sample!("smartctl-nvme.json"), sample!("smartctl-ata.json"), sample!("smartctl-scsi.json"),
            sample!("smartctl-virtio.json"), sample!("nvme-smart-log.json"),
        ];
        for file in files {
            let mut bytes = file.as_bytes().to_vec();
            let at = at % bytes.len();
            bytes[at] = byte;
            let text = String::from_utf8_lossy(&bytes);
            let _ = (smartctl(&text), nvme(&text), smartctl(&file[..at]), nvme(&file[..at]));
        }
    }
}
