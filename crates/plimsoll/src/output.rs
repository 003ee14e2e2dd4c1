//! Files that commands write.

use std::path::Path;

use crate::failure::Failure;

/// Writes a file as a whole or not at all: beside it first, then renamed.
pub fn write_whole(path: &Path, text: &str) -> Result<(), Failure> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let written = std::fs::write(&part, text).and_then(|()| std::fs::rename(&part, path));
    written.map_err(|error| {
        // The part may not exist, which is what is wanted.
        let _ = std::fs::remove_file(&part);
        Failure::run(format!(
            "{} cannot be written: {error}\nGive another place with --output.",
            path.display()
        ))
    })
}
