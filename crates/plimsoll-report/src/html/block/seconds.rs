//! Every second of a job: all its rounds and rates one after the other, media above each other.

use std::collections::BTreeMap;

use plimsoll_analysis::summary::{BlockPointSummary, BlockSecond};
use plimsoll_record::{PointId, Record};
use serde::Serialize;

use super::super::bounded::DrawnBuckets;
use super::super::rounding::{millis, short};
use super::chart::ChartView;
use crate::block::{Across, OnMedium, limit, medium_name};
use crate::document::ReportBlock;
use crate::message::Messages;

/// So many jobs are shown without being asked for; of more, only names.
const OPEN: usize = 4;

pub(crate) fn charts(m: &Messages, block: usize, all: &[Across<'_>]) -> Vec<ReportBlock> {
    let jobs = timed(all).enumerate();
    jobs.map(|(place, across)| {
        let charts = of_job_charts(m, block, place, across).into_iter();
        ReportBlock::Details {
            summary: across.job.to_owned(),
            is_open: all.len() <= OPEN,
            blocks: vec![ReportBlock::group(
                "figures pairs",
                charts.map(ReportBlock::from),
            )],
        }
    })
    .collect()
}

/// IOPS and MB/s of all media, and the latency of each.
fn of_job_charts(m: &Messages, block: usize, place: usize, across: &Across<'_>) -> Vec<ChartView> {
    let mut charts = Vec::new();
    for kind in ["block-iops-time", "block-mb-time"] {
        charts.push(ChartView {
            kind,
            block,
            place,
            medium: 0,
            title: m.text(&format!("chart-title-{kind}")),
        });
    }
    for on in across.on.iter().filter(|on| is_timed(on)) {
        let title = m.text("chart-title-block-latency-time");
        charts.push(ChartView {
            kind: "block-latency-time",
            block,
            place,
            medium: on.place,
            title: if on.several {
                format!("{title}, {}", medium_name(m, on.medium))
            } else {
                title
            },
        });
    }
    charts
}

fn is_timed(on: &OnMedium<'_>) -> bool {
    points(on).next().is_some()
}

fn timed<'b, 'a>(all: &'b [Across<'a>]) -> impl Iterator<Item = &'b Across<'a>> {
    all.iter().filter(|across| across.on.iter().any(is_timed))
}

/// At full speed and at each rate, those of which seconds are known.
fn points<'a>(on: &OnMedium<'a>) -> impl Iterator<Item = &'a BlockPointSummary> {
    let job = on.job;
    let all = job
        .points
        .iter()
        .chain(job.curve.iter().flat_map(|at| &at.points));
    all.filter(|point| !point.seconds.is_empty())
}

/// What the charts of a job over time are drawn from. Times count from the beginning of the first round.
#[derive(Serialize)]
pub(super) struct SecondsData {
    slots: Vec<SlotData>,
    lines: Vec<SecondsLineData>,
}

/// One round or rate. The slowest medium decides how long it takes.
#[derive(Serialize)]
struct SlotData {
    from: f64,
    /// Where measuring begins.
    measured: f64,
    to: f64,
    label: String,
}

/// Latencies in µs. A `null` stands between rounds and where seconds are missing.
#[derive(Default, Serialize)]
struct SecondsLineData {
    medium: usize,
    t: Vec<f64>,
    iops: Vec<Option<f64>>,
    mb: Vec<Option<f64>>,
    p50: Vec<Option<f64>>,
    p95: Vec<Option<f64>>,
    p99: Vec<Option<f64>>,
    max: Vec<Option<f64>>,
    #[serde(skip)]
    reduced_to: Option<f64>,
}

impl SecondsData {
    /// How many seconds a drawn point stands for, where not all are drawn.
    pub fn reduced_to(&self) -> Option<f64> {
        let lines = self.lines.iter();
        lines.filter_map(|line| line.reduced_to).reduce(f64::max)
    }
}

