//! `plimsoll man`: the manual pages.

use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory;

use crate::cli::Cli;
use crate::failure::Failure;
use crate::output::write_whole;
use crate::output_kind::OutputKind;
use crate::part_dir::PartDir;

pub fn man(dir: &Path) -> Result<ExitCode, Failure> {
    let failed = |error: io::Error| {
        Failure::usage(format!(
            "the manual pages cannot be written to {}: {error}\nName an existing directory.",
            dir.display()
        ))
    };
    let made = PartDir::create_in(dir).map_err(failed)?;
    clap_mangen::generate_to(Cli::command(), made.path()).map_err(failed)?;
    for entry in fs::read_dir(made.path()).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let text = fs::read_to_string(entry.path()).map_err(failed)?;
        write_whole(&dir.join(entry.file_name()), &text, &kind(&text))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A page replaces one with the same title, of any version.
fn kind(text: &str) -> OutputKind {
    let title = text.find(".TH ").unwrap_or_default();
    let end = text[title..].find(" 1 ").unwrap_or_default();
    OutputKind::Text(text[..title + end].to_owned())
}
