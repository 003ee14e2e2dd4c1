//! Arrays of drives, by name (see [`crate::assembly`]): `raid10:4:nvme:chunk=64KiB:failed=2`.

use serde::{Deserialize, Serialize};

use crate::network::{self, NetworkSpec};
use crate::option_text::{changed, options};
use crate::units::{Bytes, Nanos};
use crate::{duration, size};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::IntoStaticStr, strum::EnumString, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
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
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    pub fn name(self) -> &'static str {
        self.into()
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
    /// Drives that take the places of members that fail, at once.
    #[serde(default, skip_serializing_if = "is_none")]
    pub spares: u32,
    /// A write-intent bitmap: bytes of a member for one bit.
    #[serde(default)]
    pub bitmap: Option<Bytes>,
    #[serde(default, skip_serializing_if = "BitmapPlace::is_internal")]
    pub bitmap_on: BitmapPlace,
    /// Processor time of one thread for each row of 4 KiB over all members that is written.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stack: Nanos,
    /// Between the array and its host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkSpec>,
    /// Of its controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<Bytes>,
    /// Writes are complete when they are in the cache, which a battery keeps; else when they are in the array.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub battery: bool,
    /// Of stripes with parity, on a drive of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<JournalMode>,
}

/// Where a write-intent bitmap is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum BitmapPlace {
    /// On every member.
    #[default]
    Internal,
    /// In a file on a drive of its own.
    External,
}

impl BitmapPlace {
    pub fn name(self) -> &'static str {
        self.into()
    }

    const fn is_internal(&self) -> bool {
        matches!(self, Self::Internal)
    }
}

/// When a write to an array with a journal is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum JournalMode {
    /// When it is in the array, after it was in the journal.
    WriteThrough,
    /// When it is in the journal.
    WriteBack,
}

impl JournalMode {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

const fn yes() -> bool {
    true
}

const fn is_yes(set: &bool) -> bool {
    *set
}

const fn is_none(count: &u32) -> bool {
    *count == 0
}

fn is_zero(time: &Nanos) -> bool {
    time.0 == 0
}

/// That of md (`DEFAULT_CHUNK` in mdadm.h).
const fn default_chunk() -> Bytes {
    Bytes(512 << 10)
}

const MOST_MEMBERS: u32 = 64;
const MOST_SPARES: u32 = 16;
const LEAST_CACHE: Bytes = Bytes(1 << 20);
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
    #[error("an array has at most {MOST_SPARES} spares, this one {0}")]
    Spares(u32),
    #[error("raid0 has nothing to fill a spare from")]
    SpareOfRaid0,
    #[error("an external bitmap goes with bitmap=SIZE")]
    NoBitmap,
    #[error("a network has 1 to {fastest} Gbit/s, this one has {0}", fastest = network::FASTEST_GBIT)]
    Network(u32),
    #[error("a cache has at least {LEAST_CACHE}, this one {0}")]
    Cache(Bytes),
    #[error("a battery goes with a cache")]
    Battery,
    #[error("a journal goes with raid5, raid6 and raidf1, not with {}", .0.name())]
    Journal(RaidLevel),
    #[error("a journal goes with neither a bitmap nor a cache")]
    Exclusive,
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
            spares: 0,
            bitmap: None,
            bitmap_on: BitmapPlace::Internal,
            stack: Nanos::ZERO,
            network: None,
            cache: None,
            battery: yes(),
            journal: None,
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
        self.check_options()?;
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

