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
    measure: Nanos,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> Option<Search> {
    let find = at.get().find.as_ref()?;
    let raw = find.get();
    let limit = limit(find, findings);
    if let Some(of) = &raw.of {
        check_txn(of, workload, names, findings);
    }
    // A default in place of a broken value is nobody's to compare with.
    let least = match findings.explains(&at.span(), "measure") {
        true => Nanos::ZERO,
        false => measure,
    };
    let longest = longest(find, least, names.options, findings);
    let [start] = *points? else {
        let help = "with `find`, `users` or `rate` is where the search starts: one number";
        findings.error(find.span(), "`find` cannot be combined with a ladder", help);
        return None;
    };
    let most = most(find, start, findings);
    let limit = limit?;
    Some(Search {
        objective: Objective {
            quantile: limit.quantile,
            limit: limit.time,
            of: raw.of.as_ref().map(|of| of.get().clone()),
        },
        most,
        precision: raw.precision(),
        longest,
    })
}

/// As written, and no shorter than `measure`.
fn longest(
    find: &At<RawFind>,
    measure: Nanos,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Nanos {
    let written = &find.get().longest;
    let at = written.span_or(&find.span());
    let longest = scaled(find.get().longest(), options, at.clone(), findings);
    if written.is_some() && longest < measure {
        findings.error(
            at,
            format!("`longest` is shorter than `measure`, which is {measure}"),
            format!("\"{measure}\" or more is possible"),
        );
    }
    longest.max(measure)
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
    // A misspelled or impossible limit has been reported.
    let is_explained = written.is_empty() && findings.is_incomplete(&find.span());
    if written.len() != 1 && !is_explained {
        let help = "write a limit such as find = { p99_ms = 10, of = \"new_order\" }";
        findings.error(find.span(), "`find` needs exactly one limit", help);
    }
    written.into_iter().next()
}

fn check_txn(
    of: &At<String>,
    workload: Option<&At<String>>,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) {
    let is_tpcc = workload
        .and_then(|name| names.raw_workload(name.get()))
        .is_some_and(|raw| raw.tpcc.is_some());
    if is_tpcc && !TPCC_TXNS.contains(&of.get().as_str()) {
        let message = format!("there is no transaction type `{}`", of.get());
        let help = format!("one of {}", list(&TPCC_TXNS));
        findings.error(of.span(), message, help);
    }
}

fn most(find: &At<RawFind>, start: LoadShape, findings: &mut Findings<'_>) -> f64 {
    let (from, limit) = match start {
        LoadShape::Closed { users, .. } => (f64::from(users), f64::from(MOST_CONNECTIONS)),
        LoadShape::Open { per_second, .. } => (per_second, OfferedRate::MOST),
    };
    let Some(written) = &find.get().most else {
        return limit.max(from);
    };
    let most = *written.get();
    if !(from..=limit).contains(&most) {
        let help = format!("{from}, where the search starts, to {limit} is possible");
        findings.error(written.span(), format!("`most` cannot be {most}"), help);
    }
    most
}
