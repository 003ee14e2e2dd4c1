//! The totals of pgbench's own output, over time and scripts as the transactions of its logs are.

use std::collections::BTreeMap;

use super::ScriptCounts;
use crate::load::LoadTick;
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::Counts;

/// A shorter end is part of the second before.
const SHORTEST_REST: Nanos = Nanos::from_millis(1);

/// Parts of the time, by number: whole seconds, or those of the output.
pub(super) enum Grid {
    Seconds { lasts: Nanos },
    Ticks { bounds: Vec<(Nanos, Nanos)> },
}

impl Grid {
    pub fn of_seconds(lasts: Nanos) -> Self {
        Self::Seconds {
            lasts: lasts.max(SHORTEST_REST),
        }
    }

    pub fn of_ticks(ticks: &[LoadTick]) -> Self {
        Self::Ticks {
            bounds: ticks.iter().map(|tick| (tick.start, tick.end)).collect(),
        }
    }

    pub fn is_of_ticks(&self) -> bool {
        matches!(self, Self::Ticks { .. })
    }

    /// Those that there are in any case.
    pub fn rows(&self) -> impl Iterator<Item = u64> {
        match self {
            Self::Seconds { .. } => self.last()..=self.last(),
            Self::Ticks { .. } => 0..=self.last(),
        }
    }

    fn last(&self) -> u64 {
        match self {
            Self::Seconds { lasts } => lasts.saturating_sub(SHORTEST_REST).0 / Nanos::SECOND.0,
            Self::Ticks { bounds } => bounds.len().saturating_sub(1) as u64,
        }
    }

    /// The one that a time since the start falls into; what comes later is in the last.
    pub fn row(&self, at: Nanos) -> u64 {
        let row = match self {
            Self::Seconds { .. } => at.0 / Nanos::SECOND.0,
            Self::Ticks { bounds } => bounds.partition_point(|(_, end)| *end <= at) as u64,
        };
        row.min(self.last())
    }

    pub fn bounds(&self, row: u64) -> (Nanos, Nanos) {
        match self {
            Self::Ticks { bounds } => bounds.get(row as usize).copied().unwrap_or_default(),
            Self::Seconds { lasts } => {
                let start = Nanos(row * Nanos::SECOND.0);
                let end = if row == self.last() {
                    *lasts
                } else {
                    start + Nanos::SECOND
                };
                (start, end)
            }
        }
    }
}

const KINDS: [fn(&mut Counts) -> &mut u64; 4] = [
    |own| &mut own.committed,
    |own| &mut own.failed,
    |own| &mut own.dropped,
    |own| &mut own.retries,
];

/// Puts the output's counts in place of the logs': of whole seconds those of the whole run, spread as the logged
/// transactions are; of the output's own ticks each tick's, spread over the scripts.
pub(super) fn take_totals(
    rows: &mut BTreeMap<u64, Vec<ScriptCounts>>,
    whole: &[Counts],
    ticks: &[LoadTick],
    grid: &Grid,
) {
    let mut reported: Vec<Counts> = ticks.iter().map(|tick| total(&tick.counts)).collect();
    for kind in KINDS {
        let by_script: Vec<u64> = whole
            .iter()
            .map(|counts| *kind(&mut counts.clone()))
            .collect();
        if grid.is_of_ticks() {
            for (tallies, own) in rows.values_mut().zip(&mut reported) {
                set(tallies.iter_mut(), kind, &spread(*kind(own), &by_script));
            }
        } else {
            let all = reported
                .iter_mut()
                .map(|own| *kind(own))
                .fold(0, u64::saturating_add);
            let weights: Vec<u64> = rows
                .values_mut()
                .flatten()
                .map(|tally| *kind(&mut tally.counts))
                .collect();
            set(rows.values_mut().flatten(), kind, &spread(all, &weights));
        }
    }
}

fn total(counts: &[Counts]) -> Counts {
    counts.iter().fold(Counts::default(), |mut sum, own| {
        sum.add(own);
        sum
    })
}

fn set<'a>(
    tallies: impl Iterator<Item = &'a mut ScriptCounts>,
    kind: fn(&mut Counts) -> &mut u64,
    values: &[u64],
) {
    for (tally, value) in tallies.zip(values) {
        *kind(&mut tally.counts) = *value;
    }
}

/// Whole numbers in the ratio of the weights that add up to the total; without any weight it is the last one's.
fn spread(total: u64, weights: &[u64]) -> Vec<u64> {
    let sum: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
    let (mut so_far, mut given) = (0_u128, 0_u64);
    let last = weights.len().saturating_sub(1);
    let share = |(i, weight): (usize, &u64)| {
        so_far += u128::from(*weight);
        let until = if i == last {
            total
        } else {
            (u128::from(total) * so_far)
                .checked_div(sum)
                .unwrap_or_default() as u64
        };
        let own = until - given;
        given = until;
        own
    };
    weights.iter().enumerate().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_complete_logs_keep_their_counts() {
        assert_eq!(spread(6, &[1, 2, 3]), [1, 2, 3]);
        assert_eq!(spread(10, &[1, 1, 1]), [3, 3, 4]);
        assert_eq!(spread(5, &[0, 0]), [0, 5]);
        assert_eq!(
            spread(u64::MAX, &[u64::MAX, u64::MAX])
                .iter()
                .map(|n| u128::from(*n))
                .sum::<u128>(),
            u64::MAX.into()
        );
    }

    #[test]
    fn a_rest_of_less_than_a_millisecond_is_part_of_the_last_second() {
        let grid = Grid::of_seconds(Nanos(5_000_300_000));
        assert_eq!(
            (grid.row(Nanos(5_000_200_000)), grid.bounds(4)),
            (4, (Nanos::from_secs(4), Nanos(5_000_300_000)))
        );
        let grid = Grid::of_seconds(Nanos(5_200_000_000));
        assert_eq!(
            (grid.row(Nanos::from_secs(9)), grid.bounds(5).1),
            (5, Nanos(5_200_000_000))
        );
    }
}
