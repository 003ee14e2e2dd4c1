//! Every second of a job: all its rounds and rates one after the other, media above each other.

use std::collections::BTreeMap;
use std::rc::Rc;

use plimsoll_analysis::summary::{BlockPointSummary, BlockSecond, FigureId};

use super::step::StepOnMedia;
use crate::block::{Across, OnMedium, limit, medium_name};
use crate::chart::rounding::{millis, short};
use crate::chart::{
    ChartArea, ChartAxis, ChartGround, ChartLine, ChartMark, LineChart, LineDash, LineTimes,
    ScriptChart,
};
use crate::message::Messages;

/// Charts of a job.
pub(super) struct TimedJob<'a> {
    pub job: &'a str,
    /// IOPS and MB/s of all media, and the latency of each.
    pub charts: Vec<ScriptChart>,
}

pub(super) fn jobs<'a>(of: &StepOnMedia<'a>) -> Vec<TimedJob<'a>> {
    let timed = of.all.iter();
    let timed = timed.filter(|across| across.on.iter().any(is_timed));
    timed
        .map(|across| TimedJob {
            job: across.job,
            charts: charts(of, across),
        })
        .collect()
}

/// A chart of all media.
struct TimedRate {
    name: &'static str,
    unit: FigureId,
    rate: fn(&BlockSecond) -> f64,
}

const RATES: [TimedRate; 2] = [
    TimedRate {
        name: "block-iops-time",
        unit: FigureId::Iops,
        rate: iops,
    },
    TimedRate {
        name: "block-mb-time",
        unit: FigureId::MbPerSecond,
        rate: |second| second.bytes as f64 / 1e6 / second.seconds,
    },
];

fn charts(of: &StepOnMedia<'_>, across: &Across<'_>) -> Vec<ScriptChart> {
    let m = of.m;
    let time = JobTime::of(m, across);
    let timed = across.on.iter().filter(|on| is_timed(on));
    let media: Vec<MediumSeconds<'_>> = timed
        .map(|on| MediumSeconds {
            on,
            seconds: time.seconds(on),
        })
        .collect();
    let mut charts = Vec::new();
    for TimedRate { name, unit, rate } in RATES {
        let lines = media.iter().map(|own| own.rate(of, rate)).collect();
        let mut chart = time.chart(m.figure_on_page(unit), lines);
        chart.y.switch = Some(of.switch());
        let title = m.text(&format!("chart-title-{name}"));
        charts.push(ScriptChart::lines(name, title, chart));
    }
    for own in &media {
        let title = m.text("chart-title-block-latency-time");
        let title = match own.on.several {
            true => format!("{title}, {}", medium_name(m, own.on.medium)),
            false => title,
        };
        let mut chart = time.chart(m.text("chart-block-us"), own.latencies(of));
        chart.y.is_log = chart.is_wide();
        charts.push(ScriptChart::lines("block-latency-time", title, chart));
    }
    charts
}

