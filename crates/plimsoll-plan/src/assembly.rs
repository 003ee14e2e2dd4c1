//! Several drives as one, by name: an array such as `raid5:6:kingston-dc500m-960g`, or a cluster such as
//! `vsan:4:3:kingston-dc1500m-960g`. Drives that differ are joined by `+`, in turn; the last one stands for all that follow:
//! `raid1:2:sata+nvme`, `vsan:4:6:sata+disk`.

use std::fmt;
use std::str::FromStr;

use crate::array::{ArrayError, ArraySpec, RaidLevel};
use crate::cluster::{ClusterError, ClusterKind, ClusterSpec};

/// Several drives as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DriveAssembly {
    Array(ArraySpec),
    Cluster(ClusterSpec),
}

impl DriveAssembly {
    /// Members, which may fail and be replaced as a whole: drives of an array, hosts of a cluster.
    pub const fn members(&self) -> u32 {
        match self {
            Self::Array(array) => array.members,
            Self::Cluster(cluster) => cluster.hosts,
        }
    }

    /// Drives of all members, and of what an array keeps elsewhere.
    pub const fn drives(&self) -> u32 {
        match self {
            Self::Array(array) => array.members + array.other_drive().is_some() as u32,
            Self::Cluster(cluster) => cluster.hosts * cluster.drives,
        }
    }

    /// The member that a drive belongs to.
    pub const fn member_of(&self, drive: u32) -> u32 {
        match self {
            Self::Array(_) => drive,
            Self::Cluster(cluster) => drive / cluster.drives,
        }
    }

    /// Name of a drive, counted from 0: the number of a member, or its host and what it does there.
    pub fn drive_name(&self, drive: u32) -> String {
        match self {
            Self::Array(array) => match array.other_drive().filter(|_| drive >= array.members) {
                Some(other) => other.to_owned(),
                None => drive.to_string(),
            },
            Self::Cluster(cluster) => {
                let (host, place) = (drive / cluster.drives, drive % cluster.drives);
                let group = match cluster.groups {
                    1 => String::new(),
                    _ => format!("group {} ", place / cluster.group_drives()),
                };
                match (cluster.kind, self.turn(drive)) {
                    (ClusterKind::Vsan, 0) => format!("host {host} {group}buffer"),
                    (ClusterKind::Vsan, number) => format!("host {host} {group}data {number}"),
                    (ClusterKind::Ceph, number) => format!("host {host} drive {number}"),
                }
            }
        }
    }

    /// Which of the drives that a name joins by `+` a drive is, if there are that many.
    pub const fn turn(&self, drive: u32) -> u32 {
        match self {
            Self::Array(_) => drive,
            Self::Cluster(cluster) => drive % cluster.group_drives(),
        }
    }

    /// Most drives that a name may join.
    pub const fn turns(&self) -> u32 {
        match self {
            Self::Array(_) => self.drives(),
            Self::Cluster(cluster) => cluster.group_drives(),
        }
    }

    /// Whether data are kept on the drives of this turn, not only on their way.
    pub const fn holds_data(&self, turn: u32) -> bool {
        match self {
            Self::Array(array) => turn < array.members,
            Self::Cluster(cluster) => turn >= cluster.kind.buffer_drives(),
        }
    }

    /// Whether one lies before or within it.
    pub const fn has_network(&self) -> bool {
        match self {
            Self::Array(array) => array.network.is_some(),
            Self::Cluster(_) => true,
        }
    }

    /// Drives that take the places of members that fail.
    pub const fn spares(&self) -> u32 {
        match self {
            Self::Array(array) => array.spares,
            Self::Cluster(_) => 0,
        }
    }

    /// Members that are missing.
    pub fn failed(&self) -> &[u32] {
        match self {
            Self::Array(array) => &array.failed,
            Self::Cluster(cluster) => &cluster.failed,
        }
    }

    /// A member that is new and is filled from the others.
    pub fn rebuild(&self) -> Option<u32> {
        match self {
            Self::Array(array) => array.rebuilding(),
            Self::Cluster(cluster) => cluster.rebuild,
        }
    }

    /// Bytes that it holds, of drives with so many bytes.
    pub fn usable(&self, drive: u64) -> u64 {
        match self {
            Self::Array(array) => array.usable(drive),
            Self::Cluster(cluster) => cluster.usable(drive),
        }
    }

