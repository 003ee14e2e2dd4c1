//! Arrays of drives, by name (see [`crate::assembly`]): `raid10:4:nvme:chunk=64KiB:failed=2`.

use serde::{Deserialize, Serialize};

use crate::size;
use crate::units::Bytes;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RaidLevel {
    Raid0,
    Raid1,
    /// Two copies, near layout.
    Raid10,
    Raid5,
    Raid6,
    /// RAID 5 with one more parity in each cycle of stripes, all on the first member, which so wears out first.
    RaidF1,
}

impl RaidLevel {
    pub const ALL: [Self; 6] = [
        Self::Raid0,
        Self::Raid1,
        Self::Raid10,
        Self::Raid5,
        Self::Raid6,
        Self::RaidF1,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Raid0 => "raid0",
            Self::Raid1 => "raid1",
            Self::Raid10 => "raid10",
            Self::Raid5 => "raid5",
            Self::Raid6 => "raid6",
            Self::RaidF1 => "raidf1",
        }
    }

    /// As people write it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Raid0 => "RAID 0",
            Self::Raid1 => "RAID 1",
            Self::Raid10 => "RAID 10",
            Self::Raid5 => "RAID 5",
            Self::Raid6 => "RAID 6",
            Self::RaidF1 => "RAID F1",
        }
    }

    pub const fn fewest_members(self) -> u32 {
        match self {
            Self::Raid0 | Self::Raid1 | Self::Raid10 => 2,
            Self::Raid5 | Self::RaidF1 => 3,
            Self::Raid6 => 4,
        }
    }

    pub const fn parities(self) -> u32 {
        match self {
            Self::Raid0 | Self::Raid1 | Self::Raid10 => 0,
            Self::Raid5 | Self::RaidF1 => 1,
            Self::Raid6 => 2,
        }
    }
}

/// An array of equal drives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArraySpec {
    pub level: RaidLevel,
    pub members: u32,
    /// Bytes that lie on one member before the next one follows.
    #[serde(default = "default_chunk")]
    pub chunk: Bytes,
    /// Members that are missing, by number from 0.
    #[serde(default)]
    pub failed: Vec<u32>,
    /// A member that is new and is filled from the others.
    #[serde(default)]
    pub rebuild: Option<u32>,
    /// A write-intent bitmap on every member: bytes of a member for one bit.
    #[serde(default)]
    pub bitmap: Option<Bytes>,
}

/// That of md (`DEFAULT_CHUNK` in mdadm.h).
const fn default_chunk() -> Bytes {
    Bytes(512 << 10)
}

const MOST_MEMBERS: u32 = 64;
const LEAST_REGION: Bytes = Bytes(64 << 10);

/// No array can be made like this.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArrayError {
    #[error("`{0}` is not a number of members from 2 to 64")]
    Members(u32),
    #[error("{level} needs at least {fewest} members, there are {members}", level = .level.name())]
    TooFew {
        level: RaidLevel,
        fewest: u32,
        members: u32,
    },
    #[error("a chunk is a multiple of 4 KiB up to 1 GiB, this one is {0}")]
    Chunk(Bytes),
    #[error(
        "a bit of the bitmap stands for a multiple of 4 KiB from {LEAST_REGION} on, this one for {0}"
    )]
    Region(Bytes),
    #[error("there is no member {member}: members are numbered from 0 to {last}")]
    NoMember { member: u32, last: u32 },
    #[error("{level} of {members} drives loses data without the members {missing}", level = .level.name())]
    DataLost {
        level: RaidLevel,
        members: u32,
        missing: String,
    },
}

impl ArraySpec {
    /// Whole, and with everything else as md has it.
    pub const fn new(level: RaidLevel, members: u32) -> Self {
        Self {
            level,
            members,
            chunk: default_chunk(),
            failed: Vec::new(),
            rebuild: None,
            bitmap: None,
        }
    }

