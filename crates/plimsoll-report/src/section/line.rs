//! Load lines: what was found, the loads that were tried and the chart of them; what was done before points.

use plimsoll_analysis::Summary;
use plimsoll_analysis::search::Attempt;
use plimsoll_analysis::summary::{LoadLine, TriedLoad};

use crate::chart::rounding::short;
use crate::chart::{
    ChartAxis, ChartLimit, ChartLine, LineChart, LineColor, LineDash, PointMark, ScriptChart,
};
use crate::document::{ReportBlock, ReportSection};
use crate::ladder;
use crate::line::{self, LoadLineText};
use crate::message::Messages;
use crate::number::three;
use crate::svg::color::MediumColors;

/// `None` without a search.
pub(crate) fn section(
    m: &Messages,
    summary: &Summary,
    colors: MediumColors<'_>,
) -> Option<ReportSection> {
    let lines = line::describe(m, summary);
    let mut section = ReportSection::new("line", m.text("line-title")).styled("charts");
    section.page(ReportBlock::note(m.text("line-note")));
    section.page(ReportBlock::figures(
        "figures wide",
        charts(m, summary, colors),
    ));
    for line in &lines {
        add(m, line, &mut section);
    }
    section.if_filled()
}

/// The line, the loads tried and the bottleneck.
fn add(m: &Messages, line: &LoadLineText<'_>, section: &mut ReportSection) {
    let args = [
        ("heading", line.heading.clone()),
        ("value", line.value.clone()),
        ("unit", line.unit.clone()),
        ("objective", line.objective.clone()),
    ];
    let sentences = [&line.between, &line.effort, &line.rate].map(String::clone);
    section.gap();
    section.line(m.text_with("line-text", &args));
    let heading = format!("{}: {}", line.heading, line.objective);
    section.page(ReportBlock::heading(heading));
    section.page(ReportBlock::text(sentences.join(" ")));
    section.lines(sentences);
    section.both(ReportBlock::text(m.text("bottleneck-title")));
    section.lines(line.bottleneck.iter().map(|sign| format!("  {sign}")));
    section.page(ReportBlock::list(line.bottleneck.iter().cloned()));
    let tried = line::tried(line);
    section.both(ReportBlock::table(m, &line.heading, &line::table(), &tried));
}

/// What was done to data and drives before points. `None` where nothing was.
pub(crate) fn before_points(m: &Messages, summary: &Summary) -> Option<ReportSection> {
    let before = line::before_points(m, summary);
    let mut section = ReportSection::new("precondition", m.text("precondition-title"));
    for text in &before {
        section.gap();
        section.line(text);
    }
    section.page(ReportBlock::list(before));
    section.if_filled()
}

/// One for each step, with the lines of all media.
fn charts(m: &Messages, summary: &Summary, colors: MediumColors<'_>) -> Vec<ScriptChart> {
    let mut steps: Vec<(u32, &String)> = summary
        .figures
        .lines()
        .map(|(ladder, _)| (ladder.step_index, &ladder.step))
        .collect();
    steps.dedup();
    let charts = steps.into_iter().map(|(step_index, step)| {
        let title = m.text_with("line-chart", &[("step", step.clone())]);
        let chart = chart(m, summary, colors, step_index);
        ScriptChart::lines("line", title, chart)
    });
    charts.collect()
}

/// Above this many times the limit there is nothing to see but that it is too much.
const HIGHEST: f64 = 3.0;

/// The objective's figure against the load, from the lowest repeat to the highest.
fn chart(m: &Messages, summary: &Summary, colors: MediumColors<'_>, step_index: u32) -> LineChart {
    let ladders = summary.figures.ladders.iter().enumerate();
    let ladders = ladders.filter(|(_, ladder)| ladder.step_index == step_index);
    let searched: Vec<SearchedLine<'_>> = ladders
        .filter_map(|(place, ladder)| {
            let line = ladder.line.as_ref()?;
            Some(SearchedLine {
                m,
                name: ladder::legend(m, summary, ladder),
                color: colors.of(ladder.medium.as_deref(), place).into(),
                line,
                tried: decided(line),
            })
        })
        .filter(|own| !own.tried.is_empty())
        .collect();
    let Some(LoadLine { limit_ms, open, .. }) = searched.first().map(|own| own.line) else {
        return LineChart::default();
    };
    let tried = searched.iter().flat_map(|own| &own.tried);
    let figures = tried.flat_map(|tried| tried.figures.iter().copied());
    let highest = figures.fold(*limit_ms, f64::max);
    let top = match highest > HIGHEST * limit_ms {
        true => HIGHEST * limit_ms,
        false => highest * 1.1,
    };
    let lines = searched.iter().enumerate();
    LineChart {
        x: ladder::load_axis(m, *open),
        y: ChartAxis {
            name: m.text("chart-line-ms"),
            max: Some(top),
            ..ChartAxis::default()
        },
        lines: lines
            .flat_map(|(place, own)| [own.line(place, top), own.beyond(top)])
            .collect(),
        limit: Some(ChartLimit {
            at: *limit_ms,
            text: format!("{} {} ms", m.text("chart-line-limit"), three(*limit_ms)),
        }),
        ..LineChart::default()
    }
}

