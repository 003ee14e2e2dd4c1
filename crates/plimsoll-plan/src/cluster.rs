//! Clusters of hosts with disk groups, by name: `vsan:4:3:kingston-dc1500m-960g:policy=ftt1`.

use serde::{Deserialize, Serialize};

use crate::array::{ArraySpec, RaidLevel};
use crate::units::{Bytes, Nanos};
use crate::{duration, size};

/// Equal hosts that keep virtual disks on their drives together, after vSAN's original architecture: each host has one
/// disk group, whose first drive takes all writes and whose others hold the data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterSpec {
    pub hosts: u32,
    /// Drives of each host: one for the write buffer, the others for the data.
    pub drives: u32,
    #[serde(default)]
    pub policy: ClusterPolicy,
    /// Drives among which a copy of a virtual disk is striped.
    #[serde(default = "one")]
    pub width: u32,
    /// Virtual disks, all equal, one after the other. The system that uses one runs on one host.
    #[serde(default = "one")]
    pub vdisks: u32,
    /// Of each host's network, in Gbit/s and direction.
    #[serde(default = "default_network")]
    pub network_gbit: u32,
    /// From host to host and back, for a message without data.
    #[serde(default = "default_round_trip")]
    pub round_trip: Nanos,
    /// Processor time of a host for each request to one of its drives: the hosts' limit.
    #[serde(default = "default_stack")]
    pub stack: Nanos,
    /// Most of a group's writes that wait to be destaged.
    #[serde(default = "default_buffer")]
    pub buffer: Bytes,
    /// Hosts that are down, by number from 0.
    #[serde(default)]
    pub failed: Vec<u32>,
    /// A host whose drives are new and are filled from the others.
    #[serde(default)]
    pub rebuild: Option<u32>,
}

/// A bandwidth as people write it: `25Gb`.
pub(crate) fn parse_gbit(text: &str) -> Option<u32> {
    text.strip_suffix("Gb")?.parse().ok()
}

pub(crate) fn write_gbit(gbit: u32) -> String {
    format!("{gbit}Gb")
}

const fn one() -> u32 {
    1
}

const fn default_network() -> u32 {
    25
}

/// Of TCP in a decent network (yourcmc.ru, Ceph performance).
const fn default_round_trip() -> Nanos {
    Nanos::from_micros(60)
}

/// 355,000 requests a second of 4 hosts with 48 cores (report K, 4 KiB, 70 % reads, drives far from their limits).
const fn default_stack() -> Nanos {
    Nanos(11_200)
}

/// vSAN uses no more (yellow-bricks, 2016-05-17).
const fn default_buffer() -> Bytes {
    Bytes(600_000_000_000)
}

const LEAST_BUFFER: Bytes = Bytes(16 << 20);
const MOST_HOSTS: u32 = 64;
const MOST_DRIVES: u32 = 8;
const MOST_VDISKS: u32 = 1024;
pub(crate) const MOST_GBIT: u32 = 800;
/// vSAN stripes data in pieces of this size.
const STRIPE: Bytes = Bytes(1 << 20);
/// A virtual disk is cut into components of at most this size.
const COMPONENT: u64 = 255_000_000_000;
/// Share of the drives that data fill: vSAN needs 30 % free for moving components.
const FILLED: f64 = 0.7;

/// How virtual disks are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClusterPolicy {
    /// One copy: a host that fails takes its data away.
    Ftt0,
    /// Two copies on two hosts.
    #[default]
    Ftt1,
    Ftt2,
    Ftt3,
    /// Three data and one parity, on four hosts.
    Raid5,
    /// Four data and two parities, on six hosts.
    Raid6,
}

impl ClusterPolicy {
    pub const ALL: [Self; 6] = [
        Self::Ftt0,
        Self::Ftt1,
        Self::Ftt2,
        Self::Ftt3,
        Self::Raid5,
        Self::Raid6,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Ftt0 => "ftt0",
            Self::Ftt1 => "ftt1",
            Self::Ftt2 => "ftt2",
            Self::Ftt3 => "ftt3",
            Self::Raid5 => "raid5",
            Self::Raid6 => "raid6",
        }
    }

    /// As people write it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Ftt0 => "FTT 0",
            Self::Ftt1 => "FTT 1",
            Self::Ftt2 => "FTT 2",
            Self::Ftt3 => "FTT 3",
            Self::Raid5 => "RAID-5 3+1",
            Self::Raid6 => "RAID-6 4+2",
        }
    }

    /// Hosts that may fail without a loss of data.
    pub const fn failures(self) -> u32 {
        match self {
            Self::Ftt0 => 0,
            Self::Ftt1 | Self::Raid5 => 1,
            Self::Ftt2 | Self::Raid6 => 2,
            Self::Ftt3 => 3,
        }
    }

    /// With mirrors, witnesses that keep a majority of votes count (vSAN: 2·FTT + 1).
    pub const fn fewest_hosts(self) -> u32 {
        match self {
            Self::Raid5 => 4,
            Self::Raid6 => 6,
            _ => 2 * self.failures() + 1,
        }
    }

    /// Components of a virtual disk on different hosts.
    pub const fn components(self) -> u32 {
        match self {
            Self::Raid5 => 4,
            Self::Raid6 => 6,
            _ => self.failures() + 1,
        }
    }

    /// Bytes on drives for each byte of data.
    pub fn bytes_per_byte(self) -> f64 {
        match self {
            Self::Raid5 => 4.0 / 3.0,
            Self::Raid6 => 1.5,
            _ => f64::from(self.components()),
        }
    }
}

