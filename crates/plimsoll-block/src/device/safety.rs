//! Whether a device may be written to. A pure decision on evidence that [`super::evidence`] gathers.
//!
//! Reading is always allowed. Writing destroys what a device holds, so it takes `--overwrite`, the device's own name,
//! and evidence that it is not in use. What could not be found out counts as being in use.

use std::path::{Path, PathBuf};

/// What was found out about a device. `Err` holds why something could not be found out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceEvidence {
    /// As the user wrote it.
    pub given: PathBuf,
    /// The device node that it leads to: `/dev/sdb`.
    pub node: PathBuf,
    /// The node that the kernel makes for it: whatever else bears its number is not its own.
    pub own_name: Result<PathBuf, String>,
    /// Where it or a partition of it is mounted.
    pub mounts: Result<Vec<String>, String>,
    /// It or partitions of it that are swap space in use.
    pub swaps: Result<Vec<String>, String>,
    /// Whether the kernel gives it to us alone (open(2) with `O_EXCL`).
    pub exclusive: Exclusive,
    /// Devices built on it or on its partitions: device mapper, md, loop.
    pub holders: Result<Vec<String>, String>,
    /// Processes that hold it open: `qemu (1234)`.
    pub open_by: Result<Vec<String>, String>,
    /// What libblkid recognises on it: filesystem, partition table, RAID or LVM member.
    pub signatures: Result<Vec<String>, String>,
    pub partitions: Result<Vec<String>, String>,
    /// The kernel does not let anybody write to it.
    pub read_only: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exclusive {
    Granted,
    /// Mounted, a member of something, or taken by another program.
    Busy,
    Unknown(String),
}

/// What may be done with a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Only reads; the reasons why nothing is written.
    ReadOnly(Vec<String>),
    /// Reads and writes; what is lost by it, empty when nothing was recognised.
    Overwrite(Vec<String>),
    /// The user wants it overwritten, and it must not be: why, and what would help.
    Refused { why: Vec<String>, remedy: Remedy },
}

/// What makes a device one that may be overwritten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    Release(PathBuf),
    /// Not everything about it can be found out.
    SeeMore,
    OwnName(PathBuf),
    Nothing,
}

impl Remedy {
    /// What to do next, `otherwise` being what can be done instead: `leave out --overwrite: then it is only read`.
    pub fn or(&self, otherwise: &str) -> String {
        match self {
            Self::Release(node) => {
                format!("Unmount and release {}, or {otherwise}.", node.display())
            }
            Self::SeeMore => {
                format!(
                    "Run as root, outside of any container, with util-linux installed, or {otherwise}."
                )
            }
            Self::OwnName(own) => format!("To overwrite it, give its own name: {}", own.display()),
            Self::Nothing => {
                let mut letters = otherwise.chars();
                let first: String = letters
                    .next()
                    .map(|first| first.to_uppercase().collect())
                    .unwrap_or_default();
                format!("{first}{}.", letters.as_str())
            }
        }
    }
}

/// The decision. Without `overwrite` nothing is ever written.
pub fn decide(evidence: &DeviceEvidence, overwrite: bool) -> Decision {
    let in_use = in_use(evidence);
    let holds = holds(evidence);
    let node = evidence.node.display();
    if !overwrite {
        let reasons = in_use.into_iter().chain(holds);
        return Decision::ReadOnly(
            std::iter::once("--overwrite was not given".to_owned())
                .chain(reasons)
                .collect(),
        );
    }
    if !in_use.is_empty() {
        return Decision::Refused {
            why: in_use,
            remedy: Remedy::Release(evidence.node.clone()),
        };
    }
    if let Some(unclear) = unclear(evidence) {
        return Decision::Refused {
            why: vec![unclear],
            remedy: Remedy::SeeMore,
        };
    }
    if evidence.read_only {
        return Decision::Refused {
            why: vec![format!("{node} is read-only")],
            remedy: Remedy::Nothing,
        };
    }
    if let Some(own) = other_than_given(evidence) {
        let why = vec![format!(
            "{} is another name of {}",
            evidence.given.display(),
            own.display()
        )];
        return Decision::Refused {
            why,
            remedy: Remedy::OwnName(own.into()),
        };
    }
    Decision::Overwrite(holds)
}

/// Its own name, unless the user gave just that and it leads nowhere else.
fn other_than_given(evidence: &DeviceEvidence) -> Option<&Path> {
    let own = evidence.own_name.as_deref().unwrap_or(&evidence.node);
    (evidence.given != own || evidence.node != own).then_some(own)
}

/// Signs of use, one sentence each.
fn in_use(evidence: &DeviceEvidence) -> Vec<String> {
    let mut signs = Vec::new();
    for at in evidence.mounts.iter().flatten() {
        signs.push(format!("it is mounted: {at}"));
    }
    for name in evidence.swaps.iter().flatten() {
        signs.push(format!("it is swap space in use: {name}"));
    }
    for name in evidence.holders.iter().flatten() {
        signs.push(format!("{name} is built on it"));
    }
    for name in evidence.open_by.iter().flatten() {
        signs.push(format!("it is held open by {name}"));
    }
    if evidence.exclusive == Exclusive::Busy && signs.is_empty() {
        signs.push("it is in use: the kernel does not give it to one program alone".into());
    }
    signs
}

