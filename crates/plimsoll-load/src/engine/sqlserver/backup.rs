//! Backups of a SQL Server, which writes and reads their files itself: BACKUP DATABASE and RESTORE DATABASE.
//!
//! A backup is restored on the same server, as a database of plimsoll's own beside the one that was backed up. Nothing is
//! overwritten, and only what was restored here is dropped.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::thread;

use super::dialect::DIALECT;
use super::failure::is_file_error;
use crate::backup::{BackupControl, Taken, Timed, files, written};
use crate::clock::monotonic;
use crate::control::LoadControl;
use crate::engine::server::own_backups::{RestoredDatabase, ServerBackups, ServerConnector};
use crate::engine::sql::guard::Use;
use crate::engine::sql::{ServerClient, SqlClient, TextRow};
use crate::error::LoadError;
use crate::scratch::{io_error, wait_until};

/// What the server may still write after its session was ended.
const PATIENCE_SECONDS: u64 = if cfg!(test) { 1 } else { 60 };
/// A name has at most 128 characters (manual, "Database identifiers"), with the suffix of a restored one.
const LONGEST_NAME: usize = 100;
const MOST_NAMES: u32 = 1000;

const NEXT_WITHOUT_BACKUP_RIGHT: &str =
    "Let this login back up the database: ALTER ROLE db_backupoperator ADD MEMBER … there.";
const NEXT_WITHOUT_CREATE_RIGHT: &str = "A backup is restored as a new database: GRANT CREATE ANY DATABASE TO this login, or set restore = false \
     in the plan.";

/// BACKUP DATABASE and RESTORE DATABASE.
pub(super) struct SqlserverBackups;

impl ServerBackups for SqlserverBackups {
    fn statement(&self) -> &'static str {
        "BACKUP DATABASE"
    }

    fn back_up(
        &self,
        server: &dyn ServerConnector,
        schema: &str,
        task: BackupControl<'_>,
        to: &Path,
    ) -> Result<Taken, LoadError> {
        back_up(server, schema, task, to)
    }

    fn restore(
        &self,
        server: &dyn ServerConnector,
        schema: &str,
        task: BackupControl<'_>,
        from: &Path,
        dir: &Path,
    ) -> Result<(Box<dyn RestoredDatabase>, Timed), LoadError> {
        let (database, timed) = OwnDatabase::restore(server, schema, task, from, dir)?;
        Ok((Box::new(database), timed))
    }
}

/// `[name]`, whatever QUOTED_IDENTIFIER is (manual, "Delimited identifiers").
fn bracketed(name: &str) -> String {
    format!("[{}]", name.replace(']', "]]"))
}

/// A literal of Unicode characters.
fn unicode(text: &str) -> String {
    format!("N{}", DIALECT.literal(text))
}

fn path_text(path: &Path) -> Result<&str, LoadError> {
    path.to_str().ok_or_else(|| {
        let why = "is not UTF-8, as paths in T-SQL are; name another directory";
        LoadError::other(path.display().to_string(), why)
    })
}

/// The devices of a backup of so many files, which the server writes at the same time ("stripe set").
fn devices(dir: &Path, count: u32) -> Result<Vec<PathBuf>, LoadError> {
    path_text(dir)?;
    Ok((1..=count.max(1))
        .map(|number| dir.join(format!("plimsoll-{number}.bak")))
        .collect())
}

fn disks(devices: &[PathBuf]) -> String {
    let named = devices
        .iter()
        .map(|path| format!("DISK = {}", unicode(&path.display().to_string())));
    named.collect::<Vec<_>>().join(", ")
}

/// COPY_ONLY leaves the owner's chain of backups as it is (manual, "BACKUP (Transact-SQL)", "Copy-only backups").
fn backup_statement(schema: &str, devices: &[PathBuf]) -> String {
    format!(
        "BACKUP DATABASE {} TO {} WITH COPY_ONLY, INIT, CHECKSUM, NO_COMPRESSION, STATS = 10",
        bracketed(schema),
        disks(devices)
    )
}

