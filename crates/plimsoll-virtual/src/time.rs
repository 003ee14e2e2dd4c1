//! What the programs of a machine spend their time on, by second.

use std::collections::BTreeMap;

use plimsoll_plan::units::Nanos;
use plimsoll_record::WaitState;

/// Summed over programs, by [`WaitState`]'s number.
pub type TimeByState = [Nanos; WaitState::ALL.len()];

/// Of a program that waits, or that uses a processor.
#[derive(Debug, Clone, Copy)]
struct TimeUnderWay {
    state: WaitState,
    /// What was before is counted.
    from: Nanos,
}

/// Programs that rest between their transactions spend no time.
#[derive(Debug, Default)]
pub struct TimeSpent {
    seconds: BTreeMap<u64, TimeByState>,
    under_way: BTreeMap<u64, TimeUnderWay>,
    begun: u64,
}

impl TimeSpent {
    /// Returns what [`Self::end`] takes.
    pub fn begin(&mut self, now: Nanos, state: WaitState) -> u64 {
        self.begun += 1;
        self.under_way
            .insert(self.begun, TimeUnderWay { state, from: now });
        self.begun
    }

    pub fn end(&mut self, now: Nanos, number: u64) {
        if let Some(own) = self.under_way.remove(&number) {
            count(&mut self.seconds, own, now);
        }
    }

    /// Whole seconds before `now`, each of them once, by its number.
    pub fn take(&mut self, now: Nanos) -> BTreeMap<u64, TimeByState> {
        for own in self.under_way.values_mut() {
            count(&mut self.seconds, *own, now);
            own.from = own.from.max(now);
        }
        let rest = self.seconds.split_off(&second_of(now));
        std::mem::replace(&mut self.seconds, rest)
    }
}

pub(crate) fn second_of(at: Nanos) -> u64 {
    at.0 / Nanos::SECOND.0
}

fn count(seconds: &mut BTreeMap<u64, TimeByState>, own: TimeUnderWay, end: Nanos) {
    let mut from = own.from;
    while from < end {
        let second = second_of(from);
        let until = end.min(Nanos::from_secs(second + 1));
        let by_state = seconds.entry(second).or_default();
        by_state[own.state as usize] += until.saturating_sub(from);
        from = until;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Nanos {
        Nanos::from_millis(ms)
    }

    #[test]
    fn each_state_is_counted_once_in_the_second_in_which_it_was() {
        let mut spent = TimeSpent::default();
        let cpu = spent.begin(ms(200), WaitState::Cpu);
        spent.end(ms(500), cpu);
        let lock = spent.begin(ms(500), WaitState::Lock);
        let other = spent.begin(ms(900), WaitState::Lock);
        let first = spent.take(ms(1_400));
        assert_eq!(first.len(), 1, "the second under way is left for later");
        assert_eq!(first[&0][WaitState::Cpu as usize], ms(300));
        assert_eq!(first[&0][WaitState::Lock as usize], ms(600));
        spent.end(ms(2_250), lock);
        spent.end(ms(1_500), other);
        let rest = spent.take(ms(9_000));
        assert_eq!(rest[&1][WaitState::Lock as usize], ms(1_500));
        assert_eq!(rest[&2][WaitState::Lock as usize], ms(250));
        assert_eq!(rest.len(), 2);
        assert!(spent.take(ms(10_000)).is_empty());
    }
}
