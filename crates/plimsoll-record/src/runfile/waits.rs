//! States of servers' sessions, in a few bytes a second: names stand in a table of their own.

use std::collections::{BTreeMap, HashMap};

use crate::leb128;
use crate::{SubjectId, WaitRow, WaitState};
use plimsoll_plan::units::Nanos;
use rusqlite::{Connection, Row};

use super::file::{Result, RunFile};
use super::row::{BadRow, meaningless, parsed, rows, time};

/// Each of its waits repeats it. Those of servers have at most half of it.
const LONGEST_EVENT: usize = 256;

impl RunFile {
    /// Rows of one second of a subject become one.
    pub fn waits(&self, waits: &[WaitRow]) -> Result<()> {
        let mut seconds: BTreeMap<(Nanos, SubjectId), (Nanos, u32, Vec<u8>)> = BTreeMap::new();
        for WaitRow {
            subject,
            start,
            end,
            state,
            event,
            sessions,
            samples,
        } in waits
        {
            let id = self.wait_event(*state, event)?;
            let second = seconds
                .entry((*start, *subject))
                .or_insert((*end, *samples, Vec::new()));
            leb128::put(id.unsigned_abs(), &mut second.2);
            leb128::put(u64::from(*sessions), &mut second.2);
        }
        for ((start, subject), (end, samples, data)) in seconds {
            let lasts = end.saturating_sub(start);
            let lasts = (lasts != Nanos::SECOND).then_some(lasts.0);
            self.insert_columns(
                "INSERT INTO wait",
                &[
                    ("subject", &subject),
                    ("start_ns", &start.0),
                    ("lasts_ns", &lasts),
                    ("samples", &samples),
                    ("data", &data),
                ],
            )?;
        }
        Ok(())
    }

    fn wait_event(&self, state: WaitState, event: &str) -> Result<i64> {
        let key = (state, event.to_owned());
        if let Some(id) = self.wait_events.borrow().get(&key) {
            return Ok(*id);
        }
        self.insert_columns(
            "INSERT INTO wait_event",
            &[("state", &state.name()), ("event", &event)],
        )?;
        let id = self.last_id();
        self.wait_events.borrow_mut().insert(key, id);
        Ok(id)
    }
}

/// By subject, time, state and event.
pub(super) fn waits(db: &Connection) -> std::result::Result<Vec<WaitRow>, BadRow> {
    let events: HashMap<u64, (WaitState, String)> = rows(db, "SELECT * FROM wait_event", |row| {
        let id: i64 = row.get("id")?;
        let event: String = row.get("event")?;
        if event.len() > LONGEST_EVENT {
            return Err(meaningless("event", format!("{} bytes", event.len())));
        }
        Ok((id.unsigned_abs(), (parsed(row, "state")?, event)))
    })?
    .into_iter()
    .collect();
    let seconds = rows(db, "SELECT * FROM wait", |row| second(row, &events))?;
    let mut waits: Vec<WaitRow> = seconds.into_iter().flatten().collect();
    waits.sort_by(|a, b| {
        (a.subject, a.start, a.state, &a.event).cmp(&(b.subject, b.start, b.state, &b.event))
    });
    Ok(waits)
}

fn second(
    row: &Row<'_>,
    events: &HashMap<u64, (WaitState, String)>,
) -> rusqlite::Result<Vec<WaitRow>> {
    let subject = row.get("subject")?;
    let start = time(row, "start_ns")?;
    let samples = row.get("samples")?;
    let lasts = row
        .get::<_, Option<u64>>("lasts_ns")?
        .unwrap_or(Nanos::SECOND.0);
    let end = Nanos(start.0.saturating_add(lasts));
    let mut data = row.get_ref("data")?.as_blob()?;
    let mut waits = Vec::new();
    while !data.is_empty() {
        let pair = leb128::take(&mut data).zip(leb128::take(&mut data));
        let (id, sessions) = pair.ok_or_else(|| meaningless("data", "half a pair"))?;
        let (state, event) = events
            .get(&id)
            .cloned()
            .ok_or_else(|| meaningless("wait_event", id))?;
        let sessions = u32::try_from(sessions).map_err(|_| meaningless("seen", sessions))?;
        waits.push(WaitRow {
            subject,
            start,
            end,
            state,
            event,
            sessions,
            samples,
        });
    }
    Ok(waits)
}
