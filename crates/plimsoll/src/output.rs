//! Files that commands write.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// A file that has its name only once it is complete: until then it lies beside it, and is removed when this is dropped.
pub struct WholeFile {
    path: PathBuf,
    part: PathBuf,
    file: BufWriter<File>,
    is_complete: bool,
}

impl WholeFile {
    pub fn create(path: &Path) -> Result<Self, Failure> {
        let mut part = path.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let file = File::create(&part).map_err(|error| not_written(path, &error))?;
        Ok(Self {
            path: path.into(),
            part,
            file: BufWriter::new(file),
            is_complete: false,
        })
    }

    pub fn finish(mut self) -> Result<(), Failure> {
        let written = self
            .file
            .flush()
            .and_then(|()| std::fs::rename(&self.part, &self.path));
        self.is_complete = written.is_ok();
        written.map_err(|error| not_written(&self.path, &error))
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if !self.is_complete {
            // The part may not exist, which is what is wanted.
            let _ = std::fs::remove_file(&self.part);
        }
    }
}

/// Why a file does not exist now.
pub fn not_written(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::run(format!(
        "{} cannot be written: {error}\nGive another place with --output.",
        path.display()
    ))
}

/// Writes a file as a whole or not at all.
pub fn write_whole(path: &Path, text: &str) -> Result<(), Failure> {
    let mut file = WholeFile::create(path)?;
    file.write_all(text.as_bytes())
        .map_err(|error| not_written(path, &error))?;
    file.finish()
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
