//! When to look, and what was seen in a second.

use std::collections::BTreeMap;

use plimsoll_model::record::{SubjectId, WaitRow, WaitState};
use plimsoll_model::units::Nanos;

use crate::engine::insight::Seen;

/// One look in each of these, at one to [`AT_FULL_RATE`] servers.
const SLOT: Nanos = Nanos::from_millis(100);
/// After an answer that took so long, the server rests this many times as long: its session is busy with looks for at
/// most a fifth of the time, however slowly it answers.
const REST: u64 = 4;
/// Of more servers each is looked at less, so that all together cost no more.
const AT_FULL_RATE: u32 = 4;
/// More kinds of events than this in one second are counted without their names.
const MOST_EVENTS: usize = 64;

/// What was seen since the second's start.
#[derive(Debug)]
pub(super) struct Looks {
    start: Nanos,
    looks: u32,
    seen: BTreeMap<(WaitState, String), u32>,
}

impl Looks {
    pub fn new(now: Nanos) -> Self {
        Self { start: now, looks: 0, seen: BTreeMap::new() }
    }

    /// The whole second of the run's timeline at which this one ends.
    pub fn end(&self) -> Nanos {
        Nanos::from_secs(self.start.0 / Nanos::SECOND.0 + 1)
    }

    /// When to look next, after an answer that took `cost`, from a server that wants to rest at least for `least`, one of
    /// `servers` that are looked at.
    pub fn next(&self, now: Nanos, cost: Nanos, least: Nanos, servers: u32) -> Nanos {
        let width = SLOT.0 * u64::from(servers.div_ceil(AT_FULL_RATE).max(1));
        let rest = cost.0.saturating_mul(REST).max(least.0);
        let earliest = Nanos(now.0.saturating_add(rest));
        let slot = earliest.0 / width;
        let moments = [slot, slot + 1, slot + 2].map(|slot| moment(slot, width));
        moments.into_iter().find(|due| *due > earliest).unwrap_or(moments[2])
    }

    pub fn add(&mut self, seen: Vec<Seen>) {
        self.looks = self.looks.saturating_add(1);
        for Seen { state, event, sessions } in seen {
            let mut key = (state, event);
            if self.seen.len() >= MOST_EVENTS && !self.seen.contains_key(&key) {
                key.1.clear();
            }
            let sum = self.seen.entry(key).or_default();
            *sum = sum.saturating_add(sessions);
        }
    }

    /// The rows of the second, which ended at the last whole second before `now`; the next one begins there. Looks that
    /// saw nobody leave a row of nobody idle; without looks there are no rows.
    pub fn take(&mut self, subject: SubjectId, now: Nanos) -> Vec<WaitRow> {
        let end = Nanos::from_secs(now.0 / Nanos::SECOND.0).max(self.end());
        let Self { start, looks, mut seen } = std::mem::replace(self, Self::new(end));
        if looks > 0 && seen.is_empty() {
            seen.insert((WaitState::Idle, String::new()), 0);
        }
        let row = |((state, event), seen)| WaitRow { subject, start, end, state, event, seen, looks };
        seen.into_iter().map(row).collect()
    }
}

/// The moment in a slot: another place in each, so that what happens at regular times (a log that is flushed every
/// 200 ms) is neither always met nor always missed. Weyl's sequence of the golden ratio spreads them evenly.
fn moment(slot: u64, width: u64) -> Nanos {
    let place = (slot as f64 * 0.618_033_988_749_895).fract();
    Nanos(slot.saturating_mul(width).saturating_add((place * width as f64) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(state: WaitState, event: &str, sessions: u32) -> Seen {
        Seen { state, event: event.into(), sessions }
    }

    #[test]
    fn there_is_one_look_in_each_tenth_at_another_place() {
        let looks = Looks::new(Nanos::from_secs(7));
        let mut now = Nanos::from_secs(7);
        let mut places = Vec::new();
        for slot in 70..80 {
            now = looks.next(now, Nanos::from_millis(1), Nanos::ZERO, 4);
            assert_eq!(now.0 / SLOT.0, slot, "{now}");
            places.push(now.0 % SLOT.0 / 1_000_000);
        }
        places.sort_unstable();
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] > 3), "{places:?}");
    }

    #[test]
    fn a_slow_server_is_looked_at_less() {
        let looks = Looks::new(Nanos::from_secs(7));
        let now = Nanos::from_millis(7450);
        assert!(looks.next(now, Nanos::from_millis(200), Nanos::ZERO, 1) >= now + Nanos::from_millis(800));
        assert!(looks.next(now, Nanos(u64::MAX), Nanos::ZERO, 1) > looks.end(), "no overflow");
    }

    #[test]
    fn of_many_servers_each_is_looked_at_less() {
        let looks = Looks::new(Nanos::from_secs(7));
        let mut now = Nanos::from_secs(7);
        for slot in 24..30 {
            now = looks.next(now, Nanos::from_millis(1), Nanos::ZERO, 12);
            assert_eq!(now.0 / (3 * SLOT.0), slot, "one in three tenths: {now}");
        }
    }

    #[test]
    fn a_server_that_shows_the_same_again_is_given_its_rest() {
        let looks = Looks::new(Nanos::from_secs(7));
        let (cost, least) = (Nanos::from_millis(1), Nanos::from_millis(101));
        let mut now = Nanos::from_secs(7);
        let mut seen = 0;
        while now < Nanos::from_secs(17) {
            let due = looks.next(now, cost, least, 1);
            assert!(due > now + least && due <= now + least + SLOT + SLOT, "{now} {due}");
            (now, seen) = (due + cost, seen + 1);
        }
        assert!((60..=80).contains(&seen), "{seen} in ten seconds");
    }

    #[test]
    fn a_second_sums_its_looks() {
        let mut looks = Looks::new(Nanos::from_millis(7_300));
        looks.add(vec![seen(WaitState::Log, "WALSync", 3), seen(WaitState::Cpu, "", 1)]);
        looks.add(vec![seen(WaitState::Log, "WALSync", 2)]);
        let rows = looks.take(SubjectId(4), Nanos::from_millis(8_003));
        let told: Vec<_> = rows.iter().map(|row| (row.state, row.event.as_str(), row.seen, row.looks)).collect();
        assert_eq!(told, [(WaitState::Cpu, "", 1, 2), (WaitState::Log, "WALSync", 5, 2)]);
        assert!(rows.iter().all(|row| (row.start, row.end) == (Nanos::from_millis(7_300), Nanos::from_secs(8))));
        assert_eq!(looks.take(SubjectId(4), Nanos::from_secs(9)), [], "nobody looked");
        looks.add(Vec::new());
        let rows = looks.take(SubjectId(4), Nanos::from_millis(12_700));
        assert_eq!((rows[0].seen, rows[0].looks, rows.len()), (0, 1, 1));
        assert_eq!((rows[0].start, rows[0].end), (Nanos::from_secs(9), Nanos::from_secs(12)), "an answer took long");
    }

    #[test]
    fn kinds_of_events_are_bounded() {
        let mut looks = Looks::new(Nanos::ZERO);
        looks.add((0..500).map(|i| seen(WaitState::Latch, &format!("lock{i}"), 1)).collect());
        let rows = looks.take(SubjectId(1), Nanos::SECOND);
        assert_eq!(rows.len(), MOST_EVENTS + 1);
        assert_eq!(rows.iter().map(|row| row.seen).sum::<u32>(), 500);
    }
}
