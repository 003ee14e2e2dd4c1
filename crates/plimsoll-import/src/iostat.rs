//! iostat, with `-x`, `-t`, `-y`, `--pretty`, `--human` or without, as text or JSON: tables of devices, and of CPUs above
//! them.

use super::Tool;
use super::fault::{Fault, Read, number};
use super::samples::{First, HostSamples, Report};
use super::when;
use plimsoll_plan::units::Nanos;
use plimsoll_record::metric::Metric;

const KIB: f64 = 1024.0;
/// A second header begins another run, whose times and first report are its own.
pub(super) const ONE_RUN: &str = "the output of one run; give that of the next a file of its own";

pub(super) fn read(text: &str) -> Read<HostSamples> {
    let mut reader = Reader {
        is_new: true,
        ..Reader::default()
    };
    for (at, content) in text.lines().enumerate() {
        reader.line(at + 1, content)?;
    }
    let Reader {
        reports,
        covers,
        skips,
        ..
    } = reader;
    if reports.len() < 2 {
        return Err(Fault::end(
            text,
            "at least two reports: the first is an average since the machine was started",
        ));
    }
    Ok(HostSamples::of_reports(
        Tool::Iostat,
        added(reports),
        first(skips, &covers),
    ))
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
struct Reader {
    reports: Vec<Report>,
    /// Seconds that each report covers, as its totals show; 0 where it has none.
    covers: Vec<f64>,
    columns: Vec<String>,
    cpu: Vec<String>,
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

impl Reader {
    fn line(&mut self, line: usize, content: &str) -> Read<()> {
        let words: Vec<&str> = content.split_whitespace().collect();
        match words.as_slice() {
            [] => {
                self.empty = self.empty.map(|lines| lines + 1);
                self.skips |=
                    self.reports.is_empty() && self.time.is_none() && self.empty == Some(2);
            }
            ["Linux", ..] if self.empty.is_some() || !self.reports.is_empty() => {
                return Err(Fault::at(line, content, ONE_RUN));
            }
            ["Linux", ..] => self.empty = Some(0),
            ["avg-cpu:", names @ ..] => {
                self.cpu = owned(names);
                self.columns.clear();
                self.begin();
                self.is_new = false;
            }
            [first, names @ ..] if first.trim_end_matches(':') == "Device" => {
                self.table(owned(names), false)
            }
            [names @ .., "Device"] => self.table(owned(names), true),
            _ if when::instant(content).is_some() => {
                self.time = when::instant(content);
                (self.columns, self.cpu) = (Vec::new(), Vec::new());
                self.is_new = true;
            }
            values if !self.cpu.is_empty() => {
                let names = std::mem::take(&mut self.cpu);
                self.row(line, content, None, (&names, values))?;
            }
            [values @ .., device] if self.is_pretty && !self.columns.is_empty() => {
                let names = self.columns.clone();
                self.row(line, content, Some(device), (&names, values))?;
            }
            [device, values @ ..] if !self.columns.is_empty() => {
                let names = self.columns.clone();
                self.row(line, content, Some(device), (&names, values))?;
            }
            _ => {
                return Err(Fault::at(
                    line,
                    content,
                    "a time, `avg-cpu:`, `Device` or a row below one of these",
                ));
            }
        }
        Ok(())
    }

    fn begin(&mut self) {
        self.reports.push(Report {
            time: self.time.take(),
            ..Report::default()
        });
        self.covers.push(0.0);
    }

    fn table(&mut self, names: Vec<String>, is_pretty: bool) {
        self.cpu.clear();
        // Of the tables of one report, the one of reads comes first.
        let continues = is_pretty
            && names
                .first()
                .is_none_or(|name| name != "r/s" && name != "tps");
        if (self.is_new && !continues) || self.time.is_some() {
            self.begin();
        }
        (self.columns, self.is_pretty) = (names, is_pretty);
        // A table of devices alone begins the next report.
        self.is_new = true;
    }

    fn row(
        &mut self,
        line: usize,
        content: &str,
        device: Option<&str>,
        cells: (&[String], &[&str]),
    ) -> Read<()> {
        let (names, values) = cells;
        if names.len() != values.len() {
            return Err(Fault::at(
                line,
                content,
                format!("{} numbers, as the line of names has", names.len()),
            ));
        }
        let mut row = Vec::with_capacity(names.len());
        for (name, value) in names.iter().zip(values) {
            let number = amount(name, value)
                .ok_or_else(|| Fault::at(line, value, format!("a number for {name}")))?;
            row.push((name.as_str(), number));
        }
        if let (Some(report), Some(covers)) = (self.reports.last_mut(), self.covers.last_mut()) {
            *covers = covers.max(covered(&row));
            put(report, device, &row);
        }
        Ok(())
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Totals are whole units: fewer are too coarse for a ratio.
const FEWEST_UNITS: f64 = 5.0;

/// A total of kilobytes over its rate, where both have enough digits.
pub(super) fn covered(row: &[(&str, f64)]) -> f64 {
    let value = |name: &str| {
        row.iter()
            .find(|(own, _)| *own == name)
            .map(|(_, value)| *value)
    };
    let pairs = [
        ("kB_read", "kB_read/s"),
        ("kB_wrtn", "kB_wrtn/s"),
        ("MB_read", "MB_read/s"),
        ("MB_wrtn", "MB_wrtn/s"),
    ];
    let seconds = |(total, rate): (&str, &str)| {
        let (total, rate) = value(total).zip(value(rate))?;
        (total >= FEWEST_UNITS && rate > 0.0).then(|| total / rate)
    };
    pairs.into_iter().filter_map(seconds).fold(0.0, f64::max)
}

/// `12.50`, with a comma in some languages; with --human `6.8%`, and `4.7M` for 4.7 MiB in a column of kilobytes as in one
/// of megabytes.
fn amount(column: &str, text: &str) -> Option<f64> {
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

pub(super) fn put(report: &mut Report, device: Option<&str>, row: &[(&str, f64)]) {
    let metric = |name: &str, value: f64| {
        if device.is_some() {
            of_device(name, value)
        } else {
            of_cpu(name, value)
        }
    };
    let values = row.iter().filter_map(|(name, value)| metric(name, *value));
    report
        .values
        .extend(values.map(|(metric, value)| (device.map(str::to_owned), metric, value)));
}

pub(super) fn of_cpu(name: &str, percent: f64) -> Option<(Metric, f64)> {
    let metric = match name {
        "%user" | "%usr" | "%nice" => Metric::CpuUser,
        "%system" | "%sys" | "%irq" | "%soft" => Metric::CpuSystem,
        "%iowait" => Metric::CpuIowait,
        "%steal" => Metric::CpuSteal,
        "%idle" => Metric::CpuIdle,
        _ => return None,
    };
    Some((metric, percent))
}

/// `tps` counts reads, writes and discards together and stays out.
fn of_device(name: &str, value: f64) -> Option<(Metric, f64)> {
    Some(match name {
        "r/s" => (Metric::DeviceReads, value),
        "w/s" => (Metric::DeviceWrites, value),
        "f/s" => (Metric::DeviceFlushes, value),
        "rkB/s" | "kB_read/s" => (Metric::DeviceReadBytes, value * KIB),
        "wkB/s" | "kB_wrtn/s" => (Metric::DeviceWriteBytes, value * KIB),
        "rMB/s" | "MB_read/s" => (Metric::DeviceReadBytes, value * KIB * KIB),
        "wMB/s" | "MB_wrtn/s" => (Metric::DeviceWriteBytes, value * KIB * KIB),
        "r_await" => (Metric::DeviceReadLatency, value),
        "w_await" => (Metric::DeviceWriteLatency, value),
        "aqu-sz" | "avgqu-sz" => (Metric::DeviceQueue, value),
        "%util" => (Metric::DeviceBusy, value),
        _ => return None,
    })
}

/// Parts of one metric (`%user` and `%nice`) in one.
pub(super) fn added(mut reports: Vec<Report>) -> Vec<Report> {
    for report in &mut reports {
        let mut values: Vec<(Option<String>, Metric, f64)> = Vec::new();
        for (device, metric, value) in report.values.drain(..) {
            match values
                .iter_mut()
                .find(|own| own.0 == device && own.1 == metric)
            {
                Some(own) => own.2 += value,
                None => values.push((device, metric, value)),
            }
        }
        report.values = values;
    }
    reports
}
