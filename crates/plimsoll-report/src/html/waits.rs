//! What sessions waited for: bars that are read by their order and labels, and the table of all shares.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{Ladder, PointSummary, StateShare, WaitSummary};
use plimsoll_record::WaitState;

use crate::ladder;
use crate::message::Messages;
use crate::number::percent;
use crate::table::Grid;
use crate::waits::{self, state_id};

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
    pub parts: Vec<Part>,
}

pub(super) struct Part {
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
    let view = |ladder: &Ladder| {
        let name = |state: &WaitState| {
            (
                state_id("wait-", *state),
                m.text(&state_id("wait-", *state)),
            )
        };
        Some(WaitsView {
            heading: ladder::heading(m, ladder),
            sentence: waits::describe(m, ladder)?,
            legend: waits::states(ladder).iter().map(name).collect(),
            bars: waits::sampled(ladder)
                .map(|(point, waits)| bar(m, point, waits))
                .collect(),
            grid: waits::all_shares(m, ladder),
        })
    };
    summary.ladders.iter().filter_map(view).collect()
}

fn bar(m: &Messages, point: &PointSummary, waits: &WaitSummary) -> Bar {
    let part = |share: &StateShare| {
        let id = state_id("wait-", share.state);
        let name = m.text(&id);
        let title = format!("{name} {} %", percent(share.percent));
        let label = match share.percent {
            wide if wide >= ROOM => title.clone(),
            narrow if narrow >= ROOM_FOR_NAME => name,
            _ => String::new(),
        };
        Part {
            class: id,
            width: format!("{:.3}", share.percent),
            title,
            label,
        }
    };
    let parts: Vec<Part> = waits.states.iter().map(part).collect();
    let load = waits::load(m, point);
    let label = parts
        .iter()
        .map(|part| part.title.as_str())
        .collect::<Vec<_>>()
        .join(", ");
    Bar {
        label: format!("{load}: {label}"),
        load,
        parts,
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
                let order = |part: &Part| {
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
