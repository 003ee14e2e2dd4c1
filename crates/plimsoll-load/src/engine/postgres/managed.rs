//! A PostgreSQL server of plimsoll's own: created in a scratch directory, started, watched, stopped.
//!
//! It listens on a Unix socket in a directory that only its user may enter, and on no port. What it says goes to a log
//! file in the scratch directory; errors quote it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use plimsoll_model::plan::resolved::OWN_POSTGRES_SETTINGS;
use rustix::process::{Pid, Signal};

use super::binaries;
use super::unprivileged::{Unprivileged, hand_over, reachable, unprivileged};
use crate::error::LoadError;
use crate::scratch::{Scratch, io_error, kill_all, servers_work_in, wait_until};

/// The superuser that `initdb` creates.
const USER: &str = "plimsoll";
/// The name of the socket file in its directory, `.s.PGSQL.5432`, with its slash.
const SOCKET_NAME: usize = 14;
const START_SECONDS: u64 = 120;
/// The log of a crashed server is replayed as fast as its drive reads and writes.
const RECOVERY_SECONDS: u64 = 24 * 3600;
/// How long a backend may go on with its query after the postmaster's end.
const BACKENDS_SECONDS: u64 = 30;

const NEXT_WHEN_REFUSED: &str = "If it names a setting, correct `settings` in the plan.";
const NEXT_WHEN_DEAD: &str = "If nobody stopped the server, `dmesg` tells whether memory ran out.";

/// A running server. Stops when dropped. The scratch directory it lives in must outlive it.
#[derive(Debug)]
pub struct ManagedPostgres {
    child: Mutex<Child>,
    programs: PathBuf,
    user: Option<Unprivileged>,
    data: PathBuf,
    socket: PathBuf,
    log: PathBuf,
}

impl ManagedPostgres {
    /// Creates a database cluster in `scratch` and starts its server. `settings` go to postgresql.conf and are judged
    /// by the server; `binaries` is the folder of its programs, empty to look for it.
    pub fn start(
        scratch: &mut Scratch,
        settings: &BTreeMap<String, String>,
        binaries: &str,
    ) -> Result<Self, LoadError> {
        let programs = binaries::find(binaries)?;
        let config = configuration(settings)?;
        let user = unprivileged()?;
        let data = scratch.dir("postgres")?;
        let socket = scratch.socket_dir("socket", SOCKET_NAME)?;
        for dir in [&data, &socket] {
            hand_over(dir, user.as_ref(), 0o700)?;
        }
        if let Some(user) = &user {
            reachable(&data, user)?;
        }
        let log = scratch.path().join("postgres.log");
        File::create(&log).map_err(|e| io_error(&log, &e))?;
        init(&programs, &data, &log, user.as_ref())?;
        configure(&data, &socket, &config)?;
        let child = Mutex::new(serve(&programs, &data, user.as_ref(), &log)?);
        let server = Self { child, programs, user, data, socket, log };
        server.wait_ready(START_SECONDS, &|| false)?;
        Ok(server)
    }

    /// Ends all of the server's processes at once, as a power failure does.
    pub fn crash(&self) -> Result<(), LoadError> {
        // Again and again: a process may have been about to start another one.
        let ended = wait_until(10, || {
            kill_all(&self.data);
            self.exit_status().is_some() && !servers_work_in(&self.data)
        });
        if ended { Ok(()) } else { Err(self.does_not_end()) }
    }

