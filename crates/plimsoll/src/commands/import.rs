//! `plimsoll import`: outputs of other tools become a run file.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use plimsoll_import::{
    HostSamples, ImportError, ImportOptions, Imported, SourceFile, Tool, decode, import as read,
    join_run, samples,
};
use plimsoll_plan::resolved::redact;
use plimsoll_plan::shortened;
use plimsoll_plan::units::Nanos;
use plimsoll_record::{Record, RunInfo, RunStatus};

use super::io::{command_line, print};
use crate::cli::ImportArgs;
use crate::failure::Failure;
use crate::output::expect_free;
use crate::output_kind::OutputKind;
use crate::terminal::note;
use plimsoll_record::runfile::{self, RunFile};

/// Larger outputs are read nowhere near their end.
const LARGEST: u64 = 2 << 30;

struct InputFile {
    name: String,
    text: String,
}

pub fn import(args: &ImportArgs) -> Result<ExitCode, Failure> {
    let output = args
        .output
        .clone()
        .unwrap_or_else(|| args.files[0].with_extension("plimsoll"));
    expect_free(&output, &OutputKind::RunFile)?;
    let with = args
        .with
        .iter()
        .map(|path| text(path))
        .collect::<Result<Vec<InputFile>, Failure>>()?;
    let record = match args.files.as_slice() {
        [run] if run.extension() == Some(OsStr::new("plimsoll")) => joined(run, &with)?,
        files => imported(args, files, &with)?,
    };
    RunFile::create_closed(&output, &record)?;
    print(&output.display().to_string())
}

fn imported(args: &ImportArgs, files: &[PathBuf], with: &[InputFile]) -> Result<Record, Failure> {
    let texts = files
        .iter()
        .map(|path| text(path))
        .collect::<Result<Vec<InputFile>, Failure>>()?;
    let mut sources: Vec<SourceFile<'_>> = texts
        .iter()
        .map(|own| SourceFile {
            name: &own.name,
            text: &own.text,
            tool: args.tool,
        })
        .collect();
    sources.extend(with.iter().map(|own| SourceFile {
        name: &own.name,
        text: &own.text,
        tool: None,
    }));
    let options = ImportOptions {
        run: run_info(args, &texts),
        step: args.step.clone(),
        started: args.started,
        users: args.users,
        medium: args.medium.clone(),
    };
    let Imported { record, taken } = read(&sources, &options).map_err(failure)?;
    for (name, tool) in taken {
        note!("{name}: taken for {}", tool.title());
    }
    Ok(record)
}

/// A run file with what was recorded meanwhile.
fn joined(run: &Path, with: &[InputFile]) -> Result<Record, Failure> {
    if with.is_empty() {
        let text = format!(
            "cannot import {}\nIt is a run file already.\nGive what joins it with --with FILE.",
            run.display()
        );
        return Err(Failure::usage(text));
    }
    let mut record = runfile::require_intact(run, runfile::read(run)?)?;
    let sources: Vec<SourceFile<'_>> = with
        .iter()
        .map(|own| SourceFile {
            name: &own.name,
            text: &own.text,
            tool: None,
        })
        .collect();
    let all: Vec<HostSamples> = samples(&sources).map_err(failure)?;
    join_run(&mut record, &all).map_err(failure)?;
    for own in &all {
        note!("{}: taken for {}", own.file, Tool::title(own.tool));
    }
    Ok(record)
}

fn text(path: &Path) -> Result<InputFile, Failure> {
    let size = std::fs::metadata(path).map_err(|error| unread(path, &error))?;
    if size.len() > LARGEST {
        return Err(too_large(path));
    }
    // A pipe has no length, and a device may have no end.
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes));
    read.map_err(|error| unread(path, &error))?;
    if bytes.len() as u64 > LARGEST {
        return Err(too_large(path));
    }
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let text = decode(&name, &bytes).map_err(failure)?;
    Ok(InputFile { name, text })
}

fn too_large(path: &Path) -> Failure {
    Failure::usage(format!(
        "cannot import {}\nThe largest output that is read has 2 GiB.\nGive a part of it, such as one run.",
        path.display()
    ))
}

fn unread(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!(
        "cannot import {}\n{error}\nGive a file that can be read.",
        path.display()
    ))
}

fn run_info(args: &ImportArgs, texts: &[InputFile]) -> RunInfo {
    let now = jiff::Timestamp::now();
    let names: Vec<&str> = texts.iter().map(|text| text.name.as_str()).collect();
    RunInfo {
        id: format!("{}-{}", now.strftime("%Y%m%dT%H%M%SZ"), std::process::id()),
        title: shortened(&args.title.clone().unwrap_or_else(|| names.join(", "))),
        plimsoll_version: env!("CARGO_PKG_VERSION").into(),
        plimsoll_commit: env!("PLIMSOLL_COMMIT").into(),
        command: redact(&command_line()),
        seed: 0,
        started_at: String::new(),
        lasted: Nanos::ZERO,
        status: RunStatus::Complete,
        failure: None,
    }
}

fn failure(error: ImportError) -> Failure {
    Failure::usage(error.to_string())
}

#[cfg(test)]
mod tests {
    use plimsoll_record::fixture;

    use super::*;

    #[test]
    fn a_run_file_has_its_name_once_it_is_whole_and_replaces_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.plimsoll");
        let record = fixture::record();
        RunFile::create_closed(&path, &record).unwrap();
        let whole = std::fs::read(&path).unwrap();
        assert!(runfile::read(&path).is_ok());
        assert!(RunFile::create_closed(&path, &record).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), whole);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