    /// # Errors
    /// The level does not go with the members, or too many are missing.
    pub fn check(&self) -> Result<(), ArrayError> {
        let fewest = self.level.fewest_members();
        let members = self.members;
        if members < fewest {
            return Err(ArrayError::TooFew {
                level: self.level,
                fewest,
                members,
            });
        }
        if members > MOST_MEMBERS {
            return Err(ArrayError::Members(members));
        }
        let is_whole = self.chunk.0.is_multiple_of(4096);
        if !is_whole || !(4096..=1 << 30).contains(&self.chunk.0) {
            return Err(ArrayError::Chunk(self.chunk));
        }
        if let Some(region) = self.bitmap
            && (!region.0.is_multiple_of(4096) || region.0 < LEAST_REGION.0)
        {
            return Err(ArrayError::Region(region));
        }
        let missing: Vec<u32> = self.failed.iter().chain(&self.rebuild).copied().collect();
        if let Some(member) = missing.iter().find(|own| **own >= members) {
            return Err(ArrayError::NoMember {
                member: *member,
                last: members - 1,
            });
        }
        if self.survives(|member| missing.contains(&member)) {
            return Ok(());
        }
        let missing: Vec<String> = missing.iter().map(u32::to_string).collect();
        Err(ArrayError::DataLost {
            level: self.level,
            members,
            missing: missing.join(", "),
        })
    }

    /// Copies of each chunk.
    pub const fn copies(&self) -> u32 {
        match self.level {
            RaidLevel::Raid1 => self.members,
            RaidLevel::Raid10 => 2,
            _ => 1,
        }
    }

    /// Whether all data can be read without the members that are lost.
    pub fn survives(&self, is_lost: impl Fn(u32) -> bool) -> bool {
        let parities = self.level.parities();
        if parities > 0 {
            let lost = (0..self.members).filter(|member| is_lost(*member)).count();
            return lost <= parities as usize;
        }
        // Copies are on members that follow each other; after as many chunks as there are members they repeat.
        let copies = self.copies();
        (0..self.members).all(|chunk| {
            let mut of_chunk = (0..copies).map(|copy| (chunk * copies + copy) % self.members);
            of_chunk.any(|member| !is_lost(member))
        })
    }

    /// Chunks of data in a row of one chunk of each member, times the copies.
    const fn data_in_row(&self) -> u64 {
        (self.members - self.level.parities()) as u64
    }

    /// The chunk in use: RAID 1 has none, all of a member is one.
    pub const fn chunk_of(&self, member: u64) -> u64 {
        match self.level {
            RaidLevel::Raid1 if member > 0 => member,
            _ => self.chunk.0,
        }
    }

    /// Bytes that the array holds, of members with so many bytes.
    pub const fn usable(&self, member: u64) -> u64 {
        let chunk = self.chunk_of(member);
        let chunks = member / chunk * self.data_in_row() / self.copies() as u64;
        chunks.saturating_mul(chunk)
    }

    /// Bytes of each member of an array that holds at least so many.
    pub const fn member_bytes(&self, usable: u64) -> u64 {
        let chunk = self.chunk_of(usable);
        let chunks = usable.div_ceil(chunk) * self.copies() as u64;
        chunks.div_ceil(self.data_in_row()) * chunk
    }

    /// Sets what an option of a name states; `None` if there is no such option.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Option<()> {
        match key {
            "chunk" => self.chunk = size::parse(value).ok()?,
            "bitmap" => self.bitmap = Some(size::parse(value).ok()?),
            "failed" => {
                let members = value.split('+').map(|member| member.parse().ok());
                self.failed = members.collect::<Option<_>>()?;
            }
            "rebuild" => self.rebuild = Some(value.parse().ok()?),
            _ => return None,
        }
        Some(())
    }

    /// The end of its name.
    pub(crate) fn options(&self) -> String {
        let mut text = String::new();
        if self.chunk != default_chunk() {
            text.push_str(&format!(":chunk={}", size::write(self.chunk)));
        }
        if let Some(region) = self.bitmap {
            text.push_str(&format!(":bitmap={}", size::write(region)));
        }
        if !self.failed.is_empty() {
            let failed: Vec<String> = self.failed.iter().map(u32::to_string).collect();
            text.push_str(&format!(":failed={}", failed.join("+")));
        }
        if let Some(member) = self.rebuild {
            text.push_str(&format!(":rebuild={member}"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn members_hold_what_the_array_holds(level in 0usize..6, members in 4u32..20, usable in 1u64..1 << 44) {
            let array = ArraySpec::new(RaidLevel::ALL[level], members);
            let member = array.member_bytes(usable);
            prop_assert!(array.usable(member) >= usable);
            // No more than a row of chunks too many.
            let row = u64::from(members) * array.chunk_of(member).min(array.chunk.0);
            prop_assert!(array.usable(member) - usable <= row);
        }
    }
}
