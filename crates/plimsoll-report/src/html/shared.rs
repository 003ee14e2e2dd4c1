//! Steps in which systems share a medium, or back up and restore: tables, sentences, and what charts are drawn from.

mod data;
mod headline;

use std::collections::BTreeSet;

use plimsoll_analysis::summary::{BackupSummary, Effect, Summary};

pub(super) use data::{SharedData, island};
pub(super) use headline::headline;

use super::tables::{Cell, Grid, Row, plain, words};
use crate::message::Messages;
use crate::table::Table;
use crate::{backup, effect};

/// One step.
pub(super) struct SharedView {
    pub heading: String,
    pub effects: Vec<EffectView>,
    pub backups: Vec<BackupView>,
    pub charts: Vec<ChartView>,
    /// Whether charts have bands.
    pub bands: bool,
}

pub(super) struct EffectView {
    pub heading: String,
    pub notes: Vec<String>,
    pub grid: Grid,
    pub sentences: Vec<String>,
}

pub(super) struct BackupView {
    pub heading: String,
    pub drives: Vec<String>,
    pub times: Grid,
    pub io: Grid,
    pub operations: Grid,
    pub details: Vec<String>,
}

pub(super) struct ChartView {
    pub kind: &'static str,
    /// Into the island's `shared`.
    pub place: usize,
    pub title: String,
}

pub(super) fn views(m: &Messages, summary: &Summary) -> Vec<SharedView> {
    let steps: BTreeSet<u32> = (summary.timelines.iter().map(|own| own.step_index))
        .chain(summary.effects.iter().map(|own| own.step_index))
        .chain(summary.backups.iter().map(|own| own.step_index))
        .collect();
    steps
        .into_iter()
        .map(|step| view(m, summary, step))
        .collect()
}

fn view(m: &Messages, summary: &Summary, step: u32) -> SharedView {
    let effects: Vec<&Effect> = summary
        .effects
        .iter()
        .filter(|own| own.step_index == step)
        .collect();
    let backups: Vec<&BackupSummary> = summary
        .backups
        .iter()
        .filter(|own| own.step_index == step)
        .collect();
    let timelines = || {
        summary
            .timelines
            .iter()
            .filter(move |own| own.step_index == step)
    };
    let names = effects
        .iter()
        .map(|own| &own.step)
        .chain(backups.iter().map(|own| &own.step));
    let name = names
        .chain(timelines().map(|own| &own.step))
        .next()
        .cloned()
        .unwrap_or_default();
    let about = if !effects.is_empty() {
        "shared-noise"
    } else if !backups.is_empty() {
        "shared-backups"
    } else {
        "shared-systems"
    };
    SharedView {
        heading: m.text_with(
            "shared-heading",
            &[("step", name), ("about", m.text(about))],
        ),
        bands: timelines().any(|own| !own.bands.is_empty()),
        charts: data::charts(m, summary, step),
        effects: effects.into_iter().map(|own| effect_view(m, own)).collect(),
        backups: backups.into_iter().map(|own| backup_view(m, own)).collect(),
    }
}

fn effect_view(m: &Messages, own: &Effect) -> EffectView {
    let mut grid = grid(m, effect::table(own));
    // The sums stand out from the systems below them.
    let places = own.rungs.iter().scan(0, |place, rung| {
        let own = *place;
        *place += 1 + rung.victims.len();
        Some((own, own + rung.victims.len()))
    });
    for (sum, last) in places {
        if let Some(row) = grid.rows.get_mut(sum) {
            row.class = "total";
        }
        if let Some(row) = grid.rows.get_mut(last).filter(|_| last > sum) {
            row.class = "group";
        }
    }
    EffectView {
        heading: effect::heading(m, own),
        notes: effect::notes(m, own),
        grid,
        sentences: effect::describe(m, own),
    }
}

fn backup_view(m: &Messages, own: &BackupSummary) -> BackupView {
    let mut operations = grid(m, backup::operations(m, own));
    let all = own.media.iter().flat_map(|medium| &medium.operations);
    for (row, operation) in operations.rows.iter_mut().zip(all) {
        let outcome = m.text(&format!("backup-outcome-{}", operation.outcome.name()));
        if let Some(cell) = row.cells.iter_mut().find(|cell| cell.text == outcome) {
            cell.class = match backup::verdict(operation.outcome) {
                "sound" => "words sound",
                "doubtful" => "words doubtful",
                _ => "words invalid",
            };
        }
    }
    BackupView {
        heading: backup::heading(m, own),
        drives: backup::drives(m, own),
        times: grid(m, backup::times(m, own)),
        io: grid(m, backup::io(m, own)),
        operations,
        details: backup::details(m, own),
    }
}

fn grid(m: &Messages, table: Table) -> Grid {
    let Table {
        ids,
        words: names,
        rows,
    } = table.without_empty_columns();
    let cell = |(place, text): (usize, String)| {
        if place < names {
            words(text)
        } else {
            plain(text)
        }
    };
    let row = |cells: Vec<String>| Row {
        class: "",
        cells: cells.into_iter().enumerate().map(cell).collect(),
    };
    let header = ids
        .iter()
        .map(|id| m.text(id))
        .enumerate()
        .map(cell)
        .collect::<Vec<Cell>>();
    Grid {
        header,
        rows: rows.into_iter().map(row).collect(),
    }
}
