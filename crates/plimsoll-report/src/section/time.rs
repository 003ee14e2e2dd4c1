//! Charts over the time of a run: transactions of each second, samples of machine and devices, lateness of emulated drives.

use std::collections::BTreeMap;
use std::rc::Rc;

use plimsoll_analysis::summary::lateness_us;
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use plimsoll_record::drive::DriveOp;
use plimsoll_record::metric::Metric;
use plimsoll_record::{
    DEVICE_FACT, DriveRow, Phase, PointId, Record, Series, SubjectId, SubjectKind,
};

use super::per_second::{DrawnSeconds, block_phases, per_second};
use crate::chart::rounding::{seconds, short};
use crate::chart::{
    ChartArea, ChartAxis, ChartGround, ChartLine, ChartMark, LineChart, LineColor, LineDash,
    LineTimes, ScriptChart,
};
use crate::document::{BlockHeading, HeadingAside, ReportBlock, ReportSection, reduced_note};
use crate::message::Messages;
use crate::svg::color::MediumColors;
use crate::{number, subject};

/// `None` where nothing was recorded.
pub(crate) fn section(
    m: &Messages,
    record: &Record,
    colors: MediumColors<'_>,
    is_foreign: bool,
) -> Option<ReportSection> {
    let switch = HeadingAside::Switch(SWITCH.to_owned());
    let heading = BlockHeading::section(m.text("time-title")).beside(switch);
    let mut section = ReportSection::headed("time", heading).styled("charts");
    section.page(ReportBlock::note(m.text("time-note")));
    let charts = charts(m, record, colors, is_foreign);
    let reduced = reduced_note(m, &charts);
    section.page(ReportBlock::figures("figures wide", charts));
    section.page(reduced);
    section.if_filled()
}

const SWITCH: &str = "time";

fn charts(
    m: &Messages,
    record: &Record,
    colors: MediumColors<'_>,
    is_foreign: bool,
) -> Vec<ScriptChart> {
    // Those of block I/O have charts of their own.
    let block = block_phases(record);
    let mut ticks = record.seconds.ticks().iter();
    let has_seconds = ticks.any(|tick| !block.contains(&tick.phase));
    let mut series = record.series.iter();
    let has_samples = series.any(|series| !series.samples.is_empty());
    if !has_seconds && !has_samples {
        return Vec::new();
    }
    let run = RunTime::of(m, record, colors);
    let mut charts = Vec::new();
    if has_seconds {
        let seconds = per_second(record);
        charts.push(run.throughput(&seconds));
        // Other tools seldom report the latencies of each second, and never what was in flight.
        let mut all = record.seconds.iter();
        if !is_foreign || all.any(|second| second.response().count() > 0) {
            charts.push(run.latency(&seconds));
        }
        if !is_foreign {
            charts.push(run.in_flight(&seconds));
        }
    }
    if !is_foreign || !record.series.is_empty() {
        charts.extend(run.samples());
    }
    charts
}

/// What all charts over the time of a run have in common.
struct RunTime<'a> {
    m: &'a Messages,
    record: &'a Record,
    colors: MediumColors<'a>,
    x: ChartAxis,
    ground: Rc<ChartGround>,
}

/// A chart's name, and the id of its unit.
type PlotIds = (&'static str, &'static str);

/// A metric of devices, and what tells it from the others of a chart.
struct DeviceMetric {
    metric: Metric,
    /// An id; empty where there is one metric.
    name: &'static str,
    dash: LineDash,
}

const fn device(metric: Metric, name: &'static str, dash: LineDash) -> DeviceMetric {
    DeviceMetric { metric, name, dash }
}

const MEGA: f64 = 1e-6;

