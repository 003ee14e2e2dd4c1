//! When to sample a server's sessions, and the sums of a second's samples.

use std::collections::BTreeMap;

use plimsoll_plan::units::Nanos;
use plimsoll_record::{SubjectId, WaitRow, WaitState};

use crate::engine::insight::SessionCount;

/// One sample in each of these, of one to [`AT_FULL_RATE`] servers.
const SLOT: Nanos = Nanos::from_millis(100);
/// After an answer that took so long, the server rests this many times as long: samples keep its session busy for at
/// most a fifth of the time, however slowly it answers.
const REST: u64 = 4;
/// More servers are each sampled less often, so that all together cost no more.
const AT_FULL_RATE: u32 = 4;
/// More kinds of events than this in one second are counted without their names.
const MOST_EVENTS: usize = 64;

/// Samples of a server's sessions since the second's start.
#[derive(Debug)]
pub(super) struct SessionSampler {
    start: Nanos,
    samples: u32,
    sessions: BTreeMap<(WaitState, String), u32>,
}

impl SessionSampler {
    pub fn new(now: Nanos) -> Self {
        Self {
            start: now,
            samples: 0,
            sessions: BTreeMap::new(),
        }
    }

    /// The whole second of the run's timeline at which this one ends.
    pub fn end(&self) -> Nanos {
        Nanos::from_secs(self.start.0 / Nanos::SECOND.0 + 1)
    }

    /// When to sample next, after an answer that took `cost`, from a server that wants to rest at least for `least`, one
    /// of `servers` that are sampled.
    pub fn next(&self, now: Nanos, cost: Nanos, least: Nanos, servers: u32) -> Nanos {
        let width = SLOT.0 * u64::from(servers.div_ceil(AT_FULL_RATE).max(1));
        let rest = cost.0.saturating_mul(REST).max(least.0);
        let earliest = Nanos(now.0.saturating_add(rest));
        let slot = earliest.0 / width;
        let moments = [slot, slot + 1, slot + 2].map(|slot| moment(slot, width));
        moments
            .into_iter()
            .find(|due| *due > earliest)
            .unwrap_or(moments[2])
    }

    pub fn add(&mut self, counts: Vec<SessionCount>) {
        self.samples = self.samples.saturating_add(1);
        for SessionCount {
            state,
            event,
            sessions,
        } in counts
        {
            let mut key = (state, event);
            if self.sessions.len() >= MOST_EVENTS && !self.sessions.contains_key(&key) {
                key.1.clear();
            }
            let sum = self.sessions.entry(key).or_default();
            *sum = sum.saturating_add(sessions);
        }
    }

    /// The rows of the second, which ended at the last whole second before `now`; the next one begins there. Samples
    /// without sessions leave a row of zero idle sessions; without samples there are no rows.
    pub fn take(&mut self, subject: SubjectId, now: Nanos) -> Vec<WaitRow> {
        let end = Nanos::from_secs(now.0 / Nanos::SECOND.0).max(self.end());
        let Self {
            start,
            samples,
            mut sessions,
        } = std::mem::replace(self, Self::new(end));
        if samples > 0 && sessions.is_empty() {
            sessions.insert((WaitState::Idle, String::new()), 0);
        }
        sessions
            .into_iter()
            .map(|((state, event), sessions)| WaitRow {
                subject,
                start,
                end,
                state,
                event,
                sessions,
                samples,
            })
            .collect()
    }
}

