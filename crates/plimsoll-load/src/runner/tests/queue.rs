//! Intents that connections share: users with fewer connections than they are, rates that rise, and overload.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use plimsoll_record::hist::Hist;

use super::*;
use crate::runner::intents::IntentQueue;
use crate::runner::user::User;
use crate::workload::{Input, tpcc};

fn shared(users: u32, connections: u32) -> LoadShape {
    LoadShape::Closed { users, connections }
}

fn offered(second: &LaneSecond) -> u64 {
    second
        .tallies
        .iter()
        .map(|tally| tally.counts.offered)
        .sum()
}

/// The same users at a counter with as many clerks as connections, first come, first served: response times of all that
/// became due before the load's end.
fn model(spec: &LaneSpec, service: Nanos) -> Hist {
    let LoadShape::Closed { users, connections } = spec.load else {
        panic!()
    };
    let mut all: Vec<User> = (0..users).map(|number| User::new(spec, number)).collect();
    let mut due: BinaryHeap<_> = all
        .iter_mut()
        .map(|user| Reverse((user.next(spec).0, user.number)))
        .collect();
    let mut free: BinaryHeap<_> = (0..connections).map(|_| Reverse(Nanos::ZERO)).collect();
    let mut responses = Hist::new();
    while let Some(Reverse((at, number))) = due
        .pop()
        .filter(|Reverse((at, _))| *at < spec.timeline.load_end())
    {
        let Reverse(idle) = free.pop().unwrap();
        let end = idle.max(at) + service;
        responses.record(end - at);
        free.push(Reverse(end));
        due.push(Reverse((end + all[number as usize].next(spec).0, number)));
    }
    responses
}

#[test]
fn shared_connections_serve_in_the_order_of_due_times() {
    // Demand of about 95 a second at a capacity of 100: queues come and go.
    for (users, connections, ms, seed) in [
        (200, 5, 50, 7),
        (200, 1, 10, 8),
        (200, 32, 320, 9),
        (7, 6, 700, 10),
    ] {
        let mut spec = spec(latency(ms), shared(users, connections));
        spec.pacing = Pacing {
            keying: 0.1,
            think: 0.1,
        };
        spec.seed = u64::into(seed);
        let expected = model(&spec, Nanos::from_millis(ms));
        let lane = run(spec);
        lane.conserved();
        assert_eq!(
            (lane.all().counts.failed, lane.all().counts.dropped),
            (0, 0)
        );
        assert_eq!(
            lane.all().response,
            expected,
            "{users} users, {connections} connections"
        );
        assert_eq!(
            lane.all().service().max(),
            Some(Nanos::from_millis(ms)),
            "service has no waiting in it"
        );
        if connections == 5 {
            assert!(
                expected.max() > Some(Nanos::from_millis(100)),
                "some waited"
            );
        }
    }
}

#[test]
fn users_without_a_pause_wait_for_their_turn() {
    let lane = run(spec(latency(100), shared(50, 2)));
    lane.conserved();
    let measured = lane.measured();
    assert_eq!(measured.counts.completed(), 200);
    assert_eq!(measured.service().mean(), Some(Nanos::from_millis(100)));
    // After the first round: 50 users at 20 a second are 2.5 s of waiting and service (Little).
    let late = lane
        .seconds
        .iter()
        .filter(|second| second.tick.start >= Nanos::from_secs(4));
    let mut response = TransactionStats::default();
    late.for_each(|second| response.merge(&ended(second)));
    assert_eq!(response.response.max(), Some(Nanos::from_millis(2_500)));
    assert!(
        lane.seconds
            .iter()
            .take(11)
            .all(|second| second.in_flight == 50),
        "all wait or are served"
    );
    let mut short = spec(latency(100), shared(50, 2));
    short.timeline.cool = Nanos::SECOND;
    let lane = run(short);
    lane.conserved();
    let counts = lane.all().counts;
    assert_eq!(
        (counts.completed(), counts.failed),
        (260, 2),
        "12 s, a second of cooling; two were abandoned"
    );
    assert_eq!(
        counts.dropped,
        48 - 20 - 2,
        "who still waited when cooling ended; two came back too late to want more"
    );
}

