//! What limits throughput, by medium.

use plimsoll_record::WaitState;

use super::choose::{ChosenAnswer, at_full_speed};
use super::kinds::{LimitedBy, Limiter, RateBasis};
use crate::full_speed::FullSpeed;
use crate::predict::TimeParts;
use crate::summary::{LadderSummary, LoadSummary};

/// Processors that are so busy limit, whatever sessions wait for.
const BUSY_PERCENT: f64 = 85.0;

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
            let (limiter, percent) = match predicted {
                Some(own) => largest_part(own.parts),
                None => of_point(ladder, load)?,
            };
            Some(LimitedBy {
                medium: ladder.medium.clone(),
                limiter,
                percent,
                locks_percent: predicted.and_then(|own| waiting_for_locks(own.parts)),
            })
        })
        .collect()
}

/// Who waits for a lock waits for the work of whoever holds it, so that work is what limits.
fn largest_part(parts: TimeParts) -> (Limiter, f64) {
    let all = [
        (Limiter::Cpu, parts.cpu_ms),
        (Limiter::Reads, parts.read_ms),
        (Limiter::Flushes, parts.flush_ms),
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

/// What was measured: busy processors, else what sessions of the server wait for.
fn of_point(ladder: &LadderSummary, load: &LoadSummary) -> Option<(Limiter, f64)> {
    let point = &ladder.points[load.typical];
    let busy = point.resources.host_cpu_busy_percent;
    if let Some(busy) = busy.filter(|busy| *busy >= BUSY_PERCENT) {
        return Some((Limiter::Processors, busy));
    }
    let states = point.waits.as_ref()?.states.iter();
    let known = states.filter_map(|own| Some((limiter(own.state)?, own.busy_percent?)));
    known.max_by(|a, b| a.1.total_cmp(&b.1))
}

fn limiter(state: WaitState) -> Option<Limiter> {
    match state {
        WaitState::Cpu => Some(Limiter::Cpu),
        WaitState::DataRead => Some(Limiter::Reads),
        WaitState::Log => Some(Limiter::Flushes),
        WaitState::Lock => Some(Limiter::Locks),
        _ => None,
    }
}
