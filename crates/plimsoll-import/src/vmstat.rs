//! vmstat, with `-t`, `-n`, `-w` or without. Only its CPU columns are metrics of the catalog: memory is in a unit
//! that the output does not contain (`-S`), and blocks are of all devices together.

use super::fault::Read;
use super::format::{OutputFormat, OutputReader};
use super::iostat::numbers;
use super::lines::{Header, NumberedLine, lines};
use super::samples::{First, HostSamples, SampleReport, at_least_two};
use super::tool::Tool;
use super::when;
use plimsoll_record::message::ImportNote;
use plimsoll_record::metric::Metric;

pub(super) static FORMAT: OutputFormat = OutputFormat {
    tool: TOOL,
    is: |start| start.first().trim_start_matches('-').starts_with("procs"),
    reader: OutputReader::Host(read),
};

const TOOL: Tool = Tool::new("vmstat", "vmstat output");

pub(super) fn read(text: &str) -> Read<HostSamples> {
    let mut reports = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    for line in lines(text) {
        let words = line.words();
        match words.as_slice() {
            [] => {}
            [first, ..] if first.trim_start_matches('-').starts_with("procs") => {}
            ["r", "b", ..] => names = words,
            _ if names.is_empty() => {
                return Err(line.unexpected("vmstat's line of names: `r b swpd free …`"));
            }
            values => reports.push(report(line, &names, values)?),
        }
    }
    at_least_two(&reports, text)?;
    let mut samples = HostSamples::of_reports(TOOL, reports, First::Unknown);
    samples.missing.push(ImportNote::UnitsUnknown);
    Ok(samples)
}

fn report(line: NumberedLine<'_>, names: &[&str], values: &[&str]) -> Read<SampleReport> {
    // With -t the last name is that of the zone, and a date and a time stand below it.
    let last = names.last().copied().unwrap_or_default();
    let is_timed = last.chars().next().is_some_and(|c| !c.is_ascii_lowercase());
    let columns = names.len() - usize::from(is_timed);
    let wanted = if is_timed { columns + 2 } else { columns };
    if values.len() != wanted {
        return Err(line.unexpected(format!("{wanted} columns, as the line of names has")));
    }
    let mut report = SampleReport::default();
    for cell in numbers(&Header::of(&names[..columns]), line, &values[..columns])? {
        let metric = match cell.name.as_str() {
            "us" => Metric::CpuUser,
            "sy" => Metric::CpuSystem,
            "id" => Metric::CpuIdle,
            "wa" => Metric::CpuIowait,
            "st" => Metric::CpuSteal,
            _ => continue,
        };
        report.add(None, metric, cell.value);
    }
    if is_timed {
        report.time = when::instant(&values[columns..].join(" "));
    }
    Ok(report)
}
