//! Runs side by side, in words and tables: every sentence follows from the figures beside it.

mod export;
mod html;
mod svg;
#[cfg(test)]
mod tests;
mod text;

use plimsoll_analysis::audit::Evidence;
use plimsoll_analysis::compare::{
    Against, ComparedLatency, Difference, Effect, Figure, Group, LoadKey, Mark, Method,
    NotComparable, PointComparison, RoundedRatio, RunComparison,
};
use plimsoll_analysis::summary::Interval;
use plimsoll_record::import_facts::TOOL_FACT;

pub use export::comparison_csv;
pub use html::comparison_page;
pub use text::{comparison_text, gate_text};

use crate::message::Messages;
use crate::number::{self, NONE, percent, three, whole};
use crate::table::Table;
use crate::table::Unit::{Plain, Sentences, Three, Words};

/// Names of the sides: what people see of them.
pub(crate) fn names<'a>(comparison: &'a RunComparison, against: &Against) -> (&'a str, &'a str) {
    let label = |i: usize| {
        comparison
            .sides
            .get(i)
            .map_or("", |side| side.label.as_str())
    };
    (label(0), label(against.side))
}

/// Which load: `oltp, db on nvme, 4 users`; the second medium with it where it is called otherwise.
pub(crate) fn place(m: &Messages, place: &LoadKey, other: Option<&LoadKey>) -> String {
    let mut parts = vec![place.step.clone()];
    parts.extend(place.load.job.clone());
    let medium = match (&place.medium, other.and_then(|other| other.medium.as_ref())) {
        (Some(own), Some(other)) if own != other => Some(format!("{own} / {other}")),
        (Some(own), _) => Some(own.clone()),
        (None, other) => other.cloned(),
    };
    parts.extend(medium);
    let load = number::load(
        place.load.users,
        place.load.offered_per_second,
        place.load.offered_to_per_second,
    );
    parts.push(
        match (place.load.share_percent, place.load.offered_per_second) {
            (Some(share), _) => m.text_with("versus-share", &[("share", three(share))]),
            (None, Some(_)) => m.text_with("load-open", &[("rate", load)]),
            (None, None) if place.load.job.is_some() => {
                m.text_with("versus-in-flight", &[("n", load)])
            }
            (None, None) if place.load.users == 1 => m.text("load-one"),
            (None, None) => m.text_with("load-closed", &[("users", load)]),
        },
    );
    if place.scene != plimsoll_plan::Interference::Alone {
        parts.push(m.text(&format!("versus-scene-{}", place.scene.name())));
    }
    parts.join(", ")
}

fn unit(m: &Messages, figure: Figure) -> String {
    m.text(&format!("versus-unit-{}", figure.name()))
}

/// `0.98 to 1.01`, with the digits of the ratio.
fn range(m: &Messages, interval: Interval, ratio: &RoundedRatio) -> String {
    m.text_with(
        "versus-range",
        &[
            ("low", ratio.like(interval.low)),
            ("high", ratio.like(interval.high)),
        ],
    )
}

/// The sentence on one load's rate.
pub(crate) fn sentence(
    m: &Messages,
    names: (&str, &str),
    ask: f64,
    point: &PointComparison,
) -> String {
    let unlike = unlike(point);
    let Some(ratio) = point.ratio else {
        return match point.method {
            Method::None {
                because: NotComparable::Unlike,
            } => m.text_with("versus-unlike", &[("differs", unlike)]),
            _ => m.text_with("versus-not-judged", &[("why", why(m, point))]),
        };
    };
    let rounded = RoundedRatio::of(ratio);
    let way = m.text(if rounded.more {
        "versus-more"
    } else {
        "versus-less"
    });
    let mut args = vec![
        ("first", names.0.to_owned()),
        ("second", names.1.to_owned()),
        ("ratio", rounded.ratio_text()),
        ("percent", rounded.percent_text()),
        ("way", way),
        ("unit", unit(m, point.figure)),
        ("minimum", three(ask * 100.0)),
        ("why", why(m, point)),
    ];
    args.extend(
        point
            .interval
            .map(|interval| ("range", range(m, interval, &rounded))),
    );
    let sentence = m.text_with(&format!("versus-effect-{}", point.effect.name()), &args);
    if unlike.is_empty() {
        sentence
    } else {
        format!(
            "{sentence} {}",
            m.text_with("versus-anyway", &[("differs", unlike)])
        )
    }
}

