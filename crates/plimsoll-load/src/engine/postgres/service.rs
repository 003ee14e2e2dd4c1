//! Connection service files (libpq's "The Connection Service File"): parameters under a name.

use std::path::{Path, PathBuf};

use crate::engine::client_environment::ClientEnvironment;

/// Where packages look for the system's file.
const SYSTEM: [&str; 2] = ["/etc/postgresql-common", "/etc/sysconfig/pgsql"];
const FILE: &str = "pg_service.conf";

/// The parameters of a service.
///
/// # Errors
/// Where it is not defined, without quoting a file: lines may hold passwords.
pub(super) fn parameters(
    service: &str,
    file: Option<&str>,
    environment: &ClientEnvironment<'_>,
) -> Result<Vec<(String, String)>, String> {
    let named = file.map(PathBuf::from);
    let named = named.or_else(|| environment.variable("PGSERVICEFILE").map(PathBuf::from));
    let users = named.or_else(|| environment.in_home(".pg_service.conf"));
    let system = environment.variable("PGSYSCONFDIR").map(PathBuf::from);
    let system = system.into_iter().chain(SYSTEM.map(PathBuf::from));
    let files = users.into_iter().chain(system.map(|dir| dir.join(FILE)));
    let mut searched = Vec::new();
    for path in files {
        if let Some(found) = in_file(&path, service)? {
            return Ok(found);
        }
        searched.push(path.display().to_string());
    }
    Err(format!(
        "the service {service:?} is not defined in {}",
        searched.join(", ")
    ))
}

fn in_file(path: &Path, service: &str) -> Result<Option<Vec<(String, String)>>, String> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("{} cannot be read: {error}", path.display())),
    };
    let header = format!("[{service}]");
    let lines = text.lines().enumerate();
    let lines = lines.map(|(number, line)| (number + 1, line.trim()));
    let mut lines = lines.skip_while(|(_, line)| *line != header);
    if lines.next().is_none() {
        return Ok(None);
    }
    let mut found = Vec::new();
    for (number, line) in lines.take_while(|(_, line)| !line.starts_with('[')) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((name, value)) = line.split_once('=') else {
            return Err(format!("{} line {number} has no `=`", path.display()));
        };
        found.push((name.trim().to_owned(), value.trim().to_owned()));
    }
    Ok(Some(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_has_the_lines_below_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("services");
        let text =
            "# ours\n[a]\nhost=h1\n[b]\n\n# the other\nhost = h2\npassword=s=t\n[c]\nsecret\n";
        std::fs::write(&path, text).unwrap();
        let none = |_: &str| None;
        let environment = ClientEnvironment::new(&none);
        let find = |service| parameters(service, path.to_str(), &environment);
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(find("a"), Ok(vec![pair("host", "h1")]));
        let expected = vec![pair("host", "h2"), pair("password", "s=t")];
        assert_eq!(find("b"), Ok(expected));
        let wrong = find("c").unwrap_err();
        assert!(
            wrong.contains("line 10") && !wrong.contains("secret"),
            "{wrong}"
        );
        let missing = find("d").unwrap_err();
        assert!(missing.contains("\"d\" is not defined in"), "{missing}");
    }
}
