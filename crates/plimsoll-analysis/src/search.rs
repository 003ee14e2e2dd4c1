//! The search for the load line: which load is tried next, and between which loads the line lies.
//!
//! Pure: its only input is the result of each measurement, and it reads no clock, so that a run and its report, years
//! later, find the same line from the same results.
//!
//! From the start the load doubles until one clearly fails, or halves until one is met. Then the gap between the
//! highest load that is met and the one tried next above it is halved until it is as narrow as wanted; in ratios,
//! because precision is a ratio. A load that some repeats meet and others do not is neither: it stays inside the
//! interval, whose two ends are narrowed each by itself. Loads that are measured once each are measured again at both
//! ends, and a third time where the two differ: one bad moment would otherwise decide where the search goes.
//!
//! Halving ends where it cannot help: the figure stays as it is while the load falls, or a window as long as is allowed
//! holds too few transactions for it.

use std::collections::BTreeSet;

use plimsoll_plan::{MOST_MEASUREMENTS, MOST_SEARCH_LOADS};
use serde::{Deserialize, Serialize};

/// From the start the load is halved no more often than this.
const MOST_HALVINGS: i32 = 10;
/// Windows of one load that held too few transactions: each is half as long again at least.
const MOST_WINDOWS: usize = 24;
/// The figure does not fall with the load when it stays within this ratio over [`FLOOR_LOADS`].
pub const FLOOR_RANGE: f64 = 1.2;
/// From the highest to the lowest of the loads at which it stays: two halvings.
const FLOOR_LOADS: f64 = 4.0;

/// The result of one load, over all its repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attempt {
    /// Every repeat met the objective.
    Met,
    /// Some did, and some did not.
    Mixed,
    /// None did.
    Failed,
    /// Too few transactions for the figure; the load is measured again, for longer.
    Short,
    /// Too few transactions for the figure in the longest window.
    TooFew,
}

impl Attempt {
    pub fn name(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Mixed => "mixed",
            Self::Failed => "failed",
            Self::Short => "short",
            Self::TooFew => "too_few",
        }
    }

    /// Whether it shows on which side of the line the load is.
    pub fn is_decided(self) -> bool {
        matches!(self, Self::Met | Self::Mixed | Self::Failed)
    }
}

/// One load that was measured, with all repeats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AttemptResult {
    pub load: f64,
    pub attempt: Attempt,
    /// The objective's figure as a share of its limit, where nothing but this figure spoke against the load: median of the
    /// repeats.
    pub excess: Option<f64>,
}

/// Where a search stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchState {
    /// Another load is to be tried.
    Open,
    /// Both ends of the interval are as precise as wanted.
    Found,
    /// The highest load allowed is met: the line lies there or above.
    AboveMost,
    /// No load was met down to the lowest.
    BelowLeast,
    /// No load was met, and the figure is the same at falling loads, which the system carries: less load does not help.
    Floor,
    /// What is left to try holds too few transactions for the figure.
    TooFew,
    /// The search ended at the limit of loads to try.
    TooMany,
}

/// The loads between which the line lies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LoadBracket {
    /// The highest load that was met by all repeats, below all loads that were not; `None` if there is none.
    pub low: Option<f64>,
    /// The lowest load that no repeat met, above all others; `None` if there is none.
    pub high: Option<f64>,
}

/// The rules of one search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchRules {
    /// The load tried first; positive.
    pub start: f64,
    /// No more is offered.
    pub most: f64,
    /// A gap is narrow when its upper end is at most this share above its lower one.
    pub precision: f64,
    /// Loads are whole numbers (users), not rates.
    pub whole: bool,
    /// Both ends of the interval are measured again.
    pub confirm: bool,
}

/// A search under way.
#[derive(Debug, Clone, PartialEq)]
pub struct LineSearch {
    rules: SearchRules,
    /// In the order of trying; a load may be in it more than once.
    tried: Vec<AttemptResult>,
}

impl LineSearch {
    pub fn new(rules: SearchRules) -> Self {
        Self {
            rules,
            tried: Vec::new(),
        }
    }

    /// The load to try next, or to measure again; `None` when the search has ended.
    pub fn next_load(&self) -> Option<f64> {
        self.step().ok()
    }

