//! Means of the metrics over a measure window.

use std::collections::BTreeSet;

use serde::Serialize;

use super::index::Index;
use plimsoll_plan::units::Nanos;
use plimsoll_record::metric::{Metric, MetricKind};
use plimsoll_record::{
    DEVICE_FACT, HOSTS_BETWEEN, Point, SYSTEM_HOST_FACT, Sample, Series, Subject, SubjectId,
    SubjectKind,
};

/// One metric of one subject over a window.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricMean {
    pub subject: String,
    pub subject_kind: SubjectKind,
    pub metric: &'static str,
    pub unit: &'static str,
    pub mean: f64,
    /// Of the samples that lie at least half in the window.
    pub min: f64,
    pub max: f64,
    pub samples: u64,
}

/// The means that stand beside a point's figures: of the host, its system, its medium's device and the generator.
/// MB are 10⁶ bytes; CPU of a process is in percent of one CPU, of the host in percent of all.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Resources {
    pub host_cpu_user_percent: Option<f64>,
    pub host_cpu_system_percent: Option<f64>,
    pub host_cpu_iowait_percent: Option<f64>,
    pub host_cpu_steal_percent: Option<f64>,
    pub host_cpu_idle_percent: Option<f64>,
    /// user + system + steal: time in which the CPUs could not do anything else.
    pub host_cpu_busy_percent: Option<f64>,
    pub host_cpu_busiest_percent: Option<f64>,
    pub host_memory_available_mb: Option<f64>,
    pub psi_io_some_percent: Option<f64>,
    pub device: Option<String>,
    pub device_reads_per_second: Option<f64>,
    pub device_writes_per_second: Option<f64>,
    pub device_flushes_per_second: Option<f64>,
    pub device_read_mb_per_second: Option<f64>,
    pub device_write_mb_per_second: Option<f64>,
    /// Per request, not per second: weighted by the requests of each second.
    pub device_read_latency_ms: Option<f64>,
    pub device_write_latency_ms: Option<f64>,
    pub device_queue: Option<f64>,
    pub device_busy_percent: Option<f64>,
    pub system_cpu_percent: Option<f64>,
    pub system_memory_mb: Option<f64>,
    pub system_write_mb_per_second: Option<f64>,
    pub generator_cpu_percent: Option<f64>,
    pub generator_memory_mb: Option<f64>,
    /// CPU time of plimsoll per completed transaction.
    pub generator_cpu_us_per_txn: Option<f64>,
    /// Why the figure above is not given although it could be computed.
    pub generator_cpu_withheld: Option<Withheld>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Withheld {
    /// The system runs inside plimsoll, whose CPU time is mostly the system's.
    EmbeddedSystem,
}

/// Whose means stand beside a point.
#[derive(Debug, Clone, Copy)]
pub(super) enum MeanScope {
    All,
    /// Everything but other systems than this one.
    One(SubjectId),
}

impl MeanScope {
    /// One of several equal systems has figures of its own; those of the others stand beside their sum.
    pub fn beside(index: &Index, point: &Point) -> Self {
        index
            .base_of(point.system)
            .map_or(Self::All, |_| Self::One(point.system))
    }

    fn holds(self, subject: &Subject) -> bool {
        match self {
            Self::All => true,
            Self::One(system) => subject.kind != SubjectKind::System || subject.id == system,
        }
    }
}

/// The means of series over `start..end`.
pub(super) fn over(index: &Index, scope: MeanScope, start: Nanos, end: Nanos) -> Vec<MetricMean> {
    let all = &index.record.series;
    let mut means: Vec<MetricMean> = all
        .iter()
        .filter_map(|series| {
            let subject = index
                .record
                .subjects
                .iter()
                .find(|s| s.id == series.subject)?;
            if !scope.holds(subject) {
                return None;
            }
            let weights = requests(series.metric).and_then(|metric| {
                all.iter()
                    .find(|s| s.subject == series.subject && s.metric == metric)
            });
            let Mean {
                mean,
                min,
                max,
                samples,
            } = mean(series, weights, start, end)?;
            let info = series.metric.info();
            Some(MetricMean {
                subject: subject.name.clone(),
                subject_kind: subject.kind,
                metric: info.name,
                unit: info.unit,
                mean,
                min,
                max,
                samples,
            })
        })
        .collect();
    means.sort_by(|a, b| {
        (a.subject_kind, &a.subject, order(a)).cmp(&(b.subject_kind, &b.subject, order(b)))
    });
    means
}

fn order(mean: &MetricMean) -> Option<usize> {
    Metric::ALL
        .iter()
        .position(|metric| metric.info().name == mean.metric)
}

/// The sum over all subjects of a kind; `None` where none was sampled.
pub(super) fn sum_of(
    index: &Index,
    kind: SubjectKind,
    metric: Metric,
    start: Nanos,
    end: Nanos,
) -> Option<f64> {
    let is_of_kind = |series: &&Series| {
        let mut subjects = index.record.subjects.iter();
        series.metric == metric && subjects.any(|own| own.id == series.subject && own.kind == kind)
    };
    let all = index.record.series.iter().filter(is_of_kind);
    let means = all.filter_map(|series| Some(mean(series, None, start, end)?.mean));
    means.reduce(|sum, more| sum + more)
}

