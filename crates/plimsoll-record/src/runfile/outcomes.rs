//! What became of transactions in one tick: a row holds all types, since a run of hours has a million of them.
//!
//! Counts are JSON, so that SQL reads them (the view `outcome` gives each type a row): an array for each type that has
//! any counts, without the zeros at its end. Their response times are coarse histograms behind one another, each
//! with its length before it.

use crate::hist::CoarseHist;
use crate::lane::{Counts, TransactionStats};
use crate::leb128;

use super::row::BadRow;

/// In the order in which a row has them: what is mostly zero comes last.
fn numbers(txn: usize, counts: &Counts) -> Vec<u64> {
    let Counts {
        offered,
        committed,
        rolled_back,
        failed,
        dropped,
        retries,
        round_trips,
        bytes,
    } = *counts;
    let all = [
        txn as u64,
        offered,
        committed,
        round_trips,
        rolled_back,
        retries,
        failed,
        dropped,
        bytes,
    ];
    let last = all.iter().rposition(|n| *n > 0).unwrap_or_default();
    all[..=last].to_vec()
}

/// No tick has as many, not even one that is all of an imported run.
const MOST: u64 = 1 << 56;

/// Each type with its counts, as [`encode`] wrote them: in one pass, since a run of hours has a quarter of a million such
/// texts.
pub(super) fn decode_counts(text: &str, into: &mut Vec<(usize, Counts)>) -> Option<()> {
    into.clear();
    let all = text.strip_prefix('[')?.strip_suffix(']')?;
    let mut rest = all.as_bytes();
    while !rest.is_empty() {
        let next = rest.strip_prefix(if into.is_empty() {
            b"[".as_slice()
        } else {
            b",["
        })?;
        into.push(take_counts(next, &mut rest)?);
    }
    Some(())
}

/// Numbers up to a bracket; `rest` is what follows it.
fn take_counts<'b>(bytes: &'b [u8], rest: &mut &'b [u8]) -> Option<(usize, Counts)> {
    let mut all = [0u64; 9];
    let mut place = 0;
    let mut digits = 0;
    for (i, byte) in bytes.iter().enumerate() {
        match byte {
            b'0'..=b'9' => {
                let number = all.get_mut(place)?;
                *number = number
                    .checked_mul(10)?
                    .checked_add(u64::from(byte - b'0'))?;
                digits += 1;
            }
            b',' if digits > 0 => (place, digits) = (place + 1, 0),
            // What is added up later must not overflow.
            b']' if digits > 0 && all.iter().all(|n| *n < MOST) => {
                *rest = &bytes[i + 1..];
                let [
                    txn,
                    offered,
                    committed,
                    round_trips,
                    rolled_back,
                    retries,
                    failed,
                    dropped,
                    bytes,
                ] = all;
                let counts = Counts {
                    offered,
                    committed,
                    rolled_back,
                    failed,
                    dropped,
                    retries,
                    round_trips,
                    bytes,
                };
                return Some((usize::try_from(txn).ok()?, counts));
            }
            _ => return None,
        }
    }
    None
}

/// Counts and times of a tick's types.
pub(super) fn encode(tallies: &[TransactionStats]) -> (String, Vec<u8>) {
    let mut counts = Vec::new();
    let mut times = Vec::new();
    for (txn, tally) in tallies
        .iter()
        .enumerate()
        .filter(|(_, tally)| tally.counts != Counts::default())
    {
        counts.push(numbers(txn, &tally.counts));
        put(&tally.response.coarse().encode(), &mut times);
        // Nothing stands for what equals the response; a histogram has at least two bytes.
        let service = tally.differing_service().map(|hist| hist.coarse().encode());
        put(&service.unwrap_or_default(), &mut times);
    }
    (serde_json::json!(counts).to_string(), times)
}

fn put(bytes: &[u8], out: &mut Vec<u8>) {
    leb128::put(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// Response and service times of the next type.
pub(super) fn take_times(times: &mut &[u8]) -> Result<(CoarseHist, Option<CoarseHist>), BadRow> {
    let response = decode(take(times)?)?;
    let service = take(times)?;
    let differs = !service.is_empty();
    Ok((response, differs.then(|| decode(service)).transpose()?))
}

fn decode(bytes: &[u8]) -> Result<CoarseHist, BadRow> {
    CoarseHist::decode(bytes).map_err(|error| error.to_string())
}

fn take<'b>(bytes: &mut &'b [u8]) -> Result<&'b [u8], BadRow> {
    let length = leb128::take(bytes).and_then(|length| usize::try_from(length).ok());
    let (first, rest) = length
        .and_then(|length| bytes.split_at_checked(length))
        .ok_or("it ends inside a histogram")?;
    *bytes = rest;
    Ok(first)
}

#[cfg(test)]
mod tests {
    use crate::hist::Hist;
    use plimsoll_plan::units::Nanos;
    use proptest::prelude::*;

    use super::*;

    fn tally(counts: [u64; 8], times: &[(u64, u64)]) -> TransactionStats {
        let [
            offered,
            committed,
            rolled_back,
            failed,
            dropped,
            retries,
            round_trips,
            bytes,
        ] = counts;
        let counts = Counts {
            offered,
            committed,
            rolled_back,
            failed,
            dropped,
            retries,
            round_trips,
            bytes,
        };
        let mut tally = TransactionStats::new(counts, Hist::new(), None);
        times
            .iter()
            .for_each(|(response, service)| tally.record(Nanos(*response), Nanos(*service)));
        tally
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(all in prop::collection::vec((prop::array::uniform8(0u64..3), prop::collection::vec((1u64..1 << 40, 1u64..1 << 40), 0..4)), 0..6)) {
            let tallies: Vec<TransactionStats> = all.iter().map(|(counts, times)| tally(*counts, times)).collect();
            let (counts, times) = encode(&tallies);
            let mut times = times.as_slice();
            let mut back = Vec::new();
            decode_counts(&counts, &mut back).unwrap();
            let mut back = back.into_iter();
            for (txn, tally) in tallies.iter().enumerate().filter(|(_, tally)| tally.counts != Counts::default()) {
                prop_assert_eq!(back.next(), Some((txn, tally.counts)));
                let service = tally.differing_service().map(|hist| hist.coarse());
                prop_assert_eq!(take_times(&mut times), Ok((tally.response.coarse(), service)));
            }
            prop_assert!(back.next().is_none() && times.is_empty());
        }

        #[test]
        fn rubbish_never_panics(text: String, bytes: Vec<u8>) {
            let _ = (decode_counts(&text, &mut Vec::new()), take_times(&mut bytes.as_slice()));
        }
    }

    #[test]
    fn what_is_zero_takes_no_room() {
        let tallies = [
            tally([0; 8], &[]),
            tally([3, 2, 0, 0, 0, 0, 0, 0], &[]),
            tally([1, 1, 1, 1, 1, 1, 1, 9], &[]),
        ];
        assert_eq!(encode(&tallies).0, "[[1,3,2],[2,1,1,1,1,1,1,1,9]]");
        for broken in [
            "",
            "[",
            "[]]",
            "[[]]",
            "[[1,]]",
            "[[1],]",
            "[[-1]]",
            "[[1][2]]",
            "[[1],[2]",
            "[[99999999999999999999]]",
            "[[0,72057594037927936]]",
            "[[1,2,3,4,5,6,7,8,9,10]]",
        ] {
            assert_eq!(decode_counts(broken, &mut Vec::new()), None, "{broken}");
        }
    }
}
