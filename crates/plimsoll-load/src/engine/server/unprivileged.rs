//! The user that a server runs as when plimsoll is root, and what that user may reach.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

use plimsoll_plan::resolved::ServerKind;

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
