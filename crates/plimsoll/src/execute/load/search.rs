//! The search for the load line: the state machine names a load; its points are measured and evaluated as in the report,
//! in windows that hold enough transactions for the objective's figure.

use plimsoll_analysis::search::{Attempt, LineSearch, LoadBracket, SearchRules};
use plimsoll_analysis::summary::{ObjectiveResult, evaluate, load_result, longest_window};
use plimsoll_plan::load::LoadShape;
use plimsoll_plan::resolved::{LoadStep, Search, Workload};
use plimsoll_plan::schedule::Timeline;
use plimsoll_plan::units::Nanos;
use plimsoll_plan::{Interference, estimate};
use plimsoll_record::{PointPurpose, SearchInfo};

use super::super::context::{PointSpec, timeline};
use super::super::error::{StepResult, not_prepared};
use super::super::run::RunContext;
use super::point::{LoadRunner, MeasuredPoints, steady};

/// A window that is too short so far is lengthened to this many times its length, where its figure is beyond the limit:
/// few more such responses settle it.
const LENGTHENED: f64 = 3.0;
/// Each window of a load is at least this much longer than the one before.
const LONGER: f64 = 1.5;

/// Tries loads until the line is known with the plan's precision.
pub(super) fn search(runner: &mut LoadRunner<'_, '_>, wanted: &Search) -> StepResult<()> {
    let RunContext { log, .. } = runner.run;
    let step = runner.context.step;
    let Some(first) = step.points.first() else {
        return Ok(());
    };
    let first = steady(*first);
    let info = describe_search(runner, wanted)?;
    log.file().search(&info)?;
    let longest = longest_window(step);
    let mut search = LineSearch::new(SearchRules {
        start: load_of(first),
        most: info.most,
        precision: info.precision,
        whole: matches!(first, LoadShape::Closed { .. }),
        confirm: step.repeat == 1 && longest > Nanos::ZERO,
    });
    let ahead = announce_search(runner, wanted);
    let mut windows = SearchWindows::new(step, runner.context.workload, wanted);
    let mut ordinal = 0;
    while let Some(load) = search.next_load() {
        let shape = with_load(first, load);
        let timeline = windows.timeline(shape);
        let mut results = Vec::new();
        for repeat in 0..step.repeat {
            let MeasuredPoints { points, measured } = runner.measure(&PointSpec {
                purpose: PointPurpose::Search,
                ordinal,
                repeat,
                load: shape,
                scene: Interference::Alone,
                timeline: timeline.clone(),
            })?;
            let first = points.first().ok_or_else(|| not_prepared("point"))?;
            let open = first.offered_per_second.is_some();
            results.push(evaluate(&info.objective, &first.txns, open, &measured));
        }
        let result = load_result(load, &results, longest);
        windows.measured(load, result.attempt, &results);
        search.record(result);
        let text = progress(result.attempt, &results, &search, first);
        log.progress().print(&format!("  {text}"));
        ordinal += 1;
    }
    log.progress().is_ahead(ahead);
    Ok(())
}

/// Prints what the search takes, and returns the load time that the plan has ahead after it.
fn announce_search(runner: &LoadRunner<'_, '_>, wanted: &Search) -> Nanos {
    let progress = runner.run.log.progress();
    let step = runner.context.step;
    let estimate = estimate(runner.run.plan());
    let Some(expected) = estimate.per_step.get(runner.context.id.index()) else {
        return progress.ahead_after(Nanos::ZERO);
    };
    // The estimate is of all media, one after the other.
    let media = step.on.len().max(1) as u64;
    let longest = Nanos(expected.longest_search.unwrap_or(expected.duration).0 / media);
    let expected = Nanos(expected.duration.0 / media);
    progress.print(&format!(
        "  {}: a search takes about {expected}, and at most {longest}: each load is measured until {} transactions \
         show its {}, for {} at most",
        step.name,
        wanted.objective.quantile.needed_samples(),
        wanted.objective.quantile.name(),
        wanted.longest,
    ));
    progress.ahead_after(expected)
}

fn describe_search(runner: &LoadRunner<'_, '_>, wanted: &Search) -> StepResult<SearchInfo> {
    let running = runner.systems.get(runner.context.first_instance())?;
    Ok(SearchInfo {
        step: runner.context.step.name.clone(),
        step_index: runner.context.id.index() as u32,
        system: running.subject,
        medium: running.medium,
        objective: wanted.objective.clone(),
        most: wanted.most,
        precision: wanted.precision,
    })
}

/// Chooses how long each load of a search is measured.
struct SearchWindows<'a> {
    step: &'a LoadStep,
    workload: &'a Workload,
    search: &'a Search,
    /// The last load that met the objective: what it completed shows what others will.
    met: Option<LoadRate>,
    last: Option<LastLoad>,
}

/// Transactions per second that the objective is about, at a load.
#[derive(Clone, Copy)]
struct LoadRate {
    load: f64,
    per_second: f64,
}

struct LastLoad {
    rate: LoadRate,
    attempt: Attempt,
    measured_s: f64,
    is_above: bool,
}

impl<'a> SearchWindows<'a> {
    fn new(step: &'a LoadStep, workload: &'a Workload, search: &'a Search) -> Self {
        Self {
            step,
            workload,
            search,
            met: None,
            last: None,
        }
    }

    fn measured(&mut self, load: f64, attempt: Attempt, repeats: &[ObjectiveResult]) {
        let samples: u64 = repeats.iter().map(|repeat| repeat.samples).sum();
        let seconds: f64 = repeats.iter().map(|repeat| repeat.measured_s).sum();
        let per_second = if seconds > 0.0 {
            samples as f64 / seconds
        } else {
            0.0
        };
        let rate = LoadRate { load, per_second };
        if attempt == Attempt::Met {
            self.met = Some(rate);
        }
        self.last = Some(LastLoad {
            rate,
            attempt,
            measured_s: seconds / repeats.len().max(1) as f64,
            is_above: repeats.iter().any(ObjectiveResult::is_above),
        });
    }

