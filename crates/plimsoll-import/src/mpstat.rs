//! mpstat, with `-P ALL` or without.

use jiff::civil::Date;

use super::fault::{Fault, Read};
use super::iostat::{ONE_RUN, numbers, of_cpu};
use super::lines::{Header, NamedCell, NumberedLine, lines};
use super::samples::{First, HostSamples, MetricValue, SampleReport};
use super::tool::Tool;
use super::when;
use plimsoll_plan::units::Nanos;
use plimsoll_record::metric::Metric;

pub(super) const TOOL: Tool = Tool::new("mpstat", "mpstat output");

pub(super) fn read(text: &str) -> Read<HostSamples> {
    let mut reader = MpstatReader::default();
    for line in lines(text) {
        reader.line(line)?;
    }
    if reader.reports.len() < 2 {
        let expected = "at least one report below a line of names";
        return Err(Fault::end(text, expected));
    }
    Ok(HostSamples::of_reports(TOOL, reader.reports, First::Start))
}

#[derive(Default)]
struct MpstatReader<'a> {
    date: Option<Date>,
    reports: Vec<SampleReport>,
    /// Of the rows that follow; interrupts and nodes have tables of their own, which are left out.
    header: Header,
    is_of_cpus: bool,
    /// CPUs in the last report.
    reported: Vec<&'a str>,
}

impl<'a> MpstatReader<'a> {
    fn line(&mut self, line: NumberedLine<'a>) -> Read<()> {
        let words = line.words();
        let (time, rest) = words.split_at(words_of_time(&words));
        match (time, rest) {
            ([], _) | (["Average:"], _) => {}
            (["Linux"], _) if self.date.is_some() || !self.reports.is_empty() => {
                return Err(line.unexpected(ONE_RUN));
            }
            (["Linux"], rest) => self.date = rest.iter().find_map(|word| when::day(word)),
            (time, [first @ ("CPU" | "NODE"), names @ ..]) => {
                self.header = Header::of(names);
                self.is_of_cpus = *first == "CPU" && names.contains(&"%idle");
                // The first line of names has the start of the first interval.
                if self.reports.is_empty() {
                    let start = instant(self.date, &time.join(" "), None);
                    self.reports.push(SampleReport::at(start));
                }
            }
            (_, _) if !self.header.is_empty() && !self.is_of_cpus => {}
            (time, [cpu, values @ ..]) if self.is_of_cpus => {
                let row = numbers(&self.header, line, values)?;
                self.row(&time.join(" "), cpu, &row);
            }
            _ => return Err(line.unexpected("mpstat's line of names: `TIME CPU %usr … %idle`")),
        }
        Ok(())
    }

    fn row(&mut self, time: &str, cpu: &'a str, row: &[NamedCell<f64>]) {
        let last = self.reports.last().and_then(|report| report.time);
        let time = instant(self.date, time, last);
        // Two reports may end within one second.
        if time.is_none() || time != last || self.reported.contains(&cpu) {
            self.reports.push(SampleReport::at(time));
            self.reported.clear();
        }
        self.reported.push(cpu);
        if let Some(report) = self.reports.last_mut() {
            put(report, cpu == "all", row);
        }
    }
}

/// `02:00:10 PM` in some languages.
fn words_of_time(words: &[&str]) -> usize {
    match words {
        [] => 0,
        [_, "AM" | "PM", ..] => 2,
        _ => 1,
    }
}

/// The time of day on the day of the first line; past midnight on the next.
pub(super) fn instant(date: Option<Date>, time: &str, last: Option<Nanos>) -> Option<Nanos> {
    const DAY: Nanos = Nanos::from_secs(86_400);
    let mut own = when::at(date?, when::clock(time)?)?;
    // At most as many days as mpstat can have run for.
    for _ in 0..1_000 {
        if last.is_none_or(|last| own >= last) {
            break;
        }
        own += DAY;
    }
    Some(own)
}

/// What one processor, or all of them, did in percent.
pub(super) fn put(report: &mut SampleReport, is_all: bool, percents: &[NamedCell<f64>]) {
    if is_all {
        for NamedCell { name, value } in percents {
            of_cpu(report, name, *value);
        }
        return;
    }
    // Of some processors alone (`-P 0`) none is the busiest.
    if report.values.is_empty() {
        return;
    }
    let waiting = percents
        .iter()
        .filter(|cell| matches!(cell.name.as_str(), "%idle" | "%iowait"));
    let busy = (100.0 - waiting.map(|cell| cell.value).sum::<f64>()).max(0.0);
    let mut values = report.values.iter_mut();
    match values.find(|own| own.metric == Metric::CpuBusiest) {
        Some(busiest) => busiest.value = busiest.value.max(busy),
        None => report.values.push(MetricValue {
            device: None,
            metric: Metric::CpuBusiest,
            value: busy,
        }),
    }
}
