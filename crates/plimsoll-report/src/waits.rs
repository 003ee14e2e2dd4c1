//! What sessions waited for, in words and rows.

use plimsoll_analysis::summary::{
    DatabaseFigures, LadderSummary, PointSummary, StateShare, WaitSummary,
};
use plimsoll_record::WaitState;

use crate::bottleneck::sign_words;
use crate::load_summary::with_load;
use crate::message::Messages;
use crate::number::{self, or_none, percent};
use crate::table::Unit::{Percent, Plain, Three, Words};
use crate::table::{Table, TableCell};

/// Id of the state's name.
pub(crate) fn state_id(prefix: &str, state: WaitState) -> String {
    format!("{prefix}{}", state.name().replace('_', "-"))
}

/// The point that stands for each load, of its repeats.
pub(crate) fn typical(ladder: &LadderSummary) -> impl Iterator<Item = &PointSummary> {
    ladder
        .loads
        .iter()
        .filter_map(|load| ladder.points.get(load.typical))
}

/// A point with wait samples.
#[derive(Clone, Copy)]
pub(crate) struct SampledPoint<'a> {
    pub point: &'a PointSummary,
    pub waits: &'a WaitSummary,
}

impl<'a> SampledPoint<'a> {
    fn of(point: &'a PointSummary) -> Option<Self> {
        let waits = point.waits.as_ref()?;
        Some(Self { point, waits })
    }
}

/// One for each load.
pub(crate) fn sampled(ladder: &LadderSummary) -> impl Iterator<Item = SampledPoint<'_>> {
    typical(ladder).filter_map(SampledPoint::of)
}

/// States that occur at any point of the ladder, in their fixed order.
pub(crate) fn states(ladder: &LadderSummary) -> Vec<WaitState> {
    WaitState::ALL
        .iter()
        .copied()
        .filter(|state| sampled(ladder).any(|own| own.waits.of(*state).is_some()))
        .collect()
}

/// `21 users`, without the step and the system.
pub(crate) fn load(m: &Messages, point: &PointSummary) -> String {
    m.load(point.key.load)
}

/// Names and shares of the events of a state; empty where the server names nothing.
fn events(share: &StateShare) -> String {
    let named = share.events.iter().filter(|event| !event.event.is_empty());
    named
        .map(|event| format!("{} {} %", event.event, percent(event.percent)))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Where most of the session time went: `At 21 users 63.0 % of session time waited for the log (…)`.
fn sentence(m: &Messages, sampled: SampledPoint<'_>) -> Option<String> {
    let SampledPoint { point, waits } = sampled;
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
        ("samples", waits.samples.to_string()),
    ];
    let sentence = m.text_with("waits-sentence", &args);
    let rough = if waits.is_rough() {
        format!(" {}", m.text("waits-rough"))
    } else {
        String::new()
    };
    let limited = point.bottleneck.first().map(|sign| {
        let sign = sign_words(m, sign.what, sign.beyond);
        format!(" {}", m.text_with("waits-limited", &[("sign", sign)]))
    });
    Some(sentence + &rough + &limited.unwrap_or_default())
}

/// The sentence of the point with the highest rate, or else of the last.
pub(crate) fn describe(m: &Messages, ladder: &LadderSummary) -> Option<String> {
    let peak = ladder
        .peak
        .and_then(|peak| ladder.points.get(ladder.loads.get(peak)?.typical));
    let at_peak = peak.and_then(SampledPoint::of);
    sentence(m, at_peak.or_else(|| sampled(ladder).last())?)
}

/// One row for each load, one column for each state that occurs.
pub(crate) fn shares<'a>() -> Table<'a, SampledPoint<'a>> {
    let table = with_load(
        Table::new("wait-shares").prefix("text-"),
        |r: &SampledPoint<'_>| is_open(r.point),
        |r| load_of(r.point),
    )
    .column("sessions", Three, |r| r.waits.sessions);
    let table = WaitState::ALL.iter().copied().fold(table, |table, state| {
        table
            .column("state", Percent, move |r| Some(r.waits.of(state)?.percent))
            .headed(state_id("wait-", state))
    });
    table
        .column("samples", Plain, |r| r.waits.samples)
        .without_empty_columns()
}

