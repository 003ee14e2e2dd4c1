//! The runner under the virtual clock: everything here is exact and takes no time.

mod due;
mod outage;
mod queue;

use plimsoll_plan::load::{Arrivals, LoadShape, MockScript, Stall};
use plimsoll_plan::resolved::{Home, Pacing, Tpcc, TxnMode, Workload};
use plimsoll_plan::schedule::{PhaseKind, Timeline};
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::{
    Counts, Endpoint, GeneratorShare, LaneControl, LaneEnd, LaneEvent, LaneMessage, LaneSecond,
    LaneSpec, TransactionStats,
};
use plimsoll_record::receipt::CommitCounts;
use proptest::prelude::*;
use tokio::sync::{mpsc, watch};

use super::run_lane;
use crate::clock::{Clock, VirtualClock};

fn spec(script: MockScript, load: LoadShape) -> LaneSpec {
    LaneSpec {
        endpoint: Endpoint::Mock(script),
        workload: Workload::Tpcc(Tpcc {
            warehouses: 2,
            mode: TxnMode::Procedures,
            home: Home::Fixed,
        }),
        load,
        share: GeneratorShare::default(),
        timeline: Timeline {
            warm: Nanos::from_secs(2),
            measure: Nanos::from_secs(10),
            cool: Nanos::from_secs(5),
        },
        pacing: Pacing::default(),
        seed: 7.into(),
        round: 1,
        max_retries: 3,
        power_cut: false,
    }
}

fn open(per_second: f64, users: u32, queue: u32) -> LoadShape {
    LoadShape::Open {
        users,
        per_second,
        to_per_second: per_second,
        arrivals: Arrivals::Constant,
        queue,
    }
}

/// The messages of a lane.
struct LaneRun {
    seconds: Vec<LaneSecond>,
    events: Vec<LaneEvent>,
    acknowledged: CommitCounts,
    end: LaneEnd,
}

impl LaneRun {
    fn all(&self) -> TransactionStats {
        self.merged(|_| true)
    }

    /// Counts are of what ended in the window, times of what was due in it.
    fn measured(&self) -> TransactionStats {
        self.merged(|phase| phase == PhaseKind::Measure)
    }

    fn measured_time(&self) -> Nanos {
        let measured = self
            .seconds
            .iter()
            .map(|second| second.tick)
            .filter(|tick| tick.phase == PhaseKind::Measure);
        measured.map(|tick| tick.end - tick.start).sum()
    }

    fn merged(&self, keep: impl Fn(PhaseKind) -> bool) -> TransactionStats {
        let mut sum = TransactionStats::default();
        let here = self.seconds.iter();
        here.filter(|second| keep(second.tick.phase))
            .flat_map(|second| &second.tallies)
            .for_each(|tally| sum.merge(tally));
        let earlier = self.seconds.iter().flat_map(|second| &second.earlier);
        earlier
            .filter(|late| keep(late.place.phase))
            .flat_map(|late| &late.tallies)
            .for_each(|tally| sum.merge(tally));
        sum
    }

    /// The arguments of the events with this code, as JSON.
    fn texts(&self, code: &str) -> Vec<String> {
        self.events
            .iter()
            .filter(|event| event.kind.code() == code)
            .map(|event| event.kind.args())
            .collect()
    }

    fn conserved(&self) {
        if self.end == LaneEnd::Complete {
            assert_eq!(
                self.measured_time(),
                Nanos::from_secs(10),
                "a complete window is measured to its end"
            );
        }
        let Counts { offered, .. } = self.all().counts;
        assert_eq!(offered, self.all().counts.settled());
        assert_eq!(self.seconds.last().map(|second| second.in_flight), Some(0));
        assert_eq!(self.texts("conservation"), [""; 0]);
        let mut due = 0;
        let mut settled = 0;
        for second in &self.seconds {
            due += second
                .tallies
                .iter()
                .map(|tally| tally.counts.offered)
                .sum::<u64>();
            settled += second
                .tallies
                .iter()
                .map(|tally| tally.counts.settled())
                .sum::<u64>();
            assert_eq!(
                due - settled,
                second.in_flight,
                "at the end of {:?}",
                second.tick
            );
        }
    }
}

/// What ended in a second, whenever it was due.
fn ended(second: &LaneSecond) -> TransactionStats {
    let earlier = second.earlier.iter().flat_map(|late| &late.tallies);
    let mut sum = TransactionStats::default();
    second
        .tallies
        .iter()
        .chain(earlier)
        .for_each(|tally| sum.merge(tally));
    sum
}

fn run(spec: LaneSpec) -> LaneRun {
    run_ordered(spec, &[])
}