impl<'a> RunTime<'a> {
    fn of(m: &'a Messages, record: &'a Record, colors: MediumColors<'a>) -> Self {
        let phases = record.phases.iter();
        let events = record.events.iter().map(|event| ChartMark {
            at: seconds(event.at),
            text: format!("{}: {}", event.kind.code(), m.event(&event.kind)),
            severity: event.severity.name(),
        });
        let mut marks: Vec<ChartMark> = events.collect();
        marks.sort_by(|a, b| a.at.total_cmp(&b.at));
        let ground = ChartGround {
            areas: phases.map(|phase| phase_area(m, record, phase)).collect(),
            marks,
        };
        Self {
            m,
            record,
            colors,
            x: time_axis(m, &record.phases),
            ground: Rc::new(ground),
        }
    }

    fn chart(&self, (name, unit): PlotIds, lines: Vec<ChartLine>) -> ScriptChart {
        let chart = LineChart {
            x: self.x.clone(),
            y: ChartAxis {
                name: self.m.text(unit),
                ..ChartAxis::default()
            },
            lines,
            ground: Rc::clone(&self.ground),
            is_zoomed: true,
            ..LineChart::default()
        };
        ScriptChart::lines(name, self.m.text(&format!("chart-title-{name}")), chart)
    }

    /// On a logarithmic axis if the range is wide, or by the reader's choice.
    fn switched(&self, ids: PlotIds, lines: Vec<ChartLine>) -> ScriptChart {
        let mut own = self.chart(ids, lines);
        own.change(|chart| {
            chart.y.is_log = chart.is_wide();
            chart.y.switch = Some(SWITCH.to_owned());
        });
        own
    }

    fn other(&self, place: usize) -> LineColor {
        self.colors.other(place).into()
    }

    /// Of all types together, and of each.
    fn throughput(&self, seconds: &DrawnSeconds) -> ScriptChart {
        let all = ChartLine {
            color: LineColor::Text,
            ..seconds
                .times
                .line(self.m.text("chart-all"), seconds.all.clone())
        };
        let types = seconds.rates.iter().enumerate();
        let types = types.map(|(place, (name, rates))| ChartLine {
            color: self.other(place),
            ..seconds.times.line(name, rates.clone())
        });
        let lines = [all].into_iter().chain(types);
        self.chart(("throughput", "chart-throughput"), lines.collect())
    }

    fn latency(&self, seconds: &DrawnSeconds) -> ScriptChart {
        let styles = [
            ("p99", &seconds.p99, 0.08, LineDash::Dotted),
            ("p95", &seconds.p95, 0.12, LineDash::Dashed),
            ("p50", &seconds.p50, 0.2, LineDash::Solid),
        ];
        let lines = styles.map(|(name, values, area, dash)| ChartLine {
            color: self.other(0),
            area: Some(area),
            dash,
            ..seconds.times.line(name, values.clone())
        });
        self.switched(("latency-time", "chart-latency"), lines.into())
    }

    fn in_flight(&self, seconds: &DrawnSeconds) -> ScriptChart {
        let name = self.m.text("chart-in-flight");
        let line = seconds.times.line(name, seconds.in_flight.clone());
        let line = ChartLine {
            y: line.y.iter().map(|n| n.map(f64::round)).collect(),
            color: self.other(0),
            ..line
        };
        let mut own = self.chart(("in-flight", "chart-in-flight"), vec![line]);
        own.change(|chart| chart.y.is_whole = true);
        own
    }

