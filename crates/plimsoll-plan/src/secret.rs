//! Values that are used but never shown.

use serde::{Deserialize, Serialize};
use zeroize::Zeroize;

use crate::redact::redact_fully;
use crate::secret_option::SHOWN;

/// A value that is used but never shown: `Debug` and `Serialize` give it redacted.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value itself. For handing to a driver only.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// As [`redact`](crate::redact::redact), knowing that all of it is one value.
    pub fn redacted(&self) -> String {
        redact_fully(&self.0, true)
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl Secret {
    /// The URL as it can be typed: its password belongs in a variable of the environment.
    pub fn without_password(&self) -> String {
        self.redacted().replacen(":***@", "@", 1)
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.redacted())
    }
}

impl Serialize for Secret {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.redacted())
    }
}

/// A password, or what a driver connects by, which may hold one. It is serialized as it is, for other hosts, and never
/// stored or shown.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Credential(String);

impl<T: Into<String>> From<T> for Credential {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl std::ops::Deref for Credential {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Credential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(SHOWN)
    }
}

impl Drop for Credential {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_travel_but_do_not_show() {
        let credential = Credential::from("Zq1");
        assert_eq!(format!("{credential:?}"), "***");
        assert_eq!(serde_json::to_string(&credential).unwrap(), "\"Zq1\"");
        let secret = Secret::new("postgres://u:Zq1@h");
        assert_eq!(format!("{secret:?}"), "postgres://u:***@h");
        assert_eq!(
            serde_json::to_string(&secret).unwrap(),
            "\"postgres://u:***@h\""
        );
    }
}