    pub fn state(&self) -> SearchState {
        self.step().err().unwrap_or(SearchState::Open)
    }

    /// Adds the result of a load.
    pub fn record(&mut self, result: AttemptResult) {
        self.tried.push(result);
    }

    pub fn bracket(&self) -> LoadBracket {
        let not_met = self
            .loads(|attempt| attempt != Attempt::Met)
            .min_by(f64::total_cmp);
        let low = self
            .loads(|attempt| attempt == Attempt::Met)
            .filter(|load| not_met.is_none_or(|lowest| *load < lowest))
            .max_by(f64::total_cmp);
        let some_met = self
            .loads(|attempt| attempt != Attempt::Failed)
            .max_by(f64::total_cmp);
        let high = self
            .loads(|attempt| attempt == Attempt::Failed)
            .filter(|load| some_met.is_none_or(|highest| *load > highest))
            .min_by(f64::total_cmp);
        LoadBracket { low, high }
    }

    /// Loads whose result over all their measurements is wanted.
    fn loads(&self, wanted: impl Fn(Attempt) -> bool) -> impl Iterator<Item = f64> {
        let loads: BTreeSet<u64> = self
            .tried
            .iter()
            .map(|tried| tried.load.to_bits())
            .collect();
        loads
            .into_iter()
            .map(f64::from_bits)
            .filter(move |load| self.result(*load).is_some_and(&wanted))
    }

    fn decided(&self, load: f64) -> impl Iterator<Item = Attempt> {
        self.tried
            .iter()
            .filter(move |tried| tried.load == load && tried.attempt.is_decided())
            .map(|tried| tried.attempt)
    }

    /// What most measurements of a load show; `None` where none shows anything.
    fn result(&self, load: f64) -> Option<Attempt> {
        self.decided(load).next()?;
        let more_met: i32 = self
            .decided(load)
            .map(|attempt| match attempt {
                Attempt::Met => 1,
                Attempt::Failed => -1,
                Attempt::Mixed | Attempt::Short | Attempt::TooFew => 0,
            })
            .sum();
        Some(match more_met {
            1.. => Attempt::Met,
            0 => Attempt::Mixed,
            _ => Attempt::Failed,
        })
    }

    fn step(&self) -> Result<f64, SearchState> {
        if let Some(again) = self.again() {
            return Ok(again);
        }
        let next = match self.next() {
            Ok(next) => next,
            Err(ended @ (SearchState::Found | SearchState::BelowLeast)) => {
                return self.unconfirmed().ok_or(ended);
            }
            Err(ended) => return Err(ended),
        };
        let tried: BTreeSet<u64> = self
            .tried
            .iter()
            .map(|tried| tried.load.to_bits())
            .collect();
        if tried.contains(&next.to_bits()) {
            Err(SearchState::TooFew)
        } else if tried.len() >= MOST_SEARCH_LOADS {
            Err(SearchState::TooMany)
        } else {
            Ok(next)
        }
    }

    /// The last load, where its last measurement did not show enough.
    fn again(&self) -> Option<f64> {
        let last = self.tried.last()?;
        let short = self
            .tried
            .iter()
            .rev()
            .take_while(|tried| tried.load == last.load && tried.attempt == Attempt::Short);
        let short = short.count();
        let measured = self.decided(last.load).count();
        let differs = self.rules.confirm
            && (2..MOST_MEASUREMENTS).contains(&measured)
            && self.result(last.load) == Some(Attempt::Mixed);
        ((1..MOST_WINDOWS).contains(&short) || differs).then_some(last.load)
    }

    /// An end of the interval that was measured once.
    fn unconfirmed(&self) -> Option<f64> {
        let LoadBracket { low, high } = self.bracket();
        [high, low]
            .into_iter()
            .flatten()
            .find(|load| self.rules.confirm && self.decided(*load).count() == 1)
    }