/// A load that was tried, with the objective's figure of each repeat, lowest first.
struct TriedFigures {
    load: f64,
    outcome: Attempt,
    median: f64,
    figures: Vec<f64>,
}

/// By load. Where too little was measured there is no figure to draw.
fn decided(line: &LoadLine) -> Vec<TriedFigures> {
    let decided = line.tried.iter().filter(|tried| tried.outcome.is_decided());
    let mut all: Vec<TriedFigures> = decided.filter_map(tried_figures).collect();
    all.sort_by(|a, b| a.load.total_cmp(&b.load));
    all
}

fn tried_figures(tried: &TriedLoad) -> Option<TriedFigures> {
    let repeats = tried.repeats.iter();
    let mut figures: Vec<f64> = repeats
        .filter_map(|repeat| repeat.figure_ms.map(short))
        .collect();
    figures.sort_by(f64::total_cmp);
    let last = figures.len().checked_sub(1)?;
    Some(TriedFigures {
        load: tried.load,
        outcome: tried.outcome,
        median: (figures[last / 2] + figures[last.div_ceil(2)]) / 2.0,
        figures,
    })
}

struct SearchedLine<'a> {
    m: &'a Messages,
    name: String,
    color: LineColor,
    line: &'a LoadLine,
    tried: Vec<TriedFigures>,
}

impl SearchedLine<'_> {
    /// Figures above the top leave the chart upwards; their marks are those of [`Self::beyond`].
    fn line(&self, place: usize, top: f64) -> ChartLine {
        let tried = self.tried.iter();
        let ranges = tried.clone().filter_map(|own| {
            let (low, high) = (*own.figures.first()?, *own.figures.last()?);
            let is_drawn = low <= top && low < high;
            is_drawn.then(|| [own.load, low, high.min(top)])
        });
        ChartLine {
            name: self.name.clone(),
            color: self.color,
            dash: LineDash::nth(place),
            width: 1.6,
            symbol: Some(0),
            symbol_size: 10.0,
            x: tried.clone().map(|own| own.load).collect(),
            y: tried.clone().map(|own| Some(own.median)).collect(),
            marks: tried
                .clone()
                .map(|own| match own.outcome {
                    _ if own.median > top => PointMark::Unmarked,
                    Attempt::Mixed => PointMark::Mixed,
                    Attempt::Failed => PointMark::Failed,
                    Attempt::Met | Attempt::Short | Attempt::TooFew => PointMark::Full,
                })
                .collect(),
            tips: tried.map(|own| self.tip(own)).collect(),
            ranges: ranges.collect(),
            ..ChartLine::default()
        }
    }

    /// Arrows at the upper edge.
    fn beyond(&self, top: f64) -> ChartLine {
        let beyond = self.tried.iter().filter(|own| own.median > top);
        let beyond: Vec<&TriedFigures> = beyond.collect();
        ChartLine {
            name: self.name.clone(),
            color: self.color,
            symbol: Some(0),
            symbol_size: 10.0,
            x: beyond.iter().map(|own| own.load).collect(),
            y: vec![Some(top); beyond.len()],
            marks: vec![PointMark::Above; beyond.len()],
            tips: beyond.iter().map(|own| self.tip(own)).collect(),
            is_unlisted: true,
            ..ChartLine::default()
        }
    }

    fn tip(&self, own: &TriedFigures) -> String {
        let outcome = match own.outcome {
            Attempt::Failed => "chart-failed",
            Attempt::Mixed => "chart-mixed",
            Attempt::Met | Attempt::Short | Attempt::TooFew => "chart-met",
        };
        let figures: Vec<String> = own.figures.iter().copied().map(three).collect();
        let lines = [
            format!("{} {}", three(own.load), self.name),
            self.m.text(outcome),
            format!("{}: {} ms", self.m.text("chart-figure"), three(own.median)),
            format!("{} ms", figures.join(" · ")),
        ];
        lines.join("\n")
    }
}