/// No cluster can be made like this.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClusterError {
    #[error("{policy} needs at least {fewest} hosts, there are {hosts}", policy = .policy.title())]
    TooFew {
        policy: ClusterPolicy,
        fewest: u32,
        hosts: u32,
    },
    #[error("{what} is a number from {least} to {most}, this one is {given}")]
    Range {
        what: &'static str,
        least: u32,
        most: u32,
        given: u32,
    },
    #[error("a stripe width of more than 1 goes with ftt0 and ftt1 only, not with {}", .0.name())]
    Width(ClusterPolicy),
    #[error("with this stripe width a virtual disk lies on {components} hosts, there are {hosts}")]
    Wide { components: u32, hosts: u32 },
    #[error("a write buffer has at least {LEAST_BUFFER}, this one {0}")]
    Buffer(Bytes),
    #[error("there is no host {host}: hosts are numbered from 0 to {last}")]
    NoHost { host: u32, last: u32 },
    #[error("host {0} cannot be down and be filled")]
    Both(u32),
    #[error("{policy} loses data without the hosts {missing}", policy = .policy.title())]
    DataLost {
        policy: ClusterPolicy,
        missing: String,
    },
}

impl ClusterSpec {
    /// With everything else as vSAN has it.
    pub const fn new(hosts: u32, drives: u32) -> Self {
        Self {
            hosts,
            drives,
            policy: ClusterPolicy::Ftt1,
            width: one(),
            vdisks: one(),
            network_gbit: default_network(),
            round_trip: default_round_trip(),
            stack: default_stack(),
            buffer: default_buffer(),
            failed: Vec::new(),
            rebuild: None,
        }
    }

    /// # Errors
    /// The policy does not go with the hosts, or too many are missing.
    pub fn check(&self) -> Result<(), ClusterError> {
        self.check_ranges()?;
        let fewest = self.policy.fewest_hosts();
        if self.hosts < fewest {
            return Err(ClusterError::TooFew {
                policy: self.policy,
                fewest,
                hosts: self.hosts,
            });
        }
        let may_stripe = matches!(self.policy, ClusterPolicy::Ftt0 | ClusterPolicy::Ftt1);
        if self.width > 1 && !may_stripe {
            return Err(ClusterError::Width(self.policy));
        }
        let components = self.layout().members;
        if components > self.hosts {
            let hosts = self.hosts;
            return Err(ClusterError::Wide { components, hosts });
        }
        if self.buffer.0 < LEAST_BUFFER.0 {
            return Err(ClusterError::Buffer(self.buffer));
        }
        let mut missing: Vec<u32> = self.failed.clone();
        missing.sort_unstable();
        missing.dedup();
        if let Some(host) = self.rebuild {
            if missing.contains(&host) {
                return Err(ClusterError::Both(host));
            }
            missing.push(host);
        }
        if let Some(host) = missing.iter().find(|own| **own >= self.hosts) {
            return Err(ClusterError::NoHost {
                host: *host,
                last: self.hosts - 1,
            });
        }
        if missing.len() <= self.policy.failures() as usize {
            return Ok(());
        }
        let missing: Vec<String> = missing.iter().map(u32::to_string).collect();
        Err(ClusterError::DataLost {
            policy: self.policy,
            missing: missing.join(", "),
        })
    }

    fn check_ranges(&self) -> Result<(), ClusterError> {
        let ranges = [
            ("the number of hosts", 1, MOST_HOSTS, self.hosts),
            (
                "the number of drives of a host",
                2,
                MOST_DRIVES,
                self.drives,
            ),
            ("the stripe width", 1, 12, self.width),
            ("the number of virtual disks", 1, MOST_VDISKS, self.vdisks),
            (
                "the network's speed in Gbit/s",
                1,
                MOST_GBIT,
                self.network_gbit,
            ),
        ];
        for (what, least, most, given) in ranges {
            if !(least..=most).contains(&given) {
                return Err(ClusterError::Range {
                    what,
                    least,
                    most,
                    given,
                });
            }
        }
        Ok(())
    }

