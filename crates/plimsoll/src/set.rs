//! A set of runs: a directory with a plan, a list of its cells, and a run file for each cell that was carried out.
//!
//! The list is written before the first cell and never changed; what became of a cell is in its run file, so that a set
//! that was interrupted goes on where it stopped.

use std::fs;
use std::path::{Path, PathBuf};

use plimsoll_plan::{Matrix, Options};
use plimsoll_record::{Record, RunStatus};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::output::write_whole;
use plimsoll_record::runfile;

const LIST: &str = "set.json";
const PLAN: &str = "plan.toml";
const FORMAT: u32 = 1;
const LONGEST_LABEL: usize = 80;

/// What `set.json` holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SetList {
    pub format: u32,
    pub title: String,
    pub scale: f64,
    pub data_scale: f64,
    pub seed: Option<u64>,
    pub axes: Vec<SetAxis>,
    /// In the order of carrying out.
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
    /// Of each axis, the place of the value.
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
}

impl RunSet {
    /// Makes the directory, which must not be there.
    pub fn create(path: &Path, list: SetList, plan: &str) -> Result<Self, Failure> {
        fs::create_dir(path).map_err(|error: std::io::Error| {
            Failure::usage(format!(
                "the set {} cannot be made: {error}\nName another directory with --output, or go on with one that was \
                 interrupted: --resume {0}",
                path.display()
            ))
        })?;
        let text =
            serde_json::to_string_pretty(&list).map_err(|error| Failure::run(error.to_string()))?;
        write_whole(&path.join(PLAN), plan)?;
        write_whole(&path.join(LIST), &text)?;
        Ok(Self {
            path: path.into(),
            list,
        })
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

    /// The run of a cell that was carried out to its end; `None` for one that was not, or not yet.
    pub fn complete(&self, cell: &SetCell) -> Result<Option<Record>, Failure> {
        let path = self.file(cell);
        if !path.exists() {
            return Ok(None);
        }
        let record = runfile::read(&path)?;
        Ok((record.run.status == RunStatus::Complete).then_some(record))
    }

    /// Puts the file of a cell that did not come to its end aside, so that the cell can be carried out again.
    pub fn put_aside(&self, cell: &SetCell) -> Result<(), Failure> {
        let path = self.file(cell);
        if path.exists() {
            put_aside(&path)?;
        }
        Ok(())
    }
}

/// Renames a run file that is about to be measured anew, so that nothing that was measured is lost; the new name.
pub fn put_aside(path: &Path) -> Result<PathBuf, Failure> {
    let aside = (1u64..)
        .map(|n| path.with_extension(format!("ended-early-{n}.plimsoll")))
        .find(|path| !path.exists())
        .unwrap_or_else(|| path.into());
    // What a killed run left beside its file belongs to it.
    for suffix in ["", "-wal", "-shm"] {
        match fs::rename(with_suffix(path, suffix), with_suffix(&aside, suffix)) {
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
