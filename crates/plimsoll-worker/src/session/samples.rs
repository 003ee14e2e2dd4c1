//! What the host and the worker on it use: a second each, into the journal.

use std::io;
use std::sync::mpsc;

use plimsoll_block::host::device::{self, BlockDevice};
use plimsoll_block::host::source::KernelFiles;
use plimsoll_load::clock::Clock;
use plimsoll_load::probe::{self, Probe, ProbeMessage, Watch};
use plimsoll_record::SubjectId;

use crate::journal::SessionJournal;
use crate::protocol::{WorkerReport, WorkerSample};

const HOST: SubjectId = SubjectId(0);
const GENERATOR: SubjectId = SubjectId(1);
const FIRST_DISK: u32 = 2;

/// From now on also its disks: of a generator they mean nothing.
pub(super) fn watch_disks(probe: &Probe) {
    for (subject, disk) in (FIRST_DISK..).map(SubjectId).zip(disks()) {
        let BlockDevice { major, minor, .. } = disk;
        probe.watch(subject, Watch::Device { major, minor });
    }
}

/// The disks that can be watched.
pub(super) fn disks() -> Vec<BlockDevice> {
    device::disks(&KernelFiles::new("/"))
}

/// From now on, until the probe is dropped.
pub(super) fn watch(clock: Clock, journal: SessionJournal) -> io::Result<Probe> {
    let (news, messages) = mpsc::channel();
    let probe = probe::spawn(clock, news)?;
    probe.watch(HOST, Watch::Host);
    probe.watch(GENERATOR, Watch::Generator);
    let disks = disks();
    std::thread::Builder::new()
        .name("plimsoll-samples".into())
        .spawn(move || {
            for message in messages {
                // What a host does not show is missing in its series.
                if let ProbeMessage::Samples(samples) = message {
                    let samples = samples.into_iter().map(|(subject, metric, sample)| {
                        let disk = subject.0.checked_sub(FIRST_DISK);
                        let disk = disk.and_then(|index| disks.get(index as usize));
                        WorkerSample {
                            metric: metric.info().name.to_owned(),
                            disk: disk.map(|disk| disk.name.clone()),
                            at: sample.at,
                            over: sample.over,
                            value: sample.value,
                        }
                    });
                    // JSON has no other numbers.
                    let samples = samples.filter(|sample| sample.value.is_finite());
                    journal.add(WorkerReport::Samples(samples.collect()));
                }
            }
        })?;
    Ok(probe)
}
