//! The histogram that every second keeps: a few dozen bytes.

use super::Hist;
use super::bounds::{HIGHEST, HistError, LOWEST};
use super::buckets::Buckets;
use crate::leb128;
use plimsoll_plan::units::Nanos;

/// How far a percentile may be off: half a bucket.
pub const COARSE_ERROR_PERCENT: f64 = 3.2;

/// Sixteen buckets to the octave; the bucket of `value` is its exponent and the four bits below its leading one.
fn coarse_bucket(value: u64) -> u32 {
    let value = value.max(LOWEST.0);
    let exponent = value.ilog2();
    exponent * 16 + ((value >> (exponent - 4)) & 15) as u32
}

/// The middle of a coarse bucket.
fn coarse_middle(bucket: u32) -> u64 {
    let width = 1u64 << (bucket / 16 - 4);
    (16 + u64::from(bucket % 16)) * width + width / 2
}

/// The values that a coarse bucket holds: from the first up to below the second.
pub fn coarse_bounds(bucket: u32) -> (Nanos, Nanos) {
    let width = 1u64 << (bucket / 16).saturating_sub(4).min(58);
    let low = (16 + u64::from(bucket % 16)).saturating_mul(width);
    (Nanos(low), Nanos(low.saturating_add(width)))
}

/// A histogram with sixteen buckets to the octave, sparse and small: an empty one takes one machine word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CoarseHist(Option<Box<Coarse>>);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Coarse {
    /// In rising order; a second has a few of them.
    buckets: Vec<(u32, u64)>,
    sum: u128,
    max: Nanos,
}

impl Coarse {
    fn add(&mut self, bucket: u32, n: u64) {
        match self.buckets.last() {
            Some((last, _)) if *last >= bucket => {
                match self
                    .buckets
                    .binary_search_by_key(&bucket, |(known, _)| *known)
                {
                    Ok(place) => self.buckets[place].1 = self.buckets[place].1.saturating_add(n),
                    Err(place) => self.buckets.insert(place, (bucket, n)),
                }
            }
            _ => self.buckets.push((bucket, n)),
        }
    }
}

impl Hist {
    pub fn coarse(&self) -> CoarseHist {
        let mut coarse = Coarse {
            sum: self.sum,
            max: self.max,
            buckets: Vec::new(),
        };
        for (value, n) in self.buckets.recorded() {
            coarse.add(coarse_bucket(value), n);
        }
        coarse.into()
    }
}

impl From<Coarse> for CoarseHist {
    fn from(coarse: Coarse) -> Self {
        Self((coarse != Coarse::default()).then(|| Box::new(coarse)))
    }
}

impl CoarseHist {
    /// The histogram of single values.
    pub fn of(values: impl IntoIterator<Item = Nanos>) -> Self {
        let mut coarse = Coarse::default();
        for value in values {
            coarse.add(coarse_bucket(value.0), 1);
            coarse.sum += u128::from(value.0);
            coarse.max = coarse.max.max(value);
        }
        coarse.into()
    }

    /// In rising order.
    fn all(&self) -> &[(u32, u64)] {
        self.0
            .as_ref()
            .map_or(&[], |coarse| coarse.buckets.as_slice())
    }

    /// Exact sum of all values.
    pub fn sum(&self) -> u128 {
        self.0.as_ref().map_or(0, |coarse| coarse.sum)
    }

    fn longest(&self) -> Nanos {
        self.0.as_ref().map_or(Nanos::ZERO, |coarse| coarse.max)
    }

    /// Buckets that hold something, in rising order, with their counts; see [`coarse_bounds`].
    pub fn buckets(&self) -> impl Iterator<Item = (u32, u64)> {
        self.all().iter().copied()
    }

    pub fn count(&self) -> u64 {
        self.all()
            .iter()
            .fold(0, |sum, (_, n)| sum.saturating_add(*n))
    }

    pub fn mean(&self) -> Option<Nanos> {
        let n = self.count();
        (n > 0).then(|| Nanos((self.sum() / u128::from(n)) as u64))
    }

    pub fn max(&self) -> Option<Nanos> {
        (!self.all().is_empty()).then_some(self.longest())
    }

    pub fn merge(&mut self, other: &Self) {
        let Some(other) = &other.0 else { return };
        let Coarse { buckets, sum, max } = &**other;
        let whole = self.0.get_or_insert_default();
        buckets
            .iter()
            .for_each(|(bucket, n)| whole.add(*bucket, *n));
        whole.sum = whole.sum.saturating_add(*sum);
        whole.max = whole.max.max(*max);
    }

    /// As [`Hist::quantile`], to within 3.2 %.
    pub fn quantile(&self, q: f64) -> Option<Nanos> {
        let n = self.count();
        let rank = ((q.clamp(0.0, 1.0) * n as f64).ceil() as u64).max(1);
        let mut below = 0u64;
        self.all().iter().find_map(|(bucket, count)| {
            below = below.saturating_add(*count);
            (below >= rank).then(|| Nanos(coarse_middle(*bucket)).min(self.longest().max(LOWEST)))
        })
    }

