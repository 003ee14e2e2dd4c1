//! The tables on standard output, of each step and medium, at most [`WIDTH`] columns wide.

mod audit;
mod block;
mod columns;
mod doctor;
mod imported;
mod shared;

pub use audit::{audit_table, explain};
pub(crate) use columns::aligned;
use columns::fitted;
use plimsoll_analysis::summary::{Comparison, Ladder, LoadSummary, Summary};

use crate::findings::{FindingLine, describe};
use crate::load_summary::{self, LoadView};
use crate::message::Messages;
use crate::number::{or_none, three, whole};
use crate::{compare, cut, fleet, line, scaling, waits};

pub const WIDTH: usize = 100;

/// Doctor checks, block I/O, all ladders, verified conditions, and findings.
pub fn ladder_table(summary: &Summary) -> String {
    let m = Messages::english();
    let mut out = String::new();
    out.push_str(&doctor::section(&m, summary));
    summary
        .blocks
        .iter()
        .for_each(|step| out.push_str(&block::section(&m, step)));
    line::describe(&m, summary)
        .iter()
        .for_each(|line| out.push_str(&load_line(&m, line)));
    for text in line::before_points(&m, summary) {
        out.push_str(&format!("{text}\n\n"));
    }
    for ladder in &summary.ladders {
        out.push_str(&format!(
            "{}. {}\n",
            heading(&m, ladder),
            latency_of(&m, ladder)
        ));
        if let Some(drive) = &ladder.drive {
            out.push_str(&m.text_with("emulated-drive", &[("drive", drive.clone())]));
            out.push('\n');
        }
        if let Some(data) = &ladder.data {
            out.push_str(&m.data_state(data));
            out.push('\n');
        }
        out.push_str(&table(&m, ladder));
        out.push_str("\n\n");
        out.push_str(&fleet::section(&m, ladder));
        out.push_str(&scaling::section(&m, ladder));
        out.push_str(&waits::section(&m, ladder));
    }
    out.push_str(&imported::section(&m, summary));
    summary
        .effects
        .iter()
        .for_each(|effect| out.push_str(&shared::effect(&m, effect)));
    summary
        .backups
        .iter()
        .for_each(|backups| out.push_str(&shared::backups(&m, backups)));
    if summary.ladders.is_empty() && summary.blocks.is_empty() && summary.backups.is_empty() {
        out.push_str(&m.text("text-no-points"));
        out.push('\n');
    }
    summary
        .comparisons
        .iter()
        .for_each(|comparison| out.push_str(&side_by_side(&m, comparison)));
    cut::describe(&m, summary)
        .iter()
        .for_each(|cut| out.push_str(&power_cut(cut)));
    if !is_without_transactions(summary) {
        out.push_str(&consistency(&m, summary));
        out.push('\n');
    }
    for FindingLine { place, finding } in describe(&m, summary) {
        let colon = if place.is_empty() { "" } else { ": " };
        let severity = m.text(&format!("severity-{}", finding.severity.name()));
        out.push_str(&format!(
            "{severity}: {place}{colon}{}\n",
            m.finding(finding)
        ));
    }
    out.push_str(&audit::section(&m, &summary.audit));
    if has_tpcc(summary) {
        out.push_str(&m.text("not-tpc"));
        out.push('\n');
    }
    out.push_str(&m.file_state(&summary.file));
    out.push('\n');
    out
}

/// Whether anything here could be taken for a TPC result; true where nothing was measured, since the load is unknown then.
pub(crate) fn has_tpcc(summary: &Summary) -> bool {
    if is_without_transactions(summary) {
        return false;
    }
    summary.points().any(|point| point.tpm.is_some())
        || !summary
            .points()
            .any(|point| point.completed_per_second.is_some())
}

/// Block I/O and backups have no transactions.
pub(crate) fn is_without_transactions(summary: &Summary) -> bool {
    summary.ladders.is_empty() && !(summary.blocks.is_empty() && summary.backups.is_empty())
}

/// The line, the loads tried and the bottleneck.
fn load_line(m: &Messages, line: &line::LoadLineText<'_>) -> String {
    let header = line::COLUMNS.map(|id| m.text(&format!("text-{id}")));
    let rows: Vec<Vec<String>> = line::rows(m, line).into_iter().map(Vec::from).collect();
    let args = [
        ("heading", line.heading.clone()),
        ("value", line.value.clone()),
        ("unit", line.unit.clone()),
        ("objective", line.objective.clone()),
    ];
    let mut lines = vec![m.text_with("line-text", &args)];
    lines.extend(
        [&line.between, &line.effort, &line.rate]
            .into_iter()
            .filter(|text| !text.is_empty())
            .cloned(),
    );
    lines.push(m.text("bottleneck-title"));
    lines.extend(line.bottleneck.iter().map(|sign| format!("  {sign}")));
    format!("{}\n{}\n\n", lines.join("\n"), aligned(&header, &rows))
}

