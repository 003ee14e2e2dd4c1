//! The drives of a catalog by their names.

use crate::error::{by_short_name, nearest};

const OTHERS: &str = "`plimsoll drive list` shows them; a drive file of your own is given by its path, which ends with .toml";

/// Names that a drive can have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownDrives {
    pub names: Vec<String>,
    /// Kinds of drives (`nvme`), each standing for one of the names.
    pub kinds: Vec<DriveAlias>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriveAlias {
    pub alias: String,
    pub drive: String,
}

impl DriveAlias {
    pub fn new(alias: &str, drive: &str) -> Self {
        Self {
            alias: alias.to_owned(),
            drive: drive.to_owned(),
        }
    }
}

impl KnownDrives {
    /// The name of the drive of this name, of this kind, or with a part of its name that no other has.
    ///
    /// # Errors
    /// There is none, or several: what to do.
    pub fn full_name(&self, written: &str) -> Result<String, String> {
        if let Some(kind) = self.kinds.iter().find(|kind| kind.alias == written) {
            return Ok(kind.drive.clone());
        }
        let kinds = self.kinds.iter().map(|kind| kind.alias.as_str());
        let none = match nearest(written, kinds) {
            Some(kind) => format!("did you mean `{kind}`?"),
            None => OTHERS.to_owned(),
        };
        by_short_name(written, &self.names, |name| name, &none).cloned()
    }
}
