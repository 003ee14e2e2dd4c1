//! iostat and mpstat with `-o JSON`.

use jiff::civil::Date;
use serde_json::{Map, Value};

use super::fault::{Fault, Read};
use super::samples::{First, HostSamples, Report};
use super::{Tool, iostat, mpstat, when};
use plimsoll_plan::units::Nanos;

pub(super) fn read(tool: Tool, text: &str) -> Read<HostSamples> {
    let document: Value = serde_json::from_str(text).map_err(|error| {
        Fault::at(
            error.line().max(1),
            &error.to_string(),
            "one whole JSON document of sysstat",
        )
    })?;
    let host = document
        .pointer("/sysstat/hosts/0")
        .ok_or_else(|| Fault::end(text, "`sysstat`, `hosts` and a host in it"))?;
    let date = host.get("date").and_then(Value::as_str).and_then(when::day);
    let statistics = host
        .get("statistics")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let (mut reports, mut covers): (Vec<Report>, Vec<f64>) = (Vec::new(), Vec::new());
    for statistic in statistics {
        let last = reports.last().and_then(|report| report.time);
        let mut report = Report {
            time: time(statistic, date, last),
            ..Report::default()
        };
        match tool {
            Tool::Mpstat => cpus(&mut report, statistic),
            _ => covers.push(devices(&mut report, statistic)),
        }
        reports.push(report);
    }
    if reports.len() < 2 || reports.iter().all(|report| report.values.is_empty()) {
        return Err(Fault::end(text, "at least two reports in `statistics`"));
    }
    let skips = text
        .split("\"statistics\": [")
        .nth(1)
        .is_some_and(|rest| rest.starts_with("\n\n"));
    let first = if tool == Tool::Mpstat {
        First::Interval
    } else {
        iostat::first(skips, &covers)
    };
    Ok(HostSamples::of_reports(tool, iostat::added(reports), first))
}

/// iostat prints the day with each time, mpstat once for all.
fn time(statistic: &Value, date: Option<Date>, last: Option<Nanos>) -> Option<Nanos> {
    let text = statistic.get("timestamp")?.as_str()?;
    when::instant(text).or_else(|| mpstat::instant(date, &[text], last))
}

/// How long the report is, as [`iostat::covered`].
fn devices(report: &mut Report, statistic: &Value) -> f64 {
    if let Some(cpu) = statistic.get("avg-cpu").and_then(Value::as_object) {
        iostat::put(report, None, &row(&numbers(cpu, "%")));
    }
    let mut covers: f64 = 0.0;
    for disk in statistic
        .get("disk")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        if let (Some(name), Some(fields)) = (
            disk.get("disk_device").and_then(Value::as_str),
            disk.as_object(),
        ) {
            let numbers = numbers(fields, "");
            iostat::put(report, Some(name), &row(&numbers));
            covers = covers.max(iostat::covered(&row(&numbers)));
        }
    }
    covers
}

fn row(numbers: &[(String, f64)]) -> Vec<(&str, f64)> {
    numbers
        .iter()
        .map(|(name, value)| (name.as_str(), *value))
        .collect()
}

/// Names as the tables have them, where percentages begin with their sign.
fn numbers(fields: &Map<String, Value>, before: &str) -> Vec<(String, f64)> {
    let number = |(name, value): (&String, &Value)| {
        let name = if name == "util" {
            "%util".to_owned()
        } else {
            format!("{before}{name}")
        };
        Some((name, value.as_f64()?))
    };
    fields.iter().filter_map(number).collect()
}

fn cpus(report: &mut Report, statistic: &Value) {
    for cpu in statistic
        .get("cpu-load")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        if let (Some(name), Some(fields)) =
            (cpu.get("cpu").and_then(Value::as_str), cpu.as_object())
        {
            mpstat::put(report, name == "all", &row(&numbers(fields, "%")));
        }
    }
}
