//! Outputs that hold several runs, one after the other.

use super::Tool;
use super::fault::{Fault, Read};
use super::lines::{NumberedLine, lines};
use super::load::ImportedLoad;

/// What a tool prints of one run, read line by line.
pub(super) trait ToolRun: Default {
    const TOOL: Tool;

    /// Whether the line begins another run than the one read so far.
    fn ends_before(&self, line: &str) -> bool;

    /// Reads a line of this run; a figure that it has already, or an unknown line of its report, is a fault.
    fn line(&mut self, line: NumberedLine<'_>) -> Read<()>;

    /// The load, or the line that is missing from its output.
    fn finish(self) -> Result<ImportedLoad, &'static str>;
}

/// Each run of the text as a load of its own.
pub(super) fn read<R: ToolRun>(text: &str) -> Read<Vec<ImportedLoad>> {
    let mut loads = Vec::new();
    let mut run = R::default();
    for line in lines(text) {
        if run.ends_before(line.text.trim()) {
            let ended = std::mem::take(&mut run).finish();
            loads.push(ended.map_err(|what| {
                line.unexpected(format!("{}, before the next run begins", end::<R>(what)))
            })?);
        }
        run.line(line.trim())?;
    }
    loads.push(
        run.finish()
            .map_err(|what| Fault::end(text, end::<R>(what)))?,
    );
    Ok(loads)
}

fn end<R: ToolRun>(what: &str) -> String {
    let tool = R::TOOL.name();
    format!("{what}, as {tool} prints it at the end of a run")
}

/// Sets what a run prints once: a second value belongs to no run.
pub(super) fn once<T>(slot: &mut Option<T>, value: T, line: NumberedLine<'_>) -> Read<()> {
    if slot.replace(value).is_some() {
        return Err(second(line));
    }
    Ok(())
}

/// A figure occurs in a run for the second time.
pub(super) fn second(line: NumberedLine<'_>) -> Fault {
    line.unexpected(
        "one value of each figure in a run; where a file holds several runs, each with its first line",
    )
}
