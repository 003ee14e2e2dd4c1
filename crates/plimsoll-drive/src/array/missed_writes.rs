//! What members that were missing have not been written, so that one that is there again is not filled whole.

use roaring::RoaringBitmap;

/// Bytes of members, in regions: those of the bitmap, where there is one. All members count as one, which copies more than
/// is needed after several have been missing at different times.
#[derive(Debug, Clone)]
pub struct MissedWrites {
    region: u64,
    regions: RoaringBitmap,
}

/// From where to where on a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberBytes {
    pub from: u64,
    pub to: u64,
}

impl MissedWrites {
    /// `region` has at least 64 KiB, so that numbers of regions have 32 bits.
    pub fn new(region: u64) -> Self {
        Self {
            region,
            regions: RoaringBitmap::new(),
        }
    }

    pub fn add(&mut self, from: u64, to: u64) {
        let [first, end] = [from / self.region, to.div_ceil(self.region)].map(|own| own as u32);
        self.regions.insert_range(first..end);
    }

    /// No member is missing any more.
    pub fn clear(&mut self) {
        self.regions.clear();
    }

    /// The next region, or what is left of one, from there on.
    pub fn next(&self, from: u64) -> Option<MemberBytes> {
        let first = (from / self.region) as u32;
        let number = u64::from(self.regions.range(first..).next()?);
        Some(MemberBytes {
            from: (number * self.region).max(from),
            to: (number + 1) * self.region,
        })
    }
}
