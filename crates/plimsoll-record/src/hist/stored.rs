//! Reading an HdrHistogram with our bounds from its V2 deflated encoding, without building one.
//!
//! The library clears and scans 34,000 buckets for each histogram, of which a window fills a few hundred; a run of hours
//! has thousands of windows. Histograms of other bounds are left to it. The encoding is that of HdrHistogram's
//! `EncodableHistogram` and `ZigZagEncoding`: big-endian numbers, cookies, and counts as zigzag LEB128 numbers, of which
//! the ninth byte is whole and a negative one stands for so many empty buckets.

use flate2::{Decompress, FlushDecompress, Status};

use super::bounds::{HIGHEST, HistError};

const COOKIE: u32 = 0x1c84_9313;
const COOKIE_DEFLATED: u32 = 0x1c84_9314;
/// Cookie, length, offset, digits, lowest and highest value, ratio.
const HEAD: usize = 40;
/// As many as the library has for our bounds: 1024 for each of 32 octaves, and 1024 below.
const BUCKETS: usize = 33 * 1024;
/// Most histograms are smaller; none is larger.
const ROOM: [usize; 2] = [8192, HEAD + BUCKETS * 9];

fn broken(what: &str) -> HistError {
    HistError::Encoding(what.to_owned())
}

/// The highest value of each bucket that holds any, rising, and how many it holds. `None`: it has other bounds.
pub(super) fn counts(bytes: &[u8]) -> Result<Option<Vec<(u64, u64)>>, HistError> {
    let mut bytes = bytes;
    let cookie = u32_of(&mut bytes)?;
    let length = u32_of(&mut bytes)?;
    if cookie != COOKIE_DEFLATED {
        return expect_small(length, bytes).map(|()| None);
    }
    let deflated = bytes
        .get(..length as usize)
        .ok_or_else(|| broken("ends before its end"))?;
    let plain = inflated(deflated)?;
    let mut plain = plain.as_slice();
    let cookie = u32_of(&mut plain)?;
    let length = u32_of(&mut plain)?;
    expect_small(length, plain)?;
    let offset = u32_of(&mut plain)?;
    let digits = u32_of(&mut plain)?;
    let [low, high, ratio] = [
        u64_of(&mut plain)?,
        u64_of(&mut plain)?,
        u64_of(&mut plain)?,
    ];
    if (cookie, offset, digits, low, high, ratio) != (COOKIE, 0, 3, 1, HIGHEST.0, 1f64.to_bits()) {
        return Ok(None);
    }
    recorded(
        plain
            .get(..length as usize)
            .ok_or_else(|| broken("ends before its end"))?,
    )
    .map(Some)
}

/// The bytes behind a histogram, which has as many as it states after its cookie.
pub(super) fn after(mut bytes: &[u8]) -> Option<&[u8]> {
    let cookie = u32_of(&mut bytes).ok()?;
    let length = u32_of(&mut bytes).ok()?;
    (cookie == COOKIE_DEFLATED).then(|| bytes.get(length as usize..))?
}

/// Refuses what would make the library reserve more than a histogram needs: a payload of more bytes than there are, or more
/// digits than plimsoll has ever had. `rest` is what follows the length.
fn expect_small(length: u32, mut rest: &[u8]) -> Result<(), HistError> {
    let _offset = u32_of(&mut rest)?;
    let digits = u32_of(&mut rest)?;
    let after_bounds = rest.get(24..).unwrap_or_default();
    if digits > 3 || length as usize > after_bounds.len() {
        return Err(broken("larger than any"));
    }
    Ok(())
}

fn inflated(deflated: &[u8]) -> Result<Vec<u8>, HistError> {
    for room in ROOM {
        let mut plain = Vec::with_capacity(room);
        let status =
            Decompress::new(true).decompress_vec(deflated, &mut plain, FlushDecompress::Finish);
        match status.map_err(|error| broken(&error.to_string()))? {
            Status::StreamEnd => return Ok(plain),
            Status::Ok | Status::BufError => {}
        }
    }
    Err(broken("it does not end, or is larger than any"))
}

fn recorded(mut payload: &[u8]) -> Result<Vec<(u64, u64)>, HistError> {
    let mut counts = Vec::with_capacity(payload.len() / 2);
    let mut index = 0usize;
    while !payload.is_empty() {
        let number = zigzag(&mut payload)?;
        match u64::try_from(number) {
            Err(_) => index = index.saturating_add(number.unsigned_abs() as usize),
            Ok(0) if index < BUCKETS => index += 1,
            Ok(_) if index >= BUCKETS => return Err(broken("more buckets than its bounds have")),
            Ok(n) => {
                counts.push((highest_of(index), n));
                index += 1;
            }
        }
    }
    Ok(counts)
}

