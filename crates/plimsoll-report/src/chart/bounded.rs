//! Lines of charts over time with a bounded number of points: a page of a run of days is no larger than that of hours.
//!
//! A longer line is cut into buckets of as many points each, which end at gaps, and a bucket is drawn as three points: its
//! minimum, mean and maximum at its first, middle and last time. That is as the whole line looks at the width of a page.
//! Lines of the same times have their extremes in one order, so that none crosses another that it does not cross. Exports
//! have all values.

use std::ops::Range;
use std::rc::Rc;

use super::ChartLine;

/// The most points of a line, but for gaps.
const MOST: usize = 2_000;
/// Points that stand for a bucket.
const DRAWN: usize = 3;
/// More gaps than these do not end buckets: a bucket that has one ends in it.
const MOST_GAPS: usize = 200;

/// Times in seconds, of one line or of several.
pub(crate) struct LineTimes {
    x: Rc<[f64]>,
    reduced_to: Option<f64>,
    buckets: DrawnBuckets,
}

impl LineTimes {
    /// `lead` are the values of the line, or those that decide the order of the extremes of all.
    pub fn of(t: Vec<f64>, lead: &[Option<f64>]) -> Self {
        let buckets = DrawnBuckets::of(lead);
        Self {
            reduced_to: buckets.span(&t),
            x: buckets.times(t).into(),
            buckets,
        }
    }

    pub fn line(&self, name: impl Into<String>, values: Vec<Option<f64>>) -> ChartLine {
        ChartLine {
            y: self.buckets.values(values),
            ..self.without_values(name)
        }
    }

    /// Of lines that stand above each other.
    pub fn stacked(&self, name: impl Into<String>, values: Vec<Option<f64>>) -> ChartLine {
        ChartLine {
            y: self.buckets.means(values),
            is_stacked: true,
            width: 0.0,
            ..self.without_values(name)
        }
    }

    fn without_values(&self, name: impl Into<String>) -> ChartLine {
        ChartLine {
            name: name.into(),
            width: 1.6,
            x: Rc::clone(&self.x),
            reduced_to: self.reduced_to,
            ..ChartLine::default()
        }
    }
}

/// A line, or what several of the same times have in common.
struct DrawnBuckets {
    /// Of a line of which all points are drawn none.
    buckets: Vec<DrawnBucket>,
}

struct DrawnBucket {
    points: Range<usize>,
    has_gap: bool,
    /// Whether the minimum comes before the maximum.
    is_rising: bool,
}

impl DrawnBuckets {
    /// `lead` decides the order of the extremes. Points without a value in it are gaps of all lines.
    pub fn of(lead: &[Option<f64>]) -> Self {
        let len = lead.len();
        let mut buckets = Vec::new();
        if len <= MOST {
            return Self { buckets };
        }
        let size = (len * DRAWN).div_ceil(MOST);
        let is_gap = |place: usize| lead[place].is_none();
        let ends_at_gaps = (0..len).filter(|place| is_gap(*place)).count() <= MOST_GAPS;
        let mut start = 0;
        while start < len {
            let most = start..(start + size).min(len);
            let points = match most.clone().find(|place| ends_at_gaps && is_gap(*place)) {
                Some(gap) if gap == start => start..start + 1,
                Some(gap) => start..gap,
                None => most,
            };
            start = points.end;
            buckets.push(DrawnBucket {
                has_gap: points.clone().any(is_gap),
                is_rising: is_rising(&lead[points.clone()]),
                points,
            });
        }
        Self { buckets }
    }

    /// How much time a bucket stands for at most, in the unit of the times; `None` where all points are drawn.
    pub fn span(&self, t: &[f64]) -> Option<f64> {
        let buckets = self.buckets.iter().map(|bucket| &bucket.points);
        let spans = buckets.map(|own| t[own.end - 1] - t[own.start]);
        spans.reduce(f64::max)
    }

    pub fn times(&self, t: Vec<f64>) -> Vec<f64> {
        self.each(t, |own, _| [own[0], own[own.len() / 2], own[own.len() - 1]])
    }

    pub fn values(&self, v: Vec<Option<f64>>) -> Vec<Option<f64>> {
        self.each(v, |own, bucket| {
            let known = own.iter().flatten().copied();
            let lowest = known.clone().reduce(f64::min);
            let highest = known.reduce(f64::max);
            let [first, last] = match bucket.is_rising {
                true => [lowest, highest],
                false => [highest, lowest],
            };
            match bucket.has_gap {
                true => [first, last, None],
                false => [first, mean(own), last],
            }
        })
    }

    /// The mean of each bucket: of lines that are stacked, whose extremes are no sums.
    pub fn means(&self, v: Vec<Option<f64>>) -> Vec<Option<f64>> {
        self.each(v, |own, bucket| {
            let mean = mean(own);
            [mean, mean, mean.filter(|_| !bucket.has_gap)]
        })
    }

