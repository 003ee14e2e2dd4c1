//! Where a MariaDB server's programs are.

use std::path::{Path, PathBuf};

use crate::backup::program;
use crate::engine::server::setup::Programs;
use crate::error::LoadError;

const SERVERS: [&str; 2] = ["mariadbd", "mysqld"];
const MAKERS: [&str; 2] = ["mariadb-install-db", "mysql_install_db"];

/// The server's programs in the given folder (or, as in unpacked archives, beside it), else in `PATH` and where
/// distributions put them.
pub fn find(given: &str) -> Result<Programs, LoadError> {
    if !given.is_empty() {
        let given = PathBuf::from(given);
        let base = given.parent().map(Path::to_path_buf).unwrap_or_default();
        let around = [given.clone(), base.join("bin"), base.join("scripts")];
        let own = !["/", "/usr", "/usr/local"]
            .iter()
            .any(|usual| base == Path::new(usual));
        let server = first(std::slice::from_ref(&given), &SERVERS);
        let programs = server.zip(first(&around, &MAKERS));
        return programs
            .map(|(server, maker)| Programs {
                server,
                maker,
                base: own.then_some(base),
            })
            .ok_or_else(|| missing(given.display().to_string()));
    }
    let places = usual_places();
    let programs = first(&places, &SERVERS).zip(first(&places, &MAKERS));
    programs
        .map(|(server, maker)| Programs {
            server,
            maker,
            base: None,
        })
        .ok_or_else(|| {
            missing("searched: PATH, /usr/sbin, /usr/libexec, /usr/bin, /usr/local".into())
        })
}

pub(crate) fn usual_places() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    places.extend(
        [
            "/usr/sbin",
            "/usr/libexec",
            "/usr/bin",
            "/usr/local/bin",
            "/usr/local/sbin",
        ]
        .map(PathBuf::from),
    );
    places
}

/// A client's program of one of these names: beside a server's own programs, else where distributions put them.
pub fn client(programs: Option<&Programs>, names: &[&str]) -> Result<PathBuf, LoadError> {
    let beside = programs
        .and_then(|programs| programs.server.parent())
        .map(Path::to_path_buf);
    let base = programs
        .and_then(|programs| programs.base.as_ref())
        .map(|base| base.join("bin"));
    let places: Vec<PathBuf> = beside
        .into_iter()
        .chain(base)
        .chain(usual_places())
        .collect();
    program::find(
        &places,
        names,
        "Install it (apt-get install mariadb-client mariadb-backup).",
    )
}

pub(crate) fn first(places: &[PathBuf], names: &[&str]) -> Option<PathBuf> {
    names.iter().find_map(|name| {
        places
            .iter()
            .map(|place| place.join(name))
            .find(|program| program.is_file())
    })
}

fn missing(searched: String) -> LoadError {
    LoadError::Missing {
        what: "A MariaDB server (mariadbd, mariadb-install-db)".into(),
        searched,
        next: "Install it (apt-get install mariadb-server), or name its folder with `binaries` in the plan.".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_a_server_is_refused_with_the_next_step() {
        let empty = tempfile::tempdir().unwrap();
        let error = find(empty.path().to_str().unwrap()).unwrap_err();
        assert!(
            error.to_string().contains("apt-get install mariadb-server"),
            "{error}"
        );
    }

    #[test]
    fn an_unpacked_archive_is_found_with_its_base() {
        let base = tempfile::tempdir().unwrap();
        for file in ["bin/mariadbd", "scripts/mariadb-install-db"] {
            let file = base.path().join(file);
            std::fs::create_dir(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        let found = find(base.path().join("bin").to_str().unwrap()).unwrap();
        assert_eq!(found.base.as_deref(), Some(base.path()));
        assert!(
            found.maker.ends_with("scripts/mariadb-install-db"),
            "{found:?}"
        );
    }
}