/// The moment in a slot: another place in each, so that what happens at regular times (a log that is flushed every
/// 200 ms) is neither always met nor always missed. Weyl's sequence of the golden ratio spreads them evenly.
fn moment(slot: u64, width: u64) -> Nanos {
    let place = (slot as f64 * 0.618_033_988_749_895).fract();
    Nanos(
        slot.saturating_mul(width)
            .saturating_add((place * width as f64) as u64),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(state: WaitState, event: &str, sessions: u32) -> SessionCount {
        SessionCount {
            state,
            event: event.into(),
            sessions,
        }
    }

    #[test]
    fn each_tenth_has_one_sample_at_another_moment() {
        let sampler = SessionSampler::new(Nanos::from_secs(7));
        let mut now = Nanos::from_secs(7);
        let mut places = Vec::new();
        for slot in 70..80 {
            now = sampler.next(now, Nanos::from_millis(1), Nanos::ZERO, 4);
            assert_eq!(now.0 / SLOT.0, slot, "{now}");
            places.push(now.0 % SLOT.0 / 1_000_000);
        }
        places.sort_unstable();
        assert!(
            places.windows(2).all(|pair| pair[1] - pair[0] > 3),
            "{places:?}"
        );
    }

    #[test]
    fn a_slow_server_is_sampled_less_often() {
        let sampler = SessionSampler::new(Nanos::from_secs(7));
        let now = Nanos::from_millis(7450);
        assert!(
            sampler.next(now, Nanos::from_millis(200), Nanos::ZERO, 1)
                >= now + Nanos::from_millis(800)
        );
        assert!(
            sampler.next(now, Nanos(u64::MAX), Nanos::ZERO, 1) > sampler.end(),
            "no overflow"
        );
    }

    #[test]
    fn each_of_many_servers_is_sampled_less_often() {
        let sampler = SessionSampler::new(Nanos::from_secs(7));
        let mut now = Nanos::from_secs(7);
        for slot in 24..30 {
            now = sampler.next(now, Nanos::from_millis(1), Nanos::ZERO, 12);
            assert_eq!(now.0 / (3 * SLOT.0), slot, "one in three tenths: {now}");
        }
    }

    #[test]
    fn a_server_that_shows_the_same_again_is_given_its_rest() {
        let sampler = SessionSampler::new(Nanos::from_secs(7));
        let cost = Nanos::from_millis(1);
        let least = Nanos::from_millis(101);
        let mut now = Nanos::from_secs(7);
        let mut samples = 0;
        while now < Nanos::from_secs(17) {
            let due = sampler.next(now, cost, least, 1);
            assert!(
                due > now + least && due <= now + least + SLOT + SLOT,
                "{now} {due}"
            );
            (now, samples) = (due + cost, samples + 1);
        }
        assert!((60..=80).contains(&samples), "{samples} in ten seconds");
    }

    #[test]
    fn a_second_sums_its_samples() {
        let mut sampler = SessionSampler::new(Nanos::from_millis(7_300));
        sampler.add(vec![
            count(WaitState::Log, "WALSync", 3),
            count(WaitState::Cpu, "", 1),
        ]);
        sampler.add(vec![count(WaitState::Log, "WALSync", 2)]);
        let rows = sampler.take(SubjectId(4), Nanos::from_millis(8_003));
        let counts: Vec<_> = rows
            .iter()
            .map(|row| (row.state, row.event.as_str(), row.sessions, row.samples))
            .collect();
        assert_eq!(
            counts,
            [
                (WaitState::Cpu, "", 1, 2),
                (WaitState::Log, "WALSync", 5, 2)
            ]
        );
        assert!(rows.iter().all(|row| (row.start, row.end) == (Nanos::from_millis(7_300), Nanos::from_secs(8))));
        assert_eq!(
            sampler.take(SubjectId(4), Nanos::from_secs(9)),
            [],
            "no samples"
        );
        sampler.add(Vec::new());
        let rows = sampler.take(SubjectId(4), Nanos::from_millis(12_700));
        assert_eq!((rows[0].sessions, rows[0].samples, rows.len()), (0, 1, 1));
        assert_eq!(
            (rows[0].start, rows[0].end),
            (Nanos::from_secs(9), Nanos::from_secs(12)),
            "an answer took long"
        );
    }

    #[test]
    fn kinds_of_events_are_bounded() {
        let mut sampler = SessionSampler::new(Nanos::ZERO);
        sampler.add(
            (0..500)
                .map(|i| count(WaitState::Latch, &format!("lock{i}"), 1))
                .collect(),
        );
        let rows = sampler.take(SubjectId(1), Nanos::SECOND);
        assert_eq!(rows.len(), MOST_EVENTS + 1);
        assert_eq!(rows.iter().map(|row| row.sessions).sum::<u32>(), 500);
    }
}
