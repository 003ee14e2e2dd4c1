//! When jobs began, as far as fio reports it.

use std::collections::BTreeMap;

use super::counts::lasted_ms;
use super::reports::Report;
use plimsoll_plan::units::Nanos;

/// By job of the report; `None` where neither the output nor its times show it.
pub(super) struct Starts {
    pub of: Vec<Option<Nanos>>,
    /// How they were found, where fio does not report them.
    pub note: Option<(&'static str, String)>,
}

/// fio 3.42 reports the start of each job. Before it, jobs of one group begin together; groups follow each other
/// (`stonewall`) or not (`new_group`), which the time since fio began shows.
pub(super) fn of(report: &Report) -> Starts {
    let reported: Option<Vec<Option<Nanos>>> = report
        .jobs
        .iter()
        .map(|job| job.start_ms.map(|ms| Some(Nanos::from_millis(ms))))
        .collect();
    if let Some(of) = reported {
        return Starts { of, note: None };
    }
    let mut lengths: BTreeMap<i64, u64> = BTreeMap::new();
    for job in &report.jobs {
        let length = lengths.entry(job.group).or_default();
        *length = lasted_ms(job).max(*length);
    }
    let delayed = report
        .jobs
        .iter()
        .any(|job| job.options.contains_key("startdelay"));
    let total_ms = lengths
        .values()
        .fold(0, |sum: u64, ms| sum.saturating_add(*ms));
    let longest_ms = lengths.values().copied().max().unwrap_or_default();
    let mut shortest: Vec<u64> = lengths.values().copied().collect();
    shortest.sort_unstable();
    let pair_ms: u64 = shortest.iter().take(2).sum();
    // In whole seconds, rounded up.
    let elapsed_ms = report
        .jobs
        .iter()
        .filter_map(|job| job.elapsed_s)
        .max()
        .map(|s| s.saturating_mul(1000));
    match elapsed_ms {
        _ if delayed && report.jobs.len() > 1 => unknown(report),
        _ if lengths.len() <= 1 => Starts {
            of: together(report, longest_ms),
            note: None,
        },
        // Had only the shortest overlapped another one, the whole would have been shorter.
        Some(elapsed) if elapsed >= total_ms && elapsed > total_ms - shortest[0] + 1000 => {
            sequential(report, &lengths, elapsed - total_ms)
        }
        // Had only the two shortest followed each other, the whole would have been longer.
        Some(elapsed) if elapsed < pair_ms => Starts {
            of: together(report, longest_ms),
            note: None,
        },
        _ => unknown(report),
    }
}

fn at(ms: u64) -> Option<Nanos> {
    (ms > 0).then(|| Nanos::from_millis(ms))
}

fn together(report: &Report, longest_ms: u64) -> Vec<Option<Nanos>> {
    vec![at(report.at_ms.saturating_sub(longest_ms)); report.jobs.len()]
}

/// The last group ends with the report.
fn sequential(report: &Report, lengths: &BTreeMap<i64, u64>, spare_ms: u64) -> Starts {
    let mut begins: BTreeMap<i64, u64> = BTreeMap::new();
    let mut end = report.at_ms;
    for (group, length) in lengths.iter().rev() {
        end = end.saturating_sub(*length);
        begins.insert(*group, end);
    }
    let of = report
        .jobs
        .iter()
        .map(|job| at(*begins.get(&job.group)?))
        .collect();
    let text = format!(
        "fio before 3.42 does not report when its jobs began. As a whole it ran as long as its groups one after the other: \
         starts are computed from the end, and are up to {} s late.",
        spare_ms.div_ceil(1000)
    );
    Starts {
        of,
        note: Some(("start", text)),
    }
}

fn unknown(report: &Report) -> Starts {
    let text = "fio's output does not report whether its jobs ran one after the other or at the same time: each stands for \
                itself.";
    Starts {
        of: vec![None; report.jobs.len()],
        note: Some(("concurrency", text.to_owned())),
    }
}
