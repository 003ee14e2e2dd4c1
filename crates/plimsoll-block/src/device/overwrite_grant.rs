//! Permission to overwrite a device or a file that plimsoll did not make, because the user named it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use plimsoll_plan::units::Bytes;

use super::about::about;
use super::evidence::{DeviceClaim, StorageTarget, gather, signatures, target};
use super::safety::{Decision, DeviceEvidence, Exclusive, decide};
use super::sysfs::{NameList, first_line, names_in};
use crate::BlockError;
use crate::host::mount::unescape;

/// What may be overwritten. A device is kept from all other processes, also by the programs that this one starts, as long as
/// this lives.
#[derive(Debug)]
pub struct OverwriteGrant {
    /// Without symbolic links.
    pub path: PathBuf,
    /// Of a directory none.
    pub size: Option<Bytes>,
    /// What is lost: signatures of filesystems and the like, and partitions.
    pub signatures: Vec<String>,
    pub partitions: Vec<String>,
    _claim: DeviceClaim,
}

const OTHERWISE: &str = "name another one";

/// Grants permission for what the user named with `--overwrite`; `named` are all that were.
///
/// # Errors
/// It was not named, or it is in use, or what is known about it does not suffice.
pub fn permit(path: &Path, named: &[PathBuf]) -> Result<OverwriteGrant, BlockError> {
    let is_named = named.iter().any(|name| name == path);
    let examined = match target(path)? {
        StorageTarget::Directory(node) if is_named => {
            return Ok(OverwriteGrant {
                path: node,
                size: None,
                signatures: Vec::new(),
                partitions: Vec::new(),
                _claim: DeviceClaim::default(),
            });
        }
        StorageTarget::Directory(node) => return Err(unnamed(&node, path, Vec::new())),
        StorageTarget::Device(node) => {
            let (evidence, claim) = gather(path, &node)?;
            ExaminedTarget {
                node,
                evidence,
                claim,
            }
        }
        StorageTarget::File(node) => ExaminedTarget {
            evidence: of_file(path, &node),
            node,
            claim: DeviceClaim::default(),
        },
    };
    examined.permit(path, is_named)
}

/// A device or file, with what is known about it; the device is claimed.
struct ExaminedTarget {
    node: PathBuf,
    evidence: DeviceEvidence,
    claim: DeviceClaim,
}

impl ExaminedTarget {
    /// `given` is what the user wrote.
    fn permit(self, given: &Path, is_named: bool) -> Result<OverwriteGrant, BlockError> {
        let size = size(&self.node);
        match decide(&self.evidence, is_named) {
            Decision::ReadOnly(why) => Err(unnamed(&self.node, given, why)),
            Decision::Refused { why, remedy } => Err(BlockError::Refused {
                path: self.node,
                why,
                next: remedy.or(OTHERWISE),
            }),
            Decision::Overwrite(_) => match self.claim.hand_down() {
                Ok(()) => Ok(OverwriteGrant {
                    path: self.node,
                    size,
                    signatures: self.evidence.signatures.unwrap_or_default(),
                    partitions: self.evidence.partitions.unwrap_or_default(),
                    _claim: self.claim,
                }),
                Err(error) => Err(BlockError::Refused {
                    path: self.node,
                    why: vec![format!(
                        "the claim on it cannot be handed down to fio: {error}"
                    )],
                    next: format!("{OTHERWISE}."),
                }),
            },
        }
    }
}

fn unnamed(node: &Path, given: &Path, why: Vec<String>) -> BlockError {
    let why = if why.is_empty() {
        vec!["--overwrite was not given".into()]
    } else {
        why
    };
    let next = format!(
        "If what it holds may be lost, repeat this with --overwrite {}",
        given.display()
    );
    BlockError::Refused {
        path: node.into(),
        why,
        next,
    }
}

fn size(node: &Path) -> Option<Bytes> {
    let kind = fs::metadata(node).ok()?;
    if kind.is_file() {
        Some(Bytes(kind.len()))
    } else {
        about(&StorageTarget::Device(node.into())).device_size
    }
}

/// The same questions about a file: whether a loop device or swap space lies on it, and what it holds.
fn of_file(given: &Path, node: &Path) -> DeviceEvidence {
    let read_only = rustix::fs::access(node, rustix::fs::Access::WRITE_OK).is_err();
    DeviceEvidence {
        given: given.into(),
        node: node.into(),
        own_name: Ok(node.into()),
        mounts: Ok(Vec::new()),
        swaps: swaps(node),
        exclusive: Exclusive::Granted,
        holders: loops(node),
        open_by: Ok(Vec::new()),
        signatures: signatures(node),
        partitions: Ok(Vec::new()),
        read_only,
    }
}

/// A file is known by where it lies, whatever name leads there.
fn is_same(a: &Path, b: &Path) -> bool {
    fs::metadata(a)
        .is_ok_and(|a| fs::metadata(b).is_ok_and(|b| a.dev() == b.dev() && a.ino() == b.ino()))
}

fn swaps(node: &Path) -> NameList {
    let path = "/proc/swaps";
    let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let names = text
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next());
    Ok(names
        .filter(|name| is_same(Path::new(OsStr::from_bytes(&unescape(name))), node))
        .map(str::to_owned)
        .collect())
}

fn loops(node: &Path) -> NameList {
    let names = names_in(Path::new("/sys/block"))?;
    let lies_on_node = names.into_iter().filter(|name| {
        let backing = first_line(&Path::new("/sys/block").join(name).join("loop/backing_file"));
        name.starts_with("loop") && backing.is_ok_and(|path| is_same(Path::new(&path), node))
    });
    Ok(lies_on_node.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(path: &Path, named: &[PathBuf]) -> String {
        permit(path, named).unwrap_err().to_string()
    }

    /// A boot record with one partition.
    fn with_partition_table() -> Vec<u8> {
        let mut bytes = vec![0; 1 << 20];
        bytes[446 + 4] = 0x83;
        bytes[446 + 8] = 1;
        bytes[446 + 12] = 8;
        bytes[510..512].copy_from_slice(&[0x55, 0xaa]);
        bytes
    }

    #[test]
    fn what_was_not_named_is_refused_with_what_it_holds() {
        let dir = tempfile::tempdir().unwrap();
        let dir = fs::canonicalize(dir.path()).unwrap();
        let image = dir.join("image");
        fs::write(&image, with_partition_table()).unwrap();
        let other = [dir.join("other")];
        let text = refusal(&image, &other);
        assert!(
            text.contains("--overwrite was not given; it holds a signature of dos"),
            "{text}"
        );
        assert!(
            text.ends_with(&format!("--overwrite {}", image.display())),
            "{text}"
        );
        let permit = permit(&image, std::slice::from_ref(&image)).unwrap();
        assert_eq!(
            (permit.size, permit.signatures.len()),
            (Some(Bytes::mib(1)), 1)
        );
    }

    #[test]
    fn another_name_will_not_do() {
        let dir = tempfile::tempdir().unwrap();
        let dir = fs::canonicalize(dir.path()).unwrap();
        let (file, link) = (dir.join("file"), dir.join("link"));
        fs::write(&file, "x").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let text = refusal(&link, std::slice::from_ref(&link));
        assert!(
            text.contains("is another name of") && text.contains("give its own name"),
            "{text}"
        );
    }

    #[test]
    fn a_directory_is_named_or_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        assert!(refusal(dir.path(), &[]).contains("--overwrite was not given"));
        assert_eq!(
            permit(dir.path(), &[dir.path().to_owned()]).unwrap().size,
            None
        );
    }
}
