//! Charts without a script: lines over ordered values, bars of things without an order. Both draw intervals and write
//! names beside what they name, at a width that stays readable on a phone.

use plimsoll_analysis::summary::Verdict;

use super::color::ChartColor;
use super::{Drawing, round_step};
use crate::message::Messages;
use crate::number::three;

/// As wide as a phone's screen: a page scales a drawing up, not down.
const WIDTH: f64 = 400.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 30.0;
/// Of a chart of lines.
const HEIGHT: f64 = 240.0;
/// Of a letter of a name, at most.
const LETTER: f64 = 7.0;
/// Between names of lines.
const NAME_DISTANCE: f64 = 14.0;
/// The longest name that has room beside its line.
const LONGEST_NAME: usize = 14;
const MOST_NAMES: usize = 8;
/// Of a bar with its name above it.
const BAR_ROW: f64 = 42.0;
/// A chart with its heading.
pub(crate) struct Chart {
    pub heading: String,
    pub svg: String,
    /// Names of lines that have no room in the drawing.
    pub keys: Vec<Key>,
}

pub(crate) struct Key {
    /// Style class of the color.
    pub class: String,
    pub name: String,
}

/// A figure in a chart.
pub(crate) struct PlotMark {
    /// On the horizontal axis; bars have none.
    pub place: usize,
    pub value: f64,
    /// The ends of its interval.
    pub range: Option<[f64; 2]>,
    pub is_invalid: bool,
}

impl PlotMark {
    fn high(&self) -> f64 {
        self.range
            .map_or(self.value, |[_, high]| high.max(self.value))
    }
}

pub(crate) struct PlotLine {
    pub name: String,
    pub color: ChartColor,
    /// In the order of the axis.
    pub marks: Vec<PlotMark>,
    /// What stands between two values means something.
    pub is_connected: bool,
}

pub(crate) struct PlotBar {
    pub name: String,
    pub color: ChartColor,
    pub mark: PlotMark,
}

impl PlotBar {
    /// `range`: the ends of its interval.
    pub fn of(
        name: String,
        color: ChartColor,
        value: f64,
        range: Option<[f64; 2]>,
        verdict: Verdict,
    ) -> Self {
        Self {
            name,
            color,
            mark: PlotMark {
                place: 0,
                value,
                range,
                is_invalid: verdict == Verdict::Invalid,
            },
        }
    }
}

/// Of marks, the highest end above 0.
fn highest<'a>(marks: impl Iterator<Item = &'a PlotMark>) -> Option<f64> {
    marks
        .map(PlotMark::high)
        .filter(|high| *high > 0.0 && high.is_finite())
        .reduce(f64::max)
}

/// What someone hears who cannot see the chart: each name with its figures.
fn described<'a>(heading: &str, named: impl Iterator<Item = (&'a str, Vec<f64>)>) -> String {
    let parts: Vec<String> = named
        .map(|(name, values)| {
            let values: Vec<String> = values.into_iter().map(three).collect();
            format!("{name}: {}", values.join(", "))
        })
        .collect();
    format!("{heading}. {}", parts.join("; "))
}