/// What makes the loads ones of different workloads: `bs: 4k, 64k; rw: randread, write`.
fn unlike(point: &PointComparison) -> String {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| NONE.to_owned());
    let one = |found: &Difference| {
        format!(
            "{}: {}, {}",
            found.key,
            value(&found.first),
            value(&found.second)
        )
    };
    point.unlike.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn why(m: &Messages, point: &PointComparison) -> String {
    let Method::None { because } = point.method else {
        return String::new();
    };
    m.text(match because {
        NotComparable::Invalid => "versus-why-invalid",
        NotComparable::Unlike => "versus-why-unlike",
        NotComparable::Nothing => "versus-why-nothing",
        NotComparable::ShortWindow => "versus-why-short",
        NotComparable::Correlated => "versus-why-correlated",
    })
}

/// What the interval rests on.
fn method(m: &Messages, point: &PointComparison) -> String {
    match point.method {
        Method::Repeats => m.text_with(
            "versus-by-repeats",
            &[
                ("first", point.first.repeats.to_string()),
                ("second", point.second.repeats.to_string()),
            ],
        ),
        Method::Windows => m.text("versus-by-windows"),
        Method::None { .. } => NONE.to_owned(),
    }
}

/// A row for each load.
pub(crate) fn rates(m: &Messages) -> Table<'_, &PointComparison> {
    Table::<&PointComparison>::with_prefix("versus-column-")
        .column("load", Words, |own| {
            place(m, &own.place, Some(&own.second_place))
        })
        .column("first", Plain, |own| rate(own.figure, own.first.rate))
        .column("second", Plain, |own| rate(own.figure, own.second.rate))
        .column("ratio", Plain, |own| {
            Some(RoundedRatio::of(own.ratio?).ratio_text())
        })
        .column("interval", Plain, |own| {
            Some(range(m, own.interval?, &RoundedRatio::of(own.ratio?)))
        })
        .column("p", Three, |own| own.ranks.map(|ranks| ranks.p))
        .column("delta", Three, |own| {
            own.ranks.map(|ranks| ranks.cliffs_delta)
        })
        .column("rests", Words, |own| method(m, own))
}

fn rate(figure: Figure, rate: Option<f64>) -> Option<String> {
    rate.map(if figure == Figure::Nopm { whole } else { three })
}

/// A quantile of the response times of one load.
pub(crate) struct LatencyRow<'a> {
    point: &'a PointComparison,
    own: &'a ComparedLatency,
}

pub(crate) fn latency_rows(points: &[PointComparison]) -> Vec<LatencyRow<'_>> {
    let mut rows = Vec::new();
    for point in points {
        let latencies = point.latencies.iter();
        rows.extend(latencies.map(|own| LatencyRow { point, own }));
    }
    rows
}

pub(crate) fn latencies(m: &Messages) -> Table<'_, LatencyRow<'_>> {
    let rounded = |r: &LatencyRow<'_>| RoundedRatio::of(r.own.second_ms / r.own.first_ms);
    Table::<LatencyRow<'_>>::with_prefix("versus-column-")
        .column("load", Words, |r| {
            place(m, &r.point.place, Some(&r.point.second_place))
        })
        .column("quantile", Plain, |r| {
            format!("p{}", three_or_whole(r.own.quantile * 100.0))
        })
        .column("first-ms", Three, |r| r.own.first_ms)
        .column("second-ms", Three, |r| r.own.second_ms)
        .column("ratio", Plain, move |r| {
            (r.own.first_ms > 0.0).then(|| rounded(r).ratio_text())
        })
        .column("interval", Plain, move |r| {
            r.own.ratio.map(|interval| range(m, interval, &rounded(r)))
        })
        .column("difference", Plain, |r| {
            let own = r.own.difference_ms?;
            let ends = [("low", three(own.low)), ("high", three(own.high))];
            let range = m.text_with("versus-range", &ends);
            Some(format!("{} ({range})", three(own.mean)))
        })
}

fn three_or_whole(value: f64) -> String {
    if (value - value.round()).abs() < 1e-9 {
        whole(value)
    } else {
        three(value)
    }
}

/// Differences: groups that are factors first, then what differs by itself.
pub(crate) struct Differences<'a> {
    pub shown: Vec<&'a Difference>,
    /// Differences known of one side only: the other was imported, and a tool's output has little about its machine.
    pub folded: Vec<&'a Difference>,
    /// How much that is, in words.
    pub summary: String,
}

