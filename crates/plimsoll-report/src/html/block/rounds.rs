//! Rounds until the figures are steady: what came of it, the window's fit, and the plot of convergence.

use plimsoll_analysis::summary::{BlockSummary, Rounds, RoundsOfJob};
use plimsoll_stats::rounds::Fit;
use serde::Serialize;

use super::super::island::short;
use super::super::tables::{Cell, Grid, Row, head, plain, words};
use super::{Across, ChartView, medium_name};
use crate::block::{limit, outcome};
use crate::message::Messages;
use crate::number::{NONE, percent, three};

pub(in crate::html) struct RoundsView {
    /// Of each medium: with which round it was steady, or that it was not. The class is that of a verdict.
    pub outcomes: Vec<(&'static str, String)>,
    /// The criterion.
    pub note: String,
    pub charts: Vec<ChartView>,
    pub grid: Grid,
}

/// `None` where rounds were not to go on until they are steady.
pub(super) fn view(
    m: &Messages,
    block: usize,
    step: &BlockSummary,
    all: &[Across<'_>],
) -> Option<RoundsView> {
    let media = || {
        step.media
            .iter()
            .filter_map(|medium| Some((medium, medium.rounds.as_ref()?)))
    };
    let (_, first) = media().next()?;
    let outcomes = media()
        .map(|(medium, rounds)| outcome(m, medium_name(m, medium), rounds))
        .collect();
    let args = [
        ("window", first.window.to_string()),
        ("range", limit(first.range_percent_limit)),
        ("slope", limit(first.slope_percent_limit)),
        ("most", first.most_rounds.to_string()),
    ];
    let mut charts = Vec::new();
    let mut rows = Vec::new();
    for (place, (across, on, rounds, own)) in own(all).enumerate() {
        let medium = medium_name(m, on.medium);
        let title = if step.media.len() > 1 {
            format!("{} · {medium}", across.job)
        } else {
            across.job.to_owned()
        };
        let steady = own.fit.is_some_and(|fit| fit.steady);
        let title = m.text_with(
            if steady {
                "block-rounds-chart"
            } else {
                "block-rounds-chart-not"
            },
            &[("title", title)],
        );
        charts.push(ChartView {
            kind: "block-rounds",
            block,
            place,
            medium: on.place,
            title,
        });
        rows.push(row(m, across.job, medium, rounds, own));
    }
    let header = COLUMNS.map(|id| head(m, id)).into();
    Some(RoundsView {
        outcomes,
        note: m.text_with("block-rounds-rule", &args),
        charts,
        grid: Grid { header, rows },
    })
}

/// Jobs on media whose rounds were to become steady, in the order of charts and rows.
fn own<'a, 'b>(
    all: &'b [Across<'a>],
) -> impl Iterator<
    Item = (
        &'b Across<'a>,
        &'b super::OnMedium<'a>,
        &'a Rounds,
        &'a RoundsOfJob,
    ),
> {
    let on = all
        .iter()
        .flat_map(|across| across.on.iter().map(move |on| (across, on)));
    on.filter_map(|(across, on)| {
        let rounds = on.medium.rounds.as_ref()?;
        let own = rounds.jobs.iter().find(|own| own.job == across.job)?;
        Some((across, on, rounds, own))
    })
}

const COLUMNS: [&str; 8] = [
    "column-job",
    "column-medium",
    "column-rounds",
    "column-window",
    "column-mean-iops",
    "column-range-percent",
    "column-slope-percent",
    "column-steady",
];

fn row(m: &Messages, job: &str, medium: String, rounds: &Rounds, own: &RoundsOfJob) -> Row {
    let mut cells = vec![
        words(job.to_owned()),
        words(medium),
        plain(own.iops.len().to_string()),
    ];
    match own.fit {
        Some(fit) => cells.extend(fitted(m, rounds, own, fit)),
        None => cells.extend([(); 5].map(|()| plain(NONE.to_owned()))),
    }
    Row { class: "", cells }
}

fn fitted(m: &Messages, rounds: &Rounds, own: &RoundsOfJob, fit: Fit) -> [Cell; 5] {
    let over = |value: f64, limit: f64| Cell {
        text: percent(value),
        class: if value.abs() > limit { "doubtful" } else { "" },
    };
    let (id, class) = if fit.steady {
        ("steady-yes", "sound")
    } else {
        ("steady-no", "doubtful")
    };
    [
        plain(format!("{} to {}", fit.from + 1, own.iops.len())),
        plain(three(fit.mean)),
        over(fit.range_percent, rounds.range_percent_limit),
        over(fit.slope_percent, rounds.slope_percent_limit),
        Cell {
            text: m.text(id),
            class,
        },
    ]
}

/// What a plot of convergence is drawn from.
#[derive(Serialize)]
pub(super) struct RoundsData {
    iops: Vec<f64>,
    fit: Option<FitData>,
}

#[derive(Serialize)]
struct FitData {
    /// From 1, as they are counted on the axis.
    first: u32,
    last: usize,
    line: [f64; 2],
    /// Half the range allowed below and above the mean.
    limits: [f64; 2],
    steady: bool,
}

pub(super) fn data(all: &[Across<'_>]) -> Vec<RoundsData> {
    let fit = |rounds: &Rounds, own: &RoundsOfJob| {
        let fit = own.fit?;
        let half = rounds.range_percent_limit / 200.0;
        Some(FitData {
            first: fit.from + 1,
            last: own.iops.len(),
            line: [fit.line_from, fit.line_to].map(short),
            limits: [fit.mean * (1.0 - half), fit.mean * (1.0 + half)].map(short),
            steady: fit.steady,
        })
    };
    let data = |(_, _, rounds, own): (_, _, &Rounds, &RoundsOfJob)| RoundsData {
        iops: own.iops.iter().copied().map(short).collect(),
        fit: fit(rounds, own),
    };
    self::own(all).map(data).collect()
}
