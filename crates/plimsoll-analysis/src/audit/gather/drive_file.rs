//! The part of a recorded drive file that rules read. What the emulator makes of the whole file belongs to plimsoll-drive,
//! which this crate does not know.

use serde::Deserialize;

#[derive(Deserialize)]
struct RecordedDrive {
    capacity_gb: Option<StatedValue>,
    flash: Option<DriveMemory>,
    disk: Option<DriveMemory>,
}

#[derive(Deserialize)]
struct DriveMemory {
    buffer_mb: Option<StatedValue>,
}

/// A value with its origin.
#[derive(Deserialize)]
struct StatedValue {
    value: f64,
}

/// The memory of the drive; `None` where the file does not state it.
pub(super) fn buffer_mb(text: &str) -> Option<f64> {
    let RecordedDrive { flash, disk, .. } = toml::from_str(text).ok()?;
    let of_flash = flash.and_then(|memory| memory.buffer_mb);
    let stated = of_flash.or(disk.and_then(|memory| memory.buffer_mb))?;
    Some(stated.value)
}

/// In bytes.
pub(super) fn rated_capacity(text: &str) -> Option<f64> {
    let drive: RecordedDrive = toml::from_str(text).ok()?;
    Some(drive.capacity_gb?.value * 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_a_drive_is_read_from_either_kind() {
        let flash = "name = \"x\"\n[flash]\nbuffer_mb = { value = 512, source = \"stated\" }\n";
        assert_eq!(buffer_mb(flash), Some(512.0));
        assert_eq!(buffer_mb("[disk]\nbuffer_mb.value = 64.5"), Some(64.5));
        assert_eq!(buffer_mb("[flash]\n[disk]\nbuffer_mb.value = 1"), Some(1.0));
        assert_eq!(buffer_mb("[disk]\nrpm.value = 7200"), None);
        assert_eq!(buffer_mb("[disk]\nbuffer_mb.value = \"much\""), None);
        assert_eq!(buffer_mb("not a drive"), None);
    }

    #[test]
    fn the_capacity_is_that_of_the_file() {
        let text = "capacity_gb = { value = 1920, source = \"name\" }\n[flash]\n";
        assert_eq!(rated_capacity(text), Some(1.92e12));
        assert_eq!(rated_capacity("[flash]"), None);
    }
}
