//! `~/.my.cnf`, where clients of MariaDB and MySQL find what a command line leaves out.

use std::path::PathBuf;

use plimsoll_plan::resolved::ServerKind;

use crate::engine::client_environment::{ClientEnvironment, SecretFile};

/// The permission with which clients do not read it: that everybody may write to it.
const FORBIDDEN: u32 = 0o002;

/// What the file has for clients.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ClientOptions {
    /// Where the file is, if it was read.
    pub read: Option<PathBuf>,
    /// Where it is, if everybody may write to it, or nobody can read it; and which of both.
    pub ignored: Option<(PathBuf, &'static str)>,
    /// Names with `-`, in their order.
    options: Vec<(String, String)>,
}

impl ClientOptions {
    pub fn read(kind: ServerKind, environment: &ClientEnvironment<'_>) -> Self {
        let Some(path) = environment.in_home(".my.cnf") else {
            return Self::default();
        };
        match SecretFile::read(&path, FORBIDDEN) {
            Ok(SecretFile::Missing) => Self::default(),
            Ok(SecretFile::Forbidden) => Self {
                ignored: Some((path, "everybody may write to it")),
                ..Self::default()
            },
            Err(_) => Self {
                ignored: Some((path, "it cannot be read")),
                ..Self::default()
            },
            Ok(SecretFile::Text(text)) => Self {
                options: options(&text, kind),
                read: Some(path),
                ignored: None,
            },
        }
    }

    /// The last one wins.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.options.iter().rev().find(|(own, _)| own == name);
        found.map(|(_, value)| value.as_str())
    }
}

fn options(text: &str, kind: ServerKind) -> Vec<(String, String)> {
    let mut is_ours = false;
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with(['#', ';', '!']) {
            continue;
        }
        if let Some(group) = line.strip_prefix('[') {
            let group = group.split(']').next().unwrap_or_default().trim();
            is_ours = match group {
                "client" => true,
                "client-server" | "client-mariadb" => kind == ServerKind::Mariadb,
                _ => false,
            };
            continue;
        }
        if is_ours {
            let (name, value) = line.split_once('=').unwrap_or((line, ""));
            let name = name.trim().replace('_', "-");
            let name = name.strip_prefix("loose-").unwrap_or(&name);
            found.push((name.to_owned(), value_of(value.trim())));
        }
    }
    found
}

/// Without its quotes, or the comment behind it; with what its escapes stand for (the manual's "Using Option Files").
fn value_of(written: &str) -> String {
    let quote = written.chars().next().filter(|sign| "'\"".contains(*sign));
    let quoted = quote.and_then(|quote| written.strip_prefix(quote)?.split_once(quote));
    let value = match quoted {
        Some((value, _)) => value,
        None => written.split('#').next().unwrap_or_default().trim_end(),
    };
    let mut meant = String::new();
    let mut signs = value.chars();
    while let Some(sign) = signs.next() {
        if sign != '\\' {
            meant.push(sign);
            continue;
        }
        match signs.next() {
            Some('b') => meant.push('\u{8}'),
            Some('t') => meant.push('\t'),
            Some('n') => meant.push('\n'),
            Some('r') => meant.push('\r'),
            Some('s') => meant.push(' '),
            Some(sign @ ('\\' | '"' | '\'')) => meant.push(sign),
            Some(other) => meant.extend(['\\', other]),
            None => meant.push('\\'),
        }
    }
    meant
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_reads_its_groups_only() {
        let text = "user = no\n[mysqldump]\nuser=no\n[client]\n; comment\nuser = anna # comment\nssl_ca=/a\n\
                    password = 'a#b\\s'\nloose-ssl-mode=REQUIRED\nskip-ssl\n[client-mariadb]\nport=1\n[mysql]\nhost=no\n";
        let client = |kind| ClientOptions {
            options: options(text, kind),
            ..ClientOptions::default()
        };
        let mysql = client(ServerKind::Mysql);
        let names = [
            "user", "password", "ssl-ca", "ssl-mode", "skip-ssl", "port", "host",
        ];
        assert_eq!(
            names.map(|name| mysql.get(name)),
            [
                Some("anna"),
                Some("a#b "),
                Some("/a"),
                Some("REQUIRED"),
                Some(""),
                None,
                None
            ]
        );
        assert_eq!(client(ServerKind::Mariadb).get("port"), Some("1"));
        for (written, meant) in [
            ("a\\\\b\\q", "a\\b\\q"),
            ("\"x y\" # z", "x y"),
            ("'", "'"),
            ("", ""),
        ] {
            assert_eq!(value_of(written), meant, "{written}");
        }
    }
}
