//! A step on media themselves: its jobs on each medium, media side by side, curves, durable writes, rounds, workers.

use plimsoll_analysis::summary::{BlockMedium, BlockSummary, RoundsOfJob};

use crate::block::tables::{self, repeated};
use crate::block::{Across, across, drives, durable_writes, heading, medium_name, notes, outcome};
use crate::message::Messages;
use crate::number::three;
use crate::table::{Table, WIDTH};

pub(super) fn section(m: &Messages, step: &BlockSummary) -> String {
    let all = across(step);
    let mut head = vec![heading(m, step)];
    head.extend(notes(m, step));
    head.extend(drives(m, step));
    head.push(m.text("text-block-note"));
    if repeated(step) {
        head.push(m.text("block-rounds-note"));
    }
    let mut parts = vec![head.join("\n")];
    let several = step.media.len() > 1;
    parts.extend(step.media.iter().map(|medium| jobs(m, medium, several)));
    parts.extend(side_by_side(m, step, &all));
    for part in [
        titled(
            m,
            "block-curve-title",
            &tables::curve(),
            &tables::curve_rows(&all),
        ),
        titled(
            m,
            "block-fsync-title",
            &tables::fsync(),
            &durable_writes(&all),
        ),
        titled(
            m,
            "block-workers-title",
            &tables::workers(),
            &tables::workers_rows(&all),
        ),
    ] {
        parts.extend(part);
    }
    let media = step.media.iter();
    parts.extend(media.filter_map(|medium| rounds(m, medium, &all)));
    format!("{}\n\n", parts.join("\n\n"))
}

/// A table below its title; `None` without rows.
fn titled<R>(m: &Messages, title: &str, table: &Table<'_, R>, rows: &[R]) -> Option<String> {
    (!rows.is_empty()).then(|| format!("{}\n{}", m.text(title), table.to_text(m, rows)))
}

/// What each job reached at full speed.
fn jobs(m: &Messages, medium: &BlockMedium, several: bool) -> String {
    let table = tables::jobs().to_text(m, &tables::job_rows(medium));
    if several {
        format!("{}\n{table}", medium_name(m, medium))
    } else {
        table
    }
}

/// The same job on all media, against the first. `None` of one medium.
fn side_by_side(m: &Messages, step: &BlockSummary, all: &[Across<'_>]) -> Option<String> {
    let first = step.media.first().filter(|_| step.media.len() > 1)?;
    let args = [("step", step.step.clone()), ("first", first.medium.clone())];
    let table = tables::side_by_side().to_text(m, &tables::on_media(all));
    let heading = m.text_with("compare-heading", &args);
    Some(format!("{heading}\n{table}"))
}

/// How rounds went until they were steady, or were given up.
fn rounds(m: &Messages, medium: &BlockMedium, all: &[Across<'_>]) -> Option<String> {
    let rounds = medium.rounds.as_ref()?;
    let mut rows = tables::rounds_rows(all);
    rows.retain(|row| std::ptr::eq(row.on.medium, medium));
    let mut lines = vec![
        outcome(m, medium, rounds).text,
        tables::rounds().to_text(m, &rows),
    ];
    lines.extend(rounds.jobs.iter().map(|own| by_round(m, own)));
    Some(lines.join("\n"))
}

/// IOPS of all rounds, over as many lines as they need.
fn by_round(m: &Messages, own: &RoundsOfJob) -> String {
    let mut line = m.text_with("text-by-round", &[("job", own.job.clone())]);
    let mut lines = Vec::new();
    for iops in own.iops.iter().copied().map(three) {
        if line.chars().count() + 1 + iops.chars().count() > WIDTH {
            lines.push(std::mem::replace(&mut line, " ".to_owned()));
        }
        line = format!("{line} {iops}");
    }
    lines.push(line);
    lines.join("\n")
}
