//! What stands beside the figures of a comparison: rules that it breaks, loads without a partner.

use plimsoll_analysis::audit::Evidence;
use plimsoll_analysis::compare::{Against, Effect, Group, Mark};
use plimsoll_record::Severity;

use super::words::{SideNames, group, place};
use crate::finding_view::FindingView;
use crate::message::Messages;
use crate::number::{percent, three};

/// Each rule that the comparison breaks.
pub(super) fn marks(m: &Messages, against: &Against) -> Vec<FindingView> {
    let marks = against.marks.iter();
    marks
        .map(|mark| FindingView::new(m, mark.severity, String::new(), mark_text(m, mark)))
        .collect()
}

/// Names of groups, in words.
fn groups(m: &Messages, names: &str) -> String {
    let names = names.split(", ").filter(|name| !name.is_empty());
    let names = names.map(|name| match Group::parse(name) {
        Some(own) => group(m, own),
        None => name.to_owned(),
    });
    names.collect::<Vec<_>>().join(", ")
}

/// A rule that the comparison breaks, with its code.
fn mark_text(m: &Messages, mark: &Mark) -> String {
    let args = [
        ("rule", mark.rule.code().to_owned()),
        ("text", why(m, mark)),
    ];
    m.text_with("versus-mark", &args)
}

/// Why a rule fired, and what to do.
pub(super) fn why(m: &Messages, mark: &Mark) -> String {
    match &mark.evidence {
        Evidence::GeneratorsAt { first, second } => m.text_with(
            "versus-mark-generator",
            &[("first", first.clone()), ("second", second.clone())],
        ),
        Evidence::SettingsDiffer {
            setting,
            first,
            second,
        } => {
            let args = [
                ("setting", setting.clone()),
                ("first", first.clone()),
                ("second", second.clone()),
            ];
            m.text_with("versus-mark-durable", &args)
        }
        Evidence::Factors { factor, differs } => {
            let args = [
                ("factor", groups(m, factor)),
                ("differs", groups(m, differs)),
            ];
            m.text_with("versus-mark-beside", &args)
        }
        Evidence::Victims { first, second, .. } => m.text_with(
            "versus-mark-victims",
            &[("first", first.to_string()), ("second", second.to_string())],
        ),
        Evidence::Repeats {
            first,
            second,
            fewest,
        } => {
            let args = [
                ("first", first.to_string()),
                ("second", second.to_string()),
                ("fewest", fewest.to_string()),
            ];
            m.text_with("versus-mark-repeats", &args)
        }
        Evidence::RepeatSpread {
            spread_percent,
            effect_percent,
        } => {
            let args = [
                ("spread", percent(*spread_percent)),
                ("effect", percent(effect_percent.abs())),
            ];
            m.text_with("versus-mark-spread", &args)
        }
        _ => String::new(),
    }
}

/// Loads that have no partner.
pub(super) fn alone(m: &Messages, sides: SideNames<'_>, against: &Against) -> Vec<String> {
    let mut lines = Vec::new();
    for (side, places) in [
        (sides.first, &against.only_first),
        (sides.second, &against.only_second),
    ] {
        let all: Vec<String> = places.iter().map(|own| place(m, own, None)).collect();
        let args = [("side", side.to_owned()), ("loads", all.join("; "))];
        if !all.is_empty() {
            lines.push(m.text_with("versus-alone", &args));
        }
    }
    lines
}

/// Why the ratios must not be quoted; else nothing.
pub(super) fn forbidden(m: &Messages, against: &Against) -> Option<String> {
    let mut points = against.points.iter();
    let mut errors = against.marks.iter();
    let error = errors.find(|mark| mark.severity == Severity::Error)?;
    let has_ratio = points.any(|point| point.rate.ratio.is_some());
    has_ratio.then(|| m.text_with("versus-forbidden", &[("why", why(m, error))]))
}

/// The number of equal loads that would differ by chance, where there are many.
pub(super) fn by_chance(m: &Messages, against: &Against) -> Option<String> {
    let points = against.points.iter();
    let evaluated = points.filter(|point| point.rate.effect != Effect::NotEvaluated);
    let evaluated = evaluated.count();
    let args = [
        ("loads", evaluated.to_string()),
        ("chance", three(evaluated as f64 / 20.0)),
    ];
    (evaluated >= 10).then(|| m.text_with("versus-chance", &args))
}