#[test]
fn thousands_of_users_do_not_come_in_waves() {
    let mut spec = spec(latency(1), shared(3_000, 64));
    spec.pacing = Pacing {
        keying: 0.2,
        think: 0.2,
    };
    spec.timeline = Timeline {
        warm: Nanos::from_secs(8),
        measure: Nanos::from_secs(10),
        cool: Nanos::from_secs(5),
    };
    let lane = run(spec);
    lane.conserved();
    // A cycle is 1.93 s of keying and 2.27 s of thinking on average: 3,000 users want 714 a second.
    let rates: Vec<u64> = lane
        .seconds
        .iter()
        .filter(|s| s.tick.phase != PhaseKind::Cool)
        .map(offered)
        .collect();
    assert!(
        rates.iter().all(|rate| (600..870).contains(rate)),
        "{rates:?}"
    );
    let measured = lane.measured().counts.completed() as f64 / 10.0;
    assert!((measured / 714.0 - 1.0).abs() < 0.05, "{measured}");
    assert_eq!(
        lane.measured().response.max(),
        Some(Nanos::from_millis(1)),
        "64 connections are plenty"
    );
}

#[test]
fn shared_connections_have_one_course_for_a_seed() {
    let make = |seed| {
        let mut spec = spec(
            MockScript {
                jitter: Nanos::from_millis(40),
                ..latency(20)
            },
            shared(300, 4),
        );
        spec.pacing = Pacing {
            keying: 0.1,
            think: 0.1,
        };
        run(LaneSpec {
            seed: u64::into(seed),
            ..spec
        })
        .seconds
    };
    assert_eq!(make(3), make(3));
    assert_ne!(make(3), make(4));
}

#[test]
fn every_user_keeps_its_own_warehouse() {
    let mut spec = spec(latency(1), shared(20, 3));
    spec.workload = Workload::Tpcc(Tpcc {
        warehouses: 7,
        mode: TxnMode::Procedures,
        home: Home::Fixed,
    });
    let queue = IntentQueue::new(&spec, Nanos::SECOND).unwrap();
    for turn in 0..200 {
        let intent = queue.take(Nanos::ZERO).unwrap();
        let user = intent.user.unwrap();
        let Input::Tpcc(input) = intent.input else {
            panic!("TPC-C was asked for")
        };
        let warehouse = match input {
            tpcc::input::TpccInput::NewOrder(i) => i.warehouse,
            tpcc::input::TpccInput::Payment(i) => i.warehouse,
            tpcc::input::TpccInput::OrderStatus(i) => i.warehouse,
            tpcc::input::TpccInput::Delivery(i) => i.warehouse,
            tpcc::input::TpccInput::StockLevel(i) => i.warehouse,
        };
        assert_eq!(
            (user.number, warehouse),
            (turn % 20, 1 + (turn % 20 % 7) as i32)
        );
        queue.come_back(user, &spec, Nanos::from_micros(u64::from(turn)));
        queue.pump(Nanos::from_millis(1));
    }
}

/// With the deck's hundred bytes and the next input some 500 bytes for each user.
#[test]
fn a_user_is_small() {
    assert!(size_of::<User>() <= 200, "{}", size_of::<User>());
    assert!(size_of::<Input>() <= 64, "{}", size_of::<Input>());
}

#[test]
fn shared_connections_on_several_threads_lose_nothing() {
    let mut spec = spec(latency(1), shared(500, 40));
    spec.pacing = Pacing {
        keying: 0.001,
        think: 0.001,
    };
    let [warm, measure, cool] = [100, 400, 60_000].map(Nanos::from_millis);
    spec.timeline = Timeline {
        warm,
        measure,
        cool,
    };
    // Every user wants something at least once, however slow this machine is.
    let lane = run_on(Clock::real(), spec, &[]);
    assert_eq!(lane.end, LaneEnd::Complete);
    let counts = lane.all().counts;
    assert!(
        counts.completed() >= 500 && counts.offered == counts.settled(),
        "{counts:?}"
    );
    assert_eq!((counts.failed, counts.dropped), (0, 0));
    assert_eq!(
        (
            lane.seconds.last().map(|second| second.in_flight),
            lane.texts("conservation")
        ),
        (Some(0), vec![])
    );
}

