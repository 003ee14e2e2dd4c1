//! What sessions waited for: bars that are read by their order and labels, and the table of all shares.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{LadderSummary, StateShare};

use crate::ladder;
use crate::message::Messages;
use crate::number::percent;
use crate::table::Grid;
use crate::waits::{self, SampledPoint, state_id};

pub(super) struct WaitsView {
    pub heading: String,
    pub sentence: String,
    /// Class and name of the states that occur, in the order of the bars.
    pub legend: Vec<(String, String)>,
    pub bars: Vec<Bar>,
    pub grid: Grid,
}

/// All session time of a point.
pub(super) struct Bar {
    pub load: String,
    /// All of it in words, for those who do not see it.
    pub label: String,
    pub parts: Vec<BarSegment>,
}

pub(super) struct BarSegment {
    pub class: String,
    /// In percent of the bar.
    pub width: String,
    pub title: String,
    /// What stands in it; empty where there is no room.
    pub label: String,
}

/// A part that is narrower (%) has no room for its share, or not even for its name.
const ROOM: f64 = 11.0;
const ROOM_FOR_NAME: f64 = 6.0;

/// One for each ladder with wait samples.
pub(super) fn views(m: &Messages, summary: &Summary) -> Vec<WaitsView> {
    let ladders = summary.figures.ladders.iter();
    ladders.filter_map(|ladder| view(m, ladder)).collect()
}

fn view(m: &Messages, ladder: &LadderSummary) -> Option<WaitsView> {
    let states = waits::states(ladder).into_iter();
    Some(WaitsView {
        heading: ladder::heading(m, ladder),
        sentence: waits::describe(m, ladder)?,
        legend: states
            .map(|state| {
                let id = state_id("wait-", state);
                let name = m.text(&id);
                (id, name)
            })
            .collect(),
        bars: waits::sampled(ladder).map(|own| bar(m, own)).collect(),
        grid: waits::all_shares().to_grid(m, &waits::point_shares(ladder)),
    })
}

fn bar(m: &Messages, sampled: SampledPoint<'_>) -> Bar {
    let states = sampled.waits.states.iter();
    let parts: Vec<BarSegment> = states.map(|share| part(m, share)).collect();
    let load = waits::load(m, sampled.point);
    let titles: Vec<&str> = parts.iter().map(|part| part.title.as_str()).collect();
    Bar {
        label: format!("{load}: {}", titles.join(", ")),
        load,
        parts,
    }
}

fn part(m: &Messages, share: &StateShare) -> BarSegment {
    let id = state_id("wait-", share.state);
    let name = m.text(&id);
    let title = format!("{name} {} %", percent(share.percent));
    let label = match share.percent {
        wide if wide >= ROOM => title.clone(),
        narrow if narrow >= ROOM_FOR_NAME => name,
        _ => String::new(),
    };
    BarSegment {
        class: id,
        width: format!("{:.3}", share.percent),
        title,
        label,
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_analysis::summarise;
    use plimsoll_record::fixture;

    use super::*;

    #[test]
    fn a_bar_holds_all_session_time_in_a_fixed_order() {
        let m = Messages::english();
        for view in views(&m, &summarise(&fixture::record())) {
            for bar in view.bars {
                let widths: f64 = bar
                    .parts
                    .iter()
                    .map(|part| part.width.parse::<f64>().unwrap())
                    .sum();
                assert!((widths - 100.0).abs() < 0.01, "{widths}");
                let order = |part: &BarSegment| {
                    view.legend
                        .iter()
                        .position(|(class, _)| *class == part.class)
                        .unwrap()
                };
                assert!(bar.parts.is_sorted_by_key(order));
                assert!(bar.parts.iter().all(|part| bar.label.contains(&part.title)));
            }
        }
    }
}
