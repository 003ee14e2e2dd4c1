//! Where a PostgreSQL server's programs are.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::backup::program;
use crate::error::LoadError;

/// The folder that holds `initdb` and `postgres`: the given one, else the one that `pg_config` names, else the newest
/// under `/usr/lib/postgresql` (Debian) and `/usr/pgsql-*` (PGDG's RPMs), else one in `PATH`.
pub fn find(given: &str) -> Result<PathBuf, LoadError> {
    if !given.is_empty() {
        let given = PathBuf::from(given);
        return if holds_server(&given) {
            Ok(given)
        } else {
            Err(missing(given.display().to_string()))
        };
    }
    places()
        .into_iter()
        .find(|place| holds_server(place))
        .ok_or_else(|| {
            missing(
                "searched: pg_config --bindir, /usr/lib/postgresql/*/bin, /usr/pgsql-*/bin, PATH"
                    .into(),
            )
        })
}

/// A client's program: that of a server's folder, else the newest.
pub fn client(folder: Option<&Path>, name: &str) -> Result<PathBuf, LoadError> {
    let places = folder.map_or_else(places, |folder| vec![folder.to_owned()]);
    program::find(
        &places,
        &[name],
        "Install it (apt-get install postgresql-client), beside the server's programs.",
    )
}

fn places() -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = pg_config().into_iter().collect();
    places.extend(newest_first("/usr/lib/postgresql", ""));
    places.extend(newest_first("/usr", "pgsql-"));
    places.extend(std::env::split_paths(
        &std::env::var_os("PATH").unwrap_or_default(),
    ));
    places
}

fn missing(searched: String) -> LoadError {
    LoadError::Missing {
        what: "A PostgreSQL server (initdb, postgres)".into(),
        searched,
        next: "Install it (apt-get install postgresql), or name its folder with `binaries` in the plan.".into(),
    }
}

fn holds_server(folder: &Path) -> bool {
    ["initdb", "postgres"]
        .iter()
        .all(|program| folder.join(program).is_file())
}

fn pg_config() -> Option<PathBuf> {
    let output = Command::new("pg_config").arg("--bindir").output().ok()?;
    Some(PathBuf::from(String::from_utf8(output.stdout).ok()?.trim()))
}

/// `<parent>/<prefix><version>/bin`, the highest version first.
fn newest_first(parent: &str, prefix: &str) -> Vec<PathBuf> {
    let mut found: Vec<(Vec<u32>, PathBuf)> = std::fs::read_dir(parent)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            Some((
                version(entry.file_name().to_str()?.strip_prefix(prefix)?)?,
                entry.path(),
            ))
        })
        .collect();
    found.sort();
    found
        .into_iter()
        .rev()
        .map(|(_, path)| path.join("bin"))
        .collect()
}

/// `9.6` comes before `15`.
fn version(text: &str) -> Option<Vec<u32>> {
    text.split('.').map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_numbers() {
        assert!(version("9.6") < version("15"));
        assert_eq!(version("share"), None);
    }

    #[test]
    fn a_folder_without_a_server_is_refused_with_the_next_step() {
        let empty = tempfile::tempdir().unwrap();
        let error = find(empty.path().to_str().unwrap()).unwrap_err();
        assert!(
            error.to_string().contains("apt-get install postgresql"),
            "{error}"
        );
    }
}
