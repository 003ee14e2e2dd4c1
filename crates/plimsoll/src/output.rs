//! Files that commands write.

use std::fs::File;
use std::io::Write;
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

/// Writes a plan where nothing is.
pub fn write_new(path: &Path, text: &str) -> Result<(), Failure> {
    let written = File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| {
        Failure::usage(format!(
            "the plan {} cannot be written: {error}\nName another file.",
            path.display()
        ))
    })
}
