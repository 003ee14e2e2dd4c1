//! How far a host's clocks are from the controller's, by round trips: the answer was given between the question's start
//! and the answer's arrival, and the shortest trips leave the least room (Cristian 1989; NTP's clock filter, RFC 5905
//! section 10).

use plimsoll_plan::units::Nanos;

use crate::protocol::HostTime;

/// The shortest trip of each stretch of this length is kept.
const STRETCH: Nanos = Nanos::from_secs(10);
/// A date that moves by this much against the clock that is never set was set. A slewed one moves 0.5 ms a second
/// (adjtime(3)).
const STEP_MICROS: i64 = 20_000;

/// One question and its answer.
#[derive(Debug, Clone, Copy)]
pub struct RoundTrip {
    /// By the controller's clock.
    pub sent: Nanos,
    pub arrived: Nanos,
    /// The controller's date at arrival, µs since 1970.
    pub date: i64,
    pub host: HostTime,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct OffsetSample {
    at: Nanos,
    /// Host's clock minus controller's, ns.
    ahead: i128,
    /// Host's date minus controller's, µs.
    date_ahead: i64,
    trip: Nanos,
}

impl From<RoundTrip> for OffsetSample {
    fn from(trip: RoundTrip) -> Self {
        let lasted = trip.arrived.saturating_sub(trip.sent);
        let middle = trip.sent + Nanos(lasted.0 / 2);
        let date = trip.date - (lasted.0 / 2_000) as i64;
        Self {
            at: middle,
            ahead: i128::from(trip.host.clock.0) - i128::from(middle.0),
            date_ahead: trip.host.date - date,
            trip: lasted,
        }
    }
}

/// What is known of a host's clocks by now.
#[derive(Debug, Clone, Default)]
pub struct Offsets {
    best: Vec<OffsetSample>,
    last: Option<OffsetSample>,
    steps: Vec<DateStep>,
}

/// A host's date was set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateStep {
    /// By the controller's clock.
    pub at: Nanos,
    /// Forwards where positive, µs.
    pub micros: i64,
}

/// A host's clocks, in figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClockFigures {
    /// The host's date minus the controller's, ms, by the shortest round trip.
    pub date_ahead_ms: f64,
    /// At most so far off.
    pub within_ms: f64,
    /// How much faster the host's clock runs, parts per million; `None` of a short acquaintance.
    pub drift_ppm: Option<f64>,
}

impl Offsets {
    pub fn add(&mut self, trip: RoundTrip) {
        let sample = OffsetSample::from(trip);
        self.note_step(sample);
        match self.best.last_mut() {
            Some(best) if sample.at.0 / STRETCH.0 == best.at.0 / STRETCH.0 => {
                if sample.trip < best.trip {
                    *best = sample;
                }
            }
            _ => self.best.push(sample),
        }
        self.last = Some(sample);
    }

    /// Date and clock of a host move together, unless someone sets the date; the controller's own may be set as well.
    fn note_step(&mut self, sample: OffsetSample) {
        let Some(last) = self.last else { return };
        let by_clock = ((sample.ahead - last.ahead) / 1_000) as i64;
        let micros = sample.date_ahead - last.date_ahead - by_clock;
        let room = ((sample.trip.0 + last.trip.0) / 1_000) as i64;
        if micros.abs() > STEP_MICROS + room {
            let at = sample.at;
            self.steps.push(DateStep { at, micros });
            // What was measured of the date before is of another one.
            self.best.retain(|best| best.at > at);
        }
    }

    pub fn steps(&self) -> &[DateStep] {
        &self.steps
    }

    /// What the host's clock shows when the controller's shows `at`; `None` before the first answer.
    pub fn host_time(&self, at: Nanos) -> Option<Nanos> {
        let ahead = self.ahead(at)?;
        let host = i128::from(at.0) + ahead;
        Some(Nanos(host.clamp(0, i128::from(u64::MAX)) as u64))
    }

    /// What the controller's clock shows when the host's shows `host`.
    pub fn controller_time(&self, host: Nanos) -> Option<Nanos> {
        let back = |ahead: i128| Nanos((i128::from(host.0) - ahead).max(0) as u64);
        let about = back(self.best.last()?.ahead);
        // With drifts of some hundred parts per million each step is some thousand times as exact as the one before.
        let closer = self.ahead(about).map(back)?;
        self.ahead(closer).map(back)
    }

    /// On the line through the samples around `at`, or beyond them on that of the whole acquaintance.
    fn ahead(&self, at: Nanos) -> Option<i128> {
        let after = self.best.partition_point(|sample| sample.at < at);
        match (self.best.get(after.wrapping_sub(1)), self.best.get(after)) {
            (Some(one), Some(two)) => Some(on_line(one, two, at)),
            (Some(only), None) | (None, Some(only)) => {
                let by = i128::from(at.0) - i128::from(only.at.0);
                Some(only.ahead + (self.drift().unwrap_or_default() * by as f64) as i128)
            }
            (None, None) => None,
        }
    }

