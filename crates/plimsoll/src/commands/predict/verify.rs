//! `plimsoll predict --verify`: predictions whose answers were measured.

use plimsoll_analysis::predict::{PredictedChange, verified};
use plimsoll_analysis::summary::Interval;
use plimsoll_report::message::Messages;
use plimsoll_report::table::Table;
use plimsoll_report::table::Unit::{Decimals, Whole, Words};

use super::source::{ModelledDrive, SourcePoint, Sources, change};
use crate::cli::Format;
use crate::commands::table::with_note;
use crate::failure::Failure;

/// A prediction and what was measured.
pub struct VerifiedCase {
    from: String,
    to: String,
    users: u32,
    change: PredictedChange,
    measured: f64,
    predicted: f64,
    interval: Option<Interval>,
    /// Of the model before its correction.
    model: f64,
}

impl VerifiedCase {
    fn error_percent(&self) -> f64 {
        (self.predicted / self.measured - 1.0) * 100.0
    }

    fn is_held(&self) -> bool {
        self.interval
            .is_some_and(|own| (own.low..=own.high).contains(&self.measured))
    }

    fn log_error(&self) -> f64 {
        (self.predicted / self.measured).ln()
    }
}

pub(super) fn verify(sources: &Sources, format: Format) -> Result<String, Failure> {
    let mut cases = Vec::new();
    for from in &sources.points {
        let others = sources.points.iter().filter(|to| is_case(from, to));
        cases.extend(others.filter_map(|to| case(from, to)));
    }
    if cases.is_empty() {
        return Err(Failure::run(
            "no two points differ by their drive only\nName runs of one plan on several drives.",
        ));
    }
    let note = summary(&cases);
    Ok(with_note(&table(), cases, format, &note))
}

/// Whether they differ by the drive only.
fn is_case(from: &SourcePoint, to: &SourcePoint) -> bool {
    let (a, b) = (&from.demand, &to.demand);
    let same = (a.engine, &a.mode, a.users, a.warehouses, a.memory)
        == (b.engine, &b.mode, b.users, b.warehouses, b.memory);
    same && a.processors == b.processors && from.spec != to.spec
}

fn case(from: &SourcePoint, to: &SourcePoint) -> Option<VerifiedCase> {
    let drives = [from, to].map(|point| ModelledDrive::like(&point.spec, &from.demand));
    let change = change(&from.spec, &to.spec);
    let prediction = verified(&from.demand, change, &drives[0], &drives[1]).ok()?;
    Some(VerifiedCase {
        from: from.demand.medium.clone(),
        to: to.demand.medium.clone(),
        users: from.demand.users,
        change,
        measured: to.demand.per_second,
        predicted: prediction.per_second,
        interval: prediction.interval,
        model: prediction.model_per_second,
    })
}

pub fn table() -> Table<'static, VerifiedCase> {
    Table::<VerifiedCase>::new("verified")
        .prefix("verified-")
        .column("from", Words, |own| own.from.clone())
        .column("to", Words, |own| own.to.clone())
        .column("users", Whole, |own| f64::from(own.users))
        .column("change", Words, |own| own.change.name())
        .column("measured", Decimals(1), |own| own.measured)
        .column("predicted", Decimals(1), |own| own.predicted)
        .column("error-percent", Decimals(1), VerifiedCase::error_percent)
        .interval_fields("predicted", |own| own.interval)
        .field("model", |own| own.model)
        .with_keys()
        .with_long_headings()
}

/// One line for each kind of change.
fn summary(cases: &[VerifiedCase]) -> String {
    let changes = [
        PredictedChange::FullSpeed,
        PredictedChange::OtherDrive,
        PredictedChange::Array,
    ];
    let lines = changes.into_iter().filter_map(|change| {
        let own: Vec<&VerifiedCase> = cases.iter().filter(|own| own.change == change).collect();
        summary_line(change, &own)
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn summary_line(change: PredictedChange, cases: &[&VerifiedCase]) -> Option<String> {
    let mut errors: Vec<f64> = cases.iter().map(|own| own.error_percent().abs()).collect();
    errors.sort_by(f64::total_cmp);
    let worst = errors.last()?;
    let n = cases.len() as f64;
    let squares: f64 = cases.iter().map(|own| own.log_error().powi(2)).sum();
    let at = |share: f64| errors[((n * share).ceil() as usize).clamp(1, errors.len()) - 1];
    let held = cases.iter().filter(|own| own.is_held()).count();
    let args = [
        ("change", change.name().to_owned()),
        ("cases", cases.len().to_string()),
        ("median", format!("{:.1}", at(0.5))),
        ("most", format!("{:.1}", at(0.9))),
        ("worst", format!("{worst:.1}")),
        ("held", format!("{:.0}", held as f64 / n * 100.0)),
        ("error", format!("{:.3}", (squares / n).sqrt())),
    ];
    Some(Messages::english().text_with("verified-summary", &args))
}