    /// Starts the server again after [`Self::crash`], on the data that are there. It recovers before it is ready.
    /// That may take long on a slow drive, and ends early only when `cancelled`.
    pub fn restart(&self, cancelled: &dyn Fn() -> bool) -> Result<(), LoadError> {
        // What the dead server has left says "ready", or is a lock file that nobody can read any more.
        let socket = self.socket.join(".s.PGSQL.5432");
        for left in [self.data.join("postmaster.pid"), socket.with_extension("5432.lock"), socket] {
            match fs::remove_file(&left) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(io_error(&left, &error)),
                _ => {}
            }
        }
        let log = OpenOptions::new().append(true).create(true).open(&self.log);
        log.map_err(|e| io_error(&self.log, &e))?;
        *self.lock() = serve(&self.programs, &self.data, self.user.as_ref(), &self.log)?;
        self.wait_ready(RECOVERY_SECONDS, cancelled)
    }

    fn lock(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Process id of the postmaster, the parent of all the server's processes.
    pub fn pid(&self) -> u32 {
        self.lock().id()
    }

    pub fn data_dir(&self) -> &Path {
        &self.data
    }

    /// How to connect, as key/value pairs. Holds no secret: the socket's directory is what protects the server.
    ///
    /// Errors of plimsoll's own sessions are not logged (`log` ranks above `error` there, below `fatal`): plimsoll counts
    /// and tells them, and the log is on the medium that is measured, where the rollbacks of clause 2.4.1.4 would write
    /// three lines each. FATAL, PANIC and LOG are logged, and so are the errors of the server's own processes.
    pub fn conninfo(&self) -> String {
        let socket = self.socket.display().to_string().replace('\\', "\\\\").replace('\'', "\\'");
        format!(
            "host='{socket}' port=5432 user={USER} dbname=postgres application_name=plimsoll options='-c log_min_messages=log'"
        )
    }

    /// Why the server is no longer there, quoting its log; `None` while it runs.
    pub fn died(&self) -> Option<LoadError> {
        let status = self.exit_status()?;
        Some(failed("The PostgreSQL server", &describe(status), &self.log, NEXT_WHEN_DEAD))
    }

    /// The reason behind an error that a connection saw, where the server's log tells more: a full disk makes the server
    /// end all connections, and perhaps itself.
    pub fn explain(&self, error: LoadError) -> LoadError {
        if !matches!(error, LoadError::Died { .. } | LoadError::Unreachable { .. }) {
            return error;
        }
        // Backends notice before the postmaster has ended.
        wait_until(2, || self.exit_status().is_some());
        if self.exit_status().is_some() || lack_of_space(&self.log).is_some() {
            return failed("The PostgreSQL server", &error.to_string(), &self.log, NEXT_WHEN_DEAD);
        }
        error
    }

    fn exit_status(&self) -> Option<ExitStatus> {
        self.lock().try_wait().ok().flatten()
    }

    /// As `pg_ctl start` does: the last line of postmaster.pid says when connections are accepted.
    fn wait_ready(&self, seconds: u64, cancelled: &dyn Fn() -> bool) -> Result<(), LoadError> {
        let pid_file = self.data.join("postmaster.pid");
        let is_ready = || {
            let text = fs::read_to_string(&pid_file).unwrap_or_default();
            text.lines().nth(7).is_some_and(|line| line.trim() == "ready")
        };
        let mut ended = None;
        let ready = wait_until(seconds, || {
            ended = self.exit_status();
            ended.is_some() || cancelled() || is_ready()
        });
        if cancelled() {
            return Err(LoadError::Cancelled);
        }
        match ended {
            Some(status) => Err(not_started(&describe(status), &self.log)),
            None if ready => Ok(()),
            None => Err(not_started(&format!("it is not ready after {seconds} s"), &self.log)),
        }
    }

    /// Stops the server: fast (SIGINT) with 30 s to end, then immediately (SIGQUIT), then SIGKILL.
    pub fn stop(self) -> Result<(), LoadError> {
        self.end()
    }

    /// Backends outlive a postmaster that was killed, and write until they notice.
    fn end(&self) -> Result<(), LoadError> {
        for (signal, seconds) in [(Signal::INT, 30), (Signal::QUIT, 5), (Signal::KILL, 10)] {
            if self.exit_status().is_some() {
                break;
            }
            // The child is not reaped yet, so the pid is still its own.
            if let Some(pid) = Pid::from_raw(self.pid().cast_signed()) {
                let _ = rustix::process::kill_process(pid, signal);
            }
            wait_until(seconds, || self.exit_status().is_some());
        }
        if self.exit_status().is_some() && wait_until(BACKENDS_SECONDS, || !servers_work_in(&self.data)) {
            return Ok(());
        }
        Err(self.does_not_end())
    }

    fn does_not_end(&self) -> LoadError {
        LoadError::other(format!("PostgreSQL server {}", self.pid()), "does not end, not even killed")
    }
}

impl Drop for ManagedPostgres {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            tracing::warn!("{error}");
        }
    }
}

fn describe(status: ExitStatus) -> String {
    format!("the server ended with {status}")
}

