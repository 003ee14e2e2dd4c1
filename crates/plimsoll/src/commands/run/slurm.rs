//! The cells of a set as a Slurm job array: submitted, waited for, joined. Each task is `plimsoll run --resume DIR --cell N`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use plimsoll_block::host::mount::mount_of;
use plimsoll_block::host::source::KernelFiles;
use plimsoll_load::clock::Clock;
use plimsoll_plan::resolved::SystemKind;
use plimsoll_plan::units::Nanos;
use plimsoll_plan::{Cell, Matrix, estimate};
use plimsoll_record::RunStatus;
use plimsoll_record::lane::LaneControl;

use super::cells::{report, saturating_sum};
use super::slurm_files::{SlurmFiles, passed_on, script};
use crate::cli::RunArgs;
use crate::failure::Failure;
use crate::progress::whole_seconds;
use crate::set::RunSet;
use crate::shell::quoted;
use crate::signals::Interrupt;
use crate::slurm::{self, SbatchOptions, SlurmJobId, SlurmTask, Submission, TaskState};
use crate::terminal::note;

/// Between two looks at Ctrl-C.
const STEP: Nanos = Nanos::from_millis(200);
/// Between two readings of the set's directory.
const READ_EVERY: Nanos = Nanos::from_secs(2);
/// Between two calls of squeue: soon after the submission, then ever more rarely. Each is work for Slurm's controller.
const FIRST_POLL: Nanos = Nanos::from_secs(2);
const SLOWEST_POLL: Nanos = Nanos::from_secs(30);
/// After a cell has completed, too, not more often than this.
const FASTEST_POLL: Nanos = Nanos::from_secs(5);
/// So often in a row may squeue fail, before waiting is given up: some minutes.
const FAILURES: u32 = 10;
/// File systems of one machine. It may export them to others.
const LOCAL: [&str; 8] = [
    "btrfs", "ext3", "ext4", "overlay", "ramfs", "tmpfs", "xfs", "zfs",
];

pub(super) fn run_on_slurm(
    args: &RunArgs,
    set: &RunSet,
    matrix: &Matrix,
    options: &SbatchOptions,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let files = SlurmFiles::of(set)?;
    let mut array = SlurmRun {
        args,
        set,
        matrix,
        jobs: files.jobs()?,
        tasks: Vec::new(),
        waited_for: BTreeSet::new(),
        complete: BTreeSet::new(),
    };
    array.find_complete();
    array.take_over_tasks()?;
    array.submit(&files, options)?;
    array.wait(interrupt)?;
    array.expect_complete(&files, interrupt)
}

struct SlurmRun<'a> {
    args: &'a RunArgs,
    set: &'a RunSet,
    matrix: &'a Matrix,
    jobs: Vec<SlurmJobId>,
    /// As squeue showed them last.
    tasks: Vec<SlurmTask>,
    /// Cells that are queued or running, or were, counted from 1.
    waited_for: BTreeSet<usize>,
    complete: BTreeSet<usize>,
}

