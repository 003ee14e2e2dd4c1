//! The whole catalog, on a recorded machine and on this one.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;

use super::*;
use crate::clock::Clock;

const HOST: SubjectId = SubjectId(1);
const DEVICE: SubjectId = SubjectId(2);
const MEDIUM: SubjectId = SubjectId(3);
const SYSTEM: SubjectId = SubjectId(4);
const GENERATOR: SubjectId = SubjectId(5);
const BACKUP: SubjectId = SubjectId(6);
/// The postmaster of the recorded machine.
const POSTMASTER: u32 = 17560;
/// When even what is costly to read, on a slow machine, is read again (ms).
const AFTER_REST: u64 = 60_000;

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (entry, to) = (
            entry.as_ref().unwrap().path(),
            to.join(entry.as_ref().unwrap().file_name()),
        );
        if entry.is_dir() {
            copy(&entry, &to)
        } else {
            fs::copy(&entry, &to).map(drop).unwrap()
        }
    }
}

/// A machine that shows what was recorded `before` or `after` about 1 s of load.
struct Recorded(tempfile::TempDir);

impl Recorded {
    fn new() -> Self {
        let recorded = Self(tempfile::tempdir().unwrap());
        recorded.show("before");
        recorded
    }

    fn show(&self, moment: &str) {
        for shown in ["proc", "sys"] {
            let _ = fs::remove_dir_all(self.0.path().join(shown));
        }
        let data = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/data/proc")
            .join(moment);
        copy(&data, self.0.path());
        let backup = self.0.path().join("backup");
        fs::create_dir_all(&backup).unwrap();
        fs::write(
            backup.join("base.tar"),
            vec![7; if moment == "after" { 5000 } else { 1000 }],
        )
        .unwrap();
    }

    /// Changes a file.
    fn edit(&self, path: &str, change: impl FnOnce(String) -> String) {
        let path = self.0.path().join("proc").join(path);
        let text = change(fs::read_to_string(&path).unwrap());
        fs::write(&path, text).unwrap();
    }

    fn sampler(&self) -> Sampler {
        let mut sampler = Sampler::at(self.0.path());
        sampler.watch(HOST, Watch::Host);
        sampler.watch(
            DEVICE,
            Watch::Device {
                major: 254,
                minor: 0,
            },
        );
        sampler.watch(
            MEDIUM,
            Watch::Medium {
                path: self.0.path().into(),
            },
        );
        sampler.watch(
            SYSTEM,
            Watch::Processes {
                pid: POSTMASTER,
                data: Some(self.0.path().join("proc")),
            },
        );
        sampler.watch(GENERATOR, Watch::Generator);
        sampler.watch(
            BACKUP,
            Watch::Backup {
                path: self.0.path().join("backup"),
            },
        );
        sampler
    }
}

fn at(sampler: &mut Sampler, ms: u64) -> Vec<(SubjectId, Metric, Sample)> {
    let samples = sampler.sample(Nanos::from_millis(ms), Nanos::from_micros(1500));
    assert!(
        samples
            .iter()
            .all(|(_, _, sample)| sample.value.is_finite() && sample.value >= 0.0),
        "{samples:?}"
    );
    samples
}

fn value(samples: &[(SubjectId, Metric, Sample)], metric: Metric) -> Option<f32> {
    samples
        .iter()
        .find(|(_, of, _)| *of == metric)
        .map(|(_, _, sample)| sample.value)
}

fn metrics(samples: &[(SubjectId, Metric, Sample)]) -> BTreeSet<Metric> {
    samples.iter().map(|(_, metric, _)| *metric).collect()
}

/// Those that are read from files. What servers report is covered by `probe::database`'s tests, what models report by
/// those of `plimsoll-drive`.
fn all_metrics() -> BTreeSet<Metric> {
    Metric::ALL
        .iter()
        .copied()
        .filter(|metric| !metric.is_of_database() && !metric.is_of_member())
        .collect()
}

#[test]
fn every_metric_is_emitted_and_the_first_sample_only_primes_rates() {
    let recorded = Recorded::new();
    let mut sampler = recorded.sampler();
    let first = at(&mut sampler, 1000);
    let gauge = |metric: &Metric| metric.info().kind == plimsoll_record::metric::MetricKind::Gauge;
    assert!(metrics(&first).iter().all(gauge), "{first:?}");
    recorded.show("after");
    let second = at(&mut sampler, AFTER_REST);
    assert_eq!(metrics(&second), all_metrics());
    assert_eq!(second.len(), all_metrics().len(), "each once");
    let end = Nanos::from_millis(AFTER_REST);
    let interval = Nanos::from_millis(AFTER_REST - 1000);
    assert!(
        second
            .iter()
            .all(|(_, _, sample)| (sample.at, sample.over) == (end, interval))
    );
    assert_eq!(sampler.take_warnings(), []);
}

