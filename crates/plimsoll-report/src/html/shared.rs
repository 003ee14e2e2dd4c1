//! What the charts over the time of a shared medium are drawn from: its points one after the other, without the time
//! between them.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{
    MediumFigures, SlotLoad, StepTimeline, TimelineBand, TimelineMedium, TransactionSecond,
};
use plimsoll_plan::Interference;
use plimsoll_record::BackupKind;
use serde::Serialize;

use super::bounded::DrawnBuckets;
use super::rounding::{millis, short};
use crate::document::{ReportBlock, ScriptChart};
use crate::medium;
use crate::message::Messages;
use crate::number;

/// One step on one medium. Times are seconds from the beginning of the first slot.
#[derive(Serialize)]
pub(super) struct SharedData {
    slots: Vec<SharedSlotData>,
    bands: Vec<BandData>,
    /// Of the longest of the step's media, so that all have one scale.
    end: f64,
    rate: Vec<SharedLineData>,
    iops: Vec<SharedLineData>,
    mb: Vec<SharedLineData>,
    ms: Vec<SharedLineData>,
}

#[derive(Serialize)]
struct SharedSlotData {
    from: f64,
    to: f64,
    /// Begin and end of the measurement.
    measured: Option<[f64; 2]>,
    label: String,
}

#[derive(Serialize)]
struct BandData {
    from: f64,
    to: f64,
    restore: bool,
    /// Which cycle, from 1.
    label: String,
    /// For tooltips.
    title: String,
}

/// A `null` stands between slots and where seconds are missing.
#[derive(Serialize)]
struct SharedLineData {
    name: String,
    /// Whose figures they are.
    medium: Option<String>,
    /// Among what belongs to no medium.
    place: usize,
    dash: &'static str,
    t: Vec<f64>,
    v: Vec<Option<f64>>,
    #[serde(skip)]
    reduced_to: Option<f64>,
}

impl SharedData {
    /// How many seconds a drawn point stands for, where not all are drawn.
    pub fn reduced_to(&self) -> Option<f64> {
        let lines = [&self.rate, &self.iops, &self.mb, &self.ms];
        let lines = lines.into_iter().flatten();
        lines.filter_map(|line| line.reduced_to).reduce(f64::max)
    }
}

/// Of the timelines of a step, those with lines.
pub(crate) fn charts(m: &Messages, summary: &Summary, step: u32) -> Vec<ReportBlock> {
    let timelines = summary.figures.timelines.iter().enumerate();
    let own: Vec<(usize, &StepTimeline)> = timelines
        .filter(|(_, own)| own.step_index == step)
        .collect();
    let mut charts = Vec::new();
    for (place, timeline) in &own {
        let data = of(m, timeline, 0.0);
        for (kind, lines) in [
            ("shared-rate", data.rate),
            ("shared-iops", data.iops),
            ("shared-mb", data.mb),
            ("shared-ms", data.ms),
        ] {
            if !lines.is_empty() {
                charts.push(ReportBlock::Chart(ScriptChart {
                    title: title(m, timeline, kind, own.len() > 1),
                    data: vec![("chart", kind.to_owned()), ("place", place.to_string())],
                }));
            }
        }
    }
    charts
}

fn title(m: &Messages, timeline: &StepTimeline, kind: &str, several: bool) -> String {
    let title = m.text(&format!("chart-title-{kind}"));
    match timeline.medium.as_ref().filter(|_| several) {
        Some(medium) => {
            let medium = medium::name(
                m,
                medium,
                timeline.drive.is_some() && !timeline.is_simulated,
            );
            format!("{medium}: {title}")
        }
        None => title,
    }
}

pub(super) fn island(m: &Messages, summary: &Summary) -> Vec<SharedData> {
    let timelines = summary.figures.timelines.iter();
    timelines
        .map(|own| of(m, own, longest(summary, own.step_index)))
        .collect()
}

