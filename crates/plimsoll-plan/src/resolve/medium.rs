//! Media: a directory that is there, or an emulated drive.

use super::values::{size, text};
use crate::Options;
use crate::assembly::{AssemblyError, NamedAssembly};
use crate::findings::Findings;
use crate::known_drives::KnownDrives;
use crate::raw::RawMedium;
use crate::resolved::{
    DriveBacking, DriveFilesystem, DriveForm, DriveSpeed, EmulatedDrive, FlushPolicy, Medium,
    MediumKind, SLOWER, WithoutFuse,
};
use crate::size as sizes;
use crate::units::Bytes;
use crate::value::At;

/// The data of quickstart and of most tests fit in it, and the memory of most machines holds what is written of it.
const DEFAULT_CAPACITY: Bytes = Bytes::mib(32 << 10);
/// A PostgreSQL with its WAL does not fit in less, and filesystems take their share.
const LEAST_CAPACITY: Bytes = Bytes::mib(512);
/// Where the directory of an emulated drive is made.
const DEFAULT_PATH: &str = ".";

pub(super) fn resolve(
    name: &str,
    at: &At<RawMedium>,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<Medium> {
    let raw = at.get();
    if let Some(written) = &raw.device {
        let path = device(written, raw, findings)?;
        return Some(Medium {
            name: name.to_owned(),
            path,
            kind: MediumKind::Device,
        });
    }
    let Some(drive) = &raw.drive else {
        if !findings.explains(&at.span(), "drive") {
            refuse_without_drive(raw, findings);
        }
        let help = "name a directory: path = \".\", or a drive to emulate: drive = \"…\"";
        let broken = findings.explains(&at.span(), "drive");
        let path = if broken {
            raw.path.as_ref()
        } else {
            findings.required(&at.span(), "path", &raw.path, help)
        };
        let path = text(path?, "the path", findings)?;
        return Some(Medium {
            name: name.to_owned(),
            path,
            kind: MediumKind::Directory,
        });
    };
    let path = raw
        .path
        .as_ref()
        .map_or(Some(DEFAULT_PATH.to_owned()), |path| {
            text(path, "the path", findings)
        });
    let emulated = emulated(drive, raw, options, findings);
    Some(Medium {
        name: name.to_owned(),
        path: path?,
        kind: MediumKind::Emulated(emulated?),
    })
}

/// A device that is there: its path below `/dev`.
fn device(written: &At<String>, raw: &RawMedium, findings: &mut Findings<'_>) -> Option<String> {
    let help = "a medium is one of the three: remove the other, or make two media of it";
    for (key, other) in [("path", &raw.path), ("drive", &raw.drive)] {
        if let Some(other) = other {
            findings.error(
                other.span(),
                format!("`{key}` and `device` exclude each other"),
                help,
            );
        }
    }
    if raw.drive.is_none() {
        refuse_without_drive(raw, findings);
    }
    let path = text(written, "the device", findings)?;
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
        return None;
    }
    Some(path)
}

/// Keys of emulated drives, on a medium without one.
fn refuse_without_drive(raw: &RawMedium, findings: &mut Findings<'_>) {
    let RawMedium {
        path: _,
        device: _,
        drive: _,
        capacity,
        speed,
        slower,
        fill,
        form,
        filesystem,
        backing,
        flush,
        without_fuse,
    } = raw;
    for (key, span) in [
        ("capacity", capacity.as_ref().map(At::span)),
        ("speed", speed.as_ref().map(At::span)),
        ("slower", slower.as_ref().map(At::span)),
        ("fill", fill.as_ref().map(At::span)),
        ("form", form.as_ref().map(At::span)),
        ("filesystem", filesystem.as_ref().map(At::span)),
        ("backing", backing.as_ref().map(At::span)),
        ("flush", flush.as_ref().map(At::span)),
        ("without_fuse", without_fuse.as_ref().map(At::span)),
    ] {
        if let Some(span) = span {
            let help = "it belongs to an emulated drive: add drive = \"…\", or remove it";
            findings.error(
                span,
                format!("`{key}` has no meaning without a `drive`"),
                help,
            );
        }
    }
}