impl SlurmRun<'_> {
    fn numbers(&self) -> impl Iterator<Item = usize> + use<> {
        1..=self.set.list.cells.len()
    }

    /// The cells without a complete run.
    fn missing(&self) -> Vec<usize> {
        self.numbers()
            .filter(|number| !self.complete.contains(number))
            .collect()
    }

    /// The cells that have complete runs by now. Those that may still run are not read.
    fn find_complete(&mut self) {
        for number in self.numbers() {
            let cell = &self.set.list.cells[number - 1];
            let is_new = !self.complete.contains(&number) && !self.set.may_run(cell);
            if is_new && self.set.status(cell) == Some(RunStatus::Complete) {
                self.complete.insert(number);
            }
        }
    }

    /// Arrays that an earlier plimsoll submitted, and was killed, may go on.
    fn take_over_tasks(&mut self) -> Result<(), Failure> {
        self.tasks = slurm::tasks(&self.jobs)?;
        self.tasks.retain(|task| !task.is_over());
        self.waited_for = self.tasks.iter().map(|task| task.cell).collect();
        for job in &self.jobs {
            let tasks = self.tasks.iter().filter(|task| task.job == job.0).count();
            if tasks > 0 {
                let id = &job.0;
                let cells = if tasks == 1 { "cell" } else { "cells" };
                let text = format!("Slurm job {id} of this set goes on: {tasks} {cells}");
                report(self.args, &text);
            }
        }
        Ok(())
    }

    fn submit(&mut self, files: &SlurmFiles, options: &SbatchOptions) -> Result<(), Failure> {
        let mut cells = self.missing();
        cells.retain(|number| !self.waited_for.contains(number));
        if cells.is_empty() {
            return Ok(());
        }
        self.note_local_directory(&files.dir);
        files.write_script(&script(self.args, &files.dir, &self.set.plan())?)?;
        let at_once = options.at_once.or_else(|| self.shares_a_server());
        let minutes = time_limit(self.matrix, &cells);
        let submission = Submission {
            script: &files.script,
            cells: &cells,
            at_once,
            minutes,
            log: &files.log_pattern(),
            options,
        };
        let job = slurm::submit(&submission).map_err(|failure| self.not_submitted(&failure))?;
        files.add_job(&job)?;
        report(
            self.args,
            &format!(
                "Slurm job {}: {} of {} cells{}; output: {}",
                job.0,
                cells.len(),
                self.set.list.cells.len(),
                at_once.map_or(String::new(), |limit| format!(", {limit} at once")),
                files.dir.join("slurm-NNN.log").display(),
            ),
        );
        self.waited_for.extend(cells);
        self.jobs.push(job);
        Ok(())
    }

    /// Cells that load one existing server at once would measure each other.
    fn shares_a_server(&self) -> Option<u32> {
        let mut plans = self.matrix.cells.iter().map(|cell| &cell.parsed.plan);
        let is_shared = plans.any(|plan| {
            let mut systems = plan.systems.iter();
            // Cells that use hosts use the same ones.
            !plan.used_hosts().is_empty()
                || systems.any(|system| matches!(system.kind, SystemKind::Existing { .. }))
        });
        is_shared.then_some(1)
    }

    fn note_local_directory(&self, dir: &Path) {
        let mount = mount_of(&KernelFiles::new("/"), dir);
        let local = mount.filter(|mount| LOCAL.contains(&mount.filesystem.as_str()));
        if let Some(mount) = local {
            let text = format!(
                "Note: {} is on {} of this machine; all nodes need it under this name.",
                dir.display(),
                mount.filesystem
            );
            report(self.args, &text);
        }
    }

    /// Until every cell is complete, or Slurm has no task of them any more.
    fn wait(&mut self, interrupt: &Interrupt) -> Result<(), Failure> {
        let clock = Clock::real();
        let mut closing = Closing::default();
        let mut polls = QueuePolls::default();
        let mut read_due = Nanos::ZERO;
        while !self.waited_for.is_subset(&self.complete) {
            clock.block_until(clock.now() + STEP);
            let now = clock.now();
            if interrupt.order() == LaneControl::Stop {
                return self.cancel();
            }
            if now >= read_due {
                let before = self.complete.len();
                self.find_complete();
                read_due = now + READ_EVERY;
                if self.complete.len() > before {
                    polls.expect_change(now);
                }
            }
            // Ctrl-C is for the tasks that run by now.
            let begins_to_close = interrupt.is_wanted() && !closing.is_begun;
            if now < polls.due && !begins_to_close {
                continue;
            }
            polls.polled(now, interrupt.is_wanted());
            match slurm::tasks(&self.jobs) {
                Ok(tasks) => self.tasks = tasks,
                Err(_) if polls.may_fail() => continue,
                Err(failure) => return Err(self.lost(&failure)),
            }
            polls.failures = 0;
            if interrupt.is_wanted() {
                closing.end_tasks(self)?;
            } else {
                polls.show(self);
            }
            if self.tasks.iter().all(SlurmTask::is_over) {
                return Ok(());
            }
        }
        Ok(())
    }

    fn progress(&self) -> SlurmProgress {
        let mut progress = SlurmProgress {
            complete: self.complete.len(),
            ..SlurmProgress::default()
        };
        // Of a cell that was submitted several times the last task counts.
        let last: BTreeMap<usize, &SlurmTask> =
            self.tasks.iter().map(|task| (task.cell, task)).collect();
        for task in last.into_values() {
            match &task.state {
                _ if self.complete.contains(&task.cell) => {}
                TaskState::Running => progress.running += 1,
                TaskState::Queued { reason } => {
                    progress.queued += 1;
                    progress.reason = reason.clone();
                }
                // Complete, and not seen in the directory yet.
                TaskState::Ended(how) if how == "COMPLETED" => {}
                TaskState::Ended(_) => progress.failed += 1,
            }
        }
        progress
    }

    /// With as many cells at once as run now.
    fn time_left(&self, running: usize) -> String {
        let all = self
            .waited_for
            .difference(&self.complete)
            .map(|number| whole_time(&self.matrix.cells[*number - 1]))
            .fold(Nanos::ZERO, saturating_sum);
        whole_seconds(Nanos(all.0 / running.max(1) as u64))
    }

    fn cancel(&self) -> Result<(), Failure> {
        for job in &self.jobs {
            // An array that has ended cannot be canceled.
            let _ = slurm::cancel(job);
        }
        Ok(())
    }

    fn not_submitted(&self, failure: &Failure) -> Failure {
        Failure::run(format!(
            "{}\nCorrect the options (`sinfo` shows partitions, limits and nodes), then: {}",
            failure.text(),
            self.resume_command()
        ))
    }

    fn lost(&self, failure: &Failure) -> Failure {
        Failure::run(format!(
            "{}\nThe cells go on without this plimsoll. To wait for them again: {}",
            failure.text(),
            self.resume_command()
        ))
    }

    fn resume_command(&self) -> String {
        let plan = quoted(&self.args.plan);
        let set = quoted(&self.set.path);
        let slurm = match self.args.slurm.as_deref() {
            Some("") | None => "--slurm".to_owned(),
            Some(options) => quoted(format!("--slurm={options}")),
        };
        let own = format!("plimsoll run {plan} --resume {set} {slurm}");
        let words: Vec<String> = std::iter::once(own).chain(passed_on(self.args)).collect();
        words.join(" ")
    }

    fn expect_complete(
        &mut self,
        files: &SlurmFiles,
        interrupt: &Interrupt,
    ) -> Result<(), Failure> {
        for number in self.numbers() {
            // Slurm knows that no task runs any more; a directory that is cached here may still have its lock.
            let cell = &self.set.list.cells[number - 1];
            if self.set.status(cell) == Some(RunStatus::Complete) {
                self.complete.insert(number);
            }
        }
        let missing = self.missing();
        if missing.is_empty() {
            return Ok(());
        }
        let all = self.set.list.cells.len();
        let resume = self.resume_command();
        if interrupt.is_wanted() {
            return Err(Failure::run(format!(
                "interrupted: {} of {all} cells are complete in {}\nGo on with: {resume}",
                self.complete.len(),
                self.set.path.display()
            )));
        }
        for number in &missing {
            note!("{}", self.failed_cell(*number, files));
        }
        Err(Failure::run(format!(
            "{} of {all} cells failed\nRepair what their output reports, then run them again: {resume}",
            missing.len()
        )))
    }

    /// `cell 3 of 12: memory=1GiB: NODE_FAIL on n2: error: …`.
    fn failed_cell(&self, number: usize, files: &SlurmFiles) -> String {
        let mut latest_first = self.tasks.iter().rev();
        let task = latest_first.find(|task| task.cell == number);
        let how = task.map_or("unknown to Slurm by now".into(), ToString::to_string);
        let name = self.set.list.name(number);
        format!("{name}: {how}: {}", files.last_output(number))
    }
}