fn side_by_side(m: &Messages, comparison: &Comparison) -> String {
    let ids = compare::columns(comparison).map(|id| format!("text-{id}"));
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let rows = compare::rows(m, comparison)
        .into_iter()
        .map(|row| row.cells.into())
        .collect();
    let table = fitted(m, &ids, rows, &["text-ratio-interval", "text-interval"], 0);
    format!("{}\n{table}\n\n", compare::heading(m, comparison))
}

fn power_cut(cut: &cut::CutText) -> String {
    let lines = cut
        .happened
        .iter()
        .chain(cut.outcomes.iter().map(|outcome| &outcome.text));
    let lines: Vec<String> = std::iter::once(&cut.heading)
        .chain(lines)
        .cloned()
        .collect();
    format!("{}\n\n", lines.join("\n"))
}

pub(crate) fn heading(m: &Messages, ladder: &Ladder) -> String {
    let args = [
        ("step", ladder.step.clone()),
        ("system", ladder.system.clone()),
        ("mode", ladder.mode.clone()),
    ];
    let [step, system, mode] = args;
    // A system that plimsoll starts is named after its medium already.
    let named = |medium: &String| ladder.system.ends_with(&format!("@{medium}"));
    let heading = match &ladder.medium {
        Some(medium) if !named(medium) => m.text_with(
            "ladder-on",
            &[step, system, mode, ("medium", medium.clone())],
        ),
        _ => m.text_with("ladder", &[step, system, mode]),
    };
    m.in_scene(heading, ladder.scene)
}

/// The verified conditions of the whole run.
pub(crate) fn consistency(m: &Messages, summary: &Summary) -> String {
    let found = &summary.consistency;
    if found.verified == 0 {
        return m.text("consistency-none");
    }
    let verified = ("verified", whole(f64::from(found.verified)));
    if found.holds() {
        return m.text_with("consistency-holds", &[verified]);
    }
    let mut failed = found.failed.clone();
    failed.dedup();
    m.text_with(
        "consistency-fails",
        &[verified, ("failed", failed.join(", "))],
    )
}

/// Whose latency the main columns show.
pub(crate) fn latency_of(m: &Messages, ladder: &Ladder) -> String {
    let latency = m.text_with("ladder-latency-of", &[("txn", main_txn(m, ladder))]);
    if load_summary::repeated(ladder) {
        format!("{latency} {}", m.text("ladder-repeats"))
    } else {
        latency
    }
}

/// The transaction type whose response times stand beside rates.
pub(crate) fn main_txn(m: &Messages, ladder: &Ladder) -> String {
    let tpcc = ladder
        .points
        .iter()
        .find(|p| p.nopm.is_some())
        .and_then(|p| p.types.first());
    tpcc.map_or_else(|| m.text("chart-all"), |txn| txn.name.clone())
}

/// What may be left out where the table would be too wide, first to last.
const DISPENSABLE: [&str; 8] = [
    "text-interval",
    "text-write-ms",
    "text-retries",
    "text-tpm-user",
    "text-write",
    "text-spread",
    "text-p50",
    "text-cpu",
];

fn table(m: &Messages, ladder: &Ladder) -> String {
    let columns = columns(ladder);
    let ids: Vec<&str> = columns.iter().map(|(id, _)| *id).collect();
    let row = |view: &LoadView<'_>| columns.iter().map(|(_, cell)| cell(m, view)).collect();
    fitted(
        m,
        &ids,
        load_summary::views(ladder).iter().map(row).collect(),
        &DISPENSABLE,
        0,
    )
}

type Column = (&'static str, fn(&Messages, &LoadView<'_>) -> String);

/// The columns that have values for this ladder.
fn columns(ladder: &Ladder) -> Vec<Column> {
    let any = |has: fn(&LoadSummary) -> bool| ladder.rungs.iter().any(has);
    let mut columns: Vec<Column> = Vec::new();
    let load = if any(|r| r.offered_per_second.is_some()) {
        "text-offered"
    } else {
        "text-users"
    };
    columns.push((load, |_, v| v.load()));
    if load == "text-offered" {
        columns.push(("text-users", |_, v| v.rung.users.to_string()));
    }
    if load_summary::repeated(ladder) {
        columns.push(("text-repeats", |_, v| v.rung.repeats().to_string()));
    }
    if any(|r| r.tpm.is_some()) || !any(|r| r.completed_per_second.is_some()) {
        columns.push(("text-nopm", |_, v| {
            or_none(v.rung.nopm.map(|f| f.median), whole)
        }));
        columns.extend(precision(
            ladder,
            [
                |_, v| load_summary::interval(v.rung.nopm, whole),
                |_, v| load_summary::spread(v.rung.nopm, whole),
                |_, v| load_summary::half(v.rung.nopm),
            ],
        ));
        columns.push(("text-tpm", |_, v| {
            or_none(v.rung.tpm.map(|f| f.median), whole)
        }));
        columns.push(("text-tpm-user", |_, v| or_none(v.point.tpm_per_user, whole)));
    } else {
        columns.push(("text-rate", |_, v| {
            or_none(v.rung.completed_per_second.map(|f| f.median), three)
        }));
        columns.extend(precision(
            ladder,
            [
                |_, v| load_summary::interval(v.rung.completed_per_second, three),
                |_, v| load_summary::spread(v.rung.completed_per_second, three),
                |_, v| load_summary::half(v.rung.completed_per_second),
            ],
        ));
    }
    columns.push(("text-p50", |_, v| {
        or_none(v.rung.p50_ms.map(|f| f.median), three)
    }));
    columns.push(("text-p95", |_, v| {
        or_none(v.rung.p95_ms.map(|f| f.median), three)
    }));
    columns.push(("text-p99", |_, v| {
        or_none(v.rung.p99_ms.map(|f| f.median), three)
    }));
    columns.extend(beside(ladder));
    columns
}

