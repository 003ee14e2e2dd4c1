//! Charts over the time of a shared medium: its points one after the other, without the time between them.

use std::rc::Rc;

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{
    MediumFigures, SlotLoad, StepTimeline, TimelineBand, TimelineMedium, TransactionSecond,
};
use plimsoll_plan::Interference;
use plimsoll_record::BackupKind;

use crate::chart::rounding::{millis, short};
use crate::chart::{
    ChartArea, ChartAxis, ChartGround, ChartLine, ChartMark, LineChart, LineColor, LineDash,
    LineTimes, ScriptChart,
};
use crate::medium;
use crate::message::Messages;
use crate::number;
use crate::svg::color::MediumColors;

/// Of each of the timelines of a step. Times are seconds from the beginning of the first slot.
pub(super) fn charts(
    m: &Messages,
    summary: &Summary,
    step: u32,
    colors: MediumColors<'_>,
) -> Vec<ScriptChart> {
    let timelines = summary.figures.timelines.iter();
    let own: Vec<&StepTimeline> = timelines.filter(|own| own.step_index == step).collect();
    // All have one scale.
    let ends = own.iter().map(|own| {
        let lengths = own.slots.iter().map(|slot| slot.end_s - slot.start_s);
        lengths.sum::<f64>()
    });
    let end = millis(ends.fold(0.0, f64::max));
    let mut charts = Vec::new();
    for timeline in &own {
        let placed = placed(timeline);
        let lines = Lines {
            m,
            placed: &placed,
            media: &timeline.media,
            colors,
        };
        let ground = Rc::new(ground(m, timeline, &placed, colors));
        for (name, unit, lines) in [
            ("shared-rate", "chart-shared-rate", lines.rates(timeline)),
            ("shared-iops", "chart-shared-iops", lines.iops()),
            ("shared-mb", "chart-shared-mb", lines.megabytes(timeline)),
            ("shared-ms", "chart-shared-ms", lines.times()),
        ] {
            if lines.is_empty() {
                continue;
            }
            let mut chart = LineChart {
                x: time_axis(m, end),
                y: ChartAxis {
                    name: m.text(unit),
                    ..ChartAxis::default()
                },
                lines,
                ground: Rc::clone(&ground),
                ..LineChart::default()
            };
            // Times per request of idle and overloaded seconds lie decades apart.
            chart.y.is_log = name == "shared-ms" && chart.is_wide();
            let title = title(m, timeline, name, own.len() > 1);
            charts.push(ScriptChart::lines(name, title, chart));
        }
    }
    charts
}

/// Longer ones are counted in minutes, in seconds.
const LONG_S: f64 = 300.0;

