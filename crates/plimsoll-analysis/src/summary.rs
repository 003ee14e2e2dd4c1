//! The figures of a record, computed once: what the terminal's table, the HTML report, JSON and CSV show.
//!
//! [`RunFigures`] is also the stored shape of `--format json`: units are part of the names, and
//! [`SUMMARY_VERSION`] changes when a name or a meaning does.
//!
//! Only ticks of [`plimsoll_plan::schedule::PhaseKind::Measure`] enter a point's figures. A figure that cannot be computed is `None`, never 0.
//! Whatever makes a figure less than trustworthy stands beside it as a [`Finding`].
//!
//! | figure | formula | why |
//! | --- | --- | --- |
//! | measured time | Σ (end − start) over the recorded ticks | the planned time would flatter an interrupted point |
//! | TPM | (committed + rolled back) of all types × 60 / measured time | a New-Order rolled back as clause 2.4.1.4 wants is a whole business transaction |
//! | NOPM | committed New-Orders × 60 / measured time | orders that are in the database afterwards |
//! | rolled-back share | rolled back / (committed + rolled back) of New-Orders | clause 2.4.1.4 wants 1 % |
//! | round trips per transaction | round trips / completed | what a retry or a failure costs counts for the transactions that succeeded |
//! | percentiles | quantiles of merged histograms | percentiles do not average |
//! | lateness of an emulated drive | median of (real − modelled) / median modelled | how far the drive was from what it shall be |
//! | ratio of two media | rate / rate at the same load; the relative half widths of the two 95 % intervals add in squares | the delta method for independent means |
//! | time without a server | see `summary/outage.rs` | a part of the window: rates count it, Little's law leaves it out |
//! | generator CPU per transaction | mean generator CPU × measured time / completed | what the measuring costs the machine it measures; withheld where the system runs inside plimsoll |

mod array_phases;
mod backup;
mod block;
pub(crate) mod bottleneck;
mod commits;
mod compare;
mod conserve;
mod cpu;
mod cut;
mod data;
mod database;
mod drive;
mod drive_summary;
mod effect;
mod estimate;
pub(crate) mod figure;
mod finding;
mod findings;
mod fleet;
mod imported;
mod index;
mod ladder;
mod ladder_summary;
mod latency;
mod line;
mod load_line;
mod load_summary;
mod means;
mod medium;
mod members;
mod objective;
mod outage;
mod point;
mod point_summary;
mod precondition;
pub(crate) mod printed;
mod ratio;
mod reset;
mod responses;
mod run_figures;
mod scaling;
pub(crate) mod sign;
mod speed;
mod stats;
mod steady;
mod tick;
mod timeline;
mod waits;

pub use array_phases::{ArrayPhase, ArrayPhases, ArrayState};
pub use backup::{
    BackupFigures, BackupMedium, BackupOperation, BackupSummary, BesideLoad, RATE_COVERED,
    RATE_LIMIT, RateCheck, RateNotChecked,
};
pub use block::{
    BlockCurvePoint, BlockFigures, BlockJobSummary, BlockMedium, BlockOpSummary, BlockPlace,
    BlockPointSummary, BlockSecond, BlockSummary, BlockWorkerSummary, Rounds, RoundsOfJob,
};
pub use commits::COMMITS_LIMIT;
pub use compare::{ComparedFigures, ComparedLoad, ComparedMedium, Comparison};
pub use conserve::Conservation;
pub use cpu::{CpuShares, FULL_PERCENT};
pub use cut::CutSummary;
pub use data::{DATA_FACT, DataState, FRESH, ORDERS_ADDED_FACT, REUSED};
pub use database::DatabaseFigures;
pub use drive::{DriveLateness, KernelTimes, WAITING_LIMIT};
pub use drive_summary::{
    ADDED_LIMIT, BEYOND_LIMIT, DRIVE_FACT, DRIVE_TITLE_FACT, DriveOpSummary, DriveSummary,
    DriveTimes, FEWEST_OPS, LATENESS_LIMIT, MemberSummary, SIMULATED_CPUS_FACT,
    SIMULATED_MEMORY_FACT, SIMULATED_SPEED_FACT, lateness_us,
};
pub use effect::{EffectLoad, MediumEffect, NoiseEffect, VictimEffect};
pub use estimate::Estimate;
pub use figure::{FigureId, FigureInfo, FigureSet, FigureUnit, StatedIn};
pub use finding::{FAILED_LIMIT, Finding, FindingKind, Verdict};
pub use fleet::{Fleet, FleetPoint, FleetShare};
pub use imported::{ImportSummary, ReportedFigure, ReportedPoint, Unknown};
pub use ladder_summary::LadderSummary;
pub use latency::{LatencySummary, TxnSummary};
pub use line::longest_window;
pub use load_line::{LoadLine, LowestFigure, TriedLoad};
pub use load_summary::LoadSummary;
pub use means::{MetricMean, Resources, Withheld};
pub use medium::{MediumFigures, MediumSecond, MediumSource};
pub use objective::{
    MeasuredPoint, ObjectiveResult, RepeatVerdict, Shortfall, evaluate, load_result,
};
pub use outage::{AWAY_LIMIT, OutageSummary};
pub use point_summary::{Consistency, PointSummary};
pub use precondition::PreconditionSummary;
pub use ratio::{Ratio, RatioSet};
pub use reset::ResetSummary;
pub use responses::Responses;
pub use run_figures::{DiagnosisSummary, Headline, RunFigures, SUMMARY_VERSION, TooLate};
pub use scaling::{FIT_LIMIT, Scaling, ScalingLaw, ScalingPeak, ScalingPoint, fit as fit_scaling};
pub use sign::{Bottleneck, Sign};
pub use speed::{MediumSpeed, is_like_speed};
pub(crate) use stats::quantile;
pub use stats::{Halves, Interval, Spread};
pub use steady::{RANGE_LIMIT, SLOPE_LIMIT, Steady};
pub(crate) use tick::{TickRows, Ticks};
pub use timeline::{
    SlotLoad, StepTimeline, TimelineBand, TimelineMedium, TimelineSlot, TransactionSecond,
    WrittenSecond,
};
pub use waits::{EventShare, FEW_SAMPLES, StateShare, WaitSummary};