    fn next(&self) -> Result<f64, SearchState> {
        let SearchRules { start, most, .. } = self.rules;
        let lowest = self.loads(|_| true).min_by(f64::total_cmp);
        let highest = self.loads(|_| true).max_by(f64::total_cmp);
        let (Some(lowest), Some(highest)) = (lowest, highest) else {
            return self.first(start.min(most));
        };
        let LoadBracket { low, high } = self.bracket();
        match (low, high) {
            (None, _) if self.is_floor() => Err(SearchState::Floor),
            (None, _) => self.lower(lowest),
            // A mixed load does not show how far the mixed loads reach.
            (Some(_), None) if highest < most => Ok((highest * 2.0).min(most)),
            (Some(low), None) if low >= highest => Err(SearchState::AboveMost),
            (Some(low), high) => self.narrower(low, high),
        }
    }

    /// The start, or twice the highest load that held too few transactions.
    fn first(&self, start: f64) -> Result<f64, SearchState> {
        let tried = self.tried.iter().map(|tried| tried.load);
        match tried.max_by(f64::total_cmp) {
            None => Ok(start),
            Some(highest) if highest < self.rules.most => Ok((highest * 2.0).min(self.rules.most)),
            Some(_) => Err(SearchState::TooFew),
        }
    }

    /// Whether the figure stays above the limit however low the rate is: two halvings of a rate that is carried have not
    /// lowered it.
    fn is_floor(&self) -> bool {
        let mut loads: Vec<f64> = self.loads(|_| true).collect();
        loads.sort_by(f64::total_cmp);
        let [lowest, next, third, ..] = loads.as_slice() else {
            return false;
        };
        // A little slack, because rates are rounded to three digits.
        !self.rules.whole
            && third / lowest > FLOOR_LOADS * 0.98
            && self.stays(*lowest, *third).unwrap_or(false)
            && self.stays(*next, *third).unwrap_or(false)
    }

    /// Whether the figure is about as high at `low` as at `high`, and would not reach the limit on the straight line through
    /// both. Response times of queues rise ever faster with the load, so below `low` they fall less than that. `None` where
    /// a load was not carried.
    fn stays(&self, low: f64, high: f64) -> Option<bool> {
        let at_low = self.excess(low)?;
        let at_high = self.excess(high)?;
        let falls = (at_high - at_low).max(0.0) * low / (high - low);
        Some(at_high <= at_low * FLOOR_RANGE && at_low - falls > 1.0)
    }

    /// Of the last measurement of a load.
    fn excess(&self, load: f64) -> Option<f64> {
        let last = self.tried.iter().rev().find(|tried| tried.load == load);
        last.and_then(|tried| tried.excess)
    }

    /// Half of the lowest load, as long as that is one.
    fn lower(&self, lowest: f64) -> Result<f64, SearchState> {
        let least = if self.rules.whole {
            1.0
        } else {
            self.rules.start * 0.5f64.powi(MOST_HALVINGS)
        };
        if lowest <= least {
            return Err(SearchState::BelowLeast);
        }
        let half = lowest / 2.0;
        Ok(if self.rules.whole { half.floor() } else { half }.max(least))
    }

    /// Within the gap above the highest load that is met, or else below the lowest that clearly fails.
    fn narrower(&self, low: f64, high: Option<f64>) -> Result<f64, SearchState> {
        let next = self
            .loads(|_| true)
            .filter(|load| *load > low)
            .min_by(f64::total_cmp);
        let last = high.and_then(|high| {
            let below = self
                .loads(|_| true)
                .filter(|load| *load < high)
                .max_by(f64::total_cmp)?;
            Some((below, high))
        });
        let gaps = next.map(|next| (low, next)).into_iter().chain(last);
        gaps.filter_map(|(from, to)| self.within(from, to))
            .next()
            .ok_or(SearchState::Found)
    }

    /// The middle of a gap, in ratios; `None` where the gap is narrow.
    fn within(&self, from: f64, to: f64) -> Option<f64> {
        // A little slack, because 105 / 100 is not exactly 1.05.
        if to / from - 1.0 <= self.rules.precision * (1.0 + 1e-9) {
            return None;
        }
        let middle = (from * to).sqrt();
        if self.rules.whole {
            return [middle.round(), middle.floor(), middle.ceil()]
                .into_iter()
                .find(|load| from < *load && *load < to);
        }
        Some(
            Some(three_digits(middle))
                .filter(|load| from < *load && *load < to)
                .unwrap_or(middle),
        )
    }
}

