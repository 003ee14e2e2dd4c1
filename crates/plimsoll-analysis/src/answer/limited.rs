//! What limits throughput, by medium.

use super::choose::{ChosenAnswer, at_full_speed};
use super::kinds::{LimitedBy, RateBasis};
use crate::full_speed::FullSpeed;
use crate::predict::TimeParts;
use crate::summary::{Bottleneck, LadderSummary, WaitSummary};
use plimsoll_record::WaitState;

pub(super) fn of(
    chosen: &ChosenAnswer,
    ladders: &[LadderSummary],
    full_speed: &FullSpeed,
) -> Vec<LimitedBy> {
    let is_predicted = matches!(chosen.basis(), Some(RateBasis::Predicted { .. }));
    let loads = chosen
        .loads
        .iter()
        .map(|at| (&ladders[at.ladder], &ladders[at.ladder].loads[at.load]));
    loads
        .filter_map(|(ladder, load)| {
            let predicted = at_full_speed(full_speed, ladder, load).filter(|_| is_predicted);
            let typical = &ladder.points[load.typical];
            let simulated = typical.waits.as_ref().filter(|_| ladder.is_simulated);
            let parts = predicted
                .map(|own| own.parts)
                .or_else(|| simulated.map(simulated_parts));
            let (limiter, percent) = match parts {
                Some(parts) => largest_part(parts),
                None => {
                    let sign = typical.bottleneck.first()?;
                    (sign.what, sign.beyond)
                }
            };
            Some(LimitedBy {
                medium: ladder.medium.clone(),
                limiter,
                is_predicted: predicted.is_some(),
                percent,
                locks_percent: parts.and_then(waiting_for_locks),
            })
        })
        .collect()
}

/// What simulated sessions spent their time on, of any length: only its parts count.
pub(super) fn simulated_parts(waits: &WaitSummary) -> TimeParts {
    let percent = |state| waits.of(state).map_or(0.0, |own| own.percent);
    TimeParts {
        cpu_ms: percent(WaitState::Cpu),
        read_ms: percent(WaitState::DataRead),
        flush_ms: percent(WaitState::Log) + percent(WaitState::DataWrite),
        lock_ms: percent(WaitState::Lock),
    }
}

/// Who waits for a lock waits for the work of whoever holds it, so that work is what limits.
fn largest_part(parts: TimeParts) -> (Bottleneck, f64) {
    let all = [
        (Bottleneck::Cpu, parts.cpu_ms),
        (Bottleneck::Reads, parts.read_ms),
        (Bottleneck::Log, parts.flush_ms),
    ];
    let total: f64 = all.iter().map(|(_, ms)| ms).sum();
    let largest = all
        .into_iter()
        .fold(all[0], |a, b| if b.1 > a.1 { b } else { a });
    (largest.0, largest.1 * 100.0 / total.max(f64::MIN_POSITIVE))
}

fn waiting_for_locks(parts: TimeParts) -> Option<f64> {
    let total = parts.cpu_ms + parts.read_ms + parts.flush_ms + parts.lock_ms;
    let percent = parts.lock_ms * 100.0 / total;
    (percent > 50.0).then_some(percent)
}
