//! The arrays that a medium lies on: btrfs, md, LVM and Ceph.

mod btrfs;
mod ceph;
mod files;
mod lvm;
mod md;

use crate::host::device::BlockDevice;
use crate::host::mount::Mount;
use crate::host::source::KernelFiles;

use super::disk::{DEEPEST, slaves};
use files::FoundArray;

/// From the top down; none where the data are on one drive, or on what the kernel does not show. `may_run`: programs may be run.
pub fn arrays(
    source: &KernelFiles,
    device: Option<&BlockDevice>,
    mount: Option<&Mount>,
    may_run: bool,
) -> Vec<FoundArray> {
    let stack = device.map_or_else(Vec::new, |device| stack(source, device.disk()));
    let btrfs = mount.and_then(|mount| btrfs::array(source, mount));
    let mut found: Vec<FoundArray> = btrfs.into_iter().map(Ok).collect();
    found.extend(lvm::arrays(source, &stack, may_run));
    found.extend(
        stack
            .iter()
            .filter_map(|device| md::array(source, device).map(Ok)),
    );
    found.extend(ceph::array(source, &stack, mount, may_run));
    found
}

/// A device and all that it is made of, each once, from the top down.
fn stack(source: &KernelFiles, device: &BlockDevice) -> Vec<BlockDevice> {
    let mut found = vec![device.clone()];
    let mut layer = found.clone();
    for _ in 0..DEEPEST {
        let below: Vec<_> = layer.iter().flat_map(|own| slaves(source, own)).collect();
        layer.clear();
        for next in below {
            if !found.contains(&next) {
                found.push(next.clone());
                layer.push(next);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
