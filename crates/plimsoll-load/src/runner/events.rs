//! A lane's events, beside its figures: bounded, because trouble comes in thousands.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use plimsoll_record::lane::LaneEvent;
use tokio::sync::mpsc;

use crate::clock::LaneClock;

/// Events of one code that are reported one by one.
const MOST_OF_A_CODE: u64 = 5;

/// The figures count each trouble; the events explain the first few of each kind.
pub struct Events {
    clock: LaneClock,
    out: mpsc::Sender<LaneEvent>,
    /// How often by code, reported or not.
    counts: Mutex<BTreeMap<&'static str, u64>>,
}

impl Events {
    pub fn new(clock: LaneClock, out: mpsc::Sender<LaneEvent>) -> Self {
        Self {
            clock,
            out,
            counts: Mutex::default(),
        }
    }

    /// The text is made only when it is reported.
    pub fn report(&self, code: &'static str, text: impl FnOnce() -> String) {
        let nth = {
            let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
            let count = counts.entry(code).or_default();
            *count += 1;
            *count
        };
        if nth <= MOST_OF_A_CODE {
            // Holds as many of each code as are reported; only a lane that has ended takes none.
            let _ = self.out.try_send(LaneEvent {
                at: self.clock.now(),
                code: code.into(),
                text: text(),
            });
        }
    }

    /// How many events of each code were not reported one by one.
    pub fn unreported(&self) -> Vec<LaneEvent> {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let more = counts
            .iter()
            .filter(|(_, n)| **n > MOST_OF_A_CODE)
            .map(|(code, n)| LaneEvent {
                at: self.clock.now(),
                code: "untold".into(),
                text: format!(
                    "{} more events of code {code} were counted, not listed",
                    n - MOST_OF_A_CODE
                ),
            });
        more.collect()
    }
}