/// Runs a lane in virtual time and gives it orders at these times.
fn run_ordered(spec: LaneSpec, orders: &[(Nanos, LaneControl)]) -> LaneRun {
    run_on(Clock::Virtual(VirtualClock::default()), spec, orders)
}

fn run_on(clock: Clock, spec: LaneSpec, orders: &[(Nanos, LaneControl)]) -> LaneRun {
    let (out, mut messages) = mpsc::channel(1024);
    let (order, control) = watch::channel(LaneControl::Run);
    let mut result = LaneRun {
        seconds: Vec::new(),
        events: Vec::new(),
        acknowledged: CommitCounts::default(),
        end: LaneEnd::Complete,
    };
    clock
        .block_on(async {
            let lane = run_lane(spec, clock.clone(), control, out);
            let giving = async {
                for (at, what) in orders {
                    clock.sleep_until(*at).await;
                    order.send_replace(*what);
                }
            };
            let listening = async {
                while let Some(message) = messages.recv().await {
                    match message {
                        LaneMessage::Started { .. } => {}
                        LaneMessage::Second(second) => result.seconds.push(*second),
                        LaneMessage::Event(event) => result.events.push(event),
                        LaneMessage::Acknowledged(ledger) => result.acknowledged = ledger,
                        LaneMessage::Ended(end) => result.end = end,
                    }
                }
            };
            tokio::join!(lane, giving, listening);
        })
        .unwrap();
    result
}

fn latency(ms: u64) -> MockScript {
    MockScript {
        latency: Nanos::from_millis(ms),
        ..MockScript::default()
    }
}

#[test]
fn a_closed_loop_obeys_little_exactly() {
    let lane = run(spec(latency(10), LoadShape::closed(4)));
    lane.conserved();
    assert_eq!(lane.end, LaneEnd::Complete);
    // 4 users, 10 ms each: 400 a second, in every second of the window.
    for second in lane
        .seconds
        .iter()
        .filter(|second| second.tick.phase == PhaseKind::Measure)
    {
        assert_eq!(
            second
                .tallies
                .iter()
                .map(|tally| tally.counts.completed())
                .sum::<u64>(),
            400
        );
    }
    let measured = lane.measured();
    assert_eq!(measured.counts.completed(), 4_000);
    assert!(
        measured.differing_service().is_none(),
        "in a closed loop due = start"
    );
    assert_eq!(measured.response.mean(), Some(Nanos::from_millis(10)));
}

#[test]
fn a_stall_shows_in_response_and_not_in_service() {
    let stall = Stall {
        at: Nanos::from_secs(5),
        lasts: Nanos::from_secs(2),
    };
    let script = MockScript {
        stalls: vec![stall],
        ..latency(1)
    };
    let lane = run(spec(script, open(100.0, 64, 100_000)));
    lane.conserved();
    let measured = lane.measured();
    assert_eq!(
        measured.counts.offered, 1_000,
        "the system's stall does not slow the offered rate"
    );
    // 200 of 1,000 intents become due during the stall and wait for up to its whole length. Of the 64 that are under
    // way when it begins or start in it, each sees it in its service time; the others only wait for a user.
    let p = |hist: &plimsoll_record::hist::Hist, q| hist.quantile(q).unwrap().as_millis_f64();
    assert!(
        p(&measured.response, 0.99) > 1_800.0,
        "{}",
        p(&measured.response, 0.99)
    );
    let lane = run(spec(
        MockScript {
            stalls: vec![stall],
            ..latency(1)
        },
        open(100.0, 1, 100_000),
    ));
    let measured = lane.measured();
    assert!(
        p(&measured.response, 0.99) > 1_800.0,
        "{}",
        p(&measured.response, 0.99)
    );
    assert_eq!(
        p(measured.service(), 0.99).round(),
        1.0,
        "one of 1,000 meets the stall in service"
    );
    assert!(measured.service().max().unwrap() >= Nanos::from_secs(2));
}

/// A server that answers nothing for the second half of the window, and loses no connection, as behind a broken network.
#[test]
fn what_an_unreachable_server_leaves_unanswered_is_counted() {
    for seed in [1, 7, 42, 2026] {
        let script = MockScript {
            stalls: vec![Stall {
                at: Nanos::from_secs(7),
                lasts: Nanos::from_secs(3_600),
            }],
            ..latency(5)
        };
        let spec = LaneSpec {
            seed: seed.into(),
            ..spec(script, open(100.0, 8, 10_000))
        };
        let order = |at, order| (Nanos::from_secs(at), order);
        let orders = [order(18, LaneControl::Stop)];
        let run = run_ordered(spec, &orders);
        run.conserved();
        let Counts {
            offered, failed, ..
        } = run.measured().counts;
        let unanswered = offered - run.measured().counts.settled();
        assert_eq!((offered, failed), (1_000, 0), "seed {seed}");
        assert!(
            (490..=500).contains(&unanswered),
            "seed {seed}: {unanswered}"
        );
        let Counts {
            failed, dropped, ..
        } = run.all().counts;
        assert_eq!((failed, failed + dropped), (8, unanswered), "seed {seed}");
    }
}

