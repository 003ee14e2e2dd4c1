//! The tables of ladders and events.

use plimsoll_analysis::summary::Ladder;
use plimsoll_record::{Event, Record};

use crate::message::Messages;
use crate::table::Unit::{Decimals, Words};
use crate::table::{Cell, Grid, Table};
use crate::{export, ladder, load_summary, scaling};

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
    pub fn new(m: &Messages, ladder: &Ladder) -> Self {
        let mut points = ladder.points.iter();
        let scaled = scaling::table(ladder).map(|(table, rows)| table.to_grid(m, &rows));
        Self {
            heading: ladder::heading(m, ladder),
            drive: ladder::emulated(m, ladder).unwrap_or_default(),
            latency_of: ladder::latency_of(m, ladder),
            ladder: ladder::table(ladder).to_grid(m, &load_summary::views(ladder)),
            latency: ladder::latency(m, ladder),
            resources: ladder::resources(m, ladder),
            scaling: scaling::describe(m, ladder),
            scaled: scaled.unwrap_or_default(),
            embedded: points.any(|point| point.resources.generator_cpu_withheld.is_some()),
        }
    }
}

pub(super) fn events(m: &Messages, record: &Record) -> Grid {
    Table::<&Event>::new()
        .column("at", Decimals(1), |event| event.at.as_secs_f64())
        .column("severity", Words, |event| {
            Cell::word("severity-", event.severity.name())
        })
        .column("subject", Words, |event| {
            event.subject.map(|id| export::name(record, id))
        })
        .column("event", Words, |event| event.code.clone())
        .column("text", Words, |event| event.text.clone())
        .to_grid(m, &record.events.iter().collect::<Vec<_>>())
}