use std::collections::BTreeMap;

use index::Index;
use plimsoll_record::{PointId, Record};

/// Points whose figures contradict each other, each with the audit's rule that found it.
pub(crate) type Contradictions = BTreeMap<PointId, &'static str>;

/// Computes every figure of `record` but timelines. Reads nothing else, so the same record gives the same figures for ever.
pub(crate) fn figures_from(
    record: &Record,
    ticks: &Ticks<'_>,
    contradictions: &Contradictions,
) -> RunFigures {
    let index = Index {
        contradictions: contradictions.clone(),
        ..Index::new(record, ticks)
    };
    figures_of(&index)
}

/// [`RunFigures::timelines`].
pub(crate) fn timelines(record: &Record, ticks: &Ticks<'_>) -> Vec<StepTimeline> {
    timeline::of_run(&Index::new(record, ticks))
}

fn figures_of(index: &Index) -> RunFigures {
    let record = index.record;
    let ladders = ladder::ladders(index);
    RunFigures {
        schema_version: SUMMARY_VERSION,
        run_id: record.run.id.clone(),
        title: record.run.title.clone(),
        status: record.run.status,
        findings: findings::of_run(index),
        headline: headline(&ladders),
        comparisons: compare::comparisons(&ladders),
        preconditions: precondition::of_run(index),
        resets: reset::of_run(index),
        blocks: block::of_run(index),
        backups: backup::of_run(index),
        effects: effect::effects(index, &ladders),
        timelines: Vec::new(),
        diagnoses: record
            .diagnoses
            .iter()
            .map(|diagnosis| DiagnosisSummary::of(index, diagnosis))
            .collect(),
        ladders,
        consistency: Consistency::of(record.checks.iter()),
        imports: imported::of_run(index),
        file: record.integrity.clone(),
    }
}

/// The highest rate of the run, but for searches, which have a load line; of loads whose main figures differ in kind, those with NOPM come first.
fn headline(ladders: &[LadderSummary]) -> Option<Headline> {
    let ladders = ladders
        .iter()
        .enumerate()
        .filter(|(_, ladder)| ladder.line.is_none());
    let peaks = ladders.filter_map(|(i, ladder)| Some((i, ladder.peak?, ladder)));
    peaks
        .max_by(|(_, p, a), (_, q, b)| {
            let a = &a.loads[*p];
            let b = &b.loads[*q];
            let by_kind = a
                .figures
                .get(FigureId::Nopm)
                .is_some()
                .cmp(&b.figures.get(FigureId::Nopm).is_some());
            by_kind.then(median_rate(a).total_cmp(&median_rate(b)))
        })
        .map(|(ladder, load_index, _)| Headline { ladder, load_index })
}

fn median_rate(load: &LoadSummary) -> f64 {
    load.main_rate().map_or(0.0, |rate| rate.value)
}

#[cfg(test)]
mod tests;
