//! What asking and answering cost beyond the wait, by how long everything was quiet before the answer.
//!
//! A program that waits sleeps, and so does the processor it ran on: the longer, the more it takes to wake both up. In a
//! virtual machine that is some 10 µs after 100 µs, and 50 µs after half a millisecond. With many requests in flight
//! no processor sleeps, and an answer costs little.

use plimsoll_plan::units::Nanos;

/// The costs around an answer after this much quiet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CostStep {
    pub quiet: Nanos,
    /// What a program waits beyond the time from arrival to the moment at which the answer is written.
    pub around: Nanos,
    /// The part of it that writing the answer takes.
    pub writing: Nanos,
}

/// By growing quiet, at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Costs(Vec<CostStep>);

impl Costs {
    /// Nothing costs more after a shorter quiet, and other work on the machine only ever adds: what was measured higher
    /// than after a longer quiet is noise.
    pub fn new(mut steps: Vec<CostStep>) -> Self {
        steps.sort_by_key(|step| step.quiet);
        let mut least = Nanos(u64::MAX);
        for step in steps.iter_mut().rev() {
            least = least.min(step.around);
            step.around = least;
            step.writing = step.writing.min(least);
        }
        Self(steps)
    }

    /// After this much quiet; in between the steps on a straight line.
    pub fn after(&self, quiet: Nanos) -> CostStep {
        let above = self.0.partition_point(|step| step.quiet < quiet);
        match (
            above.checked_sub(1).and_then(|below| self.0.get(below)),
            self.0.get(above),
        ) {
            (None, None) => CostStep {
                quiet,
                around: Nanos::ZERO,
                writing: Nanos::ZERO,
            },
            (Some(only), None) | (None, Some(only)) => CostStep { quiet, ..*only },
            (Some(below), Some(above)) => {
                let span = (above.quiet.0 - below.quiet.0).max(1) as f64;
                let share = (quiet.0 - below.quiet.0) as f64 / span;
                CostStep {
                    quiet,
                    around: between(below.around, above.around, share),
                    writing: between(below.writing, above.writing, share),
                }
            }
        }
    }
}

fn between(a: Nanos, b: Nanos, share: f64) -> Nanos {
    Nanos((a.0 as f64 + (b.0 as f64 - a.0 as f64) * share) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn step(quiet: u64, around: u64, writing: u64) -> CostStep {
        let [quiet, around, writing] = [quiet, around, writing].map(Nanos::from_micros);
        CostStep {
            quiet,
            around,
            writing,
        }
    }

    #[test]
    fn costs_grow_with_quiet_on_straight_lines() {
        let costs = Costs::new(vec![step(500, 50, 20), step(0, 99, 4), step(100, 10, 6)]);
        assert_eq!(costs.after(Nanos::ZERO), step(0, 10, 4));
        assert_eq!(
            costs.after(Nanos::from_micros(50)),
            step(50, 10, 5),
            "more after less quiet is noise"
        );
        assert_eq!(costs.after(Nanos::from_micros(300)), step(300, 30, 13));
        assert_eq!(
            costs.after(Nanos::from_secs(9)).around,
            Nanos::from_micros(50)
        );
    }

    proptest! {
        #[test]
        fn never_less_after_more_quiet(
            steps in prop::collection::vec((0u64..5000, 0u64..90, 0u64..30), 0..8), a in 0u64..6000, b in 0u64..6000,
        ) {
            let costs = Costs::new(steps.into_iter().map(|(q, around, w)| step(q, around, w)).collect());
            let [less, more] = [a.min(b), a.max(b)].map(|quiet| costs.after(Nanos::from_micros(quiet)).around);
            prop_assert!(less <= more);
        }
    }
}
