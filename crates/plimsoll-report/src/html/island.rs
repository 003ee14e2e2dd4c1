//! The data island: what the charts are drawn from, as JSON within a `<script type="application/json">`.
//!
//! Columns instead of rows, and times shared between series, because a run of hours has a million numbers. Where
//! seconds are missing stands a `null` between two values, so that no line crosses a gap.

use std::collections::{BTreeMap, HashMap};

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{DEVICE_FACT, Ladder, PointSummary, Spread, Verdict};
use plimsoll_plan::units::Nanos;
use plimsoll_record::{Point, Record, Series, SubjectKind};
use serde::Serialize;

use crate::message::Messages;

use super::block::{self, BlockData};
use super::lateness::{self, Lateness};
use super::line::{self, LineData};
use super::per_second::{Seconds, per_second};
use super::shared::{self, SharedData};
use crate::{compare, ladder, number};

#[derive(Serialize)]
struct Island {
    labels: BTreeMap<&'static str, String>,
    ladders: Vec<LadderData>,
    phases: Vec<PhaseData>,
    events: Vec<EventData>,
    seconds: Seconds,
    times: Vec<Vec<f64>>,
    series: Vec<SeriesData>,
    lateness: Vec<Lateness>,
    blocks: Vec<BlockData>,
    shared: Vec<SharedData>,
    /// Devices that media of the plan lie on; empty where unknown.
    devices: Vec<String>,
}

#[derive(Serialize)]
struct LadderData {
    label: String,
    points: Vec<PointData>,
    /// Of a search.
    line: Option<LineData>,
}

#[derive(Serialize)]
struct PointData {
    /// Set in an open loop only.
    offered: Option<f64>,
    users: u32,
    usable: bool,
    nopm: Option<f64>,
    tpm: Option<f64>,
    tpm_per_user: Option<f64>,
    rate: Option<f64>,
    /// 25 % and 75 % of single seconds.
    nopm_spread: Option<[f64; 2]>,
    tpm_spread: Option<[f64; 2]>,
    rate_spread: Option<[f64; 2]>,
    /// By type: p50, p95, p99 of response in ms.
    latency: Vec<(String, [f64; 3])>,
}

#[derive(Serialize)]
struct PhaseData {
    kind: &'static str,
    start: f64,
    end: f64,
    label: String,
}

#[derive(Serialize)]
struct EventData {
    at: f64,
    severity: &'static str,
    text: String,
}

#[derive(Serialize)]
struct SeriesData {
    kind: SubjectKind,
    subject: String,
    metric: &'static str,
    /// Index into `times`.
    times: usize,
    values: Vec<Option<f64>>,
}

/// Fit for a script element: no `<` is left in it.
pub(super) fn json(record: &Record, summary: &Summary, m: &Messages) -> String {
    let island = build(record, summary, m);
    serde_json::to_string(&island)
        .expect("an island has string keys only")
        .replace('<', "\\u003c")
}

fn build(record: &Record, summary: &Summary, m: &Messages) -> Island {
    let mut times = Times::default();
    let series = record
        .series
        .iter()
        .filter_map(|series| series_data(record, series, &mut times))
        .collect();
    let point = |id| record.points.iter().find(|point| Some(point.id) == id);
    let phase = |phase: &plimsoll_record::Phase| PhaseData {
        kind: phase.kind.name(),
        start: seconds(phase.start),
        end: seconds(phase.end),
        label: point(phase.point).map_or_else(
            || phase.step.clone(),
            |p| block::load_label(m, record, p.id).unwrap_or_else(|| load(p)),
        ),
    };
    let event = |event: &plimsoll_record::Event| EventData {
        at: seconds(event.at),
        severity: event.severity.name(),
        text: format!("{}: {}", event.code, event.text),
    };
    Island {
        labels: m.chart_labels().into_iter().collect(),
        ladders: summary
            .ladders
            .iter()
            .map(|ladder| ladder_data(m, summary, ladder))
            .collect(),
        phases: record.phases.iter().map(phase).collect(),
        events: record.events.iter().map(event).collect(),
        seconds: per_second(record),
        times: times.all,
        series,
        lateness: lateness::lines(record, m),
        blocks: block::island(m, summary),
        shared: shared::island(m, summary),
        devices: devices(record),
    }
}

fn load(p: &Point) -> String {
    let load = number::load(p.users, p.offered_per_second, p.offered_to_per_second);
    if p.offered_per_second.is_some() {
        format!("{load}/s")
    } else {
        load
    }
}

fn devices(record: &Record) -> Vec<String> {
    let mut named: Vec<String> = record
        .facts
        .iter()
        .filter(|fact| fact.key == DEVICE_FACT)
        .filter(|fact| {
            record
                .subjects
                .iter()
                .any(|s| s.id == fact.subject && s.kind == SubjectKind::Medium)
        })
        .map(|fact| fact.value.trim_start_matches("/dev/").to_owned())
        .collect();
    named.sort();
    named.dedup();
    named
}

/// To the millisecond: finer than anything that is drawn.
pub(super) fn seconds(at: Nanos) -> f64 {
    (at.0 as f64 / 1e6).round() / 1e3
}

/// Four significant digits: finer than anything that is drawn.
pub(super) fn short(value: f64) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let unit = 10f64.powi(3 - value.abs().log10().floor() as i32);
    let rounded = (value * unit).round() / unit;
    if rounded.is_finite() { rounded } else { value }
}

