//! The load line: the highest load that meets an objective, found again from the points that the search measured.

use super::bottleneck;
use super::index::Index;
use super::ladder_summary::LadderSummary;
use super::load_line::{LoadLine, TriedLoad};
use super::load_summary::LoadSummary;
use super::objective::{MeasuredPoint, ObjectiveResult, evaluate};
use crate::search::{Attempt, LineSearch, SearchRules};
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_record::hist::Hist;
use plimsoll_record::{Point, PointPurpose, SearchInfo};

/// The rules of a search whose first load was that of `point`.
pub fn rules(search: &SearchInfo, point: &Point) -> SearchRules {
    let whole = point.offered_per_second.is_none();
    SearchRules {
        start: load_of(point),
        most: search.most,
        precision: search.precision,
        whole,
    }
}

/// What a search varies: the offered rate, or the users.
pub fn load_of(point: &Point) -> f64 {
    point.offered_per_second.unwrap_or(f64::from(point.users))
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
    let tried = tried(index, ladder, points, search);
    let mut replayed = LineSearch::new(rules(search, first));
    tried
        .iter()
        .for_each(|tried| replayed.record(tried.load, tried.outcome));
    let bracket = replayed.bracket();
    let index_of = |load: Option<f64>| {
        tried
            .iter()
            .find(|tried| Some(tried.load) == load)
            .map(|tried| tried.load_index)
    };
    let beyond = tried
        .iter()
        .filter(|tried| {
            tried.outcome != Attempt::Met && bracket.low.is_none_or(|low| tried.load > low)
        })
        .min_by(|a, b| a.load.total_cmp(&b.load))
        .map(|tried| tried.load_index);
    let point = |index: Option<usize>| {
        index
            .and_then(|index| points.get(ladder.loads.get(index)?.typical))
            .copied()
    };
    let at_line = index_of(bracket.low);
    let bottleneck = point(beyond)
        .map(|beyond| bottleneck::signs(index, &ladder.points, point(at_line), beyond, points));
    Some(LoadLine {
        quantile: search.objective.quantile,
        limit_ms: search.objective.limit.as_millis_f64(),
        of: search.objective.of.clone(),
        open: first.offered_per_second.is_some(),
        most: search.most,
        precision: search.precision,
        state: replayed.state(),
        line: bracket.low,
        below: bracket.high,
        load_index: at_line,
        bottleneck: bottleneck.unwrap_or_default(),
        tried,
    })
}

/// Loads in the order of trying, without one whose repeats were cut short.
fn tried(
    index: &Index,
    ladder: &LadderSummary,
    points: &[&Point],
    search: &SearchInfo,
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
        let outcome = Attempt::of(repeats.iter().map(ObjectiveResult::is_met));
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