/// The metric that counts the requests of a mean time per request.
fn requests(metric: Metric) -> Option<Metric> {
    match metric {
        Metric::DeviceReadLatency => Some(Metric::DeviceReads),
        Metric::DeviceWriteLatency => Some(Metric::DeviceWrites),
        _ => None,
    }
}

#[derive(Debug, PartialEq)]
struct Mean {
    mean: f64,
    min: f64,
    max: f64,
    samples: u64,
}

/// Rates weigh by how much of their interval lies in the window, gauges count when taken in it; a mean time per request
/// weighs by its requests, because a second with one slow request is not worth one with a thousand quick ones.
fn mean(series: &Series, requests: Option<&Series>, start: Nanos, end: Nanos) -> Option<Mean> {
    let mut sum = 0.0;
    let mut total = 0.0;
    let mut samples = 0;
    let mut min = f64::INFINITY;
    let mut max = f64::NEG_INFINITY;
    let kind = series.metric.info().kind;
    for sample in series.near(start, end) {
        let share = inside(sample, kind, start, end);
        let weight = share * requests.map_or(1.0, |r| r.at(sample.at) * sample.over.as_secs_f64());
        if weight <= 0.0 {
            continue;
        }
        let value = f64::from(sample.value);
        (sum, total) = (sum + value * weight, total + weight);
        let mostly_inside = share * 2.0 >= share.max(sample.over.as_secs_f64());
        if mostly_inside || samples == 0 {
            (min, max) = (min.min(value), max.max(value));
        }
        samples += 1;
    }
    (total > 0.0).then(|| Mean {
        mean: sum / total,
        min,
        max,
        samples,
    })
}

/// Seconds of the sample's interval within the window; of a gauge 1 if it was taken in it, else 0.
fn inside(sample: &Sample, kind: MetricKind, start: Nanos, end: Nanos) -> f64 {
    if kind == MetricKind::Gauge || sample.over == Nanos::ZERO {
        return if sample.at > start && sample.at <= end {
            1.0
        } else {
            0.0
        };
    }
    let from = sample.at.saturating_sub(sample.over).max(start);
    sample.at.min(end).saturating_sub(from).as_secs_f64()
}

/// The subject of the device that a medium lies on: what the medium's fact names, or else the only device.
pub(super) fn device(index: &Index, medium: Option<SubjectId>) -> Option<String> {
    let named = index
        .record
        .facts
        .iter()
        .find(|f| Some(f.subject) == medium && f.key == DEVICE_FACT);
    let mut devices = index
        .record
        .subjects
        .iter()
        .filter(|s| s.kind == SubjectKind::Device);
    if let Some(fact) = named {
        let name = fact.value.trim_start_matches("/dev/");
        return devices
            .find(|s| s.name.trim_start_matches("/dev/") == name)
            .map(|s| s.name.clone());
    }
    // An emulated drive that is a directory lies on no device of the machine.
    if index.drive_title(medium).is_some() {
        return None;
    }
    let only = devices.next()?;
    devices.next().is_none().then(|| only.name.clone())
}

/// The hosts of systems. None: plimsoll's own.
fn machines<'a>(index: &Index<'a>, systems: &[SubjectId]) -> BTreeSet<&'a str> {
    let facts = index.record.facts.iter();
    let own = facts.filter(|fact| fact.key == SYSTEM_HOST_FACT && systems.contains(&fact.subject));
    own.flat_map(|fact| fact.value.split(HOSTS_BETWEEN))
        .collect()
}

