//! The specification's random values (clauses 2.1.5, 2.1.6, 4.3.2).
//!
//! Text is the bulk of the population (about 50 MB per warehouse), so it is drawn into a buffer that is used again, ten
//! characters per random number.

use plimsoll_stats::Rng;

/// Clause 1.4.1, 4.3.3.1: sizes that do not depend on the number of warehouses.
pub const ITEMS: i32 = 100_000;
pub const DISTRICTS: i32 = 10;
/// Per district; as many orders are there at the start.
pub const CUSTOMERS: i32 = 3_000;

/// The constants C of NURand (clause 2.1.6): drawn once, the same for every user and for the whole run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constants {
    /// For C_LAST in the population.
    pub load_last: i32,
    /// For C_LAST in the run; differs from `load_last` by 65 to 119, but not by 96 or 112 (clause 2.1.6.1).
    pub run_last: i32,
    pub customer: i32,
    pub item: i32,
}

impl Constants {
    pub fn new(seed: u64) -> Self {
        let mut rng = Rng::stream(seed, &[u64::from_be_bytes(*b"tpcc  C ")]);
        let load_last = int(&mut rng, 0, 255);
        let run_last = loop {
            let run = int(&mut rng, 0, 255);
            let delta = (run - load_last).abs();
            if (65..=119).contains(&delta) && delta != 96 && delta != 112 {
                break run;
            }
        };
        Self {
            load_last,
            run_last,
            customer: int(&mut rng, 0, 1023),
            item: int(&mut rng, 0, 8191),
        }
    }

    /// C_ID within a district: NURand(1023, 1, 3000).
    pub fn customer_id(&self, rng: &mut Rng) -> i32 {
        nurand(rng, 1023, self.customer, 1, CUSTOMERS)
    }

    /// I_ID: NURand(8191, 1, 100000).
    pub fn item_id(&self, rng: &mut Rng) -> i32 {
        nurand(rng, 8191, self.item, 1, ITEMS)
    }

    /// Number of a last name while loading: NURand(255, 0, 999) with C-Load.
    pub fn load_last_name(&self, rng: &mut Rng) -> i32 {
        nurand(rng, 255, self.load_last, 0, 999)
    }

    /// Number of a last name in the run: NURand(255, 0, 999) with C-Run.
    pub fn run_last_name(&self, rng: &mut Rng) -> i32 {
        nurand(rng, 255, self.run_last, 0, 999)
    }
}

/// Clause 2.1.6: NURand(A, x, y) = (((random(0, A) | random(x, y)) + C) % (y − x + 1)) + x.
pub fn nurand(rng: &mut Rng, a: i32, c: i32, x: i32, y: i32) -> i32 {
    ((int(rng, 0, a) | int(rng, x, y)) + c) % (y - x + 1) + x
}

/// Uniform in `low..=high`; both non-negative.
pub fn int(rng: &mut Rng, low: i32, high: i32) -> i32 {
    debug_assert!(0 <= low && low <= high);
    rng.between(low as u64, high as u64) as i32
}

const SYLLABLES: [&str; 10] = [
    "BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING",
];

/// Clause 4.3.2.3: the last name of a number in `0..=999`, one syllable per digit.
pub fn last_name(number: i32) -> String {
    let mut name = String::with_capacity(15);
    for digit in [number / 100, number / 10 % 10, number % 10] {
        name.push_str(SYLLABLES[digit as usize]);
    }
    name
}

const LONGEST: usize = 512;

/// A buffer for random strings.
#[derive(Debug)]
pub struct RandomText([u8; LONGEST]);

impl Default for RandomText {
    fn default() -> Self {
        Self([0; LONGEST])
    }
}

impl RandomText {
    fn shown(&self, len: usize) -> &str {
        std::str::from_utf8(&self.0[..len]).expect("only ASCII is ever written into the buffer")
    }

    fn draw(&mut self, rng: &mut Rng, low: usize, high: usize) -> usize {
        let len = rng.between(low as u64, high as u64) as usize;
        rng.fill_letters(&mut self.0[..len]);
        len
    }

    /// Clause 4.3.2.2: random a-string of `low..=high` letters and digits (at most 512).
    pub fn letters(&mut self, rng: &mut Rng, low: usize, high: usize) -> &str {
        let len = self.draw(rng, low, high);
        self.shown(len)
    }

    /// Clause 4.3.2.2: random n-string of exactly `len` digits.
    pub fn digits(&mut self, rng: &mut Rng, len: usize) -> &str {
        self.draw_digits(rng, len);
        self.shown(len)
    }

