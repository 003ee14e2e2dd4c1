//! Writes made-up run files into a directory: `many_runs DIR COUNT`. They differ in id, time, host, drive, engine, rate and
//! latency. It measures how long plimsoll takes to list and export many runs, and nothing about a drive.

use std::error::Error;
use std::path::Path;

use plimsoll_plan::RecordedPlan;
use plimsoll_plan::resolved::SystemKind;
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::{CoarseHist, Hist};
use plimsoll_record::runfile::RunFile;
use plimsoll_record::{Fact, Record, RunStatus, Second, Window, fixture};

const DRIVES: [&str; 4] = [
    "Example Disk 2 TB (7200 rpm)",
    "Example SATA 2 TB",
    "Example NVMe 1 TB",
    "Example Volume",
];
const PROCESSORS: [&str; 3] = ["Example 9000", "Example 7000", "Example 5000"];
/// Different rates of which there are runs, in percent.
const RATES: std::ops::Range<u32> = 80..121;
/// The share of runs before rates drop.
const DROP_AFTER: f64 = 0.6;
const DROP_PERCENT: u32 = 8;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [dir, count] = words.as_slice() else {
        return Err("usage: many_runs DIR COUNT".into());
    };
    let count: u32 = count.parse()?;
    std::fs::create_dir_all(dir)?;
    let bases: Vec<Record> = (RATES.start - DROP_PERCENT..RATES.end)
        .map(with_rate)
        .collect();
    for number in 0..count {
        let has_dropped = f64::from(number) > f64::from(count) * DROP_AFTER;
        let above = number * 17 % RATES.len() as u32;
        let base = above + if has_dropped { 0 } else { DROP_PERCENT };
        let record = varied(bases[base as usize].clone(), number);
        let path = Path::new(dir).join(format!("run-{number:06}.plimsoll"));
        RunFile::of_record(&path, &record)?.finish(record.run.status, None, record.run.lasted)?;
    }
    Ok(())
}

/// The fixture without its faults, at this share of its rate.
fn with_rate(percent: u32) -> Record {
    let factor = f64::from(percent) / 100.0;
    let mut record = fixture::record();
    record
        .checks
        .iter_mut()
        .for_each(|check| check.holds = true);
    record.events.clear();
    record.drive.clear();
    record
        .phases
        .iter_mut()
        .for_each(|phase| phase.complete = true);
    record.seconds.edit(|seconds| {
        for second in seconds.iter_mut() {
            scale_second(second, factor);
        }
        for window in &mut record.windows {
            sum_up(window, seconds);
        }
    });
    record
}

/// Fewer transactions, each of which takes longer.
fn scale_second(second: &mut Second, factor: f64) {
    let before = second.counts.completed();
    // While the last transactions finish, none is offered: they are as many as before.
    if second.counts.offered < before {
        return;
    }
    second.counts.committed = scaled(second.counts.committed, factor);
    let after = second.counts.completed();
    second.counts.offered = second.counts.offered.saturating_sub(before) + after;
    second.response = CoarseHist::of(times(&second.response, after, factor));
    let service = second.service.as_ref();
    second.service = service.map(|service| CoarseHist::of(times(service, after, factor)));
}

fn scaled(count: u64, factor: f64) -> u64 {
    (count as f64 * factor) as u64
}

fn times(hist: &CoarseHist, count: u64, factor: f64) -> Vec<Nanos> {
    let quantile = |place: u64| hist.quantile((place as f64 + 0.5) / count as f64);
    let times = (0..count).filter_map(quantile);
    times
        .map(|time| Nanos(scaled(time.0, 1.0 / factor)))
        .collect()
}

/// What the seconds of its phase add up to.
fn sum_up(window: &mut Window, seconds: &[Second]) {
    let own = seconds.iter().filter(|second| {
        (second.phase, second.subject, second.txn) == (window.phase, window.subject, window.txn)
    });
    window.response = Hist::new();
    window.service = window.service.as_ref().map(|_| Hist::new());
    for second in own {
        window.response.merge(&second.response.to_hist());
        if let (Some(sum), Some(own)) = (&mut window.service, &second.service) {
            sum.merge(&own.to_hist());
        }
    }
}

/// Of its own id, time, host, drive and engine.
fn varied(mut record: Record, number: u32) -> Record {
    let (day, hour) = (number / 24, number % 24);
    let (month, day) = (day / 28, day % 28);
    let (year, month) = (2026 + month / 12, month % 12);
    record.run.id = format!("example-{number:06}");
    record.run.started_at = format!("{year}-{:02}-{:02}T{hour:02}:00:00Z", month + 1, day + 1);
    record.run.title = format!("Nightly {}", number % 5);
    record.run.status = if number.is_multiple_of(50) {
        RunStatus::Interrupted
    } else {
        RunStatus::Complete
    };
    record.run.failure = None;
    set_fact(
        &mut record.facts,
        "drive_title",
        DRIVES[number as usize / 2 % 4],
    );
    set_fact(
        &mut record.facts,
        "cpu_model",
        PROCESSORS[number as usize / 8 % 3],
    );
    if number % 2 == 1 {
        record.plan = on_sqlite(&record.plan);
        record.facts.retain(|fact| fact.key != "version");
    }
    record
}

fn set_fact(facts: &mut [Fact], key: &str, value: &str) {
    let own = facts.iter_mut().filter(|fact| fact.key == key);
    own.for_each(|fact| value.clone_into(&mut fact.value));
}

fn on_sqlite(plan: &RecordedPlan) -> RecordedPlan {
    let Some(plan) = plan.resolved() else {
        return plan.clone();
    };
    let mut plan = plan.clone();
    for system in &mut plan.systems {
        system.kind = SystemKind::Sqlite {
            settings: Default::default(),
        };
    }
    RecordedPlan::Resolved(Box::new(plan))
}
