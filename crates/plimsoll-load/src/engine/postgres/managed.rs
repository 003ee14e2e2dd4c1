//! How a PostgreSQL server is set up and reached.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use rustix::fs::OFlags;

use super::binaries;
use crate::engine::server::setup::{Fill, Programs, ServerSetup};
use crate::engine::server::{ServerContext, write_durably};
use crate::error::LoadError;
use crate::scratch::directory::DirectoryHandle;
use crate::scratch::{Scratch, io_error};

/// The superuser that `initdb` creates.
const USER: &str = "plimsoll";

pub struct PostgresSetup;

impl ServerSetup for PostgresSetup {
    fn socket(&self) -> &'static str {
        ".s.PGSQL.5432"
    }

    fn programs(&self, folder: &str) -> Result<Programs, LoadError> {
        let folder = binaries::find(folder)?;
        Ok(Programs {
            server: folder.join("postgres"),
            maker: folder.join("initdb"),
            base: None,
        })
    }

    fn quote(&self, value: &str) -> String {
        quote(value)
    }

    /// postgresql.conf is one of the data directory's files.
    fn set_up(
        &self,
        context: &ServerContext,
        _: &mut Scratch,
        settings: &str,
        fill: Fill<'_>,
    ) -> Result<(), LoadError> {
        fill(context)?;
        configure(context, settings)
    }

    /// `initdb` with its own final sync: the files must be on the medium before anything is measured.
    fn init(&self, programs: &Programs, context: &ServerContext) -> Command {
        let mut command = context.command(&programs.maker);
        command.arg("-D").arg(&context.data);
        command.args(["-U", USER, "--auth=trust", "--encoding=UTF8", "--locale=C"]);
        if let Some(disk) = &context.log_disk {
            command.arg("--waldir").arg(disk);
        }
        command
    }

    fn log_dir(&self) -> &'static str {
        "pg_wal"
    }

    fn serve(&self, programs: &Programs, context: &ServerContext) -> Command {
        let mut command = context.serve(&programs.server);
        command.arg("-D").arg(&context.data);
        command
    }

    /// The dead server's file still reads "ready", or is a lock file that is no longer readable.
    fn remains(&self, context: &ServerContext) -> Vec<PathBuf> {
        let socket = context.socket.join(self.socket());
        let lock = socket.with_extension("5432.lock");
        vec![pid_file(context), lock, socket]
    }

    /// Key/value pairs. Errors of plimsoll's own sessions are not logged (`log` ranks above `error` there, below
    /// `fatal`): plimsoll counts and reports them, and the log is on the medium that is measured, where the rollbacks
    /// of clause 2.4.1.4 would write three lines each. FATAL, PANIC and LOG are logged, and so are the errors of the
    /// server's own processes.
    fn conninfo(&self, context: &ServerContext) -> String {
        let socket = context.socket.display().to_string();
        let socket = socket.replace('\\', "\\\\").replace('\'', "\\'");
        format!(
            "host='{socket}' port=5432 user={USER} dbname=postgres application_name=plimsoll options='-c log_min_messages=log'"
        )
    }

    /// As `pg_ctl start` does: the last line of postmaster.pid shows when connections are accepted.
    fn is_ready(&self, context: &ServerContext) -> bool {
        let text = fs::read_to_string(pid_file(context)).unwrap_or_default();
        let state = text.lines().nth(7);
        state.is_some_and(|line| line.trim() == "ready")
    }
}