#[test]
fn constant_arrivals_are_due_at_exact_times() {
    let lane = run(spec(latency(1), open(250.0, 8, 10)));
    lane.conserved();
    for second in lane
        .seconds
        .iter()
        .filter(|second| second.tick.phase != PhaseKind::Cool)
    {
        assert_eq!(
            second
                .tallies
                .iter()
                .map(|tally| tally.counts.offered)
                .sum::<u64>(),
            250
        );
    }
    assert_eq!(
        lane.all().response.max(),
        Some(Nanos::from_millis(1)),
        "no wait below capacity"
    );
}

#[test]
fn overload_drops_what_the_queue_cannot_hold_and_counts_it() {
    // One user, 10 ms: capacity 100/s at an offered 200/s, and room for 50.
    let lane = run(spec(latency(10), open(200.0, 1, 50)));
    lane.conserved();
    let measured = lane.measured().counts;
    assert_eq!((measured.offered, measured.completed()), (2_000, 1_000));
    assert_eq!(measured.dropped, 1_000);
    assert_eq!(lane.all().counts.offered, 2_400);
    assert_eq!(
        lane.all().counts.dropped,
        2_400 - lane.all().counts.completed()
    );
}

#[test]
fn what_still_waits_when_cooling_ends_is_dropped() {
    let mut spec = spec(latency(10), open(200.0, 1, 100_000));
    spec.timeline.cool = Nanos::from_secs(1);
    let lane = run(spec);
    lane.conserved();
    assert_eq!(lane.all().counts.offered, 2_400);
    // 12 s of load, one of cooling and the last tick's grace at 100/s; the one under way at the end is abandoned.
    let counts = lane.all().counts;
    assert_eq!(
        (counts.completed(), counts.failed),
        (1_301, 1),
        "{counts:?}"
    );
    assert_eq!(counts.dropped, 2_400 - 1_302);
}

#[test]
fn retries_are_counted_apart_and_bounded() {
    let lane = run(spec(
        MockScript {
            retry_every: Some(5),
            ..latency(10)
        },
        LoadShape::closed(1),
    ));
    lane.conserved();
    let counts = lane.all().counts;
    assert_eq!(counts.failed, 0);
    assert_eq!(counts.retries, counts.completed() / 5);
    assert_eq!(counts.round_trips, counts.completed() + counts.retries);
    let mut spec = spec(
        MockScript {
            retry_every: Some(5),
            ..latency(10)
        },
        LoadShape::closed(1),
    );
    spec.max_retries = 0;
    let lane = run(spec);
    lane.conserved();
    assert!(lane.all().counts.failed > 0 && lane.all().counts.retries == 0);
    assert!(!lane.texts("retries_exhausted").is_empty());
}

