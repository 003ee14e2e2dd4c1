//! Facts about one of several loads of a system: their keys end with the load's point.

use crate::record::{Fact, PointId, Record, SubjectId};

const OF_POINT: &str = ".point.";

/// `import.response_from.point.2`: what holds for that load and not for the system's others.
pub(super) fn key_of(key: &str, point: PointId) -> String {
    format!("{key}{OF_POINT}{}", point.0)
}

/// The key without its point, and the point; `None`: it holds for all loads of the system.
pub(crate) fn split(key: &str) -> (&str, Option<PointId>) {
    let parts = key
        .rsplit_once(OF_POINT)
        .and_then(|(base, number)| Some((base, number.parse().ok().map(PointId)?)));
    parts.map_or((key, None), |(base, point)| (base, Some(point)))
}

/// The fact's key, where it holds for the load of that point.
pub(crate) fn key_at(fact: &Fact, point: PointId) -> Option<&str> {
    let (key, of) = split(&fact.key);
    of.is_none_or(|of| of == point).then_some(key)
}

/// What is known of the load of that point.
pub(crate) fn value_at<'a>(
    record: &'a Record,
    system: SubjectId,
    point: PointId,
    key: &str,
) -> Option<&'a str> {
    let mut own = record.facts.iter().filter(|fact| fact.subject == system);
    own.find(|fact| key_at(fact, point) == Some(key))
        .map(|fact| fact.value.as_str())
}
