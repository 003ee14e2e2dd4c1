//! `plimsoll plans`: which question each bundled plan answers, how long it takes, and what it needs.

use std::collections::BTreeSet;
use std::io::IsTerminal;

use plimsoll_plan::resolved::{ResolvedPlan, Step, System, SystemKind};
use plimsoll_plan::units::Nanos;
use plimsoll_plan::{PlanEstimate, estimate, matrix, parse};
use plimsoll_report::message::Messages;
use plimsoll_report::table::Table;
use plimsoll_report::table::Unit::Words;

use super::table::{with_note, wrapped};
use crate::bundled::{BundledFile, PLANS};
use crate::cli::PlansArgs;
use crate::failure::Failure;
use crate::{drive_file, plan_errors};

const WIDTH: usize = 80;
const NEEDS_WIDTH: usize = 16;
/// Of the column of times, with what is between the columns.
const OTHER_WIDTH: usize = 6 + 3 * 2;

/// A bundled plan as people choose it.
pub struct PlanRow {
    name: &'static str,
    question: String,
    takes: Nanos,
    needs: Vec<&'static str>,
    memory_gib: f64,
}

pub fn plans(args: &PlansArgs) -> Result<String, Failure> {
    let width = std::io::stdout().is_terminal().then_some(WIDTH);
    plans_within(args, width)
}

/// In so many columns; `None`: each plan is one line.
fn plans_within(args: &PlansArgs, width: Option<usize>) -> Result<String, Failure> {
    let shown = |plan: &&BundledFile| args.all || !plan.is_published_test();
    let rows = PLANS.iter().filter(shown).map(row);
    let rows = rows.collect::<Result<Vec<_>, Failure>>()?;
    let name_width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    let widths = width.map(|width| CellWidths {
        needs: NEEDS_WIDTH,
        question: width - OTHER_WIDTH - NEEDS_WIDTH - name_width,
    });
    let note = Messages::english().text("plans-note");
    let table = table(widths.unwrap_or_default());
    Ok(with_note(&table, rows, args.format, &note))
}

/// Columns of cells that may take several lines.
pub struct CellWidths {
    needs: usize,
    question: usize,
}

impl Default for CellWidths {
    fn default() -> Self {
        Self {
            needs: usize::MAX,
            question: usize::MAX,
        }
    }
}

pub fn table(widths: CellWidths) -> Table<'static, PlanRow> {
    Table::new("plans")
        .prefix("plans-")
        .column("plan", Words, |row: &PlanRow| row.name)
        .key("plan")
        .column("takes", Words, |row: &PlanRow| rounded(row.takes))
        .column("needs", Words, move |row: &PlanRow| {
            wrapped(&row.needs.join(", "), widths.needs).join("\n")
        })
        .column("question", Words, move |row: &PlanRow| {
            wrapped(&row.question, widths.question).join("\n")
        })
        .field("question", |row: &PlanRow| row.question.clone())
        .field("seconds", |row: &PlanRow| row.takes.as_secs_f64())
        .field("needs", |row: &PlanRow| row.needs.join(", "))
        .field("memory_gib", |row: &PlanRow| row.memory_gib)
}

fn row(file: &BundledFile) -> Result<PlanRow, Failure> {
    let options = drive_file::options();
    let failed = |errors| plan_errors::failure(file.name(), file.text, errors);
    let plan = parse(file.text, &options).map_err(failed)?.plan;
    let cells = matrix(file.text, &options).map_err(failed)?;
    let estimates: Vec<PlanEstimate> = match &cells {
        Some(matrix) => matrix
            .cells
            .iter()
            .map(|cell| estimate(&cell.parsed.plan))
            .collect(),
        None => vec![estimate(&plan)],
    };
    let takes = estimates
        .iter()
        .map(|own| own.duration.0 + own.load_duration.0);
    let memory = estimates
        .iter()
        .map(|own| own.memory.iter().map(|need| need.bytes.0).sum::<u64>());
    Ok(PlanRow {
        name: file.name(),
        question: plan.title.clone(),
        takes: Nanos(takes.sum()),
        needs: needs(&plan),
        memory_gib: memory.max().unwrap_or(0) as f64 / f64::from(1 << 30),
    })
}

/// Programs and rights that the plan takes.
fn needs(plan: &ResolvedPlan) -> Vec<&'static str> {
    let mut needs: BTreeSet<&str> = plan.systems.iter().filter_map(server).collect();
    if plan.is_simulated() {
        return Vec::new();
    }
    let media = &plan.media;
    if media.iter().any(|medium| medium.kind.emulated().is_some()) {
        needs.insert("FUSE");
    }
    if plan.steps.iter().any(|step| matches!(step, Step::Block(_))) {
        needs.insert("fio");
    }
    let is_cut = plan.load_steps().any(|step| step.power_cut.is_some());
    if is_cut || plan.systems.iter().any(|system| !system.limits.is_none()) {
        needs.insert("root");
    }
    needs.into_iter().collect()
}

fn server(system: &System) -> Option<&'static str> {
    if matches!(system.kind, SystemKind::Existing { .. }) {
        return Some("a running server");
    }
    let server = system.kind.engine().server()?;
    server.managed().map(|managed| managed.title())
}

/// In minutes or hours.
fn rounded(time: Nanos) -> String {
    let minutes = (time.as_secs_f64() / 60.0).ceil();
    if minutes < 100.0 {
        format!("{minutes} min")
    } else {
        format!("{:.0} h", minutes / 60.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plan_is_listed_with_its_needs_in_80_columns() {
        for all in [false, true] {
            let args = PlansArgs {
                all,
                format: crate::cli::Format::Table,
            };
            let text = plans_within(&args, Some(WIDTH)).unwrap();
            let longest = text.lines().map(|line| line.chars().count()).max();
            assert!(longest <= Some(WIDTH), "{text}");
            let text = plans_within(&args, None).unwrap();
            let rows = text.split("\n\n").next().unwrap().lines().count();
            let shown = PLANS.iter().filter(|plan| all || !plan.is_published_test());
            assert_eq!(
                rows,
                1 + shown.count(),
                "a heading, and a line for each:\n{text}"
            );
        }
        let row_of = |name| row(PLANS.iter().find(|plan| plan.name() == name).unwrap()).unwrap();
        assert_eq!(row_of("power-cut").needs, ["FUSE", "PostgreSQL", "root"]);
        assert_eq!(row_of("existing-postgres").needs, ["a running server"]);
        assert_eq!(rounded(row_of("mock-stall").takes), "1 min");
        assert_eq!(rounded(row_of("snia").takes), "36 h");
    }
}
