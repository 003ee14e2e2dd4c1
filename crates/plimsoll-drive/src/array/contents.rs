//! Arrays with contents, for tests: what a layout's requests suffice for.
//!
//! Every block of 4 KiB is one byte. Parity is computed from what the layout's requests read and from new data, from
//! nothing else, so that a request too few shows as wrong data.

use std::collections::HashMap;

use plimsoll_plan::array::RaidLevel;
use proptest::prelude::*;

use super::layout::{ArrayLayout, ArrayRange};
use super::member_set::MemberSet;
use super::members::MemberRange;
use super::stripe_writes::{StripeWrite, WritePart, read_pieces};
use crate::model::RequestId;
use plimsoll_plan::array::ArraySpec;
use plimsoll_plan::units::Bytes;

const BLOCK: u64 = 4096;

/// Products in the field of RAID 6, with the polynomial 0x11d (H. Peter Anvin, The mathematics of RAID-6).
fn times(mut a: u8, mut b: u8) -> u8 {
    let mut product = 0;
    while b != 0 {
        if b & 1 == 1 {
            product ^= a;
        }
        a = (a << 1) ^ if a & 0x80 == 0 { 0 } else { 0x1d };
        b >>= 1;
    }
    product
}

fn power_of_two(exponent: u32) -> u8 {
    (0..exponent).fold(1, |power, _| times(power, 2))
}

fn divided(a: u8, b: u8) -> u8 {
    (0..=255).find(|own| times(*own, b) == a).unwrap()
}

/// The values of one block of a stripe, by member.
type Values = HashMap<u32, u8>;

/// The members of a stripe by what they hold.
struct Roles {
    data: Vec<u32>,
    parities: Vec<u32>,
}

impl Roles {
    fn of(layout: &ArrayLayout, row: u64) -> Self {
        let stripe = layout.stripe(row);
        let count = layout.members - layout.level.parities();
        Self {
            data: (0..count).map(|chunk| stripe.data(chunk)).collect(),
            parities: stripe.ordered_parities(),
        }
    }

    /// Σ gⁱ · dᵢ over the chunks that are known, with g = 1 for P and 2 for Q.
    fn sum(&self, values: &Values, parity: usize) -> u8 {
        let known = (0..)
            .zip(&self.data)
            .filter_map(|(at, member)| Some((at, *values.get(member)?)));
        known.fold(0, |sum, (at, value)| sum ^ times(weight(at, parity), value))
    }

    /// All values of the stripe from some of them; `None` if those do not suffice.
    fn solve(&self, known: &Values) -> Option<Values> {
        let unknown: Vec<u32> = (0..self.data.len() as u32)
            .filter(|at| !known.contains_key(&self.data[*at as usize]))
            .collect();
        let rest = |parity: usize| {
            let value = known.get(self.parities.get(parity)?)?;
            Some(value ^ self.sum(known, parity))
        };
        let mut all = known.clone();
        match *unknown.as_slice() {
            [] => {}
            [one] => {
                let value = match rest(0) {
                    Some(p) => p,
                    None => divided(rest(1)?, weight(one, 1)),
                };
                all.insert(self.data[one as usize], value);
            }
            [one, two] => {
                let (p, q) = (rest(0)?, rest(1)?);
                let (g1, g2) = (weight(one, 1), weight(two, 1));
                let value = divided(q ^ times(g2, p), g1 ^ g2);
                all.insert(self.data[one as usize], value);
                all.insert(self.data[two as usize], p ^ value);
            }
            _ => return None,
        }
        for (parity, member) in self.parities.iter().enumerate() {
            all.insert(*member, self.sum(&all, parity));
        }
        Some(all)
    }
}

fn weight(at: u32, parity: usize) -> u8 {
    match parity {
        0 => 1,
        _ => power_of_two(at),
    }
}

fn array(level: RaidLevel, members: u32, chunk: u64) -> ArraySpec {
    ArraySpec {
        chunk: Bytes(chunk),
        ..ArraySpec::new(level, members)
    }
}

