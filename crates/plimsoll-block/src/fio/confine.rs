//! Landlock: the kernel lets fio write to what it was given and to nothing else, also as root.
//!
//! It is asked when a file is opened, made, renamed or removed, not when it is written: figures stay as they are.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use landlock::{
    ABI, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr,
};

/// The first with all rights to write to files; an older kernel gets those that it knows.
const RIGHTS: ABI = ABI::V3;

/// Whether this kernel can restrict fio: Linux 5.13 or later, with `landlock` among its security modules.
pub fn can_confine() -> bool {
    static OFFERED: OnceLock<bool> = OnceLock::new();
    *OFFERED.get_or_init(|| {
        Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::WriteFile)
            .and_then(Ruleset::create)
            .is_ok()
    })
}

/// Takes from the calling thread, and from what it starts, the right to write anywhere but to these files, devices and
/// directories. Without effect where the kernel has no Landlock.
///
/// # Errors
/// The kernel refuses.
pub(super) fn restrict_this_thread(writable: &[PathBuf]) -> Result<(), String> {
    if !can_confine() {
        return Ok(());
    }
    let ruleset = Ruleset::default()
        .handle_access(AccessFs::from_write(RIGHTS))
        .and_then(Ruleset::create)
        .map_err(|error| error.to_string())?;
    let ruleset = writable
        .iter()
        .try_fold(ruleset, |ruleset, path| allow(ruleset, path))?;
    let restricted = ruleset.restrict_self();
    restricted.map(drop).map_err(|error| error.to_string())
}

fn allow(ruleset: RulesetCreated, path: &Path) -> Result<RulesetCreated, String> {
    // fio itself reports a path that is missing.
    let Ok(about) = path.metadata() else {
        return Ok(ruleset);
    };
    let handle = PathFd::new(path).map_err(|error| error.to_string())?;
    let rule = PathBeneath::new(handle, rights(about.is_dir()));
    ruleset.add_rule(rule).map_err(|error| error.to_string())
}

/// In a directory files are made and removed; no links and no devices.
fn rights(is_directory: bool) -> BitFlags<AccessFs> {
    let file = AccessFs::WriteFile | AccessFs::Truncate;
    let names = AccessFs::MakeReg | AccessFs::MakeDir | AccessFs::RemoveFile | AccessFs::RemoveDir;
    if is_directory { file | names } else { file }
}
