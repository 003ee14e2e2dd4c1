//! Steps in which systems share a medium, or back up and restore: tables, sentences, and what charts are drawn from.

mod data;

use std::collections::BTreeSet;

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{BackupSummary, NoiseEffect, StepTimeline};

use data::SharedChartView;
pub(super) use data::{SharedData, island};

use crate::message::Messages;
use crate::table::Grid;
use crate::{backup, effect};

/// One step.
pub(super) struct SharedView {
    pub heading: String,
    pub effects: Vec<EffectView>,
    pub backups: Vec<BackupView>,
    pub charts: Vec<SharedChartView>,
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

pub(super) fn views(m: &Messages, summary: &Summary) -> Vec<SharedView> {
    let steps: BTreeSet<u32> = (summary.figures.timelines.iter().map(|own| own.step_index))
        .chain(summary.figures.effects.iter().map(|own| own.step_index))
        .chain(summary.figures.backups.iter().map(|own| own.step_index))
        .collect();
    steps
        .into_iter()
        .map(|step| view(m, summary, step))
        .collect()
}

fn view(m: &Messages, summary: &Summary, step: u32) -> SharedView {
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
    let about = if !effects.is_empty() {
        "shared-noise"
    } else if !backups.is_empty() {
        "shared-backups"
    } else {
        "shared-systems"
    };
    let args = [
        ("step", name.cloned().unwrap_or_default()),
        ("about", m.text(about)),
    ];
    SharedView {
        heading: m.text_with("shared-heading", &args),
        bands: timelines.iter().any(|own| !own.bands.is_empty()),
        charts: data::charts(m, summary, step),
        effects: effects.into_iter().map(|own| effect_view(m, own)).collect(),
        backups: backups.into_iter().map(|own| backup_view(m, own)).collect(),
    }
}

fn effect_view(m: &Messages, own: &NoiseEffect) -> EffectView {
    EffectView {
        heading: effect::heading(m, own),
        notes: effect::notes(m, own),
        grid: effect::table().to_grid(m, &effect::rows(own)),
        sentences: effect::describe(m, own),
    }
}

fn backup_view(m: &Messages, own: &BackupSummary) -> BackupView {
    BackupView {
        heading: backup::heading(m, own),
        drives: backup::drives(m, own),
        times: backup::times().to_grid(m, &backup::kinds(own)),
        io: backup::io().to_grid(m, &backup::media(own)),
        operations: backup::operations().to_grid(m, &backup::operation_rows(own)),
        details: backup::details(m, own),
    }
}
