//! Slurm's commands: submitting a job array, what has become of its tasks, and ending them.

mod options;
mod queue;
mod ranges;

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{Command, Output};

use crate::failure::Failure;
pub use options::SbatchOptions;
use queue::parse_tasks;
pub use queue::{SlurmTask, TaskState};
use ranges::ranges;

const SBATCH: &str = "sbatch";
const SQUEUE: &str = "squeue";
const SCANCEL: &str = "scancel";
/// What squeue prints of a job that ended some minutes ago.
const FORGOTTEN: &str = "Invalid job id specified";

/// A job array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlurmJobId(pub String);

/// What sbatch is given.
#[derive(Debug)]
pub struct Submission<'a> {
    pub script: &'a Path,
    /// Numbers of cells, in rising order.
    pub cells: &'a [usize],
    pub at_once: Option<u32>,
    pub minutes: u64,
    /// A pattern: sbatch replaces `%a` by the number of the cell.
    pub log: &'a str,
    pub options: &'a SbatchOptions,
}

/// Refuses a machine without Slurm's commands.
pub fn expect_commands() -> Result<(), Failure> {
    for program in [SBATCH, SQUEUE, SCANCEL] {
        if let Err(error) = Command::new(program).arg("--version").output() {
            return Err(Failure::usage(format!(
                "--slurm needs {program}, which cannot be run: {error}\nRun this where Slurm's commands are in PATH, or the \
                 cells on this machine: without --slurm."
            )));
        }
    }
    Ok(())
}

/// Submits an array. The environment goes with it, as is sbatch's default.
pub fn submit(submission: &Submission<'_>) -> Result<SlurmJobId, Failure> {
    let mut array = ranges(submission.cells);
    if let Some(limit) = submission.at_once {
        array.push_str(&format!("%{limit}"));
    }
    let mut command = Command::new(SBATCH);
    command
        .args(["--parsable", "--job-name=plimsoll", "--nodes=1"])
        // Two cells on one node would measure each other.
        .arg("--exclusive")
        // A task that Slurm requeues goes on in the log of its first attempt.
        .arg("--open-mode=append")
        .arg(format!("--array={array}"))
        .arg(format!("--time={}", submission.minutes))
        .arg(format!("--output={}", submission.log));
    if !submission.options.set_memory() {
        // Databases may use the whole memory of the node.
        command.arg("--mem=0");
    }
    command
        .args(&submission.options.words)
        .arg(submission.script);
    let printed = output(command)?;
    parse_job_id(&printed)
        .ok_or_else(|| slurm_failed(&format!("sbatch printed no job id: {}", printed.trim())))
}

/// `12`, or `12;cluster`.
fn parse_job_id(printed: &str) -> Option<SlurmJobId> {
    let id = printed.trim().split(';').next()?;
    let is_number = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| SlurmJobId(id.to_owned()))
}

/// The tasks of arrays that Slurm knows, also those that ended a few minutes ago.
pub fn tasks(jobs: &[SlurmJobId]) -> Result<Vec<SlurmTask>, Failure> {
    let mut all = Vec::new();
    // One by one: squeue refuses a list with an id that it has forgotten.
    for job in jobs {
        let mut command = Command::new(SQUEUE);
        command
            .args(["--noheader", "--array", "--states=all"])
            .arg(format!("--format={}", queue::FORMAT))
            .arg(format!("--jobs={}", job.0));
        let done = run(command)?;
        let errors = String::from_utf8_lossy(&done.stderr);
        if done.status.success() {
            all.extend(parse_tasks(&String::from_utf8_lossy(&done.stdout)));
        } else if !errors.contains(FORGOTTEN) {
            return Err(slurm_failed(errors.trim()));
        }
    }
    Ok(all)
}

/// Takes the tasks of an array that wait out of the queue.
pub fn cancel_queued(job: &SlurmJobId) -> Result<(), Failure> {
    scancel(&["--state=PENDING", &job.0])
}

/// Ctrl-C for a task: of its processes plimsoll alone gets the signal.
pub fn interrupt(task: &SlurmTask) -> Result<(), Failure> {
    let name = format!("{}_{}", task.job, task.cell);
    scancel(&["--signal=INT", "--batch", &name])
}

/// Ends an array at once.
pub fn cancel(job: &SlurmJobId) -> Result<(), Failure> {
    scancel(&[&job.0])
}

fn scancel(arguments: &[&str]) -> Result<(), Failure> {
    let mut command = Command::new(SCANCEL);
    command.args(arguments);
    output(command).map(drop)
}

/// Stdout of a command that succeeded.
fn output(command: Command) -> Result<String, Failure> {
    let done = run(command)?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    Err(slurm_failed(String::from_utf8_lossy(&done.stderr).trim()))
}

fn run(mut command: Command) -> Result<Output, Failure> {
    let program: OsString = command.get_program().to_owned();
    command.output().map_err(|error: io::Error| {
        slurm_failed(&format!(
            "{} cannot be run: {error}",
            program.to_string_lossy()
        ))
    })
}

fn slurm_failed(why: &str) -> Failure {
    Failure::run(format!(
        "Slurm refused: {why}\nCorrect the options of --slurm=OPTIONS, or see `sinfo` for partitions, limits and nodes."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_job_is_read_with_and_without_a_cluster() {
        let id = |printed| parse_job_id(printed).map(|job| job.0);
        assert_eq!(
            id(include_str!("recorded/sbatch.txt")).as_deref(),
            Some("1")
        );
        assert_eq!(id("71;alpha\n").as_deref(), Some("71"));
        assert_eq!(id("Submitted batch job 71\n"), None);
        assert_eq!(id(""), None);
    }
}
