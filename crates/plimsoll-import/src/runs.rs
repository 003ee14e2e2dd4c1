//! Outputs that hold several runs, one after the other.

use super::fault::{Fault, Read};
use super::load::ImportedLoad;

/// What a tool prints of one run, read line by line.
pub(super) trait Run: Default {
    /// Whether the line begins another run than the one read so far.
    fn ends_before(&self, line: &str) -> bool;

    /// Reads a line of this run; a figure that it has already, or an unknown line of its report, is a fault.
    fn line(&mut self, line: usize, text: &str) -> Read<()>;

    /// The load, or what is missing from its output.
    fn finish(self) -> Result<ImportedLoad, String>;
}

/// Each run of the text as a load of its own.
pub(super) fn read<R: Run>(text: &str) -> Read<Vec<ImportedLoad>> {
    let (mut loads, mut run) = (Vec::new(), R::default());
    for (at, line) in text.lines().enumerate() {
        if run.ends_before(line.trim()) {
            let missing =
                |what| Fault::at(at + 1, line, format!("{what}, before the next run begins"));
            loads.push(std::mem::take(&mut run).finish().map_err(missing)?);
        }
        run.line(at + 1, line)?;
    }
    loads.push(run.finish().map_err(|what| Fault::end(text, what))?);
    Ok(loads)
}

/// Sets what a run prints once: a second value belongs to no run.
pub(super) fn once<T>(slot: &mut Option<T>, value: T, line: usize, text: &str) -> Read<()> {
    if slot.is_some() {
        return Err(second(line, text));
    }
    *slot = Some(value);
    Ok(())
}

/// A figure occurs in a run for the second time.
pub(super) fn second(line: usize, text: &str) -> Fault {
    Fault::at(
        line,
        text,
        "one value of each figure in a run; where a file holds several runs, each with its first line",
    )
}
