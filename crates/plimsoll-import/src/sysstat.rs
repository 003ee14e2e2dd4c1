//! iostat and mpstat, as text or as JSON.

use super::format::{OutputFormat, OutputReader, Start};
use super::{iostat, mpstat, sysstat_json};

pub(super) static IOSTAT: OutputFormat = OutputFormat {
    tool: iostat::TOOL,
    is: |start| {
        let is_json = is_json(start) && (start.has("\"disk\"") || start.has("\"avg-cpu\""));
        is_json || start.has_line("avg-cpu:") || has_device_table(start)
    },
    reader: OutputReader::Host(|text| match text.trim_start().starts_with('{') {
        true => sysstat_json::devices(text),
        false => iostat::read(text),
    }),
};

pub(super) static MPSTAT: OutputFormat = OutputFormat {
    tool: mpstat::TOOL,
    is: |start| {
        let is_text = start.has("%usr") && start.has("%idle") && start.has("CPU");
        (is_json(start) && start.has("\"cpu-load\"")) || is_text
    },
    reader: OutputReader::Host(|text| match text.trim_start().starts_with('{') {
        true => sysstat_json::processors(text),
        false => mpstat::read(text),
    }),
};

fn is_json(start: &Start<'_>) -> bool {
    start.has("\"sysstat\"")
}

fn has_device_table(start: &Start<'_>) -> bool {
    start.any(|line| line.starts_with("Device") || line.ends_with(" Device"))
        && (start.has("tps") || start.has("r/s"))
}
