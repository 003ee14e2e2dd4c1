//! How a command ends badly: a message for a person and an exit code for a script.

use std::io::IsTerminal;
use std::process::ExitCode;

use crate::terminal::{note, write_stderr};
use plimsoll_load::error::LoadError;
use plimsoll_plan::resolved::{redact, redact_word};
use plimsoll_record::runfile::RunFileError;

/// Exit codes: 1 the run failed, 2 usage or plan error, 3 threshold not met or regression, 4 a gate cannot be evaluated.
#[derive(Debug)]
pub struct Failure {
    code: u8,
    message: FailureText,
}

/// Why something failed.
#[derive(Debug, Clone, Default)]
pub struct FailureReason {
    /// What failed, why (where it is known), and, as the last line, what to do.
    pub text: String,
    /// The end of the log of what failed; may be empty.
    pub log: String,
}

impl From<String> for FailureReason {
    fn from(text: String) -> Self {
        Self {
            text,
            log: String::new(),
        }
    }
}

impl From<&str> for FailureReason {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&LoadError> for FailureReason {
    fn from(error: &LoadError) -> Self {
        Self {
            text: error.to_string(),
            log: error.log().to_owned(),
        }
    }
}

impl From<LoadError> for FailureReason {
    fn from(error: LoadError) -> Self {
        (&error).into()
    }
}

/// Several failures at the same time.
impl<'a> FromIterator<&'a LoadError> for FailureReason {
    fn from_iter<I: IntoIterator<Item = &'a LoadError>>(errors: I) -> Self {
        let (texts, logs): (Vec<String>, Vec<&str>) = errors
            .into_iter()
            .map(|error| (error.to_string(), error.log()))
            .unzip();
        Self {
            text: texts.join("\n"),
            log: logs.join("\n").trim().to_owned(),
        }
    }
}

#[derive(Debug)]
enum FailureText {
    Text(FailureReason),
    /// With the places in the plan.
    Plan(miette::Report),
}

impl Failure {
    /// The run, or a check, did not come out well.
    pub fn run(reason: impl Into<FailureReason>) -> Self {
        Self::with_code(1, reason)
    }

    /// The command line or the plan cannot be run; nothing was touched.
    pub fn usage(reason: impl Into<FailureReason>) -> Self {
        Self::with_code(2, reason)
    }

    /// A limit was missed.
    pub fn threshold(reason: impl Into<FailureReason>) -> Self {
        Self::with_code(3, reason)
    }

    pub fn plan(report: miette::Report) -> Self {
        Self {
            code: 2,
            message: FailureText::Plan(report),
        }
    }

    fn with_code(code: u8, reason: impl Into<FailureReason>) -> Self {
        Self {
            code,
            message: FailureText::Text(reason.into()),
        }
    }

    /// Shows the end of the log only if the user wants it; else how to get it.
    pub fn with_log(mut self, verbose: bool) -> Self {
        if let FailureText::Text(reason) = &mut self.message
            && !reason.log.is_empty()
            && !verbose
        {
            reason.text.push_str(" More of its log: --verbose.");
            reason.log.clear();
        }
        self
    }

    /// What went wrong, without what to do next.
    pub fn text(&self) -> String {
        match &self.message {
            FailureText::Text(FailureReason { text, .. }) => text
                .rsplit_once('\n')
                .map_or(text.as_str(), |(what, _)| what)
                .replace('\n', ": "),
            FailureText::Plan(report) => report.to_string(),
        }
    }

    /// Shows the message on stderr.
    pub fn exit(self) -> ExitCode {
        match self.message {
            FailureText::Text(reason) => {
                note!("{}", without_passwords(error_lines(&reason)));
            }
            // What it quotes was made safe; the colors are its own.
            FailureText::Plan(report) => write_stderr(&format!("{report:?}")),
        }
        ExitCode::from(self.code)
    }
}

/// The text without the passwords of the command's arguments, which an error may quote whatever they were meant as.
pub fn without_passwords(mut text: String) -> String {
    // Words as a whole, of which only a part may be seen to be a password where it stands in a sentence.
    for word in std::env::args_os().skip(1) {
        let word = word.to_string_lossy();
        let shown = redact_word(&word);
        if shown != word {
            text = text.replace(&*word, &shown);
        }
    }
    redact(&text)
}

fn error_lines(reason: &FailureReason) -> String {
    let lines = format!("{}\n{}", reason.text, reason.log);
    format!("error: {}", lines.trim_end().replace('\n', "\n  "))
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
        Self::run(error)
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
            error_lines(&text.into()),
            "error: cannot write to /mnt/data\n  Permission denied\n  Choose a directory of yours."
        );
        assert_eq!(
            Failure::run(text).text(),
            "cannot write to /mnt/data: Permission denied"
        );
        assert_eq!(Failure::run("interrupted").text(), "interrupted");
    }

    #[test]
    fn the_end_of_a_log_is_shown_only_to_those_who_want_it() {
        let failure = || {
            Failure::run(LoadError::Died {
                what: "The server".into(),
                why: "it ended; its log: FATAL: x".into(),
                next: "Do that.".into(),
                log: "LOG: a\nFATAL: x".into(),
            })
        };
        let shown = |failure: Failure| match failure.message {
            FailureText::Text(reason) => error_lines(&reason),
            FailureText::Plan(report) => report.to_string(),
        };
        let three = "error: The server ended by itself\n  it ended; its log: FATAL: x\n  Do that.";
        assert_eq!(
            shown(failure().with_log(false)),
            format!("{three} More of its log: --verbose.")
        );
        assert_eq!(
            shown(failure().with_log(true)),
            format!("{three}\n  LOG: a\n  FATAL: x")
        );
        assert_eq!(shown(Failure::run("x").with_log(false)), "error: x");
    }
}
