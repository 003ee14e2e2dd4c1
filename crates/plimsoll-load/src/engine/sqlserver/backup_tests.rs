//! Against a server that answers as the manual of RESTORE FILELISTONLY, and messages of SQL Server, have it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use plimsoll_plan::resolved::{BackupMethod, ServerKind};
use tempfile::TempDir;

use super::super::failure::SqlserverFailure;
use super::*;
use crate::engine::server::{DatabaseCopy, Target};
use crate::engine::sql::part::TablePart;

/// What becomes of BACKUP DATABASE, or of RESTORE DATABASE.
#[derive(Clone, Copy, PartialEq)]
enum Work {
    Done,
    /// It is written on another machine.
    Elsewhere,
    Refused(u32, &'static str),
    /// Until KILL ends the session.
    Endless,
    /// It ends by itself once it was to be killed.
    NotKilled,
}

struct FakeState {
    statements: Vec<String>,
    sessions: u32,
    killed: Option<u32>,
    /// Locks of sessions, and whether they outlive those.
    locks: Vec<String>,
    locks_stay: bool,
    version: &'static str,
    work: Work,
    /// Names, and a file of each.
    databases: Vec<(String, String)>,
    /// The one that is backed up has it.
    data_file: String,
    drops: bool,
}

#[derive(Clone)]
struct FakeServer(Arc<Mutex<FakeState>>);

impl FakeServer {
    fn new(work: Work) -> Self {
        Self(Arc::new(Mutex::new(FakeState {
            statements: Vec::new(),
            sessions: 50,
            killed: None,
            locks: Vec::new(),
            locks_stay: false,
            version: "SQL Server 16.0.4135.4",
            work,
            databases: vec![("master".into(), "/var/opt/mssql/data/master.mdf".into())],
            data_file: "/nowhere/tpcc.mdf".into(),
            drops: true,
        })))
    }

    fn with(self, change: impl FnOnce(&mut FakeState)) -> Self {
        change(&mut self.0.lock().unwrap());
        self
    }

    fn statements(&self, beginning: &str) -> Vec<String> {
        let state = self.0.lock().unwrap();
        let all = state.statements.iter();
        all.filter(|sql| sql.starts_with(beginning))
            .cloned()
            .collect()
    }

    fn databases(&self) -> Vec<String> {
        let state = self.0.lock().unwrap();
        state
            .databases
            .iter()
            .map(|(name, _)| name.clone())
            .collect()
    }
}

impl ServerConnector for FakeServer {
    fn connect(&self) -> Result<Box<dyn ServerClient>, LoadError> {
        let mut state = self.0.lock().unwrap();
        state.sessions += 1;
        Ok(Box::new(FakeClient {
            server: self.clone(),
            session: state.sessions,
            lock: None,
        }))
    }
}

struct FakeClient {
    server: FakeServer,
    session: u32,
    lock: Option<String>,
}

impl Drop for FakeClient {
    fn drop(&mut self) {
        let mut state = self.server.0.lock().unwrap();
        if !state.locks_stay {
            state.locks.retain(|lock| Some(lock) != self.lock.as_ref());
        }
    }
}

fn row(texts: &[&str]) -> TextRow {
    TextRow(texts.iter().map(|text| Some((*text).to_owned())).collect())
}

/// The literals behind `before`, with their quotes undone.
fn literals(sql: &str, before: &str) -> Vec<String> {
    let marked = format!("{before}N'");
    let parts = sql.split(&marked).skip(1);
    parts
        .map(|rest| {
            let rest = rest.replace("''", "\u{0}");
            rest.split('\'').next().unwrap().replace('\u{0}', "'")
        })
        .collect()
}

/// Between brackets.
fn name_in(sql: &str) -> String {
    let begin = sql.find('[').unwrap() + 1;
    let rest = sql[begin..].replace("]]", "\u{0}");
    rest.split(']').next().unwrap().replace('\u{0}', "]")
}

fn failed(doing: &str, code: u32, message: &str) -> LoadError {
    const USER_ERROR: u8 = 16;
    SqlserverFailure::reported(code, message, USER_ERROR)
        .classify()
        .at(doing)
}

impl FakeClient {
    fn work(&self, doing: &str) -> Result<(), LoadError> {
        let work = self.server.0.lock().unwrap().work;
        match work {
            Work::Done | Work::Elsewhere => Ok(()),
            Work::Refused(code, message) => Err(failed(doing, code, message)),
            Work::Endless | Work::NotKilled => {
                assert!(wait_until(60, || {
                    self.server.0.lock().unwrap().killed == Some(self.session)
                }));
                match work {
                    Work::NotKilled => Ok(()),
                    _ => Err(failed(doing, 596, "Cannot continue the execution")),
                }
            }
        }
    }

