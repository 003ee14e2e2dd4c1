//! How a command ends badly: a message for a person and an exit code for a script.

use std::io::IsTerminal;
use std::process::ExitCode;

use plimsoll_load::error::LoadError;

use plimsoll_record::runfile::RunFileError;

/// Exit codes: 1 the run failed, 2 usage or plan error, 3 threshold not met or regression, 4 a gate cannot be evaluated.
#[derive(Debug)]
pub struct Failure {
    code: u8,
    report: miette::Report,
}

impl Failure {
    /// The run, or a check, did not come out well.
    pub fn run(text: impl Into<String>) -> Self {
        Self {
            code: 1,
            report: report(&text.into()),
        }
    }

    /// The command line or the plan cannot be run; nothing was touched.
    pub fn usage(text: impl Into<String>) -> Self {
        Self {
            code: 2,
            report: report(&text.into()),
        }
    }

    pub fn plan(report: miette::Report) -> Self {
        Self { code: 2, report }
    }

    /// What went wrong, without what to do next.
    pub fn text(&self) -> String {
        self.report.to_string()
    }

    /// Shows the message on stderr.
    pub fn exit(self) -> ExitCode {
        eprintln!("{:?}", self.report);
        ExitCode::from(self.code)
    }
}

/// Chooses the layout of messages: whole lines in a log, wrapped lines in a terminal. Call before any failure is made.
pub fn set_style() {
    if !std::io::stderr().is_terminal() {
        // Fails only when there is a style already.
        let _ = miette::set_hook(Box::new(|_| {
            Box::new(miette::MietteHandlerOpts::new().wrap_lines(false).build())
        }));
    }
}

/// The last of several lines is what to do next; the ones before, a quoted log among them, are what went wrong.
fn report(text: &str) -> miette::Report {
    let (what, next) = text.rsplit_once('\n').unwrap_or((text, ""));
    let diagnostic = miette::MietteDiagnostic::new(what);
    if next.is_empty() {
        diagnostic.into()
    } else {
        diagnostic.with_help(next).into()
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        Self::run(error.to_string())
    }
}

impl From<RunFileError> for Failure {
    fn from(error: RunFileError) -> Self {
        let code = if matches!(
            error,
            RunFileError::Write { .. } | RunFileError::Damaged { .. }
        ) {
            1
        } else {
            2
        };
        Self {
            code,
            report: report(&error.to_string()),
        }
    }
}