    fn samples(&self) -> Vec<ScriptChart> {
        use LineDash::{Dashed, Dotted, Solid};
        let requests = [
            device(Metric::DeviceReads, "chart-reads", Dashed),
            device(Metric::DeviceWrites, "chart-writes", Solid),
            device(Metric::DeviceFlushes, "chart-flushes", Dotted),
        ];
        let bytes = [
            device(Metric::DeviceReadBytes, "chart-reads", Dashed),
            device(Metric::DeviceWriteBytes, "chart-writes", Solid),
        ];
        let times = [
            device(Metric::DeviceReadLatency, "chart-reads", Dashed),
            device(Metric::DeviceWriteLatency, "chart-writes", Solid),
        ];
        let queue = [device(Metric::DeviceQueue, "", Solid)];
        let cpu = [Metric::SystemCpu, Metric::GeneratorCpu];
        let memory = [Metric::SystemMemory, Metric::GeneratorMemory];
        let mut charts = vec![
            self.cpu_states(),
            self.chart(("iops", "chart-iops"), self.devices(&requests, 1.0)),
            self.chart(("bandwidth", "chart-bandwidth"), self.devices(&bytes, MEGA)),
            self.switched(("io-time", "chart-io-time"), self.devices(&times, 1.0)),
            self.chart(("queue", "chart-queue"), self.devices(&queue, 1.0)),
            self.chart(("cpu-one", "chart-cpu-one"), self.processes(&cpu, 1.0)),
            self.chart(("memory", "chart-memory"), self.processes(&memory, MEGA)),
        ];
        if !self.record.drive.is_empty() {
            charts.push(self.switched(("lateness", "chart-lateness"), self.lateness()));
        }
        charts
    }

    /// Shares of the processors' time stand above each other.
    fn cpu_states(&self) -> ScriptChart {
        let states = [
            (Metric::CpuUser, "chart-cpu-user"),
            (Metric::CpuSystem, "chart-cpu-system"),
            (Metric::CpuIowait, "chart-cpu-iowait"),
            (Metric::CpuSteal, "chart-cpu-steal"),
        ];
        let mut lines = Vec::new();
        for (place, (metric, id)) in states.into_iter().enumerate() {
            lines.extend(self.series(metric).filter_map(|series| {
                let (t, values) = samples(series, 1.0)?;
                Some(ChartLine {
                    color: self.other(place),
                    area: Some(0.75),
                    ..LineTimes::of(t, &values).stacked(self.m.text(id), values)
                })
            }));
        }
        let mut own = self.chart(("cpu", "chart-cpu"), lines);
        own.change(|chart| chart.y.max = Some(100.0));
        own
    }

    fn series(&self, metric: Metric) -> impl Iterator<Item = &'a Series> {
        let series = self.record.series.iter();
        series.filter(move |series| series.metric == metric)
    }

    /// The color is the device, the dash the operation.
    fn devices(&self, metrics: &[DeviceMetric], scale: f64) -> Vec<ChartLine> {
        let mut lines = Vec::new();
        for (place, device) in shown_devices(self.record).into_iter().enumerate() {
            for own in metrics {
                let series = self.series(own.metric);
                let series = series.filter(|series| series.subject == device.subject);
                lines.extend(series.filter_map(|series| {
                    let name = match own.name {
                        "" => device.name.to_owned(),
                        id => format!("{} {}", device.name, self.m.text(id)),
                    };
                    Some(ChartLine {
                        color: self.colors.of(device.medium, place).into(),
                        dash: own.dash,
                        ..line(name, series, scale)?
                    })
                }));
            }
        }
        lines
    }

    /// Metrics of systems, emulators and the generator.
    fn processes(&self, metrics: &[Metric; 2], scale: f64) -> Vec<ChartLine> {
        let series = metrics.iter().flat_map(|metric| self.series(*metric));
        let series = series.enumerate();
        series
            .filter_map(|(place, series)| {
                let mut subjects = self.record.subjects.iter();
                let subject = subjects.find(|own| own.id == series.subject)?;
                let is_emulator = subject.kind == SubjectKind::Emulator;
                // An emulator is named like its medium.
                let name = match is_emulator {
                    true => format!("{} {}", self.m.text("chart-emulator"), subject.name),
                    false => subject.name.clone(),
                };
                // A system is named NAME@MEDIUM.
                let mut media = self.colors.media.iter();
                let medium = media.find(|own| {
                    subject.name == **own || subject.name.ends_with(&format!("@{own}"))
                });
                Some(ChartLine {
                    color: self.colors.of(medium.map(String::as_str), place).into(),
                    dash: match is_emulator {
                        true => LineDash::Dotted,
                        false => LineDash::Solid,
                    },
                    ..line(name, series, scale)?
                })
            })
            .collect()
    }

    /// How late emulated drives were: the 99th percentile of each second. The color is the medium, the dash the operation.
    fn lateness(&self) -> Vec<ChartLine> {
        // Nothing is late in virtual time.
        if self.record.is_simulated() {
            return Vec::new();
        }
        let mut media: BTreeMap<SubjectId, BTreeMap<DriveOp, Vec<&DriveRow>>> = BTreeMap::new();
        for row in &self.record.drive {
            // No request waits for a trim.
            if row.ops > 0 && row.op != DriveOp::Trim {
                let ops = media.entry(row.subject).or_default();
                ops.entry(row.op).or_default().push(row);
            }
        }
        let dashes = [LineDash::Dashed, LineDash::Solid, LineDash::Dotted];
        let mut lines = Vec::new();
        for (place, (medium, ops)) in media.into_iter().enumerate() {
            let medium = subject::name(self.record, medium);
            for ((op, rows), dash) in ops.into_iter().zip(dashes.into_iter().cycle()) {
                let op = self.m.text(&format!("op-{}", op.name()));
                lines.push(ChartLine {
                    color: self.colors.of(Some(medium), place).into(),
                    dash,
                    ..late(format!("{medium} {op}"), rows)
                });
            }
        }
        lines
    }
}

