//! What sessions waited for, as text, and its section on the terminal.

use plimsoll_analysis::summary::{DatabaseFigures, Ladder, PointSummary, StateShare, WaitSummary};
use plimsoll_record::WaitState;

use crate::message::Messages;
use crate::number::{NONE, or_none, percent, three};
use crate::text::aligned;

/// Id of the state's name.
pub(crate) fn state_id(prefix: &str, state: WaitState) -> String {
    format!("{prefix}{}", state.name().replace('_', "-"))
}

/// The point that stands for each load, of its repeats.
fn typical(ladder: &Ladder) -> impl Iterator<Item = &PointSummary> {
    ladder
        .rungs
        .iter()
        .filter_map(|rung| ladder.points.get(rung.typical))
}

/// Points with wait samples, one for each load.
pub(crate) fn sampled(ladder: &Ladder) -> impl Iterator<Item = (&PointSummary, &WaitSummary)> {
    typical(ladder).filter_map(|point| Some((point, point.waits.as_ref()?)))
}

/// States that occur at any point of the ladder, in their fixed order.
pub(crate) fn states(ladder: &Ladder) -> Vec<WaitState> {
    let occurs = |state: &WaitState| sampled(ladder).any(|(_, waits)| waits.of(*state).is_some());
    WaitState::ALL.into_iter().filter(occurs).collect()
}

/// `21 users`, without the step and the system.
pub(crate) fn load(m: &Messages, point: &PointSummary) -> String {
    match point.offered_per_second {
        Some(rate) => m.text_with("load-open", &[("rate", three(rate))]),
        None if point.users == 1 => m.text("load-one"),
        None => m.text_with("load-closed", &[("users", point.users.to_string())]),
    }
}