/// What becomes of the cells.
#[derive(Debug, Clone, Default, PartialEq)]
struct SlurmProgress {
    complete: usize,
    running: usize,
    queued: usize,
    failed: usize,
    /// Why the last of them is queued.
    reason: String,
}

impl SlurmProgress {
    fn line(&self, all: usize) -> String {
        let mut text = format!("{} of {all} cells complete", self.complete);
        if self.running > 0 {
            text.push_str(&format!(" · {} running", self.running));
        }
        if self.queued > 0 {
            text.push_str(&format!(" · {} queued", self.queued));
        }
        if self.queued > 0 && self.running == 0 && self.reason != "None" {
            text.push_str(&format!(" ({})", self.reason));
        }
        if self.failed > 0 {
            text.push_str(&format!(" · {} failed", self.failed));
        }
        text
    }
}

/// When squeue is called.
#[derive(Default)]
struct QueuePolls {
    due: Nanos,
    /// Until the next call, as it was chosen last.
    every: Nanos,
    last: Nanos,
    /// In a row.
    failures: u32,
    shown: SlurmProgress,
}

impl QueuePolls {
    fn polled(&mut self, now: Nanos, is_closing: bool) {
        let next = if is_closing {
            FIRST_POLL
        } else {
            Nanos(self.every.0 * 2).clamp(FIRST_POLL, SLOWEST_POLL)
        };
        self.every = next;
        self.last = now;
        self.due = now + next;
    }

