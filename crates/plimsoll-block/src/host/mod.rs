//! Facts about this machine: files of /proc and /sys, read and parsed. Nothing is written.

pub mod cpu;
pub mod device;
pub mod mount;
pub mod parse;
pub mod source;

/// The bracketed one of `always [madvise] never`; the whole text where none is bracketed.
pub fn chosen(text: &str) -> String {
    let bracketed = text
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    bracketed.map_or(text, |(chosen, _)| chosen).to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::chosen;

    proptest! {
        #[test]
        fn a_word_without_brackets_is_chosen(text in "[a-z ]*") {
            prop_assert_eq!(chosen(&text), text.clone());
            let bracketed = format!("{text}[none] rest");
            prop_assert_eq!(chosen(&bracketed), "none");
        }

        #[test]
        fn rubbish_never_panics(any in "\\PC*") {
            chosen(&any);
        }
    }
}
