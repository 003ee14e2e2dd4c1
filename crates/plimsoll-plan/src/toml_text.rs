//! Keys and texts as they stand in TOML.

/// A key as it stands in TOML, quoted where it has to be.
pub fn toml_key(key: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !key.is_empty() && key.chars().all(bare) {
        key.to_owned()
    } else {
        quoted(key)
    }
}

/// A text in quotes.
pub fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}
