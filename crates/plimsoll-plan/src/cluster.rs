//! Clusters of hosts with drives, by name: `vsan:4:3:kingston-dc1500m-960g:policy=ftt1`, `ceph:4:3:nvme:copies=2`,
//! `vsan:4:24:sata+disk:groups=4`.

use serde::{Deserialize, Serialize};

use crate::array::{ArraySpec, RaidLevel};
use crate::option_text::{changed, options};
use crate::units::{Bytes, Nanos};
use crate::{duration, network, size};

/// Equal hosts that keep virtual disks on their drives together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterSpec {
    #[serde(default)]
    pub kind: ClusterKind,
    pub hosts: u32,
    /// Of each host.
    pub drives: u32,
    /// Of each host: equal ones, among which its drives are divided.
    #[serde(default = "one")]
    pub groups: u32,
    /// As its kind has it, if none.
    #[serde(default)]
    pub policy: Option<ClusterPolicy>,
    /// Drives among which a copy of a virtual disk is striped.
    #[serde(default = "one")]
    pub width: u32,
    /// Virtual disks, all equal, one after the other. The system that uses one runs on one host.
    #[serde(default = "one")]
    pub vdisks: u32,
    /// Of each host's network, in Gbit/s and direction.
    #[serde(default = "network::default_gbit")]
    pub network_gbit: u32,
    /// From host to host and back, for a message without data.
    #[serde(default = "network::default_round_trip")]
    pub round_trip: Nanos,
    /// Processor time of a host for each request to one of its drives: the hosts' limit. As its kind has it, if none.
    #[serde(default)]
    pub stack: Option<Nanos>,
    /// Most of a group's writes that wait to be destaged.
    #[serde(default = "default_buffer")]
    pub buffer: Bytes,
    /// Hosts that are down, by number from 0.
    #[serde(default)]
    pub failed: Vec<u32>,
    /// A host whose drives are new and are filled from the others.
    #[serde(default)]
    pub rebuild: Option<u32>,
    /// What a host had is rebuilt on other hosts when it has been down for so long; never, if none.
    #[serde(default)]
    pub repair: Option<Nanos>,
}

const fn one() -> u32 {
    1
}

/// vSAN uses no more (yellow-bricks, 2016-05-17).
const fn default_buffer() -> Bytes {
    Bytes(600_000_000_000)
}

const LEAST_BUFFER: Bytes = Bytes(16 << 20);
const MOST_HOSTS: u32 = 64;
/// Of vSAN: a group has at most seven drives with data, a host at most five groups.
const MOST_DRIVES: u32 = 8;
const MOST_GROUPS: u32 = 5;
const MOST_VDISKS: u32 = 1024;
/// vSAN stripes data in pieces of this size.
const STRIPE: Bytes = Bytes(1 << 20);
/// A virtual disk is cut into components of at most this size.
const COMPONENT: u64 = 255_000_000_000;

/// Whose storage architecture a cluster has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum ClusterKind {
    /// VMware's original one: each host has disk groups, whose first drive takes all writes and whose others hold the
    /// data.
    #[default]
    Vsan,
    /// Replicated pools: each drive has an object store of its own.
    Ceph,
}

impl ClusterKind {
    pub const ALL: [Self; 2] = [Self::Vsan, Self::Ceph];

    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Options of a name.
    pub(crate) const fn option_names(self) -> &'static str {
        match self {
            Self::Vsan => {
                "policy=ftt0|ftt1|ftt2|ftt3|raid5|raid6, width=N, vdisks=N, network=25Gb, round-trip=TIME, \
                 stack=TIME, groups=N, buffer=SIZE, failed=HOSTS, rebuild=HOST, repair=TIME"
            }
            Self::Ceph => {
                "copies=1|2|3|4, vdisks=N, network=25Gb, round-trip=TIME, stack=TIME, failed=HOSTS, rebuild=HOST, \
                 repair=TIME"
            }
        }
    }

    const fn default_policy(self) -> ClusterPolicy {
        match self {
            Self::Vsan => ClusterPolicy::Ftt1,
            // osd_pool_default_size.
            Self::Ceph => ClusterPolicy::Ftt2,
        }
    }

    /// vSAN: 355,000 requests a second of 4 hosts with 48 cores (report K, 4 KiB, 70 % reads, drives far from their
    /// limits). Ceph: 800,000 writes a second in 3 copies on 10 hosts (Reef, ceph.com 2023).
    const fn default_stack(self) -> Nanos {
        match self {
            Self::Vsan => Nanos(11_200),
            Self::Ceph => Nanos(4_200),
        }
    }

    /// Drives of a group that hold no data.
    pub(crate) const fn buffer_drives(self) -> u32 {
        match self {
            Self::Vsan => 1,
            Self::Ceph => 0,
        }
    }

    /// Share of the drives that data fill: vSAN needs 30 % free for moving components, Ceph warns from 85 % on.
    const fn filled(self) -> f64 {
        match self {
            Self::Vsan => 0.7,
            Self::Ceph => 0.85,
        }
    }
}

