//! Cells of a set that run on this machine: all, one after the other, or a single one.

use plimsoll_plan::resolved::ResolvedPlan;
use plimsoll_plan::units::Nanos;
use plimsoll_plan::{Cell, Matrix, estimate};
use plimsoll_record::RunStatus;
use plimsoll_record::runfile::{read_head, read_plan};

use super::job::{check, job, warning_lines};
use crate::cli::RunArgs;
use crate::execute::{execute, has_journals};
use crate::failure::Failure;
use crate::in_order::work_in_order;
use crate::set::{RunSet, SetCell};
use crate::shell::quoted;
use crate::signals::Interrupt;
use crate::speed::{self, ChosenSpeed, choose_alike};
use crate::terminal::note;

pub(super) struct CellRunner<'a> {
    args: &'a RunArgs,
    set: &'a RunSet,
    matrix: &'a Matrix,
    interrupt: Interrupt,
    speed: Option<ChosenSpeed>,
}

#[derive(Debug, PartialEq)]
enum CellEnd {
    Complete,
    Failed,
    Interrupted,
}

impl<'a> CellRunner<'a> {
    pub(super) fn new(
        args: &'a RunArgs,
        set: &'a RunSet,
        matrix: &'a Matrix,
        interrupt: Interrupt,
    ) -> Result<Self, Failure> {
        set.list
            .cells
            .iter()
            .try_for_each(|cell| expect_no_journals(set, cell))?;
        let speed = speed_for_all(args, set, matrix, &interrupt)?;
        Ok(Self {
            args,
            set,
            matrix,
            interrupt,
            speed,
        })
    }

    /// Every cell that has no complete run yet, in their order. A cell that fails does not keep the others from being tried.
    pub(super) fn run_all(&self) -> Result<(), Failure> {
        let mut failed = Vec::new();
        let numbers: Vec<usize> = (1..=self.set.list.cells.len()).collect();
        let mut take = |number: usize, end: Result<CellEnd, Failure>| {
            let label = self.set.list.label(&self.set.list.cells[number - 1]);
            match end {
                Ok(CellEnd::Complete) => {}
                Ok(CellEnd::Failed) => failed.push(label),
                Ok(CellEnd::Interrupted) => return Err(interrupted(self.set, self.args)),
                Err(failure) => {
                    let name = self.set.list.name(number);
                    report(self.args, &format!("{name} failed: {}", failure.text()));
                    failed.push(label);
                }
            }
            Ok(())
        };
        // What is measured must run alone; what is simulated need not.
        if self.matrix.cells.iter().all(is_simulated) {
            work_in_order(
                &numbers,
                |number, ends| ends.send(self.run_next(*number)),
                |place, end| take(numbers[place], end),
            )?;
        } else {
            numbers
                .iter()
                .try_for_each(|number| take(*number, self.run_next(*number)))?;
        }
        if failed.is_empty() {
            return Ok(());
        }
        Err(Failure::run(format!(
            "{} of {} cells failed: {}\nThe others are in {path}. Repair what the errors above report, then try those that \
             failed again: --resume {path}",
            failed.len(),
            self.set.list.cells.len(),
            failed.join("; "),
            path = self.set.path.display(),
        )))
    }

    /// One cell and no other; done if it has a complete run.
    pub(super) fn run_one(&self, number: usize) -> Result<(), Failure> {
        let time = load_time(&self.matrix.cells[number - 1]);
        match self.run(number, &format!("{time} under load"))? {
            CellEnd::Complete => Ok(()),
            CellEnd::Failed => Err(Failure::run("the run failed")),
            CellEnd::Interrupted => Err(interrupted(self.set, self.args)),
        }
    }

    fn run_next(&self, number: usize) -> Result<CellEnd, Failure> {
        if self.interrupt.is_wanted() {
            return Ok(CellEnd::Interrupted);
        }
        let left = self.left_from(number);
        let left = match is_simulated(&self.matrix.cells[number - 1]) {
            true => format!("{left} of simulated time left in all"),
            false => format!("{left} under load left in all"),
        };
        self.run(number, &left)
    }

