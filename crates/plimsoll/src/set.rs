//! A set of runs: a directory with a plan, a list of its cells, and a run file for each cell that ran.
//!
//! The list is written before the first cell and never changed; what became of a cell is in its run file, so that a set
//! that was interrupted goes on where it stopped. Several hosts may run cells of one set: each cell has a lock, and the
//! speed of emulated drives is that of the first who wrote it.

mod lock;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use plimsoll_plan::resolved::redact;
use plimsoll_plan::{Matrix, Options};
use plimsoll_record::{Record, RunStatus};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::output::{rename_new, write_whole};
use crate::output_kind::OutputKind;
use crate::part_dir::PartDir;
use crate::speed::ChosenSpeed;
pub use lock::CellLock;
use plimsoll_record::runfile::{self, RunFileError};

const LIST: &str = "set.json";
const PLAN: &str = "plan.toml";
const SPEED: &str = "speed.json";
const FORMAT: u32 = 1;
const LONGEST_LABEL: usize = 80;

/// Content of `set.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SetList {
    pub format: u32,
    pub title: String,
    pub scale: f64,
    pub data_scale: f64,
    pub seed: Option<u64>,
    pub axes: Vec<SetAxis>,
    /// In the order in which they run.
    pub cells: Vec<SetCell>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetAxis {
    pub name: String,
    pub key: String,
    pub values: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetCell {
    /// Name of the run file in the set's directory.
    pub file: String,
    pub repeat: u32,
    /// Place of the value on each axis.
    pub choice: Vec<usize>,
}

/// A set's directory.
#[derive(Debug)]
pub struct RunSet {
    pub path: PathBuf,
    pub list: SetList,
}

impl SetList {
    pub fn new(title: &str, matrix: &Matrix, options: &Options) -> Self {
        let axes = matrix.axes.iter();
        let file = |number: usize, choice: &[usize]| {
            let label: String = matrix.label(choice).chars().take(LONGEST_LABEL).collect();
            format!(
                "{:03}-{}.plimsoll",
                number + 1,
                label
                    .replace(", ", ",")
                    .chars()
                    .map(|c| {
                        if c.is_alphanumeric() || "-_=.".contains(c) {
                            c
                        } else {
                            '_'
                        }
                    })
                    .collect::<String>()
            )
        };
        let cells = matrix
            .cells
            .iter()
            .enumerate()
            .map(|(number, cell)| SetCell {
                file: file(number, &cell.choice),
                repeat: cell.repeat,
                choice: cell.choice.clone(),
            });
        Self {
            format: FORMAT,
            title: title.into(),
            scale: options.scale,
            data_scale: options.data_scale,
            seed: options.seed,
            axes: axes
                .map(|axis| SetAxis {
                    name: axis.name.clone(),
                    key: axis.key.clone(),
                    values: axis.values.clone(),
                })
                .collect(),
            cells: cells.collect(),
        }
    }

    /// `memory=1GiB, drive=…`.
    pub fn label(&self, cell: &SetCell) -> String {
        self.axes
            .iter()
            .zip(&cell.choice)
            .map(|(axis, place)| {
                format!(
                    "{}={}",
                    axis.name,
                    axis.values.get(*place).map_or("?", String::as_str)
                )
            })
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// `cell 3 of 12: memory=1GiB`; cells are counted from 1.
    pub fn name(&self, number: usize) -> String {
        let label = self.label(&self.cells[number - 1]);
        format!("cell {number} of {}: {label}", self.cells.len())
    }
}

impl RunSet {
    /// Makes the directory, which must not exist. Others see it with all its files or not at all.
    pub fn create(path: &Path, list: SetList, plan: &str) -> Result<Self, Failure> {
        if path.symlink_metadata().is_ok() {
            return Err(cannot_make(path, &std::io::ErrorKind::AlreadyExists.into()));
        }
        let part = PartDir::beside(path).map_err(|error| cannot_make(path, &error))?;
        let set = part.path().join("set");
        fs::create_dir(&set).map_err(|error| cannot_make(path, &error))?;
        write_set(&set, &list, plan)?;
        rename_new(&set, path).map_err(|error| cannot_make(path, &error))?;
        Ok(Self {
            path: path.into(),
            list,
        })
    }

    /// The set in the directory, or a new one there: of several processes that begin a set, one makes it.
    pub fn open_or_create(path: &Path, list: SetList, plan: &str) -> Result<Self, Failure> {
        if !Self::is_one(path) {
            let made = Self::create(path, list, plan);
            if made.is_ok() || !Self::is_one(path) {
                return made;
            }
        }
        Self::open(path)
    }

    /// Whether a directory is a set.
    pub fn is_one(path: &Path) -> bool {
        path.join(LIST).is_file()
    }

    pub fn open(path: &Path) -> Result<Self, Failure> {
        let file = path.join(LIST);
        let refuse =
            |why: String| Failure::usage(format!("{} is not a set of runs: {why}", path.display()));
        let text = fs::read_to_string(&file).map_err(|error| refuse(format!("{LIST}: {error}")))?;
        let list: SetList =
            serde_json::from_str(&text).map_err(|error| refuse(format!("{LIST}: {error}")))?;
        if list.format != FORMAT {
            return Err(refuse(format!(
                "{LIST} has format {}; this plimsoll reads {FORMAT}",
                list.format
            )));
        }
        Ok(Self {
            path: path.into(),
            list,
        })
    }

    /// Whether the set is of this plan under these options.
    pub fn expect(&self, list: &SetList, plan: &str) -> Result<(), Failure> {
        let same_plan = fs::read_to_string(self.path.join(PLAN)).is_ok_and(|text| text == plan);
        if same_plan && self.list == *list {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "{} was begun with another plan, scale or seed\nGive the plan that lies in it and the same options, or begin \
             a new set without --resume.",
            self.path.display()
        )))
    }

    pub fn file(&self, cell: &SetCell) -> PathBuf {
        self.path.join(&cell.file)
    }

    /// The plan as it was written.
    pub fn plan(&self) -> PathBuf {
        self.path.join(PLAN)
    }

    /// Takes the right to run a cell, which no other process has.
    pub fn lock(&self, cell: &SetCell) -> Result<CellLock, Failure> {
        CellLock::take(&self.lock_file(cell))
    }

    /// Whether a process runs the cell, or was killed while it did. Its run file is not read meanwhile: SQLite's WAL is for
    /// the processes of one host.
    pub fn may_run(&self, cell: &SetCell) -> bool {
        self.lock_file(cell).exists()
    }

    fn lock_file(&self, cell: &SetCell) -> PathBuf {
        self.file(cell).with_extension("lock")
    }

    /// Status in the cell's run file; none without a readable one.
    pub fn status(&self, cell: &SetCell) -> Option<RunStatus> {
        let path = self.file(cell);
        let head = path.exists().then(|| runfile::read_head(&path));
        head?.ok().map(|head| head.run.status)
    }

    /// The speed at which emulated drives run in all cells, once it was chosen.
    pub fn speed(&self) -> Result<Option<ChosenSpeed>, Failure> {
        let path = self.path.join(SPEED);
        match fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text)
                .map(Some)
                .map_err(|error| cannot_read(&path, &error.to_string())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(cannot_read(&path, &error.to_string())),
        }
    }

    /// Writes the speed for all cells; the one that another process has written before, if there is one.
    pub fn agree_on_speed(&self, chosen: ChosenSpeed) -> Result<ChosenSpeed, Failure> {
        let path = self.path.join(SPEED);
        let text =
            serde_json::to_string(&chosen).map_err(|error| Failure::run(error.to_string()))?;
        let written = write_whole(&path, &text, &OutputKind::New);
        match self.speed()? {
            Some(speed) => Ok(speed),
            None => written.map(|()| chosen),
        }
    }

    /// The complete run of a cell; none for one that is not complete, or has not run.
    pub fn complete(&self, cell: &SetCell) -> Result<Option<Record>, Failure> {
        let path = self.file(cell);
        if !path.exists() {
            return Ok(None);
        }
        match runfile::read(&path) {
            Ok(record) => Ok((record.run.status == RunStatus::Complete).then_some(record)),
            // Its run was killed before it wrote its tables.
            Err(RunFileError::Foreign { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Puts the file of a cell that is not complete aside, so that the cell can run again.
    pub fn put_aside(&self, cell: &SetCell) -> Result<(), Failure> {
        let path = self.file(cell);
        if path.exists() {
            put_aside(&path)?;
        }
        Ok(())
    }
}

fn write_set(dir: &Path, list: &SetList, plan: &str) -> Result<(), Failure> {
    let text =
        serde_json::to_string_pretty(list).map_err(|error| Failure::run(error.to_string()))?;
    let file = dir.join(PLAN);
    write_whole(&file, plan, &OutputKind::New)?;
    if redact(plan) != plan {
        // It is kept as it was written, since cells run it: others may not read its password.
        let private = fs::Permissions::from_mode(0o600);
        fs::set_permissions(&file, private).map_err(|error| cannot_make(dir, &error))?;
    }
    write_whole(&dir.join(LIST), &text, &OutputKind::New)
}

fn cannot_make(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!(
        "the set {} cannot be made: {error}\nName another directory with --output, or go on with one that was \
         interrupted: --resume {0}",
        path.display()
    ))
}

fn cannot_read(path: &Path, why: &str) -> Failure {
    Failure::run(format!(
        "{} cannot be used: {why}\nRemove it, or begin a new set.",
        path.display()
    ))
}

/// Renames a run file that is about to be measured anew, so that nothing that was measured is lost; the new name.
pub fn put_aside(path: &Path) -> Result<PathBuf, Failure> {
    let aside = (1u64..)
        .map(|n| path.with_extension(format!("ended-early-{n}.plimsoll")))
        .find(|path| !path.exists())
        .unwrap_or_else(|| path.into());
    // What a killed run left beside its file belongs to it.
    for suffix in ["", "-journal", "-wal", "-shm"] {
        match rename_new(&with_suffix(path, suffix), &with_suffix(&aside, suffix)) {
            Err(error) if suffix.is_empty() => {
                return Err(Failure::run(format!(
                    "{} cannot be put aside: {error}",
                    path.display()
                )));
            }
            _ => {}
        }
    }
    Ok(aside)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    PathBuf::from(format!("{}{suffix}", path.display()))
}

#[cfg(test)]
mod tests {
    use plimsoll_record::message::EventKind;

    use super::*;

    fn list() -> SetList {
        SetList {
            format: FORMAT,
            title: "t".into(),
            scale: 1.0,
            data_scale: 1.0,
            seed: None,
            axes: Vec::new(),
            cells: Vec::new(),
        }
    }

    fn speed(factor: u32) -> ChosenSpeed {
        ChosenSpeed {
            factor,
            reason: EventKind::FullSpeed,
            media: Vec::new(),
        }
    }

    #[test]
    fn a_run_that_was_killed_before_it_wrote_anything_is_not_complete() {
        let dir = tempfile::tempdir().unwrap();
        let set = RunSet::create(&dir.path().join("x.set"), list(), "plan").unwrap();
        let cell = SetCell {
            file: "001-a=1.plimsoll".into(),
            repeat: 0,
            choice: Vec::new(),
        };
        fs::write(set.file(&cell), "").unwrap();
        assert!(set.complete(&cell).unwrap().is_none());
        set.put_aside(&cell).unwrap();
        assert!(!set.file(&cell).exists());
    }

    #[test]
    fn a_plan_with_a_password_is_for_its_owner() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.set");
        let set = RunSet::create(&path, list(), "url = \"postgres://u:x@h\"").unwrap();
        let mode = fs::metadata(set.plan()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn of_two_speeds_the_first_is_that_of_the_set() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.set");
        let set = RunSet::create(&path, list(), "plan").unwrap();
        let other = RunSet::open_or_create(&path, list(), "another plan").unwrap();
        assert_eq!(set.speed().unwrap(), None);
        assert_eq!(set.agree_on_speed(speed(5)).unwrap().factor, 5);
        assert_eq!(other.agree_on_speed(speed(10)).unwrap().factor, 5);
        assert_eq!(other.speed().unwrap(), Some(speed(5)));
        // Nothing is left of making the set and of the speed that came too late.
        let files = fs::read_dir(&path).unwrap().count();
        assert_eq!(files, 3);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert_eq!(fs::read_to_string(set.plan()).unwrap(), "plan");
    }
}
