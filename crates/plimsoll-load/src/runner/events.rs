//! A lane's events, beside its figures: bounded, because trouble comes in thousands.

use std::collections::HashMap;
use std::mem::{Discriminant, discriminant};
use std::sync::{Mutex, PoisonError};

use plimsoll_record::lane::LaneEvent;
use plimsoll_record::message::EventKind;
use tokio::sync::mpsc;

use crate::clock::LaneClock;

/// Events of one code that are reported one by one.
const MOST_OF_A_CODE: u64 = 5;

/// The figures count each trouble; the events explain the first few of each kind.
pub struct Events {
    clock: LaneClock,
    out: mpsc::Sender<LaneEvent>,
    counts: Mutex<HashMap<Discriminant<EventKind>, Count>>,
}

/// How often a kind of event occurred, reported or not.
struct Count {
    code: String,
    events: u64,
}

impl Events {
    pub fn new(clock: LaneClock, out: mpsc::Sender<LaneEvent>) -> Self {
        Self {
            clock,
            out,
            counts: Mutex::default(),
        }
    }

    pub fn report(&self, kind: EventKind) {
        let nth = {
            let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
            let count = counts.entry(discriminant(&kind)).or_insert_with(|| Count {
                code: kind.code(),
                events: 0,
            });
            count.events += 1;
            count.events
        };
        if nth <= MOST_OF_A_CODE {
            // Holds as many of each code as are reported; only a lane that has ended takes none.
            let _ = self.out.try_send(LaneEvent::new(self.clock.now(), kind));
        }
    }

    /// How many events of each code were not reported one by one.
    pub fn unreported(&self) -> Vec<LaneEvent> {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut more: Vec<LaneEvent> = counts
            .values()
            .filter(|count| count.events > MOST_OF_A_CODE)
            .map(|count| {
                let kind = EventKind::MoreEvents {
                    event: count.code.clone(),
                    events: count.events - MOST_OF_A_CODE,
                };
                LaneEvent::new(self.clock.now(), kind)
            })
            .collect();
        more.sort_by_key(|event| format!("{:?}", event.kind));
        more
    }
}
