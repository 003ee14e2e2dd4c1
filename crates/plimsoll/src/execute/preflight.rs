//! Checks before anything is touched: media exist, are writable, and have enough free space.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use plimsoll_block::BlockError;
use plimsoll_block::host::mount::{available_memory, free_bytes};
use plimsoll_drive::emulate::check_fuse;
use plimsoll_load::engine::server::ManagedServer;
use plimsoll_load::passwd::user_name;
use plimsoll_load::system::Instance;
use plimsoll_plan::assembly::DriveAssembly;
use plimsoll_plan::resolved::{
    DriveForm, EmulatedDrive, Medium, MediumKind, ResolvedPlan, Step, SystemKind, WithoutFuse,
};
use plimsoll_plan::units::Bytes;
use plimsoll_plan::{MediumId, MediumNeed, PlanEstimate, SystemId, estimate};

use super::block::{device_permit, grant_job_file};
use super::existing::{check_route, expect_answer};
use super::systems::check_limits;
use crate::drive_file;
use crate::failure::Failure;
use plimsoll_record::runfile::RunFileError;

/// Refuses a plan that its media or this machine cannot run. Writes nothing. Files on simulated drives are
/// in the medium's directory.
pub fn preflight(plan: &ResolvedPlan, overwrite: &[PathBuf]) -> Result<(), Failure> {
    let is_simulated = plan.is_simulated();
    // Those hosts check it.
    if !plan.on_hosts.is_empty() {
        return Ok(());
    }
    let PlanEstimate {
        space: needed,
        memory,
        ..
    } = estimate(plan);
    check_block_steps(plan, overwrite).map_err(|error| Failure::usage(error.to_string()))?;
    let used: Vec<MediumId> = plan.used_media().collect();
    check_limits(plan)?;
    let needs = memory.iter().filter(|need| used.contains(&need.medium));
    check_memory(needs).map_err(Failure::usage)?;
    for id in used {
        let medium = plan.medium(id);
        if let Some(drive) = medium.kind.emulated() {
            drive_file::emulated(drive)?;
            if !is_simulated {
                let mut steps = plan.load_steps();
                let is_cut = steps.any(|step| step.power_cut.is_some() && step.on.contains(&id));
                check_root(medium, drive, is_cut)?;
                check_emulation(medium, drive)?;
            }
        }
        let needed = needed
            .iter()
            .find(|need| need.medium == id)
            .map_or(Bytes(0), |need| need.bytes);
        if medium.kind != MediumKind::Device {
            check_medium(medium, needed).map_err(Failure::usage)?;
        }
    }
    check_managed_servers(plan)?;
    check_existing_servers(plan)
}

/// Servers that plimsoll starts have programs, and can be started on their media.
fn check_managed_servers(plan: &ResolvedPlan) -> Result<(), Failure> {
    for step in &plan.steps {
        for system in step.systems() {
            let SystemKind::Managed {
                engine, binaries, ..
            } = &plan.system(system).kind
            else {
                continue;
            };
            for medium in step.on() {
                let dir = Path::new(&plan.medium(*medium).path);
                ManagedServer::check_startable(*engine, binaries, dir)?;
                if plan.system(system).log_disk {
                    check_log_disk(plan.medium(*medium))?;
                }
            }
        }
    }
    Ok(())
}

/// A log can have a separate disk only where there are several.
fn check_log_disk(medium: &Medium) -> Result<(), Failure> {
    let assembly = match &medium.kind {
        MediumKind::Emulated(drive) => drive_file::emulated(drive)?.assembly,
        MediumKind::Directory | MediumKind::Device => None,
    };
    let has_several =
        matches!(&assembly, Some(DriveAssembly::Cluster(cluster)) if cluster.vdisks > 1);
    if has_several {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "`log_disk` needs several disks, and medium {} is one\nUse an emulated cluster with `vdisks`, such as \
         drive = \"vsan:4:3:nvme:vdisks=3\", or remove `log_disk`.",
        medium.name
    )))
}

/// Refuses URLs of existing servers that none can be reached by. Connects to nothing.
pub fn check_urls(plan: &ResolvedPlan) -> Result<(), Failure> {
    for system in &plan.systems {
        if matches!(system.kind, SystemKind::Existing { .. }) {
            let url = Instance::start(&system.kind, None, None)?.check_url();
            url.map_err(|error| Failure::usage(error.to_string()))?;
        }
    }
    Ok(())
}

/// Existing servers answer, have connections for all users, are new enough, and have room for the data among what they
/// hold.
fn check_existing_servers(plan: &ResolvedPlan) -> Result<(), Failure> {
    let mut reached = BTreeSet::new();
    for (system, workload) in plan.steps.iter().flat_map(|step| plan.data_of(step)) {
        let kind = &plan.system(system).kind;
        if matches!(kind, SystemKind::Existing { .. }) {
            if reached.insert(system) {
                expect_answer(kind)?;
                check_route(kind, connections(plan, system))?;
            }
            Instance::start(kind, None, None)?.check_usable(workload, plan.data_seed)?;
        }
    }
    Ok(())
}

/// The most that a point of the plan opens on the system. Where a search ends is not known before.
fn connections(plan: &ResolvedPlan, system: SystemId) -> u32 {
    let steps = plan.load_steps().filter(|step| step.system == system);
    let points = steps.flat_map(|step| &step.points);
    points
        .map(|point| point.connections())
        .max()
        .unwrap_or_default()
}

/// The medium's drive can be emulated, if the plan does not allow a plain directory instead.
fn check_emulation(medium: &Medium, drive: &EmulatedDrive) -> Result<(), Failure> {
    if drive.without_fuse == WithoutFuse::PlainDirectory {
        return Ok(());
    }
    check_fuse().map_err(|error| Failure::usage(format!("medium {}: {error}", medium.name)))
}

