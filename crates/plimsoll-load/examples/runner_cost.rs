//! What a transaction costs the runner: `cargo run --release --example runner_cost -- USERS CONNECTIONS [SECONDS]`.
//!
//! Users with a hundredth of TPC-C's keying and think times against a mock engine of 1 ms; prints CPU time per transaction
//! and the memory at the end.

#![allow(clippy::print_stdout)]

use plimsoll_load::clock::Clock;
use plimsoll_load::runner::run_lane;
use plimsoll_plan::load::{LoadShape, MockScript};
use plimsoll_plan::resolved::{Home, Pacing, Tpcc, TxnMode, Workload};
use plimsoll_plan::schedule::{PhaseKind, Timeline};
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::{
    Endpoint, GeneratorShare, LaneControl, LaneMessage, LaneSpec, TransactionStats,
};
use tokio::sync::{mpsc, watch};

fn spec(users: u32, connections: u32, seconds: u64) -> LaneSpec {
    // The offered rate stays the same whatever the number of users: 7,100 a second.
    let pacing = f64::from(users) / 150_000.0;
    LaneSpec {
        endpoint: Endpoint::Mock(MockScript {
            latency: Nanos::from_millis(1),
            ..MockScript::default()
        }),
        workload: Workload::Tpcc(Tpcc {
            warehouses: 10,
            mode: TxnMode::Procedures,
            home: Home::Fixed,
        }),
        load: LoadShape::Closed { users, connections },
        share: GeneratorShare::default(),
        timeline: Timeline {
            warm: Nanos::SECOND,
            measure: Nanos::from_secs(seconds),
            cool: Nanos::from_secs(10),
        },
        pacing: Pacing {
            keying: pacing,
            think: pacing,
        },
        seed: 1.into(),
        round: 1,
        max_retries: 0,
        power_cut: false,
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<u32>());
    let mut next = |default| numbers.next().unwrap_or(Ok(default));
    let (users, connections, seconds) = (next(15_000)?, next(64)?, next(10)?);
    let clock = Clock::real();
    let (out, mut messages) = mpsc::channel(16);
    let (_order, control) = watch::channel(LaneControl::Run);
    let mut all = TransactionStats::default();
    let mut cpu = (Nanos::ZERO, Nanos::ZERO);
    let listening = async {
        while let Some(message) = messages.recv().await {
            let LaneMessage::Second(second) = message else {
                continue;
            };
            match second.tick.phase {
                PhaseKind::Warm => cpu.0 = cpu_time(),
                PhaseKind::Measure => {
                    cpu.1 = cpu_time();
                    second.tallies.iter().for_each(|tally| all.merge(tally));
                }
                _ => {}
            }
        }
    };
    let lane = run_lane(
        spec(users, connections, seconds.into()),
        clock.clone(),
        control,
        out,
    );
    clock.block_on(async { tokio::join!(lane, listening) })?;
    let n = all.counts.completed();
    let per_txn = (cpu.1 - cpu.0).as_micros_f64() / n as f64;
    let p99 = all.response.quantile(0.99).unwrap_or_default();
    println!(
        "{users} users, {connections} connections: {n} transactions, {per_txn:.1} us of CPU each, response p99 {p99}, {}",
        memory()?
    );
    Ok(())
}

fn cpu_time() -> Nanos {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Nanos(time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs())
}

fn memory() -> std::io::Result<String> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    Ok(status
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .unwrap_or_default()
        .to_owned())
}
