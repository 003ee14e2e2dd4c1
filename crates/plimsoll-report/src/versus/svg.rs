//! Drawings that need no script: ratios with their intervals, and quantiles of both sides.

use std::fmt::Write as _;

use plimsoll_analysis::compare::PointComparison;

use super::place;
use crate::message::Messages;
use crate::number::three;
use crate::svg::{escaped, round_step};

const WIDTH: f64 = 720.0;
const LEFT: f64 = 16.0;
const RIGHT: f64 = 16.0;
const ROW: f64 = 46.0;

/// A logarithmic axis between two values.
struct Axis {
    low: f64,
    high: f64,
}

impl Axis {
    fn over(values: &[f64]) -> Option<Self> {
        let usable = || {
            values
                .iter()
                .copied()
                .filter(|value| value.is_finite() && *value > 0.0)
        };
        let (low, high) = (usable().reduce(f64::min)?, usable().reduce(f64::max)?);
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

    /// Round values, at most seven.
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
        while all.len() > 7 {
            all = all.into_iter().step_by(2).collect();
        }
        all
    }

    fn drawn(&self, height: f64) -> String {
        self.ticks()
            .into_iter()
            .fold(String::new(), |mut out, tick| {
                let (x, label) = (self.at(tick), three(tick));
                let _ = write!(
                    out,
                    "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"0\" y2=\"{height:.1}\"/>"
                );
                let _ = write!(
                    out,
                    "<text class=\"tick\" x=\"{x:.1}\" y=\"{:.1}\">{label}</text>",
                    height + 16.0
                );
                out
            })
    }
}

fn framed(height: f64, (kind, title): (&str, &str), body: &str) -> String {
    format!(
        "<svg class=\"versus {kind}\" viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-label=\"{}\">{body}</svg>",
        height + 24.0,
        escaped(title)
    )
}

/// The ratio of each load with its interval; 1 is marked. `None` where there is no ratio.
pub(super) fn ratios(m: &Messages, points: &[PointComparison]) -> Option<String> {
    let with: Vec<(&PointComparison, f64)> = points
        .iter()
        .filter_map(|point| Some((point, point.ratio.filter(|ratio| *ratio > 0.0)?)))
        .collect();
    let ends = with
        .iter()
        .filter_map(|(point, _)| point.interval)
        .flat_map(|own| [own.low, own.high]);
    let values: Vec<f64> = with
        .iter()
        .map(|(_, ratio)| *ratio)
        .chain(ends)
        .chain([1.0])
        .collect();
    let axis = Axis::over(&values).filter(|_| !with.is_empty())?;
    let height = ROW * with.len() as f64;
    let one = axis.at(1.0);
    let mut body = axis.drawn(height);
    let _ = write!(
        body,
        "<line class=\"one\" x1=\"{one:.1}\" x2=\"{one:.1}\" y1=\"0\" y2=\"{height:.1}\"/>"
    );
    for (i, (point, ratio)) in with.iter().enumerate() {
        let (top, y) = (ROW * i as f64 + 16.0, ROW * i as f64 + 31.0);
        let name = escaped(&place(m, &point.place, Some(&point.second_place)));
        let _ = write!(
            body,
            "<text class=\"name\" x=\"{LEFT}\" y=\"{top:.1}\">{name}</text>"
        );
        if let Some(own) = point.interval {
            let (from, to) = (axis.at(own.low), axis.at(own.high));
            let _ = write!(
                body,
                "<line class=\"bar\" x1=\"{from:.1}\" x2=\"{to:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>"
            );
        }
        let class = point.effect.name();
        let _ = write!(
            body,
            "<circle class=\"dot {class}\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"5\"/>",
            axis.at(*ratio)
        );
    }
    Some(framed(
        height,
        ("rates", &m.text("versus-chart-ratios")),
        &body,
    ))
}

/// Quantiles of response times, a row for each, the first side hollow and the second filled.
pub(super) fn quantiles(m: &Messages, points: &[PointComparison]) -> Option<String> {
    let all = points.iter().flat_map(|point| &point.latencies);
    let values: Vec<f64> = all.flat_map(|own| [own.first_ms, own.second_ms]).collect();
    let axis = Axis::over(&values)?;
    let with: Vec<&PointComparison> = points
        .iter()
        .filter(|point| !point.latencies.is_empty())
        .collect();
    let (mut body, mut y) = (String::new(), 0.0);
    for point in with {
        let name = escaped(&place(m, &point.place, Some(&point.second_place)));
        let _ = write!(
            body,
            "<text class=\"name\" x=\"{LEFT}\" y=\"{:.1}\">{name}</text>",
            y + 16.0
        );
        y += 32.0;
        for own in &point.latencies {
            let (from, to) = (axis.at(own.first_ms), axis.at(own.second_ms));
            let label = format!("p{}", (own.quantile * 1000.0).round() / 10.0);
            let before = (from.min(to) - 12.0).max(LEFT + 26.0);
            let _ = write!(
                body,
                "<line class=\"thin\" x1=\"{from:.1}\" x2=\"{to:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>"
            );
            let _ = write!(
                body,
                "<circle class=\"hollow\" cx=\"{from:.1}\" cy=\"{y:.1}\" r=\"5\"/>"
            );
            let _ = write!(
                body,
                "<circle class=\"dot {}\" cx=\"{to:.1}\" cy=\"{y:.1}\" r=\"5\"/>",
                own.effect.name()
            );
            let _ = write!(
                body,
                "<text class=\"quantile\" x=\"{before:.1}\" y=\"{:.1}\">{label}</text>",
                y + 4.0
            );
            y += 20.0;
        }
        y += 8.0;
    }
    let grid = axis.drawn(y);
    Some(framed(
        y,
        ("latency", &m.text("versus-chart-quantiles")),
        &(grid + &body),
    ))
}
