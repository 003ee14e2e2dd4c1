//! How many times one figure is another one.

use std::collections::BTreeMap;

use serde::Serialize;

use super::figure::FigureId;
use super::stats::Interval;

/// A ratio of two means; its 95 % interval where both have one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ratio {
    pub ratio: f64,
    pub interval: Option<Interval>,
}

/// An interval that reaches further than this factor from its ratio, up or down, answers nothing.
const UNCERTAIN_FACTOR: f64 = 2.0;

impl Ratio {
    /// Whether its interval is too wide for an answer.
    pub fn is_uncertain(&self) -> bool {
        self.interval.is_some_and(|own| {
            own.low * UNCERTAIN_FACTOR < self.ratio || own.high > self.ratio * UNCERTAIN_FACTOR
        })
    }

    /// `None` for a ratio to nothing.
    pub(crate) fn of(
        rate: f64,
        interval: Option<Interval>,
        first: f64,
        of_first: Option<Interval>,
    ) -> Option<Self> {
        let ratio = (first > 0.0).then(|| rate / first)?;
        let interval = interval
            .zip(of_first)
            .and_then(|(own, first)| own.ratio_to(first));
        Some(Self {
            ratio,
            interval: interval.map(|interval| interval.with(ratio)),
        })
    }
}

/// Ratios of one side's figures to another's.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct RatioSet(BTreeMap<FigureId, Ratio>);

impl RatioSet {
    pub fn get(&self, figure: FigureId) -> Option<Ratio> {
        self.0.get(&figure).copied()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(FigureId, Ratio)> for RatioSet {
    fn from_iter<I: IntoIterator<Item = (FigureId, Ratio)>>(ratios: I) -> Self {
        Self(ratios.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_widths_of_a_ratio_add_in_squares() {
        let around = |mean: f64, half: f64| Some(Interval::new(mean, mean - half, mean + half));
        // 3 % and 4 % make 5 %.
        let ratio = Ratio::of(50.0, around(50.0, 1.5), 200.0, around(200.0, 8.0)).unwrap();
        let interval = ratio.interval.unwrap();
        assert_eq!(ratio.ratio, 0.25);
        assert!(
            (interval.low - 0.2375).abs() < 1e-3 && (interval.high - 0.2625).abs() < 1e-3,
            "{interval:?}"
        );
        assert_eq!(
            Ratio::of(50.0, None, 200.0, around(200.0, 8.0))
                .unwrap()
                .interval,
            None
        );
        assert_eq!(
            Ratio::of(50.0, None, 0.0, None),
            None,
            "there is no ratio to nothing"
        );
    }
}
