//! Jobs: their names, their streams and their curves.

use std::collections::BTreeSet;

use super::stream;
use crate::findings::Findings;
use crate::raw::{Either, PlanTable, RawBlockJob, RawBlockStream, RawCurve, Switch, TableKind};
use crate::resolve::names::{LONGEST_NAME, check_name};
use crate::resolved::{BlockJob, BlockStream};
use crate::value::{At, RawText};

const MOST_JOBS: usize = 1000;
const MOST_STREAMS: usize = 16;
const MOST_SHARES: usize = 100;
const HIGHEST_SHARE: f64 = 1000.0;

/// Whole curve: up to the maximum, and a step beyond it.
const WHOLE_CURVE: [f64; 11] = [
    10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 100.0, 120.0,
];

/// Jobs of a plan. A fault in one is reported, and the others are checked as well.
pub(super) fn resolve_all(
    list: &At<Vec<At<RawBlockJob>>>,
    findings: &mut Findings<'_>,
) -> Vec<BlockJob> {
    if list.get().is_empty() && !findings.is_incomplete(&list.span()) {
        findings.error(
            list.span(),
            "there is no job",
            "add one: [[workload.NAME.block.job]]",
        );
    }
    resolve_list(list.get(), findings)
}

pub(super) fn resolve_list(list: &[At<RawBlockJob>], findings: &mut Findings<'_>) -> Vec<BlockJob> {
    if let Some(job) = list.get(MOST_JOBS) {
        findings.error(
            job.span(),
            "more than 1000 jobs",
            "make several workloads of it",
        );
    }
    let mut taken = BTreeSet::new();
    list.iter()
        .take(MOST_JOBS)
        .filter_map(|job| resolve(job, &mut taken, findings))
        .collect()
}

fn resolve(
    at: &At<RawBlockJob>,
    taken: &mut BTreeSet<String>,
    findings: &mut Findings<'_>,
) -> Option<BlockJob> {
    let raw = at.get();
    let help = "state what the report calls it: name = \"RND4K Q32T1 read\"";
    let name = findings.required(&at.span(), "name", &raw.name, help);
    if let Some(name) = name {
        check_job_name(name, taken, findings);
    }
    let curve = raw
        .curve
        .as_ref()
        .map_or(Vec::new(), |curve| shares(curve, findings));
    let has_curve = !curve.is_empty();
    let streams = match &raw.stream {
        None => {
            let stream = stream::resolve(&at.span(), &raw.only_stream(), has_curve, findings);
            stream.into_iter().collect()
        }
        Some(list) => streams(raw, list, has_curve, findings),
    };
    Some(BlockJob {
        name: name?.value(),
        streams,
        curve,
    })
}

fn check_job_name(
    written: &At<RawText>,
    taken: &mut BTreeSet<String>,
    findings: &mut Findings<'_>,
) {
    let name = written.value();
    if name.chars().count() > LONGEST_NAME {
        let help = "tables of reports have to hold it";
        findings.error(
            written.span(),
            "the name is longer than 64 characters",
            help,
        );
    }
    if !taken.insert(name.clone()) {
        let message = format!("two jobs are named `{name}`");
        findings.error(written.span(), message, "give each its own name");
    }
}

fn streams(
    raw: &RawBlockJob,
    list: &At<Vec<At<RawBlockStream>>>,
    has_curve: bool,
    findings: &mut Findings<'_>,
) -> Vec<BlockStream> {
    raw.refuse(TableKind::Streams, findings);
    let written = list.get();
    if written.is_empty() && !findings.is_incomplete(&list.span()) {
        findings.error(
            list.span(),
            "there is no stream",
            "add one, or write its keys into the job",
        );
    }
    if let Some(one_more) = written.get(MOST_STREAMS) {
        findings.error(
            one_more.span(),
            "more than 16 streams",
            "make several jobs of it",
        );
    }
    if let Some(curve) = &raw.curve
        && has_curve
        && written.len() > 1
    {
        let help =
            "what share of which stream would be offered? remove it, or make jobs of the streams";
        findings.error(
            curve.span(),
            "a `curve` cannot be combined with several streams",
            help,
        );
    }
    let mut taken = BTreeSet::new();
    written
        .iter()
        .take(MOST_STREAMS)
        .filter_map(|at| {
            check_stream_name(at, &mut taken, findings);
            stream::resolve(&at.span(), at.get(), has_curve, findings)
        })
        .collect()
}

fn check_stream_name(
    at: &At<RawBlockStream>,
    taken: &mut BTreeSet<String>,
    findings: &mut Findings<'_>,
) {
    let help = "state what the report calls it: name = \"log\"";
    let Some(name) = findings.required(&at.span(), "name", &at.get().name, help) else {
        return;
    };
    check_name(name, "stream", findings);
    if !taken.insert(name.get().clone()) {
        let message = format!("two streams of the job are named `{}`", name.get());
        findings.error(name.span(), message, "give each its own name");
    }
}

/// Shares of a curve; empty for no curve.
fn shares(written: &At<RawCurve>, findings: &mut Findings<'_>) -> Vec<f64> {
    let list = match written.get() {
        Either::Simple(Switch(false)) => return Vec::new(),
        Either::Simple(Switch(true)) => return WHOLE_CURVE.to_vec(),
        Either::Composite(list) => list,
    };
    let example = "percent of what the job reaches at full speed, rising: curve = [10, 50, 100]";
    if list.is_empty() && !findings.is_incomplete(&written.span()) {
        findings.error(written.span(), "the curve is empty", example);
    }
    if list.len() > MOST_SHARES {
        findings.error(
            written.span(),
            "the curve has more than 100 points",
            example,
        );
    }
    let mut last = 0.0;
    for at in list {
        let share = *at.get();
        // Written so that NaN fails.
        if share > last && share <= HIGHEST_SHARE {
            last = share;
        } else {
            let message = format!("a share of {share} cannot stand here");
            findings.error(at.span(), message, example);
        }
    }
    list.iter().map(|share| *share.get()).collect()
}