    /// Counts by bucket, for rebuilding a phase's [`Hist`] after a crash.
    pub fn to_hist(&self) -> Hist {
        let middles = self
            .all()
            .iter()
            .map(|(bucket, n)| (coarse_middle(*bucket).clamp(LOWEST.0, HIGHEST.0), *n));
        Hist {
            buckets: Buckets::of_rising(middles),
            sum: self.sum(),
            max: self.longest(),
            clipped: 0,
            unfinished: None,
        }
    }

    /// LEB128 numbers: sum, max, the first bucket; then, in half bytes with the low one first, the counts of consecutive
    /// buckets. A number takes three bits of each half byte, whose fourth marks that more follow; a zero is followed by
    /// how many empty buckets it stands for, less one. Most buckets of a second hold few values or none.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(16 + self.all().len());
        leb128::put(self.sum().min(u128::from(u64::MAX)) as u64, &mut out);
        leb128::put(self.longest().0, &mut out);
        let mut next = None;
        let mut halves = Vec::new();
        for (bucket, n) in self.all().iter().filter(|(_, n)| *n > 0) {
            match next {
                None => leb128::put(u64::from(*bucket), &mut out),
                Some(next) if next == *bucket => {}
                Some(next) => {
                    halves.push(0);
                    put_halves(&mut halves, u64::from(bucket - next - 1));
                }
            }
            put_halves(&mut halves, *n);
            next = Some(bucket + 1);
        }
        out.extend(
            halves
                .chunks(2)
                .map(|pair| pair[0] | pair.get(1).unwrap_or(&0) << 4),
        );
        out
    }

    pub fn decode(bytes: &[u8]) -> Result<Self, HistError> {
        Self::check(bytes)?;
        Self::unpack(bytes)
    }

    /// Whether sums of the counts of what was packed cannot overflow, and [`Self::unpack`] can read it.
    pub(crate) fn check(bytes: &[u8]) -> Result<(), HistError> {
        let mut total = 0u64;
        read_packed(bytes, |_, n| total = total.saturating_add(n))?;
        match total < 1 << 62 {
            true => Ok(()),
            false => Err(HistError::Encoding("count overflows".into())),
        }
    }

    /// What [`Self::encode`] packed, with counts of any size.
    pub(crate) fn unpack(bytes: &[u8]) -> Result<Self, HistError> {
        let mut buckets = Vec::with_capacity(bytes.len());
        let PackedTotals { sum, max } = read_packed(bytes, |bucket, n| buckets.push((bucket, n)))?;
        let sum = u128::from(sum);
        Ok(Coarse { buckets, sum, max }.into())
    }
}

/// What a packed histogram begins with.
struct PackedTotals {
    sum: u64,
    max: Nanos,
}

/// Reads what [`CoarseHist::encode`] packed: buckets that hold something, in rising order, with their counts.
fn read_packed(mut bytes: &[u8], mut put: impl FnMut(u32, u64)) -> Result<PackedTotals, HistError> {
    let totals = PackedTotals {
        sum: number(&mut bytes)?,
        max: Nanos(number(&mut bytes)?),
    };
    if bytes.is_empty() {
        return Ok(totals);
    }
    let mut bucket = number(&mut bytes)?;
    let mut halves = Nibbles { bytes, place: 0 };
    while !halves.is_empty() {
        let n = halves.number()?;
        if n > 0 {
            put(checked_bucket(bucket)?, n);
            bucket += 1;
        } else if !halves.is_empty() {
            bucket = bucket.saturating_add(halves.number()?).saturating_add(1);
        }
    }
    Ok(totals)
}

/// 64..1024: exponents 4..63, the only ones whose middle is defined.
fn checked_bucket(bucket: u64) -> Result<u32, HistError> {
    match (64..1024).contains(&bucket) {
        true => Ok(bucket as u32),
        false => Err(HistError::Encoding(format!(
            "bucket {bucket} does not exist"
        ))),
    }
}

fn put_halves(out: &mut Vec<u8>, mut n: u64) {
    while n >= 8 {
        out.push(n as u8 & 7 | 8);
        n >>= 3;
    }
    out.push(n as u8);
}

/// Half bytes that are left, the low one first.
struct Nibbles<'b> {
    bytes: &'b [u8],
    place: usize,
}

impl Nibbles<'_> {
    fn is_empty(&self) -> bool {
        self.place >= self.bytes.len() * 2
    }

    fn number(&mut self) -> Result<u64, HistError> {
        let mut n = 0u64;
        for shift in (0..64).step_by(3) {
            let byte = self.bytes.get(self.place / 2);
            let byte = byte.ok_or_else(|| HistError::Encoding("ends inside a number".into()))?;
            let half = byte >> (self.place % 2 * 4);
            self.place += 1;
            let bits = u64::from(half & 7);
            if bits << shift >> shift != bits {
                break;
            }
            n |= bits << shift;
            if half & 8 == 0 {
                return Ok(n);
            }
        }
        Err(HistError::Encoding(
            "a number is longer than 64 bits".into(),
        ))
    }
}

fn number(bytes: &mut &[u8]) -> Result<u64, HistError> {
    leb128::take(bytes).ok_or_else(|| HistError::Encoding("ends inside a number".into()))
}