/// The length of the longest timeline of a step.
fn longest(summary: &Summary, step: u32) -> f64 {
    let timelines = summary.figures.timelines.iter();
    let lengths = timelines
        .filter(|own| own.step_index == step)
        .map(|own| own.slots.iter().map(|slot| slot.end_s - slot.start_s).sum());
    lengths.fold(0.0, f64::max)
}

/// A slot with where it stands on the chart.
struct Placed {
    start: f64,
    end: f64,
    from: f64,
}

fn of(m: &Messages, own: &StepTimeline, end: f64) -> SharedData {
    let mut from = 0.0;
    let mut placed = Vec::new();
    for slot in &own.slots {
        placed.push(Placed {
            start: slot.start_s,
            end: slot.end_s,
            from,
        });
        from += slot.end_s - slot.start_s;
    }
    let slots = own.slots.iter().zip(&placed);
    let slots = slots.map(|(slot, place)| SharedSlotData {
        from: millis(place.from),
        to: millis(place.from + place.end - place.start),
        measured: slot
            .measured_s
            .map(|(start, end)| [start, end].map(|at| millis(at - place.start + place.from))),
        label: slot
            .load
            .map_or_else(String::new, |load| label(m, own, load)),
    });
    let lines = Lines {
        m,
        placed: &placed,
        media: &own.media,
    };
    SharedData {
        slots: slots.collect(),
        bands: bands(m, own, &placed),
        end: millis(end.max(from)),
        rate: lines.rates(own),
        iops: lines.iops(),
        mb: lines.megabytes(own),
        ms: lines.times(),
    }
}

/// Where a time of the run stands on the chart: in the slot that it lies in, or else the nearest before it.
fn place(placed: &[Placed], at: f64) -> Option<f64> {
    let slot = placed.iter().rfind(|slot| slot.start <= at)?;
    Some(millis(at.min(slot.end) - slot.start + slot.from))
}

fn bands(m: &Messages, own: &StepTimeline, placed: &[Placed]) -> Vec<BandData> {
    let bands = own.bands.iter();
    bands.filter_map(|own| band(m, own, placed)).collect()
}

fn band(m: &Messages, own: &TimelineBand, placed: &[Placed]) -> Option<BandData> {
    let restore = own.kind == BackupKind::Restore;
    let id = if restore {
        "shared-band-restore"
    } else {
        "shared-band-backup"
    };
    let what = format!("backup-kind-{}", own.kind.name());
    let outcome = format!("backup-outcome-{}", own.outcome.name());
    let args = [
        ("what", m.text(&what)),
        ("cycle", (own.cycle + 1).to_string()),
        ("system", own.system.clone()),
        ("outcome", m.text(&outcome)),
    ];
    Some(BandData {
        from: place(placed, own.start_s)?,
        to: place(placed, own.end_s)?,
        restore,
        label: m.text_with(id, &args),
        title: m.text_with("shared-band", &args),
    })
}

/// What distinguishes a slot from the others of its timeline.
fn label(m: &Messages, own: &StepTimeline, load: SlotLoad) -> String {
    let loads: Vec<SlotLoad> = own.slots.iter().filter_map(|slot| slot.load).collect();
    let mut parts = Vec::new();
    if loads.iter().any(|other| other.ordinal != load.ordinal) {
        parts.push(number::load_or_rate(load.load));
    }
    match load.scene {
        Interference::Alone => {}
        Interference::Quiet => parts.push(m.text("shared-quiet")),
        Interference::Noisy => parts.push(m.text("shared-noisy")),
    }
    if loads.iter().any(|other| other.repeat != load.repeat) {
        parts.push(format!("#{}", load.repeat + 1));
    }
    parts.join(" ")
}

/// A missing second is longer, and no clock is that far off.
const SLACK_S: f64 = 1.6;

/// How a line is drawn.
#[derive(Clone, Copy)]
struct Style {
    place: usize,
    dash: &'static str,
}

impl Style {
    const fn new(place: usize, dash: &'static str) -> Self {
        Self { place, dash }
    }
}

/// The end of a second, and its value.
struct ChartSample {
    at: f64,
    value: Option<f64>,
}

