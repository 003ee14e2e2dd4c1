//! The totals of pgbench's own output, over time and scripts as the transactions of its logs are.

use std::collections::BTreeMap;

use crate::load::{LoadTick, Span, sum_of};
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::CoarseHist;
use plimsoll_record::lane::Counts;

/// Transactions of one script in a part of the time. Full histograms of each part would take 270 kB each.
#[derive(Debug, Clone, Default)]
pub(super) struct ScriptCounts {
    pub counts: Counts,
    pub response: CoarseHist,
    pub service: CoarseHist,
}

/// All scripts by the part of the time.
pub(super) type ScriptCountsByPart = BTreeMap<u64, Vec<ScriptCounts>>;

/// A shorter end is part of the second before.
const SHORTEST_REST: Nanos = Nanos::from_millis(1);

/// Parts of the time, by number: whole seconds, or those of the output.
pub(super) enum TimeGrid {
    Seconds { lasts: Nanos },
    Ticks { spans: Vec<Span> },
}

impl TimeGrid {
    pub fn of_seconds(lasts: Nanos) -> Self {
        Self::Seconds {
            lasts: lasts.max(SHORTEST_REST),
        }
    }

    pub fn of_ticks(ticks: &[LoadTick]) -> Self {
        Self::Ticks {
            spans: ticks.iter().map(span_of).collect(),
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
            Self::Ticks { spans } => spans.len().saturating_sub(1) as u64,
        }
    }

    /// The one that a time since the start falls into; what comes later is in the last.
    pub fn row(&self, at: Nanos) -> u64 {
        let row = match self {
            Self::Seconds { .. } => at.0 / Nanos::SECOND.0,
            Self::Ticks { spans } => spans.partition_point(|span| span.end <= at) as u64,
        };
        row.min(self.last())
    }

    pub fn span(&self, row: u64) -> Span {
        match self {
            Self::Ticks { spans } => spans.get(row as usize).copied().unwrap_or_default(),
            Self::Seconds { lasts } => {
                let start = Nanos(row * Nanos::SECOND.0);
                let is_last = row == self.last();
                Span {
                    start,
                    end: if is_last {
                        *lasts
                    } else {
                        start + Nanos::SECOND
                    },
                }
            }
        }
    }
}

fn span_of(tick: &LoadTick) -> Span {
    Span {
        start: tick.start,
        end: tick.end,
    }
}

/// One of the fields of counts.
type CountField = fn(&mut Counts) -> &mut u64;

const KINDS: [CountField; 4] = [
    |own| &mut own.committed,
    |own| &mut own.failed,
    |own| &mut own.dropped,
    |own| &mut own.retries,
];

/// Puts the output's counts in place of the logs': of whole seconds those of the whole run, spread as the logged
/// transactions are; of the output's own ticks each tick's, spread over the scripts.
pub(super) fn take_totals(
    rows: &mut ScriptCountsByPart,
    whole: &[Counts],
    ticks: &[LoadTick],
    grid: &TimeGrid,
) {
    let mut reported: Vec<Counts> = ticks.iter().map(|tick| sum_of(&tick.counts)).collect();
    for kind in KINDS {
        if grid.is_of_ticks() {
            let mut whole = whole.to_vec();
            let by_script: Vec<u64> = whole.iter_mut().map(|counts| *kind(counts)).collect();
            for (row, own) in rows.values_mut().zip(&mut reported) {
                set(row.iter_mut(), kind, &spread(*kind(own), &by_script));
            }
        } else {
            let totals = reported.iter_mut().map(|own| *kind(own));
            let all = totals.fold(0, u64::saturating_add);
            let logged = rows.values_mut().flatten();
            let weights: Vec<u64> = logged.map(|own| *kind(&mut own.counts)).collect();
            set(rows.values_mut().flatten(), kind, &spread(all, &weights));
        }
    }
}

fn set<'a>(scripts: impl Iterator<Item = &'a mut ScriptCounts>, kind: CountField, values: &[u64]) {
    for (script, value) in scripts.zip(values) {
        *kind(&mut script.counts) = *value;
    }
}

/// Whole numbers in the ratio of the weights that add up to the total; without any weight it is the last one's.
fn spread(total: u64, weights: &[u64]) -> Vec<u64> {
    let sum: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
    let last = weights.len().saturating_sub(1);
    let mut so_far = 0_u128;
    let mut given = 0_u64;
    let mut shares = Vec::with_capacity(weights.len());
    for (i, weight) in weights.iter().enumerate() {
        so_far += u128::from(*weight);
        let until = if i == last {
            total
        } else {
            let share = (u128::from(total) * so_far).checked_div(sum);
            share.unwrap_or_default() as u64
        };
        shares.push(until - given);
        given = until;
    }
    shares
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
        let grid = TimeGrid::of_seconds(Nanos(5_000_300_000));
        assert_eq!(
            (grid.row(Nanos(5_000_200_000)), grid.span(4).end),
            (4, Nanos(5_000_300_000))
        );
        let grid = TimeGrid::of_seconds(Nanos(5_200_000_000));
        assert_eq!(
            (grid.row(Nanos::from_secs(9)), grid.span(5).end),
            (5, Nanos(5_200_000_000))
        );
    }
}
