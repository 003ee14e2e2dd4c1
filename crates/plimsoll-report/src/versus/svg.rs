//! Drawings that need no script: ratios with their intervals, and quantiles of both sides.

use plimsoll_analysis::compare::{FigureComparison, PointComparison};
use plimsoll_analysis::summary::Ratio;

use super::words::place_of;
use crate::message::Messages;
use crate::number::three;
use crate::svg::chart::Chart;
use crate::svg::{Drawing, round_step};

/// As wide as a phone's screen: a page scales a drawing up, not down.
const WIDTH: f64 = 400.0;
const LEFT: f64 = 16.0;
const RIGHT: f64 = 16.0;
const ROW: f64 = 46.0;

/// A logarithmic axis between two values.
struct LogAxis {
    low: f64,
    high: f64,
}

impl LogAxis {
    fn over(values: &[f64]) -> Option<Self> {
        let usable = values.iter().copied();
        let usable = usable.filter(|value| value.is_finite() && *value > 0.0);
        let low = usable.clone().reduce(f64::min)?;
        let high = usable.reduce(f64::max)?;
        let room = ((high / low).ln() * 0.06).max(0.01).exp();
        Some(Self {
            low: low / room,
            high: high * room,
        })
    }

    fn at(&self, value: f64) -> f64 {
        let share = (value / self.low).ln() / (self.high / self.low).ln();
        LEFT + share.clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT)
    }

    /// Round values, at most five.
    fn ticks(&self) -> Vec<f64> {
        let span = self.high - self.low;
        let mut all: Vec<f64> = if self.high / self.low > 8.0 {
            let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
            decades
                .flat_map(|d| [1.0, 2.0, 5.0].map(|m| m * 10f64.powi(d)))
                .collect()
        } else {
            let step = round_step(span / 5.0);
            (0..=20)
                .map(|i| (self.low / step).ceil() * step + f64::from(i) * step)
                .collect()
        };
        all.retain(|tick| (self.low..=self.high).contains(tick));
        while all.len() > 5 {
            all = all.into_iter().step_by(2).collect();
        }
        all
    }

    fn draw(&self, drawing: &mut Drawing, height: f64) {
        for tick in self.ticks() {
            let x = self.at(tick);
            drawing.line("grid", [x, 0.0], [x, height]);
            drawing.write("tick", [x, height + 16.0], &three(tick));
        }
    }
}

/// The ratio of each load with its interval; 1 is marked. `None` where there is no ratio.
pub(super) fn ratios(m: &Messages, points: &[PointComparison]) -> Option<Chart> {
    let mut with: Vec<(&PointComparison, f64)> = Vec::new();
    let mut values = vec![1.0];
    for point in points {
        if let Some(Ratio { ratio, interval }) = point.rate.ratio.filter(|own| own.ratio > 0.0) {
            with.push((point, ratio));
            values.push(ratio);
            let ends = interval.into_iter();
            values.extend(ends.flat_map(|own| [own.low, own.high]));
        }
    }
    let axis = LogAxis::over(&values).filter(|_| !with.is_empty())?;
    let height = ROW * with.len() as f64;
    let one = axis.at(1.0);
    let mut drawing = Drawing::default();
    axis.draw(&mut drawing, height);
    drawing.line("one", [one, 0.0], [one, height]);
    for (i, (point, ratio)) in with.iter().enumerate() {
        let top = ROW * i as f64 + 16.0;
        let y = ROW * i as f64 + 31.0;
        drawing.write("name", [LEFT, top], &place_of(m, point));
        if let Some(own) = point.rate.interval() {
            drawing.line("bar", [axis.at(own.low), y], [axis.at(own.high), y]);
        }
        let dot = format!("dot {}", point.rate.effect.name());
        drawing.circle(&dot, [axis.at(*ratio), y], 5.0);
    }
    let title = m.text("versus-chart-ratios");
    Some(Chart {
        svg: drawing.framed("versus rates", WIDTH, height + 24.0, &title),
        heading: title,
        keys: Vec::new(),
    })
}

fn both_values(own: &FigureComparison) -> Option<[f64; 2]> {
    Some([own.first?.value, own.second?.value])
}

/// Quantiles of response times, a row for each, the first side hollow and the second filled.
pub(super) fn quantiles(m: &Messages, points: &[PointComparison]) -> Option<Chart> {
    let all = points.iter().flat_map(|point| &point.times);
    let values: Vec<f64> = all.filter_map(both_values).flatten().collect();
    let axis = LogAxis::over(&values)?;
    let with: Vec<&PointComparison> = points
        .iter()
        .filter(|point| !point.times.is_empty())
        .collect();
    let rows = with
        .iter()
        .map(|point| 40.0 + 20.0 * point.times.len() as f64);
    let height: f64 = rows.sum();
    let mut drawing = Drawing::default();
    axis.draw(&mut drawing, height);
    let mut y = 0.0;
    for point in with {
        drawing.write("name", [LEFT, y + 16.0], &place_of(m, point));
        y += 32.0;
        for own in &point.times {
            let Some([first, second]) = both_values(own) else {
                continue;
            };
            let from = axis.at(first);
            let to = axis.at(second);
            let before = (from.min(to) - 12.0).max(LEFT + 26.0);
            let label = m.figure(own.figure);
            drawing.line("thin", [from, y], [to, y]);
            drawing.circle("hollow", [from, y], 5.0);
            drawing.circle(&format!("dot {}", own.effect.name()), [to, y], 5.0);
            drawing.write("quantile", [before, y + 4.0], &label);
            y += 20.0;
        }
        y += 8.0;
    }
    let title = m.text("versus-chart-quantiles");
    Some(Chart {
        svg: drawing.framed("versus latency", WIDTH, height + 24.0, &title),
        heading: String::new(),
        keys: Vec::new(),
    })
}