pub(super) fn resources(
    index: &Index,
    point: &Point,
    systems: &[SubjectId],
    means: &[MetricMean],
    measured_s: f64,
    n: u64,
) -> Resources {
    let device = device(index, point.medium);
    // Figures of the host are those of the machine that the system runs on; of several, their means.
    let machines = machines(index, systems);
    let system: SubjectId = point.system;
    let system = index.name(system);
    let of = |metric: Metric| {
        let found = means.iter().filter(|m| m.metric == metric.info().name);
        let mut own = found.filter(|m| match m.subject_kind {
            SubjectKind::Device => device.as_ref() == Some(&m.subject),
            SubjectKind::System => m.subject == system,
            // It has the metrics of a system, and its own figures beside the drive's.
            // And a backup is not part of the load.
            SubjectKind::Emulator | SubjectKind::Backup | SubjectKind::Member => false,
            SubjectKind::Host => machines.is_empty(),
            SubjectKind::Worker => machines.contains(m.subject.as_str()),
            SubjectKind::Medium | SubjectKind::Generator => true,
        });
        let first = own.next()?;
        if first.subject_kind != SubjectKind::Worker {
            return Some(first.mean);
        }
        let machines: Vec<f64> = std::iter::once(first).chain(own).map(|m| m.mean).collect();
        Some(machines.iter().sum::<f64>() / machines.len() as f64)
    };
    // Of plimsoll here and of its workers on other hosts.
    let sum = |metric: Metric| {
        let all = means.iter().filter(|m| m.metric == metric.info().name);
        all.map(|m| m.mean).reduce(|sum, more| sum + more)
    };
    let mb = |metric: Metric| of(metric).map(|bytes| bytes / 1e6);
    // It keeps its data on a medium of the plan, so plimsoll runs it; without CPU of its own it is no process.
    let embedded = point.medium.is_some() && of(Metric::SystemCpu).is_none();
    let generator_cpu_percent = sum(Metric::GeneratorCpu);
    let generator_cpu = generator_cpu_percent.filter(|_| n > 0);
    let withheld = generator_cpu
        .filter(|_| embedded)
        .map(|_| Withheld::EmbeddedSystem);
    let busy = [Metric::CpuUser, Metric::CpuSystem].map(of);
    Resources {
        host_cpu_user_percent: of(Metric::CpuUser),
        host_cpu_system_percent: of(Metric::CpuSystem),
        host_cpu_iowait_percent: of(Metric::CpuIowait),
        host_cpu_steal_percent: of(Metric::CpuSteal),
        host_cpu_idle_percent: of(Metric::CpuIdle),
        host_cpu_busy_percent: busy[0]
            .zip(busy[1])
            .map(|(u, s)| u + s + of(Metric::CpuSteal).unwrap_or(0.0)),
        host_cpu_busiest_percent: of(Metric::CpuBusiest),
        host_memory_available_mb: mb(Metric::MemoryAvailable),
        psi_io_some_percent: of(Metric::PsiIoSome),
        device_reads_per_second: of(Metric::DeviceReads),
        device_writes_per_second: of(Metric::DeviceWrites),
        device_flushes_per_second: of(Metric::DeviceFlushes),
        device_read_mb_per_second: mb(Metric::DeviceReadBytes),
        device_write_mb_per_second: mb(Metric::DeviceWriteBytes),
        device_read_latency_ms: of(Metric::DeviceReadLatency),
        device_write_latency_ms: of(Metric::DeviceWriteLatency),
        device_queue: of(Metric::DeviceQueue),
        device_busy_percent: of(Metric::DeviceBusy),
        system_cpu_percent: of(Metric::SystemCpu),
        system_memory_mb: mb(Metric::SystemMemory),
        system_write_mb_per_second: mb(Metric::SystemWriteBytes),
        generator_cpu_percent,
        generator_memory_mb: sum(Metric::GeneratorMemory).map(|bytes| bytes / 1e6),
        generator_cpu_us_per_txn: generator_cpu
            .filter(|_| !embedded)
            .map(|percent| percent / 100.0 * measured_s * 1e6 / n as f64),
        generator_cpu_withheld: withheld,
        device,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(metric: Metric, samples: &[(u64, u64, f32)]) -> Series {
        let sample = |(at, over, value): &(u64, u64, f32)| Sample {
            at: Nanos::from_millis(*at),
            over: Nanos::from_millis(*over),
            value: *value,
        };
        Series {
            subject: SubjectId(1),
            metric,
            samples: samples.iter().map(sample).collect(),
        }
    }

    fn of(series: &Series, requests: Option<&Series>) -> Option<Mean> {
        mean(series, requests, Nanos::from_secs(2), Nanos::from_secs(4))
    }

    #[test]
    fn rates_weigh_by_their_time_in_the_window() {
        // 1.5..2.5 lies half inside, 2.5..3.5 wholly, 3.5..5.5 a quarter (0.5 s): (10·0.5 + 20·1 + 40·0.5) / 2 = 22.5.
        let cpu = series(
            Metric::CpuUser,
            &[
                (1500, 1000, 90.0),
                (2500, 1000, 10.0),
                (3500, 1000, 20.0),
                (5500, 2000, 40.0),
            ],
        );
        assert_eq!(
            of(&cpu, None),
            Some(Mean {
                mean: 22.5,
                min: 10.0,
                max: 20.0,
                samples: 3
            })
        );
    }

    #[test]
    fn gauges_count_when_taken_in_the_window() {
        let memory = series(
            Metric::SystemMemory,
            &[
                (2000, 1000, 1.0),
                (3000, 1000, 5.0),
                (4000, 1000, 7.0),
                (4500, 500, 9.0),
            ],
        );
        assert_eq!(
            of(&memory, None),
            Some(Mean {
                mean: 6.0,
                min: 5.0,
                max: 7.0,
                samples: 2
            })
        );
    }

    #[test]
    fn a_time_per_request_weighs_by_requests() {
        let latency = series(
            Metric::DeviceWriteLatency,
            &[(3000, 1000, 1.0), (4000, 1000, 101.0)],
        );
        let writes = series(
            Metric::DeviceWrites,
            &[(3000, 1000, 99.0), (4000, 1000, 1.0)],
        );
        assert_eq!(of(&latency, Some(&writes)).map(|m| m.mean), Some(2.0));
    }

    #[test]
    fn outside_the_window_there_is_no_mean() {
        assert_eq!(
            of(
                &series(Metric::CpuUser, &[(1000, 1000, 5.0), (9000, 1000, 5.0)]),
                None
            ),
            None
        );
    }
}
