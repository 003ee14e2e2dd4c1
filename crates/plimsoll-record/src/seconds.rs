//! All seconds of a run, packed: a run of hours has a million rows of a few small numbers each.
//!
//! A row is LEB128 numbers: the type; how many counts follow, of which the zeros at the end are left out; the counts;
//! response and service times as [`CoarseHist::encode`] packs them, each with its length before it, 0 where there are none.

use std::ops::Range;

use crate::hist::CoarseHist;
use crate::lane::Counts;
use crate::{PhaseId, Second, SubjectId, leb128};
use plimsoll_plan::units::Nanos;

/// Seconds under load, in the order in which they were added.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Seconds {
    ticks: Vec<PackedTick>,
    rows: Vec<u8>,
}

/// What rows of a tick that lie together have in common; see [`Second`].
#[derive(Debug, Clone, PartialEq)]
pub struct PackedTick {
    pub phase: PhaseId,
    pub subject: SubjectId,
    pub start: Nanos,
    pub end: Nanos,
    pub in_flight: u64,
    /// Where its rows are, packed.
    pub(crate) rows: Range<usize>,
}

/// A [`Second`] as it is read from its packed row.
#[derive(Debug, Clone, Copy)]
pub struct SecondRef<'a> {
    pub phase: PhaseId,
    pub subject: SubjectId,
    pub txn: u32,
    pub start: Nanos,
    pub end: Nanos,
    pub counts: Counts,
    pub in_flight: u64,
    pub times: PackedTimes<'a>,
}

/// Histograms of a second, unpacked when they are asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PackedTimes<'a> {
    response: &'a [u8],
    service: &'a [u8],
}

/// As [`CoarseHist::encode`] packs a histogram without values.
const NO_VALUES: [u8; 2] = [0, 0];

impl<'a> PackedTimes<'a> {
    /// Of histograms that were checked; `service` is empty where it equals the response.
    pub(crate) fn new(response: &'a [u8], service: &'a [u8]) -> Self {
        let response = match response == NO_VALUES {
            true => &[],
            false => response,
        };
        Self { response, service }
    }

    pub fn is_empty(&self) -> bool {
        self.response.is_empty()
    }

    pub fn response(&self) -> CoarseHist {
        unpack(self.response)
    }

    /// `None` when service equals response.
    pub fn service(&self) -> Option<CoarseHist> {
        (!self.service.is_empty()).then(|| unpack(self.service))
    }

    /// Appends both to `out`, each with its length before it.
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        for hist in [self.response, self.service] {
            leb128::put(hist.len() as u64, out);
            out.extend_from_slice(hist);
        }
    }

    /// What [`Self::put`] wrote.
    pub(crate) fn take(bytes: &mut &'a [u8]) -> Option<Self> {
        let response = take_hist(bytes)?;
        let service = take_hist(bytes)?;
        Some(Self { response, service })
    }
}

fn unpack(hist: &[u8]) -> CoarseHist {
    // It was checked, or packed here.
    CoarseHist::unpack(hist).unwrap_or_default()
}

fn take_hist<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(leb128::take(bytes)?).ok()?;
    let (hist, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(hist)
}

impl SecondRef<'_> {
    pub fn response(&self) -> CoarseHist {
        self.times.response()
    }

    /// `None` when service equals response.
    pub fn service(&self) -> Option<CoarseHist> {
        self.times.service()
    }

    pub fn to_second(&self) -> Second {
        Second {
            phase: self.phase,
            subject: self.subject,
            txn: self.txn,
            start: self.start,
            end: self.end,
            counts: self.counts,
            in_flight: self.in_flight,
            response: self.response(),
            service: self.service(),
        }
    }
}

impl PackedTick {
    /// The tick of a second, without rows.
    fn of(second: &Second) -> Self {
        Self {
            phase: second.phase,
            subject: second.subject,
            start: second.start,
            end: second.end,
            in_flight: second.in_flight,
            rows: 0..0,
        }
    }