/// The plan's settings as lines of postgresql.conf. Names are checked here because a name could smuggle in another
/// directive; values are the server's to judge.
fn configuration(settings: &BTreeMap<String, String>) -> Result<String, LoadError> {
    let mut lines = String::new();
    for (name, value) in settings {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') || !name.chars().all(plain) {
            return Err(LoadError::other(format!("PostgreSQL setting {name:?}"), "is not a name of a setting"));
        }
        if OWN_POSTGRES_SETTINGS.contains(&name.to_ascii_lowercase().as_str()) {
            return Err(LoadError::other(
                format!("PostgreSQL setting {name}"),
                "is plimsoll's own on a server that it manages; leave it out",
            ));
        }
        if value.contains(['\n', '\r', '\0']) {
            return Err(LoadError::other(format!("PostgreSQL setting {name}"), "its value must be one line"));
        }
        let _ = writeln!(lines, "{name} = {}", quote(value));
    }
    Ok(lines)
}

/// A value as postgresql.conf quotes it: a backslash begins an escape there, so it is doubled like a quote.
fn quote(value: &str) -> String {
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "''"))
}

/// Writes the settings and who may connect: any name over the socket, nobody over TCP.
fn configure(data: &Path, socket: &Path, settings: &str) -> Result<(), LoadError> {
    let conf = data.join("postgresql.conf");
    let lines = format!(
        "\n# plimsoll\nlisten_addresses = ''\nunix_socket_directories = {}\nunix_socket_permissions = 0700\n\
         logging_collector = off\nlog_destination = 'stderr'\n\n# The plan\n{settings}",
        quote(&format!("\"{}\"", socket.display().to_string().replace('"', "\"\"")))
    );
    let append = || write_durably(&mut OpenOptions::new().append(true).open(&conf)?, &lines);
    append().map_err(|e| io_error(&conf, &e))?;
    let hba = data.join("pg_hba.conf");
    let replace = || write_durably(&mut File::create(&hba)?, "local all all trust\n");
    replace().map_err(|e| io_error(&hba, &e))
}

/// On the medium when this returns: a server that comes back after a power cut reads it again. ext4 keeps the new length
/// of a file whose last block was appended to, and loses what is in it.
fn write_durably(file: &mut File, text: &str) -> io::Result<()> {
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// A program run as that user, with its data directory as working directory and in a process group of its own, so that
/// a terminal's Ctrl-C reaches plimsoll alone.
pub(super) fn command(program: &Path, data: &Path, user: Option<&Unprivileged>) -> Command {
    let mut command = Command::new(program);
    // An error message in another language could not be recognised; PG* variables belong to somebody else's server.
    command.env("LC_ALL", "C");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("PG")) {
        command.env_remove(name);
    }
    command.current_dir(data).stdin(Stdio::null()).process_group(0);
    if let Some(user) = user {
        // std drops the supplementary groups along with the uid.
        command.uid(user.uid).gid(user.gid);
    }
    command
}

fn serve(programs: &Path, data: &Path, user: Option<&Unprivileged>, log: &Path) -> Result<Child, LoadError> {
    let mut command = command(&programs.join("postgres"), data, user);
    command.arg("-D").arg(data);
    spawn(&mut command, log)
}

fn spawn(command: &mut Command, log: &Path) -> Result<Child, LoadError> {
    let file = OpenOptions::new().append(true).open(log).map_err(|e| io_error(log, &e))?;
    let again = file.try_clone().map_err(|e| io_error(log, &e))?;
    let program = command.get_program().to_owned();
    command
        .stdout(file)
        .stderr(again)
        .spawn()
        .map_err(|e| LoadError::other(format!("{} cannot be started", program.display()), e))
}

/// `initdb` with its own final sync: the files must be on the medium before anything is measured.
fn init(programs: &Path, data: &Path, log: &Path, user: Option<&Unprivileged>) -> Result<(), LoadError> {
    let mut command = command(&programs.join("initdb"), data, user);
    command.arg("-D").arg(data).args(["-U", USER, "--auth=trust", "--encoding=UTF8", "--locale=C"]);
    let status = spawn(&mut command, log)?.wait().map_err(|e| LoadError::other("initdb", e))?;
    if status.success() {
        return Ok(());
    }
    Err(failed("initdb", &format!("it ended with {status}"), log, NEXT_WHEN_REFUSED))
}

fn not_started(why: &str, log: &Path) -> LoadError {
    failed("The PostgreSQL server", why, log, NEXT_WHEN_REFUSED)
}

