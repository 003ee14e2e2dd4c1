//! A run that begins again with slower drives, once, because the emulator fell behind.

use plimsoll_record::message::EventKind;

use super::job::{run_id, timestamp};
use crate::execute::{FinishedRun, Job, LateDrive, NextFactor};
use crate::failure::Failure;
use crate::set::put_aside;
use crate::speed;

/// Runs the job; if a drive was late, once more from the beginning at its next factor: all figures of a drive are measured
/// at one factor. The file of the first attempt is kept beside the other.
pub(super) fn attempts(
    mut job: Job,
    mut run: impl FnMut(&Job) -> Result<FinishedRun, Failure>,
) -> Result<FinishedRun, Failure> {
    let done = run(&job)?;
    let Some(late) = &done.late else {
        return Ok(done);
    };
    let mut next = std::mem::take(&mut job.next_factors).into_iter();
    match next.find(|next| next.is_for(&late.medium)) {
        Some(next) => run(&again(job, &next, late)?),
        None => Ok(done),
    }
}

/// The job with these drives slower; it does not begin again another time.
fn again(job: Job, next: &NextFactor, late: &LateDrive) -> Result<Job, Failure> {
    let kept = put_aside(&job.output)?;
    let now = jiff::Timestamp::now();
    let mut media = job.plan.media.iter();
    let tried = media
        .find(|medium| medium.name == late.medium)
        .and_then(|medium| medium.kind.emulated())
        .map(|drive| drive.slower as u32);
    let reason = EventKind::BegunAgain {
        media: next.media.clone(),
        factor: next.factor,
        medium: late.medium.clone(),
        tried: tried.filter(|tried| *tried != 1),
        added_percent: late.late.added_percent,
        point: late.point.clone(),
        kept: kept.display().to_string(),
    };
    let mut job = Job {
        run_id: run_id(now),
        started_at: timestamp(now),
        ..job
    };
    speed::set(&mut job.plan, &next.media, next.factor);
    job.notes.push(reason);
    Ok(job)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use plimsoll_analysis::summary::TooLate;
    use plimsoll_plan::parse;
    use plimsoll_record::RunStatus;

    use super::*;
    use crate::drive_file;

    const PLAN: &str = r#"
title = "t"
[medium.a]
drive = "kingston-dc1500m-960g"
[medium.b]
drive = "seagate-constellation2-1t"
[medium.fixed]
drive = "seagate-constellation2-1t"
slower = 3
[system.db]
engine = "sqlite"
[workload.w.tpcc]
warehouses = 1
[[step]]
run = "w"
system = "db"
on = ["a", "b", "fixed"]
users = 1
"#;

    fn job(dir: &Path, factor: u32, next_factors: Vec<NextFactor>) -> Job {
        let mut plan = parse(PLAN, &drive_file::options()).unwrap().plan;
        speed::set(&mut plan, &[], factor);
        Job {
            plan,
            seed: 1,
            plan_text: PLAN.into(),
            output: dir.join("r.plimsoll"),
            run_id: "first".into(),
            started_at: String::new(),
            command: String::new(),
            label: None,
            quiet: true,
            virtual_time: false,
            overwrite: Vec::new(),
            next_factors,
            together: None,
            notes: Vec::new(),
        }
    }

    /// What each attempt was given: its factors by medium, and whether it may end early.
    struct Attempt {
        factors: Vec<f64>,
        next_factors: usize,
        notes: Vec<EventKind>,
    }

    fn next(media: &[&str], factor: u32) -> NextFactor {
        NextFactor {
            media: media.iter().map(|name| (*name).to_owned()).collect(),
            factor,
        }
    }

    /// Runs the job with drives that are always late where that ends a run.
    fn attempted(job: Job) -> (Vec<Attempt>, FinishedRun) {
        let mut all = Vec::new();
        let done = attempts(job, |job| {
            assert!(!job.output.exists(), "the first file was put aside");
            std::fs::write(&job.output, "x").unwrap();
            let drives = job.plan.media.iter();
            all.push(Attempt {
                factors: drives
                    .filter_map(|medium| medium.kind.emulated())
                    .map(|drive| drive.slower)
                    .collect(),
                next_factors: job.next_factors.len(),
                notes: job.notes.clone(),
            });
            let mut media = ["a", "b"].into_iter();
            let late = media.find(|medium| job.next_factors.iter().any(|next| next.is_for(medium)));
            let late = late.map(|medium| LateDrive {
                medium: medium.into(),
                point: "w · 1 user".into(),
                late: TooLate {
                    added_percent: Some(12.0),
                },
            });
            Ok(FinishedRun {
                run_file: job.output.clone(),
                status: RunStatus::Complete,
                failure: None,
                late,
                missed: false,
            })
        });
        (all, done.unwrap())
    }

    #[test]
    fn a_run_with_a_late_drive_begins_again_once_with_all_drives_slower() {
        let dir = tempfile::tempdir().unwrap();
        let (all, done) = attempted(job(dir.path(), 2, vec![next(&[], 5)]));
        let factors: Vec<&[f64]> = all.iter().map(|attempt| &attempt.factors[..]).collect();
        assert_eq!(
            factors,
            [[2.0, 2.0, 3.0], [5.0, 5.0, 3.0]],
            "a written factor stays"
        );
        assert_eq!(all[1].next_factors, 0, "only once");
        assert_eq!(done.late, None);
        let kept = dir.path().join("r.ended-early-1.plimsoll");
        assert!(kept.exists() && done.run_file.exists());
        assert_eq!(
            all[1].notes,
            [EventKind::BegunAgain {
                media: Vec::new(),
                factor: 5,
                medium: "a".into(),
                tried: Some(2),
                added_percent: Some(12.0),
                point: "w · 1 user".into(),
                kept: kept.display().to_string(),
            }]
        );
    }

    #[test]
    fn a_drive_with_a_speed_of_its_own_becomes_slower_alone() {
        let dir = tempfile::tempdir().unwrap();
        let next = vec![next(&["b"], 20), next(&["a"], 5)];
        let (all, done) = attempted(job(dir.path(), 2, next));
        let factors: Vec<&[f64]> = all.iter().map(|attempt| &attempt.factors[..]).collect();
        assert_eq!(factors, [[2.0, 2.0, 3.0], [5.0, 2.0, 3.0]]);
        assert_eq!((all[1].next_factors, done.late), (0, None));
    }

    #[test]
    fn a_run_in_time_and_one_without_a_next_factor_are_run_once() {
        let dir = tempfile::tempdir().unwrap();
        let (all, _) = attempted(job(dir.path(), 50, Vec::new()));
        assert_eq!(all.len(), 1);
    }
}
