//! The user that a server runs as when plimsoll is root, and what that user may reach.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::process::Stdio;

use plimsoll_plan::resolved::ServerKind;

use super::process::command;
use crate::error::LoadError;
use crate::scratch::io_error;

/// An operating system user that the server runs as when plimsoll is root: servers refuse to run as root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unprivileged {
    pub name: String,
    pub uid: u32,
    pub gid: u32,
}

/// The user to run the server as; `None` when plimsoll is no root itself.
pub(crate) fn unprivileged(kind: ServerKind) -> Result<Option<Unprivileged>, LoadError> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let own = match kind {
        ServerKind::Postgres => "postgres",
        ServerKind::Mariadb => "mysql",
    };
    [own, "nobody"]
        .iter()
        .find_map(|name| find_user(&passwd, name))
        .map(Some)
        .ok_or_else(|| LoadError::Missing {
            what: "An unprivileged user for the server (it refuses to run as root)".into(),
            searched: format!("searched for {own} and nobody in /etc/passwd"),
            next: format!(
                "Run plimsoll as an ordinary user, or create one (useradd --system {own})."
            ),
        })
}

/// A line of passwd(5) with a uid other than root's.
fn find_user(passwd: &str, name: &str) -> Option<Unprivileged> {
    passwd.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let [login, _, uid, gid, ..] = fields[..] else {
            return None;
        };
        let uid: u32 = uid.parse().ok()?;
        let gid: u32 = gid.parse().ok()?;
        (login == name && uid != 0).then(|| Unprivileged {
            name: login.into(),
            uid,
            gid,
        })
    })
}

pub(super) fn hand_over(
    dir: &Path,
    user: Option<&Unprivileged>,
    mode: u32,
) -> Result<(), LoadError> {
    let owner = user.map_or(Ok(()), |user| chown(dir, Some(user.uid), Some(user.gid)));
    owner
        .and_then(|()| fs::set_permissions(dir, Permissions::from_mode(mode)))
        .map_err(|e| io_error(dir, &e))
}

/// Whether the user can reach the directory; if not, which of its parents is closed.
pub(super) fn reachable(dir: &Path, user: &Unprivileged) -> Result<(), LoadError> {
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
    Err(LoadError::Refused {
        what: closed.clone(),
        why: format!(
            "plimsoll runs as root, so the server runs as {name:?}, who may not enter this directory"
        ),
        next: format!(
            "Allow it (chmod o+x '{closed}'), choose a medium elsewhere, or run plimsoll as an ordinary user."
        ),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn users_are_found_in_passwd() {
        let passwd = "root:x:0:0::/:/bin/sh\nbad\nnobody:x:65534:65533:a:/:/bin/false\n";
        let nobody = Unprivileged {
            name: "nobody".into(),
            uid: 65534,
            gid: 65533,
        };
        assert_eq!(find_user(passwd, "nobody"), Some(nobody));
        assert_eq!(find_user(passwd, "root"), None);
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(passwd in ".*", name in ".*") {
            let _ = find_user(&passwd, &name);
        }
    }
}