    fn draw_digits(&mut self, rng: &mut Rng, len: usize) {
        for byte in &mut self.0[..len] {
            *byte = b'0' + rng.between(0, 9) as u8;
        }
    }

    /// Clause 4.3.3.1: a state is two letters.
    pub fn state(&mut self, rng: &mut Rng) -> &str {
        for byte in &mut self.0[..2] {
            *byte = b'A' + rng.between(0, 25) as u8;
        }
        self.shown(2)
    }

    /// Clause 4.3.2.7: a zip code is four random digits and "11111".
    pub fn zip(&mut self, rng: &mut Rng) -> &str {
        self.draw_digits(rng, 4);
        self.0[4..9].copy_from_slice(b"11111");
        self.shown(9)
    }

    /// Clause 4.3.3.1 for I_DATA and S_DATA: a-string of 26 to 50; one in ten holds "ORIGINAL" at a random place.
    pub fn data(&mut self, rng: &mut Rng) -> &str {
        const MARK: &[u8] = b"ORIGINAL";
        let len = self.draw(rng, 26, 50);
        if rng.percent(10) {
            let at = rng.between(0, (len - MARK.len()) as u64) as usize;
            self.0[at..at + MARK.len()].copy_from_slice(MARK);
        }
        self.shown(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{prop_assert, prop_assert_eq, proptest};

    #[test]
    fn names_are_made_of_syllables() {
        assert_eq!(last_name(371), "PRICALLYOUGHT");
        assert_eq!(last_name(40), "BARPRESBAR");
        assert_eq!(last_name(0), "BARBARBAR");
        let all: std::collections::BTreeSet<_> = (0..1000).map(last_name).collect();
        assert_eq!(all.len(), 1000);
    }

    #[test]
    fn nurand_is_not_uniform() {
        let c = Constants::new(3);
        let mut rng = Rng::new(1);
        let mut counts = vec![0u32; 1000];
        for _ in 0..100_000 {
            counts[c.run_last_name(&mut rng) as usize] += 1;
        }
        counts.sort_unstable();
        assert!(
            counts[999] > 10 * counts[100].max(1),
            "{} {}",
            counts[999],
            counts[100]
        );
    }

    #[test]
    fn one_in_ten_data_strings_is_original() {
        let mut rng = Rng::new(5);
        let mut text = RandomText::default();
        let hits = (0..20_000)
            .filter(|_| text.data(&mut rng).contains("ORIGINAL"))
            .count();
        assert!((1_800..2_200).contains(&hits), "{hits}");
    }

    #[test]
    fn lengths_are_uniform_and_text_is_alphanumeric() {
        let mut rng = Rng::new(9);
        let mut text = RandomText::default();
        let mut sum = 0;
        for _ in 0..10_000 {
            let drawn = text.letters(&mut rng, 300, 500);
            assert!(
                (300..=500).contains(&drawn.len())
                    && drawn.bytes().all(|b| b.is_ascii_alphanumeric())
            );
            sum += drawn.len();
        }
        assert!((395..405).contains(&(sum / 10_000)), "{sum}");
        let zip = text.zip(&mut rng);
        assert!(
            zip.len() == 9 && zip.ends_with("11111") && zip.bytes().all(|b| b.is_ascii_digit())
        );
        assert_eq!(text.digits(&mut rng, 16).len(), 16);
    }

    proptest! {
        #[test]
        fn constants_follow_clause_2_1_6_1(seed: u64) {
            let c = Constants::new(seed);
            let delta = (c.run_last - c.load_last).abs();
            prop_assert!((65..=119).contains(&delta) && delta != 96 && delta != 112);
            prop_assert!((0..=255).contains(&c.load_last) && (0..=255).contains(&c.run_last));
            prop_assert!((0..=1023).contains(&c.customer) && (0..=8191).contains(&c.item));
            prop_assert_eq!(c, Constants::new(seed));
        }

        #[test]
        fn nurand_keeps_its_bounds(seed: u64) {
            let c = Constants::new(seed);
            let mut rng = Rng::new(seed);
            for _ in 0..200 {
                prop_assert!((1..=3000).contains(&c.customer_id(&mut rng)));
                prop_assert!((1..=100_000).contains(&c.item_id(&mut rng)));
                prop_assert!((0..=999).contains(&c.load_last_name(&mut rng)));
                prop_assert!((0..=999).contains(&c.run_last_name(&mut rng)));
            }
        }
    }
}
