//! Charts over the load: throughput, and latencies by transaction type.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{FigureId, LadderSummary, PointSummary, Verdict};

use crate::chart::rounding::short;
use crate::chart::{ChartAxis, ChartLine, LineChart, LineColor, LineDash, PointMark, ScriptChart};
use crate::document::{BlockHeading, HeadingAside, ReportBlock, ReportSection};
use crate::ladder;
use crate::message::Messages;
use crate::svg::color::MediumColors;

/// Those that have something to show.
pub(crate) fn sections(
    m: &Messages,
    summary: &Summary,
    colors: MediumColors<'_>,
) -> Vec<ReportSection> {
    let axes: Vec<LoadAxis<'_>> = [false, true]
        .map(|is_open| LoadAxis::of(m, summary, colors, is_open))
        .into_iter()
        .filter(|own| !own.points.is_empty())
        .collect();
    let mut throughput =
        ReportSection::new("throughput", m.text("throughput-title")).styled("charts");
    throughput.page(ReportBlock::note(m.text("throughput-note")));
    add_by_axis(m, &axes, &mut throughput, LoadAxis::throughput);
    let switch = HeadingAside::Switch(LATENCY.to_owned());
    let heading = BlockHeading::section(m.text("latency-title")).beside(switch);
    let mut latency = ReportSection::headed(LATENCY, heading).styled("charts");
    latency.page(ReportBlock::note(m.text("latency-note")));
    add_by_axis(m, &axes, &mut latency, LoadAxis::latencies);
    let sections = [throughput, latency].into_iter();
    sections.filter_map(ReportSection::if_filled).collect()
}

/// The section, and the switch of its charts.
const LATENCY: &str = "latency";

/// The response times of the charts of transaction types.
const CHARTED: [FigureId; 3] = [FigureId::P50, FigureId::P95, FigureId::P99];

/// Charts of each axis, which is named where there are several.
fn add_by_axis<'a>(
    m: &Messages,
    axes: &[LoadAxis<'a>],
    section: &mut ReportSection,
    charts: fn(&LoadAxis<'a>) -> Vec<ScriptChart>,
) {
    for axis in axes {
        if axes.len() > 1 {
            let id = match axis.is_open {
                true => "axis-offered",
                false => "axis-users",
            };
            section.page(ReportBlock::heading(m.text(id)));
        }
        section.page(ReportBlock::figures("figures", charts(axis)));
    }
}

/// Users, or the offered rate.
struct LoadAxis<'a> {
    m: &'a Messages,
    is_open: bool,
    /// Those that were measured.
    points: Vec<&'a PointSummary>,
    ladders: Vec<LadderLine<'a>>,
}

struct LadderLine<'a> {
    ladder: &'a LadderSummary,
    /// In legends.
    name: String,
    color: LineColor,
    /// Among all ladders: their marks differ too.
    place: usize,
}

/// By which its titles are named.
fn chart_name(figure: FigureId) -> &'static str {
    match figure {
        FigureId::Nopm => "nopm",
        FigureId::Tpm => "tpm",
        FigureId::TpmPerUser => "tpm-per-user",
        _ => "rate",
    }
}

impl<'a> LoadAxis<'a> {
    fn of(m: &'a Messages, summary: &'a Summary, colors: MediumColors<'_>, is_open: bool) -> Self {
        let points = summary.figures.points();
        let points = points
            .filter(|point| point.key.load.is_open() == is_open)
            .filter(|point| point.value(FigureId::Transactions).is_some());
        let ladders = summary.figures.ladders.iter().enumerate();
        let ladders = ladders.filter(|(_, ladder)| {
            let mut points = ladder.points.iter();
            points.any(|point| point.key.load.is_open() == is_open)
        });
        Self {
            m,
            is_open,
            points: points.collect(),
            ladders: ladders
                .map(|(place, ladder)| LadderLine {
                    ladder,
                    name: ladder::legend(m, summary, ladder),
                    color: colors.of(ladder.medium.as_deref(), place).into(),
                    place,
                })
                .collect(),
        }
    }