fn time_axis(m: &Messages, end: f64) -> ChartAxis {
    let (unit, id) = match end > LONG_S {
        true => (60.0, "chart-shared-time-min"),
        false => (1.0, "chart-shared-time"),
    };
    ChartAxis {
        name: m.text(id),
        unit: Some(unit),
        max: Some(end),
        tip: "{} s".to_owned(),
        ..ChartAxis::default()
    }
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

/// A slot with where it stands on the chart.
struct Placed {
    start: f64,
    end: f64,
    from: f64,
}

fn placed(own: &StepTimeline) -> Vec<Placed> {
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
    placed
}

/// What is not measured is shaded, points are named, backups and restores are bands.
fn ground(
    m: &Messages,
    own: &StepTimeline,
    placed: &[Placed],
    colors: MediumColors<'_>,
) -> ChartGround {
    let mut ground = ChartGround::default();
    let slots: Vec<_> = own.slots.iter().zip(placed).collect();
    for (slot, place) in &slots {
        let at = |s: f64| millis(s - place.start + place.from);
        for (from, to) in slot
            .measured_s
            .iter()
            .flat_map(|(from, to)| [(slot.start_s, *from), (*to, slot.end_s)])
        {
            ground.areas.push(ChartArea {
                from: at(from),
                to: at(to),
                is_shaded: true,
                ..ChartArea::default()
            });
        }
    }
    ground.areas.extend(bands(m, own, placed, colors));
    for (slot, place) in &slots {
        let label = slot
            .load
            .map_or_else(String::new, |load| label(m, own, load));
        ground.areas.push(ChartArea {
            from: millis(place.from),
            to: millis(place.from + place.end - place.start),
            title: label.clone(),
            labels: vec![label],
            ..ChartArea::default()
        });
    }
    ground.marks = placed
        .iter()
        .skip(1)
        .map(|place| ChartMark {
            at: millis(place.from),
            text: String::new(),
            severity: "",
        })
        .collect();
    ground
}

/// Where a time of the run stands on the chart: in the slot that it lies in, or else the nearest before it.
fn place(placed: &[Placed], at: f64) -> Option<f64> {
    let slot = placed.iter().rfind(|slot| slot.start <= at)?;
    Some(millis(at.min(slot.end) - slot.start + slot.from))
}

/// Bands of several systems lie over each other; of those the first is named.
fn bands(
    m: &Messages,
    own: &StepTimeline,
    placed: &[Placed],
    colors: MediumColors<'_>,
) -> Vec<ChartArea> {
    let bands = own.bands.iter();
    let mut bands: Vec<ChartArea> = bands
        .filter_map(|own| band(m, own, placed, colors))
        .collect();
    let mut last = -1.0;
    for band in &mut bands {
        match band.from < last {
            true => band.labels.clear(),
            false => last = band.to,
        }
    }
    bands
}

fn band(
    m: &Messages,
    own: &TimelineBand,
    placed: &[Placed],
    colors: MediumColors<'_>,
) -> Option<ChartArea> {
    let (id, color) = match own.kind {
        BackupKind::Backup => ("shared-band-backup", colors.other(1)),
        BackupKind::Restore => ("shared-band-restore", colors.other(2)),
    };
    let what = format!("backup-kind-{}", own.kind.name());
    let outcome = format!("backup-outcome-{}", own.outcome.name());
    let args = [
        ("what", m.text(&what)),
        ("cycle", (own.cycle + 1).to_string()),
        ("system", own.system.clone()),
        ("outcome", m.text(&outcome)),
    ];
    Some(ChartArea {
        from: place(placed, own.start_s)?,
        to: place(placed, own.end_s)?,
        labels: vec![m.text_with(id, &args)],
        title: m.text_with("shared-band", &args),
        color: Some(color.into()),
        is_inside: true,
        ..ChartArea::default()
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
    colors: MediumColors<'a>,
}

impl Lines<'_> {
    /// `None` without values. A gap stands between slots and where seconds are missing.
    fn line(
        &self,
        name: String,
        color: LineColor,
        dash: LineDash,
        seconds: impl Iterator<Item = ChartSample>,
    ) -> Option<ChartLine> {
        let (mut t_s, mut values) = (Vec::new(), Vec::new());
        let mut last: Option<(usize, f64)> = None;
        for ChartSample { at, value } in seconds {
            // The middle of the second decides which slot it belongs to.
            let Some(slot) = self.placed.iter().rposition(|slot| slot.start <= at - 0.5) else {
                continue;
            };
            let t = at - self.placed[slot].start + self.placed[slot].from;
            if last.is_some_and(|(own, before)| own != slot || t - before > SLACK_S) {
                t_s.push(millis(t));
                values.push(None);
            }
            t_s.push(millis(t));
            values.push(value.filter(|value| value.is_finite()).map(short));
            last = Some((slot, t));
        }
        let has_values = values.iter().any(Option::is_some);
        has_values.then(|| ChartLine {
            color,
            dash,
            ..LineTimes::of(t_s, &values).line(name, values)
        })
    }

    fn rates(&self, own: &StepTimeline) -> Vec<ChartLine> {
        let solid = LineDash::Solid;
        let lines = [
            self.rate("shared-measured", 0, solid, &own.transactions),
            self.rate("shared-neighbours", 1, LineDash::Dashed, &own.neighbours),
        ];
        lines.into_iter().flatten().collect()
    }

    fn rate(
        &self,
        id: &str,
        place: usize,
        dash: LineDash,
        seconds: &[TransactionSecond],
    ) -> Option<ChartLine> {
        let seconds = seconds.iter().map(|second| ChartSample {
            at: second.at_s,
            value: Some(second.per_second),
        });
        let color = self.colors.of(None, place).into();
        self.line(self.m.text(id), color, dash, seconds)
    }

    /// Reads and writes of each medium.
    fn sides(&self, reads: OfFigures, writes: OfFigures) -> Vec<ChartLine> {
        let mut lines = Vec::new();
        for (place, medium) in self.media.iter().enumerate() {
            for (id, dash, of) in [
                ("shared-reads", LineDash::Dashed, reads),
                ("shared-writes", LineDash::Solid, writes),
            ] {
                let name = [("medium", medium.medium.clone())];
                let seconds = medium.seconds.iter().map(|second| ChartSample {
                    at: second.at_s,
                    value: of(&second.figures),
                });
                let color = self.colors.of(Some(&medium.medium), place).into();
                lines.extend(self.line(self.m.text_with(id, &name), color, dash, seconds));
            }
        }
        lines
    }

    fn iops(&self) -> Vec<ChartLine> {
        self.sides(
            |figures| Some(figures.reads_per_second),
            |figures| Some(figures.writes_per_second),
        )
    }

    fn times(&self) -> Vec<ChartLine> {
        self.sides(|figures| figures.read_ms, |figures| figures.write_ms)
    }

    fn megabytes(&self, own: &StepTimeline) -> Vec<ChartLine> {
        let mut lines = self.sides(
            |figures| Some(figures.read_mb_per_second),
            |figures| Some(figures.write_mb_per_second),
        );
        let grown = own.written.iter().map(|second| ChartSample {
            at: second.at_s,
            value: Some(second.mb_per_second),
        });
        let color = self.colors.of(None, self.media.len()).into();
        let name = self.m.text("shared-grown");
        lines.extend(self.line(name, color, LineDash::Dotted, grown));
        lines
    }
}
