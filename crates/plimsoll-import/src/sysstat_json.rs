//! iostat and mpstat with `-o JSON`.

use jiff::civil::Date;
use serde_json::{Map, Value};

use super::fault::{Fault, Read};
use super::lines::NamedCell;
use super::samples::{First, HostSamples, SampleReport};
use super::{iostat, mpstat, when};
use plimsoll_plan::units::Nanos;

/// Reports of iostat.
pub(super) fn devices(text: &str) -> Read<HostSamples> {
    let mut covers: Vec<f64> = Vec::new();
    let reports = reports(text, |report, statistic| {
        covers.push(put_devices(report, statistic));
    })?;
    let first = iostat::first(has_empty_report(text), &covers);
    Ok(HostSamples::of_reports(iostat::TOOL, reports, first))
}

/// Reports of mpstat.
pub(super) fn processors(text: &str) -> Read<HostSamples> {
    let reports = reports(text, put_processors)?;
    Ok(HostSamples::of_reports(
        mpstat::TOOL,
        reports,
        First::Interval,
    ))
}

fn reports(text: &str, mut put: impl FnMut(&mut SampleReport, &Value)) -> Read<Vec<SampleReport>> {
    let document: Value = serde_json::from_str(text).map_err(|error| {
        let expected = "one whole JSON document of sysstat";
        Fault::at(error.line().max(1), &error.to_string(), expected)
    })?;
    let host = document
        .pointer("/sysstat/hosts/0")
        .ok_or_else(|| Fault::end(text, "`sysstat`, `hosts` and a host in it"))?;
    let date = text_of(host, "date").and_then(when::day);
    let mut reports: Vec<SampleReport> = Vec::new();
    for statistic in list(host, "statistics") {
        let last = reports.last().and_then(|report| report.time);
        let mut report = SampleReport::at(time(statistic, date, last));
        put(&mut report, statistic);
        reports.push(report);
    }
    if reports.len() < 2 || reports.iter().all(|report| report.values.is_empty()) {
        return Err(Fault::end(text, "at least two reports in `statistics`"));
    }
    Ok(reports)
}

/// Whether there is an empty line for the report that `-y` leaves out.
fn has_empty_report(text: &str) -> bool {
    let statistics = text.split_once("\"statistics\": [");
    statistics.is_some_and(|(_, rest)| rest.starts_with("\n\n"))
}

fn text_of<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    let list = value.get(key).and_then(Value::as_array);
    list.map(Vec::as_slice).unwrap_or_default()
}

/// iostat prints the day with each time, mpstat once for all.
fn time(statistic: &Value, date: Option<Date>, last: Option<Nanos>) -> Option<Nanos> {
    let text = text_of(statistic, "timestamp")?;
    when::instant(text).or_else(|| mpstat::instant(date, text, last))
}

/// How long the report is, as [`iostat::covered`].
fn put_devices(report: &mut SampleReport, statistic: &Value) -> f64 {
    if let Some(cpu) = statistic.get("avg-cpu").and_then(Value::as_object) {
        iostat::put(report, None, &numbers(cpu, "%"));
    }
    let mut covers: f64 = 0.0;
    for disk in list(statistic, "disk") {
        let name = text_of(disk, "disk_device");
        if let Some(fields) = disk.as_object().filter(|_| name.is_some()) {
            let row = numbers(fields, "");
            iostat::put(report, name, &row);
            covers = covers.max(iostat::covered(&row));
        }
    }
    covers
}

/// Names as the tables have them, where percentages begin with their sign.
fn numbers(fields: &Map<String, Value>, before: &str) -> Vec<NamedCell<f64>> {
    let mut row = Vec::new();
    for (name, value) in fields {
        let name = match name.as_str() {
            "util" => "%util".to_owned(),
            name => format!("{before}{name}"),
        };
        row.extend(value.as_f64().map(|value| NamedCell { name, value }));
    }
    row
}

fn put_processors(report: &mut SampleReport, statistic: &Value) {
    for cpu in list(statistic, "cpu-load") {
        if let Some(fields) = cpu.as_object()
            && let Some(name) = text_of(cpu, "cpu")
        {
            mpstat::put(report, name == "all", &numbers(fields, "%"));
        }
    }
}
