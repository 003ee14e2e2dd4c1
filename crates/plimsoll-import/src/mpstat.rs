//! mpstat, with `-P ALL` or without.

use jiff::civil::Date;

use super::Tool;
use super::fault::{Fault, Read, number};
use super::iostat::{ONE_RUN, added, of_cpu};
use super::samples::{First, HostSamples, Report};
use super::when;
use plimsoll_plan::units::Nanos;
use plimsoll_record::metric::Metric;

/// The columns of the rows that follow; interrupts and nodes have tables of their own, which are left out.
#[derive(Default)]
struct Table<'a> {
    is_of_cpus: bool,
    names: Vec<&'a str>,
}

pub(super) fn read(text: &str) -> Read<HostSamples> {
    let mut reports: Vec<Report> = Vec::new();
    let mut table = Table::default();
    let mut date: Option<Date> = None;
    let mut reported: Vec<&str> = Vec::new();
    for (at, content) in text.lines().enumerate() {
        let words: Vec<&str> = content.split_whitespace().collect();
        // `02:00:10 PM` in some languages.
        let halves = words
            .get(1)
            .is_some_and(|word| matches!(*word, "AM" | "PM"));
        let (time, rest) = words.split_at(if halves { 2 } else { 1.min(words.len()) });
        match (time, rest) {
            ([], _) => {}
            (["Linux"], _) if date.is_some() || !reports.is_empty() => {
                return Err(Fault::at(at + 1, content, ONE_RUN));
            }
            (["Linux"], rest) => date = rest.iter().find_map(|word| when::day(word)),
            (["Average:"], _) => {}
            (time, ["CPU" | "NODE", names @ ..]) => {
                table = Table {
                    is_of_cpus: rest[0] == "CPU" && names.contains(&"%idle"),
                    names: names.to_vec(),
                };
                // The first line of names has the start of the first interval.
                if reports.is_empty() {
                    reports.push(Report {
                        time: instant(date, time, None),
                        ..Report::default()
                    });
                }
            }
            (_, _) if !table.names.is_empty() && !table.is_of_cpus => {}
            (time, [cpu, values @ ..]) if table.is_of_cpus => {
                let last = reports.last().and_then(|report| report.time);
                let time = instant(date, time, last);
                // Two reports may end within one second.
                if time.is_none() || time != last || reported.contains(cpu) {
                    reports.push(Report {
                        time,
                        ..Report::default()
                    });
                    reported.clear();
                }
                reported.push(*cpu);
                values_of(
                    at + 1,
                    content,
                    (&table.names, values),
                    *cpu == "all",
                    reports.last_mut(),
                )?;
            }
            _ => {
                return Err(Fault::at(
                    at + 1,
                    content,
                    "mpstat's line of names: `TIME CPU %usr … %idle`",
                ));
            }
        }
    }
    if reports.len() < 2 {
        return Err(Fault::end(
            text,
            "at least one report below a line of names",
        ));
    }
    Ok(HostSamples::of_reports(
        Tool::Mpstat,
        added(reports),
        First::Start,
    ))
}

/// The time of day on the day of the first line; past midnight on the next.
pub(super) fn instant(date: Option<Date>, time: &[&str], last: Option<Nanos>) -> Option<Nanos> {
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
        return Err(Fault::at(
            line,
            content,
            format!("{} numbers, as the line of names has", names.len()),
        ));
    }
    let Some(report) = report else { return Ok(()) };
    let mut percents = Vec::new();
    for (name, value) in names.iter().zip(values) {
        let number = number(&value.replace(',', "."));
        let value = number.ok_or_else(|| Fault::at(line, value, format!("a number for {name}")))?;
        percents.push((*name, value));
    }
    put(report, all, &percents);
    Ok(())
}

/// What one processor, or all of them, did in percent.
pub(super) fn put(report: &mut Report, all: bool, percents: &[(&str, f64)]) {
    if all {
        let values = percents
            .iter()
            .filter_map(|(name, percent)| of_cpu(name, *percent));
        report
            .values
            .extend(values.map(|(metric, value)| (None, metric, value)));
        return;
    }
    // Of some processors alone (`-P 0`) none is the busiest.
    if report.values.is_empty() {
        return;
    }
    let waiting = percents
        .iter()
        .filter(|(name, _)| matches!(*name, "%idle" | "%iowait"));
    let busy = (100.0 - waiting.map(|(_, percent)| percent).sum::<f64>()).max(0.0);
    match report
        .values
        .iter_mut()
        .find(|(_, metric, _)| *metric == Metric::CpuBusiest)
    {
        Some((_, _, busiest)) => *busiest = busiest.max(busy),
        None => report.values.push((None, Metric::CpuBusiest, busy)),
    }
}
