//! `plimsoll init`: a plan to change.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::io::print;
use crate::bundled::{PLANS, PLANS_HELP, find};
use crate::cli::InitArgs;
use crate::failure::Failure;

pub fn init(args: &InitArgs) -> Result<ExitCode, Failure> {
    let plan = find(PLANS, &args.name, PLANS_HELP).map_err(|help| {
        Failure::usage(format!("there is no bundled plan {}\n{help}", args.name))
    })?;
    let text = without_schema(plan.text);
    let path = match &args.output {
        Some(path) if path == Path::new("-") => return print(text),
        Some(path) => path.clone(),
        None => PathBuf::from(format!("{}.toml", plan.name())),
    };
    write_new(&path, text)?;
    let path = path.display();
    eprintln!("Plan:     {path}\nRun it:   plimsoll run {path}");
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

/// Writes a plan where nothing is.
pub(super) fn write_new(path: &Path, text: &str) -> Result<(), Failure> {
    let written = File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| {
        Failure::usage(format!(
            "the plan {} cannot be written: {error}\nName another file.",
            path.display()
        ))
    })
}
