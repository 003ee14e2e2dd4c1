//! What the assumed speed of the processors does to a simulated rate.

use serde::Serialize;

use crate::summary::{LadderSummary, LoadSummary};

/// Beside the reference. Assumed: processors in use differ that much.
const SPEEDS: [f64; 2] = [0.65, 1.5];

/// A rate, or a ratio of two, with processors of these times the speed; predicted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AtCpuSpeeds {
    pub slow: f64,
    pub fast: f64,
}

impl AtCpuSpeeds {
    pub(super) fn over(self, other: Self) -> Self {
        Self {
            slow: self.slow / other.slow,
            fast: self.fast / other.fast,
        }
    }
}

/// Of a closed loop: sessions do all their work in the same way, the part of it that is CPU takes longer or shorter. Who waits
/// for a lock waits for such work of another. `None` of a rate that the plan imposes, and where nothing is simulated.
pub(super) fn at_cpu_speeds(ladder: &LadderSummary, load: &LoadSummary) -> Option<AtCpuSpeeds> {
    if !ladder.is_simulated || load.load.is_open() {
        return None;
    }
    let rate = load.main_rate()?.value;
    let waits = ladder.points[load.typical].waits.as_ref()?;
    let cpu = waits.cpu_of_work_percent()? / 100.0;
    let [slow, fast] = SPEEDS.map(|speed| rate / (cpu / speed + 1.0 - cpu));
    Some(AtCpuSpeeds { slow, fast })
}