    fn write_files(&self, paths: &[String]) {
        if self.server.0.lock().unwrap().work != Work::Elsewhere {
            paths
                .iter()
                .for_each(|path| fs::write(path, "pages").unwrap());
        }
    }
}

/// As the manual lists its columns; numbers, GUIDs and the rest are shortened.
fn file_list() -> Vec<TextRow> {
    vec![
        row(&[
            "tpcc",
            "/var/opt/mssql/data/tpcc.mdf",
            "D",
            "PRIMARY",
            "8388608",
        ]),
        row(&["tpcc_log", "/var/opt/mssql/data/tpcc_log.ldf", "L"]),
        row(&["o'neil]", "/data2/more.ndf", "D", "MORE", "8388608"]),
        row(&["memory", "/data2/memory", "S", "MEMORY", "0"]),
    ]
}

impl SqlClient for FakeClient {
    fn rows(&mut self, doing: &str, sql: &str) -> Result<Vec<TextRow>, LoadError> {
        let server = self.server.clone();
        server.0.lock().unwrap().statements.push(sql.into());
        if sql.contains("sp_getapplock") {
            let resource = literals(&sql.replace("= '", "= N'"), "@Resource = ").remove(0);
            let mut state = server.0.lock().unwrap();
            let is_free = !state.locks.contains(&resource);
            if is_free {
                state.locks.push(resource.clone());
                self.lock = Some(resource);
            }
            return Ok(vec![row(&[if is_free { "1" } else { "0" }])]);
        }
        if sql == DIALECT.version {
            return Ok(vec![row(&[server.0.lock().unwrap().version])]);
        }
        if sql.starts_with("SELECT physical_name") {
            return Ok(vec![row(&[&server.0.lock().unwrap().data_file])]);
        }
        if sql.starts_with("SELECT LOWER(name)") {
            let names = server.databases();
            return Ok(names
                .iter()
                .map(|name| row(&[&name.to_lowercase()]))
                .collect());
        }
        if sql.starts_with("SELECT 1 WHERE DB_ID") {
            let name = literals(sql, "DB_ID(").remove(0);
            let is_left = server.databases().contains(&name);
            return Ok(if is_left {
                vec![row(&["1"])]
            } else {
                Vec::new()
            });
        }
        if sql.starts_with("BACKUP DATABASE") {
            self.work(doing)?;
            self.write_files(&literals(sql, "DISK = "));
        } else if sql.starts_with("RESTORE FILELISTONLY") {
            return Ok(file_list());
        } else if sql.starts_with("RESTORE DATABASE") {
            let name = name_in(sql);
            let files = literals(sql, " TO ");
            let is_taken = server.databases().contains(&name);
            if is_taken {
                return Err(failed(doing, 1801, "Database already exists"));
            }
            let mut state = server.0.lock().unwrap();
            state.databases.push((name, files[0].clone()));
            drop(state);
            self.write_files(&files);
            self.work(doing)?;
        } else if sql.starts_with("IF EXISTS") {
            let name = literals(sql, "DB_ID(").remove(0);
            let file = literals(sql, "physical_name = ").remove(0);
            let mut state = server.0.lock().unwrap();
            if state.drops {
                state
                    .databases
                    .retain(|own| *own != (name.clone(), file.clone()));
            }
        } else if let Some(session) = sql.strip_prefix("KILL ") {
            let mut state = server.0.lock().unwrap();
            state.killed = Some(session.parse().unwrap());
            if state.work == Work::NotKilled {
                return Err(failed(doing, 6102, "User does not have permission"));
            }
        } else {
            panic!("{sql}");
        }
        Ok(Vec::new())
    }
}

impl ServerClient for FakeClient {
    fn id(&mut self) -> Result<u32, LoadError> {
        Ok(self.session)
    }