    /// How a virtual disk lies on its components: as an array on its members.
    pub fn layout(&self) -> ArraySpec {
        let level = match self.policy {
            ClusterPolicy::Raid5 => RaidLevel::Raid5,
            ClusterPolicy::Raid6 => RaidLevel::Raid6,
            ClusterPolicy::Ftt0 => RaidLevel::Raid0,
            _ if self.width > 1 => RaidLevel::Raid10,
            _ => RaidLevel::Raid1,
        };
        ArraySpec {
            chunk: STRIPE,
            ..ArraySpec::new(level, self.policy.components() * self.width)
        }
    }

    /// Drives that hold data.
    pub const fn data_drives(&self) -> u32 {
        self.hosts * (self.drives - 1)
    }

    /// Bytes that the cluster holds, of drives with so many bytes.
    pub fn usable(&self, drive: u64) -> u64 {
        let all = drive as f64 * f64::from(self.data_drives());
        let usable = all * FILLED / self.policy.bytes_per_byte();
        let of_vdisk = usable as u64 / u64::from(self.vdisks);
        of_vdisk / STRIPE.0 * STRIPE.0 * u64::from(self.vdisks)
    }

    /// Bytes on the drives of each host of a cluster that holds so many.
    pub fn host_bytes(&self, usable: u64) -> u64 {
        let all = usable as f64 * self.policy.bytes_per_byte();
        (all / f64::from(self.hosts)) as u64
    }

    /// Bytes of each virtual disk of a cluster that holds so many.
    pub fn vdisk_bytes(&self, usable: u64) -> u64 {
        let each = usable.div_ceil(u64::from(self.vdisks));
        each.div_ceil(STRIPE.0) * STRIPE.0
    }

    /// Most bytes of a virtual disk whose components are whole: what is beyond has others.
    pub fn object_bytes(&self) -> u64 {
        let columns = match self.policy {
            ClusterPolicy::Raid5 => 3,
            ClusterPolicy::Raid6 => 4,
            _ => self.width,
        };
        COMPONENT / STRIPE.0 * STRIPE.0 * u64::from(columns)
    }

    /// Sets what an option of a name states; `None` if there is no such option.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Option<()> {
        match key {
            "policy" => {
                let mut all = ClusterPolicy::ALL.into_iter();
                self.policy = all.find(|own| own.name() == value)?;
            }
            "width" => self.width = value.parse().ok()?,
            "vdisks" => self.vdisks = value.parse().ok()?,
            "network" => self.network_gbit = parse_gbit(value)?,
            "round-trip" => self.round_trip = duration::parse(value).ok()?,
            "stack" => self.stack = duration::parse(value).ok()?,
            "buffer" => self.buffer = size::parse(value).ok()?,
            "failed" => {
                let hosts = value.split('+').map(|host| host.parse().ok());
                self.failed = hosts.collect::<Option<_>>()?;
            }
            "rebuild" => self.rebuild = Some(value.parse().ok()?),
            _ => return None,
        }
        Some(())
    }

    /// The end of its name: what is not as vSAN has it.
    pub(crate) fn options(&self) -> String {
        let usual = Self::new(self.hosts, self.drives);
        let time = |time: Nanos| format!("{}us", time.0 as f64 / 1e3);
        let failed: Vec<String> = self.failed.iter().map(u32::to_string).collect();
        let options = [
            (
                self.policy != usual.policy,
                "policy",
                self.policy.name().to_owned(),
            ),
            (self.width != usual.width, "width", self.width.to_string()),
            (
                self.vdisks != usual.vdisks,
                "vdisks",
                self.vdisks.to_string(),
            ),
            (
                self.network_gbit != usual.network_gbit,
                "network",
                write_gbit(self.network_gbit),
            ),
            (
                self.round_trip != usual.round_trip,
                "round-trip",
                time(self.round_trip),
            ),
            (self.stack != usual.stack, "stack", time(self.stack)),
            (
                self.buffer != usual.buffer,
                "buffer",
                size::write(self.buffer),
            ),
            (!failed.is_empty(), "failed", failed.join("+")),
            (
                self.rebuild.is_some(),
                "rebuild",
                self.rebuild.map_or(String::new(), |host| host.to_string()),
            ),
        ];
        let options = options.into_iter().filter(|(is_set, ..)| *is_set);
        options
            .map(|(_, key, value)| format!(":{key}={value}"))
            .collect()
    }
}