    fn check_options(&self) -> Result<(), ArrayError> {
        if let Some(region) = self.bitmap
            && (!region.0.is_multiple_of(4096) || region.0 < LEAST_REGION.0)
        {
            return Err(ArrayError::Region(region));
        }
        if self.spares > MOST_SPARES {
            return Err(ArrayError::Spares(self.spares));
        }
        if self.spares > 0 && self.level == RaidLevel::Raid0 {
            return Err(ArrayError::SpareOfRaid0);
        }
        if self.bitmap.is_none() && !self.bitmap_on.is_internal() {
            return Err(ArrayError::NoBitmap);
        }
        if let Some(own) = self.network
            && !(1..=network::FASTEST_GBIT).contains(&own.gbit)
        {
            return Err(ArrayError::Network(own.gbit));
        }
        if self.journal.is_some() && self.level.parities() == 0 {
            return Err(ArrayError::Journal(self.level));
        }
        // md has a journal or a bitmap.
        if self.journal.is_some() && (self.bitmap.is_some() || self.cache.is_some()) {
            return Err(ArrayError::Exclusive);
        }
        match self.cache {
            Some(cache) if cache.0 < LEAST_CACHE.0 => Err(ArrayError::Cache(cache)),
            None if !self.battery => Err(ArrayError::Battery),
            _ => Ok(()),
        }
    }

    /// What is on a drive that is no member, if there is one.
    pub const fn other_drive(&self) -> Option<&'static str> {
        match (self.journal, self.bitmap_on) {
            (Some(_), _) => Some("journal"),
            (None, BitmapPlace::External) => Some("bitmap"),
            (None, BitmapPlace::Internal) => None,
        }
    }

    /// The member that is filled from the beginning on: a new one, or a spare.
    pub fn rebuilding(&self) -> Option<u32> {
        let with_spare = self.failed.iter().min().filter(|_| self.spares > 0);
        self.rebuild.or(with_spare.copied())
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

    /// Bytes of data in a row of 4 KiB over all members.
    pub const fn row_bytes(&self) -> u64 {
        4096 * self.data_in_row() / self.copies() as u64
    }

    /// Bytes of data in a row of one chunk of each member.
    pub const fn stripe_bytes(&self) -> u64 {
        self.row_bytes() / 4096 * self.chunk.0
    }

    /// Whether more than the members is between the array and its host.
    pub const fn has_controller(&self) -> bool {
        self.network.is_some() || self.stack.0 > 0 || self.cache.is_some() || self.journal.is_some()
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
            "spares" => self.spares = value.parse().ok()?,
            "bitmap-on" => self.bitmap_on = value.parse().ok()?,
            "cache" => self.cache = Some(size::parse(value).ok()?),
            "battery" if ["yes", "no"].contains(&value) => self.battery = value == "yes",
            "journal" => self.journal = Some(value.parse().ok()?),
            "stack" => self.stack = duration::parse(value).ok()?,
            _ => self.network.get_or_insert_default().set(key, value)?,
        }
        Some(())
    }

    /// The end of its name.
    pub(crate) fn options(&self) -> String {
        let usual = Self {
            network: self.network.map(|_| NetworkSpec::default()),
            ..Self::new(self.level, self.members)
        };
        let round_trip = |array: &Self| array.network.map(|network| network.round_trip);
        let failed: Vec<String> = self.failed.iter().map(u32::to_string).collect();
        options([
            ("chunk", changed(self.chunk, usual.chunk).map(size::write)),
            ("bitmap", self.bitmap.map(size::write)),
            (
                "bitmap-on",
                changed(self.bitmap_on, usual.bitmap_on).map(|place| place.name().to_owned()),
            ),
            (
                "stack",
                changed(self.stack, usual.stack).map(duration::write_micros),
            ),
            (
                "network",
                self.network
                    .map(|network| network::write_gbit(network.gbit)),
            ),
            (
                "round-trip",
                changed(round_trip(self), round_trip(&usual))
                    .flatten()
                    .map(duration::write_micros),
            ),
            ("cache", self.cache.map(size::write)),
            ("battery", (!self.battery).then(|| "no".to_owned())),
            ("journal", self.journal.map(|mode| mode.name().to_owned())),
            (
                "spares",
                changed(self.spares, 0).map(|spares| spares.to_string()),
            ),
            ("failed", (!failed.is_empty()).then(|| failed.join("+"))),
            ("rebuild", self.rebuild.map(|member| member.to_string())),
        ])
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
