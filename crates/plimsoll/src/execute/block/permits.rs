//! Permission to overwrite what plimsoll did not create: devices, and paths in job files outside of their directory.

use std::path::{Path, PathBuf};

use plimsoll_block::BlockError;
use plimsoll_block::device::overwrite_grant::{OverwriteGrant, permit};
use plimsoll_block::fio::{can_confine, showcmd};
use plimsoll_block::jobfile::{JobFile, JobFileFault};
use plimsoll_plan::resolved::{Block, BlockWork, Medium};

/// How many lines of a job file a message names.
const MOST_FAULTS: usize = 3;

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

/// A job file that may be run.
pub(in super::super) struct GrantedJobFile {
    /// Text that fio gets.
    pub text: String,
    /// Paths that it names outside of its directory.
    pub grants: Vec<OverwriteGrant>,
}

/// Checks the job file of a workload, if it has one.
pub(in super::super) fn grant_job_file(
    block: &Block,
    overwrite: &[PathBuf],
) -> Result<Option<GrantedJobFile>, BlockError> {
    let BlockWork::File { path } = &block.work else {
        return Ok(None);
    };
    let path = Path::new(path);
    let bytes = std::fs::read(path).map_err(|error| BlockError::TestFile {
        path: path.into(),
        why: format!("the job file cannot be read: {error}"),
        next: "A relative `fio_job` counts from where plimsoll was started.".into(),
    })?;
    // Comments may be in any encoding; values have ASCII only.
    let job =
        JobFile::read(&String::from_utf8_lossy(&bytes)).map_err(|faults| refused(path, &faults))?;
    let text = job.text();
    showcmd(&text)
        .and_then(|printed| job.check_showcmd(&printed))
        .map_err(|why| BlockError::TestFile {
            path: path.into(),
            why,
            next: "Correct the job file; `fio --parse-only FILE` checks it.".into(),
        })?;
    let grants = job.outside().iter().map(|path| grant(path, overwrite));
    Ok(Some(GrantedJobFile {
        grants: grants.collect::<Result<_, _>>()?,
        text,
    }))
}

fn refused(path: &Path, faults: &[JobFileFault]) -> BlockError {
    let shown = faults.iter().take(MOST_FAULTS).map(ToString::to_string);
    let mut why: Vec<String> = shown.collect();
    let more = faults.len().saturating_sub(MOST_FAULTS);
    if more > 0 {
        why.push(format!("and {more} more"));
    }
    BlockError::TestFile {
        path: path.into(),
        why: why.join("; "),
        next: "Change these lines, or run fio by hand and use plimsoll import.".into(),
    }
}

/// Without Landlock a link in a directory would lead out of it. Of devices each is checked by itself.
fn grant(path: &str, overwrite: &[PathBuf]) -> Result<OverwriteGrant, BlockError> {
    if matches!(Path::new(path).try_exists(), Ok(false)) {
        return Err(BlockError::TestFile {
            path: path.into(),
            why: "the job file names it, and it does not exist".into(),
            next: "Write its name without a path, and fio makes it on the medium; or create it, and name it with \
                   --overwrite."
                .into(),
        });
    }
    let grant = permit(Path::new(path), overwrite)?;
    let has_devices = ["/dev", "/proc", "/sys"]
        .iter()
        .any(|system| grant.path.starts_with(system));
    if grant.path.is_dir() && (has_devices || !can_confine()) {
        let why = if has_devices {
            "a directory of devices is not overwritten"
        } else {
            "this kernel has no Landlock to keep fio in a directory of others"
        };
        return Err(BlockError::TestFile {
            path: grant.path,
            why: why.into(),
            next: "Name a file or a device in the job file.".into(),
        });
    }
    Ok(grant)
}
