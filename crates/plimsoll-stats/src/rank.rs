//! Two samples by their ranks: how often a value of one is above a value of the other, and how likely that is by chance.

use serde::Serialize;

use super::student::normal_two_sided;

/// Up to so many values of both sides the test is exact.
const MOST_EXACT: usize = 60;

/// The test of Mann and Whitney (1947), with Cliff's delta (1993), which is the same statistic as an effect.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RankTest {
    /// Values on each side.
    pub first: usize,
    pub second: usize,
    /// Probability, two-sided, of ranks as unequal as these where both sides are the same.
    pub p: f64,
    /// Share of pairs in which the second side is higher less the share in which it is lower: −1 to 1.
    pub cliffs_delta: f64,
}

/// `None` when a side is empty.
pub fn rank_test(first: &[f64], second: &[f64]) -> Option<RankTest> {
    let m = first.len();
    let n = second.len();
    if m == 0 || n == 0 {
        return None;
    }
    let ranks = doubled_ranks(first, second);
    let own: u64 = ranks[m..].iter().sum();
    // U of the second side, doubled: its rank sum less the least that it can be.
    let u = own - (n * (n + 1)) as u64;
    let p = if m + n <= MOST_EXACT {
        exact(&ranks, n, own)
    } else {
        by_normal(&ranks, n, own)
    };
    Some(RankTest {
        first: m,
        second: n,
        p,
        cliffs_delta: u as f64 / (m * n) as f64 - 1.0,
    })
}

/// Twice the rank of each value among all, the first side's first: with ties ranks are halves.
fn doubled_ranks(first: &[f64], second: &[f64]) -> Vec<u64> {
    let all: Vec<f64> = first.iter().chain(second).copied().collect();
    let mut sorted = all.clone();
    sorted.sort_by(f64::total_cmp);
    all.iter()
        .map(|value| {
            let below = sorted.partition_point(|other| other.total_cmp(value).is_lt());
            let upto = sorted.partition_point(|other| other.total_cmp(value).is_le());
            (below + upto + 1) as u64
        })
        .collect()
}

/// Of all choices of `n` from the ranks the share whose sum is as far from the middle or farther, counted by the shift
/// algorithm (Streitberg and Röhmel 1986), which is exact with ties, too.
fn exact(ranks: &[u64], n: usize, own: u64) -> f64 {
    let total: u64 = ranks.iter().sum();
    // ways[k][s]: choices of k ranks with sum s. Fewer than 2^60, so a double holds them well enough.
    let mut ways = vec![vec![0.0f64; total as usize + 1]; n + 1];
    ways[0][0] = 1.0;
    for (before, rank) in ranks.iter().enumerate() {
        for k in (1..=n.min(before + 1)).rev() {
            let (fewer, more) = ways.split_at_mut(k);
            let shift = *rank as usize;
            for (sum, before) in (shift..=total as usize).zip(&fewer[k - 1]) {
                more[0][sum] += before;
            }
        }
    }
    let middle = total as f64 * n as f64 / ranks.len() as f64;
    let distance = (own as f64 - middle).abs() - 1e-9;
    let mut all = 0.0;
    let mut far = 0.0;
    for (sum, ways) in ways[n].iter().enumerate() {
        all += ways;
        far += if (sum as f64 - middle).abs() >= distance {
            *ways
        } else {
            0.0
        };
    }
    far / all
}

/// The normal approximation with the variance of the ranks at hand, ties included, and continuity correction.
fn by_normal(ranks: &[u64], n: usize, own: u64) -> f64 {
    let all = ranks.len() as f64;
    let mean = ranks.iter().sum::<u64>() as f64 / all;
    let spread = ranks
        .iter()
        .map(|rank| (*rank as f64 - mean).powi(2))
        .sum::<f64>()
        / (all - 1.0);
    let chosen = n as f64;
    let variance = spread * chosen * (all - chosen) / all;
    let off = ((own as f64 - chosen * mean).abs() - 1.0).max(0.0);
    if variance > 0.0 {
        normal_two_sided(off / variance.sqrt())
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_samples_are_exact() {
        // All of five above all of five: 2 of 252 arrangements.
        let test = rank_test(&[1.0, 2.0, 3.0, 4.0, 5.0], &[6.0, 7.0, 8.0, 9.0, 10.0]).unwrap();
        assert!(
            (test.p - 2.0 / 252.0).abs() < 1e-12 && test.cliffs_delta == 1.0,
            "{test:?}"
        );
        // Ranks 2, 4 against 1, 3: U = 1 of 4, p = 4/6 (Mann and Whitney's table).
        let test = rank_test(&[2.0, 4.0], &[1.0, 3.0]).unwrap();
        assert!(
            (test.p - 4.0 / 6.0).abs() < 1e-12 && test.cliffs_delta == -0.5,
            "{test:?}"
        );
        assert_eq!(rank_test(&[], &[1.0]), None);
    }

    #[test]
    fn ties_count_for_half() {
        let test = rank_test(&[1.0, 1.0, 1.0], &[1.0, 1.0, 1.0]).unwrap();
        assert_eq!((test.p, test.cliffs_delta), (1.0, 0.0));
        // Pairs: 1<2 twice, 2=2 twice: (2 + 0.5·2)/4 above → delta = 0.5.
        assert_eq!(
            rank_test(&[1.0, 2.0], &[2.0, 2.0]).unwrap().cliffs_delta,
            0.5
        );
    }

    #[test]
    fn large_samples_agree_with_small_ones() {
        let values = |shift: f64, n: u32| {
            (0..n)
                .map(|i| f64::from(i * 7 % n) + shift)
                .collect::<Vec<f64>>()
        };
        let (a, b) = (values(0.0, 30), values(4.3, 30));
        let exact = rank_test(&a, &b).unwrap().p;
        let ranks = doubled_ranks(&a, &b);
        let near = by_normal(&ranks, 30, ranks[30..].iter().sum());
        assert!((exact - near).abs() < 0.005, "{exact} {near}");
        assert!(rank_test(&values(0.0, 50), &values(25.0, 50)).unwrap().p < 1e-4);
    }
}
