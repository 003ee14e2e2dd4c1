//! A MariaDB server of plimsoll's own: created in a scratch directory, started, watched, stopped.
//!
//! It listens on a Unix socket in a directory that only its user may enter, and on no port.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use plimsoll_plan::resolved::ServerKind;

use super::binaries::{self, Programs};
use super::connect::{connect, encoded};
use crate::engine::server::{
    RECOVERY_SECONDS, START_SECONDS, ServerContext, ServerProcess, remove_left, write_durably,
};
use crate::error::LoadError;
use crate::limit::CgroupLimits;
use crate::scratch::{Scratch, io_error};

const SOCKET: &str = "mariadb.sock";

/// A running server. Stops when dropped. The scratch directory it lives in must outlive it.
#[derive(Debug)]
pub struct ManagedMariadb {
    process: ServerProcess,
    pub(super) programs: Programs,
    pub(super) config: PathBuf,
    /// The plan's, as lines of an option file.
    settings: String,
}

impl ManagedMariadb {
    /// Creates a data directory in `scratch` and starts its server. `settings` go to a file of options and are checked by
    /// the server; `binaries` is the folder of its programs, empty to search for them.
    pub fn start(
        scratch: &mut Scratch,
        settings: &BTreeMap<String, String>,
        binaries: &str,
        cgroup: Option<CgroupLimits>,
    ) -> Result<Self, LoadError> {
        let programs = binaries::find(binaries)?;
        let settings = configuration(settings)?;
        let fill = |config: &Path, context: &ServerContext| init(&programs, config, context);
        Self::start_in(
            scratch,
            cgroup,
            (&programs, &settings),
            fill,
            START_SECONDS,
            &|| false,
        )
    }

