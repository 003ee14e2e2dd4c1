//! When the intents of an open loop become due: the inverse of the cumulative rate.

use plimsoll_plan::load::Arrivals;
use plimsoll_plan::schedule::Timeline;
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::GeneratorShare;
use plimsoll_stats::Rng;

/// A rate over a lane's time: `from` per second until the measurement begins, then evenly towards `to` until it ends, and
/// `to` from then on.
#[derive(Debug, Clone, Copy)]
struct RateRamp {
    from: f64,
    to: f64,
    /// Seconds from the lane's start to the measurement's.
    warm: f64,
    /// Seconds that the measurement lasts.
    measure: f64,
}

impl RateRamp {
    /// When the cumulative rate Λ(t) = ∫₀ᵗ λ reaches `count`, in seconds.
    fn time_of(&self, count: f64) -> f64 {
        let Self {
            from,
            to,
            warm,
            measure,
        } = *self;
        let past_warm = count - from * warm;
        if past_warm <= 0.0 {
            return count / from;
        }
        let past_measure = past_warm - (from + to) / 2.0 * measure;
        if past_measure >= 0.0 {
            return warm + measure + past_measure / to;
        }
        // from·s + slope·s²/2 = past_warm, solved without the cancellation that a slope near zero would bring.
        let slope = (to - from) / measure;
        warm + 2.0 * past_warm / (from + (from * from + 2.0 * slope * past_warm).max(0.0).sqrt())
    }
}

/// Due times, one after the other.
pub struct Schedule {
    rate: RateRamp,
    arrivals: Arrivals,
    rng: Rng,
    /// Where the next intent stands on the axis of the cumulative rate.
    at: f64,
    /// Every how many-th intent is this generator's.
    stride: u32,
}

impl Schedule {
    pub fn new((from, to): (f64, f64), arrivals: Arrivals, timeline: &Timeline, rng: Rng) -> Self {
        let warm = timeline.warm.as_secs_f64();
        let measure = timeline.measure.as_secs_f64();
        let mut schedule = Self {
            rate: RateRamp {
                from,
                to,
                warm,
                measure,
            },
            arrivals,
            rng,
            at: 0.0,
            stride: 1,
        };
        if arrivals == Arrivals::Poisson {
            schedule.at = schedule.step();
        }
        schedule
    }

    /// This part of the intents. The parts of all generators together are the whole.
    pub fn dealt_out(mut self, share: GeneratorShare) -> Self {
        self.pass(share.index);
        self.stride = share.of;
        self
    }

    fn pass(&mut self, intents: u32) {
        for _ in 0..intents {
            self.at += self.step();
        }
    }

    /// Equal steps of the cumulative rate for constant arrivals. Exponential ones make a Poisson process of any rate (time
    /// rescaling: Daley and Vere-Jones, An Introduction to the Theory of Point Processes, 2nd ed., theorem 7.4.I).
    fn step(&mut self) -> f64 {
        match self.arrivals {
            Arrivals::Constant => 1.0,
            Arrivals::Poisson => self.rng.exponential(1.0),
        }
    }

    /// Computed from the intent's place, not summed from distances, so that rounding does not accumulate: whole numbers
    /// are exact.
    pub fn next(&mut self) -> Nanos {
        let due = self.rate.time_of(self.at);
        self.pass(self.stride);
        Nanos::from_secs_f64(due)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, proptest};

    use super::*;

    fn timeline(warm: u64, measure: u64) -> Timeline {
        let [warm, measure] = [warm, measure].map(Nanos::from_secs);
        Timeline {
            warm,
            measure,
            cool: Nanos::SECOND,
        }
    }

    fn dues(rates: (f64, f64), arrivals: Arrivals, seed: u64, until: u64) -> Vec<Nanos> {
        let mut schedule = Schedule::new(rates, arrivals, &timeline(4, 10), Rng::new(seed));
        std::iter::repeat_with(|| schedule.next())
            .take_while(|due| *due < Nanos::from_secs(until))
            .collect()
    }

    #[test]
    fn a_rising_rate_is_due_at_exact_times() {
        let dues = dues((100.0, 200.0), Arrivals::Constant, 1, 16);
        // 4 s at 100/s, then Λ = 100 s + 5 s² to 1,500 after 10 s, then 200/s.
        let by = |seconds: u64| {
            dues.iter()
                .filter(|due| **due < Nanos::from_secs(seconds))
                .count() as u64
        };
        for s in 0..=10 {
            assert_eq!(
                by(4 + s),
                400 + 100 * s + 5 * s * s,
                "after {s} s of the measurement"
            );
        }
        assert_eq!((by(15), by(16)), (2_100, 2_300));
        assert_eq!(dues[505], Nanos::from_secs(5), "to the nanosecond");
        assert_eq!(dues[1], Nanos::from_millis(10));
        assert_eq!(dues[1_901], Nanos::from_secs(14) + Nanos::from_millis(5));
    }

    proptest! {
        /// The n-th intent is due where the cumulative rate reaches n, whichever way the rate goes.
        #[test]
        fn due_times_invert_the_cumulative_rate(from in 0.5f64..500.0, to in 0.5f64..500.0, n in 0u32..20_000) {
            let rate = RateRamp { from, to, warm: 4.0, measure: 10.0 };
            let t = rate.time_of(f64::from(n));
            let s = (t - 4.0).clamp(0.0, 10.0);
            let count = from * t.min(4.0) + from * s + (to - from) / 20.0 * s * s + to * (t - 14.0).max(0.0);
            prop_assert!((count - f64::from(n)).abs() < 1e-6 * f64::from(n).max(1.0), "{count} for {n} at {t}");
        }
    }

    #[test]
    fn generators_share_the_same_due_times() {
        for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
            let whole = dues((100.0, 200.0), arrivals, 7, 16);
            let mut shared: Vec<Nanos> = Vec::new();
            for index in 0..3 {
                let rates = (100.0, 200.0);
                let mut part = Schedule::new(rates, arrivals, &timeline(4, 10), Rng::new(7))
                    .dealt_out(GeneratorShare { index, of: 3 });
                let dues = std::iter::repeat_with(|| part.next());
                shared.extend(dues.take_while(|due| *due < Nanos::from_secs(16)));
            }
            shared.sort_unstable();
            assert_eq!(shared, whole);
        }
    }

    #[test]
    fn poisson_arrivals_follow_the_rate_and_scatter() {
        // On the axis of the cumulative rate the distances are exponential with mean one: mean and variance are 1,
        // also where the rate rises.
        let mut schedule = Schedule::new(
            (50.0, 5_000.0),
            Arrivals::Poisson,
            &timeline(4, 10),
            Rng::new(3),
        );
        let mut before = 0.0;
        let mut gaps = Vec::new();
        for _ in 0..25_000 {
            let s = schedule.next().as_secs_f64();
            let flat = s.min(4.0);
            let past = (s - 4.0).max(0.0);
            let count = 50.0 * flat + 50.0 * past + 247.5 * past * past;
            gaps.push(count - before);
            before = count;
        }
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!(
            (mean - 1.0).abs() < 0.03 && (variance - 1.0).abs() < 0.06,
            "{mean} {variance}"
        );
        assert_ne!(
            dues((10.0, 20.0), Arrivals::Poisson, 1, 5),
            dues((10.0, 20.0), Arrivals::Poisson, 2, 5)
        );
    }
}
