//! The load line: the highest load that meets an objective, found again from the points that the search measured.

use super::bottleneck;
use super::index::Index;
use super::ladder_summary::LadderSummary;
use super::load_line::{LoadLine, LowestFigure, TriedLoad};
use super::load_summary::LoadSummary;
use super::objective::{MeasuredPoint, ObjectiveResult, evaluate, load_result};
use crate::search::{Attempt, FLOOR_RANGE, LineSearch, SearchRules};
use plimsoll_plan::resolved::{LoadStep, Step};
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::Hist;
use plimsoll_record::{Point, PointPurpose, SearchInfo};

/// The rules of a search whose first load was that of `point`. `longest` is zero where windows are not lengthened, nor
/// loads measured again.
fn rules(search: &SearchInfo, point: &Point, repeats: usize, longest: Nanos) -> SearchRules {
    SearchRules {
        start: load_of(point),
        most: search.most,
        precision: search.precision,
        whole: point.offered_per_second.is_none(),
        confirm: repeats == 1 && longest > Nanos::ZERO,
    }
}

/// The longest window of a step's search. Zero where windows are as the plan has them: with a power cut, which ends them.
pub fn longest_window(step: &LoadStep) -> Nanos {
    match (&step.search, step.power_cut) {
        (Some(search), None) => search.longest,
        _ => Nanos::ZERO,
    }
}

/// By the plan of the record.
fn recorded_longest(index: &Index, search: &SearchInfo) -> Nanos {
    let plan = index.record.plan.resolved();
    let step = plan.and_then(|plan| plan.steps.get(search.step_index as usize));
    match step {
        Some(Step::Load(step)) => longest_window(step),
        _ => Nanos::ZERO,
    }
}

/// What a search varies: the offered rate, or the users.
pub fn load_of(point: &Point) -> f64 {
    point.load().height()
}

/// The line of `ladder`, whose points are `points` in the same order; `None` where nothing was searched.
pub(super) fn of(index: &Index, ladder: &LadderSummary, points: &[&Point]) -> Option<LoadLine> {
    let first = points
        .iter()
        .filter(|point| point.purpose == PointPurpose::Search)
        .min_by_key(|point| point.id)?;
    let search = index.record.searches.iter().find(|s| {
        (s.step_index, s.system, s.medium) == (first.step_index, first.system, first.medium)
    })?;
    let longest = recorded_longest(index, search);
    let tried = tried(index, ladder, points, search, longest);
    let repeats = ladder.loads.iter().map(LoadSummary::repeats).max();
    let rules = rules(search, first, repeats.unwrap_or_default(), longest);
    let mut replayed = LineSearch::new(rules);
    for tried in &tried {
        replayed.record(load_result(tried.load, &tried.repeats, longest));
    }
    let bracket = replayed.bracket();
    let at_line = tried
        .iter()
        .rfind(|tried| tried.outcome == Attempt::Met && Some(tried.load) == bracket.low)
        .map(|tried| tried.load_index);
    let beyond = tried
        .iter()
        .filter(|tried| {
            matches!(tried.outcome, Attempt::Failed | Attempt::Mixed)
                && bracket.low.is_none_or(|low| tried.load > low)
        })
        .min_by(|a, b| a.load.total_cmp(&b.load))
        .map(|tried| tried.load_index);
    let point = |index: Option<usize>| {
        index.and_then(|index| ladder.points.get(ladder.loads.get(index)?.typical))
    };
    let bottleneck = point(beyond).map(|beyond| bottleneck::signs(index, point(at_line), beyond));
    Some(LoadLine {
        quantile: search.objective.quantile,
        limit_ms: search.objective.limit.as_millis_f64(),
        of: search.objective.of.clone(),
        open: first.offered_per_second.is_some(),
        most: search.most,
        precision: search.precision,
        needed: search.objective.quantile.needed_samples(),
        longest_s: longest.as_secs_f64(),
        state: replayed.state(),
        lowest: match bracket.low {
            None => lowest(&tried),
            Some(_) => None,
        },
        line: bracket.low,
        below: bracket.high,
        load_index: at_line,
        bottleneck: bottleneck.unwrap_or_default(),
        tried,
    })
}

/// The figure at the lowest load that showed anything, and up to which load it stays about the same.
fn lowest(tried: &[TriedLoad]) -> Option<LowestFigure> {
    let mut figures: Vec<(f64, f64)> = tried
        .iter()
        .filter(|tried| tried.outcome.is_decided())
        .filter_map(|tried| Some((tried.load, tried.repeats.first()?.figure_ms?)))
        .collect();
    figures.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let (load, at_lowest) = *figures.first()?;
    let same = figures
        .iter()
        .take_while(|(_, figure)| *figure <= at_lowest * FLOOR_RANGE);
    let same: Vec<(f64, f64)> = same.copied().collect();
    let (up_to, _) = *same.last()?;
    let mut figures: Vec<f64> = same.into_iter().map(|(_, figure)| figure).collect();
    figures.sort_by(f64::total_cmp);
    Some(LowestFigure {
        figure_ms: super::stats::quantile(&figures, 0.5),
        load,
        up_to,
    })
}

/// Loads in the order of trying, without one whose repeats were cut short.
fn tried(
    index: &Index,
    ladder: &LadderSummary,
    points: &[&Point],
    search: &SearchInfo,
    longest: Nanos,
) -> Vec<TriedLoad> {
    let most = ladder
        .loads
        .iter()
        .map(LoadSummary::repeats)
        .max()
        .unwrap_or_default();
    let mut tried: Vec<(u32, TriedLoad)> = Vec::new();
    for (i, load) in ladder
        .loads
        .iter()
        .enumerate()
        .filter(|(_, load)| load.repeats() == most)
    {
        let own: Vec<&Point> = load
            .points
            .iter()
            .filter_map(|i| points.get(*i).copied())
            .collect();
        let measured: Vec<MeasuredPoint> = own.iter().map(|point| measured(index, point)).collect();
        let Some(first) = own
            .first()
            .filter(|_| measured.iter().all(|measured| measured.complete))
        else {
            continue;
        };
        let open = first.offered_per_second.is_some();
        let repeats: Vec<ObjectiveResult> = measured
            .iter()
            .map(|measured| evaluate(&search.objective, &first.txns, open, measured))
            .collect();
        let outcome = load_result(load_of(first), &repeats, longest).attempt;
        tried.push((
            load.ordinal,
            TriedLoad {
                load: load_of(first),
                outcome,
                load_index: i,
                repeats,
            },
        ));
    }
    tried.sort_by_key(|(ordinal, _)| *ordinal);
    tried.into_iter().map(|(_, tried)| tried).collect()
}

/// What the record has of a point's measure phase.
fn measured(index: &Index, point: &Point) -> MeasuredPoint {
    let phases = index.load_phases(point);
    let mut measured = MeasuredPoint {
        complete: false,
        ticks: Vec::new(),
        response: vec![Hist::new(); point.txns.len()],
    };
    for phase in phases
        .iter()
        .filter(|phase| phase.kind == PhaseKind::Measure)
    {
        measured.complete = phase.complete;
        let ticks = index.ticks.of_phase(phase);
        measured
            .ticks
            .extend(ticks.map(|tick| (tick.lasts(), tick.total())));
        for window in index
            .record
            .windows
            .iter()
            .filter(|window| window.phase == phase.id)
        {
            if let Some(hist) = measured.response.get_mut(window.txn as usize) {
                hist.merge(&window.response);
            }
        }
    }
    measured
}
