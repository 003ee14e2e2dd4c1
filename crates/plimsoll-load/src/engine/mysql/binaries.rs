//! Where a MySQL server's programs are.

use std::path::{Path, PathBuf};

use crate::engine::mariadb::binaries::{first, usual_places};
use crate::engine::server::setup::Programs;
use crate::error::LoadError;

/// In the given folder, else in `PATH` and where distributions put it. The server makes its data directory itself.
pub fn find(given: &str) -> Result<Programs, LoadError> {
    let places = match given {
        "" => usual_places(),
        given => vec![PathBuf::from(given)],
    };
    let own: Vec<PathBuf> = places
        .into_iter()
        .filter(|place| is_mysqls(place))
        .collect();
    let server = first(&own, &["mysqld"]).ok_or_else(|| missing(given))?;
    let base = server.parent().and_then(Path::parent);
    let is_usual = |base: &Path| {
        ["/", "/usr", "/usr/local"]
            .iter()
            .any(|usual| base == Path::new(usual))
    };
    Ok(Programs {
        base: base.filter(|base| !is_usual(base)).map(Path::to_path_buf),
        maker: server.clone(),
        server,
    })
}

/// MariaDB's packages have a link of this name.
fn is_mysqls(place: &Path) -> bool {
    let real = place.join("mysqld").canonicalize();
    real.is_ok_and(|program| !program.ends_with("mariadbd"))
}

fn missing(given: &str) -> LoadError {
    LoadError::Missing {
        what: "A MySQL server (mysqld)".into(),
        searched: match given {
            "" => "searched: PATH, /usr/sbin, /usr/libexec, /usr/bin, /usr/local".into(),
            given => given.into(),
        },
        next: "Install it, or name its folder with `binaries` in the plan.".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_to_mariadb_is_no_mysql() {
        let folder = tempfile::tempdir().unwrap();
        let given = folder.path().to_str().unwrap();
        std::fs::write(folder.path().join("mariadbd"), "").unwrap();
        std::os::unix::fs::symlink("mariadbd", folder.path().join("mysqld")).unwrap();
        assert!(matches!(find(given), Err(LoadError::Missing { .. })));
        std::fs::remove_file(folder.path().join("mysqld")).unwrap();
        std::fs::write(folder.path().join("mysqld"), "").unwrap();
        let found = find(given).unwrap();
        assert_eq!(found.server, found.maker);
        assert_eq!(found.base.as_deref(), folder.path().parent());
    }
}
