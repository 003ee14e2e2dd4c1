//! The answer of a step with noisy neighbors: response times with and without them.

use plimsoll_record::OfferedLoad;
use serde::Serialize;

use super::refused::{LoadPlace, RefusedFigures};
use crate::summary::{
    EffectLoad, FigureId, Interval, NoiseEffect, RunFigures, Verdict, VictimEffect,
};

/// What the neighbors did to the systems on one medium.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NoiseAnswer {
    pub system: String,
    pub medium: Option<String>,
    pub drive: Option<String>,
    /// Who made the noise; empty where it was backups alone.
    pub neighbours: Vec<String>,
    /// The highest load that is not invalid.
    pub load: OfferedLoad,
    /// Without neighbors and with them: rate and p99 of all systems together.
    pub effect: VictimEffect,
    pub nopm: bool,
    /// Of the backups that ran beside the load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup_interval: Option<Interval>,
    pub verdict: Verdict,
}

/// `None` where there were no neighbors.
pub(super) fn of(figures: &RunFigures, refused: &RefusedFigures<'_>) -> Option<Vec<NoiseAnswer>> {
    let effects = figures.effects.iter();
    let effects: Vec<NoiseAnswer> = effects
        .filter_map(|own| of_effect(own, figures, refused))
        .collect();
    (!effects.is_empty()).then_some(effects)
}

/// The verdict of a load with that of the audit on it, with noise and without.
fn verdict(
    effect: &NoiseEffect,
    load: &EffectLoad,
    figures: &RunFigures,
    refused: &RefusedFigures<'_>,
) -> Verdict {
    let ladders = [effect.quiet, effect.noisy].map(|place| figures.ladders.get(place));
    let loads = ladders.into_iter().flatten().filter_map(|ladder| {
        let mut loads = ladder.loads.iter();
        let own = loads.find(|own| own.ordinal == load.ordinal)?;
        Some(refused.verdict(LoadPlace::of_ladder(ladder, own), own.verdict))
    });
    let is_refused = refused.has_pair(&[&effect.system]) || loads.max() == Some(Verdict::Invalid);
    if is_refused {
        Verdict::Invalid
    } else {
        load.verdict
    }
}

fn of_effect(
    effect: &NoiseEffect,
    figures: &RunFigures,
    refused: &RefusedFigures<'_>,
) -> Option<NoiseAnswer> {
    let verdict_of = |load: &EffectLoad| verdict(effect, load, figures, refused);
    let load = effect.loads.iter().max_by(|a, b| {
        let valid = |load: &EffectLoad| verdict_of(load) < Verdict::Invalid;
        let by_verdict = valid(a).cmp(&valid(b));
        by_verdict.then(a.load.height().total_cmp(&b.load.height()))
    })?;
    let backups = load.backups.as_ref();
    let backups = backups.and_then(|own| own.figures.get(FigureId::Seconds));
    Some(NoiseAnswer {
        system: effect.system.clone(),
        medium: effect.medium.clone(),
        drive: effect.drive.clone(),
        neighbours: effect.neighbours.clone(),
        load: load.load,
        effect: load.all.clone(),
        nopm: effect.nopm,
        backup_seconds: backups.map(|own| own.value),
        backup_interval: backups.and_then(|own| own.interval),
        verdict: verdict_of(load),
    })
}