    /// The host's seconds beyond one of the controller's.
    fn drift(&self) -> Option<f64> {
        let first = self.best.first()?;
        let last = self.best.last()?;
        let lasted = last.at.saturating_sub(first.at);
        // A shorter time shows the scatter of the trips, not the clock.
        if lasted < STRETCH * 3 {
            return None;
        }
        Some((last.ahead - first.ahead) as f64 / lasted.0 as f64)
    }

    pub fn figures(&self) -> Option<ClockFigures> {
        let best = self.best.iter().min_by_key(|sample| sample.trip)?;
        Some(ClockFigures {
            date_ahead_ms: best.date_ahead as f64 / 1e3,
            within_ms: best.trip.as_secs_f64() * 1e3 / 2.0,
            drift_ppm: self.drift().map(|drift| drift * 1e6),
        })
    }
}

fn on_line(one: &OffsetSample, two: &OffsetSample, at: Nanos) -> i128 {
    let whole = i128::from((two.at.saturating_sub(one.at)).0).max(1);
    let part = i128::from(at.saturating_sub(one.at).0);
    one.ahead + (two.ahead - one.ahead) * part / whole
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BEGAN: i64 = 1_790_000_000_000_000;

    /// A host whose session began 3 s after the controller's clock, with a drift, an error of its date, and answers that
    /// take these times to and fro, in µs.
    struct SkewedHost {
        drift: f64,
        date_ahead_us: i64,
    }

    impl SkewedHost {
        fn clock(&self, at: Nanos) -> Nanos {
            let since = at.0 as f64 - 3e9;
            Nanos((since * (1.0 + self.drift)) as u64)
        }

        fn answer(&self, sent: Nanos, to_us: u64, fro_us: u64) -> RoundTrip {
            let at = sent + Nanos(to_us * 1_000);
            let arrived = at + Nanos(fro_us * 1_000);
            let date = |at: Nanos| BEGAN + (at.0 / 1_000) as i64;
            let clock = self.clock(at);
            let gained = (clock.0 as f64 - (at.0 as f64 - 3e9)) / 1e3;
            RoundTrip {
                sent,
                arrived,
                date: date(arrived),
                host: HostTime {
                    clock,
                    date: date(at) + self.date_ahead_us + gained as i64,
                },
            }
        }
    }

    proptest! {
        #[test]
        fn a_clock_that_is_wrong_by_40_ms_and_drifts_by_100_ppm_is_found_within_2_ms(
            trips in prop::collection::vec((100u64..40_000, 100u64..40_000), 300),
            ahead in prop::sample::select(vec![-40_000i64, 40_000]),
            drift in prop::sample::select(vec![-100e-6, 100e-6]),
        ) {
            let host = SkewedHost { drift, date_ahead_us: ahead };
            let mut offsets = Offsets::default();
            let second = |n: usize| Nanos::from_secs(4 + n as u64);
            for (n, (to, fro)) in trips.iter().enumerate() {
                // One in four finds the network free, as it is between bursts.
                let trip = match n % 4 {
                    0 => (to / 40 + 100, fro / 40 + 100),
                    _ => (*to, *fro),
                };
                offsets.add(host.answer(second(n), trip.0, trip.1));
            }
            for at in [second(5), second(150), second(299)] {
                let wrong = offsets.host_time(at).unwrap().0.abs_diff(host.clock(at).0);
                prop_assert!(wrong < 2_000_000, "{wrong} ns at {at}");
                let host_time = offsets.host_time(at).unwrap();
                let back = offsets.controller_time(host_time).unwrap();
                prop_assert!(back.0.abs_diff(at.0) < 2_000, "{back} for {at}");
            }
            let figures = offsets.figures().unwrap();
            let date = figures.date_ahead_ms - ahead as f64 / 1e3;
            // The date drifts as the clock does: 30 ms in 300 s.
            prop_assert!(date.abs() < 32.0, "{figures:?}");
            prop_assert!((figures.drift_ppm.unwrap() - drift * 1e6).abs() < 10.0, "{figures:?}");
            prop_assert!(offsets.steps().is_empty());
        }
    }

    #[test]
    fn a_date_that_is_set_is_found_and_the_clock_is_not_disturbed() {
        let mut host = SkewedHost {
            drift: 0.0,
            date_ahead_us: 40_000,
        };
        let mut offsets = Offsets::default();
        for n in 0..100 {
            if n == 50 {
                host.date_ahead_us = -460_000;
            }
            offsets.add(host.answer(Nanos::from_secs(4 + n), 300, 500));
        }
        let [step] = offsets.steps() else {
            panic!("{:?}", offsets.steps())
        };
        assert!((step.micros + 500_000).abs() < 1_000, "{step:?}");
        assert!(
            step.at.0.abs_diff(Nanos::from_secs(54).0) < 1_000_000,
            "{step:?}"
        );
        assert!((offsets.figures().unwrap().date_ahead_ms + 460.0).abs() < 1.0);
        let at = Nanos::from_secs(80);
        assert!(offsets.host_time(at).unwrap().0.abs_diff(host.clock(at).0) < 1_000_000);
    }

    #[test]
    fn without_an_answer_there_is_no_time() {
        assert_eq!(Offsets::default().host_time(Nanos::SECOND), None);
        assert_eq!(Offsets::default().figures(), None);
    }
}
