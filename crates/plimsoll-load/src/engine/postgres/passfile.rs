//! Password files (libpq's "The Password File"): `host:port:database:user:password`.

use std::path::PathBuf;

use plimsoll_plan::resolved::Credential;

use crate::engine::client_environment::{PasswordFile, SecretFile};

/// Permissions of group and others, with which libpq does not read it.
const FORBIDDEN: u32 = 0o077;

/// Whom a password is for.
pub(super) struct PasswordOwner<'a> {
    pub host: &'a str,
    pub port: u16,
    pub database: &'a str,
    pub user: &'a str,
}

/// The password that a file has for this user, and what became of the file.
pub(super) fn read(path: PathBuf, owner: &PasswordOwner<'_>) -> (Option<Credential>, PasswordFile) {
    match SecretFile::read(&path, FORBIDDEN) {
        Ok(SecretFile::Missing) => (None, PasswordFile::Without),
        Ok(SecretFile::Forbidden) => {
            let why = "group or others have permissions on it";
            (None, PasswordFile::Ignored(path, why))
        }
        Err(_) => (None, PasswordFile::Ignored(path, "it cannot be read")),
        Ok(SecretFile::Text(text)) => match find(&text, owner) {
            Some(password) => (Some(password), PasswordFile::Used(path)),
            None => (None, PasswordFile::Without),
        },
    }
}

/// That of the first line that fits.
fn find(text: &str, owner: &PasswordOwner<'_>) -> Option<Credential> {
    let port = owner.port.to_string();
    let wanted = [owner.host, &port, owner.database, owner.user];
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let mut passwords = lines.filter_map(|line| {
        let fields = fields(line);
        let (password, names) = fields.split_last().filter(|(_, names)| names.len() == 4)?;
        let fits = names
            .iter()
            .zip(wanted)
            .all(|(name, wanted)| name.raw == "*" || name.text == wanted);
        fits.then(|| password.text.clone())
    });
    passwords.next().map(Credential::from)
}

/// A field as it is written, and what it means.
#[derive(Default)]
struct PassfileField {
    raw: String,
    text: String,
}

/// Up to five, of which the last ends with the line; a backslash takes the next sign for itself.
fn fields(line: &str) -> Vec<PassfileField> {
    let mut fields = vec![PassfileField::default()];
    let mut signs = line.chars();
    while let Some(sign) = signs.next() {
        if sign == ':' {
            fields.push(PassfileField::default());
            continue;
        }
        let Some(field) = fields.last_mut() else {
            continue;
        };
        field.raw.push(sign);
        let meant = match sign {
            '\\' => signs.next(),
            sign => Some(sign),
        };
        field.text.extend(meant);
    }
    fields
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const OWNER: PasswordOwner<'static> = PasswordOwner {
        host: "db.example.org",
        port: 5432,
        database: "shop",
        user: "anna",
    };

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        for (text, expected) in [
            (
                "db.example.org:5432:shop:anna:first\n*:*:*:*:second",
                Some("first"),
            ),
            (
                "# *:*:*:*:no\nother:*:*:*:no\n*:*:*:anna:second\n",
                Some("second"),
            ),
            ("*:5433:*:anna:no", None),
            ("*:*:*:anna", None),
            (r"*:*:*:anna:a\:b\\c", Some(r"a:b\c")),
            (r"\*:*:*:anna:no", None),
            ("", None),
        ] {
            let found = find(text, &OWNER);
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_file_that_others_can_read_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pgpass");
        assert_eq!(read(path.clone(), &OWNER), (None, PasswordFile::Without));
        fs::write(&path, "*:*:*:anna:secret\n").unwrap();
        for mode in [0o644, 0o640, 0o602] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let (password, file) = read(path.clone(), &OWNER);
            assert_eq!(password, None, "{mode:o}");
            assert!(file.ignored().is_some(), "{mode:o}");
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let used = (Some("secret".into()), PasswordFile::Used(path.clone()));
        assert_eq!(read(path, &OWNER), used);
    }
}