/// Takes a backup of the database into `to`, in as many files as may be written at the same time.
fn back_up(
    server: &dyn ServerConnector,
    schema: &str,
    task: BackupControl<'_>,
    to: &Path,
) -> Result<Taken, LoadError> {
    let mut client = server.connect()?;
    let program = version(client.as_mut())?;
    give_to_server(client.as_mut(), schema, to)?;
    let devices = devices(to, task.jobs)?;
    let statement = LongStatement {
        doing: format!("backing up database {schema}"),
        sql: backup_statement(schema, &devices),
    };
    statement
        .run(server, client, task.control)
        .map_err(|error| explain(error, to, NEXT_WITHOUT_BACKUP_RIGHT))?;
    devices.iter().try_for_each(|device| expect_file(device))?;
    Ok(Taken {
        bytes: files::flush(to, task.control)?,
        program,
        jobs: task.jobs.max(1),
    })
}

/// Product and version. Refuses what has no such backups.
fn version(client: &mut dyn SqlClient) -> Result<String, LoadError> {
    let row = client.row("asking for the version", DIALECT.version)?;
    let version: String = row.get(0)?;
    if version.starts_with(DIALECT.oldest.product) {
        return Ok(version);
    }
    Err(LoadError::Unsupported {
        what: format!("back up {version}"),
        why: "it has no BACKUP DATABASE".into(),
        next: "Name a SQL Server.".into(),
    })
}

/// On root's behalf a directory becomes that of the server's user, who owns the database's files. Where those are
/// elsewhere, as those of a container are, it stays as it is.
fn give_to_server(client: &mut dyn SqlClient, schema: &str, dir: &Path) -> Result<(), LoadError> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let sql = format!(
        "SELECT physical_name FROM sys.master_files WHERE database_id = DB_ID({}) AND file_id = 1",
        unicode(schema)
    );
    let rows = client.rows("asking for the database's files", &sql)?;
    let file = rows.first().and_then(|row| row.text(0));
    let Some(about) = file.and_then(|file| fs::metadata(file).ok()) else {
        return Ok(());
    };
    chown(dir, Some(about.uid()), Some(about.gid()))
        .and_then(|()| fs::set_permissions(dir, Permissions::from_mode(0o700)))
        .map_err(|error| io_error(dir, &error))
}

/// What the server has written must be here, and readable: it is flushed, and read from its medium.
fn expect_file(file: &Path) -> Result<(), LoadError> {
    let Err(error) = fs::File::open(file) else {
        return Ok(());
    };
    let place = file.display();
    Err(match error.kind() {
        std::io::ErrorKind::NotFound => LoadError::Missing {
            what: format!("The backup {place}"),
            searched: "the server has written it, but not on this machine".into(),
            next: "Run plimsoll on the server's machine, or name a medium that both have at the same path; remove what \
                   the server has written."
                .into(),
        },
        std::io::ErrorKind::PermissionDenied => LoadError::Refused {
            what: format!("The backup {place}"),
            why: format!("{error}; the server's user owns it"),
            next: "Run plimsoll as root, or as the server's user.".into(),
        },
        _ => io_error(file, &error),
    })
}

/// With the next step where the server refused its files or the login.
fn explain(error: LoadError, place: &Path, denied: &str) -> LoadError {
    match error {
        LoadError::Refused { what, why, .. } => LoadError::Refused {
            what,
            why,
            next: denied.into(),
        },
        LoadError::Other { what, why } if is_file_error(&why) => LoadError::Other {
            what,
            why: format!(
                "{why}\nThe server itself reads and writes {}: it must run on this machine, and its user must be able to \
                 write there. Run plimsoll as root where the database's files are, or as the server's user.",
                place.display()
            ),
        },
        error => error,
    }
}

/// A statement that the server works at for long.
struct LongStatement {
    /// In the message of an error.
    doing: String,
    sql: String,
}

impl LongStatement {
    /// Runs it to its end, or until `control` cancels. The server does nothing of it any more when this returns; where
    /// that is unknown, the error reports it.
    fn run(
        &self,
        server: &dyn ServerConnector,
        mut client: Box<dyn ServerClient>,
        control: &LoadControl,
    ) -> Result<(), LoadError> {
        control.check()?;
        let session = SessionLock::take(client.as_mut())?;
        thread::scope(|scope| {
            // The client goes with the thread, and its session with it.
            let working = scope.spawn(move || client.execute(&self.doing, &self.sql));
            while !wait_until(1, || working.is_finished() || control.is_cancelled()) {}
            let is_cancelled = !working.is_finished();
            if is_cancelled {
                // Without the right to do so (ALTER ANY CONNECTION) it is waited for.
                session.kill(server);
            }
            let done = working
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            if done.is_err() {
                session.wait_until_ended(server, &self.doing)?;
            }
            if is_cancelled {
                return Err(LoadError::Cancelled);
            }
            done
        })
    }
}