/// Loads are read by people.
fn three_digits(value: f64) -> f64 {
    let unit = 10f64.powf(2.0 - value.log10().floor());
    let rounded = (value * unit).round() / unit;
    if rounded.is_finite() { rounded } else { value }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rules(start: f64, most: f64, whole: bool) -> SearchRules {
        SearchRules {
            start,
            most,
            precision: 0.05,
            whole,
            confirm: false,
        }
    }

    fn result(load: f64, attempt: Attempt) -> AttemptResult {
        AttemptResult {
            load,
            attempt,
            excess: None,
        }
    }

    /// Searches to the end; `result_of` decides each load.
    fn run(rules: SearchRules, mut result_of: impl FnMut(f64) -> Attempt) -> LineSearch {
        let mut search = LineSearch::new(rules);
        while let Some(load) = search.next_load() {
            assert!(
                search.tried.len() < MOST_SEARCH_LOADS && load > 0.0 && load <= rules.most,
                "{search:?} tries {load}"
            );
            assert!(
                search.tried.iter().all(|tried| tried.load != load),
                "{search:?} tries {load} again"
            );
            search.record(result(load, result_of(load)));
        }
        search
    }

    fn tried(search: &LineSearch) -> Vec<f64> {
        search.tried.iter().map(|tried| tried.load).collect()
    }

    /// Searches with both ends measured again; `result_of` gets the load and how many were measured before.
    fn confirmed(start: f64, result_of: impl Fn(f64, usize) -> AttemptResult) -> LineSearch {
        let mut search = LineSearch::new(SearchRules {
            confirm: true,
            ..rules(start, 1e6, false)
        });
        while let Some(load) = search.next_load() {
            assert!(search.tried.len() < 500, "{search:?}");
            search.record(result_of(load, search.tried.len()));
        }
        search
    }

    #[test]
    fn one_bad_moment_does_not_mislead() {
        // The first load is hit by something else: it would halve the line.
        let search = confirmed(100.0, |load, before| {
            let met = load <= 415.0 && before != 0;
            result(load, if met { Attempt::Met } else { Attempt::Failed })
        });
        let LoadBracket { low, high } = search.bracket();
        let (low, high) = (low.unwrap(), high.unwrap());
        assert!(
            low <= 415.0 && 415.0 < high && high / low < 1.051,
            "{low} to {high}"
        );
        let again = tried(&search).iter().filter(|load| **load == 100.0).count();
        assert_eq!(again, 3, "the two differ: {:?}", tried(&search));
        let calm = confirmed(100.0, |load, _| result(load, sharp(415.0)(load)));
        assert_eq!(tried(&calm)[8..], [418.0, 400.0], "both ends again");
        assert_eq!(calm.state(), SearchState::Found);
    }

    #[test]
    fn a_figure_that_does_not_fall_with_the_load_ends_the_search() {
        let floor = |figure: fn(f64) -> f64| {
            confirmed(100.0, move |load, _| {
                let excess = Some(figure(load));
                let attempt = sharp(1.0)(figure(load));
                AttemptResult {
                    load,
                    attempt,
                    excess,
                }
            })
        };
        let constant = floor(|_| 1.5);
        assert_eq!(constant.state(), SearchState::Floor);
        assert_eq!(tried(&constant), [100.0, 50.0, 25.0]);
        // Of a queue that is half empty at 100/s, and carries 20/s within the limit.
        let falling = floor(|load| 0.9 / (1.0 - load / 200.0));
        assert_eq!(falling.state(), SearchState::Found);
        let LoadBracket { low, high } = falling.bracket();
        assert!(low.unwrap() <= 20.0 && 20.0 < high.unwrap());
        // One bad window among few transactions.
        let noisy = floor(|load| if load < 30.0 { 7.2 } else { 3.8 });
        assert_eq!(noisy.state(), SearchState::Floor);
        // Beyond capacity the figure says nothing of lower loads.
        let behind = confirmed(100.0, |load, _| result(load, sharp(1.0)(load)));
        assert_eq!(behind.state(), SearchState::Found);
    }

    #[test]
    fn too_few_transactions_are_no_result() {
        // A window of five minutes holds enough from 20/s on.
        let search = |start: f64, line: f64| {
            confirmed(start, move |load, _| {
                let few = load < 20.0;
                result(
                    load,
                    if few {
                        Attempt::TooFew
                    } else {
                        sharp(line)(load)
                    },
                )
            })
        };
        let up = search(5.0, 100.0);
        assert_eq!(tried(&up)[..4], [5.0, 10.0, 20.0, 40.0], "upwards");
        assert_eq!(up.state(), SearchState::Found);
        assert!(up.bracket().low.unwrap() <= 100.0 && up.bracket().high.unwrap() > 100.0);
        let down = search(100.0, 2.0);
        assert_eq!(down.state(), SearchState::TooFew);
        assert_eq!(
            down.bracket(),
            LoadBracket {
                low: None,
                high: Some(25.0)
            }
        );
        let none = confirmed(1e5, |load, _| result(load, Attempt::TooFew));
        assert_eq!(
            (none.state(), none.bracket().high),
            (SearchState::TooFew, None)
        );
        let short = confirmed(1e5, |load, _| result(load, Attempt::Short));
        assert_eq!(tried(&short)[..3], [1e5; 3], "lengthened where it is");
        assert_ne!(short.state(), SearchState::Open);
    }

    fn sharp(line: f64) -> impl Fn(f64) -> Attempt {
        move |load| {
            if load <= line {
                Attempt::Met
            } else {
                Attempt::Failed
            }
        }
    }

    #[test]
    fn it_doubles_and_then_narrows_in_ratios() {
        let search = run(rules(100.0, 1e6, false), sharp(415.0));
        assert_eq!(
            tried(&search),
            [100.0, 200.0, 400.0, 800.0, 566.0, 476.0, 436.0, 418.0]
        );
        assert_eq!(
            search.bracket(),
            LoadBracket {
                low: Some(400.0),
                high: Some(418.0)
            }
        );
        assert_eq!(search.state(), SearchState::Found);
    }

    #[test]
    fn it_halves_when_the_start_is_too_much() {
        let search = run(rules(64.0, 100.0, true), sharp(5.0));
        assert_eq!(tried(&search), [64.0, 32.0, 16.0, 8.0, 4.0, 6.0, 5.0]);
        assert_eq!(
            search.bracket(),
            LoadBracket {
                low: Some(5.0),
                high: Some(6.0)
            },
            "there is no user between"
        );
    }

    #[test]
    fn a_search_without_a_line_ends_at_a_limit() {
        let none = run(rules(6.0, 100.0, true), |_| Attempt::Failed);
        assert_eq!(
            (none.state(), none.bracket().low, none.bracket().high),
            (SearchState::BelowLeast, None, Some(1.0))
        );
        let all = run(rules(6.0, 100.0, true), |_| Attempt::Met);
        assert_eq!(
            (all.state(), all.bracket()),
            (
                SearchState::AboveMost,
                LoadBracket {
                    low: Some(100.0),
                    high: None
                }
            )
        );
        let mixed = run(rules(6.0, 10.0, true), |_| Attempt::Mixed);
        assert_eq!(
            (mixed.state(), mixed.bracket()),
            (
                SearchState::BelowLeast,
                LoadBracket {
                    low: None,
                    high: None
                }
            )
        );
        let slow = run(rules(8.0, 1e6, false), |_| Attempt::Failed);
        assert_eq!(slow.bracket().high, Some(8.0 / 1024.0));
    }

    #[test]
    fn loads_that_are_neither_stay_inside_the_interval() {
        let doubtful = |load: f64| match load {
            load if load <= 400.0 => Attempt::Met,
            load if load < 520.0 => Attempt::Mixed,
            _ => Attempt::Failed,
        };
        let search = run(rules(100.0, 1e6, false), doubtful);
        let LoadBracket { low, high } = search.bracket();
        let (low, high) = (low.unwrap(), high.unwrap());
        assert!(low <= 400.0 && high >= 520.0, "{low} to {high}");
        assert!(
            low >= 400.0 / 1.05 && high <= 520.0 * 1.05,
            "both ends are precise: {low} to {high}"
        );
        assert_eq!(search.state(), SearchState::Found);
    }

    proptest! {
        #[test]
        fn without_noise_the_interval_contains_the_line_and_is_precise(
            line in 1.0f64..1e5, start in 1.0f64..1e4, whole in any::<bool>(), precision in 0.01f64..1.0,
        ) {
            let start = if whole { start.round() } else { start };
            let rules = SearchRules { start, most: 1e6, precision, whole, confirm: false };
            let search = run(rules, sharp(line));
            let LoadBracket { low, high } = search.bracket();
            // A start of 10 000 is halved down to 9.8 at most.
            prop_assume!(line >= start / 1000.0 || whole);
            let (low, high) = (low.unwrap(), high.unwrap());
            prop_assert!(low <= line && line < high, "{} to {}", low, high);
            let narrow = high / low - 1.0 <= precision * 1.0001 || (whole && high - low == 1.0);
            prop_assert!(narrow || search.state() == SearchState::TooMany, "{} to {}", low, high);
            prop_assert!(search.state() == SearchState::Found || precision < 0.05);
        }

        #[test]
        fn any_sequence_of_results_ends(results in prop::collection::vec(0u8..3, 1..40), start in 1u32..5000, whole in any::<bool>()) {
            let mut results = results.into_iter().cycle();
            let rules = rules(f64::from(start), 10_000.0, whole);
            let search = run(rules, |_| match results.next() {
                Some(0) => Attempt::Met,
                Some(1) => Attempt::Mixed,
                _ => Attempt::Failed,
            });
            let LoadBracket { low, high } = search.bracket();
            prop_assert!(low.zip(high).is_none_or(|(low, high)| low < high));
            prop_assert_ne!(search.state(), SearchState::Open);
        }

        /// Also with loads that are measured again.
        #[test]
        fn any_sequence_of_windows_ends(results in prop::collection::vec(0u8..5, 1..60), start in 1u32..5000, whole in any::<bool>()) {
            let mut results = results.into_iter().cycle();
            let mut search = LineSearch::new(SearchRules { confirm: true, ..rules(f64::from(start), 10_000.0, whole) });
            while let Some(load) = search.next_load() {
                prop_assert!(search.tried.len() < MOST_SEARCH_LOADS * (MOST_MEASUREMENTS + MOST_WINDOWS));
                search.record(result(load, match results.next() {
                    Some(0) => Attempt::Met,
                    Some(1) => Attempt::Mixed,
                    Some(2) => Attempt::Failed,
                    Some(3) => Attempt::Short,
                    _ => Attempt::TooFew,
                }));
            }
            let distinct: BTreeSet<u64> = search.tried.iter().map(|tried| tried.load.to_bits()).collect();
            prop_assert!(distinct.len() <= MOST_SEARCH_LOADS);
            let LoadBracket { low, high } = search.bracket();
            prop_assert!(low.zip(high).is_none_or(|(low, high)| low < high));
        }

        /// Repeats of a monotone system that scatter around the line: the interval contains the line unless every repeat
        /// of a load was wrong alike.
        #[test]
        fn noise_widens_the_interval(line in 50.0f64..5e3, noise in prop::collection::vec(-0.1f64..0.1, 75)) {
            let mut noise = noise.into_iter();
            let mut wrong = false;
            let search = run(rules(100.0, 1e6, false), |load| {
                let met = [(); 3].map(|()| load <= line * (1.0 + noise.next().unwrap_or(0.0)));
                wrong |= met.iter().all(|met| *met != (load <= line));
                match met {
                    [true, true, true] => Attempt::Met,
                    [false, false, false] => Attempt::Failed,
                    _ => Attempt::Mixed,
                }
            });
            let LoadBracket { low, high } = search.bracket();
            let (low, high) = (low.unwrap(), high.unwrap());
            prop_assert!(wrong || (low <= line && line < high), "{} to {}", low, high);
            prop_assert!(low >= line * 0.85 && high <= line * 1.2, "{} to {}", low, high);
        }
    }
}
