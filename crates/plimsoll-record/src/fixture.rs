//! A made-up record for tests of everything that reads records: every kind of row is in it, and no two values that
//! could be mistaken for one another are equal.
//!
//! Step `ladder` runs 1, 4 and 16 users on the media `fast` and `slow`; step `open` offers three rates on `fast`. One
//! consistency condition fails on `slow`, one connection is lost, and the last point was interrupted. `slow` is an
//! emulated drive (see [`drive`]).

mod backup;
mod base;
mod block;
mod build;
mod database;
mod drive;
mod metrics;
mod search;

pub use backup::backup;
pub use base::plan;
pub use block::block;
pub use search::search;

use std::sync::LazyLock;

use base::{DB_FAST, DB_SLOW, FAST, SLOW, empty};
use build::Build;

use crate::{PhaseId, Record, RunStatus, Severity};
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;

/// The fixture with a measure phase of ten seconds.
pub fn record() -> Record {
    // Building it takes longer than copying it, and every test wants one.
    static BUILT: LazyLock<Record> = LazyLock::new(|| lasting(10));
    BUILT.clone()
}

/// The fixture with a measure phase of `measure_s` seconds (at least 2).
pub fn lasting(measure_s: u64) -> Record {
    let mut build = Build {
        record: empty(),
        now: Nanos::ZERO,
        draws: 0,
    };
    build.phase(None, "ladder", PhaseKind::Prepare, 3, true);
    for (medium, system) in [(FAST, DB_FAST), (SLOW, DB_SLOW)] {
        for (ordinal, users) in [1, 4, 16].into_iter().enumerate() {
            build.point(
                ("ladder", 0),
                ordinal as u32,
                (medium, system),
                users,
                None,
                measure_s,
            );
        }
    }
    build.phase(None, "open", PhaseKind::Prepare, 2, true);
    for (ordinal, rate) in [50.0, 150.0, 450.0].into_iter().enumerate() {
        build.point(
            ("open", 1),
            ordinal as u32,
            (FAST, DB_FAST),
            31,
            Some(rate),
            measure_s,
        );
    }
    build.interrupt();
    build.series();
    build.events();
    build.drive();
    build.drive_events();
    build.waits();
    build.record
}

/// Interrupted in the first warm-up: nothing was measured.
pub fn nothing_measured() -> Record {
    let mut record = single_point();
    let last = PhaseId(2);
    record.phases.retain(|phase| phase.id <= last);
    record
        .phases
        .iter_mut()
        .for_each(|phase| phase.complete = phase.kind != PhaseKind::Warm);
    record.seconds.retain_ticks(|tick| tick.phase <= last);
    record.windows.retain(|window| window.phase <= last);
    record.checks.clear();
    record.run.status = RunStatus::Interrupted;
    record.run.lasted = record
        .phases
        .iter()
        .map(|phase| phase.end)
        .max()
        .unwrap_or_default();
    let end = record.run.lasted;
    record.events.retain(|event| event.at <= end);
    record
        .series
        .iter_mut()
        .for_each(|series| series.samples.retain(|sample| sample.at <= end));
    record
}

/// Complete, with one point only.
pub fn single_point() -> Record {
    static BUILT: LazyLock<Record> = LazyLock::new(build_single_point);
    BUILT.clone()
}

fn build_single_point() -> Record {
    let mut build = Build {
        record: empty(),
        now: Nanos::ZERO,
        draws: 0,
    };
    build.phase(None, "ladder", PhaseKind::Prepare, 3, true);
    build.point(("ladder", 0), 0, (FAST, DB_FAST), 1, None, 10);
    (build.record.run.status, build.record.run.failure) = (RunStatus::Complete, None);
    build.record.run.lasted = build.now;
    build.series();
    build.events();
    let end = build.now;
    build
        .record
        .events
        .retain(|event| event.at <= end && event.severity == Severity::Note);
    build.record
}