/// Lines over `places`, from 0 on; `None` where nothing is above it.
pub(crate) fn lines(heading: String, places: &[String], lines: &[PlotLine]) -> Option<Chart> {
    let most = highest(lines.iter().flat_map(|line| &line.marks))?;
    let has_room = |line: &PlotLine| line.name.chars().count() <= LONGEST_NAME;
    let is_direct = lines.len() > 1 && lines.len() <= MOST_NAMES && lines.iter().all(has_room);
    let longest = lines.iter().map(|line| line.name.chars().count()).max();
    let names_width = longest.filter(|_| is_direct).unwrap_or(0) as f64 * LETTER;
    let step = round_step(most / 4.0);
    let plot = LinePlot {
        top: (most / step).ceil() * step,
        places: places.len(),
        right: WIDTH - RIGHT - names_width,
    };
    let mut drawing = Drawing::default();
    for tick in 0..=(plot.top / step).round() as u32 {
        let value = f64::from(tick) * step;
        let at = plot.y(value);
        drawing.line("grid", [LEFT, at], [plot.right, at]);
        drawing.write("tick", [LEFT - 6.0, at + 4.0], &three(value));
    }
    for (place, name) in places.iter().enumerate() {
        drawing.write("value", [plot.x(place), HEIGHT - 8.0], name);
    }
    for (i, line) in lines.iter().enumerate() {
        // Side by side, so that intervals of lines at the same place can be distinguished.
        let shift = (i as f64 - (lines.len() as f64 - 1.0) / 2.0) * 3.0;
        plot.draw(&mut drawing, line, shift);
    }
    if is_direct {
        plot.write_names(&mut drawing, lines);
    }
    let title = described(
        &heading,
        lines.iter().map(|line| {
            let values = line.marks.iter().map(|mark| mark.value);
            (line.name.as_str(), values.collect())
        }),
    );
    let keys = lines.iter().filter(|_| lines.len() > 1 && !is_direct);
    Some(Chart {
        svg: drawing.framed("plot", WIDTH, HEIGHT, &title),
        keys: keys
            .map(|line| Key {
                class: line.color.class(),
                name: line.name.clone(),
            })
            .collect(),
        heading,
    })
}

/// Where marks of lines stand.
struct LinePlot {
    /// The value at the upper edge.
    top: f64,
    places: usize,
    /// The right edge.
    right: f64,
}

impl LinePlot {
    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - value / self.top * (HEIGHT - TOP - BOTTOM)
    }

    fn x(&self, place: usize) -> f64 {
        LEFT + (place as f64 + 0.5) / self.places.max(1) as f64 * (self.right - LEFT)
    }

    fn draw(&self, drawing: &mut Drawing, line: &PlotLine, shift: f64) {
        let color = line.color.class();
        let at = |mark: &PlotMark| [self.x(mark.place) + shift, self.y(mark.value)];
        if line.is_connected {
            drawing.path(&format!("line {color}"), line.marks.iter().map(at));
        }
        for mark in &line.marks {
            let [x, y] = at(mark);
            if let Some([low, high]) = mark.range {
                let bar = format!("bar {color}");
                drawing.line(&bar, [x, self.y(low.max(0.0))], [x, self.y(high)]);
            }
            let weak = if mark.is_invalid { " hollow" } else { "" };
            drawing.circle(&format!("dot {color}{weak}"), [x, y], 4.0);
        }
    }

    /// At the end of each line, moved apart where they would stand on each other.
    fn write_names(&self, drawing: &mut Drawing, lines: &[PlotLine]) {
        let mut ends: Vec<(&PlotLine, [f64; 2])> = lines
            .iter()
            .filter_map(|line| {
                let last = line.marks.last()?;
                Some((line, [self.x(last.place) + 12.0, self.y(last.value) + 4.0]))
            })
            .collect();
        ends.sort_by(|(_, a), (_, b)| a[1].total_cmp(&b[1]));
        let mut lowest = HEIGHT - BOTTOM + 4.0;
        // From below, so that none is pushed out of the drawing.
        for (_, at) in ends.iter_mut().rev() {
            at[1] = at[1].min(lowest);
            lowest = at[1] - NAME_DISTANCE;
        }
        for (line, at) in ends {
            drawing.write(&format!("name {}", line.color.class()), at, &line.name);
        }
    }
}

