//! iostat, with `-x`, `-t` and `-y` or without: tables of devices, and of CPUs above them.

use super::Tool;
use super::fault::{Fault, Read, number};
use super::host::{HostSamples, Report};
use super::when;
use crate::metric::Metric;

const KIB: f64 = 1024.0;

pub(super) fn read(text: &str) -> Read<HostSamples> {
    let mut reports: Vec<Report> = Vec::new();
    let (mut columns, mut cpu): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let (mut time, mut fresh) = (None, true);
    for (at, content) in text.lines().enumerate() {
        let words: Vec<&str> = content.split_whitespace().collect();
        match words.as_slice() {
            [] => {}
            ["Linux", ..] => {}
            ["avg-cpu:", names @ ..] => {
                cpu = names.iter().map(|name| (*name).to_owned()).collect();
                columns.clear();
                reports.push(Report { time: time.take(), ..Report::default() });
                fresh = false;
            }
            [first, names @ ..] if first.trim_end_matches(':') == "Device" => {
                columns = names.iter().map(|name| (*name).to_owned()).collect();
                cpu.clear();
                if fresh || time.is_some() {
                    reports.push(Report { time: time.take(), ..Report::default() });
                }
                // A table of devices alone begins the next report.
                fresh = true;
            }
            _ if when::instant(content).is_some() => {
                time = when::instant(content);
                (columns, cpu) = (Vec::new(), Vec::new());
                fresh = true;
            }
            values if !cpu.is_empty() => {
                row(at + 1, content, &cpu, values, |name, value| put(&mut reports, None, of_cpu(name, value)))?;
                cpu.clear();
            }
            [device, values @ ..] if !columns.is_empty() => {
                let device = (*device).to_owned();
                row(at + 1, content, &columns, values, |name, value| {
                    put(&mut reports, Some(&device), of_device(name, value));
                })?;
            }
            _ => return Err(Fault::at(at + 1, content, "a time, `avg-cpu:`, `Device` or a row below one of these")),
        }
    }
    if reports.len() < 2 {
        return Err(Fault::end(text, "at least two reports: the first is an average since the machine was started"));
    }
    Ok(HostSamples::of_reports(Tool::Iostat, &added(reports)))
}

fn row(line: usize, content: &str, names: &[String], values: &[&str], mut put: impl FnMut(&str, f64)) -> Read<()> {
    if names.len() != values.len() {
        return Err(Fault::at(line, content, format!("{} numbers, as the line of names has", names.len())));
    }
    for (name, value) in names.iter().zip(values) {
        // Some languages write a comma.
        let number = number(&value.replace(',', "."));
        put(name, number.ok_or_else(|| Fault::at(line, value, format!("a number for {name}")))?);
    }
    Ok(())
}

fn put(reports: &mut [Report], device: Option<&String>, metric: Option<(Metric, f64)>) {
    if let (Some(report), Some((metric, value))) = (reports.last_mut(), metric) {
        report.values.push((device.cloned(), metric, value));
    }
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
            match values.iter_mut().find(|own| own.0 == device && own.1 == metric) {
                Some(own) => own.2 += value,
                None => values.push((device, metric, value)),
            }
        }
        report.values = values;
    }
    reports
}
