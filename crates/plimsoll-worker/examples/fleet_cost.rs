//! What many workers cost their controller: each drives a thousand thinking users under the virtual clock; their seconds
//! are encoded, decoded and added up as those of hosts are.
//!
//! `cargo run --release -p plimsoll-worker --example fleet_cost -- WORKERS SECONDS`

use std::time::Instant;

use futures_util::future::join_all;
use plimsoll_load::clock::{Clock, VirtualClock};
use plimsoll_load::runner::run_lane;
use plimsoll_plan::load::{LoadShape, MockScript};
use plimsoll_plan::resolved::{Home, Pacing, Tpcc, TxnMode, Workload};
use plimsoll_plan::schedule::Timeline;
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::{
    Endpoint, GeneratorShare, LaneControl, LaneMessage, LaneSecond, LaneSpec,
};
use plimsoll_worker::fleet::SecondMerger;
use plimsoll_worker::protocol::{JobId, WorkerReply, WorkerReport};
use tokio::sync::{mpsc, watch};

const USERS_EACH: u32 = 1_000;

fn spec(workers: u32, index: u32, seconds: u64) -> LaneSpec {
    LaneSpec {
        endpoint: Endpoint::Mock(MockScript {
            latency: Nanos::from_millis(5),
            ..MockScript::default()
        }),
        workload: Workload::Tpcc(Tpcc {
            warehouses: workers * 100,
            mode: TxnMode::Procedures,
            home: Home::Fixed,
        }),
        load: LoadShape::Closed {
            users: workers * USERS_EACH,
            connections: workers * 32,
        },
        share: GeneratorShare { index, of: workers },
        timeline: Timeline {
            warm: Nanos::ZERO,
            measure: Nanos::from_secs(seconds),
            cool: Nanos::SECOND,
        },
        // As the specification has it: a cycle of some 20 s.
        pacing: Pacing {
            keying: 1.0,
            think: 1.0,
        },
        seed: 7.into(),
        round: 1,
        max_retries: 0,
        power_cut: false,
    }
}

/// What the controller does with the seconds of all workers.
struct Controller {
    merger: SecondMerger,
    bytes: u64,
    decoding: f64,
    merging: f64,
    seconds: u64,
    transactions: u64,
}

impl Controller {
    fn take(&mut self, worker: usize, second: LaneSecond) {
        let sent = WorkerReply::Numbered {
            number: 0,
            report: WorkerReport::Lane {
                job: JobId(1),
                message: LaneMessage::Second(Box::new(second)),
            },
        };
        let frame = serde_json::to_vec(&sent).expect("a reply is JSON");
        self.bytes += frame.len() as u64;
        let began = Instant::now();
        let received: WorkerReply = serde_json::from_slice(&frame).expect("its own JSON");
        let decoded = Instant::now();
        if let WorkerReply::Numbered {
            report:
                WorkerReport::Lane {
                    message: LaneMessage::Second(second),
                    ..
                },
            ..
        } = received
        {
            for second in self.merger.add(worker, *second) {
                let tallies = second.tallies.iter();
                self.transactions += tallies.map(|tally| tally.counts.completed()).sum::<u64>();
            }
        }
        self.decoding += (decoded - began).as_secs_f64();
        self.merging += decoded.elapsed().as_secs_f64();
        self.seconds += 1;
    }
}

fn main() {
    let mut words = std::env::args().skip(1);
    let mut number = || words.next().and_then(|word| word.parse::<u32>().ok());
    let workers = number().unwrap_or(1_000);
    let seconds = u64::from(number().unwrap_or(20));
    let clock = Clock::Virtual(VirtualClock::default());
    let orders = watch::channel(LaneControl::Run).0;
    let (out, mut messages) = mpsc::channel(workers as usize * 4);
    let lanes = (0..workers).map(|index| {
        let (own, mut from) = mpsc::channel(16);
        let out = out.clone();
        let lane = run_lane(
            spec(workers, index, seconds),
            clock.clone(),
            orders.subscribe(),
            own,
        );
        let forward = async move {
            while let Some(message) = from.recv().await {
                if let LaneMessage::Second(second) = message {
                    // The receiver lives as long as the lanes.
                    let _ = out.send((index as usize, *second)).await;
                }
            }
        };
        async { tokio::join!(lane, forward) }
    });
    let lanes = join_all(lanes);
    drop(out);
    let mut controller = Controller {
        merger: SecondMerger::new(workers as usize),
        bytes: 0,
        decoding: 0.0,
        merging: 0.0,
        seconds: 0,
        transactions: 0,
    };
    let began = Instant::now();
    let control = async {
        while let Some((worker, second)) = messages.recv().await {
            controller.take(worker, second);
        }
    };
    clock
        .block_on(async { tokio::join!(lanes, control) })
        .expect("a runtime");
    let all = began.elapsed().as_secs_f64();
    let each = 1e6 / controller.seconds as f64;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let most = status.lines().find(|line| line.starts_with("VmHWM"));
    println!(
        "{workers} workers, {} users, {seconds} s of virtual time in {all:.1} s: {} transactions in complete seconds",
        u64::from(workers) * u64::from(USERS_EACH),
        controller.transactions
    );
    println!(
        "controller, for each worker and second: {:.0} bytes, {:.0} µs to decode, {:.0} µs to add up",
        controller.bytes as f64 / controller.seconds as f64,
        controller.decoding * each,
        controller.merging * each
    );
    println!(
        "memory of all, workers and users included: {}",
        most.unwrap_or("?")
    );
}
