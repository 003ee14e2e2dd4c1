//! The user that a server runs as when plimsoll is root, and what that user may reach.

use std::path::Path;

use plimsoll_plan::resolved::ManagedKind;

use crate::error::LoadError;
use crate::passwd::{self, PasswdEntry};
use crate::scratch::directory::{DirectoryHandle, give};
use crate::scratch::io_error;

/// The user to run the server as, since servers refuse root; `None` when plimsoll is no root itself.
pub(crate) fn unprivileged(kind: ManagedKind) -> Result<Option<PasswdEntry>, LoadError> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    let passwd = passwd::read();
    let own = match kind {
        ManagedKind::Postgres => "postgres",
        ManagedKind::Mariadb | ManagedKind::Mysql => "mysql",
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

/// With a uid other than root's.
fn find_user(passwd: &str, name: &str) -> Option<PasswdEntry> {
    passwd::entries(passwd).find(|entry| entry.name == name && entry.uid != 0)
}

pub(super) fn hand_over(
    dir: &Path,
    user: Option<&PasswdEntry>,
    mode: u32,
) -> Result<(), LoadError> {
    let user = user.map(|user| (user.uid, user.gid));
    DirectoryHandle::open(dir)
        .and_then(|directory| give(&directory, user, mode))
        .map_err(|e| io_error(dir, &e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_in_passwd() {
        let passwd = "root:x:0:0::/:/bin/sh\nbad\nnobody:x:65534:65533:a:/:/bin/false\n";
        let nobody = PasswdEntry {
            name: "nobody".into(),
            uid: 65534,
            gid: 65533,
        };
        assert_eq!(find_user(passwd, "nobody"), Some(nobody));
        assert_eq!(find_user(passwd, "root"), None);
    }
}
