//! How a ladder scales: the Universal Scalability Law.
//!
//! C(N) = γN / (1 + α(N − 1) + βN(N − 1)): γ is what one user does, α what users wait for each other (contention), β what
//! they have to agree on (coherency). Gunther, *Guerrilla Capacity Planning* (2007), chapters 4 to 6; the peak lies at
//! √((1 − α)/β). N/X = c₀ + c₁(N − 1) + c₂N(N − 1) is linear in c₀ = 1/γ, c₁ = α/γ and c₂ = β/γ, so that it is fitted
//! without iterations; residuals are weighted by X/N, which makes them relative to the rate. None of the three may be
//! negative.
//!
//! Intervals are those of weighted least squares with Student's t for the loads less three; of ratios of the coefficients
//! by Fieller's theorem (Supplement to the Journal of the Royal Statistical Society 7, 1940). A law that does not fit is not
//! shown, and neither is a peak that the interval of β does not prove or that lies beyond the loads that were measured.

use serde::Serialize;

use super::finding::Verdict;
use super::load_summary::LoadSummary;
use super::stats::Interval;
use plimsoll_stats::t_975;

/// Of the relative residuals: root of their mean square, with the degrees of freedom that are left.
pub const FIT_LIMIT: f64 = 0.05;
/// Three parameters, and two points to judge by.
const FEWEST: usize = 5;

