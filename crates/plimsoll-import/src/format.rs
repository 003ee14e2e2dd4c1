//! What a file gives that reads a tool's outputs.

use super::fault::Read;
use super::load::ImportedLoad;
use super::samples::HostSamples;
use super::tool::Tool;

/// A format of outputs.
pub(super) struct OutputFormat {
    pub tool: Tool,
    /// Whether a file that begins so has it. Formats are asked in the order of their list.
    pub is: fn(&Start<'_>) -> bool,
    pub reader: OutputReader,
}

/// What an output holds, and what reads it. Errors name the line.
pub(super) enum OutputReader {
    /// Runs.
    Loads(fn(&str) -> Read<Vec<ImportedLoad>>),
    /// Samples of a machine.
    Host(fn(&str) -> Read<HostSamples>),
    /// Logs beside an output, which are attached to its loads.
    FioLog,
    PgbenchLog,
}

/// A file's name and its first lines that are not empty.
pub(super) struct Start<'a> {
    pub name: &'a str,
    pub text: &'a str,
    lines: Vec<&'a str>,
}

impl<'a> Start<'a> {
    pub fn new(name: &'a str, text: &'a str) -> Self {
        /// Lines that are searched for marks.
        const SEARCHED_LINES: usize = 400;
        let text = text.trim_start_matches('\u{feff}');
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        Self {
            name,
            text,
            lines: lines.take(SEARCHED_LINES).collect(),
        }
    }

    /// Empty where there is none.
    pub fn first(&self) -> &'a str {
        self.lines.first().copied().unwrap_or_default()
    }

    pub fn has(&self, mark: &str) -> bool {
        self.lines.iter().any(|line| line.contains(mark))
    }

    /// A line that begins so.
    pub fn has_line(&self, mark: &str) -> bool {
        self.lines.iter().any(|line| line.starts_with(mark))
    }

    /// Any of the lines.
    pub fn any(&self, is: impl FnMut(&&'a str) -> bool) -> bool {
        self.lines.iter().copied().any({
            let mut is = is;
            move |line| is(&line)
        })
    }
}
