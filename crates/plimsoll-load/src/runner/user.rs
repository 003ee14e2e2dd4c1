//! A virtual user of a closed loop: what it wants next, and how long it takes until then.

use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::LaneSpec;
use plimsoll_stats::Rng;

use crate::workload::{Input, Source};

/// Among how many cycles of keying and thinking a user's entry is chosen.
const CYCLES_BEFORE: usize = 8;

/// Identity and habits of one user; connections are not its own where they are shared. Some 200 bytes, and a hundred for a deck of transactions.
pub struct User {
    pub number: u32,
    source: Source,
    /// Think time that the transaction before leaves to this one's keying (TPC-C clause 5.2.5.4); `None` before the first.
    think: Option<Nanos>,
}

impl User {
    /// `own` counts those of this generator from 0. The number among all decides, with the seed and the round, about
    /// everything that the user does.
    pub fn new(spec: &LaneSpec, own: u32) -> Self {
        let number = spec.share.number(own);
        let source = Source::new(&spec.workload, spec.seed, spec.round, number);
        Self {
            number,
            source,
            think: None,
        }
    }

    /// The next intent's input, and the pause before it counted from the end of the one before: thinking, then keying.
    pub fn next(&mut self, spec: &LaneSpec) -> (Nanos, Input) {
        let input = self.source.next();
        let (keying, think) = self.source.pacing(input.txn(), &spec.pacing);
        let pause = match self.think.replace(think) {
            Some(before) => before + keying,
            None => self.entry(spec),
        };
        (pause, input)
    }

    /// The pause before the first intent: what is left of the cycle in which a random moment falls, as if the user had
    /// been at work for some cycles already. If all users began with keying, whose times are fixed, they would come in
    /// waves for the first minutes; if each began somewhere in its next cycle, half as many again would come at first
    /// (long cycles take more of the time than of the number: the inspection paradox).
    fn entry(&self, spec: &LaneSpec) -> Nanos {
        let mut before = self.source.clone();
        let cycles: [Nanos; CYCLES_BEFORE] = std::array::from_fn(|_| {
            let txn = before.next().txn();
            let (keying, think) = before.pacing(txn, &spec.pacing);
            keying + think
        });
        let path = [
            u64::from_be_bytes(*b"entering"),
            u64::from(spec.round),
            u64::from(self.number),
        ];
        let whole: Nanos = cycles.iter().copied().sum();
        let mut moment =
            Nanos::from_secs_f64(whole.as_secs_f64() * Rng::stream(spec.seed.load, &path).unit());
        for cycle in cycles {
            if moment < cycle {
                return cycle - moment;
            }
            moment = moment - cycle;
        }
        Nanos::ZERO
    }
}
