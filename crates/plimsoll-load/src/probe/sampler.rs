//! Everything that is watched, read at one time.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use plimsoll_block::host::mount::space;
use plimsoll_plan::units::Nanos;
use plimsoll_record::message::event::Figures;
use plimsoll_record::metric::Metric;
use plimsoll_record::{Sample, SubjectId};

use super::data::Growth;
use super::device::DeviceProbe;
use super::embedded::EmbeddedProbe;
use super::emit::Emit;
use super::generator::{GeneratorProbe, StoppedTime};
use super::host::HostProbe;
use super::processes::ProcessesProbe;
use super::source::{KernelFiles, Warnings};
use super::{Warning, Watch};

/// Turns counters into samples. Rates are the difference of two readings over the time between them, so that the first
/// sample after a [`Sampler::watch`] holds gauges only. A counter that went back gives no sample; a latency without
/// I/O none either.
#[derive(Debug)]
pub struct Sampler {
    source: KernelFiles,
    warnings: Warnings,
    stopped: Arc<StoppedTime>,
    watched: BTreeMap<SubjectId, Watched>,
}

#[derive(Debug)]
struct Watched {
    last: Option<Nanos>,
    state: WatchState,
}

/// What each kind of watch remembers of the last sample.
#[derive(Debug)]
enum WatchState {
    Host(HostProbe),
    Device(DeviceProbe),
    Medium(PathBuf),
    Processes(ProcessesProbe),
    EmbeddedData(EmbeddedProbe),
    Backup(Growth),
    Generator(GeneratorProbe),
}

impl Default for Sampler {
    fn default() -> Self {
        Self::new()
    }
}

impl Sampler {
    pub fn new() -> Self {
        Self::at("/")
    }

    /// Reads `root`/proc in place of /proc.
    fn at(root: impl Into<PathBuf>) -> Self {
        Self {
            source: KernelFiles::new(root),
            warnings: Warnings::default(),
            stopped: Arc::default(),
            watched: BTreeMap::new(),
        }
    }

    /// For a thread that counts it.
    pub(super) fn stopped_time(&self) -> Arc<StoppedTime> {
        Arc::clone(&self.stopped)
    }

    /// Starts to watch; what was watched for this subject before is forgotten.
    pub fn watch(&mut self, subject: SubjectId, watch: Watch) {
        let state = match watch {
            Watch::Host => WatchState::Host(HostProbe::default()),
            Watch::Device { major, minor } => WatchState::Device(DeviceProbe::new(major, minor)),
            Watch::Medium { path } => WatchState::Medium(path),
            Watch::Processes { pid, data } => WatchState::Processes(ProcessesProbe::new(pid, data)),
            Watch::EmbeddedData { path } => WatchState::EmbeddedData(EmbeddedProbe::new(path)),
            Watch::Backup { path } => WatchState::Backup(Growth::new(path)),
            Watch::Generator => WatchState::Generator(GeneratorProbe::default()),
        };
        self.warnings.forget(subject);
        self.watched.insert(subject, Watched { last: None, state });
    }

    pub fn unwatch(&mut self, subject: SubjectId) {
        self.watched.remove(&subject);
    }

    /// Reads everything. `now` is the time of this reading; `late`, how much later than intended it is.
    pub fn sample(&mut self, now: Nanos, late: Nanos) -> Vec<(SubjectId, Metric, Sample)> {
        let mut out = Vec::with_capacity(64);
        let among = self
            .watched
            .values()
            .filter(|watched| {
                matches!(
                    watched.state,
                    WatchState::Processes(_) | WatchState::EmbeddedData(_)
                )
            })
            .count() as u64;
        let source = &self.source;
        let warnings = &mut self.warnings;
        for (subject, watched) in &mut self.watched {
            let over = watched
                .last
                .replace(now)
                .map_or(Nanos::ZERO, |last| now.saturating_sub(last));
            let emit = &mut Emit {
                out: &mut out,
                subject: *subject,
                at: now,
                over,
                among,
            };
            match &mut watched.state {
                WatchState::Host(host) => host.sample(source, warnings, emit),
                WatchState::Device(device) => device.sample(source, warnings, emit),
                WatchState::Medium(path) => match space(path) {
                    Ok(space) => {
                        emit.put(Metric::MediumUsed, space.used.0 as f64);
                        emit.put(Metric::MediumFree, space.free.0 as f64);
                    }
                    Err(error) => {
                        warnings.unreadable(*subject, path.display(), &error, Figures::Space)
                    }
                },
                WatchState::Processes(processes) => processes.sample(source, warnings, emit),
                WatchState::EmbeddedData(database) => database.sample(warnings, emit),
                WatchState::Backup(growth) => growth.sample(warnings, emit),
                WatchState::Generator(generator) => {
                    generator.sample(late, &self.stopped, source, warnings, emit);
                }
            }
        }
        out
    }

    /// What a backup has written since the last reading; nothing of any other subject. A backup begins and ends between
    /// two whole seconds, and a short one would be missed.
    pub fn sample_backup(
        &mut self,
        subject: SubjectId,
        now: Nanos,
    ) -> Vec<(SubjectId, Metric, Sample)> {
        let mut out = Vec::new();
        if let Some(Watched {
            last,
            state: WatchState::Backup(growth),
        }) = self.watched.get_mut(&subject)
        {
            let over = last
                .replace(now)
                .map_or(Nanos::ZERO, |last| now.saturating_sub(last));
            growth.sample(
                &mut self.warnings,
                &mut Emit {
                    out: &mut out,
                    subject,
                    at: now,
                    over,
                    among: 1,
                },
            );
        }
        out
    }

    /// What could not be read since the last call.
    pub fn take_warnings(&mut self) -> Vec<Warning> {
        self.warnings.take()
    }
}

#[cfg(test)]
#[path = "sampler_tests.rs"]
mod tests;
