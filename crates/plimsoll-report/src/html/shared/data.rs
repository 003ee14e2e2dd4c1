//! What the charts over the time of a shared medium are drawn from: its points one after the other, without the time
//! between them.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{
    MediumFigures, SlotLoad, Timeline, TimelineMedium, TransactionSecond,
};
use plimsoll_plan::Interference;
use plimsoll_record::BackupKind;
use serde::Serialize;

use super::super::island::short;
use super::ChartView;
use crate::compare;
use crate::message::Messages;
use crate::number::three;

/// One step on one medium. Times are seconds from the beginning of the first slot.
#[derive(Serialize)]
pub(in crate::html) struct SharedData {
    slots: Vec<SlotData>,
    bands: Vec<BandData>,
    /// Of the longest of the step's media, so that all have one scale.
    end: f64,
    rate: Vec<LineData>,
    iops: Vec<LineData>,
    mb: Vec<LineData>,
    ms: Vec<LineData>,
}

#[derive(Serialize)]
struct SlotData {
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
struct LineData {
    name: String,
    /// Lines of one colour belong together.
    colour: usize,
    dash: &'static str,
    t: Vec<f64>,
    v: Vec<Option<f64>>,
}

/// Figures of the charts, with their places in [`SharedData`].
const FIGURES: [&str; 4] = ["shared-rate", "shared-iops", "shared-mb", "shared-ms"];

pub(super) fn charts(m: &Messages, summary: &Summary, step: u32) -> Vec<ChartView> {
    let own = || {
        summary
            .timelines
            .iter()
            .enumerate()
            .filter(|(_, own)| own.step_index == step)
    };
    let several = own().count() > 1;
    let of_timeline = |(place, timeline): (usize, &Timeline)| {
        let data = of(m, timeline, 0.0);
        let lines = [data.rate, data.iops, data.mb, data.ms];
        let shown = FIGURES
            .into_iter()
            .zip(lines)
            .filter(|(_, lines)| !lines.is_empty());
        let title = |kind: &str| {
            let title = m.text(&format!("chart-title-{kind}"));
            match timeline.medium.as_ref().filter(|_| several) {
                Some(medium) => format!(
                    "{}: {title}",
                    compare::medium(m, medium, timeline.drive.is_some())
                ),
                None => title,
            }
        };
        shown
            .map(|(kind, _)| ChartView {
                kind,
                place,
                title: title(kind),
            })
            .collect::<Vec<_>>()
    };
    own().flat_map(of_timeline).collect()
}

pub(in crate::html) fn island(m: &Messages, summary: &Summary) -> Vec<SharedData> {
    let longest = |own: &Timeline| {
        let same = summary
            .timelines
            .iter()
            .filter(|other| other.step_index == own.step_index);
        same.map(|other| {
            other
                .slots
                .iter()
                .map(|slot| slot.end_s - slot.start_s)
                .sum::<f64>()
        })
        .fold(0.0, f64::max)
    };
    summary
        .timelines
        .iter()
        .map(|own| of(m, own, longest(own)))
        .collect()
}

/// A slot with where it stands on the chart.
struct Placed {
    start: f64,
    end: f64,
    from: f64,
}

fn of(m: &Messages, own: &Timeline, end: f64) -> SharedData {
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
    let slots = own.slots.iter().zip(&placed).map(|(slot, place)| SlotData {
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
        iops: lines.each(
            |figures| figures.reads_per_second,
            |figures| figures.writes_per_second,
        ),
        mb: lines.megabytes(own),
        ms: lines.times(),
    }
}

/// Where a time of the run stands on the chart: in the slot that it lies in, or else the nearest before it.
fn place(placed: &[Placed], at: f64) -> Option<f64> {
    let slot = placed.iter().rfind(|slot| slot.start <= at)?;
    Some(millis(at.min(slot.end) - slot.start + slot.from))
}

fn bands(m: &Messages, own: &Timeline, placed: &[Placed]) -> Vec<BandData> {
    let band = |band: &plimsoll_analysis::summary::TimelineBand| {
        let what = m.text(&format!("backup-kind-{}", band.kind.name()));
        let outcome = m.text(&format!("backup-outcome-{}", band.outcome.name()));
        let args = [
            ("what", what),
            ("cycle", (band.cycle + 1).to_string()),
            ("system", band.system.clone()),
        ];
        let [what, cycle, system] = args;
        let restore = band.kind == BackupKind::Restore;
        Some(BandData {
            from: place(placed, band.start_s)?,
            to: place(placed, band.end_s)?,
            restore,
            label: m.text_with(
                if restore {
                    "shared-band-restore"
                } else {
                    "shared-band-backup"
                },
                std::slice::from_ref(&cycle),
            ),
            title: m.text_with("shared-band", &[what, cycle, system, ("outcome", outcome)]),
        })
    };
    own.bands.iter().filter_map(band).collect()
}

/// What distinguishes a slot from the others of its timeline.
fn label(m: &Messages, own: &Timeline, load: SlotLoad) -> String {
    let loads = || own.slots.iter().filter_map(|slot| slot.load);
    let mut parts = Vec::new();
    if loads().any(|other| other.ordinal != load.ordinal) {
        parts.push(load.offered_per_second.map_or_else(
            || load.users.to_string(),
            |rate| format!("{}/s", three(rate)),
        ));
    }
    match load.scene {
        Interference::Alone => {}
        Interference::Quiet => parts.push(m.text("shared-quiet")),
        Interference::Noisy => parts.push(m.text("shared-noisy")),
    }
    if loads().any(|other| other.repeat != load.repeat) {
        parts.push(format!("#{}", load.repeat + 1));
    }
    parts.join(" ")
}

fn millis(s: f64) -> f64 {
    (s * 1e3).round() / 1e3
}

/// A missing second is longer, and no clock is that far off.
const SLACK_S: f64 = 1.6;
/// Reads, writes.
const DASHES: [&str; 2] = ["dashed", "solid"];

struct Lines<'a> {
    m: &'a Messages,
    placed: &'a [Placed],
    media: &'a [TimelineMedium],
}

impl Lines<'_> {
    /// `seconds` are their ends and values.
    fn line(
        &self,
        name: String,
        (colour, dash): (usize, &'static str),
        seconds: impl Iterator<Item = (f64, Option<f64>)>,
    ) -> Option<LineData> {
        let mut line = LineData {
            name,
            colour,
            dash,
            t: Vec::new(),
            v: Vec::new(),
        };
        let mut last: Option<(usize, f64)> = None;
        for (at, value) in seconds {
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
        line.v.iter().any(Option::is_some).then_some(line)
    }

    fn rates(&self, own: &Timeline) -> Vec<LineData> {
        let of = |seconds: &[TransactionSecond], id: &str, colour, dash| {
            let values: Vec<_> = seconds
                .iter()
                .map(|second| (second.at_s, Some(second.per_second)))
                .collect();
            self.line(self.m.text(id), (colour, dash), values.into_iter())
        };
        let measured = of(&own.transactions, "shared-measured", 0, "solid");
        measured
            .into_iter()
            .chain(of(&own.neighbours, "shared-neighbours", 1, "dashed"))
            .collect()
    }

    /// Reads and writes of each medium.
    fn each(
        &self,
        reads: fn(&MediumFigures) -> f64,
        writes: fn(&MediumFigures) -> f64,
    ) -> Vec<LineData> {
        self.sides(
            |figures| Some(reads(figures)),
            |figures| Some(writes(figures)),
        )
    }

    fn times(&self) -> Vec<LineData> {
        self.sides(|figures| figures.read_ms, |figures| figures.write_ms)
    }

    fn sides(
        &self,
        reads: impl Fn(&MediumFigures) -> Option<f64>,
        writes: impl Fn(&MediumFigures) -> Option<f64>,
    ) -> Vec<LineData> {
        let line = |(colour, medium): (usize, &TimelineMedium), side: usize| {
            let id = ["shared-reads", "shared-writes"][side];
            let of = |figures: &MediumFigures| {
                if side == 0 {
                    reads(figures)
                } else {
                    writes(figures)
                }
            };
            let name = self.m.text_with(id, &[("medium", medium.medium.clone())]);
            let values: Vec<_> = medium
                .seconds
                .iter()
                .map(|second| (second.at_s, of(&second.figures)))
                .collect();
            self.line(name, (colour, DASHES[side]), values.into_iter())
        };
        let media = self.media.iter().enumerate();
        media
            .flat_map(|medium| [0, 1].map(|side| line(medium, side)))
            .flatten()
            .collect()
    }

    fn megabytes(&self, own: &Timeline) -> Vec<LineData> {
        let mut lines = self.each(
            |figures| figures.read_mb_per_second,
            |figures| figures.write_mb_per_second,
        );
        let grown: Vec<_> = own
            .written
            .iter()
            .map(|second| (second.at_s, Some(second.mb_per_second)))
            .collect();
        lines.extend(self.line(
            self.m.text("shared-grown"),
            (self.media.len(), "dotted"),
            grown.into_iter(),
        ));
        lines
    }
}
