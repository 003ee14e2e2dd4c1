//! Texts of others, which may be endless.

/// Characters of a title, of a label, and of any other text that a person writes in one line.
pub const LONGEST_TEXT: usize = 500;

/// The text, cut after [`LONGEST_TEXT`] characters with an ellipsis.
pub fn shortened(text: &str) -> String {
    cut(text, LONGEST_TEXT)
}

/// The text, cut after so many characters with an ellipsis.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_too_long_is_cut() {
        assert_eq!(cut("éa", 2), "éa");
        assert_eq!(cut("éab", 2), "éa…");
        assert_eq!(
            shortened(&"é".repeat(5_000_000)).chars().count(),
            LONGEST_TEXT + 1
        );
    }
}
