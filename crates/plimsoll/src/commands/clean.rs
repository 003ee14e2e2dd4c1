//! `plimsoll clean`: removes from a server what plimsoll's loads made there.

use std::process::ExitCode;

use super::check::existing;
use super::io::print;
use crate::cli::CleanArgs;
use crate::failure::Failure;

pub fn clean(args: &CleanArgs) -> Result<ExitCode, Failure> {
    let server = existing(&args.url, &args.schema)?;
    let schema = &args.schema;
    let (tables, done) = if args.dry_run {
        (server.created_tables()?, "Would remove")
    } else {
        (server.remove_created()?, "Removed")
    };
    print(&match tables.len() {
        0 => format!("Schema {schema} holds nothing that plimsoll made."),
        1 => format!("{done} 1 table from schema {schema}: {}", tables[0]),
        n => format!(
            "{done} {n} tables from schema {schema}: {}",
            tables.join(", ")
        ),
    })
}
