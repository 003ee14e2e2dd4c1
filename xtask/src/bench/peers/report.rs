//! The table of a comparison: medians, ranges, goals.

use super::Run;
use crate::bench::table::align;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    None,
    /// At most so much client CPU per transaction, µs.
    Us(f64),
    /// At most so much of the line before.
    OfPrevious(f64),
}

/// Median, least and most of one figure over the rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Figure {
    median: f64,
    least: f64,
    most: f64,
}

impl Figure {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = values.collect();
        sorted.sort_by(f64::total_cmp);
        let [Some(least), Some(most)] = [sorted.first(), sorted.last()] else {
            return Self {
                median: f64::NAN,
                least: f64::NAN,
                most: f64::NAN,
            };
        };
        Self {
            median: (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2.0,
            least: *least,
            most: *most,
        }
    }

    fn show(&self) -> String {
        format!(
            "{} ({} to {})",
            number(self.median),
            number(self.least),
            number(self.most)
        )
    }
}

#[derive(Debug)]
pub struct Line {
    name: String,
    goal: Goal,
    cpu_us: Figure,
    per_second: Figure,
    /// Of TPC-C only.
    nopm: Option<Figure>,
    /// The goal as µs, once it is known what the line before took.
    limit: Option<f64>,
}

impl Line {
    pub fn new(name: &str, goal: Goal, runs: &[Run]) -> Self {
        let cpu_us = Figure::of(runs.iter().map(|run| run.cpu_us));
        let per_second = Figure::of(runs.iter().map(|run| run.per_second));
        let nopm: Option<Vec<f64>> = runs.iter().map(|run| run.nopm).collect();
        Self {
            name: name.into(),
            goal,
            cpu_us,
            per_second,
            nopm: nopm.map(|rates| Figure::of(rates.into_iter())),
            limit: None,
        }
    }

    pub fn is_missed(&self) -> bool {
        self.limit.is_some_and(|limit| self.cpu_us.median > limit)
    }

    fn cells(&self) -> Vec<String> {
        let verdict = match (self.limit, self.goal) {
            (None, _) => "-".into(),
            (Some(limit), goal) => {
                let share = self.cpu_us.median / limit;
                let of = if matches!(goal, Goal::OfPrevious(_)) {
                    " (of the line above)"
                } else {
                    ""
                };
                let met = if self.is_missed() {
                    format!("missed: {:.2} x", share)
                } else {
                    "met".into()
                };
                format!("≤ {limit:.0}{of}: {met}")
            }
        };
        vec![
            self.name.clone(),
            self.cpu_us.show(),
            self.per_second.show(),
            self.nopm.map_or_else(|| "-".into(), |nopm| nopm.show()),
            verdict,
        ]
    }
}

/// With every goal as a limit.
pub fn judged(mut lines: Vec<Line>) -> Vec<Line> {
    let mut before = None;
    for line in &mut lines {
        line.limit = match line.goal {
            Goal::None => None,
            Goal::Us(us) => Some(us),
            Goal::OfPrevious(share) => before.map(|us: f64| us * share),
        };
        before = Some(line.cpu_us.median);
    }
    lines
}

pub fn render(lines: &[Line]) -> String {
    let head = [
        "",
        "client CPU per transaction, µs",
        "transactions per second",
        "new orders per minute",
        "goal",
    ];
    let mut rows = vec![head.map(String::from).to_vec()];
    rows.extend(lines.iter().map(Line::cells));
    align(&rows)
}

fn number(value: f64) -> String {
    if value >= 100.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_ranges_and_goals() {
        let run = |cpu_us, per_second| Run {
            cpu_us,
            per_second,
            nopm: (per_second < 10.0).then_some(per_second * 27.0),
        };
        let sysbench = Line::new(
            "peer",
            Goal::None,
            &[run(300.0, 50.0), run(310.0, 70.0), run(200.0, 60.0)],
        );
        let own = Line::new(
            "own",
            Goal::OfPrevious(0.8),
            &[run(250.0, 1.5), run(230.0, 2.5)],
        );
        let fixed = Line::new("fixed", Goal::Us(20.0), &[run(30.0, 9.0)]);
        let lines = judged(vec![sysbench, own, fixed]);
        assert_eq!(
            lines.iter().map(Line::is_missed).collect::<Vec<_>>(),
            [false, false, true]
        );
        let text = render(&lines);
        for expected in [
            "peer   300 (200 to 310)",
            "60.0 (50.0 to 70.0)      -",
            "2.0 (1.5 to 2.5)         54.0 (40.5 to 67.5)",
            "240 (230 to 250)",
            "≤ 240 (of the line above): met",
            "missed: 1.50 x",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
    }
}