    /// Bytes of data on each member, if it holds so many.
    pub fn member_bytes(&self, usable: u64) -> u64 {
        match self {
            Self::Array(array) => array.member_bytes(usable),
            Self::Cluster(cluster) => cluster.host_bytes(usable),
        }
    }

    /// The same, whole but for a member that is filled.
    ///
    /// # Errors
    /// Without that member data are lost.
    pub fn rebuilding(&self, member: u32) -> Result<Self, AssemblyError> {
        let mut filled = self.clone();
        let (failed, rebuild) = match &mut filled {
            Self::Array(array) => (&mut array.failed, &mut array.rebuild),
            Self::Cluster(cluster) => (&mut cluster.failed, &mut cluster.rebuild),
        };
        failed.clear();
        *rebuild = Some(member);
        filled.check()?;
        Ok(filled)
    }

    fn check(&self) -> Result<(), AssemblyError> {
        match self {
            Self::Array(array) => Ok(array.check()?),
            Self::Cluster(cluster) => Ok(cluster.check()?),
        }
    }

    fn set(&mut self, option: &str) -> Result<(), AssemblyError> {
        let found = option.split_once('=').and_then(|(key, value)| match self {
            Self::Array(array) => array.set(key, value),
            Self::Cluster(cluster) => cluster.set(key, value),
        });
        let options = match self {
            Self::Array(_) => {
                "chunk=SIZE, bitmap=SIZE, bitmap-on=internal|external, stack=TIME, network=10Gb, round-trip=TIME, \
                 cache=SIZE, battery=yes|no, \
                 journal=write-through|write-back, spares=N, failed=MEMBERS, rebuild=MEMBER"
            }
            Self::Cluster(cluster) => cluster.kind.option_names(),
        };
        found.ok_or_else(|| AssemblyError::Option {
            option: option.to_owned(),
            options,
        })
    }
}

/// There is no such array or cluster.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AssemblyError {
    #[error(
        "several drives are written as LEVEL:MEMBERS:DRIVE, such as raid5:6:sata, or vsan:HOSTS:DRIVES:DRIVE, such as vsan:4:3:nvme (or ceph)"
    )]
    Form,
    #[error(
        "there is no RAID level `{0}`; there are raid0, raid1, raid10, raid5, raid6, raidf1, and clusters: vsan, ceph"
    )]
    Level(String),
    #[error("`{0}` is not a number of members from 2 to 64")]
    Members(String),
    #[error("`{0}` is not a number of hosts from 1 to 64")]
    Hosts(String),
    #[error("`{0}` is not a number of drives up to 40")]
    Drives(String),
    #[error("there are {given} drives joined by `+`, and places for {most}")]
    ManyDrives { given: usize, most: u32 },
    #[error("`{option}` is none of {options}")]
    Option {
        option: String,
        options: &'static str,
    },
    #[error(transparent)]
    Array(#[from] ArrayError),
    #[error(transparent)]
    Cluster(#[from] ClusterError),
}

/// An assembly with the names of its drives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedAssembly {
    pub assembly: DriveAssembly,
    /// One or more, in turn; the last one stands for all that follow.
    pub drives: Vec<String>,
}

impl NamedAssembly {
    /// Whether this is meant as the name of one.
    pub fn is_meant(name: &str) -> bool {
        let start = name.split('=').next().unwrap_or(name);
        !name.contains('/') && !start.contains('.') && name.contains(':')
    }
}

impl FromStr for NamedAssembly {
    type Err = AssemblyError;

    fn from_str(name: &str) -> Result<Self, AssemblyError> {
        let mut parts = name.split(':');
        let kind = parts.next().unwrap_or_default();
        let mut part = || parts.next().ok_or(AssemblyError::Form);
        let number = |text: &str| text.parse::<u32>().ok();
        let mut assembly = if let Ok(kind) = kind.parse::<ClusterKind>() {
            let (hosts, drives) = (part()?, part()?);
            let count = number(hosts).ok_or_else(|| AssemblyError::Hosts(hosts.into()))?;
            let each = number(drives).ok_or_else(|| AssemblyError::Drives(drives.into()))?;
            DriveAssembly::Cluster(ClusterSpec::new(kind, count, each))
        } else {
            let members = part()?;
            let level: RaidLevel = kind
                .parse()
                .map_err(|_| AssemblyError::Level(kind.into()))?;
            let count = number(members).ok_or_else(|| AssemblyError::Members(members.into()))?;
            DriveAssembly::Array(ArraySpec::new(level, count))
        };
        let drives: Vec<String> = part()?.split('+').map(str::to_owned).collect();
        for option in parts {
            assembly.set(option)?;
        }
        assembly.check()?;
        let (given, most) = (drives.len(), assembly.turns());
        if given > most as usize {
            return Err(AssemblyError::ManyDrives { given, most });
        }
        Ok(Self { assembly, drives })
    }
}