    fn load(&self, point: &PointSummary) -> f64 {
        match self.is_open {
            true => point.key.load.offered_per_second.unwrap_or_default(),
            false => point.key.load.users.into(),
        }
    }

    fn throughput(&self) -> Vec<ScriptChart> {
        let figures = if self
            .points
            .iter()
            .all(|point| point.value(FigureId::Tpm).is_none())
        {
            vec![FigureId::Transactions]
        } else if self.is_open {
            vec![FigureId::Nopm, FigureId::Tpm]
        } else {
            vec![FigureId::Nopm, FigureId::Tpm, FigureId::TpmPerUser]
        };
        figures.into_iter().map(|own| self.figure(own)).collect()
    }

    /// With 25 % and 75 % of single seconds.
    fn figure(&self, figure: FigureId) -> ScriptChart {
        let name = chart_name(figure);
        let lines = self.ladders.iter().map(|own| {
            let ranges = own.ladder.points.iter().filter_map(|point| {
                let spread = point.spreads.get(&figure)?;
                Some([self.load(point), short(spread.p25), short(spread.p75)])
            });
            ChartLine {
                ranges: ranges.collect(),
                width: 2.0,
                symbol_size: 8.0,
                ..self.line(own, |point| point.value(figure))
            }
        });
        let title = self.m.text(&format!("chart-title-{name}"));
        let y = ChartAxis {
            name: self.m.figure_on_page(figure),
            ..ChartAxis::default()
        };
        ScriptChart::lines(name, title, self.chart(y, lines.collect()))
    }

    /// A chart for each transaction type that has response times.
    fn latencies(&self) -> Vec<ScriptChart> {
        let mut names: Vec<&str> = Vec::new();
        for txn in self.points.iter().flat_map(|point| &point.types) {
            if txn.response.is_some() && !names.contains(&txn.name.as_str()) {
                names.push(&txn.name);
            }
        }
        names.into_iter().map(|txn| self.latency(txn)).collect()
    }

    fn latency(&self, txn: &str) -> ScriptChart {
        let mut lines = Vec::new();
        for own in &self.ladders {
            for (place, figure) in CHARTED.into_iter().enumerate() {
                let line = self.line(own, |point| {
                    let mut types = point.types.iter().filter(|own| own.name == txn);
                    types.find_map(|own| own.response)?.ms(figure)
                });
                lines.push(ChartLine {
                    tip: Some(format!("{} {}", line.name, figure.info().name)),
                    dash: LineDash::ALL[place],
                    width: 1.8,
                    symbol_size: 6.0,
                    ..line
                });
            }
        }
        let y = ChartAxis {
            name: self.m.text("chart-latency"),
            switch: Some(LATENCY.to_owned()),
            ..ChartAxis::default()
        };
        let mut chart = self.chart(y, lines);
        chart.y.is_log = chart.is_wide();
        ScriptChart::lines(LATENCY, txn.to_owned(), chart)
    }

    fn line(
        &self,
        own: &LadderLine<'_>,
        figure: impl Fn(&PointSummary) -> Option<f64>,
    ) -> ChartLine {
        let points = || own.ladder.points.iter();
        ChartLine {
            name: own.name.clone(),
            color: own.color,
            symbol: Some(own.place),
            x: points().map(|point| self.load(point)).collect(),
            y: points().map(|point| figure(point).map(short)).collect(),
            marks: points()
                .map(|point| PointMark::usable(point.verdict < Verdict::Invalid))
                .collect(),
            ..ChartLine::default()
        }
    }

    fn chart(&self, y: ChartAxis, lines: Vec<ChartLine>) -> LineChart {
        LineChart {
            x: ladder::load_axis(self.m, self.is_open),
            y,
            lines,
            has_names_at_ends: true,
            ..LineChart::default()
        }
    }
}