    fn left_from(&self, number: usize) -> Nanos {
        let left = self.matrix.cells[number - 1..].iter().map(load_time);
        left.fold(Nanos::ZERO, saturating_sum)
    }

    fn run(&self, number: usize, left: &str) -> Result<CellEnd, Failure> {
        let cell = &self.set.list.cells[number - 1];
        let name = self.set.list.name(number);
        let _lock = self.set.lock(cell)?;
        if self.set.complete(cell)?.is_some() {
            report(self.args, &format!("{name}: done before"));
            return Ok(CellEnd::Complete);
        }
        self.set.put_aside(cell)?;
        report(self.args, &format!("{name} · {left}"));
        self.measure(cell, &self.matrix.cells[number - 1])
    }

    fn measure(&self, cell: &SetCell, planned: &Cell) -> Result<CellEnd, Failure> {
        let plan = planned.parsed.plan.clone();
        let output = self.set.file(cell);
        check(&plan, &output, self.args)?;
        let warnings = warning_lines(&cell.file, &planned.parsed.warnings);
        let mut job = job(self.args, plan, planned.text.clone(), output, warnings)?;
        if let Some(speed) = &self.speed {
            job = speed.clone().apply_to(job);
            // A later cell at another factor could not be compared with those before it.
            job.next_factors.clear();
        }
        let done = execute(&job, self.interrupt.clone())?;
        match (done.status, done.failure) {
            (RunStatus::Failed, Some(why)) => Err(Failure::run(why)),
            (RunStatus::Complete, _) => Ok(CellEnd::Complete),
            (RunStatus::Interrupted, _) => Ok(CellEnd::Interrupted),
            _ => Ok(CellEnd::Failed),
        }
    }
}

pub(super) fn report(args: &RunArgs, text: &str) {
    if !args.flags.quiet {
        note!("{text}");
    }
}

pub(super) fn saturating_sum(sum: Nanos, time: Nanos) -> Nanos {
    Nanos(sum.0.saturating_add(time.0))
}

fn is_simulated(cell: &Cell) -> bool {
    cell.parsed.plan.is_simulated()
}

fn load_time(cell: &Cell) -> Nanos {
    estimate(&cell.parsed.plan).duration
}

/// Workers on hosts may still run what was begun, beside whatever is begun now, and have more of it than the file.
fn expect_no_journals(set: &RunSet, cell: &SetCell) -> Result<(), Failure> {
    // Another process that runs it now holds its lock.
    let lock = set.lock(cell);
    let file = set.file(cell);
    let head = read_head(&file);
    let (Ok(_lock), Ok(head)) = (lock, head) else {
        return Ok(());
    };
    let plan = read_plan(&file)?;
    if !has_journals(head.run.status, &plan) {
        return Ok(());
    }
    let file = quoted(&file);
    Err(Failure::usage(format!(
        "the plimsoll that ran {file} was killed, and hosts may have more of it\nRead what they measured first: plimsoll \
         join {file}"
    )))
}

/// The same speed for all cells, on whichever host they run: what one of them has written, or was run at, or a new choice.
fn speed_for_all(
    args: &RunArgs,
    set: &RunSet,
    matrix: &Matrix,
    interrupt: &Interrupt,
) -> Result<Option<ChosenSpeed>, Failure> {
    let plans: Vec<&ResolvedPlan> = matrix.cells.iter().map(|cell| &cell.parsed.plan).collect();
    if !speed::is_needed(&plans) {
        return Ok(None);
    }
    if let Some(speed) = set.speed()? {
        return Ok(Some(speed));
    }
    let chosen = choose_alike(&plans, interrupt, args.flags.quiet)?;
    chosen.map(|speed| set.agree_on_speed(speed)).transpose()
}

fn interrupted(set: &RunSet, args: &RunArgs) -> Failure {
    Failure::run(format!(
        "interrupted: what was measured until then is in {}\nGo on with: plimsoll run {} --resume {0} and the same \
         options.",
        set.path.display(),
        args.plan.display()
    ))
}
