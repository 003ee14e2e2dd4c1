//! Outcomes of transactions in one tick: a row holds all types, since a run of hours has a million of them.
//!
//! Counts are JSON, so that SQL reads them (the view `outcome` gives each type a row): an array for each type that has
//! any counts, without the zeros at its end. Their response times are coarse histograms behind one another, each
//! with its length before it. Behind those stand the times of transactions that were due in earlier ticks.

use crate::hist::CoarseHist;
use crate::lane::{Counts, LateTimes, TickPlace, TransactionStats};
use crate::leb128;
use crate::seconds::PackedTimes;
use plimsoll_plan::schedule::PhaseKind;

use super::row::BadRow;

/// A type and its counts, without the zeros at the end.
fn numbers(txn: usize, counts: &Counts) -> Vec<u64> {
    let counts = counts.to_array();
    let used = counts
        .iter()
        .rposition(|n| *n > 0)
        .map_or(0, |last| last + 1);
    let mut all = vec![txn as u64];
    all.extend(&counts[..used]);
    all
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
                let [txn, counts @ ..] = all;
                let counts = Counts::from_array(counts);
                return Some((usize::try_from(txn).ok()?, counts));
            }
            _ => return None,
        }
    }
    None
}

/// The phases of a lane, as a tick's times number them.
const PHASES: [PhaseKind; 3] = [PhaseKind::Warm, PhaseKind::Measure, PhaseKind::Cool];

/// Counts and times of a tick's types, and times of what was due earlier.
pub(super) fn encode(tallies: &[TransactionStats], earlier: &[LateTimes]) -> (String, Vec<u8>) {
    let mut counts = Vec::new();
    let mut times = Vec::new();
    for (txn, tally) in tallies
        .iter()
        .enumerate()
        .filter(|(_, tally)| has_any(tally))
    {
        counts.push(numbers(txn, &tally.counts));
        put_times(tally, &mut times);
    }
    for LateTimes { place, tallies } in earlier {
        let phase = PHASES.iter().position(|kind| *kind == place.phase);
        for (txn, tally) in
            (tallies.iter().enumerate()).filter(|(_, tally)| !tally.response.is_empty())
        {
            // A lane has no other phases.
            leb128::put(phase.unwrap_or_default() as u64, &mut times);
            leb128::put(u64::from(place.ordinal), &mut times);
            leb128::put(txn as u64, &mut times);
            put_times(tally, &mut times);
        }
    }
    (serde_json::json!(counts).to_string(), times)
}

/// A second that was read may have times of what was counted in another one.
fn has_any(tally: &TransactionStats) -> bool {
    tally.counts != Counts::default() || !tally.response.is_empty()
}

fn put_times(tally: &TransactionStats, out: &mut Vec<u8>) {
    put(&tally.response.coarse().encode(), out);
    // Nothing stands for what equals the response; a histogram has at least two bytes.
    let service = tally.differing_service().map(|hist| hist.coarse().encode());
    put(&service.unwrap_or_default(), out);
}

fn put(bytes: &[u8], out: &mut Vec<u8>) {
    leb128::put(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// Response and service times of the next type, checked.
pub(super) fn take_times<'b>(times: &mut &'b [u8]) -> Result<PackedTimes<'b>, BadRow> {
    let response = take(times)?;
    check(response)?;
    let service = take(times)?;
    if !service.is_empty() {
        check(service)?;
    }
    Ok(PackedTimes::new(response, service))
}

/// Times of transactions of one type that were due in an earlier tick.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct EarlierTimes<'b> {
    pub place: TickPlace,
    pub txn: usize,
    pub times: PackedTimes<'b>,
}

/// The next ones; `None` at the end.
pub(super) fn take_earlier<'b>(times: &mut &'b [u8]) -> Result<Option<EarlierTimes<'b>>, BadRow> {
    if times.is_empty() {
        return Ok(None);
    }
    let mut number = || leb128::take(times).and_then(|n| usize::try_from(n).ok());
    let [phase, ordinal, txn] = [number(), number(), number()];
    let phase = phase.and_then(|phase| PHASES.get(phase).copied());
    let ordinal = ordinal.and_then(|n| u32::try_from(n).ok());
    let place = phase.zip(ordinal);
    let place = place.map(|(phase, ordinal)| TickPlace { phase, ordinal });
    let (place, txn) = place.zip(txn).ok_or("it has times of no second")?;
    let times = take_times(times)?;
    Ok(Some(EarlierTimes { place, txn, times }))
}

fn check(hist: &[u8]) -> Result<(), BadRow> {
    CoarseHist::check(hist).map_err(|error| error.to_string())
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
            let place = TickPlace { phase: PhaseKind::Measure, ordinal: 300 };
            let due_earlier: Vec<TransactionStats> = tallies.iter().map(|tally| {
                let (_, response, service) = tally.clone().into_parts();
                TransactionStats::new(Counts::default(), response, service)
            }).collect();
            let earlier = LateTimes { place, tallies: due_earlier };
            let (counts, times) = encode(&tallies, std::slice::from_ref(&earlier));
            let mut times = times.as_slice();
            let mut back = Vec::new();
            decode_counts(&counts, &mut back).unwrap();
            let mut back = back.into_iter();
            for (txn, tally) in tallies.iter().enumerate().filter(|(_, tally)| has_any(tally)) {
                prop_assert_eq!(back.next(), Some((txn, tally.counts)));
                let service = tally.differing_service().map(|hist| hist.coarse());
                let read = take_times(&mut times).unwrap();
                prop_assert_eq!((read.response(), read.service()), (tally.response.coarse(), service));
            }
            for (txn, tally) in earlier.tallies.iter().enumerate().filter(|(_, tally)| !tally.response.is_empty()) {
                let service = tally.differing_service().map(|hist| hist.coarse());
                let read = take_earlier(&mut times).unwrap().unwrap();
                prop_assert_eq!((read.place, read.txn), (place, txn));
                prop_assert_eq!((read.times.response(), read.times.service()), (tally.response.coarse(), service));
            }
            prop_assert_eq!(take_earlier(&mut times), Ok(None));
            prop_assert!(back.next().is_none());
        }

        #[test]
        fn rubbish_never_panics(text: String, bytes: Vec<u8>) {
            let _ = (decode_counts(&text, &mut Vec::new()), take_times(&mut bytes.as_slice()));
            let _ = take_earlier(&mut bytes.as_slice());
        }
    }

    #[test]
    fn what_is_zero_takes_no_room() {
        let tallies = [
            tally([0; 8], &[]),
            tally([3, 2, 0, 0, 0, 0, 0, 0], &[]),
            tally([1, 1, 1, 1, 1, 1, 1, 9], &[]),
        ];
        assert_eq!(encode(&tallies, &[]).0, "[[1,3,2],[2,1,1,1,1,1,1,1,9]]");
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
