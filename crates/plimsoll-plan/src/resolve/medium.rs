//! Media: a directory that is there, or an emulated drive.

use crate::Options;
use crate::assembly::{AssemblyError, NamedAssembly};
use crate::findings::Findings;
use crate::known_drives::KnownDrives;
use crate::raw::{PlanTable, RawMedium, TableKind};
use crate::resolved::{DriveSpeed, EmulatedDrive, Medium, MediumKind};
use crate::value::{At, OptionalKey, RawText};

/// Where the directory of an emulated drive is made.
const DEFAULT_PATH: &str = ".";

pub(super) fn resolve(
    name: &str,
    at: &At<RawMedium>,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<Medium> {
    let raw = at.get();
    let (path, kind) = if let Some(written) = &raw.device {
        (device(written, raw, findings), MediumKind::Device)
    } else if let Some(drive) = &raw.drive {
        let path = raw.path.value().unwrap_or(DEFAULT_PATH.to_owned());
        let drive = emulated(drive, raw, options, findings)?;
        (path, MediumKind::Emulated(drive))
    } else {
        (directory(at, findings)?, MediumKind::Directory)
    };
    Some(Medium {
        name: name.to_owned(),
        path,
        kind,
    })
}

fn directory(at: &At<RawMedium>, findings: &mut Findings<'_>) -> Option<String> {
    let raw = at.get();
    if findings.explains(&at.span(), "drive") {
        return raw.path.value();
    }
    raw.refuse(TableKind::WithoutDrive, findings);
    let help = "name a directory: path = \".\", or a drive to emulate: drive = \"…\"";
    findings
        .required(&at.span(), "path", &raw.path, help)
        .map(At::value)
}

/// A device that is there: its path below `/dev`.
fn device(written: &At<RawText>, raw: &RawMedium, findings: &mut Findings<'_>) -> String {
    raw.refuse(TableKind::Device, findings);
    if raw.drive.is_none() {
        raw.refuse(TableKind::WithoutDrive, findings);
    }
    let path = written.value();
    let below_dev = path
        .strip_prefix("/dev/")
        .is_some_and(|rest| !rest.is_empty())
        && !path.split('/').any(|part| part == "..");
    if !below_dev {
        let help = "its path below /dev, such as device = \"/dev/disk/by-id/nvme-…\"; a directory is a `path`";
        findings.error(
            written.span(),
            format!("`{path}` is not the path of a device"),
            help,
        );
    }
    path
}

fn emulated(
    drive: &At<RawText>,
    raw: &RawMedium,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<EmulatedDrive> {
    if let (Some(speed), Some(_)) = (&raw.speed, &raw.slower) {
        let help = "`slower` is a fixed factor, `speed` lets plimsoll choose one or none: remove one of them";
        findings.error(
            speed.span(),
            "`speed` and `slower` exclude each other",
            help,
        );
    }
    Some(EmulatedDrive {
        drive: known_drive(drive, &options.drives, findings)?,
        capacity: raw.capacity(),
        slower: raw.slower.value().unwrap_or(1.0),
        auto: raw.slower.is_none() && raw.speed() == DriveSpeed::Auto,
        fill: raw.fill(),
        form: raw.form(),
        filesystem: raw.filesystem(),
        backing: raw.backing(),
        flush: raw.flush(),
        without_fuse: raw.without_fuse(),
    })
}

/// A name in the catalog, in full, or a drive file, which is opened when the plan runs.
fn known_drive(
    written: &At<RawText>,
    drives: &KnownDrives,
    findings: &mut Findings<'_>,
) -> Option<String> {
    let drive = written.value();
    if drive.ends_with(".toml") || drives.names.contains(&drive) {
        return Some(drive);
    }
    if NamedAssembly::is_meant(&drive) {
        return known_assembly(&drive, written, drives, findings);
    }
    full_name(&drive, written, drives, findings)
}

fn full_name(
    drive: &str,
    written: &At<RawText>,
    drives: &KnownDrives,
    findings: &mut Findings<'_>,
) -> Option<String> {
    let known = drives.full_name(drive);
    let refuse = |help: String| {
        let message = format!("there is no drive `{drive}` in the catalog");
        findings.error(written.span(), message, help);
    };
    known.map_err(refuse).ok()
}

/// The name of an array or a cluster, with the full names of its drives.
fn known_assembly(
    name: &str,
    written: &At<RawText>,
    drives: &KnownDrives,
    findings: &mut Findings<'_>,
) -> Option<String> {
    let help = "an array is written as LEVEL:MEMBERS:DRIVE, such as raid5:6:kingston-dc500m-960g; a cluster as vsan:HOSTS:DRIVES:DRIVE or ceph:HOSTS:DRIVES:DRIVE";
    let NamedAssembly {
        assembly,
        drives: parts,
    } = match name.parse() {
        Ok(named) => named,
        Err(error) => {
            let error: AssemblyError = error;
            findings.error(written.span(), error.to_string(), help);
            return None;
        }
    };
    let drives = parts
        .iter()
        .map(|drive| full_name(drive, written, drives, findings))
        .collect::<Option<Vec<String>>>()?;
    Some(NamedAssembly { assembly, drives }.to_string())
}
