//! sysbench's random draws: ids by distribution, and text of digits.
//!
//! The formulas are those of sysbench's `src/sb_rand.c` with the defaults of its options; the generator beneath them is
//! plimsoll's own. `uniform`, `gaussian`, `special` and `pareto` are as in sysbench 1.0.20. `zipfian` came after it
//! (sysbench 1.1) and is the rejection-inversion method of Hörmann and Derflinger, "Rejection-inversion to generate
//! variates from monotone discrete distributions", ACM TOMACS 6.3 (1996), with the exponent that sysbench has there.

use plimsoll_plan::resolved::Distribution;
use plimsoll_stats::Rng;

/// `--rand-spec-iter`: uniform draws whose mean a gaussian one is.
const ITERATIONS: u32 = 12;
/// `--rand-spec-pct`: the middle part of the ids that is special, in percent.
const SPECIAL_PART: f64 = 1.0;
/// `--rand-spec-res`: draws that go there, in percent.
const SPECIAL_DRAWS: f64 = 75.0;
/// `--rand-pareto-h`.
const PARETO_H: f64 = 0.2;
/// `--rand-zipfian-exp`.
const ZIPFIAN_EXPONENT: f64 = 0.8;

/// Draws ids from 1 to a number of rows.
#[derive(Debug, Clone)]
pub struct Ids {
    rows: u32,
    law: Law,
}

#[derive(Debug, Clone)]
enum Law {
    Uniform,
    Gaussian,
    Special,
    /// The exponent on a uniform draw.
    Pareto(f64),
    Zipfian(Zipf),
}

impl Ids {
    /// `rows` is at least 1.
    pub fn new(distribution: Distribution, rows: u32) -> Self {
        let law = match distribution {
            Distribution::Uniform => Law::Uniform,
            Distribution::Gaussian => Law::Gaussian,
            Distribution::Special => Law::Special,
            Distribution::Pareto => Law::Pareto(PARETO_H.ln() / (1.0 - PARETO_H).ln()),
            Distribution::Zipfian => Law::Zipfian(Zipf::new(rows)),
        };
        Self { rows, law }
    }

    pub fn draw(&self, rng: &mut Rng) -> i32 {
        let rows = f64::from(self.rows);
        let from_zero = match &self.law {
            Law::Uniform => return rng.between(1, u64::from(self.rows)) as i32,
            Law::Gaussian => rows * bell(rng),
            Law::Special => special(rows - 1.0, rng),
            Law::Pareto(power) => rows * rng.unit().powf(*power),
            Law::Zipfian(zipf) => return zipf.draw(rng) as i32,
        };
        // Rounding could reach the number of rows.
        1 + (from_zero as u32).min(self.rows - 1) as i32
    }
}

/// Between 0 and 1, around the middle.
fn bell(rng: &mut Rng) -> f64 {
    (0..ITERATIONS).map(|_| rng.unit()).sum::<f64>() / f64::from(ITERATIONS)
}

/// One uniform draw decides both which part it goes to and where in the special part: so the lower quarter of that is never
/// drawn, and its upper end lies one id too high. That is how sysbench has it.
fn special(span: f64, rng: &mut Rng) -> f64 {
    let drawn = rng.unit();
    if drawn < (100.0 - SPECIAL_DRAWS) / 100.0 {
        return span * bell(rng);
    }
    let width = span * SPECIAL_PART / 100.0;
    drawn * (width + 1.0) + span / 2.0 - width / 2.0
}

/// Numbers from 1 to `largest`, each with a chance in proportion to its power of minus the exponent.
#[derive(Debug, Clone)]
struct Zipf {
    largest: f64,
    /// The hat's integral at both ends.
    from: f64,
    to: f64,
    /// Distance from a number up to which nothing is ever rejected.
    safe: f64,
}

impl Zipf {
    fn new(largest: u32) -> Self {
        let safe = 2.0 - inverse_hat(hat_integral(2.5) - mass(2.0));
        Self {
            largest: f64::from(largest),
            from: hat_integral(1.5) - 1.0,
            to: hat_integral(f64::from(largest) + 0.5),
            safe,
        }
    }

    fn draw(&self, rng: &mut Rng) -> u32 {
        loop {
            let area = self.to + rng.unit() * (self.from - self.to);
            let x = inverse_hat(area);
            let number = (x + 0.5).floor().clamp(1.0, self.largest);
            if number - x <= self.safe || area >= hat_integral(number + 0.5) - mass(number) {
                return number as u32;
            }
        }
    }
}

fn mass(x: f64) -> f64 {
    x.powf(-ZIPFIAN_EXPONENT)
}

/// Integral of [`mass`] from 1 to `x`.
fn hat_integral(x: f64) -> f64 {
    (x.powf(1.0 - ZIPFIAN_EXPONENT) - 1.0) / (1.0 - ZIPFIAN_EXPONENT)
}

fn inverse_hat(area: f64) -> f64 {
    (1.0 + (1.0 - ZIPFIAN_EXPONENT) * area)
        .max(0.0)
        .powf(1.0 / (1.0 - ZIPFIAN_EXPONENT))
}

/// Digits in a group of a text.
const GROUP: usize = 11;

/// Groups of `c`, 119 characters, and of `pad`, 59.
pub const C_GROUPS: usize = 10;
pub const PAD_GROUPS: usize = 5;

/// Characters of a text of this many groups.
pub const fn length(groups: usize) -> usize {
    groups * (GROUP + 1) - 1
}

