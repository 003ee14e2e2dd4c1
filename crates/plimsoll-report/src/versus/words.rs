//! What sentences and tables of a comparison have in common.

use plimsoll_analysis::compare::{
    Against, Difference, Factor, Group, IntervalBasis, NotComparable, PointComparison,
    RoundedRatio, RunComparison,
};
use plimsoll_analysis::summary::{FigureId, Interval, Ratio, Verdict};
use plimsoll_plan::Interference;
use plimsoll_record::{LoadKey, SIMULATED_FACT};

use crate::message::{Messages, unit_id};
use crate::number::{self, NONE, three};

/// Names of two sides: what people see of them.
#[derive(Clone, Copy)]
pub(super) struct SideNames<'a> {
    pub first: &'a str,
    pub second: &'a str,
}

impl<'a> SideNames<'a> {
    pub fn of(comparison: &'a RunComparison, against: &Against) -> Self {
        Self {
            first: label(comparison, 0),
            second: label(comparison, against.side),
        }
    }

    /// For messages about both.
    pub fn args(self) -> [(&'static str, String); 2] {
        [
            ("first", self.first.to_owned()),
            ("second", self.second.to_owned()),
        ]
    }
}

fn label(comparison: &RunComparison, place: usize) -> &str {
    comparison.sides.get(place).map_or("", |side| &side.label)
}

/// Which load: `oltp, db on nvme, 4 users`; the second medium with it where it is called otherwise.
pub(crate) fn place(m: &Messages, place: &LoadKey, other: Option<&LoadKey>) -> String {
    let mut parts = vec![place.step.clone()];
    parts.extend(place.job.clone());
    let medium = match (&place.medium, other.and_then(|other| other.medium.as_ref())) {
        (Some(own), Some(other)) if own != other => Some(format!("{own} / {other}")),
        (Some(own), _) => Some(own.clone()),
        (None, other) => other.cloned(),
    };
    parts.extend(medium);
    parts.push(load(m, place));
    if place.scene != Interference::Alone {
        parts.push(m.text(&format!("versus-scene-{}", place.scene.name())));
    }
    parts.join(", ")
}

fn load(m: &Messages, of: &LoadKey) -> String {
    let load = of.load;
    let text = number::load(load);
    match (load.share_percent, load.offered_per_second) {
        (Some(share), _) => m.text_with("versus-share", &[("share", three(share))]),
        (None, Some(_)) => m.text_with("load-open", &[("rate", text)]),
        (None, None) if load.users == 0 => m.text("load-unknown"),
        (None, None) if of.job.is_some() => m.text_with("versus-in-flight", &[("n", text)]),
        (None, None) if load.users == 1 => m.text("load-one"),
        (None, None) => m.text_with("load-closed", &[("users", text)]),
    }
}

pub(super) fn place_of(m: &Messages, point: &PointComparison) -> String {
    place(m, &point.place, Some(&point.second_place))
}

pub(super) fn unit(m: &Messages, figure: FigureId) -> String {
    m.text(&unit_id("versus-unit", &figure))
}

/// `0.98 to 1.01`, with the digits of the ratio.
pub(super) fn range(m: &Messages, interval: Interval, ratio: &RoundedRatio) -> String {
    let ends = [
        ("low", ratio.like(interval.low)),
        ("high", ratio.like(interval.high)),
    ];
    m.text_with("versus-range", &ends)
}

/// The sentence on one load's rate.
pub(super) fn sentence(
    m: &Messages,
    sides: SideNames<'_>,
    ask: f64,
    point: &PointComparison,
) -> String {
    let unlike = unlike(point);
    let why = why(m, sides, point);
    let Some(Ratio { ratio, interval }) = point.rate.ratio else {
        return match point.method {
            IntervalBasis::None {
                because: NotComparable::Unlike,
            } => m.text_with("versus-unlike", &[("differs", unlike)]),
            _ => m.text_with("versus-not-judged", &[("why", why)]),
        };
    };
    let rounded = RoundedRatio::of(ratio);
    let way = m.text(if rounded.more {
        "versus-more"
    } else {
        "versus-less"
    });
    let mut args = vec![
        ("first", sides.first.to_owned()),
        ("second", sides.second.to_owned()),
        ("ratio", rounded.ratio_text()),
        ("percent", rounded.percent_text()),
        ("way", way),
        ("unit", unit(m, point.rate.figure)),
        ("minimum", three(ask * 100.0)),
        ("why", why),
    ];
    if let Some(interval) = interval {
        args.push(("range", range(m, interval, &rounded)));
    }
    let id = match point.method {
        IntervalBasis::Windows => "versus-one-window".to_owned(),
        _ => format!("versus-effect-{}", point.rate.effect.name()),
    };
    let sentence = m.text_with(&id, &args);
    if unlike.is_empty() {
        sentence
    } else {
        let anyway = m.text_with("versus-anyway", &[("differs", unlike)]);
        format!("{sentence} {anyway}")
    }
}

/// What makes the loads ones of different workloads: `bs: 4k, 64k; rw: randread, write`.
pub(super) fn unlike(point: &PointComparison) -> String {
    let all: Vec<String> = point.unlike.iter().map(both_values).collect();
    all.join("; ")
}

fn both_values(found: &Difference) -> String {
    let first = found.first.as_deref().unwrap_or(NONE);
    let second = found.second.as_deref().unwrap_or(NONE);
    format!("{}: {first}, {second}", found.key)
}

/// Why there is no interval; else empty.
fn why(m: &Messages, sides: SideNames<'_>, point: &PointComparison) -> String {
    match point.method {
        IntervalBasis::None { because } => why_not(m, sides, point, because),
        _ => String::new(),
    }
}

pub(super) fn why_not(
    m: &Messages,
    sides: SideNames<'_>,
    point: &PointComparison,
    because: NotComparable,
) -> String {
    let invalid = [
        (sides.first, point.first.verdict),
        (sides.second, point.second.verdict),
    ];
    let invalid = invalid
        .iter()
        .filter(|(_, verdict)| *verdict == Verdict::Invalid);
    let invalid: Vec<&str> = invalid.map(|(side, _)| *side).collect();
    m.text(match because {
        NotComparable::Invalid if invalid.len() == 1 => {
            return m.text_with("versus-why-invalid", &[("side", invalid[0].to_owned())]);
        }
        NotComparable::Invalid => "versus-why-both-invalid",
        NotComparable::Unlike => "versus-why-unlike",
        NotComparable::Speeds => "versus-why-speeds",
        NotComparable::Nothing => "versus-why-nothing",
        NotComparable::ShortWindow => "versus-why-short",
        NotComparable::FewIntervals => "versus-why-few-intervals",
        NotComparable::Correlated => "versus-why-correlated",
    })
}

/// That one side is simulated and the other one is not.
pub(super) fn simulated(m: &Messages, sides: SideNames<'_>, against: &Against) -> Option<String> {
    let mut differences = against.differences.iter();
    let difference = differences.find(|difference| difference.key == SIMULATED_FACT)?;
    let (simulated, other) = match difference.first {
        Some(_) => (sides.first, sides.second),
        None => (sides.second, sides.first),
    };
    let args = [
        ("simulated", simulated.to_owned()),
        ("other", other.to_owned()),
    ];
    Some(m.text_with("versus-simulated", &args))
}

/// That several things differ, so that none of them is shown to be the cause; else nothing.
pub(super) fn cause(m: &Messages, against: &Against) -> Option<String> {
    let names = against.factors.iter().flat_map(|factor| &factor.names);
    let n = names.count();
    let has_ratio = against
        .points
        .iter()
        .any(|point| point.rate.ratio.is_some());
    if n < 2 || !has_ratio {
        return None;
    }
    Some(match against.factors.as_slice() {
        [only] if only.group == Group::Settings => m.text_with(
            "versus-cause-settings",
            &[("n", n.to_string()), ("names", few(&only.names))],
        ),
        all => m.text_with("versus-cause", &[("what", factor_list(m, all))]),
    })
}

/// `settings (commit_delay, commit_siblings), CPUs (cpu_model)`.
pub(super) fn factor_list(m: &Messages, factors: &[Factor]) -> String {
    let factors = factors.iter();
    let all: Vec<String> = factors
        .map(|own| {
            let group = group(m, own.group);
            match own.names.as_slice() {
                [only] if *only == group => group,
                names => format!("{group} ({})", few(names)),
            }
        })
        .collect();
    all.join(", ")
}

/// At most five names.
fn few(names: &[String]) -> String {
    let shown = names[..names.len().min(5)].join(", ");
    let more = if names.len() > 5 { ", …" } else { "" };
    shown + more
}

/// What the interval rests on.
pub(super) fn method(m: &Messages, point: &PointComparison) -> String {
    match point.method {
        IntervalBasis::Repeats => m.text_with(
            "versus-by-repeats",
            &[
                ("first", point.first.repeats.to_string()),
                ("second", point.second.repeats.to_string()),
            ],
        ),
        IntervalBasis::Windows => m.text("versus-by-windows"),
        IntervalBasis::None { .. } => NONE.to_owned(),
    }
}

pub(super) fn group(m: &Messages, group: Group) -> String {
    m.text(&format!("versus-group-{}", group.name()))
}
