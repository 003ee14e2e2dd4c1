//! What drawings share that need no script.

/// Text and attributes.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// A round distance between ticks, not below `rough`, which is above 0.
pub(crate) fn round_step(rough: f64) -> f64 {
    let unit = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .map(|m| m * unit)
        .into_iter()
        .find(|step| *step >= rough)
        .unwrap_or(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        assert_eq!(
            [0.3, 1.0, 1.1, 23.0, 700.0].map(round_step),
            [0.5, 1.0, 2.0, 50.0, 1000.0]
        );
    }

    #[test]
    fn text_is_no_markup() {
        assert_eq!(escaped("a<b> & \"c\""), "a&lt;b&gt; &amp; &quot;c&quot;");
    }
}
