//! 95 % intervals: Student's t on the logarithms of independent values, and ratios and differences of two figures.
//!
//! Rates and response times are positive and their errors are relative, so standard errors are those of the logarithm. A
//! side keeps its degrees of freedom; two sides are combined with those of Welch and Satterthwaite, and their errors below
//! and above, which differ for percentiles, by the method of variance estimates recovery (Zou and Donner, Statistics in
//! Medicine 27, 2008).

use serde::Serialize;

use super::student::t_975;

/// Fewer repeats do not show how they scatter.
pub const FEWEST_REPEATS: usize = 3;
/// More degrees of freedom change nothing.
const MOST_DEGREES: f64 = 1e6;

/// A figure with its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    pub mean: f64,
    pub low: f64,
    pub high: f64,
    /// Degrees of freedom of the error behind it.
    #[serde(skip)]
    pub degrees: f64,
}

/// Standard errors of the logarithm of a figure.
struct LogErrors {
    below: f64,
    above: f64,
}

impl LogErrors {
    fn variance(&self) -> f64 {
        (self.below.powi(2) + self.above.powi(2)) / 2.0
    }
}

impl Interval {
    /// An interval whose error is known.
    pub const fn new(mean: f64, low: f64, high: f64) -> Self {
        Self {
            mean,
            low,
            high,
            degrees: MOST_DEGREES,
        }
    }

    /// Of a figure with `error`, the standard error of its logarithm. `None` where that is too large to be written down.
    pub fn of_error(value: f64, error: f64, degrees: f64) -> Option<Self> {
        // Values that do not scatter have an exact figure, however many there are.
        let half = if error > 0.0 {
            error * t_975(degrees)
        } else {
            0.0
        };
        let own = Self {
            mean: value,
            low: value * (-half).exp(),
            high: value * half.exp(),
            degrees,
        };
        (value > 0.0 && own.high.is_finite()).then_some(own)
    }

    /// The geometric mean of independent values by Student's t. `None` with fewer than two values, or where one of them is
    /// not positive.
    pub fn of_values(values: &[f64]) -> Option<Self> {
        if values.len() < 2
            || values
                .iter()
                .any(|value| *value <= 0.0 || !value.is_finite())
        {
            return None;
        }
        let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        let n = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / n;
        let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
        Self::of_error(mean.exp(), (variance / n).sqrt(), n - 1.0)
    }

    /// The same errors about another estimate of the same figure.
    pub fn moved_to(self, value: f64) -> Self {
        let factor = value / self.mean;
        Self {
            mean: value,
            low: self.low * factor,
            high: self.high * factor,
            ..self
        }
    }

    /// With `value` as the figure, which lies within the interval or becomes its end.
    pub fn with(self, value: f64) -> Self {
        Self {
            mean: value,
            low: self.low.min(value),
            high: self.high.max(value),
            ..self
        }
    }

    pub fn scaled(self, factor: f64) -> Self {
        Self {
            mean: self.mean * factor,
            low: self.low * factor,
            high: self.high * factor,
            ..self
        }
    }

    /// Half the interval's width, as a share of the mean.
    pub fn relative(self) -> Option<f64> {
        (self.mean > 0.0).then(|| (self.high - self.low) / 2.0 / self.mean)
    }

    /// `None` of an interval that reaches 0: its relative error is not known.
    fn errors(self) -> Option<LogErrors> {
        let t = t_975(self.degrees.min(MOST_DEGREES));
        (self.low > 0.0).then(|| LogErrors {
            below: (self.mean / self.low).max(1.0).ln() / t,
            above: (self.high / self.mean).max(1.0).ln() / t,
        })
    }

    /// Welch and Satterthwaite, on the errors of the logarithms. With few degrees of freedom on both sides Satterthwaite's
    /// intervals are too wide and those of Welch's first formula (Biometrika 34, 1947) too narrow: their mean covers 94 to
    /// 95.5 % from two degrees on.
    fn degrees_with(self, other: Self) -> Option<f64> {
        let a = self.errors()?.variance();
        let b = other.errors()?.variance();
        let [satterthwaite, welch] = [0.0, 2.0].map(|more| {
            (a + b).powi(2)
                / (a.powi(2) / (self.degrees + more) + b.powi(2) / (other.degrees + more))
                - more
        });
        let degrees = (satterthwaite + welch) / 2.0;
        Some(if degrees.is_finite() {
            degrees
        } else {
            MOST_DEGREES
        })
    }

    /// This by `other`. Turning the sides over turns the interval over.
    pub fn ratio_to(self, other: Self) -> Option<Self> {
        let own = self.errors()?;
        let others = other.errors()?;
        let degrees = self.degrees_with(other)?;
        let t = t_975(degrees);
        let mean = self.mean / other.mean;
        let low = mean * (-t * own.below.hypot(others.above)).exp();
        let high = mean * (t * own.above.hypot(others.below)).exp();
        Some(Self {
            mean,
            low,
            high,
            degrees,
        })
    }

