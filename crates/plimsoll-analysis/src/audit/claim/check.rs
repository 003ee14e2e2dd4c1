//! Checks beyond the shape of a claim: its names exist, and its numbers are possible.

use std::collections::BTreeSet;

use super::figure::figure_of;
use super::gather::value_of;
use super::{ClaimFigure, Method, PublishedClaim};
use crate::summary::FigureId;
use plimsoll_plan::Thresholds;
use plimsoll_plan::{PlanError, PlanErrors, duration};

/// More rows than any report has: a bound on what is read.
const MOST_ROWS: usize = 10_000;

pub(super) fn check(text: &str, claim: &PublishedClaim) -> Result<(), PlanErrors> {
    let mut faults = ClaimErrors {
        text,
        errors: Vec::new(),
    };
    let rows = claim.side.len()
        + claim.figure.len()
        + claim.comparison.len()
        + claim.sentence.len()
        + claim.duration.len();
    if rows > MOST_ROWS {
        faults.at(
            "",
            format!("{rows} rows are more than {MOST_ROWS}"),
            "split the claim",
        );
    }
    let sides: BTreeSet<&str> = claim.side.iter().map(|side| side.name.as_str()).collect();
    if sides.len() < claim.side.len() {
        faults.at(
            "[[side]]",
            "two sides have the same name".to_owned(),
            "give each a name of its own",
        );
    }
    models(claim, &sides, &mut faults);
    figures(claim, &sides, &mut faults);
    durations(claim, &mut faults);
    for name in claim
        .comparison
        .iter()
        .flat_map(|comparison| [&comparison.first, &comparison.second])
    {
        faults.side(&sides, name);
    }
    sentences(claim, &mut faults);
    for method in claim
        .side
        .iter()
        .map(|side| &side.method)
        .chain([&claim.method])
    {
        for (key, value) in method_numbers(method) {
            faults.plain(key, key, value);
        }
    }
    for threshold in claim
        .audit
        .as_ref()
        .map(Thresholds::list)
        .unwrap_or_default()
    {
        if !(threshold.least..=threshold.most).contains(&threshold.value) {
            let help = format!("{} to {} is possible", threshold.least, threshold.most);
            faults.at(
                threshold.key,
                format!("`{}` is {}", threshold.key, threshold.value),
                &help,
            );
        }
    }
    let errors = faults.errors;
    if errors.is_empty() {
        Ok(())
    } else {
        Err(PlanErrors(errors))
    }
}

struct ClaimErrors<'t> {
    text: &'t str,
    errors: Vec<PlanError>,
}

impl ClaimErrors<'_> {
    /// At the first place that has this name: reading kept none.
    fn at(&mut self, name: &str, message: String, help: &str) {
        let found = self.text.find(name).filter(|_| !name.is_empty());
        let span = found.map_or(0..0, |at| at..at + name.len());
        self.errors
            .push(PlanError::new(self.text, span, message).help(help));
    }

    fn side(&mut self, sides: &BTreeSet<&str>, name: &str) {
        if !sides.contains(name) {
            self.at(
                name,
                format!("no side is called `{name}`"),
                "name one of the [[side]] tables",
            );
        }
    }

    fn plain(&mut self, place: &str, key: &str, value: f64) {
        if !value.is_finite() || !(0.0..=1e18).contains(&value) {
            let of = if place == key {
                String::new()
            } else {
                format!(" of `{place}`")
            };
            self.at(
                place,
                format!("`{key}`{of} is {value}"),
                "it is a number from 0 to 1e18",
            );
        }
    }
}

/// A side may be like one that stands for itself.
fn models(claim: &PublishedClaim, sides: &BTreeSet<&str>, faults: &mut ClaimErrors<'_>) {
    for side in &claim.side {
        let Some(name) = &side.like else { continue };
        faults.side(sides, name);
        if claim
            .side
            .iter()
            .any(|model| model.name == *name && model.like.is_some())
        {
            let message = format!(
                "`like` of `{}` names `{name}`, which is like another side itself",
                side.name
            );
            faults.at(&side.name, message, "name a side that has no `like`");
        }
    }
}

fn durations(claim: &PublishedClaim, faults: &mut ClaimErrors<'_>) {
    for of in &claim.duration {
        let stated = of.stated.iter().map(|text| ("stated", text));
        let parts = of.parts.iter().map(|part| ("lasts", &part.lasts));
        for (key, text) in stated.chain(parts) {
            if let Err(why) = duration::parse(text) {
                faults.at(
                    &of.name,
                    format!("`{key}` of `{}`: {text:?} {why}", of.name),
                    "write it as `1h 30m`",
                );
            }
        }
    }
}

fn figures(claim: &PublishedClaim, sides: &BTreeSet<&str>, faults: &mut ClaimErrors<'_>) {
    let mut names: BTreeSet<(&str, &str)> = BTreeSet::new();
    for figure in &claim.figure {
        if !figure.side.is_empty() {
            faults.side(sides, &figure.side);
        }
        if figure.name.is_empty() || !names.insert((&figure.name, &figure.side)) {
            let message = format!(
                "two figures are called `{}`, or one is not called anything",
                figure.name
            );
            faults.at(
                &figure.name,
                message,
                "give each figure of a side a name of its own",
            );
        }
        for (key, value) in figure.numbers() {
            faults.plain(&figure.name, key, value);
        }
        // Falls are below 0.
        let slope = figure.stated(FigureId::SlopePercent);
        if let Some(slope) = slope.filter(|slope| !slope.is_finite()) {
            faults.plain(&figure.name, FigureId::SlopePercent.key(), slope);
        }
        ranges(figure, faults);
    }
}

fn ranges(figure: &ClaimFigure, faults: &mut ClaimErrors<'_>) {
    for (key, ends) in &figure.ranges {
        ends.iter()
            .for_each(|value| faults.plain(&figure.name, key, *value));
        if figure_of(key).is_none() {
            let message = format!(
                "`ranges` of `{}` has `{key}`, which is no key of a figure",
                figure.name
            );
            faults.at(
                &figure.name,
                message,
                "use a key of figures, such as `p99_ms`",
            );
        }
    }
}

fn sentences(claim: &PublishedClaim, faults: &mut ClaimErrors<'_>) {
    for sentence in &claim.sentence {
        let names = sentence.of.iter().chain(&sentence.than);
        for name in names.filter(|name| value_of(claim, name).is_none()) {
            let help = "write the figure's name, with `, side` where several sides have it, and its key: \
                        \"89 users, NVMe: tpm\"";
            faults.at(name, format!("there is no figure `{name}`"), help);
        }
        if !sentence.value.is_finite() || sentence.value <= 0.0 {
            faults.at(
                &sentence.text,
                format!("the sentence states {}", sentence.value),
                "write a number above 0",
            );
        }
    }
}

fn method_numbers(method: &Method) -> impl Iterator<Item = (&'static str, f64)> {
    let stated = method.numbers.iter().map(|(figure, value)| match figure {
        // It may have become slower.
        FigureId::CalibrationOffPercent => (figure.key(), value.abs()),
        _ => (figure.key(), *value),
    });
    let maintenance = method.maintenance.values();
    stated.chain(maintenance.map(|value| ("maintenance", *value)))
}
