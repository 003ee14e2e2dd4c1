//! Charts as data. The script of a page draws them by their kind: it does not know what they are about.
//!
//! Names are words already and colors are places in the palette. Where seconds are missing stands a `None` between two
//! values, so that no line crosses a gap.

mod bounded;
pub(crate) mod island;
pub(crate) mod rounding;

use std::rc::Rc;

use serde::{Serialize, Serializer};

pub(crate) use bounded::LineTimes;

use crate::svg::color::ChartColor;

pub(crate) struct ScriptChart {
    /// Of what it shows, for those who search a page for it.
    pub name: &'static str,
    pub title: String,
    pub drawn: DrawnChart,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum DrawnChart {
    Lines(Box<LineChart>),
    Bars(BarChart),
}

#[derive(Default, Serialize)]
pub(crate) struct LineChart {
    pub x: ChartAxis,
    pub y: ChartAxis,
    pub lines: Vec<ChartLine>,
    #[serde(skip)]
    pub ground: Rc<ChartGround>,
    /// A level that is drawn from edge to edge.
    pub limit: Option<ChartLimit>,
    /// Over the time of a run: all such charts are zoomed together.
    pub is_zoomed: bool,
    /// Names stand at the ends of lines where there is room for them, else in a legend.
    pub has_names_at_ends: bool,
}

#[derive(Default, Clone, Serialize)]
pub(crate) struct ChartAxis {
    pub name: String,
    /// So many of the lines' values are one on the axis.
    pub unit: Option<f64>,
    pub min: Option<f64>,
    pub max: Option<f64>,
    /// What is shown first, where that is not all.
    pub from: Option<f64>,
    /// Counts have no halves.
    pub is_whole: bool,
    pub is_log: bool,
    /// Seconds, shown as `1:15`.
    pub is_clock: bool,
    /// Of readers who choose the scale.
    pub switch: Option<String>,
    /// Before a tooltip's figures: `{}` stands for the value.
    pub tip: String,
}

#[derive(Default, Serialize)]
pub(crate) struct ChartLine {
    pub name: String,
    /// In tooltips, where that is not the name.
    pub tip: Option<String>,
    pub color: LineColor,
    pub dash: LineDash,
    pub width: f64,
    /// Of the marks of points: a place in a list of shapes. None: the line alone.
    pub symbol: Option<usize>,
    pub symbol_size: f64,
    #[serde(skip)]
    pub x: Rc<[f64]>,
    pub y: Vec<Option<f64>>,
    /// Of each point, or none at all.
    pub marks: Vec<PointMark>,
    /// Of each point: its tooltip. Charts without them have tooltips of all lines at a place of the axis.
    pub tips: Vec<String>,
    /// A point of the axis, and the ends of an upright stroke.
    pub ranges: Vec<[f64; 3]>,
    /// Lines stand above each other, and areas below them are filled.
    pub is_stacked: bool,
    /// Opacity of the area below it.
    pub area: Option<f64>,
    /// Opacity of the area down to the line before.
    pub band: Option<f64>,
    /// Has no tooltip.
    pub is_silent: bool,
    /// Has no place in the legend.
    pub is_unlisted: bool,
    /// How many seconds a drawn point stands for, where not all are drawn.
    #[serde(skip)]
    pub reduced_to: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineColor {
    Palette(ChartColor),
    /// As text.
    Text,
}

#[derive(Default, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LineDash {
    #[default]
    Solid,
    Dashed,
    Dotted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PointMark {
    Full,
    Rimmed,
    /// Must not be used.
    Hollow,
    Mixed,
    Failed,
    /// Beyond the upper edge.
    Above,
    Unmarked,
}

/// What stands behind lines.
#[derive(Default, PartialEq, Serialize)]
pub(crate) struct ChartGround {
    pub areas: Vec<ChartArea>,
    pub marks: Vec<ChartMark>,
}

/// A stretch of the horizontal axis.
#[derive(Default, PartialEq, Serialize)]
pub(crate) struct ChartArea {
    pub from: f64,
    pub to: f64,
    /// The first that has room is shown.
    pub labels: Vec<String>,
    /// In tooltips.
    pub title: String,
    pub is_shaded: bool,
    pub color: Option<LineColor>,
    /// Whether its label stands within the plot, not above it.
    pub is_inside: bool,
}

/// An upright line; its text stands along it where there is room.
#[derive(PartialEq, Serialize)]
pub(crate) struct ChartMark {
    pub at: f64,
    pub text: String,
    /// Of an event.
    pub severity: &'static str,
}

#[derive(Serialize)]
pub(crate) struct ChartLimit {
    pub at: f64,
    pub text: String,
}

/// Bars of several things for each category, from 0 on.
#[derive(Serialize)]
pub(crate) struct BarChart {
    pub unit: String,
    pub categories: Vec<String>,
    pub groups: Vec<BarGroup>,
}

#[derive(Serialize)]
pub(crate) struct BarGroup {
    pub name: String,
    pub color: LineColor,
    /// One for each category.
    pub bars: Vec<Option<CategoryBar>>,
}

#[derive(Serialize)]
pub(crate) struct CategoryBar {
    pub value: f64,
    /// The ends of its interval.
    pub range: Option<[f64; 2]>,
    /// What stands behind it in a tooltip where it must not be used.
    pub flaw: Option<String>,
}

impl Default for LineColor {
    fn default() -> Self {
        Self::Palette(ChartColor(Some(0)))
    }
}

impl From<ChartColor> for LineColor {
    fn from(color: ChartColor) -> Self {
        Self::Palette(color)
    }
}

/// A place in the palette, or a name.
impl Serialize for LineColor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Palette(ChartColor(Some(place))) => serializer.serialize_u64(*place as u64),
            Self::Palette(ChartColor(None)) => serializer.serialize_str("gray"),
            Self::Text => serializer.serialize_str("text"),
        }
    }
}