    fn is_of(&self, second: &Second) -> bool {
        (self.phase, self.subject, self.start, self.end)
            == (second.phase, second.subject, second.start, second.end)
            && self.in_flight == second.in_flight
    }
}

impl Seconds {
    /// Rows of each tick in their order.
    pub fn iter(&self) -> impl Iterator<Item = SecondRef<'_>> {
        self.ticks.iter().flat_map(|tick| self.rows_of(tick))
    }

    pub fn is_empty(&self) -> bool {
        self.ticks.is_empty()
    }

    /// Counts the rows.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Each has at least one row.
    pub fn ticks(&self) -> &[PackedTick] {
        &self.ticks
    }

    pub(crate) fn ticks_mut(&mut self) -> &mut [PackedTick] {
        &mut self.ticks
    }

    /// Rows of one of these [`Self::ticks`].
    pub fn rows_of<'a>(&'a self, tick: &'a PackedTick) -> impl Iterator<Item = SecondRef<'a>> {
        let mut bytes = self.bytes_of(tick);
        std::iter::from_fn(move || take_row(tick, &mut bytes))
    }

    fn bytes_of(&self, tick: &PackedTick) -> &[u8] {
        self.rows.get(tick.rows.clone()).unwrap_or_default()
    }

    /// Begins a tick; rows are to follow.
    pub(crate) fn begin(&mut self, tick: &PackedTick) {
        let end = self.rows.len();
        self.ticks.push(PackedTick {
            rows: end..end,
            ..tick.clone()
        });
    }

    /// Adds a row to the tick that was begun last.
    pub(crate) fn push_row(&mut self, txn: u32, counts: Counts, times: PackedTimes<'_>) {
        let Some(tick) = self.ticks.last_mut() else {
            return;
        };
        let counts = counts.to_array();
        let used = counts
            .iter()
            .rposition(|n| *n > 0)
            .map_or(0, |last| last + 1);
        leb128::put(u64::from(txn), &mut self.rows);
        self.rows.push(used as u8);
        for n in &counts[..used] {
            leb128::put(*n, &mut self.rows);
        }
        times.put(&mut self.rows);
        tick.rows.end = self.rows.len();
    }

    /// Adds a second, to the last tick where that is its own.
    pub fn push(&mut self, second: Second) {
        if !self.ticks.last().is_some_and(|last| last.is_of(&second)) {
            self.begin(&PackedTick::of(&second));
        }
        let response = second.response.encode();
        let service = second.service.as_ref().map(CoarseHist::encode);
        let times = PackedTimes::new(&response, service.as_deref().unwrap_or_default());
        self.push_row(second.txn, second.counts, times);
    }

    /// Adds what others are, after its own.
    pub fn append(&mut self, other: Self) {
        let shift = self.rows.len();
        self.rows.extend(other.rows);
        self.ticks
            .extend(other.ticks.into_iter().map(|tick| PackedTick {
                rows: tick.rows.start + shift..tick.rows.end + shift,
                ..tick
            }));
    }

    /// Removes the other ticks.
    pub fn retain_ticks(&mut self, is_kept: impl Fn(&PackedTick) -> bool) {
        let mut kept = Self::default();
        for tick in self.ticks.iter().filter(|tick| is_kept(tick)) {
            kept.begin(tick);
            kept.rows.extend_from_slice(self.bytes_of(tick));
            if let Some(last) = kept.ticks.last_mut() {
                last.rows.end = kept.rows.len();
            }
        }
        *self = kept;
    }

    pub fn unpack(&self) -> Vec<Second> {
        self.iter().map(|second| second.to_second()).collect()
    }

    /// Changes all rows, unpacked.
    pub fn edit<R>(&mut self, change: impl FnOnce(&mut Vec<Second>) -> R) -> R {
        let mut seconds = self.unpack();
        let result = change(&mut seconds);
        *self = seconds.into_iter().collect();
        result
    }
}

impl Extend<Second> for Seconds {
    fn extend<I: IntoIterator<Item = Second>>(&mut self, seconds: I) {
        seconds.into_iter().for_each(|second| self.push(second));
    }
}

