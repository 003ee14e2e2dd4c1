//! How a command ends badly: a message for a person and an exit code for a script.

use std::io::IsTerminal;
use std::process::ExitCode;

use plimsoll_load::error::LoadError;

use plimsoll_record::runfile::RunFileError;

/// Exit codes: 1 the run failed, 2 usage or plan error, 3 threshold not met or regression, 4 a gate cannot be evaluated.
#[derive(Debug)]
pub struct Failure {
    code: u8,
    message: FailureText,
}

#[derive(Debug)]
enum FailureText {
    /// What failed, why (where it is known), and, as the last line, what to do.
    Text(String),
    /// With the places in the plan.
    Plan(miette::Report),
}

impl Failure {
    /// The run, or a check, did not come out well.
    pub fn run(text: impl Into<String>) -> Self {
        Self::with_code(1, text)
    }

    /// The command line or the plan cannot be run; nothing was touched.
    pub fn usage(text: impl Into<String>) -> Self {
        Self::with_code(2, text)
    }

    pub fn plan(report: miette::Report) -> Self {
        Self {
            code: 2,
            message: FailureText::Plan(report),
        }
    }

    fn with_code(code: u8, text: impl Into<String>) -> Self {
        Self {
            code,
            message: FailureText::Text(text.into()),
        }
    }

    /// What went wrong, without what to do next.
    pub fn text(&self) -> String {
        match &self.message {
            FailureText::Text(text) => text
                .rsplit_once('\n')
                .map_or(text.as_str(), |(what, _)| what)
                .replace('\n', ": "),
            FailureText::Plan(report) => report.to_string(),
        }
    }

    /// Shows the message on stderr.
    pub fn exit(self) -> ExitCode {
        match self.message {
            FailureText::Text(text) => eprintln!("{}", error_lines(&text)),
            FailureText::Plan(report) => eprintln!("{report:?}"),
        }
        ExitCode::from(self.code)
    }
}

fn error_lines(text: &str) -> String {
    format!("error: {}", text.trim_end().replace('\n', "\n  "))
}

/// Chooses the layout of messages about plans: whole lines in a log, wrapped lines in a terminal. Call before any failure
/// is made.
pub fn set_style() {
    if !std::io::stderr().is_terminal() {
        // Fails only when there is a style already.
        let _ = miette::set_hook(Box::new(|_| {
            Box::new(miette::MietteHandlerOpts::new().wrap_lines(false).build())
        }));
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
        Self::with_code(code, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_a_line_for_what_why_and_what_to_do() {
        let text = "cannot write to /mnt/data\nPermission denied\nChoose a directory of yours.";
        assert_eq!(
            error_lines(text),
            "error: cannot write to /mnt/data\n  Permission denied\n  Choose a directory of yours."
        );
        assert_eq!(
            Failure::run(text).text(),
            "cannot write to /mnt/data: Permission denied"
        );
        assert_eq!(Failure::run("interrupted").text(), "interrupted");
    }
}
