//! mpstat, with `-P ALL` or without.

use jiff::civil::Date;

use super::Tool;
use super::fault::{Fault, Read, number};
use super::host::{HostSamples, Report};
use super::iostat::{added, of_cpu};
use super::when;
use crate::metric::Metric;
use crate::units::Nanos;

pub(super) fn read(text: &str) -> Read<HostSamples> {
    let mut reports: Vec<Report> = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    let mut date: Option<Date> = None;
    for (at, content) in text.lines().enumerate() {
        let words: Vec<&str> = content.split_whitespace().collect();
        // `02:00:10 PM` in some languages.
        let halves = words.get(1).is_some_and(|word| matches!(*word, "AM" | "PM"));
        let (time, rest) = words.split_at(if halves { 2 } else { 1.min(words.len()) });
        match (time, rest) {
            ([], _) => {}
            (["Linux"], rest) => date = rest.iter().find_map(|word| when::day(word)),
            (["Average:"], _) => {}
            (time, ["CPU", own @ ..]) => {
                names = own.to_vec();
                // The first line of names says when the first interval began.
                if reports.is_empty() {
                    reports.push(Report { time: instant(date, time, None), ..Report::default() });
                }
            }
            (time, [cpu, values @ ..]) if !names.is_empty() => {
                let last = reports.last().and_then(|report| report.time);
                let time = instant(date, time, last);
                if time.is_none() || time != last {
                    reports.push(Report { time, ..Report::default() });
                }
                values_of(at + 1, content, (&names, values), *cpu == "all", reports.last_mut())?;
            }
            _ => return Err(Fault::at(at + 1, content, "mpstat's line of names: `TIME CPU %usr … %idle`")),
        }
    }
    if reports.len() < 2 {
        return Err(Fault::end(text, "at least one report below a line of names"));
    }
    Ok(HostSamples::of_reports(Tool::Mpstat, &added(reports)))
}

/// The time of day on the day of the first line; past midnight on the next.
fn instant(date: Option<Date>, time: &[&str], last: Option<Nanos>) -> Option<Nanos> {
    const DAY: Nanos = Nanos::from_secs(86_400);
    let mut own = when::at(date?, when::clock(&time.join(" "))?)?;
    // At most as many days as mpstat can have run for.
    for _ in 0..1_000 {
        if last.is_none_or(|last| own >= last) {
            break;
        }
        own += DAY;
    }
    Some(own)
}

fn values_of(
    line: usize,
    content: &str,
    (names, values): (&[&str], &[&str]),
    all: bool,
    report: Option<&mut Report>,
) -> Read<()> {
    if names.len() != values.len() {
        return Err(Fault::at(line, content, format!("{} numbers, as the line of names has", names.len())));
    }
    let Some(report) = report else { return Ok(()) };
    let mut waiting = 0.0;
    for (name, value) in names.iter().zip(values) {
        let number = number(&value.replace(',', "."));
        let value = number.ok_or_else(|| Fault::at(line, value, format!("a number for {name}")))?;
        if matches!(*name, "%idle" | "%iowait") {
            waiting += value;
        }
        if all {
            report.values.extend(of_cpu(name, value).map(|(metric, value)| (None, metric, value)));
        }
    }
    if !all {
        let busy = (100.0 - waiting).max(0.0);
        match report.values.iter_mut().find(|(_, metric, _)| *metric == Metric::CpuBusiest) {
            Some((_, _, busiest)) => *busiest = busiest.max(busy),
            None => report.values.push((None, Metric::CpuBusiest, busy)),
        }
    }
    Ok(())
}