/// What would be lost.
fn holds(evidence: &DeviceEvidence) -> Vec<String> {
    let signatures = evidence
        .signatures
        .iter()
        .flatten()
        .map(|name| format!("it holds a signature of {name}"));
    let partitions = evidence
        .partitions
        .iter()
        .flatten()
        .map(|name| format!("it has the partition {name}"));
    signatures.chain(partitions).collect()
}

/// What must be known before anything is written, and is not, in one sentence: mostly all of it is hidden for one reason.
fn unclear(evidence: &DeviceEvidence) -> Option<String> {
    let lists = [
        ("where it is mounted", &evidence.mounts),
        ("whether it is swap space", &evidence.swaps),
        ("what is built on it", &evidence.holders),
        ("who holds it open", &evidence.open_by),
        ("what it holds", &evidence.signatures),
        ("its partitions", &evidence.partitions),
    ];
    let mut hidden: Vec<(&str, &str)> = lists
        .into_iter()
        .filter_map(|(what, found)| Some((what, found.as_ref().err()?.as_str())))
        .collect();
    if let Err(why) = &evidence.own_name {
        hidden.push(("its own name", why));
    }
    if let Exclusive::Unknown(why) = &evidence.exclusive {
        hidden.push(("whether it is in use", why));
    }
    let why = hidden.first()?.1;
    let what: Vec<&str> = hidden.iter().map(|fact| fact.0).collect();
    Some(format!("{} cannot be found out: {why}", what.join(", ")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An empty disk that is not in use.
    fn idle() -> DeviceEvidence {
        DeviceEvidence {
            given: "/dev/sdb".into(),
            node: "/dev/sdb".into(),
            own_name: Ok("/dev/sdb".into()),
            mounts: Ok(Vec::new()),
            swaps: Ok(Vec::new()),
            exclusive: Exclusive::Granted,
            holders: Ok(Vec::new()),
            open_by: Ok(Vec::new()),
            signatures: Ok(Vec::new()),
            partitions: Ok(Vec::new()),
            read_only: false,
        }
    }

    fn some(name: &str) -> Result<Vec<String>, String> {
        Ok(vec![name.into()])
    }

    fn unknown() -> Result<Vec<String>, String> {
        Err("no permission".into())
    }

    /// What differs from [`idle`], the reason that is reported, and whether `--overwrite` helps.
    fn table() -> Vec<(DeviceEvidence, &'static str, bool)> {
        let idle = idle();
        vec![
            (
                DeviceEvidence {
                    mounts: some("/srv"),
                    ..idle.clone()
                },
                "it is mounted: /srv",
                false,
            ),
            (
                DeviceEvidence {
                    swaps: some("/dev/sdb2"),
                    ..idle.clone()
                },
                "swap space in use: /dev/sdb2",
                false,
            ),
            (
                DeviceEvidence {
                    holders: some("dm-0"),
                    ..idle.clone()
                },
                "dm-0 is built on it",
                false,
            ),
            (
                DeviceEvidence {
                    open_by: some("qemu (7)"),
                    ..idle.clone()
                },
                "held open by qemu (7)",
                false,
            ),
            (
                DeviceEvidence {
                    exclusive: Exclusive::Busy,
                    ..idle.clone()
                },
                "it is in use",
                false,
            ),
            (
                DeviceEvidence {
                    signatures: some("an ext4 filesystem"),
                    ..idle.clone()
                },
                "an ext4 filesystem",
                true,
            ),
            (
                DeviceEvidence {
                    partitions: some("sdb1"),
                    ..idle
                },
                "it has the partition sdb1",
                true,
            ),
        ]
    }

    #[test]
    fn without_overwrite_everything_is_only_read_with_a_reason() {
        assert_eq!(
            decide(&idle(), false),
            Decision::ReadOnly(vec!["--overwrite was not given".into()])
        );
        for (evidence, expected, _) in table() {
            let Decision::ReadOnly(why) = decide(&evidence, false) else {
                panic!("{evidence:?}")
            };
            assert!(
                why.join("\n").contains(expected),
                "{expected:?} is not in {why:?}"
            );
        }
    }

    #[test]
    fn overwrite_writes_to_unused_devices_and_lists_the_losses() {
        assert_eq!(decide(&idle(), true), Decision::Overwrite(Vec::new()));
        for (evidence, expected, helps) in table() {
            match decide(&evidence, true) {
                Decision::Overwrite(lost) => {
                    assert!(helps && lost.join("\n").contains(expected), "{lost:?}")
                }
                Decision::Refused { why, remedy } => {
                    let next = remedy.or("else");
                    assert!(!helps && why.join("\n").contains(expected), "{why:?}");
                    assert!(next.starts_with("Unmount and release /dev/sdb"), "{next}");
                }
                Decision::ReadOnly(_) => panic!("refused, not quietly read: {evidence:?}"),
            }
        }
    }

    #[test]
    fn only_its_own_name_will_do() {
        let by_id = DeviceEvidence {
            given: "/dev/disk/by-id/ata-X".into(),
            ..idle()
        };
        let Decision::Refused { why, remedy } = decide(&by_id, true) else {
            panic!("{by_id:?}")
        };
        let next = remedy.or("else");
        assert_eq!(why, ["/dev/disk/by-id/ata-X is another name of /dev/sdb"]);
        assert_eq!(next, "To overwrite it, give its own name: /dev/sdb");
        assert!(matches!(decide(&by_id, false), Decision::ReadOnly(_)));
        // A node of the user's own making, and a name that leads elsewhere.
        let made = DeviceEvidence {
            given: "/tmp/mynode".into(),
            node: "/tmp/mynode".into(),
            ..idle()
        };
        let Decision::Refused { why, remedy } = decide(&made, true) else {
            panic!("{made:?}")
        };
        let next = remedy.or("else");
        assert_eq!(why, ["/tmp/mynode is another name of /dev/sdb"]);
        assert_eq!(next, "To overwrite it, give its own name: /dev/sdb");
        let elsewhere = DeviceEvidence {
            node: "/tmp/mynode".into(),
            ..idle()
        };
        assert!(matches!(decide(&elsewhere, true), Decision::Refused { .. }));
    }

    #[test]
    fn what_is_not_known_and_what_cannot_be_written_is_refused() {
        let idle = idle();
        let cases = [
            DeviceEvidence {
                mounts: unknown(),
                ..idle.clone()
            },
            DeviceEvidence {
                swaps: unknown(),
                ..idle.clone()
            },
            DeviceEvidence {
                holders: unknown(),
                ..idle.clone()
            },
            DeviceEvidence {
                open_by: unknown(),
                ..idle.clone()
            },
            DeviceEvidence {
                signatures: unknown(),
                ..idle.clone()
            },
            DeviceEvidence {
                partitions: unknown(),
                ..idle.clone()
            },
            DeviceEvidence {
                exclusive: Exclusive::Unknown("no permission".into()),
                ..idle.clone()
            },
            DeviceEvidence {
                own_name: Err("no permission".into()),
                ..idle.clone()
            },
        ];
        for evidence in cases {
            let Decision::Refused { why, remedy } = decide(&evidence, true) else {
                panic!("{evidence:?}")
            };
            let next = remedy.or("else");
            assert!(
                why[0].ends_with("cannot be found out: no permission"),
                "{why:?}"
            );
            assert!(
                next.starts_with("Run as root, outside of any container, with util-linux"),
                "{next}"
            );
        }
        let hidden = DeviceEvidence {
            open_by: unknown(),
            exclusive: Exclusive::Unknown("busy".into()),
            ..idle.clone()
        };
        let Decision::Refused { why, .. } = decide(&hidden, true) else {
            panic!("{hidden:?}")
        };
        assert_eq!(
            why,
            ["who holds it open, whether it is in use cannot be found out: no permission"],
            "one sentence"
        );
        let Decision::Refused { why, remedy } = decide(
            &DeviceEvidence {
                read_only: true,
                ..idle
            },
            true,
        ) else {
            panic!()
        };
        assert_eq!(remedy.or("name another"), "Name another.");
        assert_eq!(why, ["/dev/sdb is read-only"]);
    }

    fn list() -> impl Strategy<Value = Result<Vec<String>, String>> {
        prop_oneof![
            3 => Just(Ok(Vec::new())),
            1 => Just(Ok(vec!["something".to_owned()])),
            1 => Just(Err("hidden".to_owned())),
        ]
    }

    proptest! {
        #[test]
        fn nothing_in_use_or_unknown_is_ever_written(
            lists in [list(), list(), list(), list(), list(), list()],
            exclusive in prop_oneof![
                Just(Exclusive::Granted), Just(Exclusive::Busy), Just(Exclusive::Unknown("hidden".into()))
            ],
            read_only: bool,
            own_name: bool,
            overwrite: bool,
        ) {
            let [mounts, swaps, holders, open_by, signatures, partitions] = lists;
            let given = if own_name { "/dev/sdb" } else { "/dev/link" }.into();
            let known = [&mounts, &swaps, &holders, &open_by].iter().all(|found| **found == Ok(Vec::new()));
            let allowed = overwrite && known && signatures.is_ok() && partitions.is_ok() && own_name && !read_only
                && exclusive == Exclusive::Granted;
            let evidence = DeviceEvidence {
                given, mounts, swaps, exclusive, holders, open_by, signatures, partitions, read_only, ..idle()
            };
            prop_assert_eq!(matches!(decide(&evidence, overwrite), Decision::Overwrite(_)), allowed);
            prop_assert_eq!(matches!(decide(&evidence, overwrite), Decision::ReadOnly(_)), !overwrite);
        }
    }
}