/// The highest value that falls into a bucket: 2048 of width 1, then 1024 to the octave.
fn highest_of(index: usize) -> u64 {
    let octave = (index >> 10).saturating_sub(1);
    let within = index - (octave << 10);
    ((within as u64 + 1) << octave) - 1
}

fn zigzag(bytes: &mut &[u8]) -> Result<i64, HistError> {
    let mut n = 0u64;
    for place in 0..9 {
        let (first, rest) = bytes
            .split_first()
            .ok_or_else(|| broken("ends inside a number"))?;
        *bytes = rest;
        if place == 8 || first & 0x80 == 0 {
            n |= u64::from(*first) << (place * 7);
            break;
        }
        n |= u64::from(first & 0x7f) << (place * 7);
    }
    Ok((n >> 1) as i64 ^ -((n & 1) as i64))
}

fn u32_of(bytes: &mut &[u8]) -> Result<u32, HistError> {
    take(bytes).map(u32::from_be_bytes)
}

fn u64_of(bytes: &mut &[u8]) -> Result<u64, HistError> {
    take(bytes).map(u64::from_be_bytes)
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], HistError> {
    let (first, rest) = bytes
        .split_first_chunk::<N>()
        .ok_or_else(|| broken("shorter than its header"))?;
    *bytes = rest;
    Ok(*first)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::{
        Deserializer, Serializer as _, V2DeflateSerializer, V2Serializer,
    };
    use proptest::prelude::*;

    use super::*;

    fn encoded(all: &Histogram<u64>) -> Vec<u8> {
        let mut out = Vec::new();
        V2DeflateSerializer::new().serialize(all, &mut out).unwrap();
        out
    }

    /// The counts as the library reads them.
    fn library_counts(mut bytes: &[u8]) -> Option<Vec<(u64, u64)>> {
        let all: Histogram<u64> = Deserializer::new().deserialize(&mut bytes).ok()?;
        Some(
            all.iter_recorded()
                .map(|step| (step.value_iterated_to(), step.count_at_value()))
                .collect(),
        )
    }

    proptest! {
        #[test]
        fn it_reads_what_the_library_reads(values in prop::collection::vec((0f64..12.6, 1u64..1 << 50), 0..300),
                                           spoilt in prop::option::of((0usize..4096, any::<u8>()))) {
            let mut all = Histogram::<u64>::new_with_bounds(1, HIGHEST.0, 3).unwrap();
            values.iter().for_each(|(decades, n)| all.saturating_record_n(10f64.powf(*decades) as u64, *n));
            let mut bytes = encoded(&all);
            if let Some((place, byte)) = spoilt {
                let place = place % bytes.len();
                bytes[place] = byte;
            }
            match counts(&bytes) {
                Ok(Some(counts)) => prop_assert_eq!(Some(counts), library_counts(&bytes)),
                // What is stored is read, unless it was spoilt.
                other => prop_assert!(spoilt.is_some(), "{:?}", other),
            }
        }

        #[test]
        fn rubbish_never_panics(bytes: Vec<u8>, payload: Vec<u8>) {
            let _ = (counts(&bytes), recorded(&payload));
        }
    }

    #[test]
    fn every_bucket_has_the_librarys_bounds_and_none_is_missing() {
        let all = Histogram::<u64>::new_with_bounds(1, HIGHEST.0, 3).unwrap();
        assert_eq!(all.distinct_values(), BUCKETS);
        let last = highest_of(BUCKETS - 1);
        for index in 0..BUCKETS {
            let highest = highest_of(index);
            assert_eq!(all.highest_equivalent(highest), highest, "{index}");
            assert!(
                highest == last || all.lowest_equivalent(highest_of(index + 1)) == highest + 1,
                "{index}"
            );
        }
    }

    #[test]
    fn what_would_make_the_library_reserve_gigabytes_is_refused() {
        let mut all = Histogram::<u64>::new_with_bounds(1, 1_000_000, 3).unwrap();
        all.record(77).unwrap();
        let mut plain = Vec::new();
        V2Serializer::new().serialize(&all, &mut plain).unwrap();
        assert_eq!(counts(&plain), Ok(None));
        let mut long = plain.clone();
        long[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
        let mut fine = plain;
        fine[12..16].copy_from_slice(&5u32.to_be_bytes());
        for forged in [long, fine] {
            let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
            packed.write_all(&forged).unwrap();
            let packed = packed.finish().unwrap();
            let mut deflated = COOKIE_DEFLATED.to_be_bytes().to_vec();
            deflated.extend((packed.len() as u32).to_be_bytes());
            deflated.extend(packed);
            assert!(counts(&forged).is_err() && counts(&deflated).is_err());
        }
    }

    #[test]
    fn other_bounds_are_left_to_the_library() {
        let mut all = Histogram::<u64>::new_with_bounds(1, 1_000_000, 2).unwrap();
        all.record(77).unwrap();
        assert_eq!(counts(&encoded(&all)), Ok(None));
    }
}