pub(super) fn data(m: &Messages, all: &[Across<'_>]) -> Vec<SecondsData> {
    timed(all).map(|across| of_job(m, across)).collect()
}

/// Full speed stands before the rates, and both within their round.
type RoundKey = (u32, u64);

fn key(point: &BlockPointSummary) -> RoundKey {
    let share = point.share_percent;
    // Shares are percentages: a thousandth distinguishes them.
    (point.round, share.map_or(0, |own| 1 + (own * 1e3) as u64))
}

/// Where each round or rate begins on the chart.
type RoundStarts = BTreeMap<RoundKey, f64>;

fn of_job(m: &Messages, across: &Across<'_>) -> SecondsData {
    let mut own: Vec<&BlockPointSummary> = across.on.iter().flat_map(points).collect();
    own.sort_by_key(|point| key(point));
    let rounds = own.iter().any(|point| point.round > 0);
    let curve = own.iter().any(|point| point.share_percent.is_some());
    let mut starts = RoundStarts::new();
    let mut slots: Vec<SlotData> = Vec::new();
    for group in own.chunk_by(|a, b| key(a) == key(b)) {
        let from = slots.last().map_or(0.0, |slot| slot.to);
        starts.insert(key(group[0]), from);
        slots.push(SlotData {
            from,
            measured: millis(from + longest(group, warm)),
            to: millis(from + longest(group, lasted)),
            label: within(m, group[0], rounds, curve),
        });
    }
    let lines = across.on.iter().map(|on| SecondsLineData::of(on, &starts));
    let lines = lines.filter(|line| !line.t.is_empty()).collect();
    SecondsData { slots, lines }
}

fn longest(group: &[&BlockPointSummary], of: fn(&BlockPointSummary) -> f64) -> f64 {
    group.iter().map(|point| of(point)).fold(0.0, f64::max)
}

/// What distinguishes a point from the others of its job: `#2`, `40 %`.
fn within(m: &Messages, point: &BlockPointSummary, rounds: bool, curve: bool) -> String {
    let mut parts = Vec::new();
    if rounds {
        parts.push(format!("#{}", point.round + 1));
    }
    if curve {
        parts.push(share(m, point.share_percent));
    }
    parts.join(" ")
}

fn share(m: &Messages, share: Option<f64>) -> String {
    share.map_or_else(
        || m.text("block-full"),
        |share| format!("{} %", limit(share)),
    )
}

/// What a point of block I/O is called over the run's time; `None` of another one.
pub(in crate::html) fn label(m: &Messages, record: &Record, point: PointId) -> Option<String> {
    let found = record.blocks.iter().find(|block| block.point == point)?;
    Some(match found.share_percent {
        None => found.job.clone(),
        rate => format!("{}, {}", found.job, share(m, rate)),
    })
}

fn start(point: &BlockPointSummary) -> f64 {
    point
        .seconds
        .first()
        .map_or(0.0, |second| second.at_s - second.seconds)
}

fn lasted(point: &BlockPointSummary) -> f64 {
    point
        .seconds
        .last()
        .map_or(0.0, |second| second.at_s - start(point))
}

fn warm(point: &BlockPointSummary) -> f64 {
    let first = point.seconds.iter().find(|second| second.measured);
    first.map_or_else(
        || lasted(point),
        |second| second.at_s - second.seconds - start(point),
    )
}

/// As with transactions: what is shorter has no rate of its own.
const SHORTEST_S: f64 = 0.2;
/// A missing second is longer, and no clock is that far off.
const SLACK_S: f64 = 0.5;

impl SecondsLineData {
    fn of(on: &OnMedium<'_>, starts: &RoundStarts) -> Self {
        let mut line = Self {
            medium: on.place,
            ..Self::default()
        };
        let mut own: Vec<&BlockPointSummary> = points(on).collect();
        own.sort_by_key(|point| key(point));
        for point in own {
            line.add(point, starts[&key(point)]);
        }
        line.bounded()
    }

    fn bounded(self) -> Self {
        let buckets = DrawnBuckets::of(&self.iops);
        Self {
            medium: self.medium,
            reduced_to: buckets.span(&self.t),
            t: buckets.times(self.t),
            iops: buckets.values(self.iops),
            mb: buckets.values(self.mb),
            p50: buckets.values(self.p50),
            p95: buckets.values(self.p95),
            p99: buckets.values(self.p99),
            max: buckets.values(self.max),
        }
    }

    fn add(&mut self, point: &BlockPointSummary, from: f64) {
        let offset = from - start(point);
        let mut last: Option<f64> = None;
        for second in &point.seconds {
            let begin = second.at_s - second.seconds;
            let gap = last.is_some_and(|last| begin - last > SLACK_S);
            if gap || (last.is_none() && !self.t.is_empty()) {
                self.push(millis(begin + offset), None);
            }
            if second.seconds >= SHORTEST_S {
                self.push(millis(second.at_s + offset), Some(second));
            }
            last = Some(second.at_s);
        }
    }

    fn push(&mut self, at: f64, second: Option<&BlockSecond>) {
        let Self {
            medium: _,
            t,
            iops,
            mb,
            p50,
            p95,
            p99,
            max,
            reduced_to: _,
        } = self;
        t.push(at);
        iops.push(second.map(|s| short(s.requests as f64 / s.seconds)));
        mb.push(second.map(|s| short(s.bytes as f64 / 1e6 / s.seconds)));
        p50.push(second.and_then(|s| s.p50_us).map(short));
        p95.push(second.and_then(|s| s.p95_us).map(short));
        p99.push(second.and_then(|s| s.p99_us).map(short));
        max.push(second.and_then(|s| s.max_us).map(short));
    }
}
