//! Ticks: the rows of one second of one system, and their sums.
//!
//! A run of hours has a quarter of a million of them, so that nothing is made of a tick before it is asked for.

use std::collections::BTreeMap;

use super::stats::{self, Batch};
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::Counts;
use plimsoll_record::{PackedTick, Phase, PhaseId, Point, Record, SecondRef, Seconds};

/// The rows of one tick in the pieces in which they lie in the record; there is at least one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TickRows<'a> {
    seconds: &'a Seconds,
    pieces: &'a [&'a [PackedTick]],
}

impl<'a> TickRows<'a> {
    pub fn rows(self) -> impl Iterator<Item = SecondRef<'a>> {
        let ticks = self.pieces.iter().copied().flatten();
        ticks.flat_map(move |tick| self.seconds.rows_of(tick))
    }

    pub fn start(self) -> Nanos {
        self.pieces[0][0].start
    }

    pub fn end(self) -> Nanos {
        self.last().end
    }

    /// A tick of no length begins with the one after it, and is a part of that.
    fn last(self) -> &'a PackedTick {
        &self.pieces[self.pieces.len() - 1][0]
    }

    pub fn lasts(self) -> Nanos {
        self.end().saturating_sub(self.start())
    }

    pub fn seconds(self) -> f64 {
        self.lasts().as_secs_f64()
    }

    /// Over all types.
    pub fn in_flight(self) -> u64 {
        self.last().in_flight
    }

    pub fn total(self) -> Counts {
        self.rows().fold(Counts::default(), |mut sum, row| {
            sum.add(&row.counts);
            sum
        })
    }
}

pub(crate) fn sum<'a>(counts: impl IntoIterator<Item = &'a Counts>) -> Counts {
    counts
        .into_iter()
        .fold(Counts::default(), |mut sum, counts| {
            sum.add(counts);
            sum
        })
}

/// A record's rows by phase, in time order, in pieces that lie together.
pub(crate) struct Ticks<'a> {
    seconds: &'a Seconds,
    pieces: BTreeMap<PhaseId, Vec<&'a [PackedTick]>>,
}

fn time(piece: &[PackedTick]) -> (Nanos, Nanos) {
    (piece[0].start, piece[0].end)
}

impl<'a> Ticks<'a> {
    pub fn of(record: &'a Record) -> Self {
        let mut pieces: BTreeMap<PhaseId, Vec<&[PackedTick]>> = BTreeMap::new();
        // Rows of a tick mostly lie together, but need not.
        for piece in record
            .seconds
            .ticks()
            .chunk_by(|a, b| (a.phase, a.start, a.end) == (b.phase, b.start, b.end))
        {
            pieces.entry(piece[0].phase).or_default().push(piece);
        }
        pieces
            .values_mut()
            .for_each(|own| own.sort_by_key(|piece| time(piece)));
        Self {
            seconds: &record.seconds,
            pieces,
        }
    }

    pub fn of_phase(&self, phase: &Phase) -> impl Iterator<Item = TickRows<'_>> {
        let own = self.pieces.get(&phase.id).map_or(&[][..], Vec::as_slice);
        own.chunk_by(|a, b| a[0].start == b[0].start)
            .map(|pieces| TickRows {
                seconds: self.seconds,
                pieces,
            })
    }
}

/// Counts of each type in consecutive ticks of the measure phase, of one system or of several added up.
pub(super) struct TickSums {
    types: usize,
    seconds: Vec<f64>,
    /// By tick, then by type.
    counts: Vec<Counts>,
}

impl TickSums {
    pub fn new(types: usize) -> Self {
        Self {
            types,
            seconds: Vec::new(),
            counts: Vec::new(),
        }
    }

    pub fn push(&mut self, tick: TickRows<'_>) {
        self.seconds.push(tick.seconds());
        let first = self.counts.len();
        self.counts.resize(first + self.types, Counts::default());
        for row in tick.rows() {
            if let Some(counts) = self
                .counts
                .get_mut(first..)
                .and_then(|own| own.get_mut(row.txn as usize))
            {
                counts.add(&row.counts);
            }
        }
    }

    /// Another system's ticks of the same time. They begin together, so that they are added by their number.
    pub fn add(&mut self, other: &Self) {
        let more = other.seconds.get(self.seconds.len()..).unwrap_or_default();
        self.seconds.extend(more);
        self.counts
            .resize(self.seconds.len() * self.types, Counts::default());
        let own = self.counts.chunks_mut(self.types.max(1));
        for (own, other) in own.zip(other.counts.chunks(other.types.max(1))) {
            own.iter_mut()
                .zip(other)
                .for_each(|(sum, counts)| sum.add(counts));
        }
    }

    pub fn len(&self) -> usize {
        self.seconds.len()
    }

    pub fn lasts_s(&self) -> f64 {
        self.seconds.iter().sum()
    }

    pub fn total(&self, txn: usize) -> Counts {
        sum(self.counts.iter().skip(txn).step_by(self.types.max(1)))
    }

    /// What `n` makes of each tick's types.
    pub fn batches(&self, n: impl Fn(&[Counts]) -> u64) -> Vec<Batch> {
        stats::joined(
            self.seconds
                .iter()
                .enumerate()
                .map(|(place, seconds)| Batch {
                    n: n(&self.counts[place * self.types..][..self.types]),
                    seconds: *seconds,
                }),
        )
    }
}

/// What completed of the types that `point` counts.
pub(super) fn completed(point: &Point, types: &[Counts]) -> u64 {
    types
        .iter()
        .enumerate()
        .filter(|(i, _)| point.is_counted(*i))
        .map(|(_, counts)| counts.completed())
        .sum()
}

/// The phases in which is measured.
pub(super) fn measured<'p>(phases: &'p [&'p Phase]) -> impl Iterator<Item = &'p Phase> {
    phases
        .iter()
        .copied()
        .filter(|phase| phase.kind == PhaseKind::Measure)
}

/// The measure phase, of which there is one.
pub(super) fn window<'a>(phases: &[&'a Phase]) -> Option<&'a Phase> {
    phases
        .iter()
        .copied()
        .find(|phase| phase.kind == PhaseKind::Measure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_record::fixture;

    #[test]
    fn a_tick_of_no_length_is_part_of_the_one_it_begins_with() {
        let mut record = fixture::single_point();
        let phase = record
            .phases
            .iter()
            .find(|phase| phase.kind == PhaseKind::Measure)
            .unwrap()
            .clone();
        let types = record.points[0].txns.len();
        let of = |record: &Record| {
            let ticks = Ticks::of(record);
            let mut sums = TickSums::new(types);
            ticks.of_phase(&phase).for_each(|tick| sums.push(tick));
            (sums.len(), sums.lasts_s(), sums.total(0).committed)
        };
        let before = of(&record);
        let first = record
            .seconds
            .iter()
            .find(|second| second.phase == phase.id && second.txn == 0)
            .unwrap()
            .to_second();
        let committed = first.counts.committed;
        // Wherever it stands, and whatever lies between the rows of a tick.
        record.seconds.push(plimsoll_record::Second {
            end: first.start,
            ..first
        });
        assert!(committed > 0);
        assert_eq!(of(&record), (before.0, before.1, before.2 + committed));
    }
}
