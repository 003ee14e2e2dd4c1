//! Whether a file has the tables of the schema, and nothing else: what SQLite runs when a table is read (views,
//! generated columns, virtual tables) may have been put there by anybody.

use std::collections::HashSet;
use std::sync::LazyLock;

use rusqlite::Connection;

use super::row::{BadRow, rows};

/// Statements of the schema, without comments and spaces.
static STATEMENTS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let all = without_spaces(include_str!("schema.sql"));
    all.split_terminator(';').map(str::to_owned).collect()
});

/// The kind and name of something that no plimsoll makes.
pub(super) fn unknown_entry(db: &Connection) -> Result<Option<String>, BadRow> {
    let sql = "SELECT type, name, sql FROM sqlite_schema";
    let all = rows(db, sql, |row| {
        Ok(SchemaEntry {
            kind: row.get(0)?,
            name: row.get(1)?,
            sql: row.get(2)?,
        })
    })?;
    let unknown = all.into_iter().find(|entry| !entry.is_known());
    Ok(unknown.map(|SchemaEntry { kind, name, .. }| {
        format!("the {kind} {name}").escape_debug().to_string()
    }))
}

struct SchemaEntry {
    kind: String,
    name: String,
    sql: Option<String>,
}

impl SchemaEntry {
    fn is_known(&self) -> bool {
        match &self.sql {
            // SQLite makes these for keys.
            None => self.kind == "index" && self.name.starts_with("sqlite_autoindex_"),
            Some(sql) => STATEMENTS.contains(&without_spaces(sql)),
        }
    }
}

/// Without comments, and with spaces only where they separate words. Quoted text stays as it is.
fn without_spaces(sql: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut text = String::new();
    let mut rest = sql.trim_start_matches(is_space);
    while let Some(c) = rest.chars().next() {
        let length = if rest.starts_with("--") {
            rest.find('\n').unwrap_or(rest.len())
        } else if c == '\'' {
            rest[1..].find('\'').map_or(rest.len(), |end| end + 2)
        } else {
            rest.find(|c| !is_word(c))
                .filter(|n| *n > 0)
                .unwrap_or(if is_word(c) { rest.len() } else { c.len_utf8() })
        };
        let (token, after) = rest.split_at(length);
        if !token.starts_with("--") {
            if text.ends_with(is_word) && token.starts_with(is_word) {
                text.push(' ');
            }
            text.push_str(token);
        }
        rest = after.trim_start_matches(is_space);
    }
    text
}

/// Whether the character separates words in SQLite.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0c')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_comments_and_spaces_may_differ() {
        let known = "CREATE TABLE plan (form TEXT PRIMARY KEY, text TEXT NOT NULL)";
        let entry = |sql: &str| SchemaEntry {
            kind: "table".into(),
            name: "plan".into(),
            sql: Some(sql.into()),
        };
        assert!(entry(known).is_known());
        assert!(
            entry("CREATE TABLE\nplan(form TEXT -- a ' b\n PRIMARY KEY,text TEXT NOT NULL)")
                .is_known()
        );
        for (from, to) in [
            ("NOT NULL", "NOT NULL DEFAULT (randomblob(9))"),
            ("NOT NULL", "NOTNULL"),
            ("text TEXT", "text TEXT AS (1)"),
            ("text TEXT", "text TEXT /* */"),
            ("text TEXT", "\"text\" TEXT"),
            ("text TEXT", "text\u{a0}TEXT"),
            ("TABLE", "VIRTUAL TABLE"),
            ("KEY,", "KEY, evil,"),
            ("PRIMARY KEY", ""),
        ] {
            let other = known.replacen(from, to, 1);
            assert!(!entry(&other).is_known(), "{other}");
        }
        let view = "CREATE VIEW v AS SELECT json_extract(a, '$[0]')";
        let hidden = "CREATE VIEW v AS SELECT json_extract(a, '--', evil(), '\n$[0]')";
        assert_ne!(without_spaces(view), without_spaces(hidden));
        assert!(!entry("CREATE TABLE plan (").is_known() && !entry("'").is_known());
    }
}
