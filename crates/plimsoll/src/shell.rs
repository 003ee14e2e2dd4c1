//! Commands as a user can paste them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::terminal::is_control;

/// A word as any POSIX shell reads it. One with control characters, or bytes that are no text, is printed by `printf`.
pub fn quoted(word: impl AsRef<OsStr>) -> String {
    let word = word.as_ref();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@%+,".contains(c);
    match word.to_str() {
        Some(text) if !text.is_empty() && text.chars().all(is_plain) => text.to_owned(),
        Some(text) if !text.contains(is_control) => format!("'{}'", text.replace('\'', "'\\''")),
        _ => format!("\"$(printf '{}')\"", octal(word.as_bytes())),
    }
}

/// Bytes as a format of `printf`.
fn octal(bytes: &[u8]) -> String {
    let mut format = String::new();
    for byte in bytes {
        match *byte {
            b'%' => format.push_str("%%"),
            plain @ b' '..=b'~' if !b"'\\".contains(&plain) => format.push(plain.into()),
            other => format.push_str(&format!("\\{other:03o}")),
        }
    }
    format
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_only_where_a_shell_would_change_it() {
        assert_eq!(
            quoted("postgres://me@host:5432/db"),
            "postgres://me@host:5432/db"
        );
        assert_eq!(quoted("a?b=1&c"), "'a?b=1&c'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn a_shell_reads_any_word_back() {
        for word in [
            &b"a\xff'\\%s`date`$(date)\"b"[..],
            b"\x1b[31m \n\\n",
            "Gr\u{202e}öße\t".as_bytes(),
            b"plain",
            b"it's",
        ] {
            let script = format!("printf %s {}", quoted(OsStr::from_bytes(word)));
            let read = std::process::Command::new("sh")
                .args(["-c", &script])
                .output();
            assert_eq!(read.unwrap().stdout, word, "{script}");
        }
    }
}