/// Groups of random digits with dashes between, in place of what `text` holds.
pub fn digits(rng: &mut Rng, groups: usize, text: &mut String) {
    text.clear();
    for group in 0..groups {
        if group > 0 {
            text.push('-');
        }
        // One draw for the group's eleven digits, most significant first.
        let mut rest = rng.between(0, 10u64.pow(GROUP as u32) - 1);
        let mut shown = [b'0'; GROUP];
        for digit in shown.iter_mut().rev() {
            *digit += (rest % 10) as u8;
            rest /= 10;
        }
        text.extend(shown.map(char::from));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::any;
    use proptest::{prop_assert, prop_assert_eq, proptest};

    use super::*;

    /// Drawn by sysbench 1.0.20: a million of each, counted in bins.
    const RECORDED: &str = include_str!("draws.txt");
    const DRAWS: u32 = 1_000_000;

    fn counted(ids: &Ids, bins: usize, width: usize) -> Vec<f64> {
        let mut rng = Rng::new(20);
        let mut counts = vec![0.0; bins];
        (0..DRAWS).for_each(|_| counts[(ids.draw(&mut rng) as usize - 1) / width] += 1.0);
        counts
    }

    /// Chi-square over its degrees of freedom in standard deviations; bins are put together until they hold 20.
    fn excess(pairs: impl Iterator<Item = (f64, f64)>, variance: impl Fn(f64, f64) -> f64) -> f64 {
        let mut chi = 0.0;
        let mut freedom = -1.0;
        let mut a = 0.0;
        let mut b = 0.0;
        for (x, y) in pairs {
            (a, b) = (a + x, b + y);
            if a + b >= 20.0 {
                chi += (a - b) * (a - b) / variance(a, b);
                (freedom, a, b) = (freedom + 1.0, 0.0, 0.0);
            }
        }
        (chi - freedom) / f64::sqrt(2.0 * freedom)
    }

    #[test]
    fn draws_are_distributed_as_those_of_sysbench_itself() {
        let mut compared = 0;
        for line in RECORDED.lines().filter(|line| !line.starts_with('#')) {
            let mut words = line.split(' ');
            let name = words.next().unwrap();
            let distribution = *Distribution::ALL.iter().find(|d| d.name() == name).unwrap();
            let numbers: Vec<f64> = words.map(|word| word.parse().unwrap()).collect();
            let [rows, width, theirs @ ..] = numbers.as_slice() else {
                panic!("{line}")
            };
            let ours = counted(
                &Ids::new(distribution, *rows as u32),
                theirs.len(),
                *width as usize,
            );
            let excess = excess(ours.into_iter().zip(theirs.iter().copied()), |a, b| a + b);
            assert!(
                excess < 4.0,
                "{name} of {rows}: {excess} standard deviations"
            );
            compared += 1;
        }
        assert_eq!(compared, 8);
    }

    #[test]
    fn zipfian_draws_follow_the_power_law() {
        for rows in [1u32, 2, 200] {
            let weights: Vec<f64> = (1..=rows)
                .map(|i| f64::from(i).powf(-ZIPFIAN_EXPONENT))
                .collect();
            let total: f64 = weights.iter().sum();
            let expected = weights
                .iter()
                .map(|weight| weight / total * f64::from(DRAWS));
            let counts = counted(&Ids::new(Distribution::Zipfian, rows), rows as usize, 1);
            assert_eq!(counts.iter().sum::<f64>(), f64::from(DRAWS));
            if rows > 1 {
                let excess = excess(counts.into_iter().zip(expected), |_, expected| expected);
                assert!(excess < 4.0, "{rows}: {excess} standard deviations");
            }
        }
    }

    #[test]
    fn a_pareto_draw_keeps_to_its_rule_at_every_scale() {
        let counts = counted(&Ids::new(Distribution::Pareto, 10_000), 10_000, 1);
        let below =
            |share: f64| counts[..(share * 1e4) as usize].iter().sum::<f64>() / f64::from(DRAWS);
        assert!(
            (below(0.2) - 0.8).abs() < 0.002 && (below(0.04) - 0.64).abs() < 0.003,
            "{} {}",
            below(0.2),
            below(0.04)
        );
    }

    #[test]
    fn texts_have_the_form_of_sysbench() {
        let mut rng = Rng::new(1);
        let mut text = String::new();
        let mut counts = [0u32; 10];
        for _ in 0..1_000 {
            digits(&mut rng, C_GROUPS, &mut text);
            assert_eq!(
                (text.len(), text.split('-').count()),
                (length(C_GROUPS), C_GROUPS)
            );
            assert!(text.split('-').all(|group| group.len() == GROUP));
            text.bytes()
                .filter(u8::is_ascii_digit)
                .for_each(|digit| counts[usize::from(digit - b'0')] += 1);
        }
        assert!(
            counts.iter().all(|count| (10_600..11_400).contains(count)),
            "{counts:?}"
        );
        digits(&mut rng, PAD_GROUPS, &mut text);
        assert_eq!(
            (text.len(), length(C_GROUPS), length(PAD_GROUPS)),
            (59, 119, 59)
        );
    }

    proptest! {
        #[test]
        fn ids_stay_within_the_rows(rows in 1u32..=1_000_000_000, seed in any::<u64>(), which in 0usize..5) {
            let ids = Ids::new(Distribution::ALL[which], rows);
            let mut rng = Rng::new(seed);
            for _ in 0..100 {
                prop_assert!((1..=rows as i32).contains(&ids.draw(&mut rng)));
            }
        }

        #[test]
        fn equal_seeds_draw_equal_ids(seed in any::<u64>(), which in 0usize..5) {
            let draw = || {
                let ids = Ids::new(Distribution::ALL[which], 1_000);
                let mut rng = Rng::new(seed);
                (0..20).map(|_| ids.draw(&mut rng)).collect::<Vec<_>>()
            };
            prop_assert_eq!(draw(), draw());
        }
    }
}
