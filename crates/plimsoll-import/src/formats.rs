//! All formats. A further one is a file of its own and a line here.

use super::format::{OutputFormat, Start};
use super::tool::Tool;
use super::{
    diskspd, fio, fio_log, go_tpc, hammerdb, pgbench, pgbench_log, sysbench, sysstat, vdbench,
    vmstat,
};

/// In the order in which a file is asked for them: those with the surest marks first.
static FORMATS: [&OutputFormat; 12] = [
    &fio::FORMAT,
    &sysstat::MPSTAT,
    &sysbench::FORMAT,
    &pgbench::FORMAT,
    &diskspd::FORMAT,
    &hammerdb::FORMAT,
    &go_tpc::FORMAT,
    &vdbench::FORMAT,
    &sysstat::IOSTAT,
    &vmstat::FORMAT,
    &fio_log::FORMAT,
    &pgbench_log::FORMAT,
];

/// The tool that wrote a text, by its content; logs of fio also by their name.
pub fn detect(name: &str, text: &str) -> Option<Tool> {
    let start = Start::new(name, text);
    let format = FORMATS.iter().find(|format| (format.is)(&start));
    format.map(|format| format.tool)
}

/// The tools whose outputs are read.
pub fn tools() -> impl Iterator<Item = Tool> {
    FORMATS.iter().map(|format| format.tool)
}

/// The tool with this name on the command line.
pub fn tool_named(name: &str) -> Option<Tool> {
    tools().find(|tool| tool.name() == name)
}

pub(super) fn format_of(tool: Tool) -> Option<&'static OutputFormat> {
    FORMATS.into_iter().find(|format| format.tool == tool)
}
