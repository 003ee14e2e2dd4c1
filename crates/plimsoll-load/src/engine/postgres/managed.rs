//! A PostgreSQL server of plimsoll's own: created in a scratch directory, started, watched, stopped.
//!
//! It listens on a Unix socket in a directory that only its user may enter, and on no port. Its messages go to a log
//! file in the scratch directory; errors quote it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::Command;

use plimsoll_plan::resolved::ServerKind;

use super::binaries;
use crate::engine::server::{
    RECOVERY_SECONDS, START_SECONDS, ServerContext, ServerProcess, remove_left, write_durably,
};
use crate::error::LoadError;
use crate::limit::CgroupLimits;
use crate::scratch::{Scratch, io_error};

/// The superuser that `initdb` creates.
const USER: &str = "plimsoll";
/// The name of the socket file in its directory, `.s.PGSQL.5432`, with its slash.
const SOCKET_NAME: usize = 14;

/// A running server. Stops when dropped. The scratch directory it lives in must outlive it.
#[derive(Debug)]
pub struct ManagedPostgres {
    process: ServerProcess,
    pub(super) programs: PathBuf,
    /// The plan's, as lines of postgresql.conf.
    settings: String,
}

impl ManagedPostgres {
    /// Creates a database cluster in `scratch` and starts its server. `settings` go to postgresql.conf and are checked
    /// by the server; `binaries` is the folder of its programs, empty to search for it; `cgroup` limits it.
    pub fn start(
        scratch: &mut Scratch,
        settings: &BTreeMap<String, String>,
        binaries: &str,
        cgroup: Option<CgroupLimits>,
    ) -> Result<Self, LoadError> {
        let programs = binaries::find(binaries)?;
        let settings = configuration(settings)?;
        let context = ServerContext::create(ServerKind::Postgres, scratch, SOCKET_NAME, cgroup)?;
        init(&programs, &context)?;
        Self::start_in(context, programs, settings, START_SECONDS, &|| false)
    }

