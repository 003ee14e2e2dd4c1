//! Some of the members of an array.

use std::iter;
use std::ops::{BitAnd, BitOr, Sub};

/// Members by number, 0 to 63.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct MemberSet(u64);

impl MemberSet {
    pub const MOST: u32 = 64;
    pub const NONE: Self = Self(0);

    pub const fn of(member: u32) -> Self {
        Self(1 << member)
    }

    /// Members 0 to `count` − 1.
    pub const fn first(count: u32) -> Self {
        match count {
            0 => Self(0),
            _ => Self(u64::MAX >> (Self::MOST - count)),
        }
    }

    pub const fn contains(self, member: u32) -> bool {
        self.0 >> member & 1 == 1
    }

    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn iter(self) -> impl Iterator<Item = u32> {
        let mut left = self.0;
        iter::from_fn(move || {
            let next = (left != 0).then(|| left.trailing_zeros())?;
            left &= left - 1;
            Some(next)
        })
    }
}

impl FromIterator<u32> for MemberSet {
    fn from_iter<I: IntoIterator<Item = u32>>(members: I) -> Self {
        members
            .into_iter()
            .fold(Self::NONE, |set, member| set | Self::of(member))
    }
}

impl BitOr for MemberSet {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for MemberSet {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl Sub for MemberSet {
    type Output = Self;
    /// Those that `other` does not hold.
    fn sub(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}
