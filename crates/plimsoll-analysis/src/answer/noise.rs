//! The answer of a step with noisy neighbors: response times with and without them.

use serde::Serialize;

use super::figures::AnswerLoad;
use crate::summary::{EffectLoad, Interval, NoiseChange, NoiseEffect, RunFigures, Verdict};

/// What the neighbors did to the systems on one medium.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NoiseAnswer {
    pub system: String,
    pub medium: Option<String>,
    pub drive: Option<String>,
    /// Who made the noise; empty where it was backups alone.
    pub neighbours: Vec<String>,
    /// The highest load that is not invalid.
    pub load: AnswerLoad,
    pub p99_ms: Option<NoiseChange>,
    pub throughput: Option<NoiseChange>,
    pub nopm: bool,
    /// Of the backups that ran beside the load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup_interval: Option<Interval>,
    pub verdict: Verdict,
}

/// `None` where there were no neighbors.
pub(super) fn of(figures: &RunFigures) -> Option<Vec<NoiseAnswer>> {
    let effects: Vec<NoiseAnswer> = figures.effects.iter().filter_map(of_effect).collect();
    (!effects.is_empty()).then_some(effects)
}

fn of_effect(effect: &NoiseEffect) -> Option<NoiseAnswer> {
    let height = |load: &EffectLoad| load.offered_per_second.unwrap_or(f64::from(load.users));
    let load = effect.loads.iter().max_by(|a, b| {
        let valid = |load: &EffectLoad| load.verdict < Verdict::Invalid;
        let by_verdict = valid(a).cmp(&valid(b));
        by_verdict.then(height(a).total_cmp(&height(b)))
    })?;
    let backups = load.backups.as_ref().and_then(|own| own.seconds);
    Some(NoiseAnswer {
        system: effect.system.clone(),
        medium: effect.medium.clone(),
        drive: effect.drive.clone(),
        neighbours: effect.neighbours.clone(),
        load: AnswerLoad {
            users: load.users,
            offered_per_second: load.offered_per_second,
        },
        p99_ms: load.all.p99_ms,
        throughput: load.all.rate,
        nopm: effect.nopm,
        backup_seconds: backups.map(|own| own.mean),
        backup_interval: backups.and_then(|own| own.interval),
        verdict: load.verdict,
    })
}