#[test]
fn a_rising_rate_is_offered_exactly() {
    let load = |arrivals| LoadShape::Open {
        users: 64,
        per_second: 100.0,
        to_per_second: 200.0,
        arrivals,
        queue: 100,
    };
    let lane = run(spec(latency(10), load(Arrivals::Constant)));
    lane.conserved();
    let rates: Vec<u64> = lane
        .seconds
        .iter()
        .filter(|s| s.tick.phase != PhaseKind::Cool)
        .map(offered)
        .collect();
    assert_eq!(
        rates,
        [100, 100, 105, 115, 125, 135, 145, 155, 165, 175, 185, 195]
    );
    assert_eq!(lane.measured().response.max(), Some(Nanos::from_millis(10)));
    let lane = run(spec(latency(10), load(Arrivals::Poisson)));
    lane.conserved();
    let rates: Vec<u64> = lane
        .seconds
        .iter()
        .filter(|s| s.tick.phase == PhaseKind::Measure)
        .map(offered)
        .collect();
    let first: u64 = rates[..5].iter().sum();
    let last: u64 = rates[5..].iter().sum();
    assert!(
        (550..700).contains(&first) && (790..960).contains(&last),
        "625 and 875 expected: {rates:?}"
    );
}

/// One user at 10 ms carries 100 a second; 120 come. Intent k is due at k/120 s and starts at k·10 ms.
#[test]
fn a_fifth_more_than_the_capacity_piles_up_exactly() {
    let mut spec = spec(latency(10), open(120.0, 1, 100_000));
    spec.timeline.warm = Nanos::ZERO;
    let lane = run(spec.clone());
    lane.conserved();
    for (second, n) in lane.seconds.iter().take(10).zip(1u64..) {
        // What ends with the second counts in the next.
        assert_eq!(
            (offered(second), second.in_flight),
            (120, 120 * n - (100 * n - 1))
        );
        let counts = second
            .tallies
            .iter()
            .fold(Counts::default(), |mut sum, tally| {
                sum.add(&tally.counts);
                sum
            });
        assert_eq!(
            (counts.completed(), counts.failed, counts.dropped),
            (if n == 1 { 99 } else { 100 }, 0, 0)
        );
        let slowest = ended(second).response.max().unwrap();
        let k = (100 * n - 2) as f64;
        assert_eq!(
            slowest,
            Nanos::from_millis(100 * n * 10 - 10) - Nanos::from_secs_f64(k / 120.0),
            "second {n}"
        );
    }
    assert_eq!(
        (
            lane.measured().counts.offered,
            lane.measured().counts.completed()
        ),
        (1_200, 999)
    );
    assert_eq!(
        lane.measured().service().max(),
        Some(Nanos::from_millis(10))
    );
    let all = lane.all();
    assert_eq!(
        (
            all.counts.completed(),
            all.counts.dropped,
            all.counts.failed
        ),
        (1_200, 0, 0),
        "cooling is long enough"
    );
    assert_eq!(
        all.response.max(),
        Some(Nanos::from_secs(12) - Nanos::from_secs_f64(1_199.0 / 120.0))
    );
    spec.load = open(120.0, 1, 150);
    let lane = run(spec);
    lane.conserved();
    let all = lane.all().counts;
    // The queue is full when 150 wait and one is served; from then on what comes too much is dropped.
    assert_eq!((all.offered, all.completed() + all.dropped), (1_200, 1_200));
    assert_eq!(
        all.dropped,
        1_200 - 1_000 - 150,
        "served until 10 s, and what waits then"
    );
}
