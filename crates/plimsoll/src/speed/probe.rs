//! Mounts a drive and measures how late its answers are under a short load.

use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use plimsoll_analysis::summary::{ADDED_LIMIT, DriveLateness, KernelTimes, TooLate, WAITING_LIMIT};
use plimsoll_drive::emulate::{Child, EmulatorEvent};
use plimsoll_drive::spec::Mechanism;
use plimsoll_load::clock::monotonic;
use plimsoll_load::scratch::Scratch;
use plimsoll_plan::resolved::{EmulatedDrive, Medium, WithoutFuse};
use plimsoll_plan::units::Nanos;
use plimsoll_record::SubjectId;
use plimsoll_record::message::EventKind;

use super::load::{ProbeFiles, ProbeLoad, RunningLoad};
use crate::execute::{PreparedDrive, prepare_drive, program};
use crate::failure::Failure;
use crate::signals::Interrupt;

/// Percent that late answers and waiting in the kernel may add to the modelled time in a probe: half of what makes a
/// point invalid, because a run is longer than a probe and does more.
const ADDED_PERCENT: f64 = ADDED_LIMIT * 100.0 / 2.0;
const WAITING_PERCENT: f64 = WAITING_LIMIT * 100.0 / 2.0;
/// One whole second that the emulator reports lies within a load of two; more on a machine that is very late.
const PATIENCE: Nanos = Nanos::from_secs(5);
static PROBES: AtomicU32 = AtomicU32::new(1);
const POLL: Duration = Duration::from_millis(50);

/// An emulated medium whose factor is chosen, with the loads that the plan puts on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    pub medium: Medium,
    /// The names of it and of others with the same drive and load.
    pub media: Vec<String>,
    pub drive: EmulatedDrive,
    pub data_seed: u64,
    pub loads: Vec<ProbeLoad>,
}

/// Probed drives are unmounted beside the next probe, on separate threads.
#[derive(Default)]
pub struct Unmounting(Vec<std::thread::JoinHandle<()>>);

impl Unmounting {
    fn add(&mut self, child: Child, scratch: Scratch) {
        self.0.push(std::thread::spawn(move || {
            // What remains is swept by the run, which reports it.
            let _ = child.stop();
            drop(child);
            let _ = scratch.remove();
        }));
    }

    /// Waits until all is unmounted.
    pub fn finish(self) {
        for thread in self.0 {
            let _ = thread.join();
        }
    }
}

/// Why the candidate is too fast at this factor.
///
/// # Errors
/// Where it cannot be mounted: without a probe no speed is known to be in time.
pub fn probe(
    candidate: &Candidate,
    factor: u32,
    unmounting: &mut Unmounting,
    interrupt: &Interrupt,
) -> Result<Option<TooLate>, Failure> {
    let drive = EmulatedDrive {
        slower: f64::from(factor),
        ..candidate.drive.clone()
    };
    let name = &candidate.medium.name;
    // The drive before may still be unmounted, also one that was as slow.
    let number = PROBES.fetch_add(1, Ordering::Relaxed);
    let id = format!("speed-{}-{number}", std::process::id());
    let PreparedDrive {
        scratch,
        spec,
        task,
    } = prepare_drive(&id, candidate.data_seed, &candidate.medium, &drive)?;
    let (sender, events) = channel();
    let listener = move |event| {
        // A closed channel: the probe is over.
        let _ = sender.send(event);
    };
    let (child, ready) = match Child::start(&program()?, &task, listener) {
        Ok(started) => started,
        // The run goes on without emulation, and records that.
        Err(error) if error.no_fuse && drive.without_fuse == WithoutFuse::PlainDirectory => {
            scratch.remove()?;
            return Ok(None);
        }
        Err(error) => {
            scratch.remove()?;
            return Err(Failure::run(format!("medium {name}: {error}")));
        }
    };
    // The queue of a disk is long at any speed.
    let device = ready.device.as_deref();
    let drive = ProbedDrive {
        child: &child,
        events: &events,
        path: &ready.path,
        device: device.filter(|_| !matches!(spec.mechanism, Mechanism::Disk(_))),
    };
    let result = drive.first_late(&candidate.loads, interrupt);
    unmounting.add(child, scratch);
    result.map_err(|why| {
        Failure::run(format!(
            "medium {name}: the speed cannot be chosen: {why}\nChoose it yourself: speed = \"full\", or slower = 10."
        ))
    })
}

/// A mounted drive and its reports.
struct ProbedDrive<'a> {
    child: &'a Child,
    events: &'a Receiver<EmulatorEvent>,
    path: &'a Path,
    /// Its block device, if the kernel's queue counts.
    device: Option<&'a Path>,
}