/// The share of session time that one point spent in a state.
pub(crate) struct PointShare<'a> {
    point: &'a PointSummary,
    share: &'a StateShare,
}

pub(crate) fn point_shares(ladder: &LadderSummary) -> Vec<PointShare<'_>> {
    let mut rows = Vec::new();
    for SampledPoint { point, waits } in sampled(ladder) {
        let states = waits.states.iter();
        rows.extend(states.map(|share| PointShare { point, share }));
    }
    rows
}

/// One row for each point and state, for a page.
pub(crate) fn all_shares<'a>() -> Table<'a, PointShare<'a>> {
    with_load(
        Table::new("point-shares").prefix("column-"),
        |r: &PointShare<'_>| is_open(r.point),
        |r| load_and_repeat(r.point),
    )
    .column("state", Words, |r| {
        TableCell::word("wait-", r.share.state.name())
    })
    .column("sessions", Three, |r| r.share.sessions)
    .column("share", Percent, |r| r.share.percent)
    .column("error", Percent, |r| r.share.standard_error_percent)
    .column("busy-share", Percent, |r| r.share.busy_percent)
    .column("waits-for", Words, |r| events(r.share))
    .grouped(|r| Some(load_and_repeat(r.point)))
}

/// The server's own counters.
pub(crate) fn counters<'a, R: 'a>(
    table: Table<'a, R>,
    of: fn(&R) -> Option<&DatabaseFigures>,
) -> Table<'a, R> {
    table
        .column("db-commits", Three, move |r| of(r)?.commits_per_second)
        .column("buffer-hit", Percent, move |r| of(r)?.buffer_hit_percent)
        .column("log-mb", Three, move |r| of(r)?.log_mb_per_second)
        .column("log-txn", Three, move |r| {
            Some(of(r)?.log_bytes_per_txn? / 1e3)
        })
        .column("syncs-txn", Three, move |r| of(r)?.log_syncs_per_txn)
        .page_column("checkpoints", Three, move |r| of(r)?.checkpoints_per_minute)
        .column("size", Three, move |r| of(r)?.size_mb)
        .page_column("growth", Three, move |r| of(r)?.growth_mb)
}

/// The server's counters at each load.
pub(crate) fn counter_table<'a>() -> Table<'a, &'a PointSummary> {
    let table = with_load(
        Table::new("counters"),
        |point: &&PointSummary| is_open(point),
        |point| load_of(point),
    );
    counters(table, |point| point.database.as_ref()).without_empty_columns()
}

fn is_open(point: &PointSummary) -> bool {
    point.key.load.is_open()
}

fn load_of(point: &PointSummary) -> String {
    number::load(point.key.load)
}

/// How hard a single point was loaded, and which repeat it is.
pub(crate) fn load_and_repeat(point: &PointSummary) -> String {
    let load = number::load(point.key.load);
    match point.repeat {
        0 => load,
        repeat => format!("{load} (#{})", repeat + 1),
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_analysis::summarise;
    use plimsoll_record::fixture;

    use super::*;

    #[test]
    fn the_largest_wait_has_a_sentence() {
        let m = Messages::english();
        let summary = summarise(&fixture::record());
        let sentences: Vec<String> = summary
            .figures
            .ladders
            .iter()
            .filter_map(|ladder| describe(&m, ladder))
            .collect();
        insta::assert_snapshot!(sentences.join("\n"));
    }

    #[test]
    fn every_state_has_a_name() {
        let m = Messages::english();
        for state in WaitState::ALL.iter().copied() {
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
        let sentence = |record: &_| describe(&m, &summarise(record).figures.ladders[0]).unwrap();
        assert!(
            !sentence(&record).contains("Few samples"),
            "{}",
            sentence(&record)
        );
        record.waits.iter_mut().for_each(|row| row.samples = 2);
        assert!(sentence(&record).contains("Few samples"));
        record.waits.clear();
        assert_eq!(describe(&m, &summarise(&record).figures.ladders[0]), None);
    }
}
