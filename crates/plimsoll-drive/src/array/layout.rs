//! Where an array keeps its data: RAID levels, chunks and stripes.
//!
//! A chunk is the run of bytes that lies on one member. Chunks at the same place of all members are a stripe. Layouts are
//! those of Linux md: left-symmetric for RAID 5 and 6, near for RAID 10 (man 4 md), and Synology's F1
//! (`raid5_compute_sector` of its kernel).

use plimsoll_plan::array::{ArraySpec, RaidLevel};

use super::member_set::MemberSet;
use crate::model::Op;

/// How many more parities F1's first member has in a cycle of stripes.
const F1_MORE_PARITIES: u64 = 1;

/// What lies where. Every byte of the array has one place, and with copies one on each of as many different members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrayLayout {
    pub level: RaidLevel,
    pub members: u32,
    pub copies: u32,
    /// In bytes; RAID 1 has one as large as a member.
    pub chunk: u64,
    /// Chunks of each member.
    pub rows: u64,
}

/// A chunk on a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChunkPlace {
    pub member: u32,
    pub row: u64,
}

impl ArrayLayout {
    /// Of members of which each has so many bytes.
    pub fn new(array: &ArraySpec, member: u64) -> Self {
        let chunk = array.chunk_of(member);
        Self {
            level: array.level,
            members: array.members,
            copies: array.copies(),
            chunk,
            rows: member / chunk,
        }
    }

    /// Where the copies of a chunk are, of levels without parity.
    pub fn places(&self, chunk: u64) -> impl Iterator<Item = ChunkPlace> {
        let members = u64::from(self.members);
        let copies = u64::from(self.copies);
        (0..copies).map(move |copy| {
            let at = chunk * copies + copy;
            ChunkPlace {
                member: (at % members) as u32,
                row: at / members,
            }
        })
    }

    /// Of levels with parity.
    pub fn stripe(&self, row: u64) -> Stripe {
        let n = u64::from(self.members);
        let more = match self.level {
            RaidLevel::RaidF1 => F1_MORE_PARITIES,
            _ => 0,
        };
        let p = (n - 1).saturating_sub(row % (n + more)) as u32;
        Stripe {
            members: self.members,
            p,
            q: (self.level == RaidLevel::Raid6).then(|| (p + 1) % self.members),
        }
    }

    /// Bytes of data in a stripe.
    pub fn stripe_bytes(&self) -> u64 {
        self.chunk * u64::from(self.members - self.level.parities())
    }
}

/// What the members of a stripe hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stripe {
    members: u32,
    p: u32,
    q: Option<u32>,
}

impl Stripe {
    /// The member with a chunk of data, by its number in the stripe.
    pub fn data(&self, chunk: u32) -> u32 {
        (self.q.unwrap_or(self.p) + 1 + chunk) % self.members
    }

    pub fn parities(&self) -> MemberSet {
        [Some(self.p), self.q].into_iter().flatten().collect()
    }

    /// P, and Q where there is one.
    #[cfg(test)]
    pub fn ordered_parities(&self) -> Vec<u32> {
        [Some(self.p), self.q].into_iter().flatten().collect()
    }

    pub fn all_data(&self) -> MemberSet {
        MemberSet::first(self.members) - self.parities()
    }

    /// What md reads and writes when `written` of the data members are written without those that are `lost`
    /// (`handle_stripe_dirtying` in drivers/md/raid5.c): parity is changed by the difference of old and new data
    /// (read-modify-write) if that takes fewer reads than computing it anew from all data (reconstruct-write).
    ///
    /// Parity that is lost is not computed. Where both ways need a lost chunk, that is computed first, from all that is
    /// left.
    pub fn write(&self, written: MemberSet, lost: MemberSet) -> RowRequests {
        let parities = self.parities() - lost;
        let writes = (written - lost) | parities;
        let unwritten = self.all_data() - written;
        let modify = ((written & lost).is_empty()).then_some(written | parities);
        let reconstruct = ((unwritten & lost).is_empty()).then_some(unwritten);
        let reads = match (modify, reconstruct) {
            _ if parities.is_empty() => MemberSet::NONE,
            (Some(modify), Some(reconstruct)) if modify.len() < reconstruct.len() => modify,
            (_, Some(reconstruct)) => reconstruct,
            (Some(modify), None) => modify,
            (None, None) => self.read(lost, lost),
        };
        RowRequests { reads, writes }
    }