/// Expected figures are differences of the recorded files, computed by hand.
#[test]
fn rates_are_differences_over_the_real_interval() {
    let recorded = Recorded::new();
    let mut sampler = recorded.sampler();
    at(&mut sampler, 1000);
    recorded.show("after");
    let samples = at(&mut sampler, 3000);
    let close = |metric, expected: f32| {
        let value = value(&samples, metric).unwrap();
        assert!(
            (value - expected).abs() <= expected * 1e-5,
            "{metric:?}: {value}, expected {expected}"
        );
    };
    close(Metric::DeviceReads, 68.0 / 2.0);
    close(Metric::DeviceReadBytes, 8448.0 * 512.0 / 2.0);
    close(Metric::DeviceReadLatency, 7.0 / 68.0);
    close(Metric::DeviceWrites, 5868.0 / 2.0);
    close(Metric::DeviceWriteBytes, 57856.0 * 512.0 / 2.0);
    close(Metric::DeviceWriteLatency, 325.0 / 5868.0);
    close(Metric::DeviceFlushes, 2771.0 / 2.0);
    close(Metric::DeviceBusy, 292.0 / 2000.0 * 100.0);
    close(Metric::DeviceQueue, 462.0 / 2000.0);
    close(Metric::BackupWritten, 4000.0 / 2.0);
    close(Metric::ProbeJitter, 1.5);
    close(Metric::GeneratorThrottled, 0.6 / 2.0 * 100.0);
    close(Metric::GeneratorRunDelay, 0.05 / 2.0 * 100.0);
    close(Metric::GeneratorStopped, 0.0);
    let shares = [
        Metric::CpuUser,
        Metric::CpuSystem,
        Metric::CpuIowait,
        Metric::CpuSteal,
        Metric::CpuIdle,
    ];
    let sum: f32 = shares
        .map(|metric| value(&samples, metric).unwrap())
        .into_iter()
        .sum();
    assert!((sum - 100.0).abs() < 0.01, "{sum}");
    assert!(
        value(&samples, Metric::CpuBusiest).unwrap()
            >= 100.0 - value(&samples, Metric::CpuIdle).unwrap() - 1.0
    );
    assert!(value(&samples, Metric::SystemCpu).unwrap() > 10.0);
    assert!(value(&samples, Metric::SystemWriteBytes).unwrap() > 1e6);
}

#[test]
fn counters_that_go_back_give_no_sample() {
    let recorded = Recorded::new();
    recorded.show("after");
    let mut sampler = recorded.sampler();
    at(&mut sampler, 1000);
    recorded.show("before");
    let samples = at(&mut sampler, 2000);
    for metric in metrics(&samples) {
        let name = metric.info().name;
        let gone = [
            "device_",
            "psi_cpu",
            "psi_io",
            "cpu_",
            "system_cpu",
            "system_read",
            "system_write",
        ];
        assert!(
            !gone.iter().any(|gone| name.starts_with(gone)),
            "{name} from counters that went back"
        );
    }
    // The next interval counts again.
    recorded.show("after");
    assert_eq!(metrics(&at(&mut sampler, AFTER_REST)), all_metrics());
}

#[test]
fn no_latency_without_io() {
    let recorded = Recorded::new();
    let mut sampler = recorded.sampler();
    at(&mut sampler, 1000);
    let samples = at(&mut sampler, 2000);
    assert_eq!(value(&samples, Metric::DeviceReads), Some(0.0));
    assert_eq!(value(&samples, Metric::DeviceReadLatency), None);
    assert_eq!(value(&samples, Metric::DeviceWriteLatency), None);
}

