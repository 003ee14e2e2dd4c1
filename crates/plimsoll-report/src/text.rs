//! The tables on standard output, of each step and medium, at most [`crate::table::WIDTH`] columns wide.

mod audit;
mod block;
mod doctor;
mod imported;
mod shared;

pub use audit::{audit_table, explain};
use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{Comparison, FigureId, LadderSummary};

use crate::load_summary::views;
use crate::message::Messages;
use crate::number::whole;
use crate::{compare, cut, findings, fleet, ladder, line, scaling, waits};

/// Doctor checks, block I/O, all ladders, verified conditions, and findings.
pub fn ladder_table(summary: &Summary) -> String {
    let m = Messages::english();
    let mut parts = vec![doctor::section(&m, summary)];
    parts.extend(
        summary
            .figures
            .blocks
            .iter()
            .map(|step| block::section(&m, step)),
    );
    let lines = line::describe(&m, summary);
    parts.extend(lines.iter().map(|line| load_line(&m, line)));
    let before = line::before_points(&m, summary).into_iter();
    parts.extend(before.map(|text| format!("{text}\n\n")));
    for ladder in &summary.figures.ladders {
        parts.push(ladder_section(&m, ladder));
        parts.push(fleet::section(&m, ladder));
        parts.push(scaling::section(&m, ladder));
        parts.push(waits::section(&m, ladder));
    }
    parts.push(imported::section(&m, summary));
    parts.extend(
        summary
            .figures
            .effects
            .iter()
            .map(|own| shared::effect(&m, own)),
    );
    parts.extend(
        summary
            .figures
            .backups
            .iter()
            .map(|own| shared::backups(&m, own)),
    );
    if summary.figures.ladders.is_empty()
        && summary.figures.blocks.is_empty()
        && summary.figures.backups.is_empty()
    {
        parts.push(m.text("text-no-points") + "\n");
    }
    let comparisons = summary.figures.comparisons.iter();
    parts.extend(comparisons.map(|own| side_by_side(&m, own)));
    parts.extend(cut::describe(&m, summary).iter().map(power_cut));
    if !is_without_transactions(summary) {
        parts.push(consistency(&m, summary) + "\n");
    }
    let findings = findings::describe(&m, summary).into_iter();
    parts.extend(findings.map(|line| line.view(&m).line() + "\n"));
    parts.push(audit::section(&m, &summary.audit));
    if has_tpcc(summary) {
        parts.push(m.text("not-tpc") + "\n");
    }
    parts.push(m.file_state(&summary.figures.file) + "\n");
    parts.concat()
}

/// A row for each load, below what holds for all.
fn ladder_section(m: &Messages, ladder: &LadderSummary) -> String {
    let heading = ladder::heading(m, ladder);
    let mut lines = vec![format!("{heading}. {}", ladder::latency_of(m, ladder))];
    lines.extend(Some(ladder::emulated(m, ladder)).filter(|text| !text.is_empty()));
    lines.extend(ladder.data.as_ref().map(|data| m.data_state(data)));
    lines.push(ladder::table().to_text(m, &views(ladder)));
    format!("{}\n\n", lines.join("\n"))
}

/// Whether anything here could be taken for a TPC result; true where nothing was measured, since the load is unknown then.
pub(crate) fn has_tpcc(summary: &Summary) -> bool {
    if is_without_transactions(summary) {
        return false;
    }
    summary
        .figures
        .points()
        .any(|point| point.value(FigureId::Tpm).is_some())
        || !summary
            .figures
            .points()
            .any(|point| point.value(FigureId::Transactions).is_some())
}

/// Block I/O and backups have no transactions.
pub(crate) fn is_without_transactions(summary: &Summary) -> bool {
    summary.figures.ladders.is_empty()
        && !(summary.figures.blocks.is_empty() && summary.figures.backups.is_empty())
}

/// The line, the loads tried and the bottleneck.
fn load_line(m: &Messages, line: &line::LoadLineText<'_>) -> String {
    let args = [
        ("heading", line.heading.clone()),
        ("value", line.value.clone()),
        ("unit", line.unit.clone()),
        ("objective", line.objective.clone()),
    ];
    let mut lines = vec![m.text_with("line-text", &args)];
    let sentences = [&line.between, &line.effort, &line.rate].into_iter();
    lines.extend(sentences.filter(|text| !text.is_empty()).cloned());
    lines.push(m.text("bottleneck-title"));
    lines.extend(line.bottleneck.iter().map(|sign| format!("  {sign}")));
    lines.push(line::table().to_text(m, &line::tried(line)));
    format!("{}\n\n", lines.join("\n"))
}

fn side_by_side(m: &Messages, comparison: &Comparison) -> String {
    let table = compare::table().to_text(m, &compare::rows(m, comparison));
    format!("{}\n{table}\n\n", compare::heading(m, comparison))
}

fn power_cut(cut: &cut::CutText<'_>) -> String {
    let mut lines = vec![cut.heading.clone()];
    lines.extend(cut.happened.iter().cloned());
    lines.extend(cut.outcomes.iter().map(|own| own.text.clone()));
    format!("{}\n\n", lines.join("\n"))
}

/// The verified conditions of the whole run.
pub(crate) fn consistency(m: &Messages, summary: &Summary) -> String {
    let found = &summary.figures.consistency;
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

#[cfg(test)]
mod tests {
    use plimsoll_analysis::summarise;
    use plimsoll_record::fixture;

    use super::*;
    use crate::table::WIDTH;

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
        let tables = text.lines().filter(|line| line.trim_start().contains("  "));
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
            for ladder in &summary.figures.ladders {
                let table = ladder::table().to_text(&Messages::english(), &views(ladder));
                assert!(
                    table.lines().all(|line| line.chars().count() <= WIDTH),
                    "{table}"
                );
            }
        }
    }
}