    /// The same figure where it also has the relative error of `other`: of a figure computed from another that was measured.
    pub fn widened_by(self, other: Self) -> Option<Self> {
        let own = self.errors()?;
        let others = other.errors()?;
        let degrees = self.degrees_with(other)?;
        let t = t_975(degrees);
        Some(Self {
            mean: self.mean,
            low: self.mean * (-t * own.below.hypot(others.below)).exp(),
            high: self.mean * (t * own.above.hypot(others.above)).exp(),
            degrees,
        })
    }

    /// This less `other`.
    pub fn less(self, other: Self) -> Option<Self> {
        let degrees = self.degrees_with(other)?;
        let own = self.at(degrees)?;
        let others = other.at(degrees)?;
        let mean = self.mean - other.mean;
        let low = mean - (self.mean - own.low).hypot(others.high - other.mean);
        let high = mean + (own.high - self.mean).hypot(other.mean - others.low);
        Some(Self {
            mean,
            low,
            high,
            degrees,
        })
    }

    /// The same errors with other degrees of freedom.
    fn at(self, degrees: f64) -> Option<Self> {
        let errors = self.errors()?;
        let t = t_975(degrees);
        let low = self.mean * (-t * errors.below).exp();
        let high = self.mean * (t * errors.above).exp();
        Some(Self {
            low,
            high,
            degrees,
            ..self
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Interval {
        Interval::of_values(values).unwrap()
    }

    #[test]
    fn an_interval_of_repeats_is_students() {
        // Logarithms 0, 1, 2: mean 1, deviation 1, half width 4.302653/√3.
        let interval = of(&[1.0, 1f64.exp(), 2f64.exp()]);
        let half = 4.302_653 / 3f64.sqrt();
        assert!(
            (interval.mean.ln() - 1.0).abs() < 1e-12
                && (interval.high.ln() - 1.0 - half).abs() < 1e-5
        );
        assert!(
            (interval.low.ln() - 1.0 + half).abs() < 1e-5,
            "{interval:?}"
        );
        assert_eq!(
            [
                Interval::of_values(&[1.0]),
                Interval::of_values(&[1.0, 0.0])
            ],
            [None; 2]
        );
        let exact = of(&[4.0; 5]);
        assert!((exact.low - 4.0).abs() < 1e-12 && (exact.high - 4.0).abs() < 1e-12);
    }

    #[test]
    fn turning_sides_over_turns_the_ratio_over() {
        let (a, b) = (of(&[100.0, 102.0, 99.0, 101.0]), of(&[140.0, 143.0, 139.0]));
        let (there, back) = (b.ratio_to(a).unwrap(), a.ratio_to(b).unwrap());
        assert!((there.mean * back.mean - 1.0).abs() < 1e-12);
        assert!(
            (there.low * back.high - 1.0).abs() < 1e-9
                && (there.high * back.low - 1.0).abs() < 1e-9
        );
        assert!(there.low > 1.3 && there.high < 1.5, "{there:?}");
    }

    #[test]
    fn equal_sides_have_welchs_degrees_of_freedom() {
        let a = Interval::of_error(10.0, 0.01, 4.0).unwrap();
        let ratio = a.ratio_to(a).unwrap();
        assert!((ratio.degrees - 9.0).abs() < 1e-9, "{ratio:?}");
        assert!(
            (ratio.high.ln() - 2.262_157 * 0.01 * 2f64.sqrt()).abs() < 1e-6,
            "{ratio:?}"
        );
        let less = a.less(a).unwrap();
        assert!(
            (less.high - 0.320).abs() < 0.005 && (less.low + less.high).abs() < 1e-9,
            "{less:?}"
        );
    }

    #[test]
    fn a_computed_figure_has_the_error_of_what_it_was_computed_from() {
        let computed = Interval::new(500.0, 500.0 / 1.1, 500.0 * 1.1);
        let measured = Interval::new(20.0, 20.0 / 1.2, 20.0 * 1.2);
        let both = computed.widened_by(measured).unwrap();
        let half = 1.1f64.ln().hypot(1.2f64.ln());
        assert!((both.high.ln() - 500f64.ln() - half).abs() < 1e-5 && both.mean == 500.0);
        assert!(
            (both.low.ln() - 500f64.ln() + half).abs() < 1e-5,
            "{both:?}"
        );
        let exact = Interval::new(20.0, 20.0, 20.0);
        let alone = computed.widened_by(exact).unwrap();
        assert!((alone.high - computed.high).abs() < 1e-5);
    }

    #[test]
    fn what_never_changes_has_an_exact_ratio_and_nothing_has_none() {
        let (a, b) = (of(&[100.0; 3]), of(&[103.0; 3]));
        let ratio = b.ratio_to(a).unwrap();
        assert!((ratio.low - 1.03).abs() < 1e-9 && (ratio.high - 1.03).abs() < 1e-9);
        assert_eq!(Interval::of_error(0.0, 0.1, 3.0), None);
        assert_eq!(
            Interval::of_error(1.0, 0.1, 0.0),
            None,
            "one value shows no error"
        );
        assert_eq!(
            Interval::new(1.0, 0.0, 2.0).ratio_to(a),
            None,
            "an interval that reaches 0"
        );
    }
}
