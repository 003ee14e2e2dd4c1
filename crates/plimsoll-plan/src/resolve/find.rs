//! The objective of a search for the load line.

use super::load::{MOST_PER_SECOND, MOST_USERS};
use super::names::Names;
use super::values::{scaled, time_or};
use crate::error::list;
use crate::findings::Findings;
use crate::load::LoadShape;
use crate::objective::{Objective, Quantile};
use crate::options::Options;
use crate::raw::{RawFind, RawStep};
use crate::resolved::{Search, TPCC_TXNS};
use crate::units::Nanos;
use crate::value::At;

const DEFAULT_PRECISION: f64 = 0.05;
const DEFAULT_LONGEST: Nanos = Nanos::from_secs(300);

pub(super) fn resolve(
    at: &At<RawStep>,
    points: Option<&[LoadShape]>,
    workload: Option<&At<String>>,
    measure: Option<Nanos>,
    names: &Names<'_>,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<Option<Search>> {
    let Some(find) = &at.get().find else {
        return Some(None);
    };
    let raw = find.get();
    let objective = objective(find, findings);
    let of = match &raw.of {
        None => Some(None),
        Some(of) => txn(of, workload, names, findings).map(Some),
    };
    let precision = raw
        .precision
        .as_ref()
        .map_or(Some(DEFAULT_PRECISION), |share| {
            let fine = (0.01..=1.0).contains(share.get());
            if !fine {
                findings.error(
                    share.span(),
                    format!("`precision` cannot be {}", share.get()),
                    "0.01 to 1 is possible",
                );
            }
            fine.then_some(*share.get())
        });
    let longest = longest(find, measure, options, findings);
    let start = match points? {
        [one] => *one,
        _ => {
            let help = "with `find`, `users` or `rate` is where the search starts: one number";
            findings.error(find.span(), "`find` cannot be combined with a ladder", help);
            return None;
        }
    };
    let most = most(find, start, findings);
    let (quantile, limit) = objective?;
    Some(Some(Search {
        objective: Objective {
            quantile,
            limit,
            of: of?,
        },
        most: most?,
        precision: precision?,
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
    let longest = time_or(written, DEFAULT_LONGEST, findings)?;
    let at = written.as_ref().map_or(find.span(), At::span);
    let longest = scaled(longest, options, at.clone(), findings)?;
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

fn objective(find: &At<RawFind>, findings: &mut Findings<'_>) -> Option<(Quantile, Nanos)> {
    let RawFind {
        mean_ms,
        p50_ms,
        p90_ms,
        p95_ms,
        p99_ms,
        p999_ms,
        max_ms,
        of: _,
        most: _,
        precision: _,
        longest: _,
    } = find.get();
    let limits = [mean_ms, p50_ms, p90_ms, p95_ms, p99_ms, p999_ms, max_ms];
    let written = Quantile::ALL
        .iter()
        .zip(limits)
        .filter_map(|(q, limit)| Some((q, limit.as_ref()?)));
    let written: Vec<_> = written.collect();
    let [(quantile, limit)] = written.as_slice() else {
        // A misspelled limit has been reported.
        if !written.is_empty() || !findings.is_incomplete(&find.span()) {
            let help = "write a limit such as find = { p99_ms = 10, of = \"new_order\" }";
            findings.error(find.span(), "`find` needs exactly one limit", help);
        }
        return None;
    };
    let ms = *limit.get();
    if !(0.001..=3_600_000.0).contains(&ms) {
        findings.error(
            limit.span(),
            format!("the limit cannot be {ms} ms"),
            "0.001 to 3600000 is possible",
        );
        return None;
    }
    Some((**quantile, Nanos::from_secs_f64(ms / 1e3)))
}

fn txn(
    of: &At<String>,
    workload: Option<&At<String>>,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> Option<String> {
    let is_tpcc = workload.is_some_and(|name| {
        names
            .raw
            .workload
            .iter()
            .any(|(key, raw)| key.get() == name.get() && raw.get().tpcc.is_some())
    });
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
        LoadShape::Closed { users, .. } => (f64::from(users), f64::from(MOST_USERS.min(10_000))),
        LoadShape::Open { per_second, .. } => (per_second, MOST_PER_SECOND),
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