/// What is not measured is shaded; measured stretches bear their load.
fn phase_area(m: &Messages, record: &Record, phase: &Phase) -> ChartArea {
    let mut points = record.points.iter();
    let point = points.find(|point| Some(point.id) == phase.point);
    let label = match point {
        None => phase.step.clone(),
        Some(point) => {
            block_label(m, record, point.id).unwrap_or_else(|| number::load_or_rate(point.load()))
        }
    };
    let is_measured = phase.kind == PhaseKind::Measure;
    ChartArea {
        from: seconds(phase.start),
        to: seconds(phase.end),
        title: format!(
            "{label} · {}",
            m.text(&format!("phase-{}", phase.kind.name()))
        ),
        labels: is_measured.then_some(label).into_iter().collect(),
        is_shaded: !is_measured,
        is_inside: true,
        ..ChartArea::default()
    }
}

/// What a point of block I/O is called over the run's time; `None` of another one.
fn block_label(m: &Messages, record: &Record, point: PointId) -> Option<String> {
    let found = record.blocks.iter().find(|block| block.point == point)?;
    Some(match found.share_percent {
        None => found.job.clone(),
        rate => format!("{}, {}", found.job, super::block::seconds::share(m, rate)),
    })
}

/// Long runs are counted in minutes or hours. A preparation that would take the room of what it is for is not shown first.
fn time_axis(m: &Messages, phases: &[Phase]) -> ChartAxis {
    let end = phases.iter().map(|phase| seconds(phase.end));
    let end = end.fold(0.0, f64::max);
    let loaded = phases.iter();
    let loaded = loaded.filter(|phase| phase.kind != PhaseKind::Prepare);
    let begin = loaded.map(|phase| seconds(phase.start)).fold(end, f64::min);
    let is_long = begin > end / 4.0 && begin < end;
    let from = if is_long { begin } else { 0.0 };
    let (unit, id) = match end - from {
        ..=300.0 => (1.0, "chart-time-s"),
        ..=7200.0 => (60.0, "chart-time-min"),
        _ => (3600.0, "chart-time-h"),
    };
    ChartAxis {
        name: m.text(id),
        unit: Some(unit),
        max: Some(end),
        from: Some(from),
        tip: "{} s".to_owned(),
        ..ChartAxis::default()
    }
}

struct ShownDevice<'a> {
    subject: SubjectId,
    name: &'a str,
    medium: Option<&'a str>,
}