fn emulated(
    drive: &At<String>,
    raw: &RawMedium,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<EmulatedDrive> {
    let drive = known_drive(drive, &options.drives, findings);
    let capacity = raw
        .capacity
        .as_ref()
        .map_or(Some(DEFAULT_CAPACITY), |written| {
            let capacity = size(written, findings)?;
            if capacity < LEAST_CAPACITY {
                let help = format!("{} at least", sizes::write(LEAST_CAPACITY));
                findings.error(
                    written.span(),
                    format!("a drive of {} is too small", sizes::write(capacity)),
                    help,
                );
                return None;
            }
            Some(capacity)
        });
    let fill = raw.fill.as_ref().map_or(Some(1.0), |written| {
        let fill = *written.get();
        if !(0.0..=1.0).contains(&fill) {
            let help = "a share of the capacity: 0 is a new drive, 1 a drive in steady state";
            findings.error(written.span(), format!("`fill` cannot be {fill}"), help);
            return None;
        }
        // Not -0.0, which reads oddly.
        Some(fill.abs())
    });
    let slower = slower(raw, findings);
    Some(EmulatedDrive {
        drive: drive?,
        capacity: capacity?,
        slower: slower?,
        auto: raw.slower.is_none()
            && raw
                .speed
                .as_ref()
                .is_none_or(|speed| *speed.get() == DriveSpeed::Auto),
        fill: fill?,
        form: raw
            .form
            .as_ref()
            .map_or(DriveForm::Auto, |form| *form.get()),
        filesystem: raw
            .filesystem
            .as_ref()
            .map_or(DriveFilesystem::Ext4, |filesystem| *filesystem.get()),
        backing: raw
            .backing
            .as_ref()
            .map_or(DriveBacking::Memory, |backing| *backing.get()),
        flush: raw
            .flush
            .as_ref()
            .map_or(FlushPolicy::Honest, |flush| *flush.get()),
        without_fuse: raw
            .without_fuse
            .as_ref()
            .map_or(WithoutFuse::Refuse, |policy| *policy.get()),
    })
}

/// The fixed factor; 1 without one.
fn slower(raw: &RawMedium, findings: &mut Findings<'_>) -> Option<f64> {
    let Some(written) = &raw.slower else {
        return Some(1.0);
    };
    if let Some(speed) = &raw.speed {
        let help = "`slower` is a fixed factor, `speed` lets plimsoll choose one or none: remove one of them";
        findings.error(
            speed.span(),
            "`speed` and `slower` exclude each other".to_owned(),
            help,
        );
    }
    let slower = *written.get();
    if !SLOWER.contains(&slower) {
        let help = format!(
            "a factor of {} to {}: 20 makes 80 µs 1.6 ms",
            SLOWER.start(),
            SLOWER.end()
        );
        findings.error(written.span(), format!("`slower` cannot be {slower}"), help);
        return None;
    }
    Some(slower)
}

/// A name in the catalog, in full, or a drive file, which is opened when the plan runs.
fn known_drive(
    written: &At<String>,
    drives: &KnownDrives,
    findings: &mut Findings<'_>,
) -> Option<String> {
    let drive = text(written, "the drive", findings)?;
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
    written: &At<String>,
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
    written: &At<String>,
    drives: &KnownDrives,
    findings: &mut Findings<'_>,
) -> Option<String> {
    let help = "an array is written as LEVEL:MEMBERS:DRIVE, such as raid5:6:kingston-dc500m-960g; a cluster as vsan:HOSTS:DRIVES:DRIVE or ceph:HOSTS:DRIVES:DRIVE";
    let NamedAssembly {
        assembly,
        drives: own,
    } = match name.parse() {
        Ok(named) => named,
        Err(error) => {
            let error: AssemblyError = error;
            findings.error(written.span(), error.to_string(), help);
            return None;
        }
    };
    let own = own
        .iter()
        .map(|drive| full_name(drive, written, drives, findings));
    let drives = own.collect::<Option<Vec<String>>>()?;
    Some(NamedAssembly { assembly, drives }.to_string())
}