    fn fill(&mut self, _: &TablePart, _: &LoadControl) -> Result<(), LoadError> {
        panic!("nothing is loaded")
    }
}

/// Directories for a backup and for files of a database, with a quote in their names.
struct Places {
    _dir: TempDir,
    backup: PathBuf,
    data: PathBuf,
}

impl Places {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let backup = dir.path().join("o'hare");
        let data = dir.path().join("data");
        for place in [&backup, &data] {
            fs::create_dir(place).unwrap();
        }
        Self {
            _dir: dir,
            backup,
            data,
        }
    }

    fn back_up(&self, server: &FakeServer, control: &LoadControl) -> Result<Taken, LoadError> {
        back_up(
            server,
            "a]b'c",
            BackupControl { jobs: 2, control },
            &self.backup,
        )
    }

    fn restore(
        &self,
        server: &FakeServer,
        control: &LoadControl,
    ) -> Result<(OwnDatabase, Timed), LoadError> {
        let task = BackupControl { jobs: 2, control };
        OwnDatabase::restore(server, "a]b'c", task, &self.backup, &self.data)
    }

    /// The path as a literal has it.
    fn quoted(&self) -> String {
        self.backup.display().to_string().replace('\'', "''")
    }
}

#[test]
fn a_backup_is_striped_and_leaves_the_owners_chain() {
    let places = Places::new();
    let server = FakeServer::new(Work::Done);
    let taken = places.back_up(&server, &LoadControl::default()).unwrap();
    let expected = Taken {
        bytes: 10,
        program: "SQL Server 16.0.4135.4".into(),
        jobs: 2,
    };
    assert_eq!(taken, expected);
    let dir = places.quoted();
    let statement = format!(
        "BACKUP DATABASE [a]]b'c] TO DISK = N'{dir}/plimsoll-1.bak', DISK = N'{dir}/plimsoll-2.bak' \
         WITH COPY_ONLY, INIT, CHECKSUM, NO_COMPRESSION, STATS = 10"
    );
    assert_eq!(server.statements("BACKUP"), [statement]);
    assert_eq!(server.statements("KILL"), [""; 0]);
}

#[test]
fn a_refused_backup_has_a_next_step() {
    let places = Places::new();
    let error = |work| {
        let control = LoadControl::default();
        let error = places.back_up(&FakeServer::new(work), &control);
        error.unwrap_err()
    };
    let denied = error(Work::Refused(
        262,
        "BACKUP DATABASE permission denied in database 'a]b'c'.",
    ));
    assert_eq!(
        denied.to_string(),
        format!(
            "backing up database a]b'c refuses this user\n\
             BACKUP DATABASE permission denied in database 'a]b'c'. (error 262)\n{NEXT_WITHOUT_BACKUP_RIGHT}"
        )
    );
    let closed = error(Work::Refused(
        3201,
        "Cannot open backup device '/b/plimsoll-1.bak'. Operating system error 5(Access is denied.).",
    ));
    let message = closed.to_string();
    assert!(
        message.contains("(error 3201)\nThe server itself reads and writes")
            && message.contains("its user must be able to write"),
        "{message}"
    );
    let full = error(Work::Refused(
        3202,
        "Write on \"/b/plimsoll-1.bak\" failed: 112(There is not enough space on the disk.)",
    ));
    assert!(matches!(full, LoadError::DiskFull { .. }), "{full}");
    let elsewhere = error(Work::Elsewhere).to_string();
    assert!(
        elsewhere.contains("plimsoll-1.bak was not found")
            && elsewhere.contains("Run plimsoll on the server's machine"),
        "{elsewhere}"
    );
    let babelfish = FakeServer::new(Work::Done).with(|state| state.version = "Babelfish");
    let error = places.back_up(&babelfish, &LoadControl::default());
    let message = error.unwrap_err().to_string();
    assert!(
        message.starts_with("cannot back up Babelfish\n"),
        "{message}"
    );
}

