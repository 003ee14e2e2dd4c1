//! Steps in which systems share a medium, or back up and restore: what noise did, how long backups took, and charts of
//! their time.

mod timeline;

use std::collections::BTreeSet;

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{BackupSummary, NoiseEffect, StepTimeline};

use crate::document::{ReportBlock, ReportSection, reduced_note};
use crate::message::Messages;
use crate::svg::color::MediumColors;
use crate::{backup, effect};

/// One for each step.
pub(crate) fn sections(
    m: &Messages,
    summary: &Summary,
    colors: MediumColors<'_>,
) -> Vec<ReportSection> {
    let figures = &summary.figures;
    let steps: BTreeSet<u32> = (figures.timelines.iter().map(|own| own.step_index))
        .chain(figures.effects.iter().map(|own| own.step_index))
        .chain(figures.backups.iter().map(|own| own.step_index))
        .collect();
    let steps = steps.into_iter();
    steps
        .map(|step| section(m, summary, step, colors))
        .collect()
}

fn section(m: &Messages, summary: &Summary, step: u32, colors: MediumColors<'_>) -> ReportSection {
    let effects = summary.figures.effects.iter();
    let effects: Vec<&NoiseEffect> = effects.filter(|own| own.step_index == step).collect();
    let backups = summary.figures.backups.iter();
    let backups: Vec<&BackupSummary> = backups.filter(|own| own.step_index == step).collect();
    let timelines = summary.figures.timelines.iter();
    let timelines: Vec<&StepTimeline> = timelines.filter(|own| own.step_index == step).collect();
    let name = effects
        .iter()
        .map(|own| &own.step)
        .chain(backups.iter().map(|own| &own.step))
        .chain(timelines.iter().map(|own| &own.step))
        .next();
    let about = match (effects.is_empty(), backups.is_empty()) {
        (false, _) => "shared-noise",
        (true, false) => "shared-backups",
        (true, true) => "shared-systems",
    };
    let args = [
        ("step", name.cloned().unwrap_or_default()),
        ("about", m.text(about)),
    ];
    let heading = m.text_with("shared-heading", &args);
    let mut section = ReportSection::new("shared", heading).styled("charts block");
    for own in effects {
        add_effect(m, own, &mut section);
    }
    for own in backups {
        add_backups(m, own, &mut section);
    }
    let mut notes = vec![m.text("shared-time-note")];
    if timelines.iter().any(|own| !own.bands.is_empty()) {
        notes.push(m.text("shared-bands-note"));
    }
    let charts = timeline::charts(m, summary, step, colors);
    let reduced = reduced_note(m, &charts);
    let blocks = [ReportBlock::figures("figures pairs", charts), reduced];
    section.page_under(m.text("shared-time-title"), notes.join(" "), blocks);
    section
}

fn add_effect(m: &Messages, own: &NoiseEffect, section: &mut ReportSection) {
    let heading = effect::heading(m, own);
    let mut notes = effect::notes(m, own);
    notes.push(m.text("effect-note"));
    let table = ReportBlock::table(m, &heading, &effect::table(), &effect::rows(own));
    section.gap();
    section.both(ReportBlock::heading(heading));
    section.page(ReportBlock::note(notes.join(" ")));
    section.lines(notes);
    section.both(table);
    for text in effect::describe(m, own) {
        section.both(ReportBlock::text(text));
    }
}

fn add_backups(m: &Messages, own: &BackupSummary, section: &mut ReportSection) {
    let heading = backup::heading(m, own);
    let times = ReportBlock::table(m, &heading, &backup::times(), &backup::kinds(own));
    section.gap();
    section.both(ReportBlock::heading(heading));
    for drive in backup::drives(m, own) {
        section.both(ReportBlock::styled("emulated", drive));
    }
    section.gap();
    section.both(times);
    section.page(ReportBlock::note(m.text("backup-note")));
    let label = m.text("backup-io-title");
    section.gap();
    section.both(ReportBlock::table(
        m,
        &label,
        &backup::io(),
        &backup::media(own),
    ));
    section.page(ReportBlock::note(m.text("backup-io-note")));
    let label = m.text("backup-operations");
    let (table, rows) = (backup::operations(), backup::operation_rows(own));
    section.gap();
    section.line(table.to_text(m, &rows));
    let operations = ReportBlock::grid(m, &label, &table, &rows);
    let details = ReportBlock::list(backup::details(m, own));
    section.page(ReportBlock::folded(label, [operations, details]));
}