fn is_timed(on: &OnMedium<'_>) -> bool {
    points(on).next().is_some()
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

/// Full speed stands before the rates, and both within their round.
type RoundKey = (u32, u64);

fn key(point: &BlockPointSummary) -> RoundKey {
    let share = point.share_percent;
    // Shares are percentages: a thousandth distinguishes them.
    (point.round, share.map_or(0, |own| 1 + (own * 1e3) as u64))
}

/// Where each round or rate begins on the chart.
type RoundStarts = BTreeMap<RoundKey, f64>;

/// Longer jobs are counted in minutes, in seconds.
const LONG_S: f64 = 300.0;

/// The rounds and rates of a job, one after the other. The slowest medium decides how long each takes.
struct JobTime {
    starts: RoundStarts,
    x: ChartAxis,
    ground: Rc<ChartGround>,
}

impl JobTime {
    fn of(m: &Messages, across: &Across<'_>) -> Self {
        let mut own: Vec<&BlockPointSummary> = across.on.iter().flat_map(points).collect();
        own.sort_by_key(|point| key(point));
        let rounds = own.iter().any(|point| point.round > 0);
        let curve = own.iter().any(|point| point.share_percent.is_some());
        let mut starts = RoundStarts::new();
        let mut ground = ChartGround::default();
        let mut end = 0.0;
        for group in own.chunk_by(|a, b| key(a) == key(b)) {
            let from = end;
            let measured = millis(from + longest(group, warm));
            end = millis(from + longest(group, lasted));
            starts.insert(key(group[0]), from);
            let labels = within(m, group[0], rounds, curve);
            add_slot(&mut ground, [from, measured, end], labels);
        }
        let (unit, id) = match end > LONG_S {
            true => (60.0, "chart-block-job-time-min"),
            false => (1.0, "chart-block-job-time"),
        };
        Self {
            starts,
            x: ChartAxis {
                name: m.text(id),
                unit: Some(unit),
                max: Some(end),
                tip: "{} s".to_owned(),
                ..ChartAxis::default()
            },
            ground: Rc::new(ground),
        }
    }

    fn chart(&self, unit: String, lines: Vec<ChartLine>) -> LineChart {
        LineChart {
            x: self.x.clone(),
            y: ChartAxis {
                name: unit,
                ..ChartAxis::default()
            },
            lines,
            ground: Rc::clone(&self.ground),
            ..LineChart::default()
        }
    }
}

/// Warm-up is shaded; rounds and rates are named, and begin at an upright line.
fn add_slot(ground: &mut ChartGround, [from, measured, to]: [f64; 3], labels: Vec<String>) {
    if from > 0.0 {
        ground.marks.push(ChartMark {
            at: from,
            text: String::new(),
            severity: "",
        });
    }
    if measured > from {
        ground.areas.push(ChartArea {
            from,
            to: measured,
            is_shaded: true,
            ..ChartArea::default()
        });
    }
    ground.areas.push(ChartArea {
        from,
        to,
        title: labels.first().cloned().unwrap_or_default(),
        labels,
        ..ChartArea::default()
    });
}

fn longest(group: &[&BlockPointSummary], of: fn(&BlockPointSummary) -> f64) -> f64 {
    group.iter().map(|point| of(point)).fold(0.0, f64::max)
}

/// What distinguishes a point from the others of its job: `#2 40 %`, and the rate alone where there is no room for both.
fn within(m: &Messages, point: &BlockPointSummary, rounds: bool, curve: bool) -> Vec<String> {
    let round = rounds.then(|| format!("#{}", point.round + 1));
    let share = curve.then(|| share(m, point.share_percent));
    match (round, share) {
        (Some(round), Some(share)) => vec![format!("{round} {share}"), share],
        (round, share) => round.into_iter().chain(share).collect(),
    }
}

pub(in crate::section) fn share(m: &Messages, share: Option<f64>) -> String {
    share.map_or_else(
        || m.text("block-full"),
        |share| format!("{} %", limit(share)),
    )
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

/// Second by second; `None` between rounds and where seconds are missing.
struct DrawnSecond<'a> {
    at: f64,
    second: Option<&'a BlockSecond>,
}

impl JobTime {
    fn seconds<'a>(&self, on: &OnMedium<'a>) -> Vec<DrawnSecond<'a>> {
        let mut own: Vec<&BlockPointSummary> = points(on).collect();
        own.sort_by_key(|point| key(point));
        let mut drawn = Vec::new();
        for point in own {
            let offset = self.starts[&key(point)] - start(point);
            let mut last: Option<f64> = None;
            for second in &point.seconds {
                let begin = second.at_s - second.seconds;
                let gap = last.is_some_and(|last| begin - last > SLACK_S);
                if gap || (last.is_none() && !drawn.is_empty()) {
                    drawn.push(DrawnSecond {
                        at: millis(begin + offset),
                        second: None,
                    });
                }
                if second.seconds >= SHORTEST_S {
                    drawn.push(DrawnSecond {
                        at: millis(second.at_s + offset),
                        second: Some(second),
                    });
                }
                last = Some(second.at_s);
            }
        }
        drawn
    }
}

fn iops(second: &BlockSecond) -> f64 {
    second.requests as f64 / second.seconds
}

struct MediumSeconds<'a> {
    on: &'a OnMedium<'a>,
    seconds: Vec<DrawnSecond<'a>>,
}

impl MediumSeconds<'_> {
    fn column(&self, of: impl Fn(&BlockSecond) -> Option<f64>) -> Vec<Option<f64>> {
        let seconds = self.seconds.iter();
        seconds
            .map(|own| own.second.and_then(&of).map(short))
            .collect()
    }

    /// All lines of a medium have their extremes in one order.
    fn times(&self) -> LineTimes {
        let t = self.seconds.iter().map(|own| own.at);
        LineTimes::of(t.collect(), &self.column(|s| Some(iops(s))))
    }

    /// Media differ by dashes too.
    fn rate(&self, of: &StepOnMedia<'_>, rate: fn(&BlockSecond) -> f64) -> ChartLine {
        let values = self.column(|second| Some(rate(second)));
        ChartLine {
            color: of.color(self.on.place),
            dash: LineDash::nth(self.on.place),
            ..self.times().line(medium_name(of.m, self.on.medium), values)
        }
    }

    /// Percentiles with bands between them, and the longest request of each second as a dot.
    fn latencies(&self, of: &StepOnMedia<'_>) -> Vec<ChartLine> {
        let times = self.times();
        let line = |name: &str, width, values| ChartLine {
            color: of.color(self.on.place),
            width,
            is_unlisted: true,
            ..times.line(name, values)
        };
        vec![
            line("p50", 1.8, self.column(|s| s.p50_us)),
            ChartLine {
                band: Some(0.42),
                ..line("p95", 0.8, self.column(|s| s.p95_us))
            },
            ChartLine {
                band: Some(0.2),
                ..line("p99", 0.8, self.column(|s| s.p99_us))
            },
            ChartLine {
                symbol: Some(0),
                symbol_size: 3.0,
                ..line(
                    &of.m.text("chart-block-max"),
                    0.0,
                    self.column(|s| s.max_us),
                )
            },
        ]
    }
}