/// Ends when the session has begun its work.
fn cancel_at_work(server: &FakeServer, beginning: &str, control: &LoadControl) {
    assert!(wait_until(60, || !server.statements(beginning).is_empty()));
    control.cancel();
}

#[test]
fn a_cancelled_backup_is_killed_and_waited_for() {
    let places = Places::new();
    for work in [Work::Endless, Work::NotKilled] {
        let server = FakeServer::new(work);
        let control = LoadControl::default();
        let result = thread::scope(|scope| {
            scope.spawn(|| cancel_at_work(&server, "BACKUP", &control));
            places.back_up(&server, &control)
        });
        assert!(matches!(result, Err(LoadError::Cancelled)), "{result:?}");
        assert_eq!(server.statements("KILL"), ["KILL 51"], "the session's own");
        assert!(server.0.lock().unwrap().locks.is_empty());
    }
    let server = FakeServer::new(Work::Done);
    let control = LoadControl::default();
    control.cancel();
    let result = places.back_up(&server, &control);
    assert!(matches!(result, Err(LoadError::Cancelled)), "{result:?}");
    assert_eq!(server.statements("BACKUP"), [""; 0], "nor does one begin");
}

#[test]
fn a_session_that_does_not_end_is_reported() {
    let places = Places::new();
    let server = FakeServer::new(Work::Endless).with(|state| state.locks_stay = true);
    let control = LoadControl::default();
    let result = thread::scope(|scope| {
        scope.spawn(|| cancel_at_work(&server, "BACKUP", &control));
        places.back_up(&server, &control)
    });
    let message = result.unwrap_err().to_string();
    assert!(
        message.contains("the server still works at it after 1 s\nWait until session 51 has ended"),
        "{message}"
    );
}

#[test]
fn a_backup_is_restored_under_a_name_of_its_own_and_dropped() {
    let places = Places::new();
    let taken = ("A]B'C_restored_1".to_owned(), "/theirs.mdf".to_owned());
    let server = FakeServer::new(Work::Done).with(|state| state.databases.push(taken));
    let before = server.databases();
    let control = LoadControl::default();
    places.back_up(&server, &control).unwrap();
    let (database, timed) = places.restore(&server, &control).unwrap();
    assert_eq!(database.name, "a]b'c_restored_2");
    assert_eq!(
        (timed.bytes, timed.program.as_str()),
        (10, "SQL Server 16.0.4135.4")
    );
    assert!(timed.began < timed.ended);
    let (dir, data) = (places.quoted(), places.data.display());
    let disks = format!("FROM DISK = N'{dir}/plimsoll-1.bak', DISK = N'{dir}/plimsoll-2.bak'");
    let statement = format!(
        "RESTORE DATABASE [a]]b'c_restored_2] {disks} WITH MOVE N'tpcc' TO N'{data}/file-1.mdf', \
         MOVE N'tpcc_log' TO N'{data}/file-2.ldf', MOVE N'o''neil]' TO N'{data}/file-3.mdf', \
         MOVE N'memory' TO N'{data}/file-4.files', CHECKSUM, STATS = 10"
    );
    let restores = server.statements("RESTORE");
    assert_eq!(
        restores,
        [format!("RESTORE FILELISTONLY {disks}"), statement]
    );
    assert!(!restores[1].contains("REPLACE"), "nothing is overwritten");
    database.remove(&server).unwrap();
    assert_eq!(server.databases(), before, "and nothing else is dropped");
}

#[test]
fn what_a_failed_restore_leaves_is_dropped() {
    let places = Places::new();
    let control = LoadControl::default();
    places
        .back_up(&FakeServer::new(Work::Done), &control)
        .unwrap();
    let damaged = Work::Refused(3183, "RESTORE detected an error on page (1:17) in database");
    let server = FakeServer::new(damaged);
    let error = places.restore(&server, &control).err().unwrap();
    assert!(error.to_string().contains("(error 3183)"), "{error}");
    assert_eq!(server.databases(), ["master"]);
    let denied = Work::Refused(
        262,
        "CREATE DATABASE permission denied in database 'master'.",
    );
    let error = places.restore(&FakeServer::new(denied), &control).err();
    let message = error.unwrap().to_string();
    assert!(message.ends_with(NEXT_WITHOUT_CREATE_RIGHT), "{message}");
    let server = FakeServer::new(Work::Endless);
    let result = thread::scope(|scope| {
        scope.spawn(|| cancel_at_work(&server, "RESTORE DATABASE", &control));
        places.restore(&server, &control)
    });
    assert!(matches!(result.err(), Some(LoadError::Cancelled)));
    assert_eq!(server.databases(), ["master"]);
}

