//! The answer of a search: the highest load that meets an objective.

use plimsoll_plan::objective::Quantile;
use serde::Serialize;

use super::refused::{LoadPlace, RefusedFigures};
use crate::search::SearchState;
use crate::summary::{
    Estimate, FigureId, LadderSummary, LoadLine, LoadSummary, LowestFigure, RunFigures, Sign,
    Verdict, is_like_speed,
};

/// The highest load of one medium that met the objective.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LineAnswer {
    pub system: String,
    pub medium: Option<String>,
    pub drive: Option<String>,
    /// How many times slower than rated that drive ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slower: Option<f64>,
    pub quantile: Quantile,
    pub limit_ms: f64,
    /// The transaction type of the objective; `None`: all.
    pub of: Option<String>,
    /// Whether loads are transactions offered per second; else users.
    pub open: bool,
    pub state: SearchState,
    /// Transactions that the figure needs in each window, and how long a window may be for them.
    pub needed: u64,
    pub longest_s: f64,
    /// Where no load met the objective: its figure at the lowest load.
    pub lowest: Option<LowestFigure>,
    /// The highest load that met it; `None` where none did.
    pub line: Option<f64>,
    /// The lowest load that did not.
    pub below: Option<f64>,
    /// At the highest load that met it.
    pub throughput: Option<Estimate>,
    pub nopm: bool,
    pub p99_ms: Option<f64>,
    pub verdict: Verdict,
    /// What stood out above that load, the strongest first.
    pub bottleneck: Vec<Sign>,
}

impl LineAnswer {
    fn of(ladder: &LadderSummary, line: &LoadLine, refused: &RefusedFigures<'_>) -> Self {
        let verdict =
            |load: &LoadSummary| refused.verdict(LoadPlace::of_ladder(ladder, load), load.verdict);
        let at = line.load_index.and_then(|index| ladder.loads.get(index));
        // Without a load that met the objective, those that did not are the answer.
        let tried = line.tried.iter();
        let tried = tried.filter_map(|tried| Some(verdict(ladder.loads.get(tried.load_index)?)));
        Self {
            system: ladder.system.clone(),
            medium: ladder.medium.clone(),
            drive: ladder.drive.clone(),
            slower: ladder.slower.filter(|factor| *factor > 1.0),
            quantile: line.quantile,
            limit_ms: line.limit_ms,
            of: line.of.clone(),
            open: line.open,
            state: line.state,
            needed: line.needed,
            longest_s: line.longest_s,
            lowest: line.lowest,
            line: line.line,
            below: line.below,
            throughput: at.and_then(|at| at.main_rate()),
            nopm: at.is_some_and(|at| at.figures.get(FigureId::Nopm).is_some()),
            p99_ms: at.and_then(|at| at.figures.value(FigureId::P99)),
            verdict: match at {
                Some(at) => verdict(at),
                None => tried.max().unwrap_or(Verdict::Invalid),
            },
            bottleneck: line.bottleneck.clone(),
        }
    }

    /// Whether both met the same objective with the same kind of load, on drives that were slowed alike.
    pub fn is_comparable(&self, other: &Self) -> bool {
        let objective = |own: &Self| (own.quantile, own.limit_ms, own.of.clone(), own.open);
        objective(self) == objective(other) && is_like_speed(self.slower, other.slower)
    }
}

/// `None` where nothing was searched.
pub(super) fn of(figures: &RunFigures, refused: &RefusedFigures<'_>) -> Option<Vec<LineAnswer>> {
    let lines = figures.lines();
    let lines: Vec<LineAnswer> = lines
        .map(|(ladder, line)| LineAnswer::of(ladder, line, refused))
        .collect();
    (!lines.is_empty()).then_some(lines)
}
