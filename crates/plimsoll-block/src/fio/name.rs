//! Names of files and devices as fio's options take them.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::BlockError;

/// A name that fio reads as it is written.
///
/// fio ends a value at `#` and `;` and takes blanks from its ends (`strip_blank_end` in `parse.c`), ends a name at `:`
/// unless a backslash is before it (`get_next_str`), and takes `-` for its standard streams. A file in a directory of
/// plimsoll's own is named relative to it, and fio runs there; whatever else fio works on is checked here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FioName(String);

impl FioName {
    /// # Errors
    /// fio would read another name.
    pub fn new(path: &Path) -> Result<Self, BlockError> {
        let refused = |why: String| BlockError::Refused {
            path: path.into(),
            why: vec![why],
            next: "Rename it, or give another name that leads there.".into(),
        };
        let Some(name) = path.to_str() else {
            return Err(refused("its name is not UTF-8".into()));
        };
        if name.is_empty() || name.starts_with(['-', ' ']) || name.ends_with(' ') {
            return Err(refused("fio reads such a name as something else".into()));
        }
        let is_plain = |c: &char| c.is_alphanumeric() || "/._-+@=,~% :".contains(*c);
        match name.chars().find(|c| !is_plain(c)) {
            Some(sign) => Err(refused(format!(
                "its name has {sign:?} in it, which fio does not read as it is"
            ))),
            None => Ok(Self(name.replace(':', "\\:"))),
        }
    }

    /// Without fio's escapes.
    pub fn path(&self) -> PathBuf {
        self.0.replace("\\:", ":").into()
    }
}

impl fmt::Display for FioName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