#[test]
fn failures_are_counted_reported_and_kept_out_of_latency() {
    let lane = run(spec(
        MockScript {
            fail_every: Some(4),
            ..latency(10)
        },
        LoadShape::closed(2),
    ));
    lane.conserved();
    let all = lane.all();
    assert_eq!(all.counts.failed, all.counts.offered / 4);
    assert_eq!(all.response.count(), all.counts.completed());
    let texts = lane.texts("failed");
    assert_eq!(texts.len(), 5, "not thousands");
    let more = format!(r#"{{"event":"failed","events":{}}}"#, all.counts.failed - 5);
    assert_eq!(lane.texts("more_events"), [more]);
}

#[test]
fn a_hopeless_system_ends_the_lane_with_its_own_words() {
    let lane = run(spec(
        MockScript {
            fail_every: Some(1),
            ..latency(1)
        },
        LoadShape::closed(2),
    ));
    lane.conserved();
    assert!(
        matches!(&lane.end, LaneEnd::Failed(why) if why.contains("the script fails")),
        "{:?}",
        lane.end
    );
}

#[test]
fn one_order_closes_the_phase_and_keeps_everything() {
    let at = Nanos::from_millis(5_505);
    let lane = run_ordered(
        spec(latency(10), LoadShape::closed(4)),
        &[(at, LaneControl::Close)],
    );
    lane.conserved();
    assert_eq!(lane.end, LaneEnd::Closed);
    assert_eq!(lane.measured_time(), Nanos::from_millis(3_505));
    assert_eq!(
        lane.all().counts.failed,
        0,
        "what was under way was finished"
    );
    assert_eq!(
        lane.all().counts.completed(),
        4 * 551,
        "550 each, and one that was under way"
    );
}

#[test]
fn a_second_order_stops_at_once_and_counts_what_was_under_way() {
    let script = latency(3_000);
    let orders = [
        (Nanos::from_millis(5_500), LaneControl::Close),
        (Nanos::from_millis(5_600), LaneControl::Stop),
    ];
    let lane = run_ordered(spec(script, LoadShape::closed(4)), &orders);
    lane.conserved();
    assert_eq!(lane.end, LaneEnd::Stopped);
    assert_eq!(
        (lane.all().counts.completed(), lane.all().counts.failed),
        (4, 4)
    );
    assert!(lane.seconds.last().unwrap().tick.end < Nanos::from_millis(5_700));
}

#[test]
fn commits_before_the_power_failed_are_counted_by_place() {
    let load = LoadShape::closed(4);
    let cut = Nanos::from_secs(12);
    let stop = [(cut + Nanos::from_millis(1_500), LaneControl::Stop)];
    let lane = run_ordered(
        LaneSpec {
            power_cut: true,
            ..spec(latency(10), load)
        },
        &stop,
    );
    assert_eq!(
        (lane.measured().counts.completed(), lane.end.clone()),
        (4_000, LaneEnd::Stopped)
    );
    assert_eq!(lane.all().counts.offered, lane.all().counts.settled());
    let of = |txn: usize, end: Nanos| {
        let seconds = lane.seconds.iter().filter(|second| second.tick.end <= end);
        seconds
            .map(|second| second.tallies[txn].counts.committed)
            .sum::<u64>()
    };
    assert_eq!(
        lane.acknowledged.total(),
        of(0, cut) + of(1, cut),
        "New-Orders and Payments, not a stroke more"
    );
    let second = cut + Nanos::from_secs(1);
    assert!(
        of(0, second) > of(0, cut),
        "the load is there when the power fails"
    );
    assert_eq!(
        run(spec(latency(10), load)).acknowledged,
        CommitCounts::default(),
        "without a cut no commits are recorded"
    );
}

#[test]
fn keying_and_thinking_pace_the_users_and_are_in_no_figure() {
    let mut spec = spec(latency(10), LoadShape::closed(200));
    spec.pacing = Pacing {
        keying: 0.1,
        think: 0.1,
    };
    let lane = run(spec);
    lane.conserved();
    // Mean cycle of the mix at a tenth: keying 0.1 × (0.45·18 + 0.43·3 + 0.12·2) = 0.963 s, thinking
    // 0.1 × (0.45·12 + 0.43·12 + 0.04·(10 + 5 + 5)) = 1.136 s, 0.01 s of service.
    let rate = lane.measured().counts.completed() as f64 / 10.0;
    assert!((rate / (200.0 / 2.109) - 1.0).abs() < 0.15, "{rate}");
    assert_eq!(lane.measured().response.max(), Some(Nanos::from_millis(10)));
}

#[test]
fn a_seed_has_one_course() {
    let make = || {
        let script = MockScript {
            jitter: Nanos::from_millis(7),
            retry_every: Some(11),
            ..latency(5)
        };
        run(spec(
            script,
            LoadShape::Open {
                users: 5,
                per_second: 300.0,
                to_per_second: 300.0,
                arrivals: Arrivals::Poisson,
                queue: 100,
            },
        ))
    };
    let one = make();
    let two = make();
    one.conserved();
    assert_eq!(one.seconds, two.seconds);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Whatever the load and the system's behaviour, nothing disappears.
    #[test]
    fn outcomes_are_conserved(
        ms in 1u64..400, jitter in 0u64..300, users in 1u32..20, rate in 1.0f64..400.0, queue in 0u32..100,
        shape in 0..3, outage in proptest::option::of(1u64..12_000), fail in 2u64..50, retry in 2u64..50,
        stall in 0u64..12, close in proptest::option::of(0u64..13_000), stop in any::<bool>(),
    ) {
        let script = MockScript {
            latency: Nanos::from_millis(ms),
            jitter: Nanos::from_millis(jitter),
            stalls: vec![Stall { at: Nanos::from_secs(stall), lasts: Nanos::from_secs(3) }],
            fail_every: Some(fail),
            retry_every: Some(retry),
            outages: outage.map(|at| Stall { at: Nanos::from_millis(at), lasts: Nanos::SECOND }).into_iter().collect(),
            ..MockScript::default()
        };
        let load = match shape {
            0 => LoadShape::closed(users),
            1 => LoadShape::Closed { users, connections: users.div_ceil(3) },
            _ => open(rate, users, queue),
        };
        let order = if stop { LaneControl::Stop } else { LaneControl::Close };
        let orders: Vec<_> = close.map(|at| (Nanos::from_millis(at), order)).into_iter().collect();
        run_ordered(spec(script, load), &orders).conserved();
    }
}
