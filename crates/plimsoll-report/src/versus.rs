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

use crate::load_summary;
use crate::message::Messages;
use crate::number::{NONE, percent, three, whole};

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
    let load = load_summary::load(
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

/// Ids of the columns of rates without `versus-column-`.
pub(crate) const RATES: [&str; 8] = [
    "load", "first", "second", "ratio", "interval", "p", "delta", "rests",
];
/// And of response times.
pub(crate) const LATENCIES: [&str; 7] = [
    "load",
    "quantile",
    "first-ms",
    "second-ms",
    "ratio",
    "interval",
    "difference",
];

pub(crate) fn rate_row(m: &Messages, point: &PointComparison) -> [String; 8] {
    let shown = |rate: Option<f64>| match point.figure {
        Figure::Nopm => crate::number::or_none(rate, whole),
        _ => crate::number::or_none(rate, three),
    };
    let rounded = point.ratio.map(RoundedRatio::of);
    [
        place(m, &point.place, Some(&point.second_place)),
        shown(point.first.rate),
        shown(point.second.rate),
        rounded.map_or_else(|| NONE.to_owned(), |rounded| rounded.ratio_text()),
        rounded.zip(point.interval).map_or_else(
            || NONE.to_owned(),
            |(rounded, interval)| range(m, interval, &rounded),
        ),
        point
            .ranks
            .map_or_else(|| NONE.to_owned(), |ranks| three(ranks.p)),
        point
            .ranks
            .map_or_else(|| NONE.to_owned(), |ranks| three(ranks.cliffs_delta)),
        method(m, point),
    ]
}

pub(crate) fn latency_row(
    m: &Messages,
    point: &PointComparison,
    latency: &ComparedLatency,
) -> [String; 7] {
    let ComparedLatency {
        quantile,
        first_ms,
        second_ms,
        ratio,
        difference_ms,
        effect: _,
    } = latency;
    let rounded = RoundedRatio::of(second_ms / first_ms);
    let difference = |interval: Interval| {
        let args = [("low", three(interval.low)), ("high", three(interval.high))];
        format!(
            "{} ({})",
            three(interval.mean),
            m.text_with("versus-range", &args)
        )
    };
    [
        place(m, &point.place, Some(&point.second_place)),
        format!("p{}", three_or_whole(quantile * 100.0)),
        three(*first_ms),
        three(*second_ms),
        if *first_ms > 0.0 {
            rounded.ratio_text()
        } else {
            NONE.to_owned()
        },
        ratio.map_or_else(|| NONE.to_owned(), |interval| range(m, interval, &rounded)),
        difference_ms.map_or_else(|| NONE.to_owned(), difference),
    ]
}

fn three_or_whole(value: f64) -> String {
    if (value - value.round()).abs() < 1e-9 {
        whole(value)
    } else {
        three(value)
    }
}

/// Differences as rows: groups that are factors first, then what differs by itself.
pub(crate) struct DifferenceRows {
    pub shown: Vec<Vec<String>>,
    /// Differences known of one side only: the other was imported, and a tool's output has little about its machine.
    pub folded: Vec<Vec<String>>,
    /// How much that is, in words.
    pub summary: String,
}

pub(crate) fn difference_rows(
    m: &Messages,
    names: (&str, &str),
    differences: &[Difference],
) -> DifferenceRows {
    let imported = |side: fn(&Difference) -> &Option<String>| {
        differences
            .iter()
            .any(|found| found.key == TOOL_FACT && side(found).is_some())
    };
    let (first, second) = (
        imported(|found| &found.first),
        imported(|found| &found.second),
    );
    let is_folded = |found: &Difference| match (&found.first, &found.second) {
        (None, Some(_)) => first && !second,
        (Some(_), None) => second && !first,
        _ => false,
    };
    let (folded, shown): (Vec<_>, Vec<_>) = differences.iter().cloned().partition(is_folded);
    let teller = if first { names.1 } else { names.0 };
    let summary = m.text_with(
        "versus-folded",
        &[
            ("n", whole(folded.len() as f64)),
            ("side", teller.to_owned()),
        ],
    );
    DifferenceRows {
        shown: rows_of(m, &shown),
        folded: rows_of(m, &folded),
        summary,
    }
}

fn rows_of(m: &Messages, differences: &[Difference]) -> Vec<Vec<String>> {
    let shown = |value: &Option<String>| {
        let text = value.as_deref().unwrap_or(NONE);
        let line: String = text
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(60)
            .collect();
        if line.len() < text.len() {
            format!("{line}…")
        } else {
            line
        }
    };
    let row = |found: &Difference| {
        let about = if found.of.is_empty() {
            found.key.clone()
        } else {
            format!("{}: {}", found.of, found.key)
        };
        vec![
            group(m, found.group),
            about,
            shown(&found.first),
            shown(&found.second),
        ]
    };
    differences.iter().map(row).collect()
}

pub(crate) const DIFFERENCES: [&str; 4] = ["group", "what", "first", "second"];

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