    /// A second server with the same programs and settings. `fill` puts its data directory, which is there, in place of
    /// `initdb`; what a crash of the first one at that moment would have left is recovered.
    pub(crate) fn start_second(
        &self,
        scratch: &mut Scratch,
        cgroup: Option<CgroupLimits>,
        fill: impl FnOnce(&ServerContext) -> Result<(), LoadError>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Self, LoadError> {
        let context = ServerContext::create(ServerKind::Postgres, scratch, SOCKET_NAME, cgroup)?;
        fill(&context)?;
        Self::start_in(
            context,
            self.programs.clone(),
            self.settings.clone(),
            RECOVERY_SECONDS,
            cancelled,
        )
    }

    /// A second server as this one was before anything was in it.
    pub(super) fn start_empty(
        &self,
        scratch: &mut Scratch,
        cgroup: Option<CgroupLimits>,
    ) -> Result<Self, LoadError> {
        self.start_second(
            scratch,
            cgroup,
            |context| init(&self.programs, context),
            &|| false,
        )
    }

    fn start_in(
        context: ServerContext,
        programs: PathBuf,
        settings: String,
        seconds: u64,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Self, LoadError> {
        configure(&context, &settings)?;
        let mut serve = serve(&programs, &context);
        let server = Self {
            process: ServerProcess::start(context, &mut serve)?,
            programs,
            settings,
        };
        server.wait_ready(seconds, cancelled)?;
        Ok(server)
    }

    pub fn process(&self) -> &ServerProcess {
        &self.process
    }

    /// Starts the server again after a crash, on the data that are there. It recovers before it is ready.
    /// That may take long on a slow drive, and ends early only when `cancelled`.
    pub fn restart(&self, cancelled: &dyn Fn() -> bool) -> Result<(), LoadError> {
        let context = &self.process.context;
        // The dead server's file still reads "ready", or is a lock file that is no longer readable.
        let socket = context.socket.join(".s.PGSQL.5432");
        for left in [
            context.data.join("postmaster.pid"),
            socket.with_extension("5432.lock"),
            socket,
        ] {
            remove_left(&left)?;
        }
        self.process
            .start_again(&mut serve(&self.programs, context))?;
        self.wait_ready(RECOVERY_SECONDS, cancelled)
    }

    /// How to connect, as key/value pairs. Holds no secret: the socket's directory is what protects the server.
    ///
    /// Errors of plimsoll's own sessions are not logged (`log` ranks above `error` there, below `fatal`): plimsoll counts
    /// and reports them, and the log is on the medium that is measured, where the rollbacks of clause 2.4.1.4 would write
    /// three lines each. FATAL, PANIC and LOG are logged, and so are the errors of the server's own processes.
    pub fn conninfo(&self) -> String {
        let socket = self
            .process
            .context
            .socket
            .display()
            .to_string()
            .replace('\\', "\\\\")
            .replace('\'', "\\'");
        format!(
            "host='{socket}' port=5432 user={USER} dbname=postgres application_name=plimsoll options='-c log_min_messages=log'"
        )
    }

    /// As `pg_ctl start` does: the last line of postmaster.pid shows when connections are accepted.
    fn wait_ready(&self, seconds: u64, cancelled: &dyn Fn() -> bool) -> Result<(), LoadError> {
        let pid_file = self.process.data_dir().join("postmaster.pid");
        self.process.wait_ready(seconds, cancelled, &|| {
            let text = fs::read_to_string(&pid_file).unwrap_or_default();
            text.lines()
                .nth(7)
                .is_some_and(|line| line.trim() == "ready")
        })
    }
}

/// The plan's settings as lines of postgresql.conf. Names are checked here because a name could smuggle in another
/// directive; the server checks values.
fn configuration(settings: &BTreeMap<String, String>) -> Result<String, LoadError> {
    let mut lines = String::new();
    for (name, value) in settings {
        if !ServerKind::Postgres.is_setting_name(name) {
            return Err(LoadError::other(
                format!("PostgreSQL setting {name:?}"),
                "is not a name of a setting",
            ));
        }
        if ServerKind::Postgres.is_own_setting(name) {
            return Err(LoadError::other(
                format!("PostgreSQL setting {name}"),
                "is plimsoll's own on a server that it manages; leave it out",
            ));
        }
        if value.contains(['\n', '\r', '\0']) {
            return Err(LoadError::other(
                format!("PostgreSQL setting {name}"),
                "its value must be one line",
            ));
        }
        let _ = writeln!(lines, "{name} = {}", quote(value));
    }
    Ok(lines)
}

/// A value as postgresql.conf quotes it: a backslash begins an escape there, so it is doubled like a quote.
fn quote(value: &str) -> String {
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "''"))
}

/// Writes the settings and who may connect: any name over the socket, none over TCP. `all` databases are not those that
/// a base backup is taken through.
fn configure(context: &ServerContext, settings: &str) -> Result<(), LoadError> {
    let conf = context.data.join("postgresql.conf");
    let lines = format!(
        "\n# plimsoll\nlisten_addresses = ''\nunix_socket_directories = {}\nunix_socket_permissions = 0700\n\
         logging_collector = off\nlog_destination = 'stderr'\n\n# The plan\n{settings}",
        quote(&format!(
            "\"{}\"",
            context.socket.display().to_string().replace('"', "\"\"")
        ))
    );
    let append = || write_durably(&mut OpenOptions::new().append(true).open(&conf)?, &lines);
    append().map_err(|e| io_error(&conf, &e))?;
    let hba = context.data.join("pg_hba.conf");
    let replace = || {
        write_durably(
            &mut File::create(&hba)?,
            "local all all trust\nlocal replication all trust\n",
        )
    };
    replace().map_err(|e| io_error(&hba, &e))
}

fn serve(programs: &Path, context: &ServerContext) -> Command {
    let mut command = context.serve(&programs.join("postgres"));
    command.arg("-D").arg(&context.data);
    command
}

