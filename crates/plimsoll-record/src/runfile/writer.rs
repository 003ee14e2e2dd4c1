//! Writing a run file while the run lasts.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::lane::LaneSecond;
use crate::metric::{Metric, MetricKind};
use crate::{
    APPLICATION_ID, BackupRow, BlockPoint, Check, Diagnosis, Event, Outage, PhaseId, Point,
    Reported, Reset, RunInfo, RunStatus, SCHEMA_VERSION, Sample, SearchInfo, SteadyInfo, SubjectId,
    SubjectKind, Window,
};
use plimsoll_plan::RecordedPlan;
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use rusqlite::{Connection, OpenFlags, params};

use super::file::{Result, RunFile, write_error};
use super::new_file::create_whole;
use super::open::open_run_file;
use super::recovery::{BESIDE, beside, remove_beside};
use super::{RunFileError, digest, outcomes, samples};

/// For so long a live page has the file open, once a second.
const READING: Duration = Duration::from_millis(5);
/// A program that keeps it open is not waited for any longer.
const FOLDING_TRIES: u32 = 100;
/// Where the header of a database says whether it has a WAL. <https://www.sqlite.org/fileformat.html>, 1.3.3.
const WRITE_AND_READ_VERSION: Range<usize> = 18..20;
const VERSION_OF_WAL: u8 = 2;

impl RunFile {
    /// Creates the file, which is a run file as soon as it has its name; one that exists is never overwritten.
    pub fn create(
        path: &Path,
        run: &RunInfo,
        plan_written: &str,
        plan: &RecordedPlan,
    ) -> Result<Self> {
        let mut file = Self::in_memory(path, run, plan_written, plan)?;
        file.db
            .execute_batch("COMMIT")
            .map_err(|error| file.error(error))?;
        let mut image = file.image()?;
        image[WRITE_AND_READ_VERSION].fill(VERSION_OF_WAL);
        create_file(path, &image)?;
        file.db = open_to_write(path)?;
        file.begin()?;
        Ok(file)
    }

    /// One that is on disk only when it is complete.
    pub(super) fn in_memory(
        path: &Path,
        run: &RunInfo,
        plan_written: &str,
        plan: &RecordedPlan,
    ) -> Result<Self> {
        let db = Connection::open_in_memory().map_err(|error| write_error(path, error))?;
        let mut file = Self {
            path: path.into(),
            db,
            layouts: RefCell::default(),
            wait_events: RefCell::default(),
        };
        file.insert_schema().map_err(|error| file.error(error))?;
        file.insert_head(run, plan_written, plan)?;
        Ok(file)
    }

    fn insert_schema(&self) -> rusqlite::Result<()> {
        self.db.execute_batch("BEGIN")?;
        self.db
            .pragma_update(None, "application_id", APPLICATION_ID)?;
        self.db
            .pragma_update(None, "user_version", SCHEMA_VERSION)?;
        self.db.execute_batch(include_str!("schema.sql"))
    }

    /// The bytes that a file with this content has.
    pub(super) fn image(&mut self) -> Result<Vec<u8>> {
        let image = self.db.serialize("main");
        image
            .map(|image| image.to_vec())
            .map_err(|error| write_error(&self.path, error))
    }

    /// From now on all is written once a second.
    pub(super) fn begin(&mut self) -> Result<()> {
        self.db
            .pragma_update(None, "journal_mode", "WAL")
            .and_then(|()| self.db.pragma_update(None, "synchronous", "NORMAL"))
            .and_then(|()| self.db.execute_batch("BEGIN"))
            .map_err(|error| self.error(error))
    }

    fn insert_head(
        &mut self,
        run: &RunInfo,
        plan_written: &str,
        plan: &RecordedPlan,
    ) -> Result<()> {
        let RunInfo {
            id,
            title,
            plimsoll_version,
            plimsoll_commit,
            command,
            seed,
            started_at,
            lasted: _,
            status,
            failure: _,
        } = run;
        self.insert_columns(
            "INSERT INTO run",
            &[
                ("id", id),
                ("title", title),
                ("plimsoll_version", plimsoll_version),
                ("plimsoll_commit", plimsoll_commit),
                ("command", command),
                ("seed", &seed.to_string()),
                ("started_at", started_at),
                ("status", &status.name()),
            ],
        )?;
        for (form, text) in [("written", plan_written), ("resolved", &plan.to_text())] {
            self.insert_columns("INSERT INTO plan", &[("form", &form), ("text", &text)])?;
        }
        for metric in Metric::ALL {
            let info = metric.info();
            let name = |value: serde_json::Value| value.as_str().map(str::to_owned);
            self.insert_columns(
                "INSERT INTO metric",
                &[
                    ("name", &info.name),
                    ("unit", &info.unit),
                    ("kind", &name(serde_json::json!(info.kind))),
                    ("better", &name(serde_json::json!(info.better))),
                    ("source", &info.source),
                ],
            )?;
        }
        Ok(())
    }

