//! The objective of a search for the load line.

use super::load::MOST_CONNECTIONS;
use super::names::Names;
use super::values::scaled;
use crate::error::list;
use crate::findings::Findings;
use crate::load::LoadShape;
use crate::objective::{Objective, Quantile};
use crate::options::Options;
use crate::raw::{OfferedRate, RawFind, RawStep};
use crate::resolved::{Search, TPCC_TXNS};
use crate::units::Nanos;
use crate::value::{At, Bounds, OptionalKey};

pub(super) fn resolve(
    at: &At<RawStep>,
    points: Option<&[LoadShape]>,
    workload: Option<&At<String>>,
    measure: Option<Nanos>,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> Option<Option<Search>> {
    let Some(find) = &at.get().find else {
        return Some(None);
    };
    let raw = find.get();
    let limit = limit(find, findings);
    let of = match &raw.of {
        None => Some(None),
        Some(of) => txn(of, workload, names, findings).map(Some),
    };
    let longest = longest(find, measure, names.options, findings);
    let start = match points? {
        [one] => *one,
        _ => {
            let help = "with `find`, `users` or `rate` is where the search starts: one number";
            findings.error(find.span(), "`find` cannot be combined with a ladder", help);
            return None;
        }
    };
    let most = most(find, start, findings);
    let limit = limit?;
    Some(Some(Search {
        objective: Objective {
            quantile: limit.quantile,
            limit: limit.time,
            of: of?,
        },
        most: most?,
        precision: raw.precision(),
        longest: longest?,
    }))
}

/// As written, and no shorter than `measure`.
fn longest(
    find: &At<RawFind>,
    measure: Option<Nanos>,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<Nanos> {
    let written = &find.get().longest;
    let at = written.span_or(&find.span());
    let longest = scaled(find.get().longest(), options, at.clone(), findings)?;
    let measure = measure?;
    if written.is_some() && longest < measure {
        findings.error(
            at,
            format!("`longest` is shorter than `measure`, which is {measure}"),
            format!("\"{measure}\" or more is possible"),
        );
        return None;
    }
    Some(longest.max(measure))
}

struct Limit {
    quantile: Quantile,
    time: Nanos,
}

fn limit(find: &At<RawFind>, findings: &mut Findings<'_>) -> Option<Limit> {
    let raw = find.get();
    let limits = [
        &raw.mean_ms,
        &raw.p50_ms,
        &raw.p90_ms,
        &raw.p95_ms,
        &raw.p99_ms,
        &raw.p999_ms,
        &raw.max_ms,
    ];
    let written: Vec<Limit> = Quantile::ALL
        .iter()
        .zip(limits)
        .filter_map(|(quantile, limit)| {
            Some(Limit {
                quantile: *quantile,
                time: Nanos::from_secs_f64(limit.value()? / 1e3),
            })
        })
        .collect();
    let count = written.len();
    match <[Limit; 1]>::try_from(written) {
        Ok([only]) => Some(only),
        Err(_) => {
            // A misspelled or impossible limit has been reported.
            if count > 0 || !findings.is_incomplete(&find.span()) {
                let help = "write a limit such as find = { p99_ms = 10, of = \"new_order\" }";
                findings.error(find.span(), "`find` needs exactly one limit", help);
            }
            None
        }
    }
}

fn txn(
    of: &At<String>,
    workload: Option<&At<String>>,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> Option<String> {
    let is_tpcc = workload
        .and_then(|name| names.raw_workload(name.get()))
        .is_some_and(|raw| raw.tpcc.is_some());
    if is_tpcc && !TPCC_TXNS.contains(&of.get().as_str()) {
        let help = format!("one of {}", list(&TPCC_TXNS));
        findings.error(
            of.span(),
            format!("there is no transaction type `{}`", of.get()),
            help,
        );
        return None;
    }
    Some(of.get().clone())
}

fn most(find: &At<RawFind>, start: LoadShape, findings: &mut Findings<'_>) -> Option<f64> {
    let (from, limit) = match start {
        LoadShape::Closed { users, .. } => (f64::from(users), f64::from(MOST_CONNECTIONS)),
        LoadShape::Open { per_second, .. } => (per_second, OfferedRate::MOST),
    };
    let Some(most) = &find.get().most else {
        return Some(limit.max(from));
    };
    if *most.get() >= from && *most.get() <= limit {
        return Some(*most.get());
    }
    let help = format!("{from}, where the search starts, to {limit} is possible");
    findings.error(
        most.span(),
        format!("`most` cannot be {}", most.get()),
        help,
    );
    None
}