/// Bars from 0 on, one below the other, each with its name and value; `None` where nothing is above 0.
pub(crate) fn bars(m: &Messages, heading: String, bars: &[PlotBar]) -> Option<Chart> {
    let most = highest(bars.iter().map(|bar| &bar.mark))?;
    let room = WIDTH - 70.0;
    let x = |value: f64| value.max(0.0) / most * room;
    let mut drawing = Drawing::default();
    for (row, bar) in bars.iter().enumerate() {
        let top = BAR_ROW * row as f64;
        let color = bar.color.class();
        let weak = if bar.mark.is_invalid { " hollow" } else { "" };
        drawing.write(&format!("name {color}"), [0.0, top + 13.0], &bar.name);
        let size = [x(bar.mark.value).max(1.0), 14.0];
        drawing.rect(&format!("fill {color}{weak}"), [0.0, top + 18.0], size);
        if let Some([low, high]) = bar.mark.range {
            drawing.line("whisker", [x(low), top + 25.0], [x(high), top + 25.0]);
            for end in [x(low), x(high)] {
                drawing.line("whisker", [end, top + 21.0], [end, top + 29.0]);
            }
        }
        let mut value = three(bar.mark.value);
        if bar.mark.is_invalid {
            value = format!("{value} {}", m.text("verdict-invalid"));
        }
        drawing.write("amount", [x(bar.mark.high()) + 6.0, top + 30.0], &value);
    }
    let title = described(
        &heading,
        bars.iter()
            .map(|bar| (bar.name.as_str(), vec![bar.mark.value])),
    );
    Some(Chart {
        svg: drawing.framed("plot", WIDTH, BAR_ROW * bars.len() as f64, &title),
        keys: Vec::new(),
        heading,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, color: usize, values: &[f64]) -> PlotLine {
        let marks = values.iter().enumerate().map(|(place, value)| PlotMark {
            place,
            value: *value,
            range: Some([value * 0.9, value * 1.1]),
            is_invalid: false,
        });
        PlotLine {
            name: name.to_owned(),
            color: ChartColor(Some(color)),
            marks: marks.collect(),
            is_connected: true,
        }
    }

    /// Vertical positions of names.
    fn name_positions(svg: &str) -> Vec<f64> {
        let names = svg.split("<text class=\"name").skip(1);
        names
            .map(|text| {
                let (_, rest) = text.split_once("y=\"").unwrap();
                rest.split_once('"').unwrap().0.parse().unwrap()
            })
            .collect()
    }

    #[test]
    fn names_of_lines_stand_beside_them_and_never_on_each_other() {
        let places = ["1", "2"].map(str::to_owned);
        let all = [
            line("NVMe", 0, &[40.0, 100.0]),
            line("SATA", 1, &[1.0, 1.5]),
            line("disk", 2, &[1.0, 1.0]),
            line("tape", 3, &[0.1, 0.2]),
        ];
        let chart = lines("Rate".to_owned(), &places, &all).unwrap();
        let mut positions = name_positions(&chart.svg);
        positions.sort_by(f64::total_cmp);
        assert_eq!(positions.len(), 4);
        assert!(positions.windows(2).all(|two| two[1] - two[0] >= 13.9));
        assert!(chart.keys.is_empty());
        assert!(chart.svg.contains("aria-label=\"Rate. NVMe: 40.0, 100"));
    }

    #[test]
    fn long_names_have_a_key_instead() {
        let places = ["1".to_owned()];
        let all = [
            line("a drive with a long name", 0, &[2.0]),
            line("b", 1, &[1.0]),
        ];
        let chart = lines("Rate".to_owned(), &places, &all).unwrap();
        let names: Vec<&str> = chart.keys.iter().map(|key| key.class.as_str()).collect();
        assert_eq!(names, ["s1", "s2"]);
        assert!(name_positions(&chart.svg).is_empty());
    }

    #[test]
    fn an_invalid_bar_is_hollow_and_named() {
        let m = Messages::english();
        let mark = |value, is_invalid| PlotMark {
            place: 0,
            value,
            range: None,
            is_invalid,
        };
        let bar = |name: &str, color, mark| PlotBar {
            name: name.to_owned(),
            color: ChartColor(Some(color)),
            mark,
        };
        let all = [bar("a", 0, mark(5.0, false)), bar("b", 1, mark(2.0, true))];
        let svg = bars(&m, "Rate".to_owned(), &all).unwrap().svg;
        assert!(svg.contains("fill s2 hollow") && svg.contains(">2.00 invalid<"));
        assert!(bars(&m, String::new(), &[bar("a", 0, mark(0.0, false))]).is_none());
    }
}
