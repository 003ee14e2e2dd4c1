//! Whether figures of two media may stand in one ratio: a drive that ran slower than rated gives the figures of no drive.

use serde::Serialize;

/// A medium that ran at another speed than those that it stands beside.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MediumSpeed {
    pub medium: String,
    /// How many times slower than rated; 1 at full speed and for a real medium.
    pub slower: f64,
}

impl MediumSpeed {
    pub(crate) fn new(medium: &str, slower: Option<f64>) -> Self {
        Self {
            medium: medium.to_owned(),
            slower: slower.unwrap_or(1.0),
        }
    }
}

/// Whether two media were slowed alike, or not at all. A factor that is no number is like none.
pub fn is_like_speed(a: Option<f64>, b: Option<f64>) -> bool {
    a.unwrap_or(1.0) == b.unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_speed_is_like_a_real_medium_and_a_slowed_drive_is_not() {
        assert!(is_like_speed(None, None) && is_like_speed(Some(1.0), None));
        assert!(is_like_speed(Some(50.0), Some(50.0)));
        assert!(!is_like_speed(Some(50.0), None) && !is_like_speed(Some(50.0), Some(20.0)));
        assert!(!is_like_speed(Some(f64::NAN), Some(f64::NAN)));
    }
}