#[test]
fn a_database_of_others_is_never_dropped() {
    let name = "tpcc_restored_1".to_owned();
    let theirs = (name.clone(), "/data/theirs.mdf".to_owned());
    let server = FakeServer::new(Work::Done).with(|state| state.databases.push(theirs));
    let database = OwnDatabase {
        name,
        file: "/scratch/file-1.mdf".into(),
    };
    database.drop_if_own(&server).unwrap();
    assert_eq!(server.databases(), ["master", "tpcc_restored_1"]);
    let message = database.remove(&server).unwrap_err().to_string();
    assert!(
        message.ends_with("is left on the server\nDrop it: DROP DATABASE [tpcc_restored_1]."),
        "{message}"
    );
}

#[test]
fn a_database_that_cannot_be_dropped_is_reported() {
    let places = Places::new();
    let control = LoadControl::default();
    let server = FakeServer::new(Work::Done).with(|state| state.drops = false);
    places.back_up(&server, &control).unwrap();
    let restored = places.restore(&server, &control).unwrap();
    let message = restored.0.remove(&server).unwrap_err().to_string();
    assert!(
        message.contains("DROP DATABASE [a]]b'c_restored_1]"),
        "{message}"
    );
}

#[test]
fn long_names_keep_room_for_the_suffix() {
    let server = FakeServer::new(Work::Done);
    let name = free_name(server.connect().unwrap().as_mut(), &"x".repeat(128)).unwrap();
    assert_eq!(name, format!("{}_restored_1", "x".repeat(LONGEST_NAME)));
}

#[test]
fn on_roots_behalf_the_directory_becomes_the_servers() {
    let places = Places::new();
    let file = places.data.join("tpcc.mdf");
    fs::write(&file, "pages").unwrap();
    let before = fs::metadata(&places.backup).unwrap();
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        chown(&file, Some(12_345), Some(54_321)).unwrap();
    }
    let data_file = file.display().to_string();
    let server = FakeServer::new(Work::Done).with(|state| state.data_file = data_file);
    places.back_up(&server, &LoadControl::default()).unwrap();
    let after = fs::metadata(&places.backup).unwrap();
    let expected = if is_root {
        (12_345, 54_321, 0o700)
    } else {
        (before.uid(), before.gid(), before.mode() & 0o777)
    };
    assert_eq!((after.uid(), after.gid(), after.mode() & 0o777), expected);
}

fn unreachable() -> Target {
    Target {
        engine: ServerKind::Sqlserver,
        conninfo: "mssql://u@127.0.0.1:1?encrypt=false".into(),
        schema: "tpcc_restored_1".into(),
        changes_tables: false,
    }
}

#[test]
fn a_copy_that_cannot_be_dropped_is_an_error_with_the_statement() {
    let database = OwnDatabase {
        name: "tpcc_restored_1".into(),
        file: "/nowhere/file-1.mdf".into(),
    };
    let copy = DatabaseCopy::new(&unreachable(), Box::new(database));
    let message = copy.end().unwrap_err().to_string();
    assert!(
        message.ends_with("\nDrop it: DROP DATABASE [tpcc_restored_1]."),
        "{message}"
    );
}

#[test]
fn there_are_physical_backups_only() {
    let control = LoadControl::default();
    let task = BackupControl {
        jobs: 1,
        control: &control,
    };
    let back_up = |method| unreachable().back_up(method, task, Path::new("/nowhere"));
    let message = back_up(BackupMethod::Logical).unwrap_err().to_string();
    assert!(
        message.contains("its BACKUP DATABASE") && message.contains("leave `method` out"),
        "{message}"
    );
    let error = back_up(BackupMethod::Physical).unwrap_err();
    assert!(matches!(error, LoadError::Unreachable { .. }), "{error}");
}
