//! `plimsoll clean`: removes from a server what plimsoll's loads made there.

use std::process::ExitCode;

use plimsoll_plan::resolved::Secret;

use super::check::existing;
use super::io::print;
use crate::cli::CleanArgs;
use crate::failure::Failure;

pub fn clean(args: &CleanArgs) -> Result<ExitCode, Failure> {
    let server = existing(&args.url, &args.schema)?;
    let schema = &args.schema;
    let (created, done) = if args.dry_run {
        (server.created_tables()?, "Would remove")
    } else {
        (server.remove_created()?, "Removed")
    };
    print(&match created.names.as_slice() {
        [] => format!(
            "Nothing to remove: plimsoll made no table in schema {schema} of {}.\n\
             If the plan names another schema: --schema NAME",
            Secret::new(&args.url).without_password()
        ),
        names => format!(
            "{done} {created} from schema {schema}: {}",
            names.join(", ")
        ),
    })
}
