//! Numbers and names of devices, as sysfs and procfs have them.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

pub(super) type Number = (u32, u32);
pub(super) type NameList = Result<Vec<String>, String>;

pub(super) fn parse_number(text: &str) -> Option<Number> {
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

pub(super) fn first_line(path: &Path) -> Result<String, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(text.lines().next().unwrap_or_default().trim().to_owned())
}

pub(super) fn names_in(directory: &Path) -> NameList {
    let entries =
        fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let mut names: Vec<String> = entries
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    Ok(names)
}

pub(super) fn partitions(directory: &Path) -> NameList {
    let names = names_in(directory)?;
    Ok(names
        .into_iter()
        .filter(|name| directory.join(name).join("partition").exists())
        .collect())
}

/// The number of a device node that a path leads to.
pub(super) fn number_at(path: impl AsRef<Path>) -> Option<Number> {
    let about = fs::metadata(path).ok()?;
    let number = (
        rustix::fs::major(about.rdev()),
        rustix::fs::minor(about.rdev()),
    );
    about.file_type().is_block_device().then_some(number)
}
