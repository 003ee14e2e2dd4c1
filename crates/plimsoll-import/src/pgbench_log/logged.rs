//! Lines of a log.

use crate::tool::Tool;
use std::collections::BTreeSet;

use super::super::fault::{Fault, Read};
use super::super::lines::{NumberedLine, lines};
use plimsoll_plan::units::Nanos;

pub(in crate::pgbench_log) const TOOL: Tool =
    Tool::new("pgbench-log", "a transaction log of pgbench").made_by("pgbench");

/// One transaction.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Logged {
    pub client: u64,
    /// From 1, by client.
    pub number: u64,
    pub script: u64,
    pub outcome: LoggedOutcome,
    /// When it ended, since 1970.
    pub end: Nanos,
    /// The seventh and eighth field; [`Columns`] has their meaning.
    more: [Option<u64>; 2],
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum LoggedOutcome {
    Done(Nanos),
    Failed,
    Skipped,
}

/// The columns after the time: with `--rate` the schedule lag in microseconds, with `--max-tries` retries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Columns {
    Neither,
    Lag,
    Retries,
    Both,
    /// One of them, and nothing shows which.
    Either,
}

const EXPECTED: &str =
    "`client transaction latency_us script epoch_s epoch_us`, a line of pgbench -l";
/// Log lines begin with the number of a client; those of --aggregate-interval with a time.
const FIRST_TIME: u64 = 100_000_000;

/// Each client of a run has its transactions in one log.
pub(crate) fn clients(logs: &[Logged]) -> BTreeSet<u64> {
    logs.iter().map(|one| one.client).collect()
}

pub(crate) fn read(text: &str) -> Read<Vec<Logged>> {
    let mut all: Vec<Logged> = Vec::new();
    for line in lines(text).filter(|line| !line.text.trim().is_empty()) {
        let one = logged(line)?;
        if all
            .first()
            .is_some_and(|first| first.width() != one.width())
        {
            return Err(line.unexpected("as many fields as the lines above"));
        }
        all.push(one);
    }
    if all.is_empty() {
        return Err(Fault::end(text, EXPECTED));
    }
    Ok(all)
}

fn logged(line: NumberedLine<'_>) -> Read<Logged> {
    let words = line.words();
    let [client, number, time, script, epoch_s, epoch_us, more @ ..] = words.as_slice() else {
        return Err(line.unexpected(EXPECTED));
    };
    let client = line.count(client, EXPECTED)?;
    if client >= FIRST_TIME {
        let expected = "a log of single transactions; this one is aggregated (--aggregate-interval), which has no distribution";
        return Err(line.unexpected(expected));
    }
    if more.len() > 2 {
        return Err(line.unexpected(EXPECTED));
    }
    let outcome = match *time {
        "skipped" => LoggedOutcome::Skipped,
        "failed" | "serialization" | "deadlock" | "other" => LoggedOutcome::Failed,
        us => {
            let us = line.count(us, "a latency in microseconds, `skipped` or `failed`")?;
            LoggedOutcome::Done(micros(us))
        }
    };
    let seconds = line.count(epoch_s, EXPECTED)?.min(10_000_000_000);
    let us = line.count(epoch_us, EXPECTED)?.min(999_999);
    let mut fields = [None; 2];
    for (field, value) in fields.iter_mut().zip(more) {
        *field = Some(line.count(value, "schedule lag or retries")?);
    }
    Ok(Logged {
        client,
        number: line.count(number, EXPECTED)?,
        script: line.count(script, EXPECTED)?,
        outcome,
        end: Nanos::from_secs(seconds) + micros(us),
        more: fields,
    })
}

/// Those of three years at most.
fn micros(us: u64) -> Nanos {
    Nanos::from_micros(us.min(100_000_000_000_000))
}

impl Logged {
    pub fn width(&self) -> usize {
        self.more.iter().flatten().count()
    }

    pub fn begin(&self) -> Nanos {
        match self.outcome {
            LoggedOutcome::Done(latency) => self.end.saturating_sub(latency),
            LoggedOutcome::Failed | LoggedOutcome::Skipped => self.end,
        }
    }

    pub fn lag(&self, columns: Columns) -> Nanos {
        if columns.has_lag() {
            micros(self.more[0].unwrap_or_default())
        } else {
            Nanos::ZERO
        }
    }

    pub fn retries(&self, columns: Columns) -> u64 {
        let retries = match columns {
            Columns::Retries => self.more[0],
            Columns::Both => self.more[1],
            Columns::Neither | Columns::Lag | Columns::Either => None,
        };
        retries.unwrap_or_default()
    }
}

impl Columns {
    pub fn has_lag(self) -> bool {
        matches!(self, Self::Lag | Self::Both)
    }
}