/// How virtual disks are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
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

    pub fn name(self) -> &'static str {
        self.into()
    }

    /// As users of vSAN write it.
    const fn title(self) -> &'static str {
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

    /// As users of Ceph write it; `None` where there are no copies.
    const fn copies_title(self) -> Option<&'static str> {
        match self {
            Self::Ftt0 => Some("1 copy"),
            Self::Ftt1 => Some("2 copies"),
            Self::Ftt2 => Some("3 copies"),
            Self::Ftt3 => Some("4 copies"),
            Self::Raid5 | Self::Raid6 => None,
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
    #[error("{policy} needs at least {fewest} hosts, there are {hosts}")]
    TooFew {
        policy: &'static str,
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
    #[error("{drives} drives cannot be divided into {groups} equal groups")]
    Groups { drives: u32, groups: u32 },
    #[error("Ceph keeps copies (ftt0 to ftt3), not {0}")]
    NoCopies(&'static str),
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
    #[error("{policy} loses data without the hosts {missing}")]
    DataLost {
        policy: &'static str,
        missing: String,
    },
}

impl ClusterSpec {
    /// With everything else as its kind has it.
    pub const fn new(kind: ClusterKind, hosts: u32, drives: u32) -> Self {
        Self {
            kind,
            hosts,
            drives,
            groups: one(),
            policy: None,
            width: one(),
            vdisks: one(),
            network_gbit: network::default_gbit(),
            round_trip: network::default_round_trip(),
            stack: None,
            buffer: default_buffer(),
            failed: Vec::new(),
            rebuild: None,
            repair: None,
        }
    }

    pub fn policy(&self) -> ClusterPolicy {
        self.policy.unwrap_or(self.kind.default_policy())
    }

    pub fn stack(&self) -> Nanos {
        self.stack.unwrap_or(self.kind.default_stack())
    }

    /// `vSAN of 4 hosts`.
    pub fn title(&self) -> String {
        match self.kind {
            ClusterKind::Vsan => format!("vSAN of {} hosts", self.hosts),
            ClusterKind::Ceph => format!("Ceph of {} hosts", self.hosts),
        }
    }

    /// The policy as people write it.
    pub fn policy_title(&self) -> &'static str {
        let copies = self.policy().copies_title();
        match self.kind {
            ClusterKind::Ceph => copies.unwrap_or(self.policy().title()),
            ClusterKind::Vsan => self.policy().title(),
        }
    }

    /// With vSAN's mirrors, witnesses that keep a majority of votes count: 2·FTT + 1.
    pub fn fewest_hosts(&self) -> u32 {
        match self.policy() {
            ClusterPolicy::Raid5 => 4,
            ClusterPolicy::Raid6 => 6,
            own if self.kind == ClusterKind::Ceph => own.components(),
            own => 2 * own.failures() + 1,
        }
    }

    /// Whether what is missing of a host can be rebuilt on another one.
    pub fn has_spare_host(&self) -> bool {
        self.hosts > self.fewest_hosts().max(self.layout().members)
    }

    /// # Errors
    /// The policy does not go with the hosts, or too many are missing.
    pub fn check(&self) -> Result<(), ClusterError> {
        self.check_ranges()?;
        let own = self.policy();
        let policy = self.policy_title();
        if self.kind == ClusterKind::Ceph && own.copies_title().is_none() {
            return Err(ClusterError::NoCopies(policy));
        }
        let fewest = self.fewest_hosts();
        if self.hosts < fewest {
            return Err(ClusterError::TooFew {
                policy,
                fewest,
                hosts: self.hosts,
            });
        }
        let may_stripe = matches!(own, ClusterPolicy::Ftt0 | ClusterPolicy::Ftt1);
        if self.width > 1 && !may_stripe {
            return Err(ClusterError::Width(own));
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
        if missing.len() <= own.failures() as usize {
            return Ok(());
        }
        let missing: Vec<String> = missing.iter().map(u32::to_string).collect();
        Err(ClusterError::DataLost {
            policy,
            missing: missing.join(", "),
        })
    }

    fn check_ranges(&self) -> Result<(), ClusterError> {
        let least_drives = 1 + self.kind.buffer_drives();
        let (most_width, most_groups) = match self.kind {
            ClusterKind::Vsan => (12, MOST_GROUPS),
            ClusterKind::Ceph => (1, 1),
        };
        let ranges = [
            ("the number of hosts", 1, MOST_HOSTS, self.hosts),
            (
                "the number of groups of a host",
                1,
                most_groups,
                self.groups,
            ),
            (
                "the number of drives of a group",
                least_drives,
                MOST_DRIVES,
                self.drives / self.groups.max(1),
            ),
            ("the stripe width", 1, most_width, self.width),
            ("the number of virtual disks", 1, MOST_VDISKS, self.vdisks),
            (
                "the network's speed in Gbit/s",
                1,
                network::FASTEST_GBIT,
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
        if !self.drives.is_multiple_of(self.groups) {
            return Err(ClusterError::Groups {
                drives: self.drives,
                groups: self.groups,
            });
        }
        Ok(())
    }

    /// How a virtual disk lies on its components: as an array on its members.
    pub fn layout(&self) -> ArraySpec {
        let policy = self.policy();
        let level = match policy {
            ClusterPolicy::Raid5 => RaidLevel::Raid5,
            ClusterPolicy::Raid6 => RaidLevel::Raid6,
            ClusterPolicy::Ftt0 => RaidLevel::Raid0,
            _ if self.width > 1 => RaidLevel::Raid10,
            _ => RaidLevel::Raid1,
        };
        ArraySpec {
            chunk: STRIPE,
            ..ArraySpec::new(level, policy.components() * self.width)
        }
    }

    /// Drives of each host that hold data.
    pub const fn data_drives(&self) -> u32 {
        self.drives - self.groups * self.kind.buffer_drives()
    }

    /// Drives of each group.
    pub const fn group_drives(&self) -> u32 {
        self.drives / self.groups
    }

    /// Drives of each group that hold data.
    pub const fn group_data_drives(&self) -> u32 {
        self.group_drives() - self.kind.buffer_drives()
    }

    /// Bytes that the cluster holds, of drives with so many bytes.
    pub fn usable(&self, drive: u64) -> u64 {
        let all = drive as f64 * f64::from(self.hosts * self.data_drives());
        let usable = all * self.kind.filled() / self.policy().bytes_per_byte();
        let of_vdisk = usable as u64 / u64::from(self.vdisks);
        of_vdisk / STRIPE.0 * STRIPE.0 * u64::from(self.vdisks)
    }

    /// Bytes on the drives of each host of a cluster that holds so many.
    pub fn host_bytes(&self, usable: u64) -> u64 {
        let all = usable as f64 * self.policy().bytes_per_byte();
        (all / f64::from(self.hosts)) as u64
    }

    /// Bytes of each virtual disk of a cluster that holds so many.
    pub fn vdisk_bytes(&self, usable: u64) -> u64 {
        let each = usable.div_ceil(u64::from(self.vdisks));
        each.div_ceil(STRIPE.0) * STRIPE.0
    }

    /// Most bytes of a virtual disk whose components are whole: what is beyond has others.
    pub fn object_bytes(&self) -> u64 {
        let columns = match self.policy() {
            ClusterPolicy::Raid5 => 3,
            ClusterPolicy::Raid6 => 4,
            _ => self.width,
        };
        COMPONENT / STRIPE.0 * STRIPE.0 * u64::from(columns)
    }

    /// Sets what an option of a name states; `None` if there is no such option.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Option<()> {
        let is_vsan = self.kind == ClusterKind::Vsan;
        match key {
            "policy" if is_vsan => self.policy = Some(value.parse().ok()?),
            "copies" if !is_vsan => {
                let copies: u32 = value.parse().ok()?;
                let policy = ClusterPolicy::ALL.into_iter().find(|policy| {
                    policy.copies_title().is_some() && policy.components() == copies
                });
                self.policy = Some(policy?);
            }
            "width" if is_vsan => self.width = value.parse().ok()?,
            "vdisks" => self.vdisks = value.parse().ok()?,
            "network" => self.network_gbit = network::parse_gbit(value)?,
            "round-trip" => self.round_trip = duration::parse(value).ok()?,
            "stack" => self.stack = Some(duration::parse(value).ok()?),
            "groups" if is_vsan => self.groups = value.parse().ok()?,
            "buffer" if is_vsan => self.buffer = size::parse(value).ok()?,
            "failed" => {
                let hosts = value.split('+').map(|host| host.parse().ok());
                self.failed = hosts.collect::<Option<_>>()?;
            }
            "rebuild" => self.rebuild = Some(value.parse().ok()?),
            "repair" => self.repair = Some(duration::parse(value).ok()?),
            _ => return None,
        }
        Some(())
    }

    /// The end of its name: what is not as its kind has it.
    pub(crate) fn options(&self) -> String {
        let usual = Self::new(self.kind, self.hosts, self.drives);
        let policy = changed(self.policy(), usual.policy());
        let (policy_key, policy) = match self.kind {
            ClusterKind::Vsan => ("policy", policy.map(|policy| policy.name().to_owned())),
            ClusterKind::Ceph => (
                "copies",
                policy.map(|policy| policy.components().to_string()),
            ),
        };
        let number = |value, usual| changed(value, usual).map(|value: u32| value.to_string());
        let time = |value, usual| changed(value, usual).map(duration::write_micros);
        let failed: Vec<String> = self.failed.iter().map(u32::to_string).collect();
        options([
            (policy_key, policy),
            ("width", number(self.width, usual.width)),
            ("vdisks", number(self.vdisks, usual.vdisks)),
            (
                "network",
                changed(self.network_gbit, usual.network_gbit).map(network::write_gbit),
            ),
            ("round-trip", time(self.round_trip, usual.round_trip)),
            ("stack", time(self.stack(), usual.stack())),
            ("groups", number(self.groups, usual.groups)),
            (
                "buffer",
                changed(self.buffer, usual.buffer).map(size::write),
            ),
            ("failed", (!failed.is_empty()).then(|| failed.join("+"))),
            ("rebuild", self.rebuild.map(|host| host.to_string())),
            ("repair", self.repair.map(|time| time.to_string())),
        ])
    }
}
