//! CPU, memory, pressure and network of this machine.

use std::collections::BTreeMap;

use plimsoll_plan::units::Nanos;
use plimsoll_record::message::event::Figures;
use plimsoll_record::metric::Metric;

use super::emit::Emit;
use super::parse::{self, CpuTimes, Interface, Pressure, Stat};
use super::source::{KernelFiles, Warnings};

/// Pressure files, with the metrics of their `some` and `full` totals.
const PRESSURES: [(&str, Metric, Option<Metric>); 3] = [
    ("proc/pressure/cpu", Metric::PsiCpuSome, None),
    (
        "proc/pressure/io",
        Metric::PsiIoSome,
        Some(Metric::PsiIoFull),
    ),
    ("proc/pressure/memory", Metric::PsiMemorySome, None),
];

/// The last readings.
#[derive(Debug, Default)]
pub(super) struct HostProbe {
    stat: Option<Stat>,
    pressure: [Option<Pressure>; 3],
    interfaces: Option<BTreeMap<String, Interface>>,
}

impl HostProbe {
    pub fn sample(&mut self, source: &KernelFiles, warnings: &mut Warnings, emit: &mut Emit<'_>) {
        self.cpu(source, warnings, emit);
        self.pressure(source, warnings, emit);
        self.network(source, warnings, emit);
        match source.parse("proc/meminfo", parse::meminfo) {
            Ok(memory) => {
                emit.put(Metric::MemoryTotal, memory.total.0 as f64);
                emit.put(Metric::MemoryAvailable, memory.available.0 as f64);
                emit.put(Metric::MemoryCached, memory.cached.0 as f64);
                emit.put(Metric::MemoryDirty, memory.dirty.0 as f64);
            }
            Err(error) => {
                warnings.unreadable(emit.subject, "/proc/meminfo", &error, Figures::Memory)
            }
        }
    }

    fn cpu(&mut self, source: &KernelFiles, warnings: &mut Warnings, emit: &mut Emit<'_>) {
        let new = source
            .parse("proc/stat", parse::stat)
            .inspect_err(|error| {
                warnings.unreadable(emit.subject, "/proc/stat", error, Figures::Cpu)
            })
            .ok();
        if let (Some(old), Some(new)) = (&self.stat, &new) {
            emit_cpu(old, new, emit);
        }
        self.stat = new;
    }

    fn pressure(&mut self, source: &KernelFiles, warnings: &mut Warnings, emit: &mut Emit<'_>) {
        for ((path, some, full), last) in PRESSURES.into_iter().zip(&mut self.pressure) {
            let new = source
                .parse(path, parse::pressure)
                .inspect_err(|error| {
                    warnings.unreadable(emit.subject, format!("/{path}"), error, Figures::Pressure)
                })
                .ok();
            if let (Some(old), Some(new)) = (last.as_ref(), &new) {
                let mut share = |metric, old: Nanos, new: Nanos| {
                    if let Some(spent) = new.0.checked_sub(old.0) {
                        emit.share(metric, Nanos(spent));
                    }
                };
                share(some, old.some, new.some);
                if let (Some(metric), Some(old), Some(new)) = (full, old.full, new.full) {
                    share(metric, old, new);
                }
            }
            *last = new;
        }
    }

    /// Interfaces are compared one by one: one that came, went or was reset counts from the next interval on.
    fn network(&mut self, source: &KernelFiles, warnings: &mut Warnings, emit: &mut Emit<'_>) {
        let new: Option<BTreeMap<String, Interface>> = source
            .parse("proc/net/dev", parse::net_dev)
            .inspect_err(|error| {
                warnings.unreadable(emit.subject, "/proc/net/dev", error, Figures::Network)
            })
            .ok()
            .map(|all| {
                all.into_iter()
                    .filter(|interface| interface.name != "lo")
                    .map(|i| (i.name.clone(), i))
                    .collect()
            });
        if let (Some(old), Some(new)) = (&self.interfaces, &new) {
            let mut received = 0_u64;
            let mut sent = 0_u64;
            for (new, old) in new
                .values()
                .filter_map(|new| Some((new, old.get(&new.name)?)))
            {
                if let (Some(r), Some(s)) = (
                    new.received.checked_sub(old.received),
                    new.sent.checked_sub(old.sent),
                ) {
                    received = received.saturating_add(r);
                    sent = sent.saturating_add(s);
                }
            }
            emit.per_second(Metric::NetReceived, received);
            emit.per_second(Metric::NetSent, sent);
        }
        self.interfaces = new;
    }
}

fn emit_cpu(old: &Stat, new: &Stat, emit: &mut Emit<'_>) {
    let Some(spent) = new.all.since(&old.all) else {
        return;
    };
    let total = spent.total();
    if total == 0 {
        return;
    }
    let percent = |ticks: u64| 100.0 * ticks as f64 / total as f64;
    emit.put(Metric::CpuUser, percent(spent.user + spent.nice));
    emit.put(
        Metric::CpuSystem,
        percent(spent.system + spent.irq + spent.softirq),
    );
    emit.put(Metric::CpuIowait, percent(spent.iowait));
    emit.put(Metric::CpuSteal, percent(spent.steal));
    emit.put(Metric::CpuIdle, percent(spent.idle));
    let old: BTreeMap<u32, CpuTimes> = old.each.iter().copied().collect();
    let busy = new
        .each
        .iter()
        .filter_map(|(number, new)| busy_percent(*old.get(number)?, *new));
    if let Some(busiest) = busy.reduce(f64::max) {
        emit.put(Metric::CpuBusiest, busiest);
    }
}

fn busy_percent(old: CpuTimes, new: CpuTimes) -> Option<f64> {
    let spent = new.since(&old)?;
    let total = spent.total();
    let busy = total - spent.idle - spent.iowait;
    (total > 0).then(|| 100.0 * busy as f64 / total as f64)
}
