//! What data are like: how many bits a byte carries, and how much of it a fast compressor would save.

/// Of one read; the smallest page of a database, and what filesystems allocate.
pub const BLOCK: usize = 4096;

/// Sequences of this many bytes are searched for, as LZ4 does.
const MATCH: usize = 4;
/// Of a sequence that was found: where it is and how long (LZ4's token and offset).
const COST: usize = 3;

/// The next of a stream of random numbers: SplitMix64 (Steele, Lea and Flood 2014).
pub fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Counts over blocks.
#[derive(Debug, Clone)]
pub struct DataStats {
    pub blocks: u32,
    /// Nothing but zeros.
    pub zero: u32,
    counts: [u64; 256],
    bytes: u64,
    compressed: u64,
}

impl Default for DataStats {
    fn default() -> Self {
        Self {
            blocks: 0,
            zero: 0,
            counts: [0; 256],
            bytes: 0,
            compressed: 0,
        }
    }
}

impl DataStats {
    pub fn add(&mut self, block: &[u8]) {
        self.blocks += 1;
        if block.iter().all(|byte| *byte == 0) {
            self.zero += 1;
            return;
        }
        block
            .iter()
            .for_each(|byte| self.counts[usize::from(*byte)] += 1);
        self.bytes += block.len() as u64;
        self.compressed += compressed(block) as u64;
    }

    /// Shannon's entropy of single bytes, in bits, 0 to 8 (Shannon 1948); of the blocks that are not zero.
    pub fn entropy(&self) -> Option<f64> {
        let counts = self.counts.iter().filter(|count| **count > 0);
        (self.bytes > 0).then(|| {
            counts
                .map(|count| *count as f64 / self.bytes as f64)
                .map(|share| -share * share.log2())
                .sum()
        })
    }

    /// The share that a compressor of LZ4's kind would save, block by block, 0 to 1.
    pub fn compressible(&self) -> Option<f64> {
        (self.bytes > 0).then(|| 1.0 - self.compressed as f64 / self.bytes as f64)
    }
}

/// About how many bytes a block takes: a greedy search for what stood before, one candidate for each hash.
fn compressed(block: &[u8]) -> usize {
    let mut positions = [0_u16; 1 << 12];
    let mut at = 0;
    let mut size = 0;
    while at + MATCH <= block.len().min(BLOCK) {
        let word = [block[at], block[at + 1], block[at + 2], block[at + 3]];
        let slot = (u32::from_le_bytes(word).wrapping_mul(2_654_435_761) >> 20) as usize;
        let before = usize::from(positions[slot]);
        // One more than the position, so that zero means none.
        positions[slot] = at as u16 + 1;
        let length = before.checked_sub(1).map_or(0, |from| {
            block[from..]
                .iter()
                .zip(&block[at..])
                .take_while(|(a, b)| a == b)
                .count()
        });
        if length >= MATCH {
            at += length;
            size += COST;
        } else {
            at += 1;
            size += 1;
        }
    }
    (size + block.len().saturating_sub(at)).min(block.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stats(blocks: &[&[u8]]) -> DataStats {
        let mut stats = DataStats::default();
        blocks.iter().for_each(|block| stats.add(block));
        stats
    }

    #[test]
    fn random_bytes_carry_all_their_bits_and_text_repeats_itself() {
        let mut seed = 3;
        let noise: Vec<u8> = (0..BLOCK).map(|_| random(&mut seed) as u8).collect();
        let full = stats(&[&noise]);
        assert!(full.entropy().unwrap() > 7.9 && full.compressible().unwrap() < 0.01);
        let text = "the quick brown fox ".repeat(200);
        let words = stats(&[&text.as_bytes()[..4000]]);
        assert!(
            (3.0..5.0).contains(&words.entropy().unwrap()) && words.compressible().unwrap() > 0.9
        );
        // All bytes alike often, in an order that repeats: eight bits each, and yet it compresses.
        let cycle: Vec<u8> = (0..BLOCK).map(|i| i as u8).collect();
        assert!((stats(&[&cycle]).entropy().unwrap() - 8.0).abs() < 1e-9);
        assert!(stats(&[&cycle]).compressible().unwrap() > 0.9);
    }

    #[test]
    fn zeros_are_counted_apart() {
        let both = stats(&[&[0; BLOCK], &[7; BLOCK]]);
        assert_eq!((both.blocks, both.zero, both.entropy()), (2, 1, Some(0.0)));
        assert_eq!(
            (stats(&[&[0; 8]]).entropy(), stats(&[]).compressible()),
            (None, None)
        );
    }

    #[test]
    fn random_numbers_are_those_of_splitmix() {
        let mut state = 1_234_567;
        let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973];
        assert_eq!([random(&mut state), random(&mut state)], expected);
    }

    proptest! {
        #[test]
        fn figures_stay_in_their_range(block in prop::collection::vec(any::<u8>(), 0..5000)) {
            let stats = stats(&[&block]);
            prop_assert!(stats.entropy().is_none_or(|bits| (0.0..=8.0).contains(&bits)));
            prop_assert!(stats.compressible().is_none_or(|share| (0.0..=1.0).contains(&share)));
        }
    }
}