/// A lock that a session holds to its end. sys.dm_exec_requests shows other sessions only with VIEW SERVER STATE; without
/// it, what still works looks as if it had ended.
struct SessionLock {
    session: u32,
    resource: String,
}

impl SessionLock {
    fn take(client: &mut dyn ServerClient) -> Result<Self, LoadError> {
        let session = client.id()?;
        let resource = format!("plimsoll, session {session}");
        if (DIALECT.try_lock)(client, &resource, Use::Load)? {
            return Ok(Self { session, resource });
        }
        let why = "an earlier session of this number has not ended; try again";
        Err(LoadError::other(format!("lock {resource:?}"), why))
    }

    fn kill(&self, server: &dyn ServerConnector) {
        let kill = DIALECT.cancel.replace("{id}", &self.session.to_string());
        // What cannot be ended goes on to its end, which is waited for.
        let _ = server
            .connect()
            .and_then(|mut client| client.execute("ending a session", &kill));
    }

    /// A server that does not run has no session; one that takes no connection now is asked again.
    fn has_ended(&self, server: &dyn ServerConnector) -> bool {
        match server.connect() {
            Ok(mut client) => matches!(
                (DIALECT.try_lock)(client.as_mut(), &self.resource, Use::Load),
                Ok(true)
            ),
            Err(LoadError::Unreachable { .. }) => true,
            Err(_) => false,
        }
    }

    /// An error when the session still works after [`PATIENCE_SECONDS`].
    fn wait_until_ended(&self, server: &dyn ServerConnector, doing: &str) -> Result<(), LoadError> {
        if wait_until(PATIENCE_SECONDS, || self.has_ended(server)) {
            return Ok(());
        }
        Err(LoadError::Other {
            what: doing.to_owned(),
            why: format!(
                "was given up, and the server still works at it after {PATIENCE_SECONDS} s\nWait until session {} has \
                 ended, then remove what it has written.",
                self.session
            ),
        })
    }
}

/// A database that plimsoll restores, and drops.
#[derive(Debug, Clone, PartialEq, Eq)]
struct OwnDatabase {
    name: String,
    /// One of its files, in a directory of plimsoll's: proof that the database is plimsoll's.
    file: String,
}

impl OwnDatabase {
    /// Restores the backup in `from` as a database with its files in `dir`. A failure leaves none.
    fn restore(
        server: &dyn ServerConnector,
        schema: &str,
        task: BackupControl<'_>,
        from: &Path,
        dir: &Path,
    ) -> Result<(Self, Timed), LoadError> {
        files::forget_cached(from)?;
        let mut client = server.connect()?;
        let program = version(client.as_mut())?;
        give_to_server(client.as_mut(), schema, dir)?;
        let name = free_name(client.as_mut(), schema)?;
        let began = monotonic();
        let devices = devices(from, task.jobs)?;
        let moves = file_moves(client.as_mut(), &devices, dir)
            .map_err(|error| explain(error, from, NEXT_WITHOUT_CREATE_RIGHT))?;
        let statement = LongStatement {
            doing: format!("restoring database {schema} as {name}"),
            sql: restore_statement(&name, &devices, &moves),
        };
        let database = Self {
            name,
            file: moves[0].to.clone(),
        };
        if let Err(error) = statement.run(server, client, task.control) {
            // The first failure matters more. What it leaves on the server may be in the state RESTORING.
            let _ = database.drop_if_own(server);
            return Err(explain(error, dir, NEXT_WITHOUT_CREATE_RIGHT));
        }
        let timed = Timed {
            program,
            bytes: written(from),
            began,
            ended: monotonic(),
        };
        Ok((database, timed))
    }

