//! The result of a gate: its figures and limits, and one sentence with the reason.

use plimsoll_analysis::compare::{
    Against, GateOutcome, GateReport, GatedPoint, NotComparable, Objection, PointComparison,
    PointReason, RoundedRatio, RunComparison,
};

use super::marks::why;
use super::tables;
use super::words::{SideNames, cause, factor_list, place, range, unit, unlike, why_not};
use crate::message::Messages;
use crate::number::three;

/// A gate and the comparison that it rests on.
struct GateWords<'a> {
    m: &'a Messages,
    gate: &'a GateReport,
    against: &'a Against,
    sides: SideNames<'a>,
}

/// The result of a gate, figure by figure.
pub fn gate_text(gate: &GateReport, comparison: &RunComparison) -> String {
    let m = Messages::english();
    let points: Vec<_> = gate.points.iter().collect();
    let table = tables::gated().to_text(&m, &points);
    format!("{table}\n\n{}\n", gate_sentence(gate, comparison))
}

/// The outcome and its reason.
pub fn gate_sentence(gate: &GateReport, comparison: &RunComparison) -> String {
    let m = Messages::english();
    let against = &comparison.others[0];
    let words = GateWords {
        m: &m,
        gate,
        against,
        sides: SideNames::of(comparison, against),
    };
    words.sentence()
}

impl GateWords<'_> {
    fn sentence(&self) -> String {
        let mut sentences = vec![match self.gate.outcome {
            GateOutcome::Passed => self.m.text("versus-gate-is-passed"),
            GateOutcome::Inconclusive => self
                .m
                .text_with("versus-gate-is-inconclusive", &[("why", self.reason())]),
            GateOutcome::Regression | GateOutcome::Failed => self.regression(),
        }];
        if self.gate.outcome == GateOutcome::Regression {
            sentences.extend(cause(self.m, self.against));
        }
        let mut points = self.gate.points.iter();
        let decided = self.gate.outcome != GateOutcome::Inconclusive;
        if decided && points.any(|point| point.one_window) {
            sentences.push(self.m.text("versus-gate-one-window"));
        }
        sentences.join(" ")
    }

    /// Of the figure that is farthest beyond its limit.
    fn regression(&self) -> String {
        let beyond = |point: &&GatedPoint| point.reason == PointReason::Beyond;
        let points: Vec<&GatedPoint> = self.gate.points.iter().filter(beyond).collect();
        let excess = |point: &GatedPoint| {
            let ratio = point.ratio.map_or(1.0, |ratio| ratio.mean / point.limit);
            ratio.ln().abs()
        };
        let worst = points
            .iter()
            .max_by(|a, b| excess(a).total_cmp(&excess(b)))
            .and_then(|point| Some((*point, point.ratio?)));
        let Some((point, ratio)) = worst else {
            return String::new();
        };
        let rounded = RoundedRatio::of(ratio.mean);
        let args = [
            ("load", place(self.m, &point.place, None)),
            ("run", self.sides.second.to_owned()),
            ("baseline", self.sides.first.to_owned()),
            ("figure", self.figure(point)),
            ("ratio", rounded.ratio_text()),
            ("range", range(self.m, ratio, &rounded)),
            ("latency", point.figure.is_time().to_string()),
            ("limit", three(point.limit)),
        ];
        let mut sentences = vec![self.m.text_with("versus-gate-is-regression", &args)];
        if points.len() > 1 {
            let n = [("n", (points.len() - 1).to_string())];
            sentences.push(self.m.text_with("versus-gate-more", &n));
        }
        sentences.join(" ")
    }

    fn figure(&self, point: &GatedPoint) -> String {
        match point.figure.is_time() {
            true => self.m.text("versus-gate-p99"),
            false => unit(self.m, point.figure),
        }
    }

    /// Why the gate is inconclusive: what must be mended before more measurements could help comes first.
    fn reason(&self) -> String {
        if let Some(objection) = self.gate.objections.first() {
            return self.objection(objection);
        }
        let open: Vec<&GatedPoint> = self
            .gate
            .points
            .iter()
            .filter(|point| point.outcome == GateOutcome::Inconclusive)
            .collect();
        let without = |because: NotComparable| {
            let reason = PointReason::NoInterval(because);
            open.iter().find(move |point| point.reason == reason)
        };
        if let Some(point) = without(NotComparable::Unlike) {
            let differs = self.compared(point).map(unlike).unwrap_or_default();
            return self
                .m
                .text_with("versus-gate-unlike", &[("differs", differs)]);
        }
        if let Some(point) = without(NotComparable::Invalid) {
            return self.point_reason(point);
        }
        if !self.gate.missing.is_empty() {
            let loads = self.gate.missing.iter();
            let loads: Vec<String> = loads.map(|own| place(self.m, own, None)).collect();
            let args = [
                ("run", self.sides.second.to_owned()),
                ("baseline", self.sides.first.to_owned()),
                ("loads", loads.join("; ")),
            ];
            return self.m.text_with("versus-gate-missing", &args);
        }
        let mut ordered = open.clone();
        ordered.sort_by_key(|point| point.reason == PointReason::LimitInInterval);
        let first = ordered.first();
        first.map_or_else(String::new, |point| self.point_reason(point))
    }

    fn objection(&self, objection: &Objection) -> String {
        let why = match objection {
            Objection::Rule(mark) => why(self.m, mark),
            Objection::OtherMachine { factors } => {
                let what = [("what", factor_list(self.m, factors))];
                self.m.text_with("versus-gate-machine", &what)
            }
        };
        let rule = objection.rule().code().to_owned();
        let args = [("why", why), ("rule", rule)];
        self.m.text_with("versus-gate-objection", &args)
    }

    fn compared(&self, point: &GatedPoint) -> Option<&PointComparison> {
        let mut points = self.against.points.iter();
        points.find(|own| own.place == point.place)
    }

    /// Why one figure is inconclusive.
    fn point_reason(&self, point: &GatedPoint) -> String {
        let load = ("load", place(self.m, &point.place, None));
        match (point.reason, point.ratio) {
            (PointReason::NoInterval(because), _) => {
                let compared = self.compared(point);
                let why = compared.map(|own| why_not(self.m, self.sides, own, because));
                let args = [load, ("why", why.unwrap_or_default())];
                let id = match because {
                    NotComparable::ShortWindow | NotComparable::Correlated => "versus-gate-few",
                    _ => "versus-gate-none",
                };
                self.m.text_with(id, &args)
            }
            (PointReason::LimitInInterval, Some(ratio)) => {
                let rounded = RoundedRatio::of(ratio.mean);
                let args = [
                    load,
                    ("figure", self.figure(point)),
                    ("low", rounded.like(ratio.low)),
                    ("high", rounded.like(ratio.high)),
                    ("limit", three(point.limit)),
                ];
                self.m.text_with("versus-gate-limit-in-interval", &args)
            }
            _ => self.m.text_with("versus-gate-no-percentile", &[load]),
        }
    }
}
