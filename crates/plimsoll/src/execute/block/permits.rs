//! Permission to overwrite what plimsoll did not create: devices, and paths in job files outside of their directory.

use std::path::{Path, PathBuf};

use plimsoll_block::BlockError;
use plimsoll_block::device::overwrite_grant::{OverwriteGrant, permit};
use plimsoll_block::jobfile::outside;
use plimsoll_plan::resolved::{Block, BlockWork, Medium};

/// The grant for a medium that is a device, with room for all workers.
pub(in super::super) fn device_permit(
    medium: &Medium,
    block: &Block,
    overwrite: &[PathBuf],
) -> Result<OverwriteGrant, BlockError> {
    let path = Path::new(&medium.path);
    if let BlockWork::File { path: file } = &block.work {
        let why = format!(
            "the job file {file} runs in a directory, and medium {} is a device",
            medium.name
        );
        let next = format!(
            "Name the device in the job file, give the step a directory, and --overwrite {}.",
            medium.path
        );
        return Err(BlockError::TestFile {
            path: path.into(),
            why,
            next,
        });
    }
    let permit = permit(path, overwrite)?;
    let has = permit.size.unwrap_or_default();
    let needed = block.space();
    if has < needed {
        let why = format!(
            "{} workers with {} each do not fit into its {has}",
            block.workers, block.size
        );
        let next = "Take a smaller `size` or fewer `workers`.".into();
        return Err(BlockError::TestFile {
            path: permit.path,
            why,
            next,
        });
    }
    Ok(permit)
}

/// Grants for the paths in a job file outside of its directory.
pub(in super::super) fn job_file_permits(
    block: &Block,
    overwrite: &[PathBuf],
) -> Result<Vec<OverwriteGrant>, BlockError> {
    let BlockWork::File { path } = &block.work else {
        return Ok(Vec::new());
    };
    let file = Path::new(path);
    let text = std::fs::read_to_string(file).map_err(|error| BlockError::TestFile {
        path: file.into(),
        why: format!("the job file cannot be read: {error}"),
        next: "A relative `fio_job` counts from where plimsoll was started.".into(),
    })?;
    let outside = outside(&text);
    if !outside.options.is_empty() {
        let why = outside
            .options
            .iter()
            .map(|option| format!("unknown which files `{option}` touches"));
        let next = "Remove it from the job file, or run fio by hand.".into();
        return Err(BlockError::Refused {
            path: file.into(),
            why: why.collect(),
            next,
        });
    }
    outside
        .paths
        .iter()
        .map(|path| permit(Path::new(path), overwrite))
        .collect()
}
