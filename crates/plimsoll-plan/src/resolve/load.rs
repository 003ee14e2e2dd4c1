//! The load of a step: the ladder of users or rates, and what comes before it.

use super::values::{at_most, scaled};
use crate::Options;
use crate::findings::Findings;
use crate::load::LoadShape;
use crate::raw::{OfferedRate, PlanTable, RawStep, TableKind};
use crate::resolved::Precondition;
use crate::value::{At, Decimal, Ladder, OptionalKey};

const MOST_POINTS: usize = 100;
/// Sessions of plimsoll's at the same time.
pub(super) const MOST_CONNECTIONS: u32 = 10_000;
const DEFAULT_UNDER_WAY: u32 = 64;

pub(super) fn points(at: &At<RawStep>, findings: &mut Findings<'_>) -> Option<Vec<LoadShape>> {
    match &at.get().rate {
        Some(rate) => {
            let loads = loads(rate, "rate", findings);
            open(at.get(), loads, findings)
        }
        None => closed(at, findings),
    }
}

fn closed(at: &At<RawStep>, findings: &mut Findings<'_>) -> Option<Vec<LoadShape>> {
    let raw = at.get();
    if !findings.explains(&at.span(), "rate") {
        raw.refuse(TableKind::ClosedLoop, findings);
        findings.required(
            &at.span(),
            "users",
            &raw.users,
            "state how many: users = 8, or a ladder users = [1, 2, 4, 8]",
        );
    }
    let shared = raw.connections.value().unwrap_or(u32::MAX);
    let mut points = Vec::new();
    for load in loads(raw.users.as_ref()?, "users", findings)? {
        let users = load.value();
        let connections = users.min(shared);
        points.push(LoadShape::Closed { users, connections });
        if connections > MOST_CONNECTIONS {
            let message = format!("{users} users, each with a connection");
            let help = format!(
                "at most {MOST_CONNECTIONS} can be open: share them, with connections = 64"
            );
            findings.error(load.span(), message, help);
        }
    }
    Some(points)
}

fn open(
    raw: &RawStep,
    loads: Option<&[At<Decimal<OfferedRate>>]>,
    findings: &mut Findings<'_>,
) -> Option<Vec<LoadShape>> {
    raw.refuse(TableKind::OpenLoop, findings);
    let users = match &raw.users {
        None => DEFAULT_UNDER_WAY,
        Some(users) => match users.get().loads() {
            [one] => at_most(one, "users", MOST_CONNECTIONS, findings),
            _ => {
                let help = "with a rate, `users` is how many transactions can be under way at once; or make two steps";
                let message = "`users` has to be one number beside a `rate`";
                findings.error(users.span(), message, help);
                DEFAULT_UNDER_WAY
            }
        },
    };
    let loads = loads?;
    if let Some(to) = &raw.rate_to
        && loads.len() > 1
    {
        findings.error(
            to.span(),
            "`rate_to` needs a `rate` of one number",
            "make two steps of it",
        );
    }
    let points = loads.iter().map(|load| LoadShape::Open {
        users,
        per_second: load.value(),
        to_per_second: raw.rate_to.value().unwrap_or(load.value()),
        arrivals: raw.arrivals(),
        queue: raw.queue(),
    });
    Some(points.collect())
}

/// Load before the first point: as many users as the ladder has at most, or the highest rate.
pub(super) fn precondition(
    at: &At<RawStep>,
    points: Option<&[LoadShape]>,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<Precondition> {
    let raw = at.get().precondition.as_ref()?;
    let help = "state how long: precondition = { users = 32, lasts = \"6h\" }";
    let lasts = findings
        .required(&raw.span(), "lasts", &raw.get().lasts, help)
        .map(|lasts| scaled(lasts.value(), options, lasts.span(), findings));
    let heaviest = points?
        .iter()
        .copied()
        .max_by(|a, b| weight(*a).total_cmp(&weight(*b)))?;
    let load = match (heaviest, raw.get().users.value()) {
        (load, None) => load,
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
        (load @ LoadShape::Open { .. }, Some(_)) => {
            let help = "with a rate, the ladder's highest rate is offered";
            findings.error(
                raw.span(),
                "`users` of a precondition is not supported beside a `rate`",
                help,
            );
            load
        }
    };
    Some(Precondition {
        load,
        lasts: lasts?,
    })
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
    if loads.len() > MOST_POINTS {
        findings.error(
            ladder.span(),
            "the ladder has more than 100 points",
            "make several steps of it",
        );
        return None;
    }
    Some(loads)
}