/// `initdb` with its own final sync: the files must be on the medium before anything is measured.
fn init(programs: &Path, context: &ServerContext) -> Result<(), LoadError> {
    let mut command = context.command(&programs.join("initdb"));
    command.arg("-D").arg(&context.data).args([
        "-U",
        USER,
        "--auth=trust",
        "--encoding=UTF8",
        "--locale=C",
    ]);
    context.make(&mut command)
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::io::Write as _;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use proptest::prelude::*;
    use rustix::process::{Pid, Signal};

    use super::*;
    use crate::engine::server::unprivileged;
    use crate::scratch::{servers_work_in, sweep, wait_until};

    fn settings(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(k, v)| (k.to_string(), v.to_string()))
            .collect()
    }

    #[test]
    fn settings_are_lines_and_nothing_else() {
        let lines = configuration(&settings(&[
            ("shared_buffers", "1GB"),
            ("search_path", "a'b\\c"),
        ]))
        .unwrap();
        assert_eq!(lines, "search_path = 'a''b\\\\c'\nshared_buffers = '1GB'\n");
        for (name, value) in [
            ("include", "x"),
            ("Port", "1"),
            ("a b", "1"),
            ("", "1"),
            ("work_mem", "1\nport=1"),
        ] {
            assert!(
                configuration(&settings(&[(name, value)])).is_err(),
                "{name}"
            );
        }
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(name in ".*", value in ".*") {
            let _ = configuration(&settings(&[(&name, &value)]));
        }
    }

    #[test]
    fn a_wrong_setting_is_named_in_the_servers_words_and_nothing_remains() {
        let medium = tempfile::tempdir().unwrap();
        fs::set_permissions(medium.path(), Permissions::from_mode(0o755)).unwrap();
        let mut scratch = Scratch::create(medium.path(), "wrong").unwrap();
        let wrong = settings(&[("shared_bufers", "1GB")]);
        let error = ManagedPostgres::start(&mut scratch, &wrong, "", None)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("unrecognized configuration parameter \"shared_bufers\""),
            "{error}"
        );
        drop(scratch);
        assert_eq!(fs::read_dir(medium.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_closed_parent_is_named() {
        if !rustix::process::geteuid().is_root() {
            // An ordinary user's server runs as that user: there is nothing to be closed.
            assert_eq!(unprivileged(ServerKind::Postgres).unwrap(), None);
            return;
        }
        let medium = tempfile::tempdir().unwrap();
        fs::set_permissions(medium.path(), Permissions::from_mode(0o700)).unwrap();
        let mut scratch = Scratch::create(medium.path(), "closed").unwrap();
        let error = ManagedPostgres::start(&mut scratch, &BTreeMap::new(), "", None)
            .unwrap_err()
            .to_string();
        let expected = format!(
            "chmod o+x '{}'",
            medium.path().canonicalize().unwrap().display()
        );
        assert!(error.contains(&expected), "{error}");
    }

    #[test]
    fn the_end_is_the_end_of_all_processes() {
        let medium = tempfile::tempdir().unwrap();
        fs::set_permissions(medium.path(), Permissions::from_mode(0o755)).unwrap();
        let mut scratch = Scratch::create(medium.path(), "end").unwrap();
        let server = ManagedPostgres::start(&mut scratch, &BTreeMap::new(), "", None).unwrap();
        let (conninfo, data) = (server.conninfo(), server.process.data_dir().to_owned());
        // Busy without ever waiting: it does not notice at once that the postmaster is gone.
        let (report, connected) = std::sync::mpsc::channel();
        let busy = std::thread::spawn(move || {
            super::super::blocking(|| async {
                let client = super::super::connect::connect(&conninfo).await?;
                report.send(()).unwrap();
                let _ = client
                    .batch_execute("SELECT count(*) FROM generate_series(1, 20000000)")
                    .await;
                Ok(())
            })
        });
        connected.recv().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(500));
        rustix::process::kill_process(
            Pid::from_raw(server.process.pid().cast_signed()).unwrap(),
            Signal::KILL,
        )
        .unwrap();
        assert!(wait_until(60, || server.process.died().is_some()));
        // As a backend that found no room writes it, with the messages of the others at its end.
        let last_words = format!(
            "FATAL:  x: No space left on device\n{}",
            "LOG:  x\n".repeat(20)
        );
        OpenOptions::new()
            .append(true)
            .open(server.process.log())
            .unwrap()
            .write_all(last_words.as_bytes())
            .unwrap();
        let error = server.process.died().unwrap();
        assert!(matches!(error, LoadError::DiskFull { .. }), "{error}");
        assert!(
            error
                .to_string()
                .contains("FATAL:  x: No space left on device\nFree space there"),
            "{error}"
        );
        server.process.end().unwrap();
        assert!(!servers_work_in(&data));
        busy.join().unwrap().unwrap();
    }

    #[test]
    fn a_crashed_server_recovers() {
        let medium = tempfile::tempdir().unwrap();
        fs::set_permissions(medium.path(), Permissions::from_mode(0o755)).unwrap();
        let mut scratch = Scratch::create(medium.path(), "crash").unwrap();
        let server = ManagedPostgres::start(&mut scratch, &BTreeMap::new(), "", None).unwrap();
        let run = |sql: &'static str| {
            super::super::blocking(|| async {
                let client = super::super::connect::connect(&server.conninfo()).await?;
                client
                    .query_one(sql, &[])
                    .await
                    .map_err(|e| LoadError::other(sql, e))
                    .map(|row| row.get::<_, i64>(0))
            })
        };
        run("SELECT count(*) FROM pg_database").unwrap();
        let first = server.process.pid();
        server.process.crash().unwrap();
        assert!(matches!(
            server.process.died(),
            Some(LoadError::Died { .. })
        ));
        server.restart(&|| false).unwrap();
        assert!(server.process.pid() != first && server.process.died().is_none());
        assert!(
            fs::read_to_string(server.process.log())
                .unwrap()
                .contains("not properly shut down; automatic recovery")
        );
        assert_eq!(
            run("SELECT count(*) FROM pg_database WHERE datname = 'postgres'").unwrap(),
            1
        );
    }

    /// One life of a server: started, found dead by its owner, found running by the sweep of a dead owner's leftovers.
    #[test]
    fn a_server_lives_dies_and_is_swept() {
        let medium = tempfile::tempdir().unwrap();
        fs::set_permissions(medium.path(), Permissions::from_mode(0o755)).unwrap();
        // Long enough for the socket to go elsewhere.
        let mut scratch = Scratch::create(medium.path(), &"long".repeat(25)).unwrap();
        let server = ManagedPostgres::start(&mut scratch, &BTreeMap::new(), "", None).unwrap();
        assert!(server.process.died().is_none());
        let (pid, socket) = (
            server.process.pid().cast_signed(),
            server.process.context.socket.clone(),
        );
        assert!(socket.join(".s.PGSQL.5432").exists() && !socket.starts_with(medium.path()));
        assert_eq!(fs::metadata(&socket).unwrap().mode() & 0o777, 0o700);
        assert_eq!(
            sweep(medium.path(), &|_| Ok(Vec::new())).unwrap(),
            [""; 0],
            "the owner lives"
        );
        assert!(server.process.died().is_none());

        let path = scratch.abandon();
        // As init would reap an orphan, so that the process is known to have ended.
        std::thread::scope(|scope| {
            scope.spawn(|| wait_until(60, || server.process.died().is_some()));
            let actions = sweep(medium.path(), &|_| Ok(Vec::new())).unwrap();
            assert!(
                actions[0].contains(&format!("Stopped the PostgreSQL server {pid}")),
                "{actions:?}"
            );
        });
        assert!(!path.exists() && !socket.exists());
        assert!(matches!(
            server.process.died(),
            Some(LoadError::Died { .. })
        ));
    }
}