impl LineDash {
    pub const ALL: [Self; 3] = [Self::Solid, Self::Dashed, Self::Dotted];

    /// One for each place, over and over.
    pub fn nth(place: usize) -> Self {
        Self::ALL[place % Self::ALL.len()]
    }
}

impl PointMark {
    pub fn usable(is_usable: bool) -> Self {
        if is_usable { Self::Full } else { Self::Hollow }
    }
}

impl ScriptChart {
    pub fn lines(name: &'static str, title: String, chart: LineChart) -> Self {
        Self {
            name,
            title,
            drawn: DrawnChart::Lines(Box::new(chart)),
        }
    }

    /// Of a chart of lines.
    pub fn change(&mut self, change: impl FnOnce(&mut LineChart)) {
        if let DrawnChart::Lines(own) = &mut self.drawn {
            change(own);
        }
    }

    pub fn is_zoomed(&self) -> bool {
        matches!(&self.drawn, DrawnChart::Lines(own) if own.is_zoomed)
    }

    /// How many seconds a drawn point stands for at most, where not all are drawn.
    pub fn reduced_to(&self) -> Option<f64> {
        let DrawnChart::Lines(own) = &self.drawn else {
            return None;
        };
        let lines = own.lines.iter();
        lines.filter_map(|line| line.reduced_to).reduce(f64::max)
    }
}

impl LineChart {
    /// Whether values span more than two decades: then they have a logarithmic scale.
    pub fn is_wide(&self) -> bool {
        is_wide(self.lines.iter().flat_map(|line| &line.y).copied())
    }
}

pub(crate) fn is_wide(values: impl Iterator<Item = Option<f64>> + Clone) -> bool {
    let values = values.flatten().filter(|value| *value > 0.0);
    let low = values.clone().reduce(f64::min);
    let high = values.reduce(f64::max);
    low.zip(high).is_some_and(|(low, high)| high > 100.0 * low)
}
