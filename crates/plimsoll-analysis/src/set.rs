//! A set of runs: the figures of a plan's cells beside each other, over their repeats.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::Summary;
use crate::summary::{Estimate, FigureId, FigureSet, Finding, LadderSummary, LoadSummary, Verdict};
use plimsoll_plan::Interference;
use plimsoll_record::Severity;

mod answer;
mod crossover;
mod row;

pub use answer::SetAnswer;
pub use crossover::{CHANGE_LIMIT, Crossover, CrossoverFound};
pub use row::{SetAxisSummary, SetRow};

/// A run of a set.
#[derive(Debug)]
pub struct SetRun {
    /// Index of the value on each axis.
    pub choice: Vec<usize>,
    pub repeat: u32,
    pub summary: Summary,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SetSummary {
    pub title: String,
    pub axes: Vec<SetAxisSummary>,
    /// Complete runs, and all runs of the set.
    pub runs: usize,
    pub of: usize,
    /// By step, load and choice.
    pub rows: Vec<SetRow>,
    /// Where an axis is an amount of memory: how much is enough.
    pub crossovers: Vec<Crossover>,
}

/// The figures of all complete runs of a set that has `of`.
pub fn summarise_set(
    title: &str,
    axes: Vec<SetAxisSummary>,
    of: usize,
    runs: &[SetRun],
) -> SetSummary {
    let mut rows: BTreeMap<SetKey, Vec<InRun<'_>>> = BTreeMap::new();
    for run in runs {
        for ladder in &run.summary.figures.ladders {
            for load in &ladder.loads {
                let key = (
                    ladder.step_index,
                    ladder.system.clone(),
                    ladder.scene,
                    load.ordinal,
                    run.choice.clone(),
                    // A speed is chosen in each run: runs of one combination at unlike speeds are no repeats.
                    ladder.slower.unwrap_or(1.0).to_bits(),
                );
                let point = &ladder.points[load.typical];
                let reads = point.resources.device_reads_per_second;
                let reads = reads
                    .zip(load.figures.value(FigureId::Transactions))
                    .filter(|(_, rate)| *rate > 0.0)
                    .and_then(|(reads, rate)| Estimate::single(reads / rate, None));
                rows.entry(key).or_default().push(InRun {
                    ladder,
                    load,
                    figures: load.figures.clone().with(FigureId::DeviceReads, reads),
                });
            }
        }
    }
    let rows: Vec<SetRow> = rows
        .into_iter()
        .map(|((_, system, scene, _, choice, _), loads)| row(system, scene, choice, &loads))
        .collect();
    let crossovers = crossover::of(&axes, &rows);
    SetSummary {
        title: title.to_owned(),
        axes,
        runs: runs.len(),
        of,
        rows,
        crossovers,
    }
}

/// Index of the step, system, interference, index of the load, choice, bits of how many times slower its drive ran.
type SetKey = (u32, String, Interference, u32, Vec<usize>, u64);

/// A load in one run.
struct InRun<'a> {
    ladder: &'a LadderSummary,
    load: &'a LoadSummary,
    figures: FigureSet,
}

fn row(system: String, scene: Interference, choice: Vec<usize>, loads: &[InRun<'_>]) -> SetRow {
    let InRun {
        ladder,
        load: first,
        ..
    } = loads[0];
    let verdicts = loads.iter().map(|run| run.load.verdict);
    let verdict = verdicts.max().unwrap_or_default();
    SetRow {
        step: ladder.step.clone(),
        system,
        scene,
        load: first.load,
        choice,
        runs: loads.len(),
        figures: FigureSet::over(loads.iter().map(|run| &run.figures)),
        verdict,
        drive: ladder.drive.clone(),
        is_simulated: ladder.is_simulated,
        slower: ladder.slower,
        because: reasons(loads, verdict),
    }
}

/// Findings as severe as the verdict, of the points of all runs.
fn reasons(loads: &[InRun<'_>], verdict: Verdict) -> Vec<Finding> {
    let severity = match verdict {
        Verdict::Valid => return Vec::new(),
        Verdict::Doubtful => Severity::Warning,
        Verdict::Invalid => Severity::Error,
    };
    let points = loads.iter().flat_map(|run| {
        let points = run.load.points.iter();
        points.map(|index| &run.ladder.points[*index])
    });
    let findings = points.flat_map(|point| &point.findings);
    Finding::of_all(findings.filter(|finding| finding.severity == severity))
}