/// How sure the rate is: of repeats their interval and spread, of single points half the interval.
fn precision(
    ladder: &Ladder,
    [interval, spread, half]: [fn(&Messages, &LoadView<'_>) -> String; 3],
) -> Vec<Column> {
    if load_summary::repeated(ladder) {
        vec![("text-interval-of", interval), ("text-spread", spread)]
    } else {
        vec![("text-interval", half)]
    }
}

/// What stands beside rate and latency.
fn beside(ladder: &Ladder) -> Vec<Column> {
    let any =
        |has: fn(&plimsoll_analysis::summary::PointSummary) -> bool| ladder.points.iter().any(has);
    let mut columns: Vec<Column> =
        vec![("text-failed", |_, v| v.counted(|p| p.overall.counts.failed))];
    if any(|p| p.overall.counts.dropped > 0) {
        columns.push(("text-dropped", |_, v| {
            v.counted(|p| p.overall.counts.dropped)
        }));
    }
    if any(|p| p.outage.is_some()) {
        columns.push(("text-away", |_, v| {
            or_none(v.point.outage.map(|outage| outage.server_s), three)
        }));
    }
    columns.push(("text-retries", |_, v| {
        v.counted(|p| p.overall.counts.retries)
    }));
    if any(|p| p.resources.host_cpu_busy_percent.is_some()) {
        columns.push(("text-cpu", |_, v| {
            or_none(v.point.resources.host_cpu_busy_percent, whole)
        }));
    }
    if any(|p| p.resources.device_write_mb_per_second.is_some()) {
        columns.push(("text-write", |_, v| {
            or_none(v.point.resources.device_write_mb_per_second, three)
        }));
        columns.push(("text-write-ms", |_, v| {
            or_none(v.point.resources.device_write_latency_ms, three)
        }));
    }
    columns.push(("text-steady", |m, v| v.steady(m)));
    columns.push(("text-verdict", |m, v| {
        m.text(&format!("verdict-{}", v.rung.verdict.name()))
    }));
    columns
}

#[cfg(test)]
mod tests {
    use plimsoll_analysis::fixture;
    use plimsoll_analysis::summary::summarise;

    use super::*;

    #[test]
    fn tables_of_the_fixture() {
        insta::assert_snapshot!(ladder_table(&summarise(&fixture::record())));
    }

    #[test]
    fn tables_of_next_to_nothing() {
        insta::assert_snapshot!(
            "nothing_measured",
            ladder_table(&summarise(&fixture::nothing_measured()))
        );
        insta::assert_snapshot!(
            "single_point",
            ladder_table(&summarise(&fixture::single_point()))
        );
    }

    #[test]
    fn load_lines_of_the_fixture() {
        insta::assert_snapshot!(ladder_table(&summarise(&fixture::search())));
    }

    #[test]
    fn block_io_of_the_fixture() {
        insta::assert_snapshot!(ladder_table(&summarise(&fixture::block())));
    }

    #[test]
    fn backups_and_noise_of_the_fixture() {
        let text = ladder_table(&summarise(&fixture::backup()));
        insta::assert_snapshot!(text);
        let tables = text.lines().filter(|line| line.contains("  "));
        tables.for_each(|line| assert!(line.chars().count() <= WIDTH, "{line}"));
    }

    #[test]
    fn tables_fit_the_terminal() {
        for record in [
            fixture::record(),
            fixture::nothing_measured(),
            fixture::single_point(),
            fixture::search(),
        ] {
            let summary = summarise(&record);
            for ladder in &summary.ladders {
                let table = table(&Messages::english(), ladder);
                assert!(
                    table.lines().all(|line| line.chars().count() <= WIDTH),
                    "{table}"
                );
            }
        }
    }
}
