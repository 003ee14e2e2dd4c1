//! The load of a step: the ladder of users or rates, and what comes before it.

use super::values::{scaled, time, whole};
use crate::Options;
use crate::findings::Findings;
use crate::load::{Arrivals, LoadShape};
use crate::raw::RawStep;
use crate::resolved::Precondition;
use crate::value::{At, Ladder};

const MOST_RUNGS: usize = 100;
pub(super) const MOST_USERS: u32 = 100_000;
/// Sessions of plimsoll's at the same time.
pub(super) const MOST_CONNECTIONS: u32 = 10_000;
pub(super) const MOST_PER_SECOND: f64 = 1e6;
const LONGEST_QUEUE: u32 = 10_000_000;
const DEFAULT_UNDER_WAY: u32 = 64;
const DEFAULT_QUEUE: u32 = 100_000;

pub(super) fn points(at: &At<RawStep>, findings: &mut Findings<'_>) -> Option<Vec<LoadShape>> {
    let raw = at.get();
    match &raw.rate {
        Some(rate) => open(raw, rate, findings),
        None => closed(at, findings),
    }
}

fn closed(at: &At<RawStep>, findings: &mut Findings<'_>) -> Option<Vec<LoadShape>> {
    let raw = at.get();
    if !findings.explains(&at.span(), "rate") {
        let places = [
            ("arrivals", raw.arrivals.as_ref().map(At::span)),
            ("queue", raw.queue.as_ref().map(At::span)),
            ("rate_to", raw.rate_to.as_ref().map(At::span)),
        ];
        for (key, span) in places
            .into_iter()
            .filter_map(|(key, span)| span.map(|span| (key, span)))
        {
            findings.error(
                span,
                format!("`{key}` has no meaning without a `rate`"),
                "add rate = 100, or remove it",
            );
        }
        findings.required(
            &at.span(),
            "users",
            &raw.users,
            "state how many: users = 8, or a ladder users = [1, 2, 4, 8]",
        );
    }
    let loads = loads(raw.users.as_ref()?, "users", findings)?;
    let shared = raw.connections.as_ref();
    let shared = shared.map_or(Some(u32::MAX), |n| {
        whole(n, "`connections`", 1..=MOST_CONNECTIONS, findings)
    });
    let points = loads.iter().map(|load| {
        let users = whole(load, "the number of users", 1..=MOST_USERS, findings)?;
        let connections = users.min(shared?);
        if connections > MOST_CONNECTIONS {
            let help = format!(
                "at most {MOST_CONNECTIONS} can be open: share them, with connections = 64"
            );
            findings.error(
                load.span(),
                format!("{users} users, each with a connection"),
                help,
            );
            return None;
        }
        Some(LoadShape::Closed { users, connections })
    });
    // Collected twice, so that every load is checked.
    points.collect::<Vec<_>>().into_iter().collect()
}

fn open(
    raw: &RawStep,
    rate: &At<Ladder<f64>>,
    findings: &mut Findings<'_>,
) -> Option<Vec<LoadShape>> {
    if let Some(connections) = &raw.connections {
        let help = "with a rate, `users` is how many transactions can be under way at once, each on a connection";
        findings.error(
            connections.span(),
            "`connections` has no meaning beside a `rate`",
            help,
        );
    }
    let users = match raw
        .users
        .as_ref()
        .map(|users| (users.span(), users.get().loads()))
    {
        None => Some(DEFAULT_UNDER_WAY),
        Some((_, [one])) => whole(one, "the number of users", 1..=MOST_CONNECTIONS, findings),
        Some((span, _)) => {
            let help = "with a rate, `users` is how many transactions can be under way at once; or make two steps";
            findings.error(span, "`users` has to be one number beside a `rate`", help);
            None
        }
    };
    let queue = raw.queue.as_ref();
    let queue = queue.map_or(Some(DEFAULT_QUEUE), |queue| {
        whole(queue, "`queue`", 0..=LONGEST_QUEUE, findings)
    });
    let arrivals = raw
        .arrivals
        .as_ref()
        .map_or(Arrivals::Constant, |arrivals| *arrivals.get());
    let loads = loads(rate, "rate", findings)?;
    let rates: Vec<Option<f64>> = loads
        .iter()
        .map(|load| per_second(load, findings))
        .collect();
    let to = match (&raw.rate_to, loads) {
        (None, _) => Some(None),
        (Some(to), [_]) => per_second(to, findings).map(Some),
        (Some(to), _) => {
            findings.error(
                to.span(),
                "`rate_to` needs a `rate` of one number",
                "make two steps of it",
            );
            None
        }
    };
    let users = users?;
    let queue = queue?;
    let to = to?;
    let point = |per_second| {
        let to_per_second = to.unwrap_or(per_second);
        LoadShape::Open {
            users,
            per_second,
            to_per_second,
            arrivals,
            queue,
        }
    };
    rates.into_iter().map(|rate| rate.map(point)).collect()
}

