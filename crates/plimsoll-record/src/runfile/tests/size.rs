//! How large a run file becomes.

use super::*;

/// 330 minutes of 12 systems at 2,400 transactions a second each, with every metric that each subject has, and sessions in
/// nine kinds of waits: the size is measured on a shorter stretch and scales with time, since rows of one second are
/// alike.
#[test]
fn a_long_run_of_twelve_systems_fits_in_150_mb() {
    const SECONDS: u64 = 120;
    const LONG: u64 = 330 * 60;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.plimsoll");
    let record = fixture::single_point();
    let file = RunFile::create(&path, &record.run, "", &RecordedPlan::Imported).unwrap();
    let point = &record.points[0];
    let subjects: Vec<SubjectId> = (0..12)
        .map(|i| {
            file.subject(SubjectKind::System, &format!("db{i}"))
                .unwrap()
        })
        .collect();
    let host = file.subject(SubjectKind::Host, "host").unwrap();
    file.point(point).unwrap();
    let phase = file
        .open_phase("long", Some(point), PhaseKind::Measure, Nanos::ZERO)
        .unwrap();
    let size = || std::fs::metadata(&path).unwrap().len();
    // Tables without rows, which do not grow with time.
    let empty = size();
    for s in 0..SECONDS {
        // The run lies late in the long one, where times take the most bytes.
        let start = Nanos::from_secs(LONG + s);
        for subject in &subjects {
            let second = busy_second(start, s * 31 + u64::from(subject.0));
            file.second(phase, *subject, Nanos::ZERO, &second).unwrap();
        }
        let sample = |i: usize| Sample {
            at: start,
            over: Nanos(1_000_123_456 + i as u64),
            value: i as f32 * 1.1,
        };
        // A SQL Server has its own in the place of PostgreSQL's and MariaDB's, which are all counted here, and SQLite fewer.
        let is_others = |metric: &Metric| {
            let source = metric.info().source;
            source.contains("SQL Server:") || source.starts_with("SQLite:")
        };
        let of = |kind: &'static str| {
            let is_of =
                move |metric: &&Metric| metric.info().name.starts_with(kind) && !is_others(metric);
            Metric::ALL.iter().filter(is_of).enumerate()
        };
        let of_systems = (subjects.iter()).flat_map(|subject| {
            of("system_").map(move |(i, metric)| (*subject, *metric, sample(i)))
        });
        let of_host = Metric::ALL
            .iter()
            .filter(|metric| !metric.is_of_member() && !is_others(metric))
            .enumerate()
            .map(|(i, metric)| (host, *metric, sample(i)));
        file.samples(&of_systems.chain(of_host).collect::<Vec<_>>())
            .unwrap();
        // A server is asked on a thread of its own, at a time of its own.
        for subject in &subjects {
            let counters = of("db_")
                .map(|(i, metric)| (*subject, *metric, counter(s, *metric, sample(i + 1))));
            file.samples(&counters.collect::<Vec<_>>()).unwrap();
            file.waits(&wait_second(*subject, start)).unwrap();
        }
        file.commit().unwrap();
    }
    file.finish(RunStatus::Complete, None, Nanos::from_secs(LONG))
        .unwrap();
    let whole = empty + (size() - empty) * LONG / SECONDS;
    assert!(whole < 150_000_000, "{whole}");
}

/// Rare outcomes are zero in most seconds.
fn counter(s: u64, metric: Metric, sample: Sample) -> Sample {
    let seldom = matches!(
        metric,
        Metric::DbCheckpoints
            | Metric::DbCheckpointTime
            | Metric::DbDeadlocks
            | Metric::DbTempBytes
            | Metric::DbVacuums
    );
    if seldom && !s.is_multiple_of(10) {
        Sample {
            value: 0.0,
            ..sample
        }
    } else {
        sample
    }
}

fn wait_second(subject: SubjectId, start: Nanos) -> Vec<WaitRow> {
    let row = |(i, state): (usize, WaitState)| {
        let (event, sessions) = (format!("an event of {}", state.name()), 37 * i as u32);
        WaitRow {
            subject,
            start,
            end: start + Nanos::SECOND,
            state,
            event,
            sessions,
            samples: 10,
        }
    };
    WaitState::ALL
        .iter()
        .copied()
        .enumerate()
        .map(row)
        .collect()
}

/// A second of the TPC-C mix at 2,400 transactions with log-normally distributed latencies.
pub(super) fn busy_second(start: Nanos, seed: u64) -> LaneSecond {
    busy(start, [1_080, 1_032, 96, 96, 96], seed)
}

pub(super) fn busy(start: Nanos, transactions: [u64; 5], seed: u64) -> LaneSecond {
    let tallies = transactions.map(|n| {
        let mut tally = TransactionStats::default();
        (
            tally.counts.offered,
            tally.counts.committed,
            tally.counts.round_trips,
        ) = (n, n, n);
        for i in 0..n {
            // A sum of twelve uniform draws is near enough to normal.
            let normal: f64 = (0..12).map(|k| hash(seed, i * 12 + k)).sum::<f64>() - 6.0;
            let latency = Nanos::from_secs_f64(0.004 * (normal * 0.6).exp());
            tally.record(latency, latency);
        }
        tally
    });
    let tick = Tick {
        start,
        end: start + Nanos::SECOND,
        phase: PhaseKind::Measure,
    };
    LaneSecond::new(tick, 32, tallies.into())
}

/// In 0..1.
pub(super) fn hash(seed: u64, i: u64) -> f64 {
    let x = (seed ^ i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((x ^ (x >> 31)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 11) as f64 / (1u64 << 53) as f64
}
