//! What the runs gave, by load.

use plimsoll_import::fio_output::{FioJob, LogLine};
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::Hist;
use plimsoll_stats::t_975;

use super::jobs::LearnProfile;

/// One run of one load.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadResult {
    pub ops: u64,
    pub iops: f64,
    pub bytes_per_second: f64,
    /// From handing a request to the kernel until it is done, in microseconds; of the flush where a load has them.
    pub mean_us: f64,
    pub median_us: f64,
    pub p99_us: f64,
    pub floor_us: f64,
    pub flush: Option<Flush>,
}

/// Microseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flush {
    pub mean_us: f64,
    pub median_us: f64,
}

impl LoadResult {
    /// `None` when nothing was done.
    pub fn of(profile: &LearnProfile, job: &FioJob) -> Option<Self> {
        let side = if profile.write { &job.write } else { &job.read };
        let hist = side.completion.hist();
        // Where handing a request over takes longer than its completion, the request ran in that time: it counts.
        let handing_over = side.submission.mean_ns.max(0.0);
        let inside = if handing_over > side.completion.mean_ns {
            handing_over / 1e3
        } else {
            0.0
        };
        // The latencies are counted; `total_ios` of fio 3.33 stays 0 with fdatasync.
        let flush = job
            .sync
            .as_ref()
            .filter(|sync| profile.flush && sync.latency.n > 0)
            .map(|sync| Flush {
                mean_us: sync.latency.mean_ns / 1e3,
                median_us: quantile_us(&sync.latency.hist(), 0.5)
                    .unwrap_or(sync.latency.mean_ns / 1e3),
            });
        (side.total_ios > 0 && !hist.is_empty()).then(|| Self {
            ops: side.total_ios,
            iops: side.iops,
            bytes_per_second: side.bytes_per_second,
            mean_us: inside + side.completion.mean_ns / 1e3,
            median_us: inside + quantile_us(&hist, 0.5).unwrap_or_default(),
            p99_us: inside + quantile_us(&hist, 0.99).unwrap_or_default(),
            floor_us: inside + side.completion.min.as_micros_f64(),
            flush,
        })
    }
}

fn quantile_us(hist: &Hist, q: f64) -> Option<f64> {
    hist.quantile(q).map(Nanos::as_micros_f64)
}

/// One load with all its runs.
#[derive(Debug, Clone, PartialEq)]
pub struct LearnedPoint {
    pub profile: LearnProfile,
    pub runs: Vec<LoadResult>,
}

/// A figure and how far the runs are apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    pub value: f64,
    /// Half the 95 % interval of the mean relative to it, in percent; 0 for one run.
    pub error_percent: f64,
}

impl Figure {
    /// The median of some values, which one disturbed run does not move, and the interval of their mean, `t·s/√n`
    /// (Student).
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len() as f64;
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let median = *sorted.get(values.len() / 2)?;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let error = if values.len() > 1 && mean != 0.0 {
            t_975(n - 1.0) * (squares / (n - 1.0) / n).sqrt() / mean
        } else {
            0.0
        };
        median.is_finite().then_some(Self {
            value: median,
            error_percent: error.abs() * 100.0,
        })
    }
}

impl LearnedPoint {
    pub fn figure(&self, of: impl Fn(&LoadResult) -> f64) -> Option<Figure> {
        Figure::of(&self.runs.iter().map(of).collect::<Vec<_>>())
    }
}

/// All that was measured.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measured {
    pub points: Vec<LearnedPoint>,
    /// The burst of writes; empty when nothing was written.
    pub burst: Vec<LogLine>,
    /// Loads whose rate was still changing when their time was up.
    pub unsettled: Vec<LearnProfile>,
}

impl Measured {
    pub fn add(&mut self, profile: LearnProfile, outcome: LoadResult) {
        match self
            .points
            .iter_mut()
            .find(|point| point.profile == profile)
        {
            Some(point) => point.runs.push(outcome),
            None => self.points.push(LearnedPoint {
                profile,
                runs: vec![outcome],
            }),
        }
    }

    pub fn point(&self, profile: LearnProfile) -> Option<&LearnedPoint> {
        self.points.iter().find(|point| point.profile == profile)
    }

    pub fn figure(&self, profile: LearnProfile, of: impl Fn(&LoadResult) -> f64) -> Option<Figure> {
        self.point(profile)?.figure(of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_the_median_with_half_its_95_percent_interval() {
        // s = 2, s/√3 = 1.1547, of 10; Student's t with two degrees of freedom is 4.3027.
        let figure = Figure::of(&[8.0, 10.0, 12.0]).unwrap();
        assert_eq!(figure.value, 10.0);
        assert!((figure.error_percent - 49.683).abs() < 1e-2, "{figure:?}");
        assert_eq!(Figure::of(&[10.0, 90.0, 11.0]).unwrap().value, 11.0);
        assert_eq!(
            Figure::of(&[5.0]),
            Some(Figure {
                value: 5.0,
                error_percent: 0.0
            })
        );
        assert_eq!(Figure::of(&[]), None);
    }

    #[test]
    fn fios_figures_come_over_in_microseconds() {
        let output = plimsoll_import::fio_output::parse(include_str!(
            "../../../plimsoll-import/tests/data/fio/fsync.json"
        ))
        .unwrap();
        let profile = LearnProfile::write(4096, 1).flushed();
        let outcome = LoadResult::of(&profile, &output.jobs[0]).unwrap();
        assert_eq!((outcome.ops, outcome.iops), (60, 7500.0));
        assert!((outcome.mean_us - 45.7756).abs() < 1e-3, "{outcome:?}");
        assert!(
            (outcome.flush.unwrap().mean_us - 109.542).abs() < 1e-3,
            "{outcome:?}"
        );
        assert_eq!(
            LoadResult::of(&LearnProfile::write(4096, 1), &output.jobs[0])
                .unwrap()
                .flush,
            None
        );
        assert_eq!(
            LoadResult::of(&LearnProfile::read(4096, 1), &output.jobs[0]),
            None
        );
    }
}
