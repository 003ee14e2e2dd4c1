//! The secret that a server asks for when it can be reached from other machines.

use std::fmt::{self, Write};

use subtle::ConstantTimeEq;

/// 256 random bits, or what the user keeps in a file. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// Shorter ones could be tried out.
const SHORTEST: usize = 16;

impl Token {
    pub fn random() -> Result<Self, String> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| format!("no random numbers: {error}"))?;
        let mut text = String::new();
        for byte in bytes {
            // A string takes all that is written.
            let _ = write!(text, "{byte:02x}");
        }
        Ok(Self(text))
    }

    /// Of letters, digits, `-` and `_`, so that it stands in an address and in a cookie as it is.
    pub fn from_text(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        if text.len() < SHORTEST || !text.chars().all(is_plain) {
            return Err(format!(
                "a token has at least {SHORTEST} letters, digits, - or _"
            ));
        }
        Ok(Self(text.to_owned()))
    }

    /// Takes as long for a wrong token as for the right one.
    pub fn matches(&self, given: &str) -> bool {
        self.0.as_bytes().ct_eq(given.as_bytes()).into()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}
