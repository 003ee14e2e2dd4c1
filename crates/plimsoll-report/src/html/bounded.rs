//! Lines of charts over time with a bounded number of points: a page of a run of days is no larger than that of hours.
//!
//! A longer line is cut into buckets of as many points each, and a bucket is drawn as three: its minimum, mean and
//! maximum, extremes in the order in which they occurred, at the first, middle and last time of the bucket. That is as
//! the whole line looks at the width of a page. Exports have all values.

use std::ops::Range;

/// The most points of a line.
const MOST: usize = 2_000;
/// Points that stand for a bucket.
const DRAWN: usize = 3;

/// Which points of a line, or of several with the same times, are drawn together.
pub(super) struct DrawnBuckets {
    len: usize,
    /// Points of a bucket; up to three: all are drawn as they are.
    size: usize,
}

impl DrawnBuckets {
    pub fn of(len: usize) -> Self {
        let size = if len <= MOST {
            1
        } else {
            (len * DRAWN).div_ceil(MOST)
        };
        Self { len, size }
    }

    pub fn is_reduced(&self) -> bool {
        self.size > DRAWN
    }

    /// How much time a bucket stands for, in the unit of the times.
    pub fn span(&self, t: &[f64]) -> Option<f64> {
        let lasted = t.last()? - t.first()?;
        self.is_reduced()
            .then(|| lasted * self.size as f64 / self.len.max(1) as f64)
    }

    pub fn times(&self, t: Vec<f64>) -> Vec<f64> {
        self.each(t, |bucket| {
            let middle = bucket[bucket.len() / 2];
            [bucket[0], middle, bucket[bucket.len() - 1]]
        })
    }

    /// A bucket with a gap ends in one, so that no line crosses it.
    pub fn values(&self, v: Vec<Option<f64>>) -> Vec<Option<f64>> {
        self.each(v, |bucket| {
            let known = bucket.iter().copied().enumerate();
            let known = known.filter_map(|(place, value)| Some((place, value?)));
            let Some(lowest) = known.clone().min_by(|(_, a), (_, b)| a.total_cmp(b)) else {
                return [None; DRAWN];
            };
            let highest = known.clone().max_by(|(_, a), (_, b)| a.total_cmp(b));
            let highest = highest.unwrap_or(lowest);
            let (first, last) = if lowest.0 <= highest.0 {
                (lowest.1, highest.1)
            } else {
                (highest.1, lowest.1)
            };
            match mean(bucket) {
                Some(mean) if bucket.iter().all(Option::is_some) => {
                    [Some(first), Some(mean), Some(last)]
                }
                _ => [Some(first), Some(last), None],
            }
        })
    }

    /// The mean of each bucket three times: of lines that are stacked, whose extremes are no sums.
    pub fn means(&self, v: Vec<Option<f64>>) -> Vec<Option<f64>> {
        self.each(v, |bucket| [mean(bucket); DRAWN])
    }

    fn each<T: Copy>(&self, all: Vec<T>, drawn: impl Fn(&[T]) -> [T; DRAWN]) -> Vec<T> {
        if !self.is_reduced() {
            return all;
        }
        let starts = (0..all.len()).step_by(self.size);
        let ranges = starts.map(|start| start..(start + self.size).min(all.len()));
        ranges
            .flat_map(|range: Range<usize>| drawn(&all[range]))
            .collect()
    }
}

fn mean(bucket: &[Option<f64>]) -> Option<f64> {
    let known = bucket.iter().flatten();
    let n = known.clone().count();
    (n > 0).then(|| known.sum::<f64>() / n as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_lines_stay_as_they_are() {
        let buckets = DrawnBuckets::of(MOST);
        let v: Vec<Option<f64>> = (0..MOST).map(|i| Some(i as f64)).collect();
        assert_eq!(buckets.values(v.clone()), v);
        assert_eq!(buckets.span(&[0.0, 1999.0]), None);
    }

    #[test]
    fn a_spike_and_a_gap_are_still_there() {
        let n = 18_000;
        let buckets = DrawnBuckets::of(n);
        let mut v = vec![Some(10.0); n];
        v[5_000] = Some(900.0);
        v[5_001] = Some(1.0);
        v[9_000] = None;
        let drawn = buckets.values(v.clone());
        let spike = drawn.iter().position(|own| *own == Some(900.0)).unwrap();
        assert_eq!(drawn[spike + 2], Some(1.0), "in the order of time");
        assert_eq!(drawn.iter().filter(|own| own.is_none()).count(), 1);
        let t: Vec<f64> = (0..n).map(|i| i as f64).collect();
        assert_eq!(buckets.span(&t).map(f64::round), Some(27.0));
        assert!(buckets.means(v).iter().all(|own| own.unwrap() < 50.0));
    }

    #[test]
    fn lines_are_bounded_and_keep_their_extremes() {
        let extremes = |v: &[Option<f64>]| {
            let known = v.iter().flatten().copied();
            (known.clone().reduce(f64::min), known.reduce(f64::max))
        };
        for n in [0, 1, 2_001, 2_999, 6_007, 18_000, 40_001, 86_400] {
            for every in [1, 2, 7, 1_000, 100_000] {
                let buckets = DrawnBuckets::of(n);
                let t: Vec<f64> = (0..n).map(|i| i as f64).collect();
                let value = |i: usize| (i * 7_919 % 1_000) as f64;
                let v = (0..n).map(|i| (i % every != every - 1).then(|| value(i)));
                let v: Vec<Option<f64>> = v.collect();
                let before = extremes(&v);
                let (t, v) = (buckets.times(t), buckets.values(v));
                let case = format!("{n} points, a gap every {every}");
                assert!(t.len() <= MOST + DRAWN && t.len() == v.len(), "{case}");
                assert!(t.is_sorted(), "{case}");
                assert_eq!(extremes(&v), before, "{case}");
            }
        }
    }
}
