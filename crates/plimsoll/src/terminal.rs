//! Text on its way to a terminal, a pipe or a log. Nothing else writes to stdout and stderr.
//!
//! Titles, names, messages of servers and of other hosts come from elsewhere. Control characters in them could move the
//! cursor, retitle the window or reverse the order of a line: they are shown as `\u001b`, which JSON and TOML read back.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{Result, Write};

/// Writes a line to stderr, made of a format string. A closed stderr is no failure: the exit code tells the outcome.
macro_rules! note {
    ($($text:tt)*) => {
        $crate::terminal::write_stderr(&$crate::terminal::visible(&format!($($text)*)))
    };
}
pub(crate) use note;

/// The text with its control characters escaped, except line feeds and tabs.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_control(c) {
            // Writing to a string cannot fail.
            let _ = write!(shown, "\\u{:04x}", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    shown.into()
}

/// C0, DEL and C1 without `\n` and `\t`, and what changes the direction of text.
pub fn is_control(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Writes text that [`visible`] or a renderer of its own has made safe, as one line.
pub fn write_stderr(text: &str) {
    // There may be no reader, or no room.
    let _ = std::io::stderr()
        .lock()
        .write_all(format!("{text}\n").as_bytes());
}

/// Writes text to stdout.
///
/// # Errors
/// A full disk, or a reader that is gone.
pub fn write_stdout(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(visible(text).as_bytes())?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn control_characters_are_shown() {
        for (text, shown) in [
            ("50.6 MB/s · Größe\n\tx", "50.6 MB/s · Größe\n\tx"),
            ("\u{1b}[2Jgone", "\\u001b[2Jgone"),
            ("a\r\u{7f}\u{0}b", "a\\u000d\\u007f\\u0000b"),
            ("\u{9b}31m\u{85}", "\\u009b31m\\u0085"),
            ("\u{202e}txt.exe\u{2066}", "\\u202etxt.exe\\u2066"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }

    proptest! {
        #[test]
        fn no_text_brings_a_control_character_to_a_terminal(text in "\\PC{0,8}[\u{0}-\u{a0}\u{2028}-\u{202f}\u{2060}-\u{206f}]{0,16}\\PC{0,8}") {
            let shown = visible(&text).into_owned();
            for c in shown.chars() {
                let code = u32::from(c);
                prop_assert!(code >= 0x20 || "\n\t".contains(c), "{:?}", shown);
                prop_assert!(!(0x7f..=0x9f).contains(&code), "{:?}", shown);
                prop_assert!(!(0x202a..=0x202e).contains(&code) && !(0x2066..=0x2069).contains(&code), "{:?}", shown);
            }
            prop_assert_eq!(visible(&shown), &*shown, "what is safe stays as it is");
        }

        #[test]
        fn json_keeps_its_meaning(text in any::<String>(), control in "[\u{7f}-\u{9f}\u{202a}-\u{202e}]{1,4}") {
            let value = serde_json::Value::String(text + &control);
            let shown = visible(&value.to_string()).into_owned();
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
        }
    }
}
