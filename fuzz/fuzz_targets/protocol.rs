//! Any bytes as what one side of a worker's link sends: to the other side that the environment variable `SIDE` names
//! (`worker`, `controller`). They begin with a 0 where they are frames already; else each line is the body of one.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use plimsoll_load::clock::Clock;
use plimsoll_worker::fuzzing::{FuzzedSession, controller_bytes, stream, worker_bytes};

static IS_WORKER: LazyLock<bool> = LazyLock::new(|| match std::env::var("SIDE").as_deref() {
    Ok("worker") => true,
    Ok("controller") => false,
    other => panic!("SIDE is worker or controller, and not {other:?}"),
});

static SESSION: LazyLock<FuzzedSession> = LazyLock::new(|| {
    let dir = tempfile::tempdir().expect("a directory");
    FuzzedSession::in_dir(&dir.keep())
});

static CLOCK: LazyLock<Clock> = LazyLock::new(Clock::real);

fuzz_target!(|bytes: &[u8]| {
    let bytes = stream(bytes);
    match *IS_WORKER {
        true => controller_bytes(&SESSION, &bytes),
        false => worker_bytes(&CLOCK, &bytes),
    }
});