#[test]
fn an_ended_childs_figures_are_found_with_its_parent() {
    let recorded = Recorded::new();
    let mut sampler = recorded.sampler();
    at(&mut sampler, 1000);
    // 17579 uses 7 more ticks and ends; its parent takes over all that it had.
    let stat = fs::read_to_string(recorded.0.path().join("proc/17579/stat")).unwrap();
    let had = plimsoll_block::host::parse::pid_stat(&stat).unwrap().cpu;
    fs::remove_dir_all(recorded.0.path().join("proc/17579")).unwrap();
    recorded.edit(
        &format!("{POSTMASTER}/task/{POSTMASTER}/children"),
        |text| text.replace("17579", ""),
    );
    recorded.edit(&format!("{POSTMASTER}/stat"), |text| {
        let mut fields: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let children: u64 = fields[15].parse().unwrap();
        fields[15] = (children + had + 7).to_string();
        fields.join(" ")
    });
    let samples = at(&mut sampler, 2000);
    let expected = 100.0 * 7.0 / rustix::param::clock_ticks_per_second() as f32;
    assert_eq!(value(&samples, Metric::SystemCpu), Some(expected));
}

#[test]
fn what_is_gone_warns_once() {
    let recorded = Recorded::new();
    let mut sampler = recorded.sampler();
    at(&mut sampler, 1000);
    fs::remove_dir_all(recorded.0.path().join("proc/pressure")).unwrap();
    fs::remove_dir_all(recorded.0.path().join(format!("proc/{POSTMASTER}"))).unwrap();
    recorded.edit("diskstats", |text| text.replace(" 254 ", " 255 "));
    for second in 2..5 {
        let left = metrics(&at(&mut sampler, second * 1000));
        assert!(
            left.iter()
                .all(|metric| !metric.info().name.starts_with("psi_"))
        );
        assert!(!left.contains(&Metric::SystemCpu) && !left.contains(&Metric::DeviceReads));
    }
    let warnings = sampler.take_warnings();
    let codes: Vec<_> = warnings
        .iter()
        .map(|warning| (warning.subject, warning.kind.code()))
        .collect();
    let unreadable = "unreadable";
    let ended = "ended";
    let expected = [
        (HOST, unreadable.to_owned()),
        (HOST, unreadable.to_owned()),
        (HOST, unreadable.to_owned()),
        (DEVICE, unreadable.to_owned()),
        (SYSTEM, ended.to_owned()),
    ];
    assert_eq!(codes, expected, "{warnings:?}");
    assert!(
        warnings[0].kind.args().contains("/proc/pressure/cpu"),
        "{warnings:?}"
    );
}

#[test]
fn memory_without_proportional_sizes_is_approximated_with_a_warning() {
    let recorded = Recorded::new();
    for pid in fs::read_dir(recorded.0.path().join("proc")).unwrap() {
        let _ = fs::remove_file(pid.unwrap().path().join("smaps_rollup"));
    }
    let mut sampler = recorded.sampler();
    let memory = value(&at(&mut sampler, 1000), Metric::SystemMemory).unwrap();
    assert!(
        memory > 20e6 && memory < 400e6,
        "{memory}: 256 MB of shared buffers, not ninefold"
    );
    assert_eq!(sampler.take_warnings()[0].kind.code(), "approximated");
}

/// Without CONFIG_PROC_CHILDREN, children are found by their parents.
#[test]
fn the_tree_is_the_same_on_a_kernel_that_lists_no_children() {
    let recorded = Recorded::new();
    let sample =
        |recorded: &Recorded| value(&at(&mut recorded.sampler(), 1000), Metric::SystemMemory);
    let listed = sample(&recorded);
    for pid in fs::read_dir(recorded.0.path().join("proc"))
        .unwrap()
        .flatten()
    {
        let task = pid.path().join("task").join(pid.file_name());
        if task.exists() {
            fs::remove_file(task.join("children")).unwrap();
            fs::write(task.join("stat"), "").unwrap();
        }
    }
    assert_eq!(sample(&recorded), listed);
    fs::remove_dir_all(recorded.0.path().join("proc/17561")).unwrap();
    assert!(sample(&recorded) < listed, "each process counts");
}

/// Reads and writes that reach the device.
fn some_io(directory: &Path) {
    let path = directory.join("io");
    let mut file = fs::File::create(&path).unwrap();
    file.write_all(&vec![7; 1 << 20]).unwrap();
    file.sync_all().unwrap();
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    assert_eq!(fs::read(&path).unwrap().len(), 1 << 20);
}

