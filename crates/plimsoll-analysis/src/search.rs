//! The search for the load line: which load is tried next, and between which loads the line lies.
//!
//! Pure: its only input is the result of each load, and it reads no clock, so that a run and its report, years later,
//! find the same line from the same results.
//!
//! From the start the load doubles until one clearly fails, or halves until one is met. Then the gap between the
//! highest load that is met and the one tried next above it is halved until it is as narrow as wanted; in ratios,
//! because precision is a ratio. A load that some repeats meet and others do not is neither: it stays inside the
//! interval, whose two ends are narrowed each by itself.

use serde::{Deserialize, Serialize};

/// More loads are not tried: doubling from 1 to a million and narrowing to 5 % takes 25.
pub const MOST_LOADS: usize = 25;
/// From the start the load is halved no more often than this.
const MOST_HALVINGS: i32 = 10;

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
}

impl Attempt {
    /// Of the repeats' verdicts; a load without any failed.
    pub fn of(met: impl IntoIterator<Item = bool>) -> Self {
        let mut yes = 0;
        let mut no = 0;
        met.into_iter()
            .for_each(|met| if met { yes += 1 } else { no += 1 });
        match (yes, no) {
            (0, _) => Self::Failed,
            (_, 0) => Self::Met,
            _ => Self::Mixed,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Mixed => "mixed",
            Self::Failed => "failed",
        }
    }
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
}

/// A search under way.
#[derive(Debug, Clone, PartialEq)]
pub struct LineSearch {
    rules: SearchRules,
    /// In the order of trying.
    tried: Vec<(f64, Attempt)>,
}

impl LineSearch {
    pub fn new(rules: SearchRules) -> Self {
        Self {
            rules,
            tried: Vec::new(),
        }
    }

    /// The load to try next; `None` when the search has ended.
    pub fn next_load(&self) -> Option<f64> {
        self.step().ok()
    }

    pub fn state(&self) -> SearchState {
        self.step().err().unwrap_or(SearchState::Open)
    }

    /// Adds the result of a load.
    pub fn record(&mut self, load: f64, attempt: Attempt) {
        self.tried.push((load, attempt));
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

    fn loads(&self, wanted: impl Fn(Attempt) -> bool) -> impl Iterator<Item = f64> {
        self.tried
            .iter()
            .filter(move |(_, attempt)| wanted(*attempt))
            .map(|(load, _)| *load)
    }

    fn step(&self) -> Result<f64, SearchState> {
        let SearchRules { start, most, .. } = self.rules;
        let lowest = self.loads(|_| true).min_by(f64::total_cmp);
        let highest = self.loads(|_| true).max_by(f64::total_cmp);
        let (Some(lowest), Some(highest)) = (lowest, highest) else {
            return Ok(start.min(most));
        };
        let LoadBracket { low, high } = self.bracket();
        let next = match (low, high) {
            (None, _) => self.lower(lowest)?,
            // A mixed load does not show how far the mixed loads reach.
            (Some(_), None) if highest < most => (highest * 2.0).min(most),
            (Some(low), None) if low >= highest => return Err(SearchState::AboveMost),
            (Some(low), high) => self.narrower(low, high)?,
        };
        if self.tried.len() >= MOST_LOADS {
            Err(SearchState::TooMany)
        } else {
            Ok(next)
        }
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
        }
    }

    /// Searches to the end; `result_of` decides each load.
    fn run(rules: SearchRules, mut result_of: impl FnMut(f64) -> Attempt) -> LineSearch {
        let mut search = LineSearch::new(rules);
        while let Some(load) = search.next_load() {
            assert!(
                search.tried.len() < MOST_LOADS && load > 0.0 && load <= rules.most,
                "{search:?} tries {load}"
            );
            assert!(
                search.tried.iter().all(|(tried, _)| *tried != load),
                "{search:?} tries {load} again"
            );
            search.record(load, result_of(load));
        }
        search
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
        let loads: Vec<f64> = search.tried.iter().map(|(load, _)| *load).collect();
        assert_eq!(
            loads,
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
        let loads: Vec<f64> = search.tried.iter().map(|(load, _)| *load).collect();
        assert_eq!(loads, [64.0, 32.0, 16.0, 8.0, 4.0, 6.0, 5.0]);
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

    #[test]
    fn an_attempt_is_of_all_repeats() {
        let of = |met: &[bool]| Attempt::of(met.iter().copied());
        assert_eq!([of(&[true, true]), of(&[true, false]), of(&[false])], {
            use Attempt::*;
            [Met, Mixed, Failed]
        });
        assert_eq!(of(&[]), Attempt::Failed);
    }

    proptest! {
        #[test]
        fn without_noise_the_interval_contains_the_line_and_is_precise(
            line in 1.0f64..1e5, start in 1.0f64..1e4, whole in any::<bool>(), precision in 0.01f64..1.0,
        ) {
            let start = if whole { start.round() } else { start };
            let rules = SearchRules { start, most: 1e6, precision, whole };
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

        /// Repeats of a monotone system that scatter around the line: the interval contains the line unless every repeat
        /// of a load was wrong alike.
        #[test]
        fn noise_widens_the_interval(line in 50.0f64..5e3, noise in prop::collection::vec(-0.1f64..0.1, 75)) {
            let mut noise = noise.into_iter();
            let mut wrong = false;
            let search = run(rules(100.0, 1e6, false), |load| {
                let met = [(); 3].map(|()| load <= line * (1.0 + noise.next().unwrap_or(0.0)));
                wrong |= met.iter().all(|met| *met != (load <= line));
                Attempt::of(met)
            });
            let LoadBracket { low, high } = search.bracket();
            let (low, high) = (low.unwrap(), high.unwrap());
            prop_assert!(wrong || (low <= line && line < high), "{} to {}", low, high);
            prop_assert!(low >= line * 0.85 && high <= line * 1.2, "{} to {}", low, high);
        }
    }
}
