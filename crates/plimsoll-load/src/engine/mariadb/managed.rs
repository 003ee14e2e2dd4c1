//! How a MariaDB server is set up and reached.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::binaries;
use super::connect::{connect, encoded};
use crate::engine::server::setup::{Fill, Programs, ServerSetup};
use crate::engine::server::{ServerContext, write_durably};
use crate::error::LoadError;
use crate::scratch::{Scratch, io_error};

/// Among the data, where the log has a disk of its own: the server takes every directory there for a database, unless it
/// is named in `ignore_db_dirs`.
const LOG_DIR: &str = "redo_log";
const SOCKET: &str = "mariadb.sock";

pub struct MariadbSetup;

impl ServerSetup for MariadbSetup {
    fn socket(&self) -> &'static str {
        SOCKET
    }

    fn programs(&self, folder: &str) -> Result<Programs, LoadError> {
        binaries::find(folder)
    }

    fn quote(&self, value: &str) -> String {
        quote(value)
    }

    /// Some settings decide the format of the files (innodb_page_size), so they are there before these.
    fn set_up(
        &self,
        context: &ServerContext,
        scratch: &mut Scratch,
        settings: &str,
        fill: Fill<'_>,
    ) -> Result<(), LoadError> {
        let temporary = context.directory(scratch, "tmp")?;
        context.link_log(LOG_DIR)?;
        write_config(&config(context), context, &temporary, settings)?;
        fill(context)
    }

    fn init(&self, programs: &Programs, context: &ServerContext) -> Command {
        let mut command = with_config(context.command(&programs.maker), programs, context);
        command.args([
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
            "--skip-name-resolve",
        ]);
        command
    }

    fn log_dir(&self) -> &'static str {
        LOG_DIR
    }

    fn serve(&self, programs: &Programs, context: &ServerContext) -> Command {
        with_config(context.serve(&programs.server), programs, context)
    }

    fn remains(&self, context: &ServerContext) -> Vec<PathBuf> {
        vec![context.socket.join(SOCKET), pid_file(context)]
    }

    fn conninfo(&self, context: &ServerContext) -> String {
        let socket = context.socket.join(SOCKET).display().to_string();
        format!("mariadb://root@localhost?socket={}", encoded(&socket))
    }

    /// It answers before it is ready only while it makes its data directory, and then on no socket.
    fn is_ready(&self, context: &ServerContext) -> bool {
        context.socket.join(SOCKET).exists() && connect(&self.conninfo(context)).is_ok()
    }
}

/// The file of options, beside the data directory.
pub(super) fn config(context: &ServerContext) -> PathBuf {
    context.data.with_file_name("mariadb.cnf")
}

fn pid_file(context: &ServerContext) -> PathBuf {
    context.data.join("mariadb.pid")
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
    let log = if context.log_disk.is_some() {
        let dir = path(&context.data.join(LOG_DIR));
        format!("innodb_log_group_home_dir = {dir}\nignore_db_dirs = {LOG_DIR}\n")
    } else {
        String::new()
    };
    let text = format!(
        "[mysqld]\ndatadir = {}\nsocket = {}\npid_file = {}\ntmpdir = {}\nskip_networking\nskip_name_resolve\n\
         local_infile = 1\nlc_messages = en_US\nlog_warnings = 1\n{log}\n# The plan\n{settings}",
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
fn with_config(mut command: Command, programs: &Programs, context: &ServerContext) -> Command {
    command.arg(format!("--defaults-file={}", config(context).display()));
    if let Some(base) = &programs.base {
        command.arg(format!("--basedir={}", base.display()));
    }
    command
}
