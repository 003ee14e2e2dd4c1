//! Bars of IOPS and MB/s: by request size and by depth where jobs differ in nothing else, and by job for the rest.

use plimsoll_analysis::summary::{FigureId, Verdict};
use plimsoll_record::BlockStreamInfo;

use super::step::StepOnMedia;
use crate::block::{self, Across, medium_name};
use crate::chart::rounding::short;
use crate::chart::{BarChart, BarGroup, CategoryBar, DrawnChart, ScriptChart};
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

/// A stream without what is varied, and that by its size and name.
struct Variation {
    rest: BlockStreamInfo,
    size: u64,
    name: String,
}

fn by_size(m: &Messages, s: &BlockStreamInfo) -> Option<Variation> {
    let sizes = if s.read_percent == 0 {
        &s.write_sizes
    } else {
        &s.read_sizes
    };
    let is_pure = s.read_percent.is_multiple_of(100) || s.read_sizes == s.write_sizes;
    let [(bytes, _)] = sizes.as_slice() else {
        return None;
    };
    is_pure.then(|| Variation {
        rest: BlockStreamInfo {
            read_sizes: Vec::new(),
            write_sizes: Vec::new(),
            ..s.clone()
        },
        size: *bytes,
        name: block::sizes(m, s),
    })
}

fn by_depth(_: &Messages, s: &BlockStreamInfo) -> Option<Variation> {
    Some(Variation {
        rest: BlockStreamInfo {
            depth: 0,
            threads: 0,
            ..s.clone()
        },
        size: u64::from(s.depth) * u64::from(s.threads),
        name: block::depth(s),
    })
}

fn sets<'b, 'a>(m: &Messages, all: &'b [Across<'a>]) -> Vec<Set<'b, 'a>> {
    let mut sets = families(m, all, by_size, By::Size);
    sets.extend(families(m, all, by_depth, By::Depth));
    let mut rest = Vec::new();
    for across in all {
        let mut shown = sets.iter().flat_map(|set| &set.jobs);
        if shown.all(|(_, own)| own.job != across.job) {
            rest.push((across.job.to_owned(), across));
        }
    }
    if !rest.is_empty() {
        let by = By::Job;
        sets.insert(0, Set { by, jobs: rest });
    }
    sets
}

/// Jobs of one stream that differ only in what is varied.
struct SweepFamily<'b, 'a> {
    rest: BlockStreamInfo,
    first: &'b BlockStreamInfo,
    members: Vec<SweepMember<'b, 'a>>,
}

struct SweepMember<'b, 'a> {
    size: u64,
    name: String,
    across: &'b Across<'a>,
}

fn families<'b, 'a>(
    m: &Messages,
    all: &'b [Across<'a>],
    vary: fn(&Messages, &BlockStreamInfo) -> Option<Variation>,
    by: fn(BlockStreamInfo) -> By,
) -> Vec<Set<'b, 'a>> {
    let mut families: Vec<SweepFamily<'b, 'a>> = Vec::new();
    for across in all {
        let Some([stream]) = across.on.first().map(|on| on.job.streams.as_slice()) else {
            continue;
        };
        let Some(Variation { rest, size, name }) = vary(m, stream) else {
            continue;
        };
        let member = SweepMember { size, name, across };
        match families.iter_mut().find(|own| own.rest == rest) {
            Some(family) => family.members.push(member),
            None => families.push(SweepFamily {
                rest,
                first: stream,
                members: vec![member],
            }),
        }
    }
    let sets = families.into_iter().map(|mut family| {
        let members = &mut family.members;
        members.sort_by(|a, b| (a.size, &a.name).cmp(&(b.size, &b.name)));
        members.dedup_by(|a, b| (a.size, &a.name) == (b.size, &b.name));
        Set {
            by: by(family.first.clone()),
            jobs: family
                .members
                .into_iter()
                .map(|own| (own.name, own.across))
                .collect(),
        }
    });
    sets.filter(|set| set.jobs.len() >= FEWEST).collect()
}

/// In the order of the charts of each set.
const FIGURES: [FigureId; 2] = [FigureId::Iops, FigureId::MbPerSecond];

pub(super) fn charts(of: &StepOnMedia<'_>) -> Vec<ScriptChart> {
    let m = of.m;
    let mut charts = Vec::new();
    for set in sets(m, of.all) {
        for figure in FIGURES {
            let media = of.step.media.iter().enumerate();
            let groups = media.map(|(place, medium)| BarGroup {
                name: medium_name(m, medium),
                color: of.color(place),
                bars: set
                    .jobs
                    .iter()
                    .map(|(_, job)| bar(m, job, place, figure))
                    .collect(),
            });
            let unit = m.figure_on_page(figure);
            charts.push(ScriptChart {
                name: "block-bars",
                title: title(m, &set.by, unit.clone()),
                drawn: DrawnChart::Bars(BarChart {
                    unit,
                    categories: set.jobs.iter().map(|(name, _)| name.clone()).collect(),
                    groups: groups.collect(),
                }),
            });
        }
    }
    charts
}

fn title(m: &Messages, by: &By, unit: String) -> String {
    let unit = ("unit", unit);
    match by {
        By::Job => m.text_with("block-by-job", &[unit]),
        By::Size(stream) => {
            let pattern = ("pattern", pattern(m, stream));
            let depth = ("depth", block::depth(stream));
            m.text_with("block-by-size", &[unit, pattern, depth])
        }
        By::Depth(stream) => {
            let pattern = ("pattern", pattern(m, stream));
            let size = ("size", block::sizes(m, stream));
            m.text_with("block-by-depth", &[unit, pattern, size])
        }
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

fn bar(m: &Messages, across: &Across<'_>, place: usize, figure: FigureId) -> Option<CategoryBar> {
    let job = across.on.iter().find(|on| on.place == place)?.job;
    let figure = job.figure(figure)?;
    let is_invalid = job.verdict == Verdict::Invalid;
    Some(CategoryBar {
        value: short(figure.value),
        range: figure
            .interval
            .map(|interval| [interval.low, interval.high].map(short)),
        flaw: is_invalid.then(|| m.text("chart-block-invalid")),
    })
}