pub(crate) fn differences_of<'a>(
    m: &Messages,
    names: (&str, &str),
    differences: &'a [Difference],
) -> Differences<'a> {
    let is_tool = |found: &&Difference| found.key == TOOL_FACT;
    let mut tools = differences.iter().filter(is_tool);
    let first = tools.clone().any(|found| found.first.is_some());
    let second = tools.any(|found| found.second.is_some());
    let is_folded = |found: &&Difference| match (&found.first, &found.second) {
        (None, Some(_)) => first && !second,
        (Some(_), None) => second && !first,
        _ => false,
    };
    let (folded, shown): (Vec<_>, Vec<_>) = differences.iter().partition(is_folded);
    let known = if first { names.1 } else { names.0 };
    let args = [
        ("n", whole(folded.len() as f64)),
        ("side", known.to_owned()),
    ];
    Differences {
        shown,
        folded,
        summary: m.text_with("versus-folded", &args),
    }
}

pub(crate) fn differences(m: &Messages) -> Table<'_, &Difference> {
    Table::<&Difference>::with_prefix("versus-column-")
        .column("group", Words, |found| group(m, found.group))
        .column("what", Sentences, |found| match found.of.as_str() {
            "" => found.key.clone(),
            of => format!("{of}: {}", found.key),
        })
        .column("first", Sentences, |found| {
            first_line(found.first.as_deref()?)
        })
        .column("second", Sentences, |found| {
            first_line(found.second.as_deref()?)
        })
}

/// What of a value fits a cell.
fn first_line(text: &str) -> Option<String> {
    let line = text.lines().next().unwrap_or_default();
    let line: String = line.chars().take(60).collect();
    let more = if line.len() < text.len() { "…" } else { "" };
    Some(line + more)
}

fn group(m: &Messages, group: Group) -> String {
    m.text(&format!("versus-group-{}", group.name()))
}

/// A rule that the comparison breaks.
pub(crate) fn mark(m: &Messages, mark: &Mark) -> String {
    let groups = |names: &str| {
        let known =
            |name: &str| Group::parse(name).map_or_else(|| name.to_owned(), |own| group(m, own));
        names
            .split(", ")
            .filter(|name| !name.is_empty())
            .map(known)
            .collect::<Vec<_>>()
            .join(", ")
    };
    let text = match &mark.evidence {
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
        Evidence::Factors { factor, differs } if factor.is_empty() => {
            m.text_with("versus-mark-factors", &[("differs", groups(differs))])
        }
        Evidence::Factors { factor, differs } => m.text_with(
            "versus-mark-beside",
            &[("factor", groups(factor)), ("differs", groups(differs))],
        ),
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
    };
    m.text_with(
        "versus-mark",
        &[("rule", mark.rule.code().to_owned()), ("text", text)],
    )
}

/// Loads that have no partner.
pub(crate) fn alone(m: &Messages, names: (&str, &str), against: &Against) -> Vec<String> {
    let describe = |side: &str, places: &[LoadKey]| {
        let all: Vec<String> = places.iter().map(|own| place(m, own, None)).collect();
        let args = [("side", side.to_owned()), ("loads", all.join("; "))];
        (!all.is_empty()).then(|| m.text_with("versus-alone", &args))
    };
    [
        describe(names.0, &against.only_first),
        describe(names.1, &against.only_second),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// That the comparison must not be quoted; else nothing.
pub(crate) fn forbidden(m: &Messages, against: &Against) -> Option<String> {
    let severity = plimsoll_record::Severity::Error;
    let mut rules: Vec<&str> = against
        .marks
        .iter()
        .filter(|mark| mark.severity == severity)
        .map(|mark| mark.rule.code())
        .collect();
    rules.dedup();
    (!rules.is_empty()).then(|| m.text_with("versus-forbidden", &[("rules", rules.join(", "))]))
}

/// The number of equal loads that would differ by chance, where there are many.
pub(crate) fn by_chance(m: &Messages, against: &Against) -> Option<String> {
    let evaluated = against
        .points
        .iter()
        .filter(|point| point.effect != Effect::NotEvaluated)
        .count();
    let args = [
        ("loads", evaluated.to_string()),
        ("chance", three(evaluated as f64 / 20.0)),
    ];
    (evaluated >= 10).then(|| m.text_with("versus-chance", &args))
}