/// Devices with samples that media of the plan lie on; all with samples where none of those is known.
fn shown_devices(record: &Record) -> Vec<ShownDevice<'_>> {
    let devices = record.subjects.iter();
    let devices = devices.filter(|own| own.kind == SubjectKind::Device);
    let sampled = devices.filter(|own| {
        let mut series = record.series.iter();
        series.any(|series| series.subject == own.id && !series.samples.is_empty())
    });
    let all: Vec<ShownDevice<'_>> = sampled
        .map(|own| ShownDevice {
            subject: own.id,
            name: &own.name,
            medium: medium_on(record, &own.name),
        })
        .collect();
    let is_known = all.iter().any(|own| own.medium.is_some());
    let mut shown: Vec<ShownDevice<'_>> = all
        .into_iter()
        .filter(|own| !is_known || own.medium.is_some())
        .collect();
    if is_known {
        shown.sort_by_key(|own| own.name);
    }
    shown
}

/// Of media on the same device the first.
fn medium_on<'a>(record: &'a Record, device: &str) -> Option<&'a str> {
    let facts = record
        .facts
        .iter()
        .filter(|fact| fact.key == DEVICE_FACT && fact.value.trim_start_matches("/dev/") == device);
    let media = facts.filter_map(|fact| {
        let mut subjects = record.subjects.iter();
        subjects.find(|own| own.id == fact.subject && own.kind == SubjectKind::Medium)
    });
    media.map(|medium| medium.name.as_str()).min()
}

/// `None` without samples.
fn line(name: String, series: &Series, scale: f64) -> Option<ChartLine> {
    let (t, values) = samples(series, scale)?;
    Some(LineTimes::of(t, &values).line(name, values))
}

/// Times and values; `None` without any.
fn samples(series: &Series, scale: f64) -> Option<(Vec<f64>, Vec<Option<f64>>)> {
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
        values.push(Some(short(f64::from(sample.value) * scale)));
        last = Some(sample.at);
    }
    (!t.is_empty()).then_some((t, values))
}

/// How late the operations of each second were.
fn late(name: String, mut rows: Vec<&DriveRow>) -> ChartLine {
    let mut t = Vec::new();
    let mut values = Vec::new();
    let mut last: Option<Nanos> = None;
    rows.sort_by_key(|row| row.start);
    for row in rows {
        // Half a second of slack: a second without operations of this kind has none that are late.
        if last.is_some_and(|last| row.start.saturating_sub(last) > Nanos::from_millis(500)) {
            t.push(seconds(row.start));
            values.push(None);
        }
        t.push(seconds(row.end));
        values.push(lateness_us(&row.late, 0.99).map(short));
        last = Some(row.end);
    }
    LineTimes::of(t, &values).line(name, values)
}

#[cfg(test)]
mod tests {
    use plimsoll_record::fixture;

    use super::*;
    use crate::chart::DrawnChart;

    #[test]
    fn a_missing_sample_breaks_its_line() {
        let m = Messages::english();
        let record = fixture::record();
        let media: Vec<String> = record.media().into_iter().map(str::to_owned).collect();
        let colors = MediumColors { media: &media };
        let charts = charts(&m, &record, colors, false);
        let iops = charts.into_iter().find(|chart| chart.name == "iops");
        let Some(DrawnChart::Lines(iops)) = iops.map(|chart| chart.drawn) else {
            panic!("no chart of requests");
        };
        let gaps = |name: &str| {
            let line = iops.lines.iter().find(|line| line.name == name).unwrap();
            assert_eq!(line.x.len(), line.y.len());
            line.y.iter().filter(|value| value.is_none()).count()
        };
        assert_eq!((gaps("nvme0n1 read"), gaps("sda read")), (1, 0));
        let colors: Vec<LineColor> = iops.lines.iter().map(|line| line.color).collect();
        assert!(colors.contains(&MediumColors { media: &media }.of(Some("slow"), 0).into()));
    }
}
