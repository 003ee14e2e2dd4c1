//! The points that findings of one kind are about: "3 of 9 points (oltp: db@nvme, 1 to 16 users)".

use std::collections::BTreeSet;

use crate::message::Messages;
use crate::number::three;

/// One point, as a set names it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SetPoint {
    pub step: String,
    /// The system; of block I/O the medium.
    pub on: String,
    /// The job of block I/O.
    pub job: Option<String>,
    pub load: PointLoad,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum PointLoad {
    Users(u32),
    InFlight(u32),
    PerSecond(f64),
    /// Not stated, or not worth naming.
    Unnamed,
}

/// Names that are listed; of more, only the first ones and how many follow.
const MAX_NAMES: usize = 3;

/// `points` of `total`.
pub(crate) fn describe(m: &Messages, points: &[SetPoint], total: usize) -> String {
    let steps = distinct(points, |point| Some(&point.step));
    let mut parts = vec![list(m, &steps)];
    let jobs = distinct(points, |point| point.job.as_deref());
    if !jobs.is_empty() {
        parts.push(list(m, &jobs));
    }
    parts.push(list(m, &distinct(points, |point| Some(&point.on))));
    let step = parts.remove(0);
    parts.extend(loads(m, points));
    let args = [
        ("n", points.len().to_string()),
        ("total", total.to_string()),
        ("step", step),
        ("which", parts.join(", ")),
    ];
    m.text_with("point-set", &args)
}

/// Names separated by commas.
pub(crate) fn list(m: &Messages, names: &[&str]) -> String {
    let shown = names[..names.len().min(MAX_NAMES)].join(", ");
    match names.len().saturating_sub(MAX_NAMES) {
        0 => shown,
        more => m.text_with("list-more", &[("names", shown), ("n", more.to_string())]),
    }
}

fn distinct<'a>(
    points: &'a [SetPoint],
    name: impl Fn(&'a SetPoint) -> Option<&'a str>,
) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for name in points.iter().filter_map(name) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// One text for each kind of load.
fn loads(m: &Messages, points: &[SetPoint]) -> Vec<String> {
    let users = counts(points, |load| match load {
        // 0: an output of another tool does not report it.
        PointLoad::Users(users) => Some(users).filter(|n| *n > 0),
        _ => None,
    });
    let in_flight = counts(points, |load| match load {
        PointLoad::InFlight(requests) => Some(requests).filter(|n| *n > 0),
        _ => None,
    });
    let mut texts = Vec::new();
    if users == ["1"] {
        texts.push(m.text("load-one"));
    } else if !users.is_empty() {
        texts.push(m.text_with("load-closed", &[("users", range(m, &users))]));
    }
    if !in_flight.is_empty() {
        texts.push(m.text_with("load-in-flight", &[("requests", range(m, &in_flight))]));
    }
    let rates = rates(points);
    if !rates.is_empty() {
        texts.push(m.text_with("load-open", &[("rate", range(m, &rates))]));
    }
    texts
}

/// In rising order.
fn counts(points: &[SetPoint], count: impl Fn(PointLoad) -> Option<u32>) -> Vec<String> {
    let counts: BTreeSet<u32> = points
        .iter()
        .filter_map(|point| count(point.load))
        .collect();
    counts.into_iter().map(|count| count.to_string()).collect()
}

fn rates(points: &[SetPoint]) -> Vec<String> {
    let mut rates: Vec<f64> = points
        .iter()
        .filter_map(|point| match point.load {
            PointLoad::PerSecond(rate) => Some(rate),
            _ => None,
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    rates.dedup();
    rates.into_iter().map(three).collect()
}

/// "4", "1 and 4", "1 to 16".
fn range(m: &Messages, rising: &[String]) -> String {
    match rising {
        [one] => one.clone(),
        [first, second] => {
            let args = [("first", first.clone()), ("second", second.clone())];
            m.text_with("list-and", &args)
        }
        [first, .., last] => {
            let args = [("first", first.clone()), ("last", last.clone())];
            m.text_with("list-to", &args)
        }
        [] => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(on: &str, load: PointLoad) -> SetPoint {
        SetPoint {
            step: "oltp".to_owned(),
            on: on.to_owned(),
            job: None,
            load,
        }
    }

    #[test]
    fn points_are_named_by_what_they_have_in_common() {
        let m = Messages::english();
        let users = [1, 4, 16].map(|users| at("db@nvme", PointLoad::Users(users)));
        assert_eq!(
            describe(&m, &users, 9),
            "3 of 9 points (oltp: db@nvme, 1 to 16 users)"
        );
        assert_eq!(
            describe(&m, &users[..1], 9),
            "1 of 9 points (oltp: db@nvme, 1 user)"
        );
        let two = [
            at("db@sata", PointLoad::PerSecond(1600.0)),
            at("db@nvme", PointLoad::PerSecond(400.0)),
        ];
        assert_eq!(
            describe(&m, &two, 2),
            "2 of 2 points (oltp: db@sata, db@nvme, 400 and 1,600/s offered)"
        );
    }

    #[test]
    fn many_names_are_counted() {
        let m = Messages::english();
        let jobs = ["read", "write", "mixed", "log", "sync"].map(|job| SetPoint {
            job: Some(job.to_owned()),
            load: PointLoad::InFlight(8),
            ..at("nvme", PointLoad::Unnamed)
        });
        assert_eq!(
            describe(&m, &jobs, 40),
            "5 of 40 points (oltp: read, write, mixed and 2 more, nvme, 8 in flight)"
        );
    }
}
