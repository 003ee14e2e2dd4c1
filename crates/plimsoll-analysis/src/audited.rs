//! Figures of a run for every view. LITTLE and PLAUSIBLE compare all figures of a point, so that only the audit can evaluate
//! them; an imported point whose figures contradict each other is invalid in reports, exports, comparisons and gates too.

use plimsoll_plan::RecordedPlan;
use plimsoll_record::Record;

use crate::audit::contradictions;
use crate::summary::{self, RunFigures, Ticks};

/// Without timelines, which only charts use and no rule does.
pub fn figures(record: &Record) -> RunFigures {
    figures_from(record, &Ticks::of(record))
}

pub(crate) fn figures_from(record: &Record, ticks: &Ticks<'_>) -> RunFigures {
    let figures = summary::figures_from(record, ticks, &Default::default());
    // plimsoll counts and times in one place: a contradiction there is about the run, and its audit has it.
    if record.plan != RecordedPlan::Imported {
        return figures;
    }
    let found = contradictions(record, &figures);
    if found.is_empty() {
        return figures;
    }
    summary::figures_from(record, ticks, &found)
}

pub(crate) fn figures_and_timelines(record: &Record) -> RunFigures {
    let ticks = Ticks::of(record);
    RunFigures {
        timelines: summary::timelines(record, &ticks),
        ..figures_from(record, &ticks)
    }
}
