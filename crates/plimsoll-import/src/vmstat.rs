//! vmstat, with `-t`, `-n`, `-w` or without. Only its CPU columns are metrics of the catalog: memory is in a unit
//! that the output does not contain (`-S`), and blocks are of all devices together.

use super::Tool;
use super::fault::{Fault, Read, number};
use super::samples::{First, HostSamples, Report};
use super::when;
use plimsoll_record::metric::Metric;

pub(super) fn read(text: &str) -> Read<HostSamples> {
    let mut reports = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    for (at, content) in text.lines().enumerate() {
        let words: Vec<&str> = content.split_whitespace().collect();
        match words.as_slice() {
            [] => {}
            [first, ..] if first.trim_start_matches('-').starts_with("procs") => {}
            ["r", "b", ..] => names = words,
            _ if names.is_empty() => {
                return Err(Fault::at(
                    at + 1,
                    content,
                    "vmstat's line of names: `r b swpd free …`",
                ));
            }
            values => reports.push(report(at + 1, content, &names, values)?),
        }
    }
    if reports.len() < 2 {
        return Err(Fault::end(
            text,
            "at least two reports: the first is an average since the machine was started",
        ));
    }
    let mut samples = HostSamples::of_reports(Tool::Vmstat, reports, First::Unknown);
    let text = "The units of memory and blocks (-S) are not in vmstat's output: they are left out.";
    samples.unknown.push(("units", text.to_owned()));
    Ok(samples)
}

fn report(line: usize, content: &str, names: &[&str], values: &[&str]) -> Read<Report> {
    // With -t the last name is that of the zone, and a date and a time stand below it.
    let last = names.last().copied().unwrap_or_default();
    let timed = last.chars().next().is_some_and(|c| !c.is_ascii_lowercase());
    let columns = if timed { names.len() - 1 } else { names.len() };
    let wanted = if timed { columns + 2 } else { columns };
    if values.len() != wanted {
        return Err(Fault::at(
            line,
            content,
            format!("{wanted} columns, as the line of names has"),
        ));
    }
    let mut report = Report::default();
    for (name, value) in names.iter().take(columns).zip(values) {
        let value =
            number(value).ok_or_else(|| Fault::at(line, value, format!("a number for {name}")))?;
        let metric = match *name {
            "us" => Metric::CpuUser,
            "sy" => Metric::CpuSystem,
            "id" => Metric::CpuIdle,
            "wa" => Metric::CpuIowait,
            "st" => Metric::CpuSteal,
            _ => continue,
        };
        report.values.push((None, metric, value));
    }
    if timed {
        report.time = when::instant(&values[columns..].join(" "));
    }
    Ok(report)
}
