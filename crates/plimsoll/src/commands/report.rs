//! `plimsoll report`: a self-contained HTML file of a run, or of a set of runs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use plimsoll_report::set::set_page;

use super::io::{print, read_run};
use super::pdf::PdfFile;
use super::predict::summary_of;
use super::set;
use crate::cli::ReportArgs;
use crate::failure::Failure;
use crate::output::{is_stream, write_whole};
use crate::output_kind::OutputKind;
use crate::run_path::RunArgument;

pub fn report(args: &ReportArgs) -> Result<ExitCode, Failure> {
    match RunArgument::open(&args.run)? {
        RunArgument::Set(set) => {
            let name = args.run.display().to_string();
            let html = set_page(&set::summary_of(&set)?, &name);
            write_page(args, beside(&args.run), &html)
        }
        RunArgument::File(file) => report_run(args, &file),
        RunArgument::Directory(files) => {
            if let [only] = files.as_slice() {
                return report_run(args, only);
            }
            if args.output.is_some() || args.pdf.is_some() {
                return Err(Failure::usage(format!(
                    "{} holds {} runs, and --output and --pdf name one file\nWithout them each run's report is written beside it.\n\
                     Name one of its run files, or compare them: plimsoll compare RUN RUN -o FILE",
                    args.run.display(),
                    files.len()
                )));
            }
            for file in &files {
                report_run(args, file)?;
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn report_run(args: &ReportArgs, file: &Path) -> Result<ExitCode, Failure> {
    let record = read_run(file)?;
    let html = plimsoll_report::report(&record, &summary_of(&record));
    write_page(args, file.with_extension("html"), &html)
}

fn write_page(args: &ReportArgs, default: PathBuf, html: &str) -> Result<ExitCode, Failure> {
    let output = args.output.clone().unwrap_or(default);
    if args.pdf.is_some() && is_stream(&output) {
        return Err(Failure::usage(format!(
            "cannot make a PDF of {}\nThe browser reads the page from a file.\nName one with --output.",
            output.display()
        )));
    }
    let pdf = args.pdf.as_deref().map(PdfFile::create).transpose()?;
    write_whole(&output, html, &OutputKind::Page)?;
    if let Some(pdf) = pdf {
        pdf.print(&output)?;
    }
    match is_stream(&output) {
        true => Ok(ExitCode::SUCCESS),
        false => print(&output.display().to_string()),
    }
}

/// `x.set.html` for `x.set`; a directory without a name of its own (`.`) has one by its whole path.
fn beside(set: &Path) -> PathBuf {
    let named = set.file_name().map(|name| set.with_file_name(name));
    let mut page = named
        .or_else(|| set.canonicalize().ok())
        .unwrap_or_else(|| set.to_owned())
        .into_os_string();
    page.push(".html");
    page.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_its_page_beside_it() {
        assert_eq!(beside(Path::new("a/x.set")), Path::new("a/x.set.html"));
        assert_eq!(
            beside(Path::new("ladder-v1.2/")),
            Path::new("ladder-v1.2.html")
        );
        let here = std::env::current_dir().unwrap();
        assert_eq!(beside(Path::new(".")).parent(), here.parent());
    }
}