    /// The subject of this kind and name, made if it is new.
    pub fn subject(&self, kind: SubjectKind, name: &str) -> Result<SubjectId> {
        self.insert_columns(
            "INSERT OR IGNORE INTO subject",
            &[("kind", &kind.name()), ("name", &name)],
        )?;
        let sql = "SELECT id FROM subject WHERE kind = ?1 AND name = ?2";
        let id = self
            .db
            .query_row(sql, params![kind.name(), name], |row| row.get(0));
        id.map_err(|error| self.error(error))
    }

    /// A fact recorded again replaces the one before.
    pub fn facts(&self, subject: SubjectId, facts: &[(String, String)]) -> Result<()> {
        facts.iter().try_for_each(|(key, value)| {
            self.insert_columns(
                "INSERT OR REPLACE INTO fact",
                &[("subject", &subject), ("key", key), ("value", value)],
            )
        })
    }

    pub fn point(&self, point: &Point) -> Result<()> {
        self.insert("INSERT INTO point", point)
    }

    pub fn search(&self, search: &SearchInfo) -> Result<()> {
        self.insert("INSERT INTO search", search)
    }

    pub fn reset(&self, reset: &Reset) -> Result<()> {
        self.insert("INSERT INTO reset", reset)
    }

    pub fn block_point(&self, block: &BlockPoint) -> Result<()> {
        self.insert("INSERT INTO block_point", block)
    }

    pub fn steady(&self, steady: &SteadyInfo) -> Result<()> {
        self.insert("INSERT INTO steady", steady)
    }

    pub fn diagnosis(&self, diagnosis: &Diagnosis) -> Result<()> {
        self.insert("INSERT INTO diagnosis", diagnosis)
    }

    pub fn backup(&self, backup: &BackupRow) -> Result<()> {
        self.insert("INSERT INTO backup", backup)
    }

    pub fn outage(&self, outage: &Outage) -> Result<()> {
        self.insert("INSERT INTO outage", outage)
    }

    pub fn reported(&self, reported: &Reported) -> Result<()> {
        self.insert("INSERT INTO reported", reported)
    }

    pub fn event(&self, event: &Event) -> Result<()> {
        self.insert("INSERT INTO event", event)
    }

    pub fn check(&self, check: &Check) -> Result<()> {
        self.insert("INSERT INTO consistency", check)
    }

    pub fn open_phase(
        &self,
        step: &str,
        point: Option<&Point>,
        kind: PhaseKind,
        start: Nanos,
    ) -> Result<PhaseId> {
        self.insert_columns(
            "INSERT INTO phase",
            &[
                ("point", &point.map(|point| point.id)),
                ("step", &step),
                ("kind", &kind.name()),
                ("start_ns", &start.0),
                ("complete", &false),
            ],
        )?;
        Ok(PhaseId(u32::try_from(self.last_id()).unwrap_or(u32::MAX)))
    }

    pub fn close_phase(&self, phase: PhaseId, end: Nanos, complete: bool) -> Result<()> {
        self.execute(
            "UPDATE phase SET end_ns = ?2, complete = ?3 WHERE id = ?1",
            params![phase, end.0, complete],
        )
    }

    /// One report of a lane; its times count from `origin`.
    pub fn second(
        &self,
        phase: PhaseId,
        subject: SubjectId,
        origin: Nanos,
        second: &LaneSecond,
    ) -> Result<()> {
        let start = origin + second.tick.start;
        let end = origin + second.tick.end;
        let (counts, times) = outcomes::encode(&second.tallies, &second.earlier);
        self.insert_columns(
            "INSERT INTO tick",
            &[
                ("phase", &phase),
                ("subject", &subject),
                ("start_ns", &start.0),
                ("end_ns", &end.0),
                ("in_flight", &second.in_flight),
                ("counts", &counts),
                ("times", &times),
            ],
        )
    }

    pub fn window(&self, window: &Window) -> Result<()> {
        let Window {
            phase,
            subject,
            txn,
            response,
            service,
            coarse: _,
        } = window;
        self.insert_columns(
            "INSERT OR REPLACE INTO window",
            &[
                ("phase", phase),
                ("subject", subject),
                ("txn", txn),
                ("response", &response.encode()),
                ("service", &service.as_ref().map(|hist| hist.encode())),
            ],
        )
    }