/// Names and shares of the events of a state; empty where the server names nothing.
pub(crate) fn events(share: &StateShare) -> String {
    let named = share.events.iter().filter(|event| !event.event.is_empty());
    named
        .map(|event| format!("{} {} %", event.event, percent(event.percent)))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Where most of the session time went: `At 21 users 63.0 % of session time waited for the log (…)`.
pub(crate) fn sentence(m: &Messages, point: &PointSummary, waits: &WaitSummary) -> Option<String> {
    let most = waits.most()?;
    let events = events(most);
    let what = m.text(&state_id("wait-does-", most.state));
    let args = [
        ("load", load(m, point)),
        ("percent", percent(most.percent)),
        (
            "what",
            if events.is_empty() {
                what
            } else {
                format!("{what} ({events})")
            },
        ),
        ("error", or_none(most.standard_error_percent, percent)),
        ("looks", waits.looks.to_string()),
    ];
    let sentence = m.text_with("waits-sentence", &args);
    let rough = if waits.is_rough() {
        format!(" {}", m.text("waits-rough"))
    } else {
        String::new()
    };
    Some(sentence + &rough)
}

/// The sentence of the point with the highest rate, or else of the last.
pub(crate) fn describe(m: &Messages, ladder: &Ladder) -> Option<String> {
    let peak = ladder
        .peak
        .and_then(|peak| ladder.points.get(ladder.rungs.get(peak)?.typical));
    let at_peak = peak.and_then(|point| Some((point, point.waits.as_ref()?)));
    let (point, waits) = at_peak.or_else(|| sampled(ladder).last())?;
    sentence(m, point, waits)
}

/// Shares and counters of a ladder; empty where nothing is known.
pub(crate) fn section(m: &Messages, ladder: &Ladder) -> String {
    let mut out = String::new();
    let states = states(ladder);
    if let Some(sentence) = describe(m, ladder) {
        let mut header: Vec<String> = vec![load_head(m, ladder), m.text("text-sessions")];
        header.extend(
            states
                .iter()
                .map(|state| m.text(&state_id("wait-", *state))),
        );
        header.push(m.text("text-looks"));
        let row = |(point, waits): (&PointSummary, &WaitSummary)| {
            let mut cells = vec![load_cell(point), three(waits.sessions)];
            cells.extend(
                states
                    .iter()
                    .map(|state| or_none(waits.of(*state).map(|share| share.percent), percent)),
            );
            cells.push(waits.looks.to_string());
            cells
        };
        let rows: Vec<Vec<String>> = sampled(ladder).map(row).collect();
        out.push_str(&format!(
            "{}\n{sentence}\n{}\n\n",
            m.text("waits-heading"),
            aligned(&header, &rows)
        ));
    }
    out.push_str(&counters(m, ladder));
    out
}

type Column = (&'static str, fn(&DatabaseFigures) -> String);

const COUNTERS: [Column; 6] = [
    ("text-commits", |d| or_none(d.commits_per_second, three)),
    ("text-buffer-hit", |d| {
        or_none(d.buffer_hit_percent, percent)
    }),
    ("text-log-mb", |d| or_none(d.log_mb_per_second, three)),
    ("text-log-txn", |d| {
        or_none(d.log_bytes_per_txn.map(|bytes| bytes / 1e3), three)
    }),
    ("text-syncs-txn", |d| or_none(d.log_syncs_per_txn, three)),
    ("text-size", |d| or_none(d.size_mb, three)),
];

fn counters(m: &Messages, ladder: &Ladder) -> String {
    let known: Vec<(&PointSummary, &DatabaseFigures)> = typical(ladder)
        .filter_map(|point| Some((point, point.database.as_ref()?)))
        .collect();
    let columns: Vec<&Column> = COUNTERS
        .iter()
        .filter(|(_, of)| known.iter().any(|(_, d)| of(d) != NONE))
        .collect();
    if columns.is_empty() {
        return String::new();
    }
    let mut header = vec![load_head(m, ladder)];
    header.extend(columns.iter().map(|(id, _)| m.text(id)));
    let row = |(point, figures): &(&PointSummary, &DatabaseFigures)| {
        let cells = columns.iter().map(|(_, of)| of(figures));
        std::iter::once(load_cell(point)).chain(cells).collect()
    };
    let rows: Vec<Vec<String>> = known.iter().map(row).collect();
    format!(
        "{}\n{}\n\n",
        m.text("counters-heading"),
        aligned(&header, &rows)
    )
}

fn load_head(m: &Messages, ladder: &Ladder) -> String {
    let open = ladder
        .points
        .iter()
        .any(|point| point.offered_per_second.is_some());
    m.text(if open { "text-offered" } else { "text-users" })
}

fn load_cell(point: &PointSummary) -> String {
    point
        .offered_per_second
        .map_or_else(|| point.users.to_string(), three)
}

#[cfg(test)]
mod tests {
    use plimsoll_analysis::fixture;
    use plimsoll_analysis::summary::summarise;

    use super::*;

    #[test]
    fn the_largest_wait_has_a_sentence() {
        let m = Messages::english();
        let summary = summarise(&fixture::record());
        let sentences: Vec<String> = summary
            .ladders
            .iter()
            .filter_map(|ladder| describe(&m, ladder))
            .collect();
        insta::assert_snapshot!(sentences.join("\n"));
        insta::assert_snapshot!("section", section(&m, &summary.ladders[1]));
    }

    #[test]
    fn every_state_has_a_name() {
        let m = Messages::english();
        for state in WaitState::ALL {
            for prefix in ["wait-", "wait-does-"] {
                let id = state_id(prefix, state);
                assert!(m.text(&id) != id, "{id}");
            }
        }
    }

    #[test]
    fn few_samples_are_marked() {
        let m = Messages::english();
        let mut record = fixture::lasting(20);
        let sentence = |record: &_| describe(&m, &summarise(record).ladders[0]).unwrap();
        assert!(
            !sentence(&record).contains("Few samples"),
            "{}",
            sentence(&record)
        );
        record.waits.iter_mut().for_each(|row| row.looks = 2);
        assert!(sentence(&record).contains("Few samples"));
        record.waits.clear();
        assert_eq!(describe(&m, &summarise(&record).ladders[0]), None);
    }
}
