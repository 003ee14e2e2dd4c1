//! A run that begins again, once, with slower drives, because the emulator fell behind.

use plimsoll_record::message::EventKind;

use super::job::{run_id, timestamp};
use crate::execute::{FinishedRun, Job, LateDrive};
use crate::failure::Failure;
use crate::set::put_aside;
use crate::speed;

/// Runs the job; if a drive was late, once more from the beginning at the next factor: everything in a run file is measured
/// at one factor, so that all of it can be compared. The file of the first attempt is kept beside the other.
pub(super) fn attempts(
    job: Job,
    mut run: impl FnMut(&Job) -> Result<FinishedRun, Failure>,
) -> Result<FinishedRun, Failure> {
    let done = run(&job)?;
    match (job.next_factor, done.late) {
        (Some(factor), Some(late)) => run(&again(job, factor, &late)?),
        (_, late) => Ok(FinishedRun { late, ..done }),
    }
}

/// The job with slower drives; it does not begin again another time.
fn again(job: Job, factor: u32, late: &LateDrive) -> Result<Job, Failure> {
    let kept = put_aside(&job.output)?;
    let now = jiff::Timestamp::now();
    let mut drives = job.plan.media.iter().filter_map(|m| m.kind.emulated());
    let tried = drives
        .find(|drive| drive.auto)
        .map(|drive| drive.slower as u32);
    let reason = EventKind::BegunAgain {
        factor,
        medium: late.medium.clone(),
        tried: tried.filter(|tried| *tried != 1),
        added_percent: late.late.added_percent,
        point: late.point.clone(),
        kept: kept.display().to_string(),
    };
    let mut job = Job {
        run_id: run_id(now),
        started_at: timestamp(now),
        next_factor: None,
        ..job
    };
    speed::set(&mut job.plan, factor);
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

    fn job(dir: &Path, factor: u32, next_factor: Option<u32>) -> Job {
        let mut plan = parse(PLAN, &drive_file::options()).unwrap().plan;
        speed::set(&mut plan, factor);
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
            next_factor,
            together: None,
            notes: Vec::new(),
        }
    }

    /// What each attempt was given: its factors by medium, and whether it may end early.
    struct Attempt {
        factors: Vec<f64>,
        next_factor: Option<u32>,
        notes: Vec<EventKind>,
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
                next_factor: job.next_factor,
                notes: job.notes.clone(),
            });
            let late = job.next_factor.map(|_| LateDrive {
                medium: "a".into(),
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
        let (all, done) = attempted(job(dir.path(), 2, Some(5)));
        let factors: Vec<&[f64]> = all.iter().map(|attempt| &attempt.factors[..]).collect();
        assert_eq!(
            factors,
            [[2.0, 2.0, 3.0], [5.0, 5.0, 3.0]],
            "a written factor stays"
        );
        assert_eq!(all[1].next_factor, None, "only once");
        assert_eq!(done.late, None);
        let kept = dir.path().join("r.ended-early-1.plimsoll");
        assert!(kept.exists() && done.run_file.exists());
        assert_eq!(
            all[1].notes,
            [EventKind::BegunAgain {
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
    fn a_run_in_time_and_one_without_a_next_factor_are_run_once() {
        let dir = tempfile::tempdir().unwrap();
        let (all, _) = attempted(job(dir.path(), 50, None));
        assert_eq!(all.len(), 1);
    }
}