fn pid_file(context: &ServerContext) -> PathBuf {
    context.data.join("postmaster.pid")
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
    // The server's user may have put a link to a file of root's in its place.
    let data = DirectoryHandle::open(&context.data).map_err(|e| io_error(&context.data, &e))?;
    let open = |name, flags| data.open_file(OsStr::new(name), OFlags::WRONLY | flags);
    let append = || write_durably(&mut open("postgresql.conf", OFlags::APPEND)?, &lines);
    append().map_err(|e| io_error(&conf, &e))?;
    let hba = context.data.join("pg_hba.conf");
    let replace = || {
        let mut file = open("pg_hba.conf", OFlags::empty())?;
        file.set_len(0)?;
        write_durably(
            &mut file,
            "local all all trust\nlocal replication all trust\n",
        )
    };
    replace().map_err(|e| io_error(&hba, &e))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs::{OpenOptions, Permissions};
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt;

    use plimsoll_plan::resolved::ManagedKind;
    use rustix::process::{Pid, Signal};

    use super::*;
    use crate::engine::server::{ManagedServer, unprivileged};
    use crate::scratch::{servers_work_in, wait_until};

    #[test]
    fn a_closed_parent_is_named() {
        if !rustix::process::geteuid().is_root() {
            // An ordinary user's server runs as that user: there is nothing to be closed.
            assert_eq!(unprivileged(ManagedKind::Postgres).unwrap(), None);
            return;
        }
        let medium = tempfile::tempdir().unwrap();
        fs::set_permissions(medium.path(), Permissions::from_mode(0o700)).unwrap();
        let mut scratch = Scratch::create(medium.path(), "closed").unwrap();
        let error = ManagedServer::start(
            ManagedKind::Postgres,
            &mut scratch,
            &BTreeMap::new(),
            "",
            None,
        )
        .unwrap_err()
        .to_string();
        let expected = format!(
            "chmod o+x '{}'",
            medium.path().canonicalize().unwrap().display()
        );
        assert!(error.contains(&expected), "{error}");
    }

    /// The server's user has put a link to a file of root's where root writes the configuration.
    #[test]
    fn a_configuration_that_is_a_link_is_not_written() {
        let medium = tempfile::tempdir().unwrap();
        let victim = medium.path().join("victim");
        fs::write(&victim, "of root").unwrap();
        for linked in ["postgresql.conf", "pg_hba.conf"] {
            let mut scratch = Scratch::create(medium.path(), "link").unwrap();
            fs::set_permissions(medium.path(), Permissions::from_mode(0o755)).unwrap();
            let kind = ManagedKind::Postgres;
            let context = ServerContext::create(kind, &mut scratch, 20, None).unwrap();
            for file in ["postgresql.conf", "pg_hba.conf"] {
                fs::write(context.data.join(file), "").unwrap();
            }
            fs::remove_file(context.data.join(linked)).unwrap();
            std::os::unix::fs::symlink(&victim, context.data.join(linked)).unwrap();
            let error = configure(&context, "").unwrap_err().to_string();
            assert!(error.contains(linked), "{error}");
            scratch.remove().unwrap();
        }
        assert_eq!(fs::read_to_string(victim).unwrap(), "of root");
    }

    #[test]
    fn the_end_is_the_end_of_all_processes() {
        let medium = tempfile::tempdir().unwrap();
        fs::set_permissions(medium.path(), Permissions::from_mode(0o755)).unwrap();
        let mut scratch = Scratch::create(medium.path(), "end").unwrap();
        let server = ManagedServer::start(
            ManagedKind::Postgres,
            &mut scratch,
            &BTreeMap::new(),
            "",
            None,
        )
        .unwrap();
        let conninfo = server.conninfo();
        let data = server.process().data_dir().to_owned();
        // Busy without ever waiting: it does not notice at once that the postmaster is gone.
        let (report, connected) = std::sync::mpsc::channel();
        let busy = std::thread::spawn(move || {
            super::super::blocking::blocking(|| async {
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
            Pid::from_raw(server.process().pid().cast_signed()).unwrap(),
            Signal::KILL,
        )
        .unwrap();
        assert!(wait_until(60, || server.process().died().is_some()));
        // As a backend that found no room writes it, with the messages of the others at its end.
        let last_words = format!(
            "FATAL:  x: No space left on device\n{}",
            "LOG:  x\n".repeat(20)
        );
        OpenOptions::new()
            .append(true)
            .open(server.process().log())
            .unwrap()
            .write_all(last_words.as_bytes())
            .unwrap();
        let error = server.process().died().unwrap();
        assert!(matches!(error, LoadError::DiskFull { .. }), "{error}");
        assert!(
            error
                .to_string()
                .contains("FATAL:  x: No space left on device\nFree space there"),
            "{error}"
        );
        server.process().end().unwrap();
        assert!(!servers_work_in(&data));
        busy.join().unwrap().unwrap();
    }
}
