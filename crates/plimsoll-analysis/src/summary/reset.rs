//! Data sets that were brought back to their first state between points.

use std::collections::BTreeMap;

use serde::Serialize;

use super::index::Index;
use plimsoll_record::message::ResetCheck;
use plimsoll_record::{Reset, SubjectId};

/// All resets of one step on one system.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ResetSummary {
    pub step: String,
    pub system: String,
    /// `files`, `template` or `reload`.
    pub method: String,
    pub times: u32,
    /// The longest took so long, everything included.
    pub longest_s: f64,
    /// The largest data set before a reset, and after the last one; 1 MB = 1,000,000 bytes.
    pub largest_mb: f64,
    pub last_mb: f64,
    /// What was compared the last time.
    pub verified: Option<ResetCheck>,
}

pub(super) fn of_run(index: &Index) -> Vec<ResetSummary> {
    let mut grouped: BTreeMap<(SubjectId, String, String), Vec<&Reset>> = BTreeMap::new();
    for reset in &index.record.resets {
        let phase = index
            .record
            .phases
            .iter()
            .find(|phase| phase.id == reset.phase);
        let step = phase.map(|phase| phase.step.clone()).unwrap_or_default();
        grouped
            .entry((reset.subject, step, reset.method.clone()))
            .or_default()
            .push(reset);
    }
    grouped
        .into_iter()
        .map(|((subject, step, method), resets)| of(index, subject, step, method, &resets))
        .collect()
}

fn of(
    index: &Index,
    subject: SubjectId,
    step: String,
    method: String,
    resets: &[&Reset],
) -> ResetSummary {
    ResetSummary {
        step,
        system: index.name(subject),
        method,
        times: resets.len() as u32,
        longest_s: resets
            .iter()
            .map(|reset| {
                let phase = index
                    .record
                    .phases
                    .iter()
                    .find(|phase| phase.id == reset.phase);
                phase.map_or(0.0, |phase| {
                    phase.end.saturating_sub(phase.start).as_secs_f64()
                })
            })
            .fold(0.0, f64::max),
        largest_mb: mb(resets
            .iter()
            .map(|reset| reset.from_bytes)
            .max()
            .unwrap_or_default()),
        last_mb: mb(resets.last().map_or(0, |reset| reset.to_bytes)),
        verified: resets.last().map(|reset| reset.verified.clone()),
    }
}

fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summarise;
    use plimsoll_record::fixture;

    #[test]
    fn resets_are_summarized_by_step_and_method() {
        let record = fixture::search();
        let resets = summarise(&record).figures.resets;
        assert_eq!(resets.len(), 1, "{resets:?}");
        let ResetSummary {
            step,
            system,
            method,
            times,
            longest_s,
            largest_mb,
            last_mb,
            verified,
        } = &resets[0];
        let names = (step.as_str(), system.as_str(), method.as_str());
        assert_eq!(verified.as_ref(), Some(&record.resets[1].verified));
        assert_eq!(names, (record.phases[0].step.as_str(), "db@fast", "files"));
        assert_eq!(
            (*times, *longest_s, *largest_mb, *last_mb),
            (2, 7.0, 913.0, 401.0)
        );
    }
}
