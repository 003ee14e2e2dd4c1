//! The data island: what the charts are drawn from, as JSON within a `<script type="application/json">`.
//!
//! Columns instead of rows, and times shared between series, because a run of hours has a million numbers. Where
//! seconds are missing stands a `null` between two values, so that no line crosses a gap.

use std::collections::{BTreeMap, HashMap};

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{
    FigureId, LadderSummary, PointSummary, Spread, TxnSummary, Verdict,
};
use plimsoll_plan::units::Nanos;
use plimsoll_record::metric::Metric;
use plimsoll_record::{DEVICE_FACT, Event, Phase, Record, Series, SubjectKind};
use serde::Serialize;

use crate::message::Messages;

use super::block::{self, BlockData};
use super::bounded::DrawnBuckets;
use super::lateness::{self, Lateness};
use super::per_second::{Seconds, per_second};
use super::rounding::{seconds, short};
use super::shared::{self, SharedData};
use crate::section::line::{self, LineData};
use crate::{ladder, medium, number};

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
    /// Names, in the order of the plan: a medium's place is its color in all charts.
    media: Vec<String>,
    /// Devices that media of the plan lie on; empty where unknown.
    devices: Vec<DeviceData>,
    #[serde(skip)]
    reduced_to: Option<f64>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct DeviceData {
    name: String,
    medium: String,
}

#[derive(Serialize)]
struct LadderData {
    label: String,
    medium: Option<String>,
    points: Vec<LadderPointData>,
    /// Of a search.
    line: Option<LineData>,
}

