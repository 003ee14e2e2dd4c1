//! Keeping processors from sleeping while a drive is emulated.
//!
//! To wake a processor takes up to 50 µs in a virtual machine, now and then, so that no calibration meets it. As long as
//! /dev/cpu_dma_latency is open with a wish for 0 µs, idle processors poll instead (kernel documentation, "PM Quality of
//! Service Interface"). Only root may; others get what the machine gives.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

/// While it lives, processors stay awake.
#[derive(Debug)]
pub struct Awake {
    wish: Option<File>,
}

impl Awake {
    pub fn new() -> Self {
        Self::at(Path::new("/dev/cpu_dma_latency"))
    }

    fn at(device: &Path) -> Self {
        Self {
            wish: request_no_latency(device).ok(),
        }
    }

    /// Whether the kernel took the request.
    pub fn is_granted(&self) -> bool {
        self.wish.is_some()
    }
}

fn request_no_latency(device: &Path) -> std::io::Result<File> {
    let mut file = OpenOptions::new().write(true).open(device)?;
    file.write_all(&0i32.to_ne_bytes())?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn awish_is_four_bytes_of_zero() {
        let dir = tempfile::tempdir().unwrap();
        let device = dir.path().join("latency");
        assert!(
            !Awake::at(&device).is_granted(),
            "it is not made where it is missing"
        );
        std::fs::write(&device, "").unwrap();
        assert!(Awake::at(&device).is_granted());
        assert_eq!(std::fs::read(&device).unwrap(), [0; 4]);
    }
}
