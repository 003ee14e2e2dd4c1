//! What a path on the command line stands for: a run file, a set of runs, or a directory of run files.

use std::path::{Path, PathBuf};

use plimsoll_record::runfile::{self, RunFileError};

use crate::failure::Failure;
use crate::set::RunSet;

/// One argument of a command that reads runs.
pub enum RunArgument {
    File(PathBuf),
    Set(RunSet),
    /// Its run files by name, at least one; those of sets in it are not among them.
    Directory(Vec<PathBuf>),
}

impl RunArgument {
    pub fn open(path: &Path) -> Result<Self, Failure> {
        if RunSet::is_one(path) {
            return RunSet::open(path).map(Self::Set);
        }
        if !path.is_dir() {
            return Ok(Self::File(path.to_owned()));
        }
        let mut files = entries(path)?.files;
        files.retain(|file| !matches!(runfile::read_head(file), Err(RunFileError::Foreign { .. })));
        match files.is_empty() {
            false => Ok(Self::Directory(files)),
            true => Err(Failure::usage(format!(
                "{} holds no run file\nNames of run files end with .plimsoll.\nName a run file, a set of runs, or a directory with run files.",
                path.display()
            ))),
        }
    }

    /// All its run files that are there.
    pub fn files(self) -> Vec<PathBuf> {
        match self {
            Self::File(file) => vec![file],
            Self::Directory(files) => files,
            Self::Set(set) => {
                let cells = set.list.cells.iter().map(|cell| set.file(cell));
                cells.filter(|file| file.exists()).collect()
            }
        }
    }
}

/// Run files of a directory and of the sets in it, by name; a run file by itself.
pub fn run_files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let FoundEntries { mut files, sets } = entries(path)?;
    for set in sets {
        files.extend(run_files(&set)?);
    }
    files.sort();
    Ok(files)
}

struct FoundEntries {
    files: Vec<PathBuf>,
    sets: Vec<PathBuf>,
}

fn entries(dir: &Path) -> Result<FoundEntries, Failure> {
    let unlisted = |error: std::io::Error| {
        Failure::usage(format!(
            "{} cannot be listed: {error}\nName a directory with run files.",
            dir.display()
        ))
    };
    let mut found = FoundEntries {
        files: Vec::new(),
        sets: Vec::new(),
    };
    for entry in std::fs::read_dir(dir).map_err(unlisted)? {
        let entry = entry.map_err(unlisted)?;
        let path = entry.path();
        // A link may lead back here.
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if path.extension().is_some_and(|ext| ext == "plimsoll") && path.is_file() {
            found.files.push(path);
        } else if is_directory && RunSet::is_one(&path) {
            found.sets.push(path);
        }
    }
    found.files.sort();
    found.sets.sort();
    Ok(found)
}