/// An array of blocks with values; those of failed members are gone.
struct Contents {
    spec: ArraySpec,
    layout: ArrayLayout,
    lost: MemberSet,
    /// A new member, and the rows of it that are rebuilt.
    rebuilding: Option<(u32, u64)>,
    blocks: HashMap<(u32, u64), u8>,
}

impl Contents {
    fn new(level: RaidLevel, members: u32) -> Self {
        let spec = array(level, members, 2 * BLOCK);
        Self {
            layout: ArrayLayout::new(&spec, 8 * BLOCK),
            spec,
            lost: MemberSet::NONE,
            rebuilding: None,
            blocks: HashMap::new(),
        }
    }

    fn lost_in(&self, row: u64) -> MemberSet {
        match self.rebuilding {
            Some((member, rows)) if row >= rows => self.lost | MemberSet::of(member),
            _ => self.lost,
        }
    }

    fn get(&self, member: u32, block: u64) -> u8 {
        self.blocks.get(&(member, block)).copied().unwrap_or(0)
    }

    /// What pieces read of one block of each member.
    fn read(&self, pieces: &[MemberRange], block: u64) -> Values {
        let own = pieces
            .iter()
            .filter(|piece| (piece.from..piece.to).contains(&(block * BLOCK)));
        own.map(|piece| (piece.member, self.get(piece.member, block)))
            .collect()
    }

    /// Blocks of a stripe's data, from the first on.
    fn write(&mut self, row: u64, first: u64, values: &[u8]) {
        let part = WritePart {
            host: RequestId::new(0),
            from: first * BLOCK,
            to: (first + values.len() as u64) * BLOCK,
        };
        let write = StripeWrite {
            row,
            parts: vec![part],
        };
        let pieces = write.pieces(&self.layout, self.lost_in(row));
        let roles = Roles::of(&self.layout, row);
        let in_chunk = self.layout.chunk / BLOCK;
        for at in 0..in_chunk {
            let block = row * in_chunk + at;
            let new: Values = (first..)
                .zip(values)
                .filter(|(place, _)| place % in_chunk == at)
                .map(|(place, value)| (roles.data[(place / in_chunk) as usize], *value))
                .collect();
            let changed = changed(&roles, &self.read(&pieces.reads, block), &new);
            for piece in &pieces.writes {
                if (piece.from..piece.to).contains(&(block * BLOCK)) {
                    self.blocks
                        .insert((piece.member, block), changed[&piece.member]);
                }
            }
        }
    }

    /// A block of a stripe's data, by its number in the stripe.
    fn value(&self, row: u64, place: u64) -> u8 {
        let range = ArrayRange {
            number: row,
            from: place * BLOCK,
            to: (place + 1) * BLOCK,
        };
        let in_chunk = self.layout.chunk / BLOCK;
        let pieces = read_pieces(&self.layout, range, self.lost_in(row));
        let known = self.read(&pieces, row * in_chunk + place % in_chunk);
        let roles = Roles::of(&self.layout, row);
        let member = roles.data[(place / in_chunk) as usize];
        match known.get(&member) {
            Some(value) => *value,
            None => roles.solve(&known).unwrap()[&member],
        }
    }

    fn fail(&mut self, member: u32) {
        self.rebuilding = self.rebuilding.filter(|(own, _)| *own != member);
        self.lost = self.lost | MemberSet::of(member);
        self.blocks.retain(|(own, _), _| *own != member);
    }

    fn replace(&mut self, member: u32) {
        self.lost = self.lost - MemberSet::of(member);
        self.rebuilding = Some((member, 0));
    }

    /// The next row of the new member is computed from the others.
    fn rebuild_row(&mut self) {
        let Some((member, row)) = self.rebuilding else {
            return;
        };
        let in_chunk = self.layout.chunk / BLOCK;
        let roles = Roles::of(&self.layout, row);
        let others = MemberSet::first(self.layout.members) - self.lost_in(row);
        for block in row * in_chunk..(row + 1) * in_chunk {
            let known = others
                .iter()
                .map(|own| (own, self.get(own, block)))
                .collect();
            let value = roles.solve(&known).unwrap()[&member];
            self.blocks.insert((member, block), value);
        }
        self.rebuilding = (row + 1 < self.layout.rows).then_some((member, row + 1));
    }
}