#[test]
fn this_machine_emits_every_metric_that_its_kernel_has() {
    let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let mut lacking = BTreeSet::new();
    let mut sampler = Sampler::new();
    sampler.watch(HOST, Watch::Host);
    sampler.watch(
        MEDIUM,
        Watch::Medium {
            path: directory.path().into(),
        },
    );
    sampler.watch(
        SYSTEM,
        Watch::Processes {
            pid: std::process::id(),
            data: Some(directory.path().into()),
        },
    );
    sampler.watch(GENERATOR, Watch::Generator);
    sampler.watch(
        BACKUP,
        Watch::Backup {
            path: directory.path().into(),
        },
    );
    match plimsoll_block::host::device::device_of(directory.path()) {
        Ok(device) => {
            let major = device.disk().major;
            let minor = device.disk().minor;
            sampler.watch(DEVICE, Watch::Device { major, minor });
        }
        Err(_) => lacking.extend(
            all_metrics()
                .into_iter()
                .filter(|metric| metric.info().name.starts_with("device_")),
        ),
    }
    if fs::read("/proc/pressure/cpu").is_err() {
        lacking.extend(
            all_metrics()
                .into_iter()
                .filter(|metric| metric.info().name.starts_with("psi_")),
        );
    }
    let clock = Clock::real();
    let mut samples = sampler.sample(clock.now(), Nanos::ZERO);
    some_io(directory.path());
    clock.block_until(Nanos::SECOND);
    samples.extend(sampler.sample(clock.now(), Nanos::ZERO));
    assert!(
        samples
            .iter()
            .all(|(_, _, sample)| sample.value.is_finite())
    );
    // Not every kernel counts how long groups and threads wait.
    for counted in [Metric::GeneratorThrottled, Metric::GeneratorRunDelay] {
        if value(&samples, counted).is_none() {
            lacking.insert(counted);
        }
    }
    let warnings = sampler.take_warnings();
    assert_eq!(&all_metrics() - &metrics(&samples), lacking, "{warnings:?}");
}

/// Values of `/proc` files may be anything: samples stay finite and nothing panics.
#[test]
fn absurd_counters_never_panic_nor_become_samples_that_are_not_finite() {
    let recorded = Recorded::new();
    let mut sampler = recorded.sampler();
    at(&mut sampler, 0);
    let most = u64::MAX.to_string();
    for path in [
        "stat",
        "diskstats",
        "net/dev",
        "meminfo",
        "self/stat",
        "17560/stat",
        "17560/io",
    ] {
        recorded.edit(path, |text| {
            let lines = text.lines().map(|line| {
                let words = line.split(' ').map(|word| {
                    if word.len() > 3 && word.parse::<u64>().is_ok() {
                        &most
                    } else {
                        word
                    }
                });
                words.collect::<Vec<_>>().join(" ")
            });
            lines.collect::<Vec<_>>().join("\n")
        });
    }
    at(&mut sampler, 0);
    at(&mut sampler, 1000);
}

#[test]
fn a_process_without_data_has_no_size_of_data() {
    let recorded = Recorded::new();
    let mut sampler = Sampler::at(recorded.0.path());
    sampler.watch(
        SYSTEM,
        Watch::Processes {
            pid: POSTMASTER,
            data: None,
        },
    );
    sampler.sample(Nanos::from_secs(1), Nanos::ZERO);
    recorded.show("after");
    let metrics: BTreeSet<&str> = (sampler
        .sample(Nanos::from_millis(AFTER_REST), Nanos::ZERO)
        .iter())
    .map(|(_, metric, _)| metric.info().name)
    .collect();
    assert_eq!(
        metrics,
        BTreeSet::from([
            "system_cpu",
            "system_memory",
            "system_read_bytes",
            "system_write_bytes"
        ])
    );
    assert_eq!(sampler.take_warnings(), []);
}

#[test]
fn a_backup_between_two_seconds_is_counted_whole() {
    let directory = tempfile::tempdir().unwrap();
    let mut sampler = Sampler::new();
    sampler.watch(
        BACKUP,
        Watch::Backup {
            path: directory.path().into(),
        },
    );
    assert_eq!(sampler.sample_backup(BACKUP, Nanos::from_millis(1200)), []);
    fs::write(directory.path().join("base.tar"), vec![7; 3000]).unwrap();
    let [(subject, metric, sample)] = sampler
        .sample_backup(BACKUP, Nanos::from_millis(1700))
        .try_into()
        .unwrap();
    assert_eq!(
        (subject, metric, sample.over),
        (BACKUP, Metric::BackupWritten, Nanos::from_millis(500))
    );
    assert!((sample.value - 6000.0).abs() < 1.0, "{sample:?}");
    assert_eq!(
        sampler.sample_backup(SYSTEM, Nanos::SECOND),
        [],
        "no one else"
    );
}
