//! Bars of IOPS and MB/s: by request size and by depth where jobs differ in nothing else, and by job for the rest.

use plimsoll_analysis::summary::{BlockFigures, Figure, Verdict};
use plimsoll_record::BlockStreamInfo;
use serde::Serialize;

use super::super::island::short;
use super::{Across, ChartView};
use crate::block;
use crate::message::Messages;

/// Fewer values are no sweep: such jobs stand side by side as they are.
const FEWEST: usize = 3;

/// Jobs that one chart shows, each with what it is called there.
struct Set<'b, 'a> {
    by: By,
    jobs: Vec<(String, &'b Across<'a>)>,
}

/// What a set's jobs differ in.
enum By {
    Size(BlockStreamInfo),
    Depth(BlockStreamInfo),
    /// Nothing in particular.
    Job,
}

/// What a sweep varies: a name and what sorts by it.
type Varied = (u64, String);

fn sets<'b, 'a>(m: &Messages, all: &'b [Across<'a>]) -> Vec<Set<'b, 'a>> {
    let mut sets = Vec::new();
    let by_size = |s: &BlockStreamInfo| {
        let sizes = if s.read_percent == 0 {
            &s.write_sizes
        } else {
            &s.read_sizes
        };
        let one = sizes.len() == 1
            && (s.read_percent.is_multiple_of(100) || s.read_sizes == s.write_sizes);
        let rest = BlockStreamInfo {
            read_sizes: Vec::new(),
            write_sizes: Vec::new(),
            ..s.clone()
        };
        one.then(|| ((sizes[0].0, block::sizes(m, s)), rest))
    };
    let by_depth = |s: &BlockStreamInfo| {
        let in_flight = u64::from(s.depth) * u64::from(s.threads);
        Some((
            (in_flight, block::depth(s)),
            BlockStreamInfo {
                depth: 0,
                threads: 0,
                ..s.clone()
            },
        ))
    };
    sets.extend(families(all, by_size, By::Size));
    sets.extend(families(all, by_depth, By::Depth));
    let shown = |across: &Across<'_>| {
        sets.iter()
            .flat_map(|set| &set.jobs)
            .any(|(_, own)| own.job == across.job)
    };
    let rest: Vec<_> = all
        .iter()
        .filter(|across| !shown(across))
        .map(|a| (a.job.to_owned(), a))
        .collect();
    if !rest.is_empty() {
        sets.insert(
            0,
            Set {
                by: By::Job,
                jobs: rest,
            },
        );
    }
    sets
}

/// Jobs of one stream that differ only in what `varied` takes out of it.
fn families<'b, 'a>(
    all: &'b [Across<'a>],
    varied: impl Fn(&BlockStreamInfo) -> Option<(Varied, BlockStreamInfo)>,
    by: impl Fn(BlockStreamInfo) -> By,
) -> Vec<Set<'b, 'a>> {
    type Member<'b, 'a> = (Varied, &'b Across<'a>);
    let mut families: Vec<(BlockStreamInfo, BlockStreamInfo, Vec<Member<'b, 'a>>)> = Vec::new();
    for across in all {
        let Some([stream]) = across.on.first().map(|on| on.job.streams.as_slice()) else {
            continue;
        };
        let Some((value, rest)) = varied(stream) else {
            continue;
        };
        match families.iter_mut().find(|(key, ..)| *key == rest) {
            Some((.., members)) => members.push((value, across)),
            None => families.push((rest, stream.clone(), vec![(value, across)])),
        }
    }
    let set = |(_, stream, mut members): (_, BlockStreamInfo, Vec<Member<'b, 'a>>)| {
        members.sort_by(|(a, _), (b, _)| a.cmp(b));
        members.dedup_by(|(a, _), (b, _)| a == b);
        let jobs: Vec<_> = members
            .into_iter()
            .map(|((_, name), across)| (name, across))
            .collect();
        (jobs.len() >= FEWEST).then(|| Set {
            by: by(stream),
            jobs,
        })
    };
    families.into_iter().filter_map(set).collect()
}

type Of = fn(BlockFigures) -> Figure;

/// Label of the unit and figure, in the order of the charts of each set.
const FIGURES: [(&str, Of); 2] = [
    ("chart-block-iops", |f| f.iops),
    ("chart-block-mb", |f| f.mb_per_second),
];

pub(super) fn charts(m: &Messages, block: usize, all: &[Across<'_>]) -> Vec<ChartView> {
    let charts = sets(m, all)
        .into_iter()
        .flat_map(|set| FIGURES.map(|(unit, _)| title(m, &set.by, m.text(unit))));
    let view = |(place, title)| ChartView {
        kind: "block-bars",
        block,
        place,
        medium: 0,
        title,
    };
    charts.enumerate().map(view).collect()
}

fn title(m: &Messages, of: &By, unit: String) -> String {
    let unit = ("unit", unit);
    match of {
        By::Job => m.text_with("block-by-job", &[unit]),
        By::Size(stream) => m.text_with(
            "block-by-size",
            &[
                unit,
                ("pattern", pattern(m, stream)),
                ("depth", block::depth(stream)),
            ],
        ),
        By::Depth(stream) => m.text_with(
            "block-by-depth",
            &[
                unit,
                ("pattern", pattern(m, stream)),
                ("size", block::sizes(m, stream)),
            ],
        ),
    }
}

/// `random reads`, `sequential writes`, `random, 70 % reads`.
fn pattern(m: &Messages, stream: &BlockStreamInfo) -> String {
    let order = match stream.random_percent {
        0 => m.text("block-sequential"),
        100 => m.text("block-random"),
        percent => m.text_with("block-partly-random", &[("percent", percent.to_string())]),
    };
    match stream.read_percent {
        0 => m.text_with("block-writes", &[("order", order)]),
        100 => m.text_with("block-reads", &[("order", order)]),
        percent => m.text_with(
            "block-mix",
            &[("order", order), ("percent", percent.to_string())],
        ),
    }
}

/// What a chart of bars is drawn from.
#[derive(Serialize)]
pub(super) struct BarsData {
    /// Id of the unit's label.
    unit: &'static str,
    categories: Vec<String>,
    /// By medium, one for each category.
    bars: Vec<Vec<Option<Bar>>>,
}

/// Median, both ends of its 95 % interval where it has one, and whether it can be used.
#[derive(Serialize)]
struct Bar(f64, Option<[f64; 2]>, bool);

pub(super) fn data(m: &Messages, media: usize, all: &[Across<'_>]) -> Vec<BarsData> {
    let of_set = |set: Set<'_, '_>| {
        FIGURES.map(|(unit, of)| BarsData {
            unit,
            categories: set.jobs.iter().map(|(name, _)| name.clone()).collect(),
            bars: (0..media)
                .map(|place| {
                    set.jobs
                        .iter()
                        .map(|(_, job)| bar(job, place, of))
                        .collect()
                })
                .collect(),
        })
    };
    sets(m, all).into_iter().flat_map(of_set).collect()
}

fn bar(across: &Across<'_>, place: usize, of: Of) -> Option<Bar> {
    let job = across.on.iter().find(|on| on.place == place)?.job;
    let figure = of(job.figures?);
    let ends = figure
        .interval
        .map(|interval| [interval.low, interval.high].map(short));
    Some(Bar(
        short(figure.median),
        ends,
        job.verdict < Verdict::Invalid,
    ))
}