/// The stripe's values after a write, from those that were read.
fn changed(roles: &Roles, read: &Values, new: &Values) -> Values {
    let after = |mut old: Values| {
        old.extend(new);
        old
    };
    let all_data_known = roles
        .data
        .iter()
        .all(|own| read.contains_key(own) || new.contains_key(own));
    if all_data_known {
        let data = after(read.clone())
            .into_iter()
            .filter(|(own, _)| roles.data.contains(own));
        return roles.solve(&data.collect()).unwrap();
    }
    if new.keys().all(|own| read.contains_key(own)) {
        // Read-modify-write: parity changes by the difference.
        let difference = new
            .iter()
            .map(|(own, value)| (*own, value ^ read[own]))
            .collect();
        let mut all = after(Values::new());
        for (parity, member) in roles.parities.iter().enumerate() {
            if let Some(old) = read.get(member) {
                all.insert(*member, old ^ roles.sum(&difference, parity));
            }
        }
        return all;
    }
    let Some(old) = roles.solve(read) else {
        // No parity is left to be computed.
        return new.clone();
    };
    let data = after(old)
        .into_iter()
        .filter(|(own, _)| roles.data.contains(own));
    roles.solve(&data.collect()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever is written, and whichever members fail and are replaced within what the level bears: everything reads
    /// back.
    #[test]
    fn everything_written_reads_back_through_failures(
        level in 3usize..6,
        members in 4u32..9,
        seed in any::<u64>(),
    ) {
        let level = RaidLevel::ALL[level];
        let mut contents = Contents::new(level, members);
        let per_stripe = contents.layout.stripe_bytes() / BLOCK;
        let rows = contents.layout.rows;
        let mut truth: HashMap<(u64, u64), u8> = HashMap::new();
        let mut random = crate::model::Random::new(seed);
        for _ in 0..60 {
            let member = random.below(u64::from(members)) as u32;
            let missing = contents.lost | contents.rebuilding.map_or(MemberSet::NONE, |(own, _)| MemberSet::of(own));
            match random.below(8) {
                0 if contents.spec.survives(|own| own == member || missing.contains(own)) => contents.fail(member),
                1 if contents.lost.contains(member) && contents.rebuilding.is_none() => contents.replace(member),
                2 | 3 => contents.rebuild_row(),
                _ => {
                    let (row, first) = (random.below(rows), random.below(per_stripe));
                    let count = random.below(per_stripe - first) + 1;
                    let values: Vec<u8> = (0..count).map(|_| random.draw() as u8).collect();
                    contents.write(row, first, &values);
                    truth.extend((first..).zip(&values).map(|(place, value)| ((row, place), *value)));
                }
            }
            for ((row, place), value) in &truth {
                prop_assert_eq!(contents.value(*row, *place), *value);
            }
        }
    }

    /// A level bears the loss of members if and only if what is left determines all data.
    #[test]
    fn a_level_bears_what_its_parity_determines(level in 3usize..6, members in 4u32..9, lost in 0u64..256, row in 0u64..20) {
        let spec = array(RaidLevel::ALL[level], members, BLOCK);
        let layout = ArrayLayout::new(&spec, 40 * BLOCK);
        let lost: MemberSet = (0..members).filter(|own| lost >> own & 1 == 1).collect();
        let roles = Roles::of(&layout, row);
        let data: Values = (0..).zip(&roles.data).map(|(at, own)| (*own, 17 * at + 3)).collect();
        let all = roles.solve(&data).unwrap();
        let left = all.iter().filter(|(own, _)| !lost.contains(**own)).map(|(own, value)| (*own, *value)).collect();
        let solved = roles.solve(&left);
        if spec.survives(|own| lost.contains(own)) {
            prop_assert_eq!(solved.unwrap(), all);
        } else {
            // A lost parity costs no data.
            let lost_data = roles.data.iter().filter(|own| lost.contains(**own)).count();
            let parities_left = roles.parities.iter().filter(|own| !lost.contains(**own)).count();
            prop_assert_eq!(solved.is_some(), lost_data <= parities_left);
        }
    }
}
