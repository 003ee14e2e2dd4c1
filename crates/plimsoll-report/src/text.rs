//! The tables on standard output, of each step and medium, at most [`WIDTH`] columns wide.

mod audit;
mod block;
mod doctor;
mod imported;
mod shared;

pub use audit::{audit_table, explain};
use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{Comparison, Ladder};

use crate::findings::{FindingLine, describe};
use crate::load_summary::views;
use crate::message::Messages;
use crate::number::whole;
pub(crate) use crate::table::WIDTH;
use crate::{compare, cut, fleet, ladder, line, scaling, waits};

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
        out.push_str(&ladder_section(&m, ladder));
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

/// A row for each load, below what holds for all.
fn ladder_section(m: &Messages, ladder: &Ladder) -> String {
    let heading = ladder::heading(m, ladder);
    let mut lines = vec![format!("{heading}. {}", ladder::latency_of(m, ladder))];
    lines.extend(ladder::emulated(m, ladder));
    lines.extend(ladder.data.as_ref().map(|data| m.data_state(data)));
    lines.push(ladder::table(ladder).to_text(m, &views(ladder)));
    format!("{}\n\n", lines.join("\n"))
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
    let tried: Vec<_> = line.line.tried.iter().collect();
    lines.push(line::table(m, line).to_text(m, &tried));
    format!("{}\n\n", lines.join("\n"))
}

fn side_by_side(m: &Messages, comparison: &Comparison) -> String {
    let table = compare::table(comparison).to_text(m, &compare::rows(m, comparison));
    format!("{}\n{table}\n\n", compare::heading(m, comparison))
}

fn power_cut(cut: &cut::CutText<'_>) -> String {
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

#[cfg(test)]
mod tests {
    use plimsoll_analysis::summarise;
    use plimsoll_record::fixture;

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
                let table = ladder::table(ladder).to_text(&Messages::english(), &views(ladder));
                assert!(
                    table.lines().all(|line| line.chars().count() <= WIDTH),
                    "{table}"
                );
            }
        }
    }
}