fn ladder_data(m: &Messages, summary: &Summary, ladder: &Ladder) -> LadderData {
    LadderData {
        label: curve(m, summary, ladder),
        points: ladder.points.iter().map(point_data).collect(),
        line: ladder.line.as_ref().map(|line| line::data(ladder, line)),
    }
}

/// A ladder's name in a legend: where a step was run on several media, what distinguishes them.
fn curve(m: &Messages, summary: &Summary, ladder: &Ladder) -> String {
    let others = |own: &&Ladder| own.step_index == ladder.step_index && own.medium != ladder.medium;
    let Some(medium) = ladder
        .medium
        .clone()
        .filter(|_| summary.ladders.iter().any(|own| others(&own)))
    else {
        return ladder::heading(m, ladder);
    };
    let curve = m.in_scene(
        compare::medium(m, &medium, ladder.drive.is_some()),
        ladder.scene,
    );
    if summary
        .ladders
        .iter()
        .all(|own| own.step_index == ladder.step_index)
    {
        return curve;
    }
    m.text_with(
        "legend-step",
        &[("step", ladder.step.clone()), ("curve", curve)],
    )
}

fn point_data(p: &PointSummary) -> PointData {
    let half = |spread: Option<Spread>| spread.map(|s| [short(s.p25), short(s.p75)]);
    PointData {
        offered: p.offered_per_second,
        users: p.users,
        usable: p.verdict < Verdict::Invalid,
        nopm: p.nopm.map(short),
        tpm: p.tpm.map(short),
        tpm_per_user: p.tpm_per_user.map(short),
        rate: p.completed_per_second.map(short),
        nopm_spread: half(p.nopm_spread),
        tpm_spread: half(p.tpm_spread),
        rate_spread: half(p.rate_spread),
        latency: p
            .types
            .iter()
            .filter_map(|txn| Some((txn.name.clone(), txn.response?)))
            .map(|(name, l)| (name, [l.p50_ms, l.p95_ms, l.p99_ms].map(short)))
            .collect(),
    }
}

/// Columns of times, each kept once.
#[derive(Default)]
struct Times {
    all: Vec<Vec<f64>>,
    known: HashMap<Vec<u64>, usize>,
}

impl Times {
    fn index(&mut self, times: Vec<f64>) -> usize {
        let key = times.iter().map(|t| t.to_bits()).collect();
        *self.known.entry(key).or_insert_with(|| {
            self.all.push(times);
            self.all.len() - 1
        })
    }
}

fn series_data(record: &Record, series: &Series, times: &mut Times) -> Option<SeriesData> {
    let subject = record
        .subjects
        .iter()
        .find(|subject| subject.id == series.subject)?;
    let (mut t, mut values) = (Vec::new(), Vec::new());
    let mut last = None;
    for sample in &series.samples {
        let from = sample.at.saturating_sub(sample.over);
        // Half an interval of slack for jitter; a missing sample is a whole one.
        let slack = Nanos(sample.over.0 / 2).max(Nanos::from_millis(1));
        if last.is_some_and(|last| from.saturating_sub(last) > slack) {
            t.push(seconds(from));
            values.push(None);
        }
        t.push(seconds(sample.at));
        values.push(Some(short(f64::from(sample.value))));
        last = Some(sample.at);
    }
    let info = series.metric.info();
    let subject_name = subject.name.clone();
    (!t.is_empty()).then(|| SeriesData {
        kind: subject.kind,
        subject: subject_name,
        metric: info.name,
        times: times.index(t),
        values,
    })
}

#[cfg(test)]
mod tests {
    use plimsoll_analysis::summarise;
    use plimsoll_record::fixture;

    use super::*;

    #[test]
    fn a_missing_sample_breaks_its_line() {
        let record = fixture::record();
        let island = build(&record, &summarise(&record), &Messages::english());
        let of = |subject: &str| {
            island
                .series
                .iter()
                .find(|s| s.subject == subject && s.metric == "device_reads")
        };
        let (nvme, sda) = (of("nvme0n1").unwrap(), of("sda").unwrap());
        assert_eq!(nvme.values.iter().filter(|v| v.is_none()).count(), 1);
        assert_eq!(sda.values.iter().filter(|v| v.is_none()).count(), 0);
        assert!(
            island
                .series
                .iter()
                .all(|s| island.times[s.times].len() == s.values.len())
        );
        assert_eq!(island.times.len(), 2);
        assert_eq!(island.devices, ["nvme0n1", "sda"]);
    }

    #[test]
    fn nothing_in_it_ends_the_script_element() {
        let mut record = fixture::record();
        record.events[0].text = "</script><script>alert(1)</script><!--".into();
        let json = json(&record, &summarise(&record), &Messages::english());
        assert!(!json.contains('<') && json.contains("\\u003c/script>"));
    }

    #[test]
    fn the_same_record_gives_the_same_text() {
        let record = fixture::single_point();
        let text = || json(&record, &summarise(&record), &Messages::english());
        assert_eq!(text(), text());
    }

    #[test]
    fn four_digits_are_kept() {
        assert_eq!(
            [123_456.0, 1.234_56, 0.000_123_456, 0.0].map(short),
            [123_500.0, 1.235, 0.000_123_5, 0.0]
        );
    }
}
