//! Drives by name or by file.

use std::path::Path;

use plimsoll_drive::catalog;
use plimsoll_drive::spec::DriveSpec;
use plimsoll_plan::assembly::{AssemblyError, NamedAssembly};
use plimsoll_plan::{EmulatedDrive, Options, SLOWER};

use crate::failure::Failure;
use crate::input::read_text;
use crate::plan_errors;

/// To read a plan at its full size.
pub fn options() -> Options {
    Options {
        scale: 1.0,
        data_scale: 1.0,
        seed: None,
        emulate: false,
        drives: catalog::known(),
    }
}

/// Reads what a plan's medium emulates.
pub fn emulated(drive: &EmulatedDrive) -> Result<DriveSpec, Failure> {
    let spec = read(&drive.drive)?;
    let own = spec.slower;
    let spec = spec.slower(drive.slower);
    match SLOWER.contains(&spec.slower) {
        true => Ok(spec),
        false => Err(Failure::usage(format!(
            "the drive {} would be {} times slower: {own} by its file, {} by the plan\nGive a smaller factor: their product lies \
             between {} and {}.",
            drive.drive,
            spec.slower,
            drive.slower,
            SLOWER.start(),
            SLOWER.end()
        ))),
    }
}

/// Reads the drive of this name, the array or cluster of such drives, or the drive file at this path: one that ends with
/// `.toml` or holds a `/`.
pub fn read(name: &str) -> Result<DriveSpec, Failure> {
    if NamedAssembly::is_meant(name) {
        return assembly(name);
    }
    if !name.contains('/') && !name.ends_with(".toml") {
        let entry = catalog::find(name).map_err(|error| Failure::usage(error.to_string()))?;
        return load(entry.name, entry.text);
    }
    let text = read_text(Path::new(name)).map_err(|error| {
        Failure::usage(format!(
            "the drive file {name} cannot be read: {error}\n`plimsoll drive list` shows drives."
        ))
    })?;
    load(name, &text)
}

fn assembly(name: &str) -> Result<DriveSpec, Failure> {
    let named: NamedAssembly = name
        .parse()
        .map_err(|error: AssemblyError| Failure::usage(error.to_string()))?;
    let file = catalog::assembly_file(named).map_err(|error| Failure::usage(error.to_string()))?;
    load(&file.name, &file.text)
}

fn load(name: &str, text: &str) -> Result<DriveSpec, Failure> {
    catalog::load(name, text).map_err(|errors| plan_errors::drive_failure(name, text, errors))
}
