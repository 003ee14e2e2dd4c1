//! The filesystem under a path.

use std::path::Path;

use plimsoll_block::host::mount::{Mount, mount_of, space};
use plimsoll_block::host::source::KernelFiles;

use super::FactCollector;

/// filesystem, mount_point, mount_source, mount_options, super_options, size, free.
pub fn medium_facts(path: &Path) -> Vec<(String, String)> {
    let source = KernelFiles::new("/");
    let mount = std::fs::canonicalize(path)
        .ok()
        .and_then(|path| mount_of(&source, &path));
    let space = space(path).ok();
    let mut facts = FactCollector::new(&source);
    let of = |field: fn(Mount) -> String| mount.clone().map(field);
    facts.add("filesystem", of(|mount| mount.filesystem));
    facts.add("mount_source", of(|mount| mount.source));
    facts.add("mount_point", of(|mount| mount.point.display().to_string()));
    facts.add("mount_options", of(|mount| mount.options));
    facts.add("super_options", of(|mount| mount.super_options));
    facts.add("size", space.map(|space| space.size.to_string()));
    facts.add("free", space.map(|space| space.free.to_string()));
    facts.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_of_this_directory_are_complete() {
        let facts = medium_facts(Path::new("."));
        let keys: Vec<&str> = facts.iter().map(|(key, _)| key.as_str()).collect();
        let expected = [
            "filesystem",
            "mount_source",
            "mount_point",
            "mount_options",
            "super_options",
            "size",
            "free",
        ];
        assert_eq!(keys, expected);
        assert!(
            medium_facts(Path::new("/no such directory"))
                .iter()
                .any(|(key, _)| key == "unreadable")
        );
    }
}