type OfFigures = fn(&MediumFigures) -> Option<f64>;

struct Lines<'a> {
    m: &'a Messages,
    placed: &'a [Placed],
    media: &'a [TimelineMedium],
}

impl Lines<'_> {
    fn line(
        &self,
        name: String,
        style: Style,
        seconds: impl Iterator<Item = ChartSample>,
    ) -> Option<SharedLineData> {
        let mut line = SharedLineData {
            name,
            medium: None,
            place: style.place,
            dash: style.dash,
            t: Vec::new(),
            v: Vec::new(),
            reduced_to: None,
        };
        let mut last: Option<(usize, f64)> = None;
        for ChartSample { at, value } in seconds {
            // The middle of the second decides which slot it belongs to.
            let Some(slot) = self.placed.iter().rposition(|slot| slot.start <= at - 0.5) else {
                continue;
            };
            let t = at - self.placed[slot].start + self.placed[slot].from;
            if last.is_some_and(|(own, before)| own != slot || t - before > SLACK_S) {
                line.t.push(millis(t));
                line.v.push(None);
            }
            line.t.push(millis(t));
            line.v
                .push(value.filter(|value| value.is_finite()).map(short));
            last = Some((slot, t));
        }
        let buckets = DrawnBuckets::of(&line.v);
        line.reduced_to = buckets.span(&line.t);
        line.t = buckets.times(line.t);
        line.v = buckets.values(line.v);
        line.v.iter().any(Option::is_some).then_some(line)
    }

    fn rates(&self, own: &StepTimeline) -> Vec<SharedLineData> {
        let measured = Style::new(0, "solid");
        let neighbours = Style::new(1, "dashed");
        [
            self.rate("shared-measured", measured, &own.transactions),
            self.rate("shared-neighbours", neighbours, &own.neighbours),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn rate(
        &self,
        id: &str,
        style: Style,
        seconds: &[TransactionSecond],
    ) -> Option<SharedLineData> {
        let seconds = seconds.iter().map(|second| ChartSample {
            at: second.at_s,
            value: Some(second.per_second),
        });
        self.line(self.m.text(id), style, seconds)
    }

    /// Reads and writes of each medium.
    fn sides(&self, reads: OfFigures, writes: OfFigures) -> Vec<SharedLineData> {
        let mut lines = Vec::new();
        for (place, medium) in self.media.iter().enumerate() {
            lines.extend(self.side("shared-reads", Style::new(place, "dashed"), medium, reads));
            lines.extend(self.side("shared-writes", Style::new(place, "solid"), medium, writes));
        }
        lines
    }

    fn side(
        &self,
        id: &str,
        style: Style,
        medium: &TimelineMedium,
        of: OfFigures,
    ) -> Option<SharedLineData> {
        let name = [("medium", medium.medium.clone())];
        let seconds = medium.seconds.iter().map(|second| ChartSample {
            at: second.at_s,
            value: of(&second.figures),
        });
        let line = self.line(self.m.text_with(id, &name), style, seconds)?;
        Some(SharedLineData {
            medium: Some(medium.medium.clone()),
            ..line
        })
    }

    fn iops(&self) -> Vec<SharedLineData> {
        self.sides(
            |figures| Some(figures.reads_per_second),
            |figures| Some(figures.writes_per_second),
        )
    }

    fn times(&self) -> Vec<SharedLineData> {
        self.sides(|figures| figures.read_ms, |figures| figures.write_ms)
    }

    fn megabytes(&self, own: &StepTimeline) -> Vec<SharedLineData> {
        let mut lines = self.sides(
            |figures| Some(figures.read_mb_per_second),
            |figures| Some(figures.write_mb_per_second),
        );
        let grown = own.written.iter().map(|second| ChartSample {
            at: second.at_s,
            value: Some(second.mb_per_second),
        });
        let style = Style::new(self.media.len(), "dotted");
        lines.extend(self.line(self.m.text("shared-grown"), style, grown));
        lines
    }
}
