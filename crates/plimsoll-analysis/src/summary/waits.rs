//! What a server's sessions did over a measure window.
//!
//! Sessions are sampled some ten times a second. Of the sampled sessions, summed over all samples, the share in a state
//! estimates the share of session time spent in it. Sessions of one sample are not independent of each other, nor are
//! samples of one second: the standard error takes seconds as clusters (Cochran, Sampling Techniques, 3rd ed., 1977,
//! §2.11 and §9A.2, the ratio of two means of m clusters): √(m/(m−1)·Σ(xᵢ − p·nᵢ)²) / Σnᵢ with xᵢ of nᵢ sessions of second i.

use std::collections::BTreeMap;

use serde::Serialize;

use super::index::{Index, middle};
use plimsoll_plan::units::Nanos;
use plimsoll_record::{Phase, Point, WaitRow, WaitState};

/// Below so many samples a state of a few percent may have been missed altogether.
pub const FEW_SAMPLES: u64 = 100;
/// Events listed by name, for each state.
const TOP_EVENTS: usize = 3;

/// Shares of session time. Those of all states add up to 100 %.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WaitSummary {
    /// Number of samples.
    pub samples: u64,
    /// Mean number of sessions.
    pub sessions: f64,
    /// Only those that were sampled, in the order of [`WaitState::ALL`].
    pub states: Vec<StateShare>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StateShare {
    pub state: WaitState,
    /// Mean number of sessions in it.
    pub sessions: f64,
    pub percent: f64,
    /// One standard error of `percent`; `None` with less than two seconds.
    pub standard_error_percent: Option<f64>,
    /// Of the time in which sessions neither are idle nor wait for their clients; `None` for those two.
    pub busy_percent: Option<f64>,
    /// By share, largest first; at most three.
    pub events: Vec<EventShare>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EventShare {
    /// The server's name; empty where it names nothing.
    pub event: String,
    /// Of all session time.
    pub percent: f64,
}

impl WaitSummary {
    pub fn is_rough(&self) -> bool {
        self.samples < FEW_SAMPLES
    }

    pub fn of(&self, state: WaitState) -> Option<&StateShare> {
        self.states.iter().find(|share| share.state == state)
    }

    /// Share of a state in the time in which sessions neither are idle nor wait for their clients; `None` if none did
    /// anything else.
    pub fn busy_percent(&self, state: WaitState) -> Option<f64> {
        let any = self.states.iter().any(|share| share.busy_percent.is_some());
        any.then(|| {
            self.of(state)
                .and_then(|share| share.busy_percent)
                .unwrap_or(0.0)
        })
    }

    /// CPU in percent of what sessions do themselves, which is no waiting for locks: there they wait for the work of another.
    pub fn cpu_of_work_percent(&self) -> Option<f64> {
        let percent = |state| self.of(state).map_or(0.0, |own| own.percent);
        let work = [WaitState::DataRead, WaitState::DataWrite, WaitState::Log];
        let cpu = percent(WaitState::Cpu);
        let all = cpu + work.map(percent).iter().sum::<f64>();
        (all > 0.0).then(|| cpu * 100.0 / all)
    }

    /// Where most of the time went.
    pub fn most(&self) -> Option<&StateShare> {
        self.states
            .iter()
            .max_by(|a, b| a.percent.total_cmp(&b.percent))
    }
}

/// `None` without samples.
pub(super) fn summarise(index: &Index, point: &Point, window: &Phase) -> Option<WaitSummary> {
    let mut seconds: BTreeMap<Nanos, Vec<&WaitRow>> = BTreeMap::new();
    let all = index
        .waits
        .get(&point.system)
        .map_or(&[][..], Vec::as_slice);
    let from = all.partition_point(|row| middle(row) < window.start);
    let own = all[from..]
        .iter()
        .take_while(|row| middle(row) < window.end);
    own.for_each(|row| seconds.entry(row.start).or_default().push(row));
    let seconds: Vec<Vec<&WaitRow>> = seconds.into_values().collect();
    let samples: u64 = seconds.iter().map(|rows| u64::from(rows[0].samples)).sum();
    let sessions: u64 = seconds
        .iter()
        .flatten()
        .map(|row| u64::from(row.sessions))
        .sum();
    if samples == 0 || sessions == 0 {
        return None;
    }
    let all = SampledSessions {
        seconds: &seconds,
        samples: samples as f64,
        sessions: sessions as f64,
    };
    let states = WaitState::ALL
        .iter()
        .copied()
        .filter_map(|state| all.share(state))
        .collect();
    Some(WaitSummary {
        samples,
        sessions: all.sessions / all.samples,
        states,
    })
}

struct SampledSessions<'a> {
    seconds: &'a [Vec<&'a WaitRow>],
    samples: f64,
    sessions: f64,
}

fn is_busy(state: WaitState) -> bool {
    !matches!(state, WaitState::Idle | WaitState::Client)
}

fn sum<'a>(rows: impl Iterator<Item = &'a WaitRow>) -> f64 {
    rows.map(|row| f64::from(row.sessions)).sum()
}

impl SampledSessions<'_> {
    fn rows(&self) -> impl Iterator<Item = &WaitRow> {
        self.seconds.iter().flatten().copied()
    }

    fn share(&self, state: WaitState) -> Option<StateShare> {
        let own = sum(self.rows().filter(|row| row.state == state));
        if own == 0.0 {
            return None;
        }
        let busy = sum(self.rows().filter(|row| is_busy(row.state)));
        Some(StateShare {
            state,
            sessions: own / self.samples,
            percent: own / self.sessions * 100.0,
            standard_error_percent: self
                .standard_error(state, own / self.sessions)
                .map(|error| error * 100.0),
            busy_percent: is_busy(state).then_some(own / busy * 100.0),
            events: self.events(state),
        })
    }

    fn standard_error(&self, state: WaitState, share: f64) -> Option<f64> {
        let m = self.seconds.len() as f64;
        let residuals = self.seconds.iter().map(|rows| {
            let of_state = sum(rows.iter().copied().filter(|row| row.state == state));
            of_state - share * sum(rows.iter().copied())
        });
        let squares: f64 = residuals.map(|residual| residual.powi(2)).sum();
        (m >= 2.0).then(|| (m / (m - 1.0) * squares).sqrt() / self.sessions)
    }

    fn events(&self, state: WaitState) -> Vec<EventShare> {
        let mut events: BTreeMap<&str, f64> = BTreeMap::new();
        for row in self
            .rows()
            .filter(|row| row.state == state && row.sessions > 0)
        {
            *events.entry(&row.event).or_default() += f64::from(row.sessions);
        }
        let mut events: Vec<EventShare> = events
            .into_iter()
            .map(|(event, count)| EventShare {
                event: event.into(),
                percent: count / self.sessions * 100.0,
            })
            .collect();
        events.sort_by(|a, b| b.percent.total_cmp(&a.percent));
        events.truncate(TOP_EVENTS);
        events
    }
}

#[cfg(test)]
mod tests;