/// Only root can make a block device of an emulated drive.
fn check_root(medium: &Medium, drive: &EmulatedDrive, is_cut: bool) -> Result<(), Failure> {
    let (what, next) = match drive.form {
        DriveForm::Block if drive.without_fuse == WithoutFuse::PlainDirectory && !is_cut => {
            return Ok(());
        }
        DriveForm::Block => ("an emulated block device needs root", "form = \"block\""),
        DriveForm::Auto if is_cut => ("a power cut needs an emulated block device", "power_cut"),
        DriveForm::Auto | DriveForm::Directory => return Ok(()),
    };
    let user = rustix::process::geteuid();
    if user.is_root() {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "medium {}: {what}\nloop devices and filesystems are made by root; you are {}\n\
         Run plimsoll as root, or take {next} out of the plan.",
        medium.name,
        user_name(user.as_raw())
    )))
}

/// fio is installed, and every device and file that plimsoll did not create may be overwritten.
fn check_block_steps(plan: &ResolvedPlan, overwrite: &[PathBuf]) -> Result<(), BlockError> {
    let steps = plan.steps.iter().filter_map(|step| match step {
        Step::Block(step) => Some(step),
        Step::Load(_) | Step::Backup(_) => None,
    });
    for (i, step) in steps.enumerate() {
        if i == 0 {
            plimsoll_block::fio::find()?;
        }
        let block = &plan.block(step.workload).block;
        for medium in step.on.iter().map(|medium| plan.medium(*medium)) {
            if medium.kind == MediumKind::Device {
                device_permit(medium, block, overwrite)?;
            }
        }
        grant_job_file(block, overwrite)?;
    }
    Ok(())
}

/// Refuses a path where no new run file can be created. Writes nothing.
pub fn check_output(output: &Path) -> Result<(), Failure> {
    // A broken link counts as there.
    if output.symlink_metadata().is_ok() {
        return Err(RunFileError::Exists {
            path: output.into(),
        }
        .into());
    }
    let parent = output
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let refuse = |why: String| {
        Err(Failure::usage(format!(
            "the run file {} cannot be created\n{why}\nChoose another path with --output.",
            output.display()
        )))
    };
    if !parent.is_dir() {
        return refuse(format!("there is no directory {}", parent.display()));
    }
    match rustix::fs::access(
        parent,
        rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK,
    ) {
        Err(error) => refuse(format!(
            "{}: {}",
            parent.display(),
            refusal(parent, error).why
        )),
        Ok(()) => Ok(()),
    }
}

/// In the worst case all emulated drives with data in memory exist at the same time.
fn check_memory<'a>(needed: impl Iterator<Item = &'a MediumNeed>) -> Result<(), String> {
    let needed = needed.fold(Bytes(0), |sum, need| {
        Bytes(sum.0.saturating_add(need.bytes.0))
    });
    if needed == Bytes(0) {
        return Ok(());
    }
    let available = available_memory().map_err(|error| format!("/proc/meminfo: {error}"))?;
    if available < needed {
        return Err(format!(
            "not enough memory for the emulated drives\n{available} are available, and what is written needs about {needed}\n\
             Keep them on a disk with backing = \"file\", or shrink the data with --data-scale (bench: --warehouses, --size)."
        ));
    }
    Ok(())
}

/// Why a directory cannot be written to.
struct WriteRefusal {
    /// With its owner and the user, where they differ.
    why: String,
    /// A command that gives it to the user.
    chown: Option<String>,
}

fn refusal(path: &Path, error: rustix::io::Errno) -> WriteRefusal {
    let user = user_name(rustix::process::geteuid().as_raw());
    let owner = std::fs::metadata(path).map(|meta| user_name(meta.uid()));
    match owner.ok().filter(|owner| *owner != user) {
        Some(owner) => WriteRefusal {
            why: format!("{error}; it belongs to {owner}, you are {user}"),
            chown: Some(format!("sudo chown {user} {}", path.display())),
        },
        None => WriteRefusal {
            why: error.to_string(),
            chown: None,
        },
    }
}

fn check_medium(medium: &Medium, needed: Bytes) -> Result<(), String> {
    let name = &medium.name;
    let path = Path::new(&medium.path);
    let meta = std::fs::metadata(path).map_err(|error| {
        format!(
            "medium {name}: {} cannot be used\n{error}\nCreate it (mkdir -p {}), or name another directory.",
            path.display(),
            path.display()
        )
    })?;
    if !meta.is_dir() {
        return Err(format!(
            "medium {name}: {} is not a directory\nName a directory.",
            path.display()
        ));
    }
    // The kernel's answer respects read-only mounts and access lists as well.
    let writable = rustix::fs::access(
        path,
        rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK,
    );
    writable.map_err(|error| {
        let WriteRefusal { why, chown } = refusal(path, error);
        let next = "Name a directory that this user may write to";
        let next = chown.map_or(next.to_owned(), |chown| format!("{next}, or: {chown}"));
        format!(
            "medium {name}: cannot write to {}\n{why}\n{next}",
            path.display()
        )
    })?;
    let free =
        free_bytes(path).map_err(|error| format!("medium {name}: {}: {error}", path.display()))?;
    if free < needed {
        return Err(format!(
            "medium {name}: not enough space in {}\n\
             {free} are free, and the plan needs about {needed}\n\
             Free space, name another directory, or shrink the data with --data-scale (bench: --warehouses, --size).",
            path.display()
        ));
    }
    Ok(())
}
