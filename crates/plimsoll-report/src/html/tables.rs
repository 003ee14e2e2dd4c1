//! The tables of ladders and events.

use plimsoll_analysis::summary::LadderSummary;
use plimsoll_record::{Event, Record};

use crate::message::Messages;
use crate::subject;
use crate::table::Unit::{Decimals, Words};
use crate::table::{Grid, Table, TableCell};
use crate::{ladder, load_summary, scaling};

pub(super) struct LadderView {
    pub heading: String,
    /// What is emulated below it; empty where nothing is.
    pub drive: String,
    pub latency_of: String,
    pub ladder: Grid,
    pub latency: Grid,
    pub resources: Grid,
    /// How it scales, and the law beside what was measured.
    pub scaling: Vec<String>,
    pub scaled: Grid,
    /// Whether a figure about the generator is missing because the system runs inside it.
    pub embedded: bool,
}

impl LadderView {
    pub fn new(m: &Messages, ladder: &LadderSummary) -> Self {
        let mut points = ladder.points.iter();
        let views = load_summary::views(ladder);
        Self {
            heading: ladder::heading(m, ladder),
            drive: ladder::emulated(m, ladder),
            latency_of: ladder::latency_of(m, ladder),
            ladder: ladder::table().to_grid(m, &views),
            latency: ladder::latency().to_grid(m, &ladder::txn_times(&views)),
            resources: ladder::resources().to_grid(m, &views),
            scaling: scaling::describe(m, ladder),
            scaled: scaling::table().to_grid(m, &scaling::points(ladder)),
            embedded: points.any(|point| point.resources.generator_cpu_withheld.is_some()),
        }
    }
}

/// An event with the name of what it is about.
pub(crate) struct EventRow<'a> {
    event: &'a Event,
    subject: Option<&'a str>,
}

pub(crate) fn events<'a>() -> Table<'a, EventRow<'a>> {
    Table::<EventRow<'_>>::new("events")
        .prefix("column-")
        .column("at", Decimals(1), |r| r.event.at.as_secs_f64())
        .column("severity", Words, |r| {
            TableCell::word("severity-", r.event.severity.name())
        })
        .column("subject", Words, |r| r.subject)
        .column("event", Words, |r| r.event.kind.code())
        .message("text", Words, |r, m| m.event(&r.event.kind))
}

pub(super) fn event_grid(m: &Messages, record: &Record) -> Grid {
    let rows = record.events.iter().map(|event| EventRow {
        event,
        subject: event.subject.map(|id| subject::name(record, id)),
    });
    events().to_grid(m, &rows.collect::<Vec<_>>())
}
