//! Commands as a user can paste them.

/// A word as a shell reads it.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
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
}