/// What the log says, as an error with the next step; `next` unless the log names a better one.
fn failed(what: &str, why: &str, log: &Path, next: &str) -> LoadError {
    if let Some(line) = lack_of_space(log) {
        return LoadError::DiskFull {
            place: log.parent().unwrap_or(log).display().to_string(),
            why: format!("{what}: {line}"),
            next: "Free space there, choose another medium, or shrink the data with --data-scale.".into(),
        };
    }
    LoadError::Died {
        what: what.into(),
        why: format!("{why}; its log ends with:\n{}", last_lines(log, 12)),
        next: next.into(),
    }
}

/// Whether a message of the server or of initdb is about a full disk (ENOSPC, EDQUOT in the C locale).
pub(crate) fn is_disk_full(message: &str) -> bool {
    message.contains("No space left on device") || message.contains("Disk quota exceeded")
}

/// The last line of the log that is about a full disk. A server that lost a backend to it tells some twenty lines more:
/// of the end of its connections, and of recovering.
fn lack_of_space(log: &Path) -> Option<String> {
    last_lines(log, 60).lines().rfind(|line| is_disk_full(line)).map(str::to_owned)
}

/// The last lines of a log, without initdb's success story.
fn last_lines(log: &Path, most: usize) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let start = lines.iter().rposition(|line| line.starts_with("Success.")).map_or(0, |i| (i + 2).min(lines.len()));
    lines[start.max(lines.len().saturating_sub(most))..].join("\n")
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use proptest::prelude::*;

    use super::*;
    use crate::scratch::sweep;

    fn settings(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()
    }

    #[test]
    fn settings_are_lines_and_nothing_else() {
        let lines = configuration(&settings(&[("shared_buffers", "1GB"), ("search_path", "a'b\\c")])).unwrap();
        assert_eq!(lines, "search_path = 'a''b\\\\c'\nshared_buffers = '1GB'\n");
        for (name, value) in [("include", "x"), ("Port", "1"), ("a b", "1"), ("", "1"), ("work_mem", "1\nport=1")] {
            assert!(configuration(&settings(&[(name, value)])).is_err(), "{name}");
        }
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(name in ".*", value in ".*") {
            let _ = configuration(&settings(&[(&name, &value)]));
        }
    }

    #[test]
    fn a_full_disk_is_recognised_in_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("postgres.log");
        fs::write(&log, "PANIC:  could not write to file \"pg_wal/xlogtemp.7\": No space left on device\nLOG:  x\n")
            .unwrap();
        assert!(matches!(failed("server", "it ended", &log, NEXT_WHEN_DEAD), LoadError::DiskFull { .. }));
        fs::write(&log, format!("No space left on device\n{}PANIC:  other\n", "LOG:  x\n".repeat(80))).unwrap();
        assert!(matches!(failed("server", "it ended", &log, NEXT_WHEN_DEAD), LoadError::Died { .. }), "long ago");
    }

    #[test]
    fn a_wrong_setting_is_named_in_the_servers_words_and_nothing_remains() {
        let medium = tempfile::tempdir().unwrap();
        fs::set_permissions(medium.path(), Permissions::from_mode(0o755)).unwrap();
        let mut scratch = Scratch::create(medium.path(), "wrong").unwrap();
        let wrong = settings(&[("shared_bufers", "1GB")]);
        let error = ManagedPostgres::start(&mut scratch, &wrong, "").unwrap_err().to_string();
        assert!(error.contains("unrecognized configuration parameter \"shared_bufers\""), "{error}");
        drop(scratch);
        assert_eq!(fs::read_dir(medium.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_closed_parent_is_named() {
        if !rustix::process::geteuid().is_root() {
            // An ordinary user's server runs as that user: there is nothing to be closed.
            assert_eq!(unprivileged().unwrap(), None);
            return;
        }
        let medium = tempfile::tempdir().unwrap();
        fs::set_permissions(medium.path(), Permissions::from_mode(0o700)).unwrap();
        let mut scratch = Scratch::create(medium.path(), "closed").unwrap();
        let error = ManagedPostgres::start(&mut scratch, &BTreeMap::new(), "").unwrap_err().to_string();
        let expected = format!("chmod o+x '{}'", medium.path().canonicalize().unwrap().display());
        assert!(error.contains(&expected), "{error}");
    }

    #[test]
    fn the_end_is_the_end_of_all_processes() {
        let medium = tempfile::tempdir().unwrap();
        fs::set_permissions(medium.path(), Permissions::from_mode(0o755)).unwrap();
        let mut scratch = Scratch::create(medium.path(), "end").unwrap();
        let server = ManagedPostgres::start(&mut scratch, &BTreeMap::new(), "").unwrap();
        let (conninfo, data) = (server.conninfo(), server.data_dir().to_owned());
        // Busy without ever waiting: it does not notice at once that the postmaster is gone.
        let busy = std::thread::spawn(move || {
            super::super::blocking(|| async {
                let client = super::super::connect::connect(&conninfo).await?;
                let _ = client.batch_execute("SELECT count(*) FROM generate_series(1, 20000000)").await;
                Ok(())
            })
        });
        assert!(wait_until(10, || servers_work_in(&data)));
        std::thread::sleep(std::time::Duration::from_millis(500));
        rustix::process::kill_process(Pid::from_raw(server.pid().cast_signed()).unwrap(), Signal::KILL).unwrap();
        assert!(wait_until(10, || server.died().is_some()));
        // As a backend that found no room writes it, with what its end makes the others say.
        let last_words = format!("FATAL:  x: No space left on device\n{}", "LOG:  x\n".repeat(20));
        OpenOptions::new().append(true).open(&server.log).unwrap().write_all(last_words.as_bytes()).unwrap();
        let error = server.died().unwrap();
        assert!(matches!(error, LoadError::DiskFull { .. }), "{error}");
        assert!(error.to_string().contains("FATAL:  x: No space left on device\nFree space there"), "{error}");
        server.stop().unwrap();
        assert!(!servers_work_in(&data));
        busy.join().unwrap().unwrap();
    }

    #[test]
    fn a_crashed_server_recovers() {
        let medium = tempfile::tempdir().unwrap();
        fs::set_permissions(medium.path(), Permissions::from_mode(0o755)).unwrap();
        let mut scratch = Scratch::create(medium.path(), "crash").unwrap();
        let server = ManagedPostgres::start(&mut scratch, &BTreeMap::new(), "").unwrap();
        let run = |sql: &'static str| {
            super::super::blocking(|| async {
                let client = super::super::connect::connect(&server.conninfo()).await?;
                client.query_one(sql, &[]).await.map_err(|e| LoadError::other(sql, e)).map(|row| row.get::<_, i64>(0))
            })
        };
        run("SELECT count(*) FROM pg_database").unwrap();
        let first = server.pid();
        server.crash().unwrap();
        assert!(matches!(server.died(), Some(LoadError::Died { .. })));
        server.restart(&|| false).unwrap();
        assert!(server.pid() != first && server.died().is_none());
        assert!(fs::read_to_string(&server.log).unwrap().contains("not properly shut down; automatic recovery"));
        assert_eq!(run("SELECT count(*) FROM pg_database WHERE datname = 'postgres'").unwrap(), 1);
    }

    /// One life of a server: started, found dead by its owner, found running by the sweep of a dead owner's leftovers.
    #[test]
    fn a_server_lives_dies_and_is_swept() {
        let medium = tempfile::tempdir().unwrap();
        fs::set_permissions(medium.path(), Permissions::from_mode(0o755)).unwrap();
        // Long enough for the socket to go elsewhere.
        let mut scratch = Scratch::create(medium.path(), &"long".repeat(25)).unwrap();
        let server = ManagedPostgres::start(&mut scratch, &BTreeMap::new(), "").unwrap();
        assert!(server.died().is_none());
        let (pid, socket) = (server.pid().cast_signed(), server.socket.clone());
        assert!(socket.join(".s.PGSQL.5432").exists() && !socket.starts_with(medium.path()));
        assert_eq!(fs::metadata(&socket).unwrap().mode() & 0o777, 0o700);
        assert_eq!(sweep(medium.path(), &|_| Ok(Vec::new())).unwrap(), [""; 0], "the owner lives");
        assert!(server.died().is_none());

        let path = scratch.abandon();
        // As init would reap an orphan, so that the process is seen to end.
        std::thread::scope(|scope| {
            scope.spawn(|| wait_until(30, || server.died().is_some()));
            let said = sweep(medium.path(), &|_| Ok(Vec::new())).unwrap();
            assert!(said[0].contains(&format!("Stopped the PostgreSQL server {pid}")), "{said:?}");
        });
        assert!(!path.exists() && !socket.exists());
        assert!(matches!(server.died(), Some(LoadError::Died { .. })));
    }
}