#[derive(Serialize)]
struct LadderPointData {
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

/// The island as JSON, and what of it was left out.
pub(crate) struct IslandText {
    /// Fit for a script element: no `<` is left in it.
    pub json: String,
    /// How many seconds a drawn point stands for at most, where lines are too long for all of theirs.
    pub reduced_to: Option<f64>,
}

pub(crate) fn text(record: &Record, summary: &Summary, m: &Messages) -> IslandText {
    let island = build(record, summary, m);
    let json = serde_json::to_string(&island).expect("an island has string keys only");
    IslandText {
        json: json.replace('<', "\\u003c"),
        reduced_to: island.reduced_to,
    }
}

fn build(record: &Record, summary: &Summary, m: &Messages) -> Island {
    let mut times = TimeColumns::default();
    let mut reduced = Vec::new();
    let series = record
        .series
        .iter()
        .filter(|series| !series.metric.is_of_member())
        .filter_map(|series| series_data(record, series, &mut times, &mut reduced))
        .collect();
    let seconds = per_second(record);
    reduced.extend(seconds.reduced_to());
    let lateness = lateness::lines(record, m);
    let blocks = block::island(m, summary);
    let shared = shared::island(m, summary);
    reduced.extend(lateness.iter().filter_map(Lateness::reduced_to));
    reduced.extend(blocks.iter().filter_map(BlockData::reduced_to));
    reduced.extend(shared.iter().filter_map(SharedData::reduced_to));
    Island {
        reduced_to: reduced.into_iter().reduce(f64::max),
        labels: m.chart_labels().into_iter().collect(),
        ladders: summary
            .figures
            .ladders
            .iter()
            .map(|ladder| ladder_data(m, summary, ladder))
            .collect(),
        phases: record
            .phases
            .iter()
            .map(|phase| phase_data(m, record, phase))
            .collect(),
        events: record
            .events
            .iter()
            .map(|event| event_data(m, event))
            .collect(),
        seconds,
        times: times.all,
        series,
        lateness,
        blocks,
        shared,
        media: record.media().into_iter().map(str::to_owned).collect(),
        devices: devices(record),
    }
}

fn phase_data(m: &Messages, record: &Record, phase: &Phase) -> PhaseData {
    let mut points = record.points.iter();
    let point = points.find(|point| Some(point.id) == phase.point);
    PhaseData {
        kind: phase.kind.name(),
        start: seconds(phase.start),
        end: seconds(phase.end),
        label: match point {
            None => phase.step.clone(),
            Some(p) => {
                block::load_label(m, record, p.id).unwrap_or_else(|| number::load_or_rate(p.load()))
            }
        },
    }
}

fn event_data(m: &Messages, event: &Event) -> EventData {
    EventData {
        at: seconds(event.at),
        severity: event.severity.name(),
        text: format!("{}: {}", event.kind.code(), m.event(&event.kind)),
    }
}

/// Each once; of media on the same device the first.
fn devices(record: &Record) -> Vec<DeviceData> {
    let facts = record.facts.iter().filter(|fact| fact.key == DEVICE_FACT);
    let of_media = facts.filter_map(|fact| {
        let mut subjects = record.subjects.iter();
        let medium = subjects.find(|own| own.id == fact.subject)?;
        (medium.kind == SubjectKind::Medium).then(|| DeviceData {
            name: fact.value.trim_start_matches("/dev/").to_owned(),
            medium: medium.name.clone(),
        })
    });
    let mut named: Vec<DeviceData> = of_media.collect();
    named.sort();
    named.dedup_by(|own, first| own.name == first.name);
    named
}

fn ladder_data(m: &Messages, summary: &Summary, ladder: &LadderSummary) -> LadderData {
    LadderData {
        label: curve(m, summary, ladder),
        medium: ladder.medium.clone(),
        points: ladder.points.iter().map(point_data).collect(),
        line: ladder.line.as_ref().map(|line| line::data(ladder, line)),
    }
}

/// A ladder's name in a legend: where a step was run on several media, what distinguishes them.
fn curve(m: &Messages, summary: &Summary, ladder: &LadderSummary) -> String {
    let mut ladders = summary.figures.ladders.iter();
    let several =
        ladders.any(|own| own.step_index == ladder.step_index && own.medium != ladder.medium);
    let Some(medium) = ladder.medium.as_ref().filter(|_| several) else {
        return ladder::heading(m, ladder);
    };
    let medium = medium::name(m, medium, ladder.drive.is_some() && !ladder.is_simulated);
    let curve = m.in_scene(medium, ladder.scene);
    let mut ladders = summary.figures.ladders.iter();
    if ladders.all(|own| own.step_index == ladder.step_index) {
        return curve;
    }
    m.text_with(
        "legend-step",
        &[("step", ladder.step.clone()), ("curve", curve)],
    )
}

fn point_data(p: &PointSummary) -> LadderPointData {
    let spread = |figure| p.spreads.get(&figure).copied().map(middle_half);
    LadderPointData {
        offered: p.key.load.offered_per_second,
        users: p.key.load.users,
        usable: p.verdict < Verdict::Invalid,
        nopm: p.value(FigureId::Nopm).map(short),
        tpm: p.value(FigureId::Tpm).map(short),
        tpm_per_user: p.value(FigureId::TpmPerUser).map(short),
        rate: p.value(FigureId::Transactions).map(short),
        nopm_spread: spread(FigureId::Nopm),
        tpm_spread: spread(FigureId::Tpm),
        rate_spread: spread(FigureId::Transactions),
        latency: p.types.iter().filter_map(latency_data).collect(),
    }
}

fn middle_half(spread: Spread) -> [f64; 2] {
    [short(spread.p25), short(spread.p75)]
}

fn latency_data(txn: &TxnSummary) -> Option<(String, [f64; 3])> {
    let l = txn.response?;
    Some((txn.name.clone(), [l.p50_ms, l.p95_ms, l.p99_ms].map(short)))
}

/// Columns of times, each kept once.
#[derive(Default)]
struct TimeColumns {
    all: Vec<Vec<f64>>,
    known: HashMap<Vec<u64>, usize>,
}

impl TimeColumns {
    fn index(&mut self, times: Vec<f64>) -> usize {
        let key = times.iter().map(|t| t.to_bits()).collect();
        *self.known.entry(key).or_insert_with(|| {
            self.all.push(times);
            self.all.len() - 1
        })
    }
}

/// `reduced`: how many seconds a drawn point stands for, of lines of which not all points are drawn.
fn series_data(
    record: &Record,
    series: &Series,
    times: &mut TimeColumns,
    reduced: &mut Vec<f64>,
) -> Option<SeriesData> {
    let mut subjects = record.subjects.iter();
    let subject = subjects.find(|subject| subject.id == series.subject)?;
    let mut t = Vec::new();
    let mut values = Vec::new();
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
    if t.is_empty() {
        return None;
    }
    let buckets = DrawnBuckets::of(&values);
    reduced.extend(buckets.span(&t));
    Some(SeriesData {
        kind: subject.kind,
        subject: subject.name.clone(),
        metric: series.metric.info().name,
        times: times.index(buckets.times(t)),
        values: match is_stacked(series.metric) {
            true => buckets.means(values),
            false => buckets.values(values),
        },
    })
}

/// Shares of the processors' time stand above each other.
fn is_stacked(metric: Metric) -> bool {
    let stacked = [
        Metric::CpuUser,
        Metric::CpuSystem,
        Metric::CpuIowait,
        Metric::CpuSteal,
    ];
    stacked.contains(&metric)
}

#[cfg(test)]
mod tests {
    use plimsoll_analysis::summarise;
    use plimsoll_record::fixture;
    use plimsoll_record::message::EventKind;

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
        let devices: Vec<&str> = island.devices.iter().map(|own| own.name.as_str()).collect();
        assert_eq!(devices, ["nvme0n1", "sda"]);
        assert!(
            island
                .devices
                .iter()
                .all(|own| island.media.contains(&own.medium))
        );
    }

    #[test]
    fn nothing_in_it_ends_the_script_element() {
        let mut record = fixture::record();
        record.events[0].kind = EventKind::Cleanup {
            error: "</script><script>alert(1)</script><!--".into(),
        };
        let json = text(&record, &summarise(&record), &Messages::english()).json;
        assert!(!json.contains('<') && json.contains("\\u003c/script>"));
    }

    #[test]
    fn the_same_record_gives_the_same_text() {
        let record = fixture::single_point();
        let json = || text(&record, &summarise(&record), &Messages::english()).json;
        assert_eq!(json(), json());
    }
}