impl FromIterator<Second> for Seconds {
    fn from_iter<I: IntoIterator<Item = Second>>(seconds: I) -> Self {
        let mut all = Self::default();
        all.extend(seconds);
        all
    }
}

fn take_row<'a>(tick: &PackedTick, bytes: &mut &'a [u8]) -> Option<SecondRef<'a>> {
    let txn = leb128::take(bytes)? as u32;
    let (used, rest) = bytes.split_first()?;
    *bytes = rest;
    let mut counts = [0; 8];
    for n in counts.get_mut(..usize::from(*used))? {
        *n = leb128::take(bytes)?;
    }
    Some(SecondRef {
        phase: tick.phase,
        subject: tick.subject,
        txn,
        start: tick.start,
        end: tick.end,
        counts: Counts::from_array(counts),
        in_flight: tick.in_flight,
        times: PackedTimes::take(bytes)?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hist() -> impl Strategy<Value = CoarseHist> {
        prop::collection::vec(any::<u64>(), 0..4).prop_map(|values| {
            CoarseHist::of(
                values
                    .into_iter()
                    .map(|value| Nanos(value >> 2 >> (value % 58))),
            )
        })
    }

    prop_compose! {
        fn second()(
            ids in prop::array::uniform3(0u32..2),
            times in prop::array::uniform3(0u64..2),
            counts in prop::array::uniform8(any::<u64>()),
            shifts in prop::array::uniform8(0u32..65),
            response in hist(),
            service in prop::option::of(hist()),
        ) -> Second {
            let counts = std::array::from_fn(|i| counts[i].checked_shr(shifts[i]).unwrap_or_default());
            Second {
                phase: PhaseId(ids[0]),
                subject: SubjectId(ids[1]),
                txn: ids[2],
                start: Nanos(times[0]),
                end: Nanos(times[1]),
                counts: Counts::from_array(counts),
                in_flight: times[2],
                response,
                service,
            }
        }
    }

    proptest! {
        #[test]
        fn what_was_packed_is_unpacked(all in prop::collection::vec(second(), 0..12), split in 0usize..12) {
            let packed: Seconds = all.iter().cloned().collect();
            prop_assert_eq!(&packed.unpack(), &all);
            let mut parts = all.clone();
            let rest = parts.split_off(split.min(all.len()));
            let mut appended: Seconds = parts.into_iter().collect();
            appended.append(rest.into_iter().collect());
            prop_assert_eq!(&appended.unpack(), &all);
            let mut kept = packed.clone();
            kept.retain_ticks(|tick| tick.phase == PhaseId(1));
            let rest: Vec<Second> = all.into_iter().filter(|second| second.phase == PhaseId(1)).collect();
            prop_assert_eq!(kept.unpack(), rest);
        }
    }

    #[test]
    fn counts_that_no_file_may_hold_are_kept() {
        let mut response = CoarseHist::of([Nanos(1_000)]);
        (0..70).for_each(|_| response.merge(&response.clone()));
        assert_eq!(response.count(), u64::MAX);
        assert_eq!(unpack(&response.encode()).count(), u64::MAX);
        assert!(CoarseHist::check(&response.encode()).is_err());
    }

    #[test]
    fn a_row_takes_few_bytes() {
        let second = |n: u64, txn: u32| Second {
            phase: PhaseId(3),
            subject: SubjectId(7),
            txn,
            start: Nanos(n * 1_000_000_000),
            end: Nanos((n + 1) * 1_000_000_000),
            counts: Counts {
                offered: 100 + n % 7,
                committed: 100 + n % 7,
                round_trips: 200,
                ..Counts::default()
            },
            in_flight: 4,
            response: CoarseHist::of([Nanos(2_000_000 + n * 100); 90]),
            service: None,
        };
        let all: Seconds = (0..1_000)
            .flat_map(|n| (0..5).map(move |txn| second(n, txn)))
            .collect();
        let bytes = all.ticks.len() * size_of::<PackedTick>() + all.rows.len();
        assert!(bytes < 5_000 * 35, "{bytes}");
    }
}
