//! The file of a run that was killed, completed later: in a copy, which takes the place of the file when it is whole.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::metric::Metric;
use crate::{Event, PointId, RunStatus, SubjectId};
use rusqlite::{Connection, params};
use rustix::fs::OFlags;

use super::file::{Result, RunFile, write_error};
use super::new_file::sync_directory_of;
use super::open::{damaged, info, is_run_file, open_run_file};
use super::recovery::{beside, remove_beside};
use super::row::BadRow;
use super::series::layouts;
use super::{RunFileError, writer};

/// Beside the file. Dropped, it is removed.
pub struct JoinedCopy {
    original: PathBuf,
    part: PathBuf,
    /// Locked: two cannot join the same run.
    lock: File,
}

impl JoinedCopy {
    /// A copy of the file of a run that was killed. A run that goes on has its file open.
    pub fn of(original: &Path) -> Result<Self> {
        expect_unfinished(original)?;
        let in_use = || RunFileError::InUse {
            path: original.into(),
        };
        if !writer::fold_wal_in(&writer::open_to_write(original)?) {
            return Err(in_use());
        }
        let part = beside(original, ".joining");
        let lock = open_part(&part).map_err(|error| write_error(&part, error))?;
        let is_free = lock.try_lock().is_ok() && is_file_at(&lock, &part);
        if !is_free {
            return Err(in_use());
        }
        let copy = Self {
            original: original.into(),
            part,
            lock,
        };
        copy.fill()
            .map_err(|error| write_error(&copy.part, error))?;
        Ok(copy)
    }

    fn fill(&self) -> io::Result<()> {
        // One who was killed may have left them.
        remove_beside(&self.part);
        self.lock.set_len(0)?;
        io::copy(&mut File::open(&self.original)?, &mut &self.lock).map(drop)
    }

    /// To be written to, and finished.
    pub fn open(&self) -> Result<RunFile> {
        let path = self.part.as_path();
        let db = writer::open_to_write(path)?;
        let layouts = layout_ids(&db).map_err(|what| damaged(path, what))?;
        let mut file = RunFile {
            path: path.into(),
            db,
            layouts: RefCell::new(layouts),
            wait_events: RefCell::default(),
        };
        file.begin()?;
        Ok(file)
    }

    /// Puts the finished copy in the place of the original.
    pub fn replace_original(self) -> Result<PathBuf> {
        // All that was beside it is in the copy: of a run killed as it began, also a journal that would undo it.
        remove_beside(&self.original);
        let replaced = File::open(&self.part)
            .and_then(|part| part.sync_all())
            .and_then(|()| std::fs::rename(&self.part, &self.original))
            .and_then(|()| sync_directory_of(&self.original));
        replaced.map_err(|error| write_error(&self.original, error))?;
        Ok(self.original.clone())
    }
}

impl Drop for JoinedCopy {
    fn drop(&mut self) {
        // It has the original's name by now, or is of no use.
        let _ = std::fs::remove_file(&self.part);
        remove_beside(&self.part);
    }
}

impl RunFile {
    /// Removes what is recorded of a point's load.
    pub fn forget_load(&self, point: PointId) -> Result<()> {
        const PHASES: &str =
            "SELECT id FROM phase WHERE point = ?1 AND kind IN ('warm', 'measure', 'cool')";
        for (table, column) in [
            ("window", "phase"),
            ("outage", "phase"),
            ("tick", "phase"),
            ("phase", "id"),
        ] {
            self.execute(
                &format!("DELETE FROM {table} WHERE {column} IN ({PHASES})"),
                [point.0],
            )?;
        }
        Ok(())
    }

    /// Unless the same event is recorded.
    pub fn event_once(&self, event: &Event) -> Result<()> {
        let sql = "SELECT count(*) FROM event WHERE at_ns = ?1 AND subject IS ?2 AND code = ?3 AND args IS ?4";
        let subject = event.subject.map(|subject| subject.0);
        let key = params![event.at.0, subject, event.kind.code(), event.kind.args()];
        let recorded: u32 = self
            .db
            .query_row(sql, key, |row| row.get(0))
            .map_err(|error| self.error(error))?;
        match recorded {
            0 => self.event(event),
            _ => Ok(()),
        }
    }

    pub fn forget_fact(&self, subject: SubjectId, key: &str) -> Result<()> {
        self.execute(
            "DELETE FROM fact WHERE subject = ?1 AND key = ?2",
            params![subject.0, key],
        )
    }
}

fn expect_unfinished(path: &Path) -> Result<()> {
    let run = info(&open_run_file(path)?.db).map_err(|what| damaged(path, what))?;
    match run.status {
        RunStatus::Unfinished => Ok(()),
        _ => Err(RunFileError::Closed { path: path.into() }),
    }
}

/// Layouts by their metrics; those with a metric that this version does not know are not written again.
fn layout_ids(db: &Connection) -> std::result::Result<HashMap<Vec<Metric>, i64>, BadRow> {
    let known = layouts(db)?.into_iter().filter_map(|(id, metrics)| {
        let metrics: Option<Vec<Metric>> = metrics.into_iter().collect();
        Some((metrics?, id))
    });
    Ok(known.collect())
}

/// Opens the copy that another who was killed may have left. A file of somebody else is refused.
fn open_part(path: &Path) -> io::Result<File> {
    let file = File::options()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32)
        .open(path)?;
    let found = file.metadata()?;
    let is_ours = found.is_file() && found.nlink() == 1 && (found.len() == 0 || is_run_file(&file));
    if is_ours {
        Ok(file)
    } else {
        Err(io::Error::other("it is not what plimsoll join left"))
    }
}

/// Not where another has joined the run meanwhile: then its copy is the run file.
fn is_file_at(file: &File, path: &Path) -> bool {
    let found = file
        .metadata()
        .and_then(|file| Ok((file, path.symlink_metadata()?)));
    found.is_ok_and(|(file, named)| (file.dev(), file.ino()) == (named.dev(), named.ino()))
}