fn per_second(rate: &At<f64>, findings: &mut Findings<'_>) -> Option<f64> {
    let per_second = *rate.get();
    // Written so that NaN fails.
    if per_second > 0.0 && per_second <= MOST_PER_SECOND {
        return Some(per_second);
    }
    let help = "transactions per second: above 0, at most 1000000";
    findings.error(
        rate.span(),
        format!("the rate cannot be {per_second}"),
        help,
    );
    None
}

/// Load before the first point: as many users as the ladder has at most, or the highest rate.
pub(super) fn precondition(
    at: &At<RawStep>,
    points: Option<&[LoadShape]>,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<Option<Precondition>> {
    let Some(raw) = &at.get().precondition else {
        return Some(None);
    };
    let help = "state how long: precondition = { users = 32, lasts = \"6h\" }";
    let lasts = findings.required(&raw.span(), "lasts", &raw.get().lasts, help);
    let lasts =
        lasts.and_then(|lasts| scaled(time(lasts, findings)?, options, lasts.span(), findings));
    let written = raw.get().users.as_ref();
    let users =
        match written.map(|users| whole(users, "the number of users", 1..=MOST_USERS, findings)) {
            Some(users) => Some(users?),
            None => None,
        };
    let heaviest = points?
        .iter()
        .copied()
        .max_by(|a, b| weight(*a).total_cmp(&weight(*b)))?;
    let load = match (heaviest, users) {
        (
            LoadShape::Closed {
                users: most,
                connections,
            },
            Some(users),
        ) => {
            let shared = if connections < most {
                connections
            } else {
                users
            };
            LoadShape::Closed {
                users,
                connections: users.min(shared),
            }
        }
        (LoadShape::Open { .. }, Some(_)) => {
            let help = "with a rate, the ladder's highest rate is offered";
            findings.error(
                raw.span(),
                "`users` of a precondition has no meaning beside a `rate`",
                help,
            );
            return None;
        }
        (load, None) => load,
    };
    Some(Some(Precondition {
        load,
        lasts: lasts?,
    }))
}

fn weight(load: LoadShape) -> f64 {
    match load {
        LoadShape::Closed { users, .. } => f64::from(users),
        LoadShape::Open {
            per_second,
            to_per_second,
            ..
        } => per_second.max(to_per_second),
    }
}

fn loads<'a, T>(
    ladder: &'a At<Ladder<T>>,
    key: &str,
    findings: &mut Findings<'_>,
) -> Option<&'a [At<T>]> {
    let loads = ladder.get().loads();
    if loads.is_empty() {
        if !findings.is_incomplete(&ladder.span()) {
            findings.error(
                ladder.span(),
                "the ladder is empty",
                format!("{key} = [1, 2, 4, 8]"),
            );
        }
        return None;
    }
    if loads.len() > MOST_RUNGS {
        findings.error(
            ladder.span(),
            "the ladder has more than 100 points",
            "make several steps of it",
        );
        return None;
    }
    Some(loads)
}
