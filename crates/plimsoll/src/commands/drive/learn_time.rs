//! How long `plimsoll drive learn` still takes: at least, and at most.

use plimsoll_drive::learn::jobs::{LearnOptions, LearnStep, steps};
use plimsoll_plan::units::{Bytes, Nanos};

use crate::progress::whole_seconds;

/// Each planned step is known; how often a rate has to be measured again until it is steady is not.
#[derive(Debug, Clone)]
pub struct LearnTime {
    began: Nanos,
    /// Of all planned steps, in their order.
    expected: Vec<Nanos>,
    most: Nanos,
    step: CurrentStep,
}

#[derive(Debug, Clone, Copy)]
struct CurrentStep {
    number: usize,
    began: Nanos,
    expected: Nanos,
}

impl LearnTime {
    pub fn new(began: Nanos, options: &LearnOptions, size: Bytes) -> Self {
        let steps = steps(options);
        let expected = |step: &LearnStep| Nanos::from_millis(step.expected_millis(options, size));
        let most: u64 = steps
            .iter()
            .map(|step| step.most_millis(options, size))
            .sum();
        Self {
            began,
            expected: steps.iter().map(expected).collect(),
            most: Nanos::from_millis(most),
            step: CurrentStep {
                number: 0,
                began,
                expected: Nanos::ZERO,
            },
        }
    }

    /// A run of fio for this step begins; further ones of the same step may follow.
    pub fn begin(&mut self, now: Nanos, number: usize, expected: Nanos) {
        self.step = CurrentStep {
            number,
            began: now,
            expected,
        };
    }

    /// Whether more time has passed than all steps may take.
    pub fn is_over(&self, now: Nanos) -> bool {
        now.saturating_sub(self.began) > self.most
    }

    /// `2m 27s to 11m 40s left`.
    pub fn left(&self, now: Nanos) -> String {
        let CurrentStep {
            number,
            began,
            expected,
        } = self.step;
        let of_step = expected.saturating_sub(now.saturating_sub(began));
        let later = self.expected.iter().skip(number + 1);
        let least = Nanos(of_step.0 + later.map(|step| step.0).sum::<u64>());
        let most = self.most.saturating_sub(now.saturating_sub(self.began));
        format!(
            "{} to {} left",
            whole_seconds(least),
            whole_seconds(most.max(least))
        )
    }

    /// `about 2m 27s, at most 11m 40s`.
    pub fn total(&self) -> String {
        let least = Nanos(self.expected.iter().map(|step| step.0).sum());
        format!(
            "about {}, at most {}",
            whole_seconds(least),
            whole_seconds(self.most)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_block::fio::IoEngine;

    fn time() -> LearnTime {
        let options = LearnOptions {
            seconds: 5.0,
            writes: true,
            rotational: false,
            engine: IoEngine::Libaio,
            cpus: 2,
            seed: 1,
        };
        LearnTime::new(Nanos::from_secs(100), &options, Bytes::mib(1024))
    }

    #[test]
    fn the_time_left_ends_with_the_longest_run_that_is_possible() {
        let mut time = time();
        let least = Nanos(time.expected.iter().map(|step| step.0).sum());
        // Three rates, measured for 5 to 80 s each.
        assert!(time.most > least + Nanos::from_secs(3 * 150));
        let [shown, longest] = [least, time.most].map(whole_seconds);
        assert_eq!(time.total(), format!("about {shown}, at most {longest}"));
        let last = time.expected.len() - 1;
        let now = time.began + least;
        time.begin(now, last, Nanos::from_secs(80));
        let most = whole_seconds(time.most.saturating_sub(least));
        assert_eq!(time.left(now), format!("1m 20s to {most} left"));
        assert!(!time.is_over(now));
        let end = time.began + time.most + Nanos::SECOND;
        assert!(time.is_over(end));
        assert!(
            time.left(end).ends_with(" to 0s left"),
            "{}",
            time.left(end)
        );
    }
}
