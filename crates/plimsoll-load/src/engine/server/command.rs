//! Commands that run a server's programs, as its user where that is another one.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use plimsoll_plan::resolved::ManagedKind;

use crate::error::LoadError;
use crate::passwd::PasswdEntry;

/// A program run as that user, with its data directory as working directory and in a process group of its own, so that
/// a terminal's Ctrl-C reaches plimsoll alone.
pub(super) fn command(program: &Path, data: &Path, user: Option<&PasswdEntry>) -> Command {
    let mut command = surroundings(Command::new(program), data);
    if let Some(user) = user {
        // std drops the supplementary groups along with the uid.
        command.uid(user.uid).gid(user.gid);
    }
    command
}

/// A program of a server's that this user runs.
pub(crate) fn command_in(program: &Path, dir: &Path) -> Command {
    command(program, dir, None)
}

/// Working directory, environment and process group of a server's programs.
pub(super) fn surroundings(mut command: Command, data: &Path) -> Command {
    // An error message in another language could not be recognised; these variables belong to another server.
    command.env("LC_ALL", "C");
    for (name, _) in std::env::vars_os() {
        if ["PG", "MYSQL", "MARIADB"]
            .iter()
            .any(|prefix| name.to_string_lossy().starts_with(prefix))
        {
            command.env_remove(name);
        }
    }
    command
        .current_dir(data)
        .stdin(Stdio::null())
        .process_group(0);
    command
}

/// Whether a server and the programs that make its data take the path as it is: it stands in files of settings, in files that
/// are read line by line, and in a shell script of MariaDB's. Sockets have rules of their own ([`Scratch::socket_dir`]).
///
/// [`Scratch::socket_dir`]: crate::scratch::Scratch::socket_dir
pub(super) fn check_path(kind: ManagedKind, dir: &Path) -> Result<(), LoadError> {
    let why = match dir.to_str() {
        None => "its path is not UTF-8".to_owned(),
        Some(text) => match text.chars().find(|c| is_special(kind, *c)) {
            None => return Ok(()),
            Some(sign) => {
                format!("its path has {sign:?} in it, which servers read as something else")
            }
        },
    };
    Err(LoadError::Unsupported {
        what: format!("run a server in {}", dir.display()),
        why,
        next: "Rename the directory, or choose a medium elsewhere.".into(),
    })
}

fn is_special(kind: ManagedKind, sign: char) -> bool {
    sign.is_control()
        || SPECIAL.contains(sign)
        || (kind != ManagedKind::Postgres && MARIADB_SPECIAL.contains(sign))
}

/// `mariadb-install-db` passes paths on without quotes, and `tmpdir` is a list of directories.
const MARIADB_SPECIAL: &str = " :";

/// What shells, files of settings and patterns take for more than a letter.
const SPECIAL: &str = "\"\\$`*?[]<>|\u{fffd}";

/// Whether the user can reach the directory; if not, which of its parents is closed.
pub(super) fn reachable(dir: &Path, user: &PasswdEntry) -> Result<(), LoadError> {
    let mut probe = command(Path::new("/bin/sh"), dir, Some(user));
    let outcome = probe
        .args(["-c", ":"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
        _ => return Ok(()),
    }
    let may_enter = |path: &Path| {
        fs::metadata(path).is_ok_and(|m| {
            let shift = if m.uid() == user.uid {
                6
            } else if m.gid() == user.gid {
                3
            } else {
                0
            };
            m.mode() >> shift & 1 == 1
        })
    };
    let mut parents: Vec<&Path> = dir.ancestors().skip(1).collect();
    parents.reverse();
    let closed = parents
        .into_iter()
        .find(|path| !may_enter(path))
        .unwrap_or(dir)
        .display()
        .to_string();
    let name = &user.name;
    Err(LoadError::Unsupported {
        what: format!("run a server in {}", dir.display()),
        why: format!(
            "plimsoll runs as root, so the server runs as {name:?}, who may not enter {closed}"
        ),
        next: format!(
            "Allow it (chmod o+x '{closed}'), choose a medium elsewhere, or run plimsoll as an ordinary user."
        ),
    })
}
