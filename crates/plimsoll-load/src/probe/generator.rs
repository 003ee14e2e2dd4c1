//! plimsoll itself, and what watching costs.

use plimsoll_plan::units::Nanos;
use plimsoll_record::message::event::Figures;
use plimsoll_record::metric::Metric;

use super::data::thread_cpu;
use super::emit::Emit;
use super::parse::{self, PidStat};
use super::processes::cpu_percent;
use super::source::{KernelFiles, Warnings};

#[derive(Debug, Default)]
pub(super) struct GeneratorProbe {
    process: Option<PidStat>,
    /// CPU time of the sampling thread.
    thread: Option<Nanos>,
}

impl GeneratorProbe {
    /// `late`: how much later than intended this sample is taken.
    pub fn sample(
        &mut self,
        late: Nanos,
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
}
