//! Where a series changes its level: E-divisive.
//!
//! Matteson and James, A Nonparametric Approach for Multiple Change Point Analysis of Multivariate Data, Journal of the
//! American Statistical Association 109 (2014), with exponent 1. It assumes nothing about how values are distributed, which
//! is why it is used for series of benchmarks (Daly et al., The Use of Change Point Detection to Identify Software
//! Performance Regressions in a Continuous Integration System, ICPE 2020). The index with the largest energy distance
//! between what lies before and after it is tested against permutations of its segment; if it is significant, both
//! halves are searched, too. Up to [`MOST_EXACT`] values all permutations are counted: of five and five values, two of 252
//! arrangements separate as clearly as a clean step, which 199 draws see in one series and not in the next. Where a level comes back, no single index separates the series: where none is significant, the
//! middle segment with the largest distance from the rest is tested, at half the significance.
//!
//! Permutations assume that values are exchangeable without a change. Of a series that drifts, or whose neighbours correlate,
//! the same test reports steps.

use std::ops::Range;

use serde::Serialize;

use super::draws::Draws;
use super::mean::mean;

/// On each side of a change.
const FEWEST: usize = 3;
const PERMUTATIONS: usize = 199;
/// Up to so many values all permutations are counted: by subsets, of which there are 2^n.
const MOST_EXACT: usize = 16;
/// More values are not searched: the distances between all pairs are needed.
pub const MOST_VALUES: usize = 200;

/// An index at which the level of a series changed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ChangePoint {
    /// Index of the first value of the new level.
    pub at: usize,
    /// Means of the segments before and after it, up to the next changes.
    pub before: f64,
    pub after: f64,
    /// Share of permutations that split as clearly.
    pub p: f64,
}

/// The changes that `significance` or less of all permutations show as clearly, in the order of the series. Of more than
/// [`MOST_VALUES`] values the last ones count.
pub fn change_points(values: &[f64], significance: f64) -> Vec<ChangePoint> {
    let skipped = values.len().saturating_sub(MOST_VALUES);
    let values = &values[skipped..];
    if values.iter().any(|value| !value.is_finite()) {
        return Vec::new();
    }
    let mut found: Vec<(usize, f64)> = Vec::new();
    let mut open = vec![(0, values.len())];
    while let Some((from, to)) = open.pop() {
        let own = &values[from..to];
        let stream = (from * 1000 + to) as u64;
        let step = if own.len() <= MOST_EXACT {
            tested_exactly(own)
        } else {
            tested(own, stream, best_split)
        };
        let step = step.filter(|(_, p)| *p <= significance);
        let Some((range, p)) = step
            .or_else(|| tested(own, stream, best_middle).filter(|(_, p)| *p <= significance / 2.0))
        else {
            continue;
        };
        let bounds = [from, from + range.start, from + range.end, to];
        found.extend(
            bounds[1..3]
                .iter()
                .filter(|at| (from + 1..to).contains(at))
                .map(|at| (*at, p)),
        );
        open.extend(
            bounds
                .windows(2)
                .filter(|part| part[0] < part[1])
                .map(|part| (part[0], part[1])),
        );
    }
    found.sort_by_key(|(at, _)| *at);
    let mut start = 0;
    let mut changes = Vec::new();
    for (i, (at, p)) in found.iter().enumerate() {
        let end = found.get(i + 1).map_or(values.len(), |(next, _)| *next);
        changes.push(ChangePoint {
            at: at + skipped,
            before: mean(&values[start..*at]),
            after: mean(&values[*at..end]),
            p: *p,
        });
        start = *at;
    }
    changes
}

/// A part of a series that differs most from the rest, and by how much.
struct SeriesPart {
    range: Range<usize>,
    energy: f64,
}

/// The part that a search finds, and the share of permutations in which it finds one as clear.
fn tested(
    values: &[f64],
    stream: u64,
    search: fn(&[f64]) -> Option<SeriesPart>,
) -> Option<(Range<usize>, f64)> {
    let SeriesPart { range, energy } = search(values).filter(|part| part.energy > 0.0)?;
    let mut draws = Draws::new(stream);
    let mut shuffled = values.to_vec();
    let mut as_clear = 0;
    for _ in 0..PERMUTATIONS {
        for i in (1..shuffled.len()).rev() {
            shuffled.swap(i, draws.below(i + 1));
        }
        as_clear += usize::from(
            search(&shuffled).is_some_and(|other| other.energy >= energy * (1.0 - 1e-12)),
        );
    }
    Some((range, (as_clear + 1) as f64 / (PERMUTATIONS + 1) as f64))
}