    /// A cell has completed.
    fn expect_change(&mut self, now: Nanos) {
        self.due = self.due.min(now.max(self.last + FASTEST_POLL));
    }

    fn may_fail(&mut self) -> bool {
        self.failures += 1;
        self.failures < FAILURES
    }

    /// A line when something has changed.
    fn show(&mut self, array: &SlurmRun<'_>) {
        let progress = array.progress();
        if progress != self.shown {
            let mut line = progress.line(array.set.list.cells.len());
            if progress.running + progress.queued > 0 {
                let left = array.time_left(progress.running);
                line.push_str(&format!(" · about {left} left"));
            }
            report(array.args, &line);
            self.shown = progress;
        }
    }
}

/// What a first Ctrl-C began: no task starts any more, and those that run keep what they measured.
#[derive(Default)]
struct Closing {
    is_begun: bool,
    interrupted: BTreeSet<usize>,
}

impl Closing {
    fn end_tasks(&mut self, array: &SlurmRun<'_>) -> Result<(), Failure> {
        if !self.is_begun {
            let text = "Interrupted: running cells finish their transactions. Once more ends them at once.";
            report(array.args, text);
        }
        self.is_begun = true;
        for job in &array.jobs {
            let mut tasks = array.tasks.iter();
            if tasks.any(|task| task.job == job.0 && task.is_queued()) {
                slurm::cancel_queued(job)?;
            }
        }
        for task in &array.tasks {
            let is_new = task.state == TaskState::Running && !self.interrupted.contains(&task.cell);
            // A task that has ended meanwhile cannot be signaled; one that begins just now can be in two seconds.
            if is_new && slurm::interrupt(task).is_ok() {
                self.interrupted.insert(task.cell);
            }
        }
        Ok(())
    }
}

/// Starting, loading, measuring and checking.
fn whole_time(cell: &Cell) -> Nanos {
    let expected = estimate(&cell.parsed.plan);
    saturating_sum(expected.duration, expected.load_duration)
}

/// In minutes: twice the longest cell's estimate, which is rough, and ten minutes.
fn time_limit(matrix: &Matrix, cells: &[usize]) -> u64 {
    let times = cells
        .iter()
        .map(|number| whole_time(&matrix.cells[number - 1]));
    let longest = times.max().unwrap_or(Nanos::ZERO);
    longest.0.saturating_mul(2).div_ceil(60 * Nanos::SECOND.0) + 10
}
