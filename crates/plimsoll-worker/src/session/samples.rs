//! What the host and the worker on it use: a second each, into the journal.

use std::io;
use std::sync::mpsc;

use plimsoll_load::clock::Clock;
use plimsoll_load::probe::{self, Probe, ProbeMessage, Watch};
use plimsoll_record::SubjectId;

use crate::journal::SessionJournal;
use crate::protocol::{WorkerReport, WorkerSample};

/// From now on, until the probe is dropped.
pub(super) fn watch(clock: Clock, journal: SessionJournal) -> io::Result<Probe> {
    let (news, messages) = mpsc::channel();
    let probe = probe::spawn(clock, news)?;
    // Both belong to one subject of the controller's.
    probe.watch(SubjectId(0), Watch::Host);
    probe.watch(SubjectId(1), Watch::Generator);
    std::thread::Builder::new()
        .name("plimsoll-samples".into())
        .spawn(move || {
            for message in messages {
                // What a host does not show is missing in its series.
                if let ProbeMessage::Samples(samples) = message {
                    let samples = samples.into_iter().map(|(_, metric, sample)| WorkerSample {
                        metric: metric.info().name.to_owned(),
                        at: sample.at,
                        over: sample.over,
                        value: sample.value,
                    });
                    journal.add(WorkerReport::Samples(samples.collect()));
                }
            }
        })?;
    Ok(probe)
}