/// The fewest values in which a clean step is significant: with equal sides, 2 of n! / (n/2)!² arrangements are as clear.
pub fn fewest_for_step(significance: f64) -> usize {
    (2 * FEWEST..)
        .find(|n| 2.0 / arrangements(*n, n / 2) <= significance)
        .unwrap_or(usize::MAX)
}

/// Choices of `k` from `n`.
fn arrangements(n: usize, k: usize) -> f64 {
    (1..=k).map(|i| (n - k + i) as f64 / i as f64).product()
}

/// The best split, and the exact share of permutations in which one is as clear. A split depends on which values are before
/// it, not on their order: `unclear[s]` counts the orders of subset `s` of which no beginning is as clear.
fn tested_exactly(values: &[f64]) -> Option<(Range<usize>, f64)> {
    let n = values.len();
    let SeriesPart { range, energy } = best_split(values).filter(|part| part.energy > 0.0)?;
    let least = energy * (1.0 - 1e-9);
    let all = (1usize << n) - 1;
    let members = |set: usize| (0..n).filter(move |i| set >> i & 1 == 1);
    // Of each subset the sum of distances between its pairs.
    let mut within = vec![0.0; all + 1];
    let mut unclear = vec![0.0; all + 1];
    unclear[0] = 1.0;
    for set in 1..=all {
        let first = set.trailing_zeros() as usize;
        let others = set & (set - 1);
        let distances = members(others).map(|i| (values[i] - values[first]).abs());
        within[set] = within[others] + distances.sum::<f64>();
    }
    for set in 1..=all {
        let m = set.count_ones() as usize;
        let is_split = m >= FEWEST && n - m >= FEWEST;
        let rest = all & !set;
        let cross = within[all] - within[set] - within[rest];
        if !is_split || scaled_energy(m, n - m, within[set], within[rest], cross) < least {
            unclear[set] = members(set).map(|i| unclear[set & !(1 << i)]).sum();
        }
    }
    let orders: f64 = (1..=n).map(|i| i as f64).product();
    Some((range, 1.0 - unclear[all] / orders))
}

/// mn/(m+n) · (2/(mn) Σ|x−y| − 2/m² Σ|x−x′| − 2/n² Σ|y−y′|) of sums over pairs.
fn scaled_energy(m: usize, n: usize, left: f64, right: f64, cross: f64) -> f64 {
    let m = m as f64;
    let n = n as f64;
    m * n / (m + n) * (2.0 * cross / (m * n) - 2.0 * left / (m * m) - 2.0 * right / (n * n))
}

/// The index with the largest [`scaled_energy`], whose sums are moved along one value at a time.
fn best_split(values: &[f64]) -> Option<SeriesPart> {
    let n = values.len();
    if n < 2 * FEWEST {
        return None;
    }
    let mut left = 0.0;
    let mut cross = 0.0;
    let mut right: f64 = (0..n).map(|j| distances(&values[..j], values[j])).sum();
    let mut best: Option<SeriesPart> = None;
    for at in 1..=n - FEWEST {
        // The value before `at` goes from the right to the left.
        let moved = values[at - 1];
        let from_left = distances(&values[..at - 1], moved);
        let from_right = distances(&values[at..], moved);
        left += from_left;
        right -= from_right;
        cross += from_right - from_left;
        if at < FEWEST {
            continue;
        }
        let energy = scaled_energy(at, n - at, left, right, cross);
        if best.as_ref().is_none_or(|best| energy > best.energy) {
            best = Some(SeriesPart {
                range: at..n,
                energy,
            });
        }
    }
    best
}

fn distances(values: &[f64], from: f64) -> f64 {
    values.iter().map(|value| (value - from).abs()).sum()
}

