//! Logs of fio: `write_lat_log`, `write_bw_log`, `write_iops_log`, `write_hist_log` (HOWTO, "Log File Formats").
//!
//! A line is `ms, value, direction, block size, …`; of a histogram log `ms, direction, block size, bucket, bucket, …`
//! with what was counted since the line before. The kind of a log is in its name.

mod fit;
mod log;
mod ticks;

use super::format::{OutputFormat, OutputReader};
use super::load::ImportedLoad;
use super::tool::Tool;
use plimsoll_record::import_facts::RESPONSE_FACT;
use plimsoll_record::message::ImportNote;

pub(super) use log::{FioLog, named, read};
pub(super) use ticks::attach;

/// The kind of a log is in its name.
pub(super) static FORMAT: OutputFormat = OutputFormat {
    tool: TOOL,
    is: |start| named(start.name).is_some() && start.first().split(',').count() >= 4,
    reader: OutputReader::FioLog,
};

const TOOL: Tool = Tool::new("fio-log", "a log of fio").made_by("fio");

/// A load of logs alone.
pub(super) fn alone(prefix: &str) -> ImportedLoad {
    let mut load = ImportedLoad::new(TOOL);
    load.workload = match prefix {
        "" => "log".into(),
        name => name.to_owned(),
    };
    load.fact(RESPONSE_FACT, "unknown");
    load.note(ImportNote::JobUnknown);
    load
}
