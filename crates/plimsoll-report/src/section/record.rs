//! What a record states of its run: how it went, its events, its command and its plan.

use plimsoll_plan::units::Nanos;
use plimsoll_record::{Event, Record};

use crate::document::{BlockHeading, ReportBlock, ReportSection};
use crate::message::Messages;
use crate::subject;
use crate::table::Unit::{Decimals, Words};
use crate::table::{Table, TableCell};

/// Status, times and versions; the seed of a run that is not foreign.
pub(crate) fn meta(m: &Messages, record: &Record, is_foreign: bool) -> ReportBlock {
    let run = &record.run;
    let started = match run.started_at.as_str() {
        "" => m.text("report-started-unknown"),
        at => at.to_owned(),
    };
    let version = format!("{} ({})", run.plimsoll_version, run.plimsoll_commit);
    let seed = (!is_foreign).then(|| ("report-seed", run.seed.to_string()));
    let facts = [
        (
            "report-status",
            m.text(&format!("status-{}", run.status.name())),
        ),
        ("report-started", started),
        ("report-lasted", lasted(run.lasted)),
    ];
    let facts = facts
        .into_iter()
        .chain(seed)
        .chain([("report-version", version), ("report-run", run.id.clone())]);
    ReportBlock::Facts {
        class: "meta",
        facts: facts.map(|(id, value)| (m.text(id), value)).collect(),
    }
}

/// Whole seconds: a run's length needs no more.
fn lasted(time: Nanos) -> String {
    Nanos::from_secs(time.0.saturating_add(Nanos::SECOND.0 / 2) / Nanos::SECOND.0).to_string()
}

/// An event with the name of what it is about.
pub(crate) struct EventRow<'a> {
    event: &'a Event,
    subject: Option<&'a str>,
}

pub(crate) fn event_table<'a>() -> Table<'a, EventRow<'a>> {
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

/// `None` without events.
pub(crate) fn events(m: &Messages, record: &Record) -> Option<ReportSection> {
    let rows = record.events.iter().map(|event| EventRow {
        event,
        subject: event.subject.map(|id| subject::name(record, id)),
    });
    let rows: Vec<EventRow<'_>> = rows.collect();
    let mut section = ReportSection::new("events", m.text("events-title"));
    section.page(ReportBlock::grid(m, "events", &event_table(), &rows));
    section.if_filled()
}

/// How to run it again.
pub(crate) fn again(m: &Messages, record: &Record, is_foreign: bool) -> ReportSection {
    let mut section = ReportSection::new("again", m.text("again-title")).listed();
    section.page(ReportBlock::Code(record.run.command.clone()));
    if !is_foreign {
        let heading = BlockHeading::section(m.text("plan-title"));
        section.page(ReportBlock::Heading(heading));
        section.page(ReportBlock::Code(record.plan_written.clone()));
    }
    section
}