/// The middle with the largest scaled energy distance from the rest. Sums over rectangles of the distances are differences
/// of sums from the first corner.
fn best_middle(values: &[f64]) -> Option<SeriesPart> {
    let n = values.len();
    let mut sums = vec![vec![0.0; n + 1]; n + 1];
    for i in 0..n {
        let mut row = 0.0;
        for j in 0..n {
            row += (values[i] - values[j]).abs();
            sums[i + 1][j + 1] = sums[i][j + 1] + row;
        }
    }
    let mut best: Option<SeriesPart> = None;
    for from in FEWEST..n {
        for to in from + FEWEST..=n.saturating_sub(FEWEST) {
            let m = (to - from) as f64;
            let k = (n - to + from) as f64;
            let within = sums[to][to] - sums[from][to] - sums[to][from] + sums[from][from];
            let all = sums[to][n] - sums[from][n];
            let around = sums[n][n] - 2.0 * all + within;
            let energy = m * k / (m + k)
                * (2.0 * (all - within) / (m * k) - within / (m * m) - around / (k * k));
            if best.as_ref().is_none_or(|best| energy > best.energy) {
                best = Some(SeriesPart {
                    range: from..to,
                    energy,
                });
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::super::made;
    use super::*;

    /// Levels with 2 % of noise.
    fn levels(seed: u64, segments: &[(usize, f64)]) -> Vec<f64> {
        let n = segments.iter().map(|(n, _)| n).sum();
        let noise = made::series(seed, n, 0.0, 0.02);
        let level = segments
            .iter()
            .flat_map(|(n, level)| std::iter::repeat_n(*level, *n));
        noise
            .into_iter()
            .zip(level)
            .map(|(noise, level)| noise * level)
            .collect()
    }

    #[test]
    fn every_change_is_found_where_it_is() {
        for seed in 0..5 {
            let found = change_points(&levels(seed, &[(12, 1.0), (10, 0.9), (15, 1.1)]), 0.006);
            assert_eq!(found.len(), 2, "{seed}: {found:?}");
            assert!(
                found[0].at.abs_diff(12) <= 1 && found[1].at.abs_diff(22) <= 1,
                "{seed}: {found:?}"
            );
            assert!(
                (found[0].after / found[0].before - 0.9).abs() < 0.03
                    && found[1].after > found[1].before
            );
        }
    }

    #[test]
    fn the_shortest_clean_steps_are_found() {
        let clean = |before: usize, after: usize| {
            let found = change_points(&levels(7, &[(before, 12_460.0), (after, 8_510.0)]), 0.01);
            found
                .iter()
                .map(|change| (change.at, change.p))
                .collect::<Vec<_>>()
        };
        for (before, after, arrangements) in
            [(5, 5, 252.0), (6, 4, 210.0), (4, 6, 210.0), (9, 3, 220.0)]
        {
            let [(at, p)] = clean(before, after)[..] else {
                panic!("{before} and {after}: {:?}", clean(before, after));
            };
            assert!(at == before && (p - 2.0 / arrangements).abs() < 1e-9, "{p}");
        }
        for (before, after) in [(3, 3), (4, 4), (4, 5), (7, 3)] {
            assert_eq!(clean(before, after), [], "{before} and {after}");
        }
        assert_eq!((fewest_for_step(0.01), fewest_for_step(0.05)), (10, 8));
    }

    #[test]
    fn counting_permutations_agrees_with_trying_them() {
        // All 720 orders of six values.
        let values = [3.0, 1.0, 4.0, 1.5, 9.0, 2.6];
        let energy = best_split(&values).map(|part| part.energy).unwrap();
        let mut clear = 0;
        let mut orders = 0;
        let mut order = values.to_vec();
        let mut swaps = [0; 6];
        let mut i = 0;
        let mut count = |order: &[f64]| {
            orders += 1;
            let found = best_split(order).map(|part| part.energy);
            clear += usize::from(found >= Some(energy * (1.0 - 1e-12)));
        };
        count(&order);
        // Heap's algorithm.
        while i < 6 {
            if swaps[i] < i {
                order.swap(if i % 2 == 0 { 0 } else { swaps[i] }, i);
                count(&order);
                swaps[i] += 1;
                i = 0;
            } else {
                swaps[i] = 0;
                i += 1;
            }
        }
        let (_, p) = tested_exactly(&values).unwrap();
        assert_eq!(orders, 720);
        assert!((p - clear as f64 / 720.0).abs() < 1e-9, "{p} {clear}");
    }

    #[test]
    fn noise_alone_in_short_series_keeps_its_error_rate() {
        let found = (0..400)
            .filter(|seed| !change_points(&levels(*seed, &[(11, 1.0)]), 0.01).is_empty())
            .count();
        assert!(found <= 10, "{found} of 400, 4 and 2 expected");
    }

    #[test]
    fn noise_alone_is_rarely_a_change() {
        let found = (0..50)
            .filter(|seed| !change_points(&levels(*seed, &[(24, 1.0)]), 0.01).is_empty())
            .count();
        assert!(found <= 2, "{found} of 50");
        assert_eq!(change_points(&[5.0; 20], 0.01), []);
        assert_eq!(
            change_points(&[1.0, 1.0, 9.0, 9.0, 9.0], 0.01),
            [],
            "too few values"
        );
        assert_eq!(change_points(&[f64::NAN; 20], 0.01), []);
    }

    #[test]
    fn of_a_long_series_the_end_counts() {
        let long = levels(1, &[(300, 1.0), (10, 1.5)]);
        let found = change_points(&long, 0.01);
        assert_eq!(found.last().map(|change| change.at), Some(300), "{found:?}");
    }
}