    fn each<T: Copy>(
        &self,
        all: Vec<T>,
        drawn: impl Fn(&[T], &DrawnBucket) -> [T; DRAWN],
    ) -> Vec<T> {
        if !self.is_reduced() {
            return all;
        }
        let mut out = Vec::with_capacity(self.buckets.len() * DRAWN);
        for bucket in &self.buckets {
            let own = &all[bucket.points.clone()];
            match own.len() {
                ..=DRAWN => out.extend_from_slice(own),
                _ => out.extend(drawn(own, bucket)),
            }
        }
        out
    }

    pub fn is_reduced(&self) -> bool {
        !self.buckets.is_empty()
    }
}

fn is_rising(lead: &[Option<f64>]) -> bool {
    let known = lead.iter().enumerate();
    let known = known.filter_map(|(place, value)| Some((place, (*value)?)));
    let lowest = known.clone().min_by(|(_, a), (_, b)| a.total_cmp(b));
    let highest = known.max_by(|(_, a), (_, b)| a.total_cmp(b));
    lowest.map(|(place, _)| place) <= highest.map(|(place, _)| place)
}

fn mean(values: &[Option<f64>]) -> Option<f64> {
    let known = values.iter().flatten();
    let n = known.clone().count();
    (n > 0).then(|| known.sum::<f64>() / n as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(n: usize) -> Vec<f64> {
        (0..n).map(|i| i as f64).collect()
    }

    #[test]
    fn short_lines_stay_as_they_are() {
        let v: Vec<Option<f64>> = (0..MOST).map(|i| Some(i as f64)).collect();
        let buckets = DrawnBuckets::of(&v);
        assert_eq!(buckets.values(v.clone()), v);
        assert_eq!(buckets.span(&seconds(MOST)), None);
    }

    #[test]
    fn a_spike_is_still_there_in_the_order_of_time() {
        let mut v = vec![Some(10.0); 18_000];
        v[5_000] = Some(900.0);
        v[5_001] = Some(1.0);
        let buckets = DrawnBuckets::of(&v);
        let drawn = buckets.values(v);
        let spike = drawn.iter().position(|own| *own == Some(900.0)).unwrap();
        assert_eq!(drawn[spike + 2], Some(1.0));
        assert_eq!(buckets.span(&seconds(18_000)), Some(26.0));
    }

    /// Wherever it lies in a bucket, and in stacked lines as well.
    #[test]
    fn no_line_crosses_a_gap() {
        for before in 8_980..9_010 {
            let mut t = seconds(before);
            let mut v = vec![Some(100.0); before];
            t.push(before as f64);
            v.push(None);
            t.extend((0..9_000).map(|i| (before + 3_600 + i) as f64));
            v.extend(vec![Some(100.0); 9_000]);
            let buckets = DrawnBuckets::of(&v);
            let t = buckets.times(t);
            for drawn in [buckets.values(v.clone()), buckets.means(v)] {
                let last = t.iter().rposition(|at| *at < before as f64).unwrap();
                assert_eq!(drawn[last + 1], None, "{before}");
                assert!(drawn[last].is_some() && drawn[last + 2].is_some());
            }
        }
    }

    /// As percentiles do, and a type's rate and that of all.
    #[test]
    fn a_line_below_another_stays_below_it() {
        let wave = |i: usize| (i * 7_919 % 1_000) as f64;
        let high: Vec<Option<f64>> = (0..9_000).map(|i| Some(wave(i) + 500.0)).collect();
        let low: Vec<Option<f64>> = (0..9_000)
            .map(|i| Some((700.0 - wave(i)).min(wave(i) + 499.0)))
            .collect();
        let buckets = DrawnBuckets::of(&high);
        let pairs = buckets.values(low).into_iter().zip(buckets.values(high));
        pairs.for_each(|(low, high)| assert!(low < high, "{low:?} {high:?}"));
    }

    #[test]
    fn lines_are_bounded_and_keep_their_extremes() {
        let extremes = |v: &[Option<f64>]| {
            let known = v.iter().flatten().copied();
            (known.clone().reduce(f64::min), known.reduce(f64::max))
        };
        for n in [0, 1, 2_001, 2_999, 6_007, 18_000, 40_001, 86_400] {
            for every in [1, 2, 7, 1_000, 100_000] {
                let value = |i: usize| (i * 7_919 % 1_000) as f64;
                let v = (0..n).map(|i| (i % every != every - 1).then(|| value(i)));
                let v: Vec<Option<f64>> = v.collect();
                let buckets = DrawnBuckets::of(&v);
                let before = extremes(&v);
                let (t, v) = (buckets.times(seconds(n)), buckets.values(v));
                let case = format!("{n} points, a gap every {every}");
                assert!(
                    t.len() <= MOST + 4 * MOST_GAPS && t.len() == v.len(),
                    "{case}"
                );
                assert!(t.is_sorted(), "{case}");
                assert_eq!(extremes(&v), before, "{case}");
            }
        }
    }
}
