//! A point during which members of an emulated array failed, were replaced or slow: its figures before and after each event.
//!
//! | figure | formula |
//! | --- | --- |
//! | rate | completed transactions (TPC-C: committed New-Orders) of the phase's seconds / their length |
//! | p99 | of the same transactions, from the seconds' histograms merged |
//! | ratio | rate / rate before the first event |
//! | back to normal | from the first event until the mean rate of ten seconds is 90 % of that before it and never less again |

use std::collections::BTreeSet;

use serde::Serialize;

use super::figure::FigureId;
use super::figure_set::FigureSet;
use super::index::Index;
use super::ratio::RatioSet;
use plimsoll_plan::resolved::TPCC_TXNS;
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::CoarseHist;
use plimsoll_record::message::EventKind;
use plimsoll_record::{Phase, Point, SecondRef};

/// What an array is in: the worst that holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ArrayState {
    /// Before all events.
    Whole,
    DataLost,
    Rebuilding,
    Degraded,
    /// A member is slower than before.
    Slow,
    /// The network has another bandwidth.
    Network,
    Rebuilt,
    /// As before, without a rebuild.
    Recovered,
}

impl ArrayState {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::DataLost => "data_lost",
            Self::Rebuilding => "rebuilding",
            Self::Degraded => "degraded",
            Self::Slow => "slow",
            Self::Network => "network",
            Self::Rebuilt => "rebuilt",
            Self::Recovered => "recovered",
        }
    }

    /// What an array is in before it comes to a state.
    const fn before(state: Self) -> Self {
        match state {
            Self::Rebuilding => Self::Degraded,
            Self::Rebuilt => Self::Rebuilding,
            _ => Self::Whole,
        }
    }
}

/// What events have left.
#[derive(Default)]
struct MemberStates {
    failed: BTreeSet<u32>,
    rebuilding: BTreeSet<u32>,
    slow: BTreeSet<u32>,
    has_lost_data: bool,
    has_other_network: bool,
    was_rebuilt: bool,
}

impl MemberStates {
    /// The array's state after an event; `None` where that is of something else.
    fn after(&mut self, event: &EventKind) -> Option<ArrayState> {
        match *event {
            EventKind::MemberFailed { member, data_lost } => {
                self.failed.insert(member);
                self.rebuilding.remove(&member);
                self.has_lost_data |= data_lost;
            }
            EventKind::MemberReplaced { member } => {
                self.slow.remove(&member);
                self.failed.remove(&member);
                self.rebuilding.insert(member);
            }
            EventKind::MemberReturned { member } | EventKind::MemberRepairBegun { member } => {
                self.failed.remove(&member);
                self.rebuilding.insert(member);
            }
            EventKind::MemberRebuilt { member, .. } => {
                self.rebuilding.remove(&member);
                self.was_rebuilt = true;
            }
            EventKind::MemberSlowed { member, .. } => {
                self.slow.insert(member);
            }
            EventKind::MemberRecovered { member } => {
                self.slow.remove(&member);
            }
            EventKind::NetworkChanged { gbit, usual_gbit } => {
                self.has_other_network = gbit != usual_gbit;
            }
            _ => return None,
        }
        Some(self.worst())
    }

    fn worst(&self) -> ArrayState {
        let states = [
            (self.has_lost_data, ArrayState::DataLost),
            (!self.rebuilding.is_empty(), ArrayState::Rebuilding),
            (!self.failed.is_empty(), ArrayState::Degraded),
            (!self.slow.is_empty(), ArrayState::Slow),
            (self.has_other_network, ArrayState::Network),
            (self.was_rebuilt, ArrayState::Rebuilt),
        ];
        let mut holds = states.into_iter().filter(|(holds, _)| *holds);
        holds
            .next()
            .map_or(ArrayState::Recovered, |(_, state)| state)
    }
}

/// Between two events.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArrayPhase {
    pub state: ArrayState,
    /// After the measurement began.
    pub from_s: f64,
    pub seconds: f64,
    /// A rebuild that did not end with it: the measurement ended, or another event came, before the member was rebuilt.
    pub is_unfinished: bool,
    /// The rate, and p99.
    #[serde(flatten)]
    pub figures: FigureSet,
    pub failed: u64,
    /// To the first phase.
    pub ratios: RatioSet,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArrayPhases {
    /// Whether rates are NOPM; else transactions per second.
    pub nopm: bool,
    pub phases: Vec<ArrayPhase>,
    /// `None`: not before the measurement ended.
    pub normal_after_s: Option<f64>,
}

const NORMAL: f64 = 0.9;
const NORMAL_SECONDS: usize = 10;

