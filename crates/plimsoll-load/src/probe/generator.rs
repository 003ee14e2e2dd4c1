//! plimsoll itself, and what watching costs.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use plimsoll_plan::units::Nanos;
use plimsoll_record::message::event::Figures;
use plimsoll_record::metric::Metric;

use super::data::thread_cpu;
use super::emit::Emit;
use super::parse::{self, PidStat};
use super::processes::cpu_percent;
use super::source::{KernelFiles, Warnings, text};
use crate::clock::Clock;
use crate::limit::hierarchy::cpu_groups;
use crate::runner::USERS_THREAD;

/// How long the thread that watches plimsoll's own clock sleeps.
const TICK: Nanos = Nanos::from_millis(10);
/// A thread that has to wait for its core wakes so late now and then.
const USUAL: Nanos = Nanos::from_millis(20);

/// Time in which plimsoll did not run although a thread of its own wanted to: stopped, throttled, or without a CPU.
#[derive(Debug, Default)]
pub(super) struct StoppedTime(AtomicU64);

impl StoppedTime {
    /// Sleeps once, and notes by how much that was too long.
    pub fn tick(&self, clock: &Clock) {
        let due = clock.now() + TICK;
        clock.block_until(due);
        self.note(clock.now().saturating_sub(due));
    }

    fn note(&self, late: Nanos) {
        if late > USUAL {
            self.0.fetch_add(late.0, Ordering::AcqRel);
        }
    }

    fn total(&self) -> Nanos {
        Nanos(self.0.load(Ordering::Acquire))
    }
}

#[derive(Debug, Default)]
pub(super) struct GeneratorProbe {
    process: Option<PidStat>,
    /// CPU time of the sampling thread.
    thread: Option<Nanos>,
    stopped: Option<Nanos>,
    /// Of each control group.
    throttled: HashMap<PathBuf, Nanos>,
    /// Of each thread that generates load.
    run_delays: Option<HashMap<PathBuf, Nanos>>,
}

impl GeneratorProbe {
    /// `late`: how much later than intended this sample is taken.
    pub fn sample(
        &mut self,
        late: Nanos,
        stopped: &StoppedTime,
        source: &KernelFiles,
        warnings: &mut Warnings,
        emit: &mut Emit<'_>,
    ) {
        emit.put(Metric::ProbeJitter, late.as_millis_f64());
        let thread = thread_cpu();
        if let Some(spent) = self.thread.and_then(|last| thread.0.checked_sub(last.0)) {
            emit.share(Metric::ProbeCost, Nanos(spent));
        }
        self.thread = Some(thread);
        self.sample_lateness(stopped.total(), source, emit);
        // Without the children's time: a server that plimsoll starts is a subject of its own.
        let process = source
            .parse("proc/self/stat", parse::pid_stat)
            .inspect_err(|error| {
                warnings.unreadable(
                    emit.subject,
                    "/proc/self/stat",
                    error,
                    Figures::GeneratorCpu,
                )
            })
            .ok();
        if let Some((old, new)) = self.process.zip(process)
            && let Some(ticks) = new.cpu.checked_sub(old.cpu)
        {
            emit.put(Metric::GeneratorCpu, cpu_percent(ticks, emit.over));
        }
        self.process = process;
        match source.parse("proc/self/statm", parse::statm) {
            Ok(statm) => {
                let bytes = statm
                    .resident
                    .saturating_mul(rustix::param::page_size() as u64);
                emit.put(Metric::GeneratorMemory, bytes as f64);
            }
            Err(error) => warnings.unreadable(
                emit.subject,
                "/proc/self/statm",
                &error,
                Figures::GeneratorMemory,
            ),
        }
    }

    /// What a machine does not show has no samples.
    fn sample_lateness(&mut self, stopped: Nanos, source: &KernelFiles, emit: &mut Emit<'_>) {
        // More than the interval, where this thread woke before the one that counts.
        if let Some(last) = self.stopped.replace(stopped) {
            let spent = stopped.saturating_sub(last);
            emit.put(Metric::GeneratorStopped, percent(spent, emit.over));
        }
        let throttled = throttled(source);
        let most = throttled.iter().filter_map(|(group, now)| {
            let last = self.throttled.get(group)?;
            Some(now.saturating_sub(*last))
        });
        if let Some(spent) = most.max() {
            emit.put(Metric::GeneratorThrottled, percent(spent, emit.over));
        }
        self.throttled = throttled;
        let delays = run_delays(source);
        if let (Some(before), Some(now)) = (&self.run_delays, &delays) {
            // A thread that is new has waited since it was.
            let spent = now.iter().map(|(thread, total)| {
                let last = before.get(thread).copied().unwrap_or(Nanos::ZERO);
                total.saturating_sub(last)
            });
            let spent = spent.sum();
            emit.put(Metric::GeneratorRunDelay, percent(spent, emit.over));
        }
        self.run_delays = delays;
    }
}

/// Of each control group that limits plimsoll's CPU, and counts.
fn throttled(source: &KernelFiles) -> HashMap<PathBuf, Nanos> {
    let mounts = source.read("proc/self/mountinfo").unwrap_or_default();
    let own = source.read("proc/self/cgroup").unwrap_or_default();
    let groups = cpu_groups(&mounts, &own).into_iter();
    let counted = groups.filter_map(|group| {
        let file = group.join("cpu.stat").to_string_lossy().into_owned();
        let throttled = source.parse(file.trim_start_matches('/'), parse::throttled);
        Some((group, throttled.ok()?))
    });
    counted.collect()
}

/// `None` where the kernel does not count.
fn run_delays(source: &KernelFiles) -> Option<HashMap<PathBuf, Nanos>> {
    let threads = std::fs::read_dir(source.path("proc/self/task")).ok()?;
    let mut delays = HashMap::new();
    // A thread may end meanwhile.
    for path in threads.filter_map(|thread| Some(thread.ok()?.path())) {
        if text(&path.join("comm")).is_ok_and(|name| name.trim_end() == USERS_THREAD) {
            let Ok(counted) = text(&path.join("schedstat")) else {
                continue;
            };
            delays.insert(path, parse::run_delay(&counted)?);
        }
    }
    Some(delays)
}

fn percent(spent: Nanos, over: Nanos) -> f64 {
    spent.as_secs_f64() * 100.0 / over.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_sleep_that_was_unusually_long_is_a_stop() {
        let stopped = StoppedTime::default();
        [0, 5, 20, 21, 250]
            .map(Nanos::from_millis)
            .into_iter()
            .for_each(|late| stopped.note(late));
        assert_eq!(stopped.total(), Nanos::from_millis(271));
    }
}
