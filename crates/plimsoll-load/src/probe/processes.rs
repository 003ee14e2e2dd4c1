//! A server or an emulator: CPU, memory and I/O of its process tree, and the size of a server's data.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::message::EventKind;
use plimsoll_record::message::event::Figures;
use plimsoll_record::metric::Metric;

use super::data::{DataProbe, Rest, thread_cpu};
use super::emit::Emit;
use super::parse::{self, PidStat};
use super::source::{KernelFiles, Warnings};
use super::tree::{self, TreeReading, TreeResult};

/// How a tree's memory is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MemoryMethod {
    /// Sum of proportional set sizes: a page that n processes share counts 1/n in each.
    Proportional,
    /// Each process's own pages, and of the shared ones those of the process that has most: shared buffers count once.
    /// Too small where processes share different pages with one another.
    Approximated,
}

#[derive(Debug)]
pub(super) struct ProcessesProbe {
    root: u32,
    /// When the tree was last read undisturbed, and what was read. Its members outlive a root that ended.
    last: Option<(Nanos, TreeReading)>,
    method: MemoryMethod,
    memory: Rest,
    data: Option<DataProbe>,
}

impl ProcessesProbe {
    pub fn new(root: u32, data: Option<PathBuf>) -> Self {
        let method = MemoryMethod::Proportional;
        let memory = Rest::default();
        Self {
            root,
            last: None,
            method,
            memory,
            data: data.map(DataProbe::new),
        }
    }

    pub fn sample(&mut self, source: &KernelFiles, warnings: &mut Warnings, emit: &mut Emit<'_>) {
        if let Some(data) = &mut self.data {
            data.sample(warnings, emit);
        }
        let known = self
            .last
            .as_ref()
            .map(|(_, reading)| reading.members.clone())
            .unwrap_or_default();
        let reading = match tree::read(source, self.root, &known) {
            TreeResult::Read(reading) => reading,
            TreeResult::Disturbed => return,
            TreeResult::Gone(error) => {
                let root = self.root;
                let kind = EventKind::Ended {
                    source: format!("/proc/{root}/stat"),
                    error: error.to_string(),
                };
                return warnings.warn(emit.subject, "tree", kind);
            }
        };
        if let Err(error) = &reading.io {
            // Its own, or that of a child.
            let source = format!("/proc/{}/io", self.root);
            warnings.unreadable(emit.subject, source, error, Figures::ProcessIo);
        }
        if let Some((at, old)) = &self.last {
            emit_rates(emit.at.saturating_sub(*at), old, &reading, emit);
        }
        self.sample_memory(&reading.members, source, warnings, emit);
        self.last = Some((emit.at, reading));
    }

    fn sample_memory(
        &mut self,
        members: &BTreeMap<u32, PidStat>,
        source: &KernelFiles,
        warnings: &mut Warnings,
        emit: &mut Emit<'_>,
    ) {
        if !self.memory.is_over(emit.at) {
            return;
        }
        let started = thread_cpu();
        let mut memory = Bytes(0);
        if self.method == MemoryMethod::Proportional {
            match proportional(members, source) {
                Ok(bytes) => memory = bytes,
                Err((pid, error)) => {
                    self.method = MemoryMethod::Approximated;
                    let kind = EventKind::Approximated {
                        source: format!("/proc/{pid}/smaps_rollup"),
                        error: error.to_string(),
                    };
                    warnings.warn(emit.subject, "memory", kind);
                }
            }
        }
        if self.method == MemoryMethod::Approximated {
            memory = approximated(members, source);
        }
        let over = self
            .memory
            .start(emit.at, thread_cpu().saturating_sub(started), emit.among);
        emit.put_over(Metric::SystemMemory, over, memory.0 as f64);
    }
}

/// A sum that went back belongs to another tree than before (a child's figures went to a foreign parent): no figure.
fn emit_rates(over: Nanos, old: &TreeReading, new: &TreeReading, emit: &mut Emit<'_>) {
    if let Some(ticks) = new.cpu.checked_sub(old.cpu) {
        emit.put_over(Metric::SystemCpu, over, cpu_percent(ticks, over));
    }
    if let (Ok(old), Ok(new)) = (&old.io, &new.io)
        && let (Some(read), Some(written)) = (
            new.read.checked_sub(old.read),
            new.written.checked_sub(old.written),
        )
    {
        emit.per_second_over(Metric::SystemReadBytes, over, read);
        emit.per_second_over(Metric::SystemWriteBytes, over, written);
    }
}

/// Clock ticks in percent of one CPU.
pub(super) fn cpu_percent(ticks: u64, over: Nanos) -> f64 {
    let hz = rustix::param::clock_ticks_per_second() as f64;
    100.0 * ticks as f64 / hz / over.as_secs_f64()
}

fn proportional(
    members: &BTreeMap<u32, PidStat>,
    source: &KernelFiles,
) -> Result<Bytes, (u32, io::Error)> {
    let mut sum = 0_u64;
    for pid in members.keys() {
        let path = format!("proc/{pid}/smaps_rollup");
        match source.parse(&path, |text| parse::kib_field(text, "Pss")) {
            Ok(Bytes(bytes)) => sum = sum.saturating_add(bytes),
            // It ended just now. A kernel before 4.14 has the process, but not the file.
            Err(error) if tree::is_gone(&error) && has_no_memory(*pid, source) => {}
            Err(error) => return Err((*pid, error)),
        }
    }
    Ok(Bytes(sum))
}

/// Ended, or ended and not yet waited for: what cannot be found has none either.
fn has_no_memory(pid: u32, source: &KernelFiles) -> bool {
    source
        .parse(&format!("proc/{pid}/statm"), parse::statm)
        .map_or(true, |statm| statm.resident == 0)
}

fn approximated(members: &BTreeMap<u32, PidStat>, source: &KernelFiles) -> Bytes {
    let mut own = 0_u64;
    let mut shared = 0_u64;
    for pid in members.keys() {
        if let Ok(statm) = source.parse(&format!("proc/{pid}/statm"), parse::statm) {
            own = own.saturating_add(statm.resident.saturating_sub(statm.shared));
            shared = shared.max(statm.shared);
        }
    }
    Bytes(
        own.saturating_add(shared)
            .saturating_mul(rustix::param::page_size() as u64),
    )
}
