//! Computes counts by second from rates that a tool printed for intervals.

use super::load::{LoadTick, Span};
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::Counts;

/// One interval, with the rates that the tool printed for it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct PrintedInterval {
    /// From the load's start.
    pub end_s: f64,
    pub done_per_second: f64,
    pub failed: u64,
    pub dropped: u64,
    pub retries_per_second: f64,
}

/// Shorter rests are rounding.
const SHORTEST_REST_S: f64 = 0.001;

/// Ticks of one transaction type whose counts add up to `total`, over `lasted_s`.
///
/// A rate × the length of its part gives a count to within the digits that the tool printed; the rest of the total
/// (the end of a run, which tools print no line for) is the last tick's. So totals and times are exact, and single
/// seconds as good as the printed rates.
pub(super) fn of_parts(parts: &[PrintedInterval], total: Counts, lasted_s: f64) -> Vec<LoadTick> {
    let mut ticks: Vec<LoadTick> = Vec::new();
    let mut left = total;
    let mut start_s = 0.0;
    for part in parts.iter().filter(|part| part.end_s <= lasted_s + 0.5) {
        let seconds = part.end_s.min(lasted_s) - start_s;
        if seconds <= 0.0 {
            continue;
        }
        let counts = take_part(&mut left, part, seconds);
        let span = Span::of_seconds(start_s, start_s + seconds);
        ticks.push(LoadTick::new(span, vec![counts]));
        start_s += seconds;
    }
    add_rest(&mut ticks, left, start_s, lasted_s);
    ticks
}

/// What ended in a part, no more than is left.
fn take_part(left: &mut Counts, part: &PrintedInterval, seconds: f64) -> Counts {
    let done = (part.done_per_second * seconds).round() as u64;
    let retries = (part.retries_per_second * seconds).round() as u64;
    let taken = Counts {
        committed: take(&mut left.committed, done),
        failed: take(&mut left.failed, part.failed),
        dropped: take(&mut left.dropped, part.dropped),
        retries: take(&mut left.retries, retries),
        ..Counts::default()
    };
    Counts {
        offered: taken.settled(),
        ..taken
    }
}

fn take(left: &mut u64, n: u64) -> u64 {
    let n = n.min(*left);
    *left -= n;
    n
}

fn add_rest(ticks: &mut Vec<LoadTick>, left: Counts, start_s: f64, lasted_s: f64) {
    let settled = left.committed + left.failed + left.dropped;
    let left = Counts {
        offered: settled,
        ..left
    };
    let is_tick = lasted_s - start_s > SHORTEST_REST_S;
    match ticks.last_mut() {
        Some(last) if !is_tick => {
            last.counts[0].add(&left);
            last.end = Nanos::from_secs_f64(lasted_s).max(last.end);
        }
        _ if !is_tick && settled == 0 => {}
        _ => {
            let span = Span::of_seconds(start_s, lasted_s.max(start_s + SHORTEST_REST_S));
            ticks.push(LoadTick::new(span, vec![left]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn committed(n: u64) -> Counts {
        Counts {
            offered: n,
            committed: n,
            ..Counts::default()
        }
    }

    #[test]
    fn the_rest_of_the_total_is_in_the_last_tick() {
        let part = |end_s, rate| PrintedInterval {
            end_s,
            done_per_second: rate,
            ..PrintedInterval::default()
        };
        let ticks = of_parts(&[part(1.0, 93.79), part(2.0, 357.93)], committed(500), 2.4);
        let counts: Vec<(f64, u64)> = ticks
            .iter()
            .map(|t| (t.end.as_secs_f64(), t.counts[0].committed))
            .collect();
        assert_eq!(counts, [(1.0, 94), (2.0, 358), (2.4, 48)]);
        let ticks = of_parts(&[], committed(7), 3.5);
        assert_eq!(
            (ticks.len(), ticks[0].end, ticks[0].counts[0]),
            (1, Nanos::from_millis(3_500), committed(7))
        );
    }

    proptest! {
        #[test]
        fn counts_add_up_to_the_total_and_times_to_the_length(
            rates in prop::collection::vec((0.0f64..1e6, 0u64..9, 0.0f64..9.0), 0..20),
            total in 0u64..10_000_000, failed in 0u64..50, lasted in 0.1f64..25.0,
        ) {
            let parts: Vec<PrintedInterval> = rates.iter().enumerate().map(|(i, (rate, failed, retries))| PrintedInterval {
                end_s: i as f64 + 1.0, done_per_second: *rate, failed: *failed, dropped: 0, retries_per_second: *retries,
            }).collect();
            let all = Counts { offered: total + failed, committed: total, failed, retries: 5, ..Counts::default() };
            let ticks = of_parts(&parts, all, lasted);
            let sum = ticks.iter().fold(Counts::default(), |mut sum, tick| { sum.add(&tick.counts[0]); sum });
            prop_assert_eq!(sum, all);
            prop_assert!(ticks.windows(2).all(|pair| pair[0].end == pair[1].start));
            let end = ticks.last().unwrap().end.as_secs_f64();
            prop_assert!((end - lasted).abs() <= 0.0011, "{} against {}", end, lasted);
        }
    }
}
