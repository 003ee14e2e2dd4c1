//! Quantiles of Student's t distribution, whose degrees of freedom need not be whole.

/// The value that |t| exceeds in 5 % of all cases, with `degrees` of freedom. Infinite below a fifth of a degree, where it
/// could not be written down.
pub fn t_975(degrees: f64) -> f64 {
    if degrees.is_nan() || degrees < 0.2 {
        return f64::INFINITY;
    }
    let mut low = 0.0;
    let mut high = 1.0;
    while two_sided(high, degrees) > 0.05 && high < 1e12 {
        high *= 2.0;
    }
    for _ in 0..80 {
        let middle = (low + high) / 2.0;
        if two_sided(middle, degrees) > 0.05 {
            low = middle
        } else {
            high = middle
        }
    }
    (low + high) / 2.0
}

/// P(|T| > t) = I(ν / (ν + t²); ν/2, 1/2) (Abramowitz and Stegun 26.7.1, 26.5.27).
fn two_sided(t: f64, degrees: f64) -> f64 {
    beta(degrees / (degrees + t * t), degrees / 2.0, 0.5)
}

/// P(|Z| > z) of the standard normal distribution: Student's with very many degrees of freedom.
pub fn normal_two_sided(z: f64) -> f64 {
    two_sided(z.abs(), 1e7)
}

/// The regularised incomplete beta function by its continued fraction (Abramowitz and Stegun 26.5.8), evaluated after
/// Lentz.
fn beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    // On the other side of the mean the fraction converges quickly.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta(1.0 - x, b, a);
    }
    let front =
        (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp() / a;
    let away_from_zero = |v: f64| if v.abs() < 1e-300 { 1e-300 } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for m in 1..500 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut step = 1.0;
        for term in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + term * d);
            c = away_from_zero(1.0 + term / c);
            step = c * d;
            fraction *= step;
        }
        if (step - 1.0).abs() < 1e-14 {
            break;
        }
    }
    (front * fraction).clamp(0.0, 1.0)
}

/// Stirling's series (Abramowitz and Stegun 6.1.41) above 10, and the recurrence below. Arguments are positive.
fn ln_gamma(x: f64) -> f64 {
    if x < 10.0 {
        return ln_gamma(x + 1.0) - x.ln();
    }
    let r = 1.0 / (x * x);
    let series = (1.0 / 12.0 - r * (1.0 / 360.0 - r * (1.0 / 1260.0 - r / 1680.0))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        let table = [
            (1.0, 12.7062),
            (2.0, 4.30265),
            (4.0, 2.776_445),
            (8.0, 2.306_004),
            (30.0, 2.042_272),
            (1e6, 1.959_966),
        ];
        for (degrees, t) in table {
            assert!(
                (t_975(degrees) / t - 1.0).abs() < 1e-5,
                "{degrees}: {} {t}",
                t_975(degrees)
            );
        }
        assert!(
            t_975(3.5) < t_975(3.0) && t_975(3.5) > t_975(4.0),
            "and between whole ones"
        );
        assert_eq!([t_975(0.0), t_975(f64::NAN)], [f64::INFINITY; 2]);
    }

    #[test]
    fn the_normal_distribution_is_its_limit() {
        for (z, p) in [
            (0.0, 1.0),
            (1.0, 0.317_311),
            (1.959_963_985, 0.05),
            (3.0, 0.002_699_8),
            (-3.0, 0.002_699_8),
        ] {
            assert!(
                (normal_two_sided(z) - p).abs() < 1e-6,
                "{z}: {}",
                normal_two_sided(z)
            );
        }
    }
}
