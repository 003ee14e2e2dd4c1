//! Which committed transactions are in the database, counted by place.
//!
//! A client keeps of a committed transaction only its acknowledgment and its place: for TPC-C the district.
//! New-Orders (clause 2.4.2.2) and Payments (clause 2.5.2.2) both change their district's row, so the database commits
//! those of one district one after the other. What survives a power cut is what was committed up to some moment:
//! therefore what is missing in a district's count is lost. One that was committed but not acknowledged any more can hide
//! one that is lost: at most one for each user that had a transaction of that district under way.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Receipt;
use crate::message::FirstLost;

/// Where a transaction leaves a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CommitPlace {
    /// Its type, as an index into the workload's names.
    pub txn: u8,
    /// The district of TPC-C.
    pub place: u32,
}

/// A place of TPC-C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct District {
    pub warehouse: u32,
    pub district: u32,
}

/// Counts of transactions by type and place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitCounts {
    /// A list, because a place is no key of a JSON object.
    counts: Vec<(CommitPlace, u64)>,
}

impl CommitCounts {
    pub fn from_counts(counts: BTreeMap<CommitPlace, u64>) -> Self {
        Self {
            counts: counts.into_iter().collect(),
        }
    }

    fn by_place(&self) -> BTreeMap<CommitPlace, u64> {
        self.counts.iter().copied().collect()
    }

    pub fn total(&self) -> u64 {
        self.counts.iter().map(|(_, n)| n).sum()
    }
}

/// Acknowledged transactions that are there, lost or in doubt, by type: `before` and `after` are the database's counts before the
/// load and after recovery, `acknowledged` the clients'. Types without a place in any of them are left out.
pub fn reconcile(
    names: &[&str],
    before: &CommitCounts,
    acknowledged: &CommitCounts,
    after: &CommitCounts,
    district: impl Fn(u32) -> District,
) -> Vec<Receipt> {
    let [before, acked, after] = [before, acknowledged, after].map(CommitCounts::by_place);
    let mut receipts: BTreeMap<u8, Receipt> = BTreeMap::new();
    for place in before
        .keys()
        .chain(acked.keys())
        .chain(after.keys())
        .copied()
        .collect::<std::collections::BTreeSet<_>>()
    {
        let count = |of: &BTreeMap<CommitPlace, u64>| of.get(&place).copied().unwrap_or_default();
        let name = names.get(usize::from(place.txn)).copied().unwrap_or("?");
        let receipt = receipts.entry(place.txn).or_insert_with(|| Receipt {
            txn: name.to_owned(),
            acknowledged: 0,
            lost: 0,
            in_doubt: 0,
            first_lost: None,
        });
        let acknowledged = count(&acked);
        // What was there before the load and is not any more was not acknowledged under it.
        let missing = (count(&before) + acknowledged).saturating_sub(count(&after));
        let reaches_back = missing.saturating_sub(acknowledged);
        let missing = missing - reaches_back;
        let surplus = count(&after).saturating_sub(count(&before) + acknowledged);
        receipt.acknowledged += acknowledged;
        receipt.lost += missing;
        receipt.in_doubt += surplus;
        if missing > 0 && receipt.first_lost.is_none() {
            let District {
                warehouse,
                district,
            } = district(place.place);
            receipt.first_lost = Some(FirstLost::OfDistrict {
                lost: missing,
                acknowledged,
                before_load: (reaches_back > 0).then_some(reaches_back),
                warehouse,
                district,
            });
        }
    }
    receipts.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at((txn, place): (u8, u32)) -> CommitPlace {
        CommitPlace { txn, place }
    }

    fn ledger(of: &[((u8, u32), u64)]) -> CommitCounts {
        CommitCounts::from_counts(of.iter().map(|(place, n)| (at(*place), *n)).collect())
    }

    fn place(at: u32) -> District {
        District {
            warehouse: 3,
            district: at,
        }
    }

    fn first(lost: u64, acknowledged: u64, before_load: Option<u64>, district: u32) -> FirstLost {
        FirstLost::OfDistrict {
            lost,
            acknowledged,
            before_load,
            warehouse: 3,
            district,
        }
    }

    #[test]
    fn missing_transactions_are_lost_and_those_in_flight_do_not_hide_them() {
        let before = ledger(&[((0, 1), 3000), ((0, 2), 3000), ((1, 1), 50)]);
        let acked = ledger(&[((0, 1), 40), ((0, 2), 30), ((1, 1), 9)]);
        let after = ledger(&[((0, 1), 3037), ((0, 2), 3032), ((1, 1), 59)]);
        let receipts = reconcile(&["new_order", "payment"], &before, &acked, &after, place);
        let expected = |txn: &str, acknowledged, lost, in_doubt, first_lost| Receipt {
            txn: txn.into(),
            acknowledged,
            lost,
            in_doubt,
            first_lost,
        };
        assert_eq!(
            receipts,
            [
                expected("new_order", 70, 3, 2, Some(first(3, 40, None, 1))),
                expected("payment", 9, 0, 0, None)
            ]
        );
    }

    #[test]
    fn no_more_is_lost_than_was_acknowledged() {
        let (before, acked) = (ledger(&[((0, 7), 5)]), ledger(&[((0, 7), 2)]));
        let receipts = reconcile(&["new_order"], &before, &acked, &ledger(&[]), place);
        assert_eq!((receipts[0].acknowledged, receipts[0].lost), (2, 2));
        assert_eq!(receipts[0].first_lost, Some(first(2, 2, Some(5), 7)));
    }

    proptest! {
        /// Each acknowledged transaction is there or lost; each that is there was there before, acknowledged or in doubt.
        /// `after` falls below `before` where what was lost reaches back.
        #[test]
        fn the_books_balance(rows in prop::collection::vec((0u8..2, 0u32..5, 0u64..50, 0u64..50, 0u64..120), 0..12)) {
            let unique: BTreeMap<CommitPlace, (u64, u64, u64)> =
                rows.into_iter().map(|(txn, place, before, acked, after)| (at((txn, place)), (before, acked, after))).collect();
            let pick = |f: fn(&(u64, u64, u64)) -> u64| CommitCounts::from_counts(unique.iter().map(|(k, v)| (*k, f(v))).collect());
            let (before, acked, after) = (pick(|r| r.0), pick(|r| r.1), pick(|r| r.2));
            let receipts = reconcile(&["a", "b"], &before, &acked, &after, place);
            let sum = |f: fn(&Receipt) -> u64| receipts.iter().map(f).sum::<u64>();
            let back: u64 = unique.values().map(|(before, _, after)| before.saturating_sub(*after)).sum();
            prop_assert_eq!(
                before.total() + sum(|r| r.acknowledged) + sum(|r| r.in_doubt),
                after.total() + sum(|r| r.lost) + back
            );
            let text = serde_json::to_string(&before).unwrap();
            prop_assert_eq!(serde_json::from_str::<CommitCounts>(&text).unwrap(), before);
        }
    }
}