/// The law of a ladder, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "scaling", rename_all = "snake_case")]
pub enum Scaling {
    Fits(Box<ScalingLaw>),
    /// Beyond [`FIT_LIMIT`].
    DoesNotFit {
        off_percent: f64,
    },
    TooFew {
        loads: usize,
    },
    /// The loads do not show what one user does: its interval reaches 0.
    Unresolved,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScalingLaw {
    /// Transactions per second (NOPM where the workload has it) of one user.
    pub gamma: Interval,
    pub alpha: Interval,
    pub beta: Interval,
    /// Users with the highest rate, and that rate; `None` where no load that was measured shows it.
    pub peak: Option<ScalingPeak>,
    /// Standard deviation of the relative residuals, in percent.
    pub off_percent: f64,
    pub points: Vec<ScalingPoint>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ScalingPeak {
    pub users: f64,
    pub users_interval: Option<Interval>,
    pub rate: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ScalingPoint {
    pub users: u32,
    pub measured: f64,
    pub fitted: f64,
    /// Measured less fitted, of what is fitted.
    pub residual_percent: f64,
}

/// 1/γ, α/γ, β/γ.
type LawTerms = [f64; 3];

/// Of a closed loop in which users do not think; `None` for other ladders.
pub(super) fn of(loads: &[LoadSummary]) -> Option<Scaling> {
    if loads.len() < 2 || !loads.iter().all(is_closed) {
        return None;
    }
    let usable = loads
        .iter()
        .filter(|load| load.verdict < Verdict::Invalid && load.load.users == load.connections);
    let mut points: Vec<(f64, f64)> = usable
        .filter_map(|load| Some((f64::from(load.load.users), load.main_rate()?.value)))
        .collect();
    points.retain(|(_, rate)| *rate > 0.0);
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points.dedup_by_key(|point| point.0);
    Some(fit(&points))
}

fn is_closed(load: &LoadSummary) -> bool {
    !load.load.is_open() && load.load.users > 0
}

/// The law of loads and their rates.
pub fn fit(points: &[(f64, f64)]) -> Scaling {
    let law = (points.len() >= FEWEST)
        .then(|| least_squares(points))
        .flatten();
    let Some(law) = law else {
        return Scaling::TooFew {
            loads: points.len(),
        };
    };
    let residuals: Vec<f64> = points
        .iter()
        .map(|(users, rate)| rate / rate_at(&law, *users) - 1.0)
        .collect();
    let free = law.iter().filter(|part| **part > 0.0).count();
    let left = (points.len() - free) as f64;
    let off = (residuals.iter().map(|r| r * r).sum::<f64>() / left).sqrt();
    if off > FIT_LIMIT {
        return Scaling::DoesNotFit {
            off_percent: off * 100.0,
        };
    }
    let Some(error) = FitError::of(points) else {
        return Scaling::Unresolved;
    };
    let gamma = error
        .ratio([1.0, 0.0, 0.0], [0.0; 3])
        .filter(|one| one.low > 0.0);
    let Some(gamma) = gamma.map(|one| Interval {
        low: 1.0 / one.high,
        high: 1.0 / one.low,
        ..one
    }) else {
        return Scaling::Unresolved;
    };
    let alpha = error.ratio([0.0, 1.0, 0.0], ONE_USER);
    let beta = error.ratio([0.0, 0.0, 1.0], ONE_USER);
    let (Some(alpha), Some(beta)) = (alpha, beta) else {
        return Scaling::Unresolved;
    };
    Scaling::Fits(Box::new(ScalingLaw {
        gamma: gamma.with(1.0 / law[0]),
        alpha: alpha.with(law[1] / law[0]),
        beta: beta.with(law[2] / law[0]),
        peak: peak(
            &law,
            &error,
            beta,
            points.last().map_or(0.0, |(users, _)| *users),
        ),
        off_percent: off * 100.0,
        points: points
            .iter()
            .zip(&residuals)
            .map(|((users, measured), residual)| ScalingPoint {
                users: *users as u32,
                measured: *measured,
                fitted: rate_at(&law, *users),
                residual_percent: residual * 100.0,
            })
            .collect(),
    }))
}

fn rate_at(law: &LawTerms, users: f64) -> f64 {
    users / (law[0] + law[1] * (users - 1.0) + law[2] * users * (users - 1.0))
}

/// √((1 − α)/β) = √((c₀ − c₁)/c₂).
fn peak_users(law: &LawTerms) -> Option<f64> {
    (law[2] > 0.0 && law[0] > law[1])
        .then(|| ((law[0] - law[1]) / law[2]).sqrt())
        .filter(|users| *users >= 1.0)
}

/// The peak, where β is proved and the loads reach it.
fn peak(law: &LawTerms, error: &FitError, beta: Interval, most: f64) -> Option<ScalingPeak> {
    let users = peak_users(law).filter(|users| beta.low > 0.0 && *users <= most)?;
    let squared = error.ratio([1.0, -1.0, 0.0], [0.0, 0.0, 1.0]);
    Some(ScalingPeak {
        users,
        users_interval: squared.map(|own| root(own).with(users)),
        rate: rate_at(law, users),
    })
}

fn root(squared: Interval) -> Interval {
    Interval {
        low: squared.low.sqrt(),
        high: squared.high.sqrt(),
        ..squared
    }
}

const ONE_USER: LawTerms = [1.0, 0.0, 0.0];

/// The coefficients without a limit below, and how they vary together.
struct FitError {
    law: LawTerms,
    covariance: [LawTerms; 3],
    degrees: f64,
}

impl FitError {
    fn of(points: &[(f64, f64)]) -> Option<Self> {
        let law = solve(points, &[0, 1, 2], target(points))?;
        let degrees = points.len() as f64 - 3.0;
        let variance = squares(points, &law) / degrees;
        let unit = |i: usize| {
            solve(
                points,
                &[0, 1, 2],
                std::array::from_fn(|j| if i == j { variance } else { 0.0 }),
            )
        };
        Some(Self {
            law,
            covariance: [unit(0)?, unit(1)?, unit(2)?],
            degrees,
        })
    }

    fn combination(&self, terms: LawTerms) -> f64 {
        (0..3).map(|i| terms[i] * self.law[i]).sum()
    }

    fn covariance(&self, a: LawTerms, b: LawTerms) -> f64 {
        (0..9)
            .map(|i| a[i / 3] * self.covariance[i / 3][i % 3] * b[i % 3])
            .sum()
    }

    /// Of one combination of the coefficients by another, which must not reach 0; or of the first alone, where all of the
    /// second are 0. Cut off at 0. Fieller: all x for which a − x·b is within t standard errors of 0.
    fn ratio(&self, above: LawTerms, below: LawTerms) -> Option<Interval> {
        let alone = below == [0.0; 3];
        let a = self.combination(above);
        let b = if alone { 1.0 } else { self.combination(below) };
        let t2 = t_975(self.degrees).powi(2);
        let [aa, ab, bb] = [(above, above), (above, below), (below, below)]
            .map(|(a, b)| t2 * self.covariance(a, b));
        let square = b * b - bb;
        let cross = a * b - ab;
        let free = a * a - aa;
        if square <= 0.0 {
            return None;
        }
        let root = (cross * cross - square * free).max(0.0).sqrt();
        let low = (cross - root) / square;
        let high = (cross + root) / square;
        Some(Interval {
            mean: a / b,
            low: low.max(0.0),
            high: high.max(0.0),
            degrees: self.degrees,
        })
    }
}

/// The best law whose parts are not negative: of all choices of parts that are 0 the best one that keeps to that. The first
/// part never is 0, because one user takes some time.
fn least_squares(points: &[(f64, f64)]) -> Option<LawTerms> {
    let choices: [&[usize]; 4] = [&[0, 1, 2], &[0, 1], &[0, 2], &[0]];
    let laws = choices
        .into_iter()
        .filter_map(|parts| solve(points, parts, target(points)));
    let usable =
        laws.filter(|law| law[0] > 0.0 && law.iter().all(|part| *part >= 0.0 && part.is_finite()));
    usable
        .map(|law| (squares(points, &law), law))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, law)| law)
}

fn terms(users: f64) -> [f64; 3] {
    [1.0, users - 1.0, users * (users - 1.0)]
}

/// Σ (X/N · law(N) − 1)².
fn squares(points: &[(f64, f64)], law: &LawTerms) -> f64 {
    points
        .iter()
        .map(|(users, rate)| (rate / rate_at(law, *users) - 1.0).powi(2))
        .sum()
}

fn weighted(point: &(f64, f64)) -> LawTerms {
    terms(point.0).map(|term| term * point.1 / point.0)
}

/// The right side of the normal equations.
fn target(points: &[(f64, f64)]) -> LawTerms {
    points.iter().fold([0.0; 3], |sum, point| {
        let own = weighted(point);
        std::array::from_fn(|i| sum[i] + own[i])
    })
}

/// The normal equations of the chosen parts, for a right side, by elimination with pivots.
fn solve(points: &[(f64, f64)], parts: &[usize], right: LawTerms) -> Option<LawTerms> {
    let k = parts.len();
    let mut rows = vec![vec![0.0; k + 1]; k];
    for own in points.iter().map(weighted) {
        for (i, a) in parts.iter().enumerate() {
            parts
                .iter()
                .enumerate()
                .for_each(|(j, b)| rows[i][j] += own[*a] * own[*b]);
        }
    }
    parts
        .iter()
        .enumerate()
        .for_each(|(i, part)| rows[i][k] = right[*part]);
    for i in 0..k {
        let pivot = (i..k).max_by(|a, b| rows[*a][i].abs().total_cmp(&rows[*b][i].abs()))?;
        rows.swap(i, pivot);
        if rows[i][i].abs() < 1e-300 {
            return None;
        }
        for j in 0..k {
            if i != j {
                let factor = rows[j][i] / rows[i][i];
                let own = rows[i].clone();
                rows[j]
                    .iter_mut()
                    .zip(&own)
                    .for_each(|(cell, own)| *cell -= factor * own);
            }
        }
    }
    let mut law = [0.0; 3];
    parts
        .iter()
        .enumerate()
        .for_each(|(i, part)| law[*part] = rows[i][k] / rows[i][i]);
    Some(law)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_stats::made;

    const USERS: [f64; 10] = [1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0, 34.0, 55.0, 89.0];

    fn points(gamma: f64, alpha: f64, beta: f64, noise: f64, seed: u64) -> Vec<(f64, f64)> {
        let law = [1.0 / gamma, alpha / gamma, beta / gamma];
        let off = made::series(seed, USERS.len(), 0.0, noise);
        USERS
            .iter()
            .zip(off)
            .map(|(users, off)| (*users, rate_at(&law, *users) * off / 1000.0))
            .collect()
    }

    fn law(scaling: Scaling) -> ScalingLaw {
        match scaling {
            Scaling::Fits(law) => *law,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn gunthers_law_is_found_again() {
        // Peak at √((1 − 0.05)/0.0002) = 68.9.
        let found = law(fit(&points(1000.0, 0.05, 0.0002, 0.0, 1)));
        assert!(
            (found.gamma.mean / 1000.0 - 1.0).abs() < 1e-6
                && (found.alpha.mean / 0.05 - 1.0).abs() < 1e-6
        );
        assert!((found.beta.mean / 0.0002 - 1.0).abs() < 1e-6 && found.off_percent < 1e-6);
        let peak = found.peak.unwrap();
        assert!((peak.users - 68.92).abs() < 0.01, "{peak:?}");
    }

    #[test]
    fn intervals_hold_the_parameters_under_noise() {
        let trials = 200;
        let mut held = [0; 3];
        for seed in 0..trials {
            let found = law(fit(&points(1000.0, 0.05, 0.0002, 0.02, seed)));
            let truths = [
                (found.gamma, 1000.0),
                (found.alpha, 0.05),
                (found.beta, 0.0002),
            ];
            for (held, (interval, truth)) in held.iter_mut().zip(truths) {
                *held += u32::from(interval.low <= truth && truth <= interval.high);
            }
        }
        // 190 are meant; 180 is three standard errors less.
        assert!(held.iter().all(|held| *held >= 180), "{held:?} of {trials}");
    }

    #[test]
    fn what_does_not_bend_has_no_peak() {
        let linear = law(fit(&points(500.0, 0.0, 0.0, 0.0, 1)));
        assert!(
            linear.peak.is_none() && linear.alpha.mean.abs() < 1e-9,
            "{linear:?}"
        );
        // Without noise the retrograde term is proved; its peak at 313 users is not.
        let late = law(fit(&points(500.0, 0.02, 0.00001, 0.0, 1)));
        assert!(late.peak.is_none() && late.beta.low > 0.0, "{late:?}");
    }

    #[test]
    fn a_law_that_does_not_fit_is_not_shown() {
        let mut bent = points(1000.0, 0.05, 0.0002, 0.0, 1);
        bent[4].1 *= 0.5;
        assert!(matches!(fit(&bent), Scaling::DoesNotFit { off_percent } if off_percent > 5.0));
        assert_eq!(fit(&bent[..4]), Scaling::TooFew { loads: 4 });
        assert_eq!(fit(&[]), Scaling::TooFew { loads: 0 });
    }

    /// The loads that an ordinary ladder has.
    fn few_points(loads: usize, alpha: f64, beta: f64, seed: u64) -> Vec<(f64, f64)> {
        let law = [1e-3, alpha * 1e-3, beta * 1e-3];
        let off = made::series(seed, loads, 0.0, 0.02);
        let users = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
        users
            .iter()
            .zip(off)
            .map(|(users, off)| (*users, rate_at(&law, *users) * off / 1000.0))
            .collect()
    }

    #[test]
    fn intervals_of_few_loads_hold_the_parameters() {
        for loads in [5, 7] {
            let (trials, mut held) = (400, [0; 3]);
            for seed in 0..trials {
                let found = law(fit(&few_points(loads, 0.08, 0.0015, seed)));
                let truths = [
                    (found.gamma, 1000.0),
                    (found.alpha, 0.08),
                    (found.beta, 0.0015),
                ];
                for (held, (interval, truth)) in held.iter_mut().zip(truths) {
                    *held += u32::from(interval.low <= truth && truth <= interval.high);
                }
            }
            assert!(
                held.iter().all(|held| (368..=392).contains(held)),
                "{loads} loads: {held:?} of {trials}"
            );
        }
    }

    #[test]
    fn a_ladder_that_does_not_bend_has_no_peak() {
        let peaks = (0..200)
            .filter(|seed| law(fit(&few_points(7, 0.05, 0.0, *seed))).peak.is_some())
            .count();
        assert!(peaks <= 9, "{peaks} of 200");
        // A peak at √(0.95/0.00005) = 138 users, of which 64 were tried.
        assert_eq!(law(fit(&few_points(7, 0.05, 0.00005, 1))).peak, None);
    }
}
