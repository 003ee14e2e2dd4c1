//! Six hours of load in virtual time: what a lane holds does not grow with its length.
//!
//! The only test of its program, because it reads the memory of the process.

use plimsoll_load::clock::{Clock, VirtualClock};
use plimsoll_load::runner::run_lane;
use plimsoll_plan::load::{Arrivals, LoadShape, MockScript, Stall};
use plimsoll_plan::resolved::{Home, Pacing, Tpcc, TxnMode, Workload};
use plimsoll_plan::schedule::Timeline;
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::{
    Endpoint, GeneratorShare, LaneControl, LaneEnd, LaneMessage, LaneSpec,
};
use tokio::sync::{mpsc, watch};

/// A record of 40 bytes for each transaction would be more than a megabyte each hour.
const MAY_GROW: u64 = 2 << 20;

fn spec(load: LoadShape, hours: u64) -> LaneSpec {
    let every = |at: u64, step: u64, ms: u64| {
        let stretch = move |n| Stall {
            at: Nanos::from_secs(at + n * step),
            lasts: Nanos::from_millis(ms),
        };
        (0..hours * 3600 / step).map(stretch).collect()
    };
    let script = MockScript {
        latency: Nanos::from_millis(300),
        jitter: Nanos::from_millis(200),
        stalls: every(450, 900, 20_000),
        outages: every(900, 900, 10_000),
        fail_every: Some(50),
        retry_every: Some(20),
        ..MockScript::default()
    };
    LaneSpec {
        endpoint: Endpoint::Mock(script),
        workload: Workload::Tpcc(Tpcc {
            warehouses: 10,
            mode: TxnMode::Procedures,
            home: Home::Fixed,
        }),
        load,
        share: GeneratorShare::default(),
        timeline: Timeline {
            warm: Nanos::from_secs(60),
            measure: Nanos::from_secs(hours * 3600),
            cool: Nanos::from_secs(60),
        },
        pacing: Pacing {
            keying: 1.0,
            think: 1.0,
        },
        seed: 5.into(),
        round: 1,
        max_retries: 3,
        power_cut: false,
    }
}

/// Bytes of this process that are in memory.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * rustix::param::page_size() as u64
}

/// Settled intents, events, and the memory after each hour.
fn soak(load: LoadShape, hours: u64) -> (u64, usize, Vec<u64>) {
    let clock = Clock::Virtual(VirtualClock::default());
    let (out, mut messages) = mpsc::channel(16);
    let (_order, control) = watch::channel(LaneControl::Run);
    let (mut settled, mut events, mut memory, mut end) = (0, 0, Vec::new(), None);
    let listening = async {
        while let Some(message) = messages.recv().await {
            match message {
                LaneMessage::Second(second) => {
                    settled += second
                        .tallies
                        .iter()
                        .map(|tally| tally.counts.settled())
                        .sum::<u64>();
                    if second.tick.end.0 % Nanos::from_secs(3600).0 == 0 {
                        memory.push(resident());
                    }
                }
                LaneMessage::Event(event) => {
                    assert_ne!(event.kind.code(), "conservation", "{:?}", event.kind);
                    events += 1;
                }
                LaneMessage::Ended(how) => end = Some(how),
                LaneMessage::Started { .. } | LaneMessage::Acknowledged(_) => {}
            }
        }
    };
    clock
        .block_on(async {
            tokio::join!(
                run_lane(spec(load, hours), clock.clone(), control, out),
                listening
            )
        })
        .unwrap();
    assert_eq!(end, Some(LaneEnd::Complete));
    (settled, events, memory)
}

#[test]
fn six_hours_of_load_stay_within_the_memory_of_the_first() {
    let shared = LoadShape::Closed {
        users: 170,
        connections: 10,
    };
    let overloaded = LoadShape::Open {
        users: 4,
        per_second: 8.0,
        to_per_second: 12.0,
        arrivals: Arrivals::Poisson,
        queue: 500,
    };
    for (load, hours) in [(shared, 6), (overloaded, 3)] {
        let (settled, events, memory) = soak(load, hours);
        assert!(settled > hours * 3600 * 7, "{settled}");
        assert!(events < 60, "{events} events");
        assert!(
            memory[memory.len() - 1] < memory[0] + MAY_GROW,
            "{load:?}: grows from hour to hour: {memory:?}"
        );
    }
}