impl fmt::Display for NamedAssembly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let drive = self.drives.join("+");
        match &self.assembly {
            DriveAssembly::Array(array) => {
                let level = array.level.name();
                write!(f, "{level}:{}:{drive}{}", array.members, array.options())
            }
            DriveAssembly::Cluster(cluster) => {
                let (kind, hosts) = (cluster.kind.name(), cluster.hosts);
                let options = cluster.options();
                write!(f, "{kind}:{hosts}:{}:{drive}{options}", cluster.drives)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::ClusterPolicy;
    use proptest::prelude::*;

    fn named(name: &str) -> Result<NamedAssembly, String> {
        name.parse()
            .map_err(|error: AssemblyError| error.to_string())
    }

    #[test]
    fn names_are_read_and_written() {
        for name in [
            "raid5:6:sata",
            "raid10:4:nvme:chunk=64KiB:failed=0+2",
            "raid6:8:disk:rebuild=3",
            "raid5:5:nvme:bitmap=64MiB",
            "raid5:6:sata:cache=2GB:battery=no",
            "raid1:2:nvme:bitmap=64MiB:bitmap-on=external",
            "raid6:8:sata:spares=2:failed=1",
            "raid5:6:sata:journal=write-back",
            "raid6:6:sata:stack=11.25us:network=20Gb:round-trip=100us:failed=1",
            "vsan:4:3:nvme",
            "vsan:4:3:nvme:policy=ftt0:width=2:vdisks=32:network=40Gb:round-trip=50us:stack=11.25us:buffer=100GB",
            "vsan:6:2:sata:policy=raid6:failed=0+5",
            "vsan:4:2:sata:policy=raid5:rebuild=1",
            "ceph:3:1:sata",
            "raid1:2:sata+nvme",
            "vsan:4:24:sata+disk:groups=4",
            "ceph:5:4:disk:copies=2:vdisks=8:network=10Gb:stack=20us:failed=4:repair=10m",
        ] {
            assert_eq!(named(name).unwrap().to_string(), name);
            assert!(NamedAssembly::is_meant(name));
        }
        assert!(NamedAssembly::is_meant("raid7:2:x") && !NamedAssembly::is_meant("./a:b.toml"));
    }

    #[test]
    fn drives_that_are_no_members_are_named_by_what_they_hold() {
        let last = |name: &str| {
            let own = named(name).unwrap().assembly;
            own.drive_name(own.drives() - 1)
        };
        assert_eq!(last("raid5:6:sata"), "5");
        assert_eq!(last("raid5:6:sata:journal=write-back"), "journal");
        assert_eq!(last("raid5:6:sata:bitmap=64MiB"), "5");
        assert_eq!(
            last("raid5:6:sata:bitmap=64MiB:bitmap-on=external"),
            "bitmap"
        );
        assert_eq!(last("vsan:3:3:sata"), "host 2 data 2");
        assert_eq!(last("vsan:3:6:sata:groups=2"), "host 2 group 1 data 2");
        let name = "raid6:8:sata:failed=5+1:spares=1";
        assert_eq!(named(name).unwrap().assembly.rebuild(), Some(1));
    }

    #[test]
    fn what_cannot_be_made_is_refused() {
        let error = |name: &str| named(name).unwrap_err();
        assert_eq!(
            error("raid6:3:x"),
            "raid6 needs at least 4 members, there are 3"
        );
        assert_eq!(
            error("raid10:4:x:failed=0+1"),
            "raid10 of 4 drives loses data without the members 0, 1"
        );
        assert_eq!(
            error("raid0:2:x:rebuild=1"),
            "raid0 of 2 drives loses data without the members 1"
        );
        assert!(named("raid10:4:x:failed=0+2").is_ok());
        assert_eq!(
            error("raid5:3:x:chunk=1KiB"),
            "a chunk is a multiple of 4 KiB up to 1 GiB, this one is 1.0 KiB"
        );
        assert_eq!(
            error("raid5:3:x:failed=5"),
            "there is no member 5: members are numbered from 0 to 2"
        );
        assert!(error("raid5:3:x:cache=4KiB").starts_with("a cache has at least"));
        assert_eq!(error("raid5:3:x:battery=no"), "a battery goes with a cache");
        assert!(error("raid1:2:x:bitmap-on=external").starts_with("an external bitmap goes with"));
        assert!(error("raid5:3:x:spares=99").starts_with("an array has at most 16 spares"));
        assert!(error("raid0:2:x:spares=1").starts_with("raid0 has nothing"));
        assert!(error("raid1:2:x:journal=write-back").starts_with("a journal goes with raid5"));
        assert!(
            error("raid5:3:x:journal=write-back:cache=1GB")
                .starts_with("a journal goes with neither")
        );
        assert!(error("raid5:3:x:network=900Gb").starts_with("a network has 1 to 800 Gbit/s"));
        assert!(error("raid5:3:x:bitmap=4KiB").starts_with("a bit of the bitmap stands for"));
        assert!(error("raid7:3:x").starts_with("there is no RAID level `raid7`"));
        assert!(error("raid5:many:x").starts_with("`many` is not a number"));
        assert!(error("raid5:99:x").starts_with("`99` is not a number"));
        assert!(error("raid5:3:x:spare=1").starts_with("`spare=1` is none of chunk"));
        assert!(error("raid5:3").starts_with("several drives are written as"));
    }

    #[test]
    fn what_no_cluster_can_be_is_refused() {
        let error = |name: &str| named(name).unwrap_err();
        assert_eq!(
            error("vsan:2:3:x"),
            "FTT 1 needs at least 3 hosts, there are 2"
        );
        assert_eq!(
            error("vsan:3:3:x:policy=raid5"),
            "RAID-5 3+1 needs at least 4 hosts, there are 3"
        );
        assert_eq!(
            error("vsan:4:1:x"),
            "the number of drives of a group is a number from 2 to 8, this one is 1"
        );
        assert_eq!(
            error("vsan:4:9:x:groups=2"),
            "9 drives cannot be divided into 2 equal groups"
        );
        assert!(error("vsan:4:12:x:groups=6").starts_with("the number of groups of a host"));
        assert_eq!(
            error("vsan:4:6:a+b+c+d:groups=2"),
            "there are 4 drives joined by `+`, and places for 3"
        );
        assert!(error("ceph:4:4:x:groups=2").starts_with("`groups=2` is none of copies="));
        assert_eq!(
            error("vsan:4:3:x:failed=1:rebuild=2"),
            "FTT 1 loses data without the hosts 1, 2"
        );
        assert_eq!(
            error("vsan:4:3:x:failed=4"),
            "there is no host 4: hosts are numbered from 0 to 3"
        );
        assert_eq!(
            error("vsan:5:3:x:policy=ftt2:failed=0:rebuild=0"),
            "host 0 cannot be down and be filled"
        );
        assert!(named("vsan:4:3:x:failed=0+0").is_ok());
        assert!(error("vsan:5:3:x:policy=ftt2:width=2").starts_with("a stripe width of more"));
        assert!(error("vsan:4:3:x:buffer=1MiB").starts_with("a write buffer has at least"));
        assert!(error("vsan:4:3:x:policy=ftt9").starts_with("`policy=ftt9` is none of policy="));
        assert_eq!(
            error("ceph:2:3:x"),
            "3 copies needs at least 3 hosts, there are 2"
        );
        assert!(error("ceph:4:3:x:policy=ftt1").starts_with("`policy=ftt1` is none of copies="));
        assert!(error("ceph:6:3:x:copies=6").starts_with("`copies=6` is none of copies="));
        assert!(error("ceph:4:0:x").starts_with("the number of drives of a group"));
        assert!(error("vsan:4:3").starts_with("several drives are written as"));
        assert!(error("vsan:4:some:x").starts_with("`some` is not a number of drives"));
        let sata = named("vsan:5:3:x:policy=ftt2").unwrap();
        assert!(
            matches!(sata.assembly, DriveAssembly::Cluster(own) if own.policy() == ClusterPolicy::Ftt2)
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,40}", rest in "[a-zA-Z0-9:=+.]{0,30}") {
            let _ = named(&text);
            for start in ["raid5:", "vsan:", "vsan:4:3:x:", "ceph:4:3:x:"] {
                if let Ok(own) = named(&format!("{start}{rest}")) {
                    prop_assert_eq!(named(&own.to_string()), Ok(own));
                }
            }
        }
    }
}