    /// Phases of the points at `shape`.
    fn timeline(&self, shape: LoadShape) -> Timeline {
        if self.step.power_cut.is_some() {
            return timeline(self.step);
        }
        let mut timeline = self
            .step
            .search_timeline(self.search, shape, self.expected(shape));
        if let Some(last) = self.short(shape) {
            let wanted = timeline.measure.as_secs_f64();
            let wanted = match last.is_above || last.rate.per_second == 0.0 {
                true => wanted.min(last.measured_s * LENGTHENED),
                false => wanted,
            };
            let wanted = wanted.max(last.measured_s * LONGER);
            timeline.measure = self.search.within_longest(self.step, wanted);
        }
        timeline
    }

    /// The last load, where it is to be measured for longer.
    fn short(&self, shape: LoadShape) -> Option<&LastLoad> {
        let last = self.last.as_ref()?;
        (last.attempt == Attempt::Short && last.rate.load == load_of(shape)).then_some(last)
    }

    /// Expected transactions per second; none where the plan's window is tried first: at an unknown
    /// rate, and below loads that all were too much, where few transactions show the same again.
    fn expected(&self, shape: LoadShape) -> Option<f64> {
        if let Some(last) = self.short(shape) {
            return Some(last.rate.per_second.max(f64::MIN_POSITIVE));
        }
        match (self.met, &self.last) {
            (Some(met), _) => Some(met.per_second * growth(shape, load_of(shape) / met.load)),
            (None, Some(last)) if last.attempt == Attempt::Failed => None,
            (None, _) => self.search.expected_per_second(shape, self.workload),
        }
    }
}

/// Factor by which the rate grows with the load. More users need not complete more.
fn growth(shape: LoadShape, ratio: f64) -> f64 {
    match shape {
        LoadShape::Open { .. } => ratio,
        LoadShape::Closed { .. } => ratio.min(1.0),
    }
}

/// Line about a load's outcome, and about where the load line is by now.
fn progress(
    attempt: Attempt,
    repeats: &[ObjectiveResult],
    search: &LineSearch,
    first: LoadShape,
) -> String {
    let samples = repeats.iter().map(|repeat| repeat.samples).min();
    let few = format!(
        "{} transactions are too few for the figure",
        samples.unwrap_or(0)
    );
    match attempt {
        Attempt::Short => format!("{few}: measured again, for longer"),
        Attempt::TooFew => format!("{few}, and no window may be longer"),
        Attempt::Met | Attempt::Mixed | Attempt::Failed => {
            describe_bracket(&search.bracket(), first)
        }
    }
}

/// Figure that is varied: users of a closed loop, the rate of an open one.
fn load_of(load: LoadShape) -> f64 {
    match load {
        LoadShape::Closed { users, .. } => f64::from(users),
        LoadShape::Open { per_second, .. } => per_second,
    }
}

/// Users who each have a connection keep having one; shared connections stay as many, or as many as there are users.
fn with_load(first: LoadShape, load: f64) -> LoadShape {
    match first {
        LoadShape::Closed { users, connections } => {
            let wanted = load as u32;
            LoadShape::Closed {
                users: wanted,
                connections: if connections < users {
                    connections.min(wanted)
                } else {
                    wanted
                },
            }
        }
        LoadShape::Open {
            users,
            arrivals,
            queue,
            ..
        } => LoadShape::Open {
            users,
            per_second: load,
            to_per_second: load,
            arrivals,
            queue,
        },
    }
}

fn describe_bracket(bracket: &LoadBracket, load: LoadShape) -> String {
    let unit = if matches!(load, LoadShape::Open { .. }) {
        "/s"
    } else {
        " users"
    };
    match (bracket.low, bracket.high) {
        (Some(low), Some(high)) => format!("load line between {low} and {high}{unit}"),
        (Some(low), None) => format!("load line at {low}{unit} or above"),
        (None, Some(high)) => format!("load line below {high}{unit}"),
        (None, None) => "load line unknown so far".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_plan::load::Arrivals;

    use super::*;

    #[test]
    fn the_search_varies_users_or_the_rate() {
        let fewer = with_load(LoadShape::closed(8), 3.0);
        assert_eq!(fewer, LoadShape::closed(3));
        let shared = LoadShape::Closed {
            users: 8,
            connections: 4,
        };
        assert_eq!(
            with_load(shared, 100.0),
            LoadShape::Closed {
                users: 100,
                connections: 4
            }
        );
        assert_eq!(
            with_load(shared, 2.0),
            LoadShape::Closed {
                users: 2,
                connections: 2
            }
        );
        let open = |per_second| {
            let arrivals = Arrivals::Poisson;
            LoadShape::Open {
                users: 5,
                per_second,
                to_per_second: per_second,
                arrivals,
                queue: 7,
            }
        };
        assert_eq!(
            (with_load(open(10.0), 12.5), load_of(open(12.5))),
            (open(12.5), 12.5)
        );
    }

    #[test]
    fn the_bracket_names_its_unit() {
        let shown = |low, high| describe_bracket(&LoadBracket { low, high }, LoadShape::closed(1));
        assert_eq!(
            shown(Some(4.0), Some(5.0)),
            "load line between 4 and 5 users"
        );
        assert_eq!(shown(Some(4.0), None), "load line at 4 users or above");
        assert_eq!(shown(None, Some(1.0)), "load line below 1 users");
        assert_eq!(shown(None, None), "load line unknown so far");
    }
}