    /// One request, so that no other database can have taken the name in between. Sessions that were checking it may not
    /// have ended; only a database that is online can be without them (manual, "ALTER DATABASE SET options").
    fn drop_if_own(&self, server: &dyn ServerConnector) -> Result<(), LoadError> {
        let id = bracketed(&self.name);
        let literal = unicode(&self.name);
        let sql = format!(
            "IF EXISTS (SELECT 1 FROM sys.master_files WHERE database_id = DB_ID({literal}) AND physical_name = {})
             BEGIN
               IF DATABASEPROPERTYEX({literal}, 'Status') = 'ONLINE'
                 ALTER DATABASE {id} SET SINGLE_USER WITH ROLLBACK IMMEDIATE;
               DROP DATABASE {id};
             END",
            unicode(&self.file)
        );
        server
            .connect()?
            .execute("dropping a restored database", &sql)
    }
}

impl RestoredDatabase for OwnDatabase {
    fn name(&self) -> &str {
        &self.name
    }

    fn remove(&self, server: &dyn ServerConnector) -> Result<(), LoadError> {
        let name = &self.name;
        let next = format!("Drop it: DROP DATABASE {}.", bracketed(name));
        let what = format!("database {name}, which plimsoll restored");
        self.drop_if_own(server)
            .map_err(|error| LoadError::other(&what, format!("{}\n{next}", error.reason())))?;
        let sql = format!("SELECT 1 WHERE DB_ID({}) IS NOT NULL", unicode(name));
        let left = server.connect()?.rows("inspecting the databases", &sql)?;
        if left.is_empty() {
            return Ok(());
        }
        Err(LoadError::other(
            what,
            format!("is left on the server\n{next}"),
        ))
    }
}

/// Where a file of a database goes.
#[derive(Debug, PartialEq, Eq)]
struct FileMove {
    /// The file's logical name.
    file: String,
    to: String,
}

/// One for each file of a backup. Columns: LogicalName, PhysicalName, Type (manual, "RESTORE FILELISTONLY").
fn file_moves(
    client: &mut dyn SqlClient,
    devices: &[PathBuf],
    dir: &Path,
) -> Result<Vec<FileMove>, LoadError> {
    const DOING: &str = "reading the backup's list of files";
    let rows = client.rows(
        DOING,
        &format!("RESTORE FILELISTONLY FROM {}", disks(devices)),
    )?;
    if rows.is_empty() {
        return Err(LoadError::other(DOING, "it has none; check its medium"));
    }
    let dir = path_text(dir)?;
    let numbered = (1..).zip(&rows);
    numbered
        .map(|(number, row)| file_move(number, row, dir))
        .collect()
}

fn file_move(number: u32, row: &TextRow, dir: &str) -> Result<FileMove, LoadError> {
    const TYPE: usize = 2;
    let ending = match row.text(TYPE) {
        Some("D") => "mdf",
        Some("L") => "ldf",
        // A directory: of FILESTREAM data, or of tables in memory.
        _ => "files",
    };
    Ok(FileMove {
        file: row.get(0)?,
        to: format!("{dir}/file-{number}.{ending}"),
    })
}

/// Without REPLACE: a database that exists is never overwritten.
fn restore_statement(name: &str, devices: &[PathBuf], moves: &[FileMove]) -> String {
    let moves = moves.iter().map(|FileMove { file, to }| {
        let file = unicode(file);
        format!("MOVE {file} TO {}", unicode(to))
    });
    format!(
        "RESTORE DATABASE {} FROM {} WITH {}, CHECKSUM, STATS = 10",
        bracketed(name),
        disks(devices),
        moves.collect::<Vec<_>>().join(", ")
    )
}

/// A name that no database has, as far as this login sees them.
fn free_name(client: &mut dyn SqlClient, schema: &str) -> Result<String, LoadError> {
    let rows = client.rows(
        "inspecting the databases",
        "SELECT LOWER(name) FROM sys.databases",
    )?;
    let taken: Vec<String> = rows.into_iter().flat_map(TextRow::into_texts).collect();
    let stem: String = schema.chars().take(LONGEST_NAME).collect();
    (1..=MOST_NAMES)
        .map(|number| format!("{stem}_restored_{number}"))
        .find(|name| !taken.contains(&name.to_lowercase()))
        .ok_or_else(|| LoadError::Foreign {
            what: format!("{stem}_restored_{MOST_NAMES}"),
            why: "so do all names before it that a restored database could have".into(),
            next: "Drop those that dead runs have left.".into(),
        })
}

#[cfg(test)]
#[path = "backup_tests.rs"]
mod tests;
