//! A gate as CSV: a row for each figure that was checked.

use plimsoll_analysis::compare::{GateReport, GateResult, GatedPoint, PointReason, RequiredPoint};
use plimsoll_record::LoadKey;

use crate::table::Table;

pub(crate) struct GateRow<'a> {
    result: &'a GateResult,
    check: GateCheck<'a>,
}

#[derive(Clone, Copy)]
enum GateCheck<'a> {
    Baseline(&'a GateReport, &'a GatedPoint),
    Requirement(&'a RequiredPoint),
}

impl GateRow<'_> {
    fn place(&self) -> Option<&LoadKey> {
        match self.check {
            GateCheck::Baseline(_, point) => Some(&point.place),
            GateCheck::Requirement(point) => point.place.as_ref(),
        }
    }

    fn check(&self) -> &'static str {
        match self.check {
            GateCheck::Baseline(..) => "baseline",
            GateCheck::Requirement(_) => "requirement",
        }
    }

    fn figure(&self) -> &'static str {
        match self.check {
            GateCheck::Baseline(_, point) => point.figure.info().name,
            GateCheck::Requirement(point) => point.requirement.figure.name(),
        }
    }

    /// The ratio to the baseline, or the figure itself.
    fn value(&self) -> Option<f64> {
        match self.check {
            GateCheck::Baseline(_, point) => Some(point.ratio?.mean),
            GateCheck::Requirement(point) => point.value,
        }
    }

    fn limit(&self) -> f64 {
        match self.check {
            GateCheck::Baseline(_, point) => point.limit,
            GateCheck::Requirement(point) => point.requirement.limit,
        }
    }

    fn outcome(&self) -> &'static str {
        match self.check {
            GateCheck::Baseline(_, point) => point.outcome.name(),
            GateCheck::Requirement(point) => point.outcome.name(),
        }
    }

    fn reason(&self) -> String {
        match self.check {
            GateCheck::Baseline(gate, point) if point.reason == PointReason::Objection => {
                let rules = gate.objections.iter().map(|own| own.rule().code());
                rules.collect::<Vec<_>>().join(" ")
            }
            GateCheck::Baseline(_, point) => point.reason.name().to_owned(),
            GateCheck::Requirement(point) => point.reason.name().to_owned(),
        }
    }
}

pub(crate) fn table<'a>() -> Table<'a, GateRow<'a>> {
    Table::<GateRow<'_>>::new("gate-rows")
        .field("gate", |r| r.result.outcome.name())
        .field("check", |r| r.check())
        .field("step", |r| Some(r.place()?.step.clone()))
        .field("system", |r| Some(r.place()?.system.clone()))
        .field("medium", |r| r.place()?.medium.clone())
        .field("job", |r| r.place()?.job.clone())
        .field("users", |r| Some(r.place()?.load.users))
        .field("offered_per_second", |r| r.place()?.load.offered_per_second)
        .field("share_percent", |r| r.place()?.load.share_percent)
        .field("scene", |r| Some(r.place()?.scene.name()))
        .field("figure", |r| r.figure())
        .field("value", |r| r.value())
        .interval_fields("value", |r| match r.check {
            GateCheck::Baseline(_, point) => point.ratio,
            GateCheck::Requirement(_) => None,
        })
        .field("limit", |r| r.limit())
        .field("outcome", |r| r.outcome())
        .field("reason", |r| r.reason())
}

pub fn gate_csv(result: &GateResult) -> String {
    let mut rows = Vec::new();
    if let Some(gate) = &result.baseline {
        rows.extend(gate.points.iter().map(|point| GateRow {
            result,
            check: GateCheck::Baseline(gate, point),
        }));
    }
    if let Some(required) = &result.requirements {
        rows.extend(required.points.iter().map(|point| GateRow {
            result,
            check: GateCheck::Requirement(point),
        }));
    }
    table().to_csv(rows)
}
