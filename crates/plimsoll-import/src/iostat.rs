//! iostat, with `-x`, `-t`, `-y`, `--pretty`, `--human` or without, as text or JSON: tables of devices, and of CPUs above
//! them.

use super::fault::Read;
use super::lines::{Header, NamedCell, NumberedLine, cell, lines, number};
use super::samples::{First, HostSamples, SampleReport, at_least_two};
use super::tool::Tool;
use super::when;
use plimsoll_plan::units::Nanos;
use plimsoll_record::metric::Metric;

pub(super) const TOOL: Tool = Tool::new("iostat", "iostat output");

const KIB: f64 = 1024.0;
/// A second header begins another run, whose times and first report are its own.
pub(super) const ONE_RUN: &str = "the output of one run; give that of the next a file of its own";

pub(super) fn read(text: &str) -> Read<HostSamples> {
    let mut reader = IostatReader {
        is_new: true,
        ..IostatReader::default()
    };
    for line in lines(text) {
        reader.line(line)?;
    }
    at_least_two(&reader.reports, text)?;
    let first = first(reader.skips, &reader.covers);
    Ok(HostSamples::of_reports(TOOL, reader.reports, first))
}

/// Whether the first report covers one interval. Some versions print another empty line for the report that `-y` leaves
/// out; without `-x` there are totals beside the rates, whose ratio is the time that a report covers.
pub(super) fn first(skips: bool, covers: &[f64]) -> First {
    match covers {
        _ if skips => First::Interval,
        [first, second, ..] if *first > 0.0 && *second > 0.0 => {
            if *first < second * 2.0 {
                First::Interval
            } else {
                First::SinceBoot
            }
        }
        _ => First::Unknown,
    }
}

#[derive(Default)]
struct IostatReader {
    reports: Vec<SampleReport>,
    /// Seconds that each report covers, as its totals show; 0 where it has none.
    covers: Vec<f64>,
    devices: Header,
    cpu: Header,
    /// With --pretty the device stands at the end of a row, and its figures in several tables.
    is_pretty: bool,
    time: Option<Nanos>,
    /// A table of devices begins a report.
    is_new: bool,
    /// Empty lines since that which names the machine.
    empty: Option<usize>,
    /// The output has an empty line for a report that was left out.
    skips: bool,
}

impl IostatReader {
    fn line(&mut self, line: NumberedLine<'_>) -> Read<()> {
        match line.words().as_slice() {
            [] => {
                self.empty = self.empty.map(|lines| lines + 1);
                self.skips |=
                    self.reports.is_empty() && self.time.is_none() && self.empty == Some(2);
            }
            ["Linux", ..] if self.empty.is_some() || !self.reports.is_empty() => {
                return Err(line.unexpected(ONE_RUN));
            }
            ["Linux", ..] => self.empty = Some(0),
            ["avg-cpu:", names @ ..] => {
                self.cpu = Header::of(names);
                self.devices = Header::default();
                self.begin();
                self.is_new = false;
            }
            [first, names @ ..] if first.trim_end_matches(':') == "Device" => {
                self.table(names, false)
            }
            [names @ .., "Device"] => self.table(names, true),
            _ if when::instant(line.text).is_some() => {
                self.time = when::instant(line.text);
                self.devices = Header::default();
                self.cpu = Header::default();
                self.is_new = true;
            }
            values if !self.cpu.is_empty() => {
                let row = numbers(&std::mem::take(&mut self.cpu), line, values)?;
                self.put(None, &row);
            }
            [values @ .., device] if self.is_pretty && !self.devices.is_empty() => {
                let row = numbers(&self.devices, line, values)?;
                self.put(Some(device), &row);
            }
            [device, values @ ..] if !self.devices.is_empty() => {
                let row = numbers(&self.devices, line, values)?;
                self.put(Some(device), &row);
            }
            _ => {
                let expected = "a time, `avg-cpu:`, `Device` or a row below one of these";
                return Err(line.unexpected(expected));
            }
        }
        Ok(())
    }

    fn begin(&mut self) {
        self.reports.push(SampleReport::at(self.time.take()));
        self.covers.push(0.0);
    }