    /// Samples of one time; those of one subject become one row.
    pub fn samples(&self, samples: &[(SubjectId, Metric, Sample)]) -> Result<()> {
        let mut rows: BTreeMap<(SubjectId, Nanos), Vec<(Metric, Sample)>> = BTreeMap::new();
        for (subject, metric, sample) in samples {
            rows.entry((*subject, sample.at))
                .or_default()
                .push((*metric, *sample));
        }
        for ((subject, at), mut row) in rows {
            row.sort_by_key(|(metric, _)| *metric);
            let layout = self.layout(row.iter().map(|(metric, _)| *metric).collect())?;
            let values: Vec<f32> = row.iter().map(|(_, sample)| sample.value).collect();
            let over = interval(&row);
            self.insert_columns(
                "INSERT INTO sample",
                &[
                    ("subject", &subject),
                    ("at_ns", &at.0),
                    ("over_ns", &over.0),
                    ("layout", &layout),
                    ("data", &samples::encode(&values)),
                ],
            )?;
        }
        Ok(())
    }

    fn layout(&self, metrics: Vec<Metric>) -> Result<i64> {
        if let Some(id) = self.layouts.borrow().get(&metrics) {
            return Ok(*id);
        }
        let names: Vec<&str> = metrics.iter().map(|metric| metric.info().name).collect();
        let names = serde_json::json!(names).to_string();
        self.insert_columns("INSERT INTO layout", &[("metrics", &names)])?;
        let id = self.last_id();
        self.layouts.borrow_mut().insert(metrics, id);
        Ok(id)
    }

    /// Closes the run, stores the digest of the content and folds the WAL in, unless another process reads the file:
    /// then the WAL stays beside it.
    pub fn finish(
        self,
        status: RunStatus,
        failure: Option<&str>,
        lasted: Nanos,
    ) -> Result<PathBuf> {
        self.close(status, failure, lasted)?;
        let digest = digest::of_content(&open_run_file(&self.path)?.source)?;
        self.insert_columns("INSERT INTO digest", &[("sha256", &digest)])?;
        // All is committed, so a reader who keeps the WAL from being folded in is no reason to fail the run.
        fold_wal_in(&self.db);
        Ok(self.path)
    }

    /// Whether no point and no backup has begun.
    pub fn is_empty(&self) -> Result<bool> {
        let sql = "SELECT NOT EXISTS (SELECT 1 FROM point) AND NOT EXISTS (SELECT 1 FROM backup)";
        let empty = self.db.query_row(sql, [], |row| row.get(0));
        empty.map_err(|error| self.error(error))
    }

    /// Removes the file, of a run that measured nothing.
    pub fn discard(self) -> Result<()> {
        let Self { path, db, .. } = self;
        drop(db);
        // The file last: without it, they belong to no run.
        remove_beside(&path);
        std::fs::remove_file(&path).map_err(|error| write_error(&path, error))
    }

    /// Commits the end of the run. Until the digest is stored, the file has none.
    pub(super) fn close(
        &self,
        status: RunStatus,
        failure: Option<&str>,
        lasted: Nanos,
    ) -> Result<()> {
        self.execute(
            "UPDATE run SET status = ?1, failure = ?2, lasted_ns = ?3",
            params![status.name(), failure, lasted.0],
        )?;
        self.db.execute_batch("COMMIT").map_err(|e| self.error(e))?;
        // The file then holds all pages and is hashed piece by piece. Where a reader is in the way, it is read as a whole.
        let _ = self
            .db
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        Ok(())
    }
}

/// Creates a run file where nothing is, and nothing is left of another.
pub(super) fn create_file(path: &Path, image: &[u8]) -> Result<()> {
    for suffix in BESIDE {
        let beside = beside(path, suffix);
        if beside.symlink_metadata().is_ok() && path.symlink_metadata().is_err() {
            return Err(RunFileError::Leftover {
                path: path.into(),
                beside,
            });
        }
    }
    create_whole(path, image).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => RunFileError::Exists { path: path.into() },
        _ => write_error(path, error),
    })
}

/// A file that exists. SQLite follows no links: what it writes lies beside the file itself.
pub(super) fn open_to_write(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let file = path
        .canonicalize()
        .map_err(|error| write_error(path, error))?;
    Connection::open_with_flags(file, flags).map_err(|error| write_error(path, error))
}

/// Whether one file remains: not while another process has it open.
pub(super) fn fold_wal_in(db: &Connection) -> bool {
    // SQLite does not wait for readers here, and nobody sends: this is a pause.
    let (_sender, pause) = channel::<()>();
    for _ in 0..FOLDING_TRIES {
        // One page then says that there is no WAL. Were its journal a file, it would outlive who is killed before it is gone.
        let folded = db.pragma_update(None, "journal_mode", "MEMORY");
        if folded.is_ok() {
            return true;
        }
        let _ = pause.recv_timeout(READING);
    }
    false
}

/// The interval that the rates of a row are over. Gauges are over none; theirs is when the slow ones were last read.
fn interval(row: &[(Metric, Sample)]) -> Nanos {
    let rates = row
        .iter()
        .filter(|(metric, _)| metric.info().kind == MetricKind::Rate)
        .map(|(_, sample)| sample.over);
    rates
        .max()
        .or_else(|| row.iter().map(|(_, sample)| sample.over).max())
        .unwrap_or_default()
}
