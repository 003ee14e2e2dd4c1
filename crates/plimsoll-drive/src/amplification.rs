//! What the fill of flash costs.

/// Flash writes per host write against the share of the flash that holds data, for uniformly random writes and greedy
/// garbage collection (SSD-iq, VLDB 2025). The ends are added: an empty drive copies nothing. The measured points are those of
/// the closed form α / (α + W₀(−α e^−α)), α = 1 / fill (Xiang and Kurkoski, arXiv 1110.4245), within 0.5 %.
const AMPLIFICATION: [(f64, f64); 7] = [
    (0.0, 1.0),
    (0.5, 1.25),
    (0.7, 1.87),
    (0.8, 2.69),
    (0.85, 3.51),
    (0.9, 5.17),
    (1.0, 8.49),
];

/// Write amplification of random writes when data fill this share of the flash, interpolated. Above 0.9 the last slope
/// of the measurements is continued, which is less than theory has it; drives keep some flash to themselves there.
pub fn amplification(physical_fill: f64) -> f64 {
    let fill = physical_fill.clamp(0.0, 1.0);
    let above = AMPLIFICATION
        .iter()
        .position(|(at, _)| *at >= fill)
        .unwrap_or(AMPLIFICATION.len() - 1)
        .max(1);
    let [(x0, y0), (x1, y1)] = [AMPLIFICATION[above - 1], AMPLIFICATION[above]];
    y0 + (y1 - y0) * (fill - x0) / (x1 - x0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With W₀ by Newton's method. From near its branch point, where it begins, it comes from above.
    fn closed_form(fill: f64) -> f64 {
        let alpha = fill.recip();
        let x = -alpha * (-alpha).exp();
        let mut w = 0.0f64;
        for _ in 0..200 {
            w -= (w * w.exp() - x) / (w.exp() * (w + 1.0));
        }
        alpha / (alpha + w)
    }

    #[test]
    fn amplification_is_that_of_the_closed_form() {
        for (fill, expected) in [
            (0.5, 1.255),
            (0.7, 1.876),
            (0.8, 2.693),
            (0.85, 3.519),
            (0.9, 5.179),
        ] {
            let theory = closed_form(fill);
            assert!((theory - expected).abs() < 1e-3, "{fill}: {theory}");
            let own = amplification(fill) / theory;
            assert!((own - 1.0).abs() < 0.005, "{fill}: {own}");
        }
        // Straight lines lie above the curve between the points; below the lowest of them most.
        for percent in 1..=90 {
            let fill = f64::from(percent) / 100.0;
            let own = amplification(fill) / closed_form(fill);
            let most = if fill < 0.5 { 1.11 } else { 1.06 };
            assert!(own > 0.99 && own < most, "{fill}: {own}");
        }
        assert!(amplification(0.95) < closed_form(0.95));
    }

    #[test]
    fn amplification_goes_through_the_measured_points() {
        let shown =
            [0.0, 0.5, 0.6, 0.85, 0.9].map(|fill| (amplification(fill) * 100.0).round() / 100.0);
        assert_eq!(shown, [1.0, 1.25, 1.56, 3.51, 5.17]);
        assert!(amplification(0.95) > 6.0 && amplification(7.0) < 9.0);
    }
}
