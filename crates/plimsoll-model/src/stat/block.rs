//! Blocks of a series whose neighbours are not independent: how long they have to be, and how they are drawn.
//!
//! The circular block bootstrap (Politis and Romano 1992): the window is closed to a ring and cut into blocks that begin
//! anywhere, so that what hangs together in time stays together. The length is chosen from the series itself.

use super::resample::Draws;

/// The block length that lets the variance of a mean come out best under the circular block bootstrap: Politis and White,
/// Automatic Block-Length Selection for the Dependent Bootstrap, Econometric Reviews 23 (2004), as corrected by Patton,
/// Politis and White (2009).
///
/// It is best for the variance's mean squared error. An interval that shall hold what it promises wants longer blocks,
/// because short ones miss covariance and make it too narrow: so it is doubled where there is any, up to a quarter of the
/// series. `None` where less than six blocks would fit without that: then so much hangs together that the series is too
/// short to say how its mean scatters.
pub fn block_length(series: &[f64]) -> Option<usize> {
    let n = series.len();
    let mean = series.iter().sum::<f64>() / n.max(1) as f64;
    let centred: Vec<f64> = series.iter().map(|x| x - mean).collect();
    let covariance = |lag: usize| centred.iter().zip(&centred[lag..]).map(|(a, b)| a * b).sum::<f64>() / n as f64;
    if n < 8 {
        return None;
    }
    if covariance(0) <= 0.0 {
        return Some(1);
    }
    let m = bandwidth(n, |lag| covariance(lag) / covariance(0));
    if m == 0 {
        return Some(1);
    }
    let reach = (2 * m).min(n - 1);
    // The flat-top window: 1 up to half of the reach, then down to 0.
    let weight = |lag: usize| (2.0 * (1.0 - lag as f64 / reach as f64)).clamp(0.0, 1.0);
    let (mut spectrum, mut slope) = (covariance(0), 0.0);
    for lag in 1..=reach {
        let c = weight(lag) * covariance(lag);
        spectrum += 2.0 * c;
        slope += 2.0 * lag as f64 * c;
    }
    let d = 4.0 / 3.0 * spectrum.powi(2);
    let length = (d > 0.0).then(|| (2.0 * slope.powi(2) / d * n as f64).cbrt())?;
    let n = n as f64;
    (length <= n / 6.0).then(|| (2.0 * length).ceil().min(n / 4.0).max(1.0) as usize)
}

/// The smallest lag after which a number of correlations in a row are no more than chance; 0 where already the first are.
fn bandwidth(n: usize, correlation: impl Fn(usize) -> f64) -> usize {
    let digits = (n as f64).log10();
    let in_a_row = (digits.sqrt().ceil() as usize).max(5);
    let most = ((n as f64).sqrt().ceil() as usize + in_a_row).min(n - 1);
    let chance = 2.0 * (digits / n as f64).sqrt();
    let mut quiet = 0;
    for lag in 1..=most {
        quiet = if correlation(lag).abs() < chance { quiet + 1 } else { 0 };
        if quiet == in_a_row {
            return lag - in_a_row;
        }
    }
    most
}

/// Where the blocks of one resample of `n` begin, and how long each is: together `n`.
pub fn draw_blocks(draws: &mut Draws, n: usize, length: usize) -> impl Iterator<Item = (usize, usize)> {
    let length = length.max(1);
    (0..n).step_by(length).map(move |done| (draws.below(n), length.min(n - done)))
}

#[cfg(test)]
mod tests {
    use super::super::made;
    use super::*;

    #[test]
    fn what_is_independent_needs_no_blocks_and_what_hangs_together_long_ones() {
        let of = |correlation: f64| {
            let lengths: Vec<usize> =
                (0..40).filter_map(|seed| block_length(&made::series(seed, 600, correlation, 0.1))).collect();
            assert!(lengths.len() > 35, "{correlation}: {lengths:?}");
            lengths.iter().sum::<usize>() as f64 / lengths.len() as f64
        };
        let lengths = [0.0, 0.5, 0.8, 0.9].map(of);
        assert!(lengths[0] < 2.0 && lengths.is_sorted() && lengths[3] > 40.0, "{lengths:?}");
        assert_eq!(block_length(&[5.0; 100]), Some(1), "nothing changes");
        assert_eq!(block_length(&[5.0; 7]), None);
        let drifts: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(block_length(&drifts), None, "one movement over all of it");
    }

    #[test]
    fn blocks_fill_the_ring() {
        let mut draws = Draws::new(1);
        for (n, length) in [(10, 3), (10, 10), (7, 1), (5, 9)] {
            let blocks: Vec<_> = draw_blocks(&mut draws, n, length).collect();
            assert_eq!(blocks.iter().map(|(_, length)| length).sum::<usize>(), n);
            assert!(blocks.iter().all(|(start, _)| *start < n));
        }
    }
}