    /// A second server with the same programs and settings. `fill` puts its data directory, which is there, in place of
    /// mariadb-install-db.
    pub(crate) fn start_second(
        &self,
        scratch: &mut Scratch,
        cgroup: Option<CgroupLimits>,
        fill: impl FnOnce(&ServerContext) -> Result<(), LoadError>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Self, LoadError> {
        let fill = |_: &Path, context: &ServerContext| fill(context);
        Self::start_in(
            scratch,
            cgroup,
            (&self.programs, &self.settings),
            fill,
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
        let fill = |config: &Path, context: &ServerContext| init(&self.programs, config, context);
        Self::start_in(
            scratch,
            cgroup,
            (&self.programs, &self.settings),
            fill,
            START_SECONDS,
            &|| false,
        )
    }

    fn start_in(
        scratch: &mut Scratch,
        cgroup: Option<CgroupLimits>,
        (programs, settings): (&Programs, &str),
        fill: impl FnOnce(&Path, &ServerContext) -> Result<(), LoadError>,
        seconds: u64,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Self, LoadError> {
        let context =
            ServerContext::create(ServerKind::Mariadb, scratch, SOCKET.len() + 1, cgroup)?;
        let temporary = context.directory(scratch, "tmp")?;
        let config = scratch.path().join("mariadb.cnf");
        write_config(&config, &context, &temporary, settings)?;
        fill(&config, &context)?;
        let mut serve = serve(programs, &config, &context);
        let process = ServerProcess::start(context, &mut serve)?;
        let server = Self {
            process,
            programs: programs.clone(),
            config,
            settings: settings.to_owned(),
        };
        server.wait_ready(seconds, cancelled)?;
        Ok(server)
    }

    pub fn process(&self) -> &ServerProcess {
        &self.process
    }

    /// Starts the server again after a crash, on the data that are there. It recovers before it is ready.
    pub fn restart(&self, cancelled: &dyn Fn() -> bool) -> Result<(), LoadError> {
        let context = &self.process.context;
        remove_left(&context.socket.join(SOCKET))?;
        remove_left(&pid_file(context))?;
        self.process
            .start_again(&mut serve(&self.programs, &self.config, context))?;
        self.wait_ready(RECOVERY_SECONDS, cancelled)
    }

    /// How to connect. Holds no secret: the socket's directory is what protects the server.
    pub fn conninfo(&self) -> String {
        let socket = self.process.context.socket.join(SOCKET);
        format!(
            "mariadb://root@localhost?socket={}",
            encoded(&socket.display().to_string())
        )
    }

    /// It answers before it is ready only while it makes its data directory, and then on no socket.
    fn wait_ready(&self, seconds: u64, cancelled: &dyn Fn() -> bool) -> Result<(), LoadError> {
        let (socket, conninfo) = (self.process.context.socket.join(SOCKET), self.conninfo());
        self.process.wait_ready(seconds, cancelled, &|| {
            socket.exists() && connect(&conninfo).is_ok()
        })
    }
}

fn pid_file(context: &ServerContext) -> PathBuf {
    context.data.join("mariadb.pid")
}

/// The plan's settings as lines of an option file. Names are checked here because a name could smuggle in another
/// directive; the server checks values.
fn configuration(settings: &BTreeMap<String, String>) -> Result<String, LoadError> {
    let mut lines = String::new();
    for (name, value) in settings {
        if !ServerKind::Mariadb.is_setting_name(name) {
            return Err(LoadError::other(
                format!("MariaDB setting {name:?}"),
                "is not a name of a setting",
            ));
        }
        if ServerKind::Mariadb.is_own_setting(name) {
            return Err(LoadError::other(
                format!("MariaDB setting {name}"),
                "is plimsoll's own on a server that it manages; leave it out",
            ));
        }
        if value.contains(['\n', '\r', '\0']) {
            return Err(LoadError::other(
                format!("MariaDB setting {name}"),
                "its value must be one line",
            ));
        }
        let _ = writeln!(lines, "{name} = {}", quote(value));
    }
    Ok(lines)
}

/// A value as option files quote it: one pair of marks is taken off, and a backslash begins an escape.
fn quote(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\"))
}

/// Lost connections are plimsoll's to report: a warning for each would be a write on the medium that is measured.
fn write_config(
    config: &Path,
    context: &ServerContext,
    temporary: &Path,
    settings: &str,
) -> Result<(), LoadError> {
    let path = |path: &Path| quote(&path.display().to_string());
    let text = format!(
        "[mysqld]\ndatadir = {}\nsocket = {}\npid_file = {}\ntmpdir = {}\nskip_networking\nskip_name_resolve\n\
         local_infile = 1\nlc_messages = en_US\nlog_warnings = 1\n\n# The plan\n{settings}",
        path(&context.data),
        path(&context.socket.join(SOCKET)),
        path(&pid_file(context)),
        path(temporary),
    );
    let write = || write_durably(&mut File::create(config)?, &text);
    write().map_err(|e| io_error(config, &e))?;
    // The server's user reads it, and the server ignores one that everybody may write.
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    fs::set_permissions(config, open).map_err(|e| io_error(config, &e))
}

/// `--defaults-file` must come first.
fn with_config(mut command: Command, programs: &Programs, config: &Path) -> Command {
    command.arg(format!("--defaults-file={}", config.display()));
    if let Some(base) = &programs.base {
        command.arg(format!("--basedir={}", base.display()));
    }
    command
}

fn serve(programs: &Programs, config: &Path, context: &ServerContext) -> Command {
    with_config(context.serve(&programs.server), programs, config)
}

/// With the plan's settings: some of them decide the format of the files (innodb_page_size).
fn init(programs: &Programs, config: &Path, context: &ServerContext) -> Result<(), LoadError> {
    let mut command = with_config(context.command(&programs.maker), programs, config);
    command.args([
        "--auth-root-authentication-method=normal",
        "--skip-test-db",
        "--skip-name-resolve",
    ]);
    context.make(&mut command)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use mysql::prelude::Queryable;
    use proptest::prelude::*;

    use super::*;
    use crate::scratch::{servers_work_in, sweep, wait_until};

    fn settings(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(k, v)| (k.to_string(), v.to_string()))
            .collect()
    }

    fn medium() -> tempfile::TempDir {
        let medium = tempfile::tempdir().unwrap();
        fs::set_permissions(medium.path(), fs::Permissions::from_mode(0o755)).unwrap();
        medium
    }

    #[test]
    fn settings_are_lines_and_nothing_else() {
        let lines = configuration(&settings(&[
            ("sync-binlog", "1"),
            ("init_connect", "a\\b#c"),
        ]))
        .unwrap();
        assert_eq!(lines, "init_connect = \"a\\\\b#c\"\nsync-binlog = \"1\"\n");
        for (name, value) in [
            ("!include", "x"),
            ("Port", "1"),
            ("a b", "1"),
            ("", "1"),
            ("x", "1\nport=1"),
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
        let medium = medium();
        let mut scratch = Scratch::create(medium.path(), "wrong").unwrap();
        let wrong = settings(&[("innodb_bufer_pool_size", "1G")]);
        let error = ManagedMariadb::start(&mut scratch, &wrong, "", None)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("unknown variable 'innodb_bufer_pool_size=1G'"),
            "{error}"
        );
        assert!(error.contains("correct `settings` in the plan"), "{error}");
        drop(scratch);
        assert_eq!(fs::read_dir(medium.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_crashed_server_recovers() {
        let medium = medium();
        let mut scratch = Scratch::create(medium.path(), "crash").unwrap();
        let server = ManagedMariadb::start(&mut scratch, &BTreeMap::new(), "", None).unwrap();
        let run = |sql: &str| {
            connect(&server.conninfo())
                .unwrap()
                .query_drop(sql)
                .unwrap()
        };
        run("CREATE DATABASE d");
        run("CREATE TABLE d.t (a int) ENGINE = InnoDB");
        run("INSERT INTO d.t VALUES (7)");
        let first = server.process.pid();
        server.process.crash().unwrap();
        assert!(matches!(
            server.process.died(),
            Some(LoadError::Died { .. })
        ));
        server.restart(&|| false).unwrap();
        assert!(server.process.pid() != first && server.process.died().is_none());
        let log = fs::read_to_string(server.process.log()).unwrap();
        assert!(log.contains("Starting crash recovery"), "{log}");
        let found: Option<i64> = connect(&server.conninfo())
            .unwrap()
            .query_first("SELECT a FROM d.t")
            .unwrap();
        assert_eq!(found, Some(7));
        server.process.end().unwrap();
        assert!(!servers_work_in(server.process.data_dir()));
    }

    /// One life of a server: started, found dead by its owner, found running by the sweep of a dead owner's leftovers.
    #[test]
    fn a_server_lives_dies_and_is_swept() {
        let medium = medium();
        // Long enough for the socket to go elsewhere.
        let mut scratch = Scratch::create(medium.path(), &"long".repeat(25)).unwrap();
        let server = ManagedMariadb::start(&mut scratch, &BTreeMap::new(), "", None).unwrap();
        let (pid, socket) = (server.process.pid(), server.process.context.socket.clone());
        assert!(socket.join(SOCKET).exists() && !socket.starts_with(medium.path()));
        assert_eq!(fs::metadata(&socket).unwrap().mode() & 0o777, 0o700);
        if rustix::process::geteuid().is_root() {
            assert_ne!(fs::metadata(format!("/proc/{pid}")).unwrap().uid(), 0);
        }
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
                actions[0].contains(&format!("Stopped the MariaDB server {pid}")),
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
