//! The search for the load line: the state machine names a load; its points are measured and evaluated as in the report.

use plimsoll_analysis::search::{Attempt, LineSearch, LoadBracket, SearchRules};
use plimsoll_analysis::summary::evaluate;
use plimsoll_plan::Interference;
use plimsoll_plan::load::LoadShape;
use plimsoll_plan::resolved::Search;
use plimsoll_plan::units::Nanos;
use plimsoll_record::{PointPurpose, SearchInfo};

use super::context::{PointSpec, StepContext};
use super::error::{StepResult, not_prepared};
use super::execution::Execution;
use super::point::{MeasuredPoints, steady};

impl Execution<'_> {
    /// Tries loads until the line is known with the plan's precision.
    pub(super) fn search(
        &mut self,
        step_context: &StepContext<'_>,
        wanted: &Search,
    ) -> StepResult<()> {
        let Some(first) = step_context.step.points.first() else {
            return Ok(());
        };
        let first = steady(*first);
        let info = self.describe_search(step_context, wanted)?;
        self.file.search(&info)?;
        let mut search = LineSearch::new(SearchRules {
            start: load_of(first),
            most: info.most,
            precision: info.precision,
            whole: matches!(first, LoadShape::Closed { .. }),
        });
        let step = step_context.step;
        let expected = Nanos(
            step.point_duration()
                .0
                .saturating_mul(step.expected_points()),
        );
        let ahead = self.progress.ahead_after(expected);
        let mut ordinal = 0;
        while let Some(load) = search.next_load() {
            let mut met = Vec::new();
            for repeat in 0..step.repeat {
                let point_spec = PointSpec {
                    purpose: PointPurpose::Search,
                    ordinal,
                    repeat,
                    load: with_load(first, load),
                    scene: Interference::Alone,
                };
                let MeasuredPoints { points, measured } = self.point(step_context, &point_spec)?;
                let first = points.first().ok_or_else(|| not_prepared("point"))?;
                let open = first.offered_per_second.is_some();
                met.push(evaluate(&info.objective, &first.txns, open, &measured).is_met());
            }
            search.record(load, Attempt::of(met));
            self.progress
                .print(&format!("  {}", describe_bracket(&search.bracket(), first)));
            ordinal += 1;
        }
        self.progress.is_ahead(ahead);
        Ok(())
    }

    fn describe_search(
        &self,
        step_context: &StepContext<'_>,
        wanted: &Search,
    ) -> StepResult<SearchInfo> {
        let running = self.running.get(step_context.first_instance())?;
        Ok(SearchInfo {
            step: step_context.step.name.clone(),
            step_index: step_context.id.index() as u32,
            system: running.subject,
            medium: running.medium,
            objective: wanted.objective.clone(),
            most: wanted.most,
            precision: wanted.precision,
        })
    }
}

/// What is varied: users of a closed loop, the rate of an open one.
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
        let own = with_load(LoadShape::closed(8), 3.0);
        assert_eq!(own, LoadShape::closed(3));
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
