//! A drive file, resolved: every figure that the model needs.
//!
//! [`file`] is the file as it is written, [`figure`] one figure with its source; `check` finds what is wrong with a file
//! and derives from the data sheet what need not be stated twice.

mod check;
mod drive;
pub mod figure;
pub mod file;
mod mechanism;
pub mod parameters;
mod resolve;
mod sheet;

use plimsoll_plan::PlanErrors;

use file::DriveFile;

pub use drive::DriveSpec;
pub use mechanism::{DiskSpec, FlashSpec, Latency, Mechanism, VolumeSpec, Watts, WriteCache};
pub use sheet::{SheetPoint, Stated};

impl DriveSpec {
    /// Reads a drive file.
    ///
    /// # Errors
    /// Everything that is wrong with it, with places in the text.
    pub fn parse(id: &str, text: &str) -> Result<Self, PlanErrors> {
        check::checked(text).map(|file| resolve::resolve(id, file))
    }

    /// The same drive, all of whose times are so many times as long, so that the ratios between its operations, and to
    /// another drive slowed as much, stay what they are. A machine that answers some microseconds late distorts a drive
    /// of 2 ms that much less than one of 80 µs (time dilation: Gupta et al., To Infinity and Beyond: Time-Warped
    /// Network Emulation, NSDI 2006).
    #[must_use]
    pub fn slower(self, times: f64) -> Self {
        let slower = Some(self.file.slower.unwrap_or(1.0) * times).filter(|times| *times != 1.0);
        resolve::resolve(
            &self.id,
            DriveFile {
                slower,
                ..self.file
            },
        )
    }

    /// A drive of an array or a cluster; a drive by itself is its only one.
    pub fn drive(&self, number: u32) -> &Self {
        let turn = self.assembly.as_ref().map_or(0, |own| own.turn(number));
        let drive = self.drives.get(turn as usize).or(self.drives.last());
        drive.unwrap_or(self)
    }

    /// Its file's text.
    pub fn to_toml(&self) -> String {
        self.file.to_toml()
    }

    /// Keys of the figures without a published source: unverified, or assumed.
    pub fn unverified(&self) -> Vec<&'static str> {
        let mut keys: Vec<_> = self
            .file
            .figures()
            .iter()
            .filter(|entry| !entry.figure.is_verified())
            .map(|entry| entry.key)
            .collect();
        if matches!(
            self.file.write_cache.source.as_str(),
            figure::UNVERIFIED | figure::ASSUMED
        ) {
            keys.push("write_cache");
        }
        keys
    }
}

#[cfg(test)]
mod tests;