impl ArrayPhases {
    pub(super) fn of(index: &Index, point: &Point, phases: &[&Phase]) -> Option<Self> {
        let window = phases.iter().find(|own| own.kind == PhaseKind::Measure)?;
        let in_window = |at: Nanos| (window.start..window.end).contains(&at);
        let events = index.record.events.iter();
        let own = events.filter(|event| event.subject == point.medium && in_window(event.at));
        let mut states = MemberStates::default();
        let turns: Vec<StateChange> = own
            .filter_map(|event| {
                Some(StateChange {
                    at: event.at,
                    state: states.after(&event.kind)?,
                    ends_rebuild: matches!(event.kind, EventKind::MemberRebuilt { .. })
                        && states.rebuilding.is_empty(),
                })
            })
            .collect();
        let first = turns.first()?.at;
        let nopm = point.txns == TPCC_TXNS;
        let seconds = seconds(index, window, nopm);
        let mut all = vec![StateChange {
            at: window.start,
            state: ArrayState::before(turns.first()?.state),
            ends_rebuild: false,
        }];
        all.extend(turns);
        let ends = all.iter().skip(1).map(|own| own.at).chain([window.end]);
        let spans = all.iter().zip(ends);
        let mut phases: Vec<ArrayPhase> = spans
            .map(|(own, end)| phase(own, end, window.start, &seconds, nopm))
            .collect();
        let next = all.iter().skip(1).map(Some).chain([None]);
        for (phase, next) in phases.iter_mut().zip(next) {
            let is_rebuilt = next.is_some_and(|next| next.ends_rebuild);
            phase.is_unfinished = phase.state == ArrayState::Rebuilding && !is_rebuilt;
        }
        let rate = FigureId::transactions(nopm);
        let before = phases.first()?.figures.clone();
        for own in &mut phases {
            own.ratios = own.figures.ratios(&[rate], &before);
        }
        let per_second = before.value(rate).map(|own| own / rate.per_second());
        Some(Self {
            nopm,
            phases,
            normal_after_s: per_second.and_then(|rate| normal_after(&seconds, first, rate)),
        })
    }

    /// What transactions are counted by.
    pub fn rate(&self) -> FigureId {
        FigureId::transactions(self.nopm)
    }

    /// Before a load that had come back to normal would have been so for long enough.
    pub fn ends_early(&self) -> bool {
        let last = self.phases.last();
        last.is_some_and(|own| own.seconds < NORMAL_SECONDS as f64)
    }

    pub fn has_lost_data(&self) -> bool {
        let mut phases = self.phases.iter();
        phases.any(|own| own.state == ArrayState::DataLost)
    }
}

struct StateChange {
    at: Nanos,
    state: ArrayState,
    /// The last member that was being rebuilt is.
    ends_rebuild: bool,
}

/// One second of the transactions that count.
struct CountedSecond {
    start: Nanos,
    end: Nanos,
    completed: u64,
    failed: u64,
    response: CoarseHist,
}

/// Of TPC-C the first type alone, as New-Orders count.
fn seconds(index: &Index, window: &Phase, nopm: bool) -> Vec<CountedSecond> {
    let ticks = index.ticks.of_phase(window);
    ticks
        .map(|tick| {
            let counts = |row: &SecondRef<'_>| !nopm || row.txn == 0;
            let mut response = CoarseHist::default();
            for row in tick.rows().filter(counts) {
                response.merge(&row.response());
            }
            let completed = tick.rows().filter(counts).map(|row| match nopm {
                true => row.counts.committed,
                false => row.counts.completed(),
            });
            CountedSecond {
                start: tick.start(),
                end: tick.end(),
                completed: completed.sum(),
                failed: tick.total().failed,
                response,
            }
        })
        .collect()
}

/// Seconds that lie in it from beginning to end.
fn phase(
    own: &StateChange,
    end: Nanos,
    origin: Nanos,
    seconds: &[CountedSecond],
    nopm: bool,
) -> ArrayPhase {
    let inside = seconds
        .iter()
        .filter(|second| second.start >= own.at && second.end <= end);
    let mut response = CoarseHist::default();
    let (mut completed, mut failed, mut lasted) = (0, 0, Nanos::ZERO);
    for second in inside {
        response.merge(&second.response);
        completed += second.completed;
        failed += second.failed;
        lasted += second.end.saturating_sub(second.start);
    }
    let rate = FigureId::transactions(nopm);
    let per_second = ratio(completed as f64, lasted.as_secs_f64());
    let p99 = response.quantile(0.99);
    ArrayPhase {
        state: own.state,
        from_s: own.at.saturating_sub(origin).as_secs_f64(),
        seconds: end.saturating_sub(own.at).as_secs_f64(),
        is_unfinished: false,
        figures: [
            (rate, per_second.map(|own| own * rate.per_second())),
            (FigureId::P99, p99.map(Nanos::as_millis_f64)),
        ]
        .into_iter()
        .filter_map(|(figure, value)| Some((figure, value?)))
        .collect(),
        failed,
        ratios: RatioSet::default(),
    }
}

fn normal_after(seconds: &[CountedSecond], first: Nanos, per_second: f64) -> Option<f64> {
    let after: Vec<&CountedSecond> = seconds.iter().filter(|own| own.start >= first).collect();
    let is_low = |own: &[&CountedSecond]| {
        let completed: u64 = own.iter().map(|second| second.completed).sum();
        (completed as f64) < NORMAL * per_second * NORMAL_SECONDS as f64
    };
    let mut windows = after.windows(NORMAL_SECONDS);
    // The one after the last that was low.
    let normal = windows.rposition(is_low).map_or(0, |low| low + 1);
    let begins = after.windows(NORMAL_SECONDS).nth(normal)?.first()?;
    Some(begins.start.saturating_sub(first).as_secs_f64())
}

fn ratio(of: f64, to: f64) -> Option<f64> {
    (to > 0.0).then(|| of / to)
}
