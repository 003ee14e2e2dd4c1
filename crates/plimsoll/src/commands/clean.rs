//! `plimsoll clean`: removes from a server what plimsoll's loads made there, or from a directory what a killed plimsoll left.

use std::path::Path;
use std::process::ExitCode;

use plimsoll_drive::emulate::MountPoint;
use plimsoll_load::engine::server::LeftSchema;
use plimsoll_plan::resolved::Secret;

use super::check::existing;
use super::io::print;
use crate::cli::CleanArgs;
use crate::execute::clear_directory;
use crate::failure::Failure;

pub fn clean(args: &CleanArgs) -> Result<ExitCode, Failure> {
    let directory = Path::new(&args.url);
    if !args.url.contains("://")
        && (directory.is_absolute() || directory.symlink_metadata().is_ok())
    {
        return print(&clean_directory(directory, args.dry_run)?);
    }
    let server = existing(&args.url, &args.schema)?;
    let schema = &args.schema;
    let (created, done) = if args.dry_run {
        (server.created_tables()?, "Would remove")
    } else {
        (server.remove_created()?, "Removed")
    };
    let tables = match created.names.as_slice() {
        [] if created.schema == LeftSchema::Removed => String::new(),
        [] => format!(
            "Nothing to remove: plimsoll made no table in schema {schema} of {}.\n\
             If the plan names another schema: --schema NAME\n",
            Secret::new(&args.url).without_password()
        ),
        names => format!(
            "{done} {created} from schema {schema}: {}\n",
            names.join(", ")
        ),
    };
    let left = match &created.schema {
        LeftSchema::Used => String::new(),
        LeftSchema::Removed => format!("Removed schema {schema}, which was empty"),
        LeftSchema::Empty { drop } => format!(
            "Schema {schema} is left: it has no table, and nothing proves that plimsoll made it. To remove it: {drop}"
        ),
    };
    print(format!("{tables}{left}").trim_end())
}

/// What a killed `drive mount` or run left there.
fn clean_directory(directory: &Path, dry_run: bool) -> Result<String, Failure> {
    let at = directory.display();
    let point = MountPoint::new(directory)
        .map_err(|error| Failure::usage(format!("cannot clean {at}\n{error}")))?;
    if dry_run {
        return Ok(match point.is_used() {
            true => format!("Would unmount the emulated drive at {at}, if its process is gone."),
            false => format!("No emulated drive is left at {at}."),
        });
    }
    let mut done = Vec::new();
    if point.is_used() {
        done = point
            .clear()
            .map_err(|error| Failure::run(error.to_string()))?;
        done.push(format!("Removed {}.", point.dir().display()));
    }
    if point.path().is_dir() {
        done.extend(clear_directory(point.path())?);
    }
    Ok(match done.is_empty() {
        true => {
            format!("Nothing to remove: no emulated drive and no killed run left anything at {at}.")
        }
        false => done.join("\n"),
    })
}
