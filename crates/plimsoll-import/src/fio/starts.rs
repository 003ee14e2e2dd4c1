//! When jobs began, as far as fio reports it.

use std::collections::BTreeMap;

use super::job::Report;
use plimsoll_plan::units::Nanos;
use plimsoll_record::message::ImportNote;

/// By job of the report; `None` where neither the output nor its times show it.
pub(super) struct Starts {
    pub of: Vec<Option<Nanos>>,
    /// How they were found, where fio does not report them.
    pub note: Option<ImportNote>,
}

/// fio 3.42 reports the start of each job. Before it, jobs of one group begin together; groups follow each other
/// (`stonewall`) or not (`new_group`), which the time since fio began shows.
pub(super) fn of(report: &Report) -> Starts {
    let reported: Vec<Option<Nanos>> = report
        .jobs
        .iter()
        .map(|job| job.start_ms.map(Nanos::from_millis))
        .collect();
    if reported.iter().all(Option::is_some) {
        return Starts {
            of: reported,
            note: None,
        };
    }
    let mut lengths: BTreeMap<i64, u64> = BTreeMap::new();
    for job in &report.jobs {
        let length = lengths.entry(job.group).or_default();
        *length = job.lasted_ms().max(*length);
    }
    let mut jobs = report.jobs.iter();
    let is_delayed = jobs.any(|job| job.options.contains_key("startdelay"));
    let total_ms = lengths.values().copied().fold(0, u64::saturating_add);
    let mut shortest: Vec<u64> = lengths.values().copied().collect();
    shortest.sort_unstable();
    let pair_ms: u64 = shortest.iter().take(2).sum();
    // In whole seconds, rounded up.
    match report.elapsed_ms() {
        _ if is_delayed && report.jobs.len() > 1 => unknown(report),
        _ if lengths.len() <= 1 => together(report),
        // Had only the shortest overlapped another one, the whole would have been shorter.
        Some(elapsed) if elapsed >= total_ms && elapsed > total_ms - shortest[0] + 1000 => {
            sequential(report, &lengths, elapsed - total_ms)
        }
        // Had only the two shortest followed each other, the whole would have been longer.
        Some(elapsed) if elapsed < pair_ms => together(report),
        _ => unknown(report),
    }
}

fn at(ms: u64) -> Option<Nanos> {
    (ms > 0).then(|| Nanos::from_millis(ms))
}

fn together(report: &Report) -> Starts {
    let start_ms = report.at_ms.saturating_sub(report.longest_ms());
    Starts {
        of: vec![at(start_ms); report.jobs.len()],
        note: None,
    }
}

/// The last group ends with the report.
fn sequential(report: &Report, lengths: &BTreeMap<i64, u64>, spare_ms: u64) -> Starts {
    let mut begins: BTreeMap<i64, u64> = BTreeMap::new();
    let mut end = report.at_ms;
    for (group, length) in lengths.iter().rev() {
        end = end.saturating_sub(*length);
        begins.insert(*group, end);
    }
    let jobs = report.jobs.iter();
    Starts {
        of: jobs.map(|job| at(*begins.get(&job.group)?)).collect(),
        note: Some(ImportNote::StartsComputed {
            late_seconds: spare_ms.div_ceil(1000),
        }),
    }
}

fn unknown(report: &Report) -> Starts {
    Starts {
        of: vec![None; report.jobs.len()],
        note: Some(ImportNote::ConcurrencyUnknown),
    }
}
