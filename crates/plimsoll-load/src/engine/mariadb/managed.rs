//! How a MariaDB server is set up and reached.

use std::path::{Path, PathBuf};
use std::process::Command;

use plimsoll_plan::resolved::ManagedKind;

use super::address::encoded;
use super::binaries;
use super::client::MariadbClient;
use crate::engine::server::setup::{Fill, Programs, ServerSetup};
use crate::engine::server::{ServerContext, write_durably};
use crate::error::LoadError;
use crate::scratch::directory::{DirectoryHandle, give};
use crate::scratch::{Scratch, io_error};

const SOCKET: &str = "mariadb.sock";

/// A server of the family.
pub struct FamilySetup {
    pub kind: ManagedKind,
    pub programs: fn(&str) -> Result<Programs, LoadError>,
    /// Lines of its file of settings that others of the family do not have.
    pub options: &'static str,
    /// Of the program that makes a data directory.
    pub maker: &'static [&'static str],
    /// The log's directory among the data, where it has a disk of its own.
    pub log_dir: &'static str,
    /// A setting that is needed with that.
    pub log_option: &'static str,
}

/// The server takes every directory among the data for a database, unless it is named in `ignore_db_dirs`.
pub static MARIADB_SETUP: FamilySetup = FamilySetup {
    kind: ManagedKind::Mariadb,
    programs: binaries::find,
    options: "log_warnings = 1\n",
    maker: &[
        "--auth-root-authentication-method=normal",
        "--skip-test-db",
        "--skip-name-resolve",
    ],
    log_dir: "redo_log",
    log_option: "ignore_db_dirs = redo_log\n",
};

impl ServerSetup for FamilySetup {
    fn socket(&self) -> &'static str {
        SOCKET
    }

    fn programs(&self, folder: &str) -> Result<Programs, LoadError> {
        (self.programs)(folder)
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
        context.link_log(self.log_dir)?;
        self.write_config(context, &temporary, settings)?;
        fill(context)
    }

    fn init(&self, programs: &Programs, context: &ServerContext) -> Command {
        let mut command = with_config(context.command(&programs.maker), programs, context);
        command.args(self.maker);
        command
    }

    fn log_dir(&self) -> &'static str {
        self.log_dir
    }

    fn serve(&self, programs: &Programs, context: &ServerContext) -> Command {
        with_config(context.serve(&programs.server), programs, context)
    }

    fn remains(&self, context: &ServerContext) -> Vec<PathBuf> {
        let socket = context.socket.join(SOCKET);
        let lock = socket.with_extension("sock.lock");
        vec![socket, lock, pid_file(context)]
    }

    fn conninfo(&self, context: &ServerContext) -> String {
        let socket = context.socket.join(SOCKET).display().to_string();
        let scheme = self.kind.server().engine().name();
        format!(
            "{scheme}://root@localhost?no-defaults=1&socket={}",
            encoded(&socket)
        )
    }

    /// It answers before it is ready only while it makes its data directory, and then on no socket.
    fn is_ready(&self, context: &ServerContext) -> bool {
        context.socket.join(SOCKET).exists()
            && MariadbClient::connect(&self.conninfo(context)).is_ok()
    }
}

impl FamilySetup {
    /// Lost connections are plimsoll's to report: a warning for each would be a write on the medium that is measured.
    fn write_config(
        &self,
        context: &ServerContext,
        temporary: &Path,
        settings: &str,
    ) -> Result<(), LoadError> {
        let config = config(context);
        let path = |path: &Path| quote(&path.display().to_string());
        let log = if context.log_disk.is_some() {
            let dir = path(&context.data.join(self.log_dir));
            format!("innodb_log_group_home_dir = {dir}\n{}", self.log_option)
        } else {
            String::new()
        };
        let text = format!(
            "[mysqld]\ndatadir = {}\nsocket = {}\npid_file = {}\ntmpdir = {}\nskip_networking\nskip_name_resolve\n\
             local_infile = 1\nlc_messages = en_US\n{}{log}\n# The plan\n{settings}",
            path(&context.data),
            path(&context.socket.join(SOCKET)),
            path(&pid_file(context)),
            path(temporary),
            self.options,
        );
        let folder = DirectoryHandle::open_own(config.parent().unwrap_or(Path::new("/")))?;
        let write = || {
            let name = config.file_name().unwrap_or_default();
            folder.remove_left(name)?;
            let mut file = folder.create(name, 0o644)?;
            write_durably(&mut file, &text)?;
            // The server's user reads it, and the server ignores one that everybody may write.
            give(&file, None, 0o644)
        };
        write().map_err(|e| io_error(&config, &e))
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

/// `--defaults-file` must come first.
fn with_config(mut command: Command, programs: &Programs, context: &ServerContext) -> Command {
    command.arg(format!("--defaults-file={}", config(context).display()));
    if let Some(base) = &programs.base {
        command.arg(format!("--basedir={}", base.display()));
        // Where Debian's packages have them.
        for (option, place) in [
            ("lc_messages_dir", "share/mysql"),
            ("plugin_dir", "lib/mysql/plugin"),
        ] {
            let place = base.join(place);
            if place.is_dir() {
                command.arg(format!("--{option}={}", place.display()));
            }
        }
    }
    command
}