    /// What is read for `wanted`: with a lost member among them, all that is left.
    pub fn read(&self, wanted: MemberSet, lost: MemberSet) -> MemberSet {
        if (wanted & lost).is_empty() {
            wanted
        } else {
            MemberSet::first(self.members) - lost
        }
    }
}

/// Members that are read, and then members that are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowRequests {
    pub reads: MemberSet,
    pub writes: MemberSet,
}

/// Bytes of a chunk or of a stripe's data.
#[derive(Debug, Clone, Copy)]
pub struct ArrayRange {
    pub number: u64,
    pub from: u64,
    pub to: u64,
}

/// A request in parts of at most `size` bytes, none across a multiple of it.
pub fn split(op: Op, size: u64) -> impl Iterator<Item = ArrayRange> {
    let end = op.offset.saturating_add(op.len);
    (op.offset / size..end.div_ceil(size)).map(move |number| ArrayRange {
        number,
        from: op.offset.max(number * size) - number * size,
        to: (end - number * size).min(size),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_plan::units::Bytes;
    use proptest::prelude::*;

    fn array(level: RaidLevel, members: u32) -> ArraySpec {
        ArraySpec {
            chunk: Bytes(4096),
            ..ArraySpec::new(level, members)
        }
    }

    fn layout(level: RaidLevel, members: u32) -> ArrayLayout {
        ArrayLayout::new(&array(level, members), 4096 * 1000)
    }

    /// Reads and writes of a write of one chunk, with data chunks or parities of its stripe lost.
    fn small_write(level: RaidLevel, members: u32, lost: &[u32]) -> (u32, u32) {
        let stripe = layout(level, members).stripe(5);
        let own = stripe.write(
            MemberSet::of(stripe.data(0)),
            lost.iter().copied().collect(),
        );
        (own.reads.len(), own.writes.len())
    }

    /// The table of Linux md's costs: N = 3 to 8.
    #[test]
    fn a_small_write_costs_what_it_costs_md() {
        let of = |level, fewest| (fewest..=8).map(move |n| small_write(level, n, &[]));
        let raid5 = [(1, 2), (2, 2), (2, 2), (2, 2), (2, 2), (2, 2)];
        assert!(of(RaidLevel::Raid5, 3).eq(raid5));
        assert!(of(RaidLevel::RaidF1, 3).eq(raid5));
        assert!(of(RaidLevel::Raid6, 4).eq([(1, 3), (2, 3), (3, 3), (3, 3), (3, 3)]));
    }

    #[test]
    fn a_degraded_write_reads_what_is_left() {
        for members in 3..=8 {
            let stripe = layout(RaidLevel::Raid5, members).stripe(5);
            let [own, other, p] = [stripe.data(0), stripe.data(1), stripe.p];
            let level = RaidLevel::Raid5;
            assert_eq!(small_write(level, members, &[own]), (members - 2, 1));
            assert_eq!(small_write(level, members, &[p]), (0, 1));
            // The chunk to be written can be read, the lost one cannot: read-modify-write.
            assert_eq!(small_write(level, members, &[other]), (2, 2));
        }
        for members in 5..=8 {
            let stripe = layout(RaidLevel::Raid6, members).stripe(5);
            let [own, other] = [stripe.data(0), stripe.data(1)];
            let level = RaidLevel::Raid6;
            assert_eq!(small_write(level, members, &[own]), (members - 3, 2));
            assert_eq!(small_write(level, members, &[own, other]), (members - 2, 2));
        }
    }

    #[test]
    fn a_full_stripe_is_written_without_reading_and_a_lost_chunk_read_from_all_others() {
        for members in 4..=8 {
            for level in [RaidLevel::Raid5, RaidLevel::Raid6, RaidLevel::RaidF1] {
                let stripe = layout(level, members).stripe(3);
                let full = stripe.write(stripe.all_data(), MemberSet::NONE);
                assert_eq!((full.reads.len(), full.writes.len()), (0, members));
                let lost = MemberSet::of(stripe.data(1));
                assert_eq!(stripe.read(lost, lost).len(), members - 1);
                assert_eq!(stripe.read(lost, MemberSet::NONE), lost);
            }
        }
    }

    /// The first member has 1 + u of N + u parities, each other one has one; a small write goes to a data member, all
    /// equally often, and to the parity.
    #[test]
    fn f1_wears_its_first_member_most() {
        let share = |level, members: u32| {
            let cycle = u64::from(members + 1) * u64::from(members);
            let writes = (0..cycle).flat_map(|row| {
                let stripe = layout(level, members).stripe(row);
                let own = (0..members - 1).map(move |chunk| stripe.data(chunk));
                own.flat_map(move |data| [data, stripe.p])
            });
            let mut of_first = 0;
            for member in writes {
                of_first += u64::from(member == 0);
            }
            of_first as f64 / (cycle * u64::from(members - 1)) as f64
        };
        assert!((share(RaidLevel::RaidF1, 6) - 3.0 / 7.0).abs() < 1e-12);
        assert!((share(RaidLevel::RaidF1, 24) - 3.0 / 25.0).abs() < 1e-12);
        assert!((share(RaidLevel::Raid5, 6) - 2.0 / 6.0).abs() < 1e-12);
    }

    proptest! {
        /// No two chunks share a place, copies are on different members, and every place is within its member.
        #[test]
        fn every_chunk_has_its_own_place(level in 0usize..3, members in 2u32..9, rows in 1u64..40) {
            let level = RaidLevel::ALL[level];
            let array = array(level, members);
            let layout = ArrayLayout::new(&array, 4096 * rows);
            let mut used = std::collections::HashSet::new();
            for chunk in 0..array.usable(4096 * rows) / layout.chunk {
                let own: Vec<ChunkPlace> = layout.places(chunk).collect();
                let on: MemberSet = own.iter().map(|place| place.member).collect();
                prop_assert_eq!(on.len(), layout.copies);
                for place in own {
                    prop_assert!(place.row < layout.rows && used.insert(place));
                }
            }
        }

        /// Data and parity are on different members, and all members are in each stripe.
        #[test]
        fn a_stripe_uses_each_member_once(level in 3usize..6, members in 4u32..30, row in 0u64..10_000) {
            let level = RaidLevel::ALL[level];
            let stripe = layout(level, members).stripe(row);
            let data: MemberSet = (0..members - level.parities()).map(|chunk| stripe.data(chunk)).collect();
            prop_assert_eq!(data, stripe.all_data());
            prop_assert_eq!(stripe.parities().len(), level.parities());
            prop_assert_eq!(data.len() + level.parities(), members);
        }

        /// What is written and read is on members that are left.
        #[test]
        fn nothing_is_asked_of_a_lost_member(members in 4u32..10, row in 0u64..50, written in 1u64..256, lost in 0u32..10) {
            let stripe = layout(RaidLevel::Raid6, members).stripe(row);
            let lost = MemberSet::of(lost % members);
            let written: MemberSet = (0..members - 2).filter(|chunk| written >> chunk & 1 == 1).map(|chunk| stripe.data(chunk)).collect();
            let own = stripe.write(written, lost);
            prop_assert!((own.reads & lost).is_empty() && (own.writes & lost).is_empty());
            prop_assert!(stripe.read(written, lost).iter().all(|member| member != lost.iter().next().unwrap()));
        }
    }
}