impl ProbedDrive<'_> {
    /// How late the drive is under the first load that it is late under.
    fn first_late(
        &self,
        loads: &[ProbeLoad],
        interrupt: &Interrupt,
    ) -> Result<Option<TooLate>, Box<dyn Error>> {
        self.child.timing(false)?;
        let files = ProbeFiles::create(self.path)?;
        self.child.timing(true)?;
        for load in loads {
            let late = under_load(&files, load, self, interrupt)?;
            if late.is_some() {
                return Ok(late);
            }
        }
        Ok(None)
    }
}

/// Runs a load until the emulator has reported one whole second of it.
fn under_load(
    file: &ProbeFiles,
    load: &ProbeLoad,
    watched: &ProbedDrive<'_>,
    interrupt: &Interrupt,
) -> std::io::Result<Option<TooLate>> {
    let running = RunningLoad::new();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..load.threads)
            .map(|thread| {
                let running = &running;
                scope.spawn(move || file.request(load, thread, running))
            })
            .collect();
        let late = whole_second(watched, interrupt);
        running.stop();
        for thread in threads {
            thread
                .join()
                .unwrap_or_else(|_| Err(std::io::Error::other("a thread of the probe failed")))?;
        }
        Ok(late)
    })
}

fn whole_second(watched: &ProbedDrive<'_>, interrupt: &Interrupt) -> Option<TooLate> {
    let start = monotonic();
    // At the end of the second before.
    let mut kernel = None;
    while monotonic().saturating_sub(start) < PATIENCE && !interrupt.is_wanted() {
        match watched.events.recv_timeout(POLL) {
            Ok(EmulatorEvent::Second(second)) => {
                let now = watched.device.and_then(kernel_times);
                if second.from < start {
                    kernel = now;
                    continue;
                }
                let during = kernel.zip(now).map(|(before, now)| KernelTimes {
                    read_ms: now.read_ms - before.read_ms,
                    write_ms: now.write_ms - before.write_ms,
                });
                let rows = second.rows(SubjectId(0), second.from, second.to);
                return late(DriveLateness::of(&rows, during));
            }
            Ok(EmulatorEvent::Warning(EventKind::Saturated { .. })) => {
                return Some(TooLate {
                    added_percent: None,
                });
            }
            Ok(EmulatorEvent::Warning(_)) | Err(RecvTimeoutError::Timeout) => {}
            // The run will report that the emulator ends.
            Ok(EmulatorEvent::Ended(_)) | Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
    // It had no time to report.
    (!interrupt.is_wanted()).then_some(TooLate {
        added_percent: None,
    })
}

fn late(lateness: DriveLateness) -> Option<TooLate> {
    let DriveLateness {
        added_percent,
        waiting_percent,
    } = lateness;
    let over = if added_percent > ADDED_PERCENT {
        Some(added_percent)
    } else {
        Some(waiting_percent).filter(|percent| *percent > WAITING_PERCENT)
    };
    over.map(|percent| TooLate {
        added_percent: Some(percent),
    })
}

/// Times of all requests of a block device so far.
fn kernel_times(device: &Path) -> Option<KernelTimes> {
    let name = device.file_name()?.to_str()?;
    let text = std::fs::read_to_string(format!("/sys/class/block/{name}/stat")).ok()?;
    parse_kernel_times(&text)
}

/// The 4th and the 8th figure are milliseconds of reads and writes (Linux, Documentation/block/stat.rst).
fn parse_kernel_times(text: &str) -> Option<KernelTimes> {
    let mut figures = text.split_ascii_whitespace().map(str::parse);
    Some(KernelTimes {
        read_ms: figures.nth(3)?.ok()?,
        write_ms: figures.nth(3)?.ok()?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_of_the_kernel_are_the_fourth_and_the_eighth_figure() {
        let text = "  10 2 160 7 20 4 320 31 0 36 38 0 0 0 0 5 9\n";
        let times = KernelTimes {
            read_ms: 7.0,
            write_ms: 31.0,
        };
        assert_eq!(parse_kernel_times(text), Some(times));
        assert_eq!(parse_kernel_times("1 2 3 4"), None);
    }

    #[test]
    fn half_of_what_makes_a_point_invalid_is_too_late() {
        let late_percent = |added_percent, waiting_percent| {
            late(DriveLateness {
                added_percent,
                waiting_percent,
            })
            .and_then(|late| late.added_percent)
        };
        assert_eq!(late_percent(2.4, 99.0), None);
        assert_eq!(late_percent(2.6, 99.0), Some(2.6));
        assert_eq!(late_percent(0.0, 101.0), Some(101.0));
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(text in ".*") {
            let _ = parse_kernel_times(&text);
        }
    }
}
