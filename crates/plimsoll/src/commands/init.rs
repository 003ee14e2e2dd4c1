//! `plimsoll init`: a plan to change.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::bench::starting_plan;
use super::io::print;
use crate::bundled::{PLANS, PLANS_HELP, find};
use crate::cli::InitArgs;
use crate::failure::Failure;
use crate::output::write_whole;
use crate::output_kind::OutputKind;
use crate::terminal::note;

pub fn init(args: &InitArgs) -> Result<ExitCode, Failure> {
    let (name, text) = match &args.name {
        None => ("plan", starting_plan()?),
        Some(name) => {
            let plan = find(PLANS, name, PLANS_HELP).map_err(|help| {
                Failure::usage(format!("there is no bundled plan {name}\n{help}"))
            })?;
            (plan.name(), without_schema(plan.text).to_owned())
        }
    };
    let path = match &args.output {
        Some(path) if path == Path::new("-") => return print(&text),
        Some(path) => path.clone(),
        None => PathBuf::from(format!("{name}.toml")),
    };
    write_whole(&path, &text, &OutputKind::New)?;
    let path = path.display();
    note!("Plan:     {path}\nRun it:   plimsoll run {path}");
    Ok(ExitCode::SUCCESS)
}

/// The first line leads editors to a file beside the plan, which is only in the repository.
fn without_schema(text: &str) -> &str {
    let body = text
        .strip_prefix("#:schema")
        .and_then(|rest| rest.split_once('\n'))
        .map_or(text, |(_, body)| body);
    body.strip_prefix("#\n").unwrap_or(body)
}