    fn table(&mut self, names: &[&str], is_pretty: bool) {
        self.cpu = Header::default();
        // Of the tables of one report, the one of reads comes first.
        let continues = is_pretty && !matches!(names.first(), Some(&("r/s" | "tps")));
        if (self.is_new && !continues) || self.time.is_some() {
            self.begin();
        }
        self.devices = Header::of(names);
        self.is_pretty = is_pretty;
        // A table of devices alone begins the next report.
        self.is_new = true;
    }

    fn put(&mut self, device: Option<&str>, row: &[NamedCell<f64>]) {
        if let Some(report) = self.reports.last_mut() {
            put(report, device, row);
        }
        if let Some(covers) = self.covers.last_mut() {
            *covers = covers.max(covered(row));
        }
    }
}

pub(super) fn numbers(
    header: &Header,
    line: NumberedLine<'_>,
    values: &[&str],
) -> Read<Vec<NamedCell<f64>>> {
    let mut row = Vec::with_capacity(values.len());
    for NamedCell { name, value } in header.row(line, values)? {
        let Some(value) = amount(&name, &value) else {
            return Err(line.fault(&value, format!("a number for {name}")));
        };
        row.push(NamedCell { name, value });
    }
    Ok(row)
}

/// Totals are whole units: fewer are too coarse for a ratio.
const FEWEST_UNITS: f64 = 5.0;

/// A total of kilobytes over its rate, where both have enough digits.
pub(super) fn covered(row: &[NamedCell<f64>]) -> f64 {
    let totals = ["kB_read", "kB_wrtn", "MB_read", "MB_wrtn"];
    let seconds = totals.iter().filter_map(|total| covered_by(row, total));
    seconds.fold(0.0, f64::max)
}

fn covered_by(row: &[NamedCell<f64>], name: &str) -> Option<f64> {
    let total = *cell(row, name)?;
    let rate = *cell(row, &format!("{name}/s"))?;
    (total >= FEWEST_UNITS && rate > 0.0).then(|| total / rate)
}

/// `12.50`, with a comma in some languages; with --human `6.8%`, and `4.7M` for 4.7 MiB in a column of kilobytes as in one
/// of megabytes.
pub(super) fn amount(column: &str, text: &str) -> Option<f64> {
    let text = text.replace(',', ".");
    let plain = text.trim_end_matches('%');
    let unit_kib = match plain.chars().last()? {
        'k' => 1.0,
        'M' => KIB,
        'G' => KIB * KIB,
        'T' => KIB * KIB * KIB,
        'P' => KIB * KIB * KIB * KIB,
        _ => return number(plain),
    };
    let of_column = if column.contains("MB") { KIB } else { 1.0 };
    Some(number(&plain[..plain.len() - 1])? * unit_kib / of_column)
}

pub(super) fn put(report: &mut SampleReport, device: Option<&str>, row: &[NamedCell<f64>]) {
    for NamedCell { name, value } in row {
        match device {
            Some(_) => of_device(report, device, name, *value),
            None => of_cpu(report, name, *value),
        }
    }
}

pub(super) fn of_cpu(report: &mut SampleReport, name: &str, percent: f64) {
    let metric = match name {
        "%user" | "%usr" | "%nice" => Metric::CpuUser,
        "%system" | "%sys" | "%irq" | "%soft" => Metric::CpuSystem,
        "%iowait" => Metric::CpuIowait,
        "%steal" => Metric::CpuSteal,
        "%idle" => Metric::CpuIdle,
        _ => return,
    };
    report.add(None, metric, percent);
}

/// `tps` counts reads, writes and discards together and stays out.
fn of_device(report: &mut SampleReport, device: Option<&str>, name: &str, value: f64) {
    let metric = match name {
        "r/s" => Metric::DeviceReads,
        "w/s" => Metric::DeviceWrites,
        "f/s" => Metric::DeviceFlushes,
        "rkB/s" | "kB_read/s" | "rMB/s" | "MB_read/s" => Metric::DeviceReadBytes,
        "wkB/s" | "kB_wrtn/s" | "wMB/s" | "MB_wrtn/s" => Metric::DeviceWriteBytes,
        "r_await" => Metric::DeviceReadLatency,
        "w_await" => Metric::DeviceWriteLatency,
        "aqu-sz" | "avgqu-sz" => Metric::DeviceQueue,
        "%util" => Metric::DeviceBusy,
        _ => return,
    };
    let unit = match name {
        _ if name.contains("kB") => KIB,
        _ if name.contains("MB") => KIB * KIB,
        _ => 1.0,
    };
    report.add(device, metric, value * unit);
}
