//! What asking and answering cost beyond the wait.
//!
//! A program that waits sleeps, and so does the processor it ran on: the longer, the more it takes to wake both up. In a
//! virtual machine that is some 10 µs after 100 µs, and 50 µs after half a millisecond. With many requests in flight
//! nobody sleeps, but requests wait for each other on the way: the more, the more of them there are in a second.

use plimsoll_plan::units::Nanos;

/// The cost of one answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AnswerCost {
    /// What a program waits beyond the time from arrival to the moment at which the answer is written.
    pub around: Nanos,
    /// The part of it that writing the answer takes.
    pub writing: Nanos,
    /// How much later than due the writing begins.
    pub late: Nanos,
}

impl AnswerCost {
    /// So many nanoseconds more, or less where negative: first of the lateness, which a calmer machine lacks.
    pub fn corrected(self, by: i64) -> Self {
        let less = Nanos(by.min(0).unsigned_abs());
        let more = Nanos(by.max(0).unsigned_abs());
        Self {
            around: (self.around + more).saturating_sub(less.saturating_sub(self.late)),
            late: self.late.saturating_sub(less),
            ..self
        }
    }
}

/// What was measured at one point of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CostStep {
    /// Alone: nanoseconds for which nothing had happened before the answer. Among others: answers a second.
    pub at: u64,
    pub cost: AnswerCost,
}

/// Growing from step to step; in between a straight line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CostCurve(Vec<CostStep>);

/// The costs on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Costs {
    alone: CostCurve,
    among_others: CostCurve,
}

/// How an answer stands among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traffic {
    pub in_flight: usize,
    /// How long nothing has happened.
    pub quiet: Nanos,
    /// The mean time between answers of late.
    pub gap: Nanos,
}

impl CostCurve {
    /// Costs only grow along the curve, and other work on the machine only ever adds: what was measured higher than
    /// further along is noise.
    fn new(mut steps: Vec<CostStep>) -> Self {
        steps.sort_by_key(|step| step.at);
        let mut least = AnswerCost {
            around: Nanos(u64::MAX),
            late: Nanos(u64::MAX),
            ..AnswerCost::default()
        };
        for CostStep { cost, .. } in steps.iter_mut().rev() {
            least.around = least.around.min(cost.around);
            least.late = least.late.min(cost.late);
            *cost = AnswerCost {
                around: least.around,
                writing: cost.writing.min(least.around),
                late: least.late,
            };
        }
        Self(steps)
    }

    fn cost(&self, at: u64) -> AnswerCost {
        let above = self.0.partition_point(|step| step.at < at);
        let below = above.checked_sub(1).and_then(|below| self.0.get(below));
        match (below, self.0.get(above)) {
            (None, None) => AnswerCost::default(),
            (Some(only), None) | (None, Some(only)) => only.cost,
            (Some(below), Some(above)) => {
                let span = (above.at - below.at).max(1) as f64;
                let share = (at - below.at) as f64 / span;
                let (below, above) = (below.cost, above.cost);
                AnswerCost {
                    around: between(below.around, above.around, share),
                    writing: between(below.writing, above.writing, share),
                    late: between(below.late, above.late, share),
                }
            }
        }
    }
}

impl Costs {
    pub fn new(alone: Vec<CostStep>, among_others: Vec<CostStep>) -> Self {
        Self {
            alone: CostCurve::new(alone),
            among_others: CostCurve::new(among_others),
        }
    }

    /// Of an answer when nothing else is in flight.
    pub fn alone(&self, quiet: Nanos) -> AnswerCost {
        self.alone.cost(quiet.0)
    }

    pub fn cost(&self, traffic: Traffic) -> AnswerCost {
        if traffic.in_flight <= 1 || self.among_others.0.is_empty() {
            return self.alone(traffic.quiet);
        }
        let per_second = Nanos::SECOND.0 / traffic.gap.0.max(1);
        self.among_others.cost(per_second)
    }
}

fn between(a: Nanos, b: Nanos, share: f64) -> Nanos {
    Nanos((a.0 as f64 + (b.0 as f64 - a.0 as f64) * share) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cost(around: u64, writing: u64, late: u64) -> AnswerCost {
        let [around, writing, late] = [around, writing, late].map(Nanos::from_micros);
        AnswerCost {
            around,
            writing,
            late,
        }
    }

    fn quiet(us: u64, around: u64, writing: u64) -> CostStep {
        CostStep {
            at: us * 1000,
            cost: cost(around, writing, 0),
        }
    }

    #[test]
    fn costs_grow_with_quiet_on_straight_lines() {
        let costs = Costs::new(
            vec![quiet(500, 50, 20), quiet(0, 99, 4), quiet(100, 10, 6)],
            Vec::new(),
        );
        let alone = |us| costs.alone(Nanos::from_micros(us));
        assert_eq!(alone(0), cost(10, 4, 0));
        assert_eq!(alone(50), cost(10, 5, 0), "more after less quiet is noise");
        assert_eq!(alone(300), cost(30, 13, 0));
        assert_eq!(alone(9_000_000), cost(50, 20, 0));
    }

    #[test]
    fn a_correction_takes_the_lateness_first() {
        let measured = cost(30, 4, 20);
        assert_eq!(measured.corrected(5_000), cost(35, 4, 20));
        assert_eq!(measured.corrected(-15_000), cost(30, 4, 5));
        assert_eq!(measured.corrected(-25_000), cost(25, 4, 0));
        assert_eq!(measured.corrected(-90_000), cost(0, 4, 0));
    }

    #[test]
    fn among_others_the_rate_counts() {
        let rate = |at, cost| CostStep { at, cost };
        let costs = Costs::new(
            vec![quiet(0, 10, 4)],
            vec![
                rate(20_000, cost(20, 4, 2)),
                rate(40_000, cost(40, 4, 6)),
                rate(60_000, cost(38, 4, 5)),
            ],
        );
        let at = |in_flight, gap_us| {
            costs.cost(Traffic {
                in_flight,
                quiet: Nanos::ZERO,
                gap: Nanos::from_micros(gap_us),
            })
        };
        assert_eq!(at(1, 25), cost(10, 4, 0));
        assert_eq!(at(2, 1000), cost(20, 4, 2), "no less than was measured");
        assert_eq!(at(8, 25), cost(38, 4, 5), "no more than at a higher rate");
        assert_eq!(at(8, 1), cost(38, 4, 5));
    }

    proptest! {
        #[test]
        fn never_less_after_more_quiet(
            steps in prop::collection::vec((0u64..5000, 0u64..90, 0u64..30), 0..8), a in 0u64..6000, b in 0u64..6000,
        ) {
            let steps = steps.into_iter().map(|(at, around, w)| quiet(at, around, w)).collect();
            let costs = Costs::new(steps, Vec::new());
            let [less, more] = [a.min(b), a.max(b)].map(|us| costs.alone(Nanos::from_micros(us)).around);
            prop_assert!(less <= more);
        }
    }
}
