//! Results of comparing runs whose truth is known: the mock engine under virtual time, with noise that hangs together
//! as that of drives does, which clean up for seconds and are quick again.

use plimsoll_analysis::compare::{
    Ask, ComparedSide, Configuration, Effect, PointComparison, Repeat, RepeatFigures, SidePoint,
    compare,
};
use plimsoll_analysis::latency::Slice;
use plimsoll_analysis::summary::{FigureId, Verdict};
use plimsoll_load::clock::{Clock, VirtualClock};
use plimsoll_load::runner::run_lane;
use plimsoll_plan::Interference;
use plimsoll_plan::load::{LoadShape, MockScript, Stall};
use plimsoll_plan::resolved::{Home, Pacing, Tpcc, TxnMode, Workload};
use plimsoll_plan::schedule::{PhaseKind, Timeline};
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::Hist;
use plimsoll_record::lane::{
    Endpoint, GeneratorShare, LaneControl, LaneMessage, LaneSecond, LaneSpec, TransactionStats,
};
use plimsoll_record::{LoadKey, OfferedLoad, fixture};
use plimsoll_stats::Draws;
use tokio::sync::{mpsc, watch};

const TRIALS: u64 = 100;

/// Cleaning begins in 6 of 100 seconds and ends in 25: it lasts four seconds in the mean and takes a fifth of the time. In
/// each of its seconds nothing goes on for a while.
fn cleaning(seed: u64, seconds: u64, pause: Nanos) -> Vec<Stall> {
    let mut draws = Draws::new(seed);
    let mut busy = draws.below(100) < 19;
    let mut stalls = Vec::new();
    for second in 0..seconds {
        busy = if busy {
            draws.below(100) >= 25
        } else {
            draws.below(100) < 6
        };
        if busy {
            stalls.push(Stall {
                at: Nanos::from_secs(second),
                lasts: pause,
            });
        }
    }
    stalls
}

/// One run of one user, whose transactions take 90 ms × `slower` with a tenth of jitter.
fn run(seed: u64, seconds: u64, slower: f64, pause: Nanos) -> Repeat {
    let latency = Nanos::from_secs_f64(0.090 * slower);
    let script = MockScript {
        latency,
        jitter: Nanos(latency.0 / 10),
        stalls: cleaning(seed, seconds + 2, pause),
        ..MockScript::default()
    };
    let spec = LaneSpec {
        endpoint: Endpoint::Mock(script),
        workload: Workload::Tpcc(Tpcc {
            warehouses: 1,
            mode: TxnMode::Procedures,
            home: Home::Fixed,
        }),
        load: LoadShape::closed(1),
        share: GeneratorShare::default(),
        timeline: Timeline {
            warm: Nanos::from_secs(1),
            measure: Nanos::from_secs(seconds),
            cool: Nanos::from_secs(1),
        },
        pacing: Pacing::default(),
        seed: seed.into(),
        round: 0,
        max_retries: 0,
        power_cut: false,
    };
    let measured = carried_out(spec)
        .into_iter()
        .filter(|second| second.tick.phase == PhaseKind::Measure);
    let mut repeat = Repeat {
        seconds: Vec::new(),
        slices: Vec::new(),
        latency: Hist::new(),
        figures: RepeatFigures::default(),
    };
    for second in measured {
        let mut all = TransactionStats::default();
        let earlier = second.earlier.iter().flat_map(|late| &late.tallies);
        let ended = second.tallies.iter().chain(earlier);
        ended.for_each(|tally| all.merge(tally));
        let lasted = (second.tick.end - second.tick.start).as_secs_f64();
        repeat.seconds.push((all.counts.completed() as f64, lasted));
        let mut slice = Slice::default();
        slice.add(&all.response.coarse());
        repeat.slices.push(slice);
        repeat.latency.merge(&all.response);
    }
    repeat
}

fn carried_out(spec: LaneSpec) -> Vec<LaneSecond> {
    let clock = Clock::Virtual(VirtualClock::default());
    let (out, mut messages) = mpsc::channel(1024);
    let (_order, control) = watch::channel(LaneControl::Run);
    let mut seconds = Vec::new();
    let course = async {
        let listening = async {
            while let Some(message) = messages.recv().await {
                if let LaneMessage::Second(second) = message {
                    seconds.push(*second);
                }
            }
        };
        tokio::join!(run_lane(spec, clock.clone(), control, out), listening)
    };
    clock.block_on(course).unwrap();
    seconds
}

fn side(repeats: Vec<Repeat>) -> ComparedSide {
    let key = LoadKey {
        step: "oltp".into(),
        system: "db".into(),
        medium: None,
        scene: Interference::Alone,
        job: None,
        load: OfferedLoad::closed(1),
    };
    let point = SidePoint {
        key,
        workload: Default::default(),
        figure: FigureId::Transactions,
        derived: None,
        slower: None,
        systems: 1,
        verdict: Verdict::Valid,
        is_search: false,
        repeats,
    };
    ComparedSide {
        label: "a run".into(),
        runs: vec![fixture::single_point().run],
        identities: Vec::new(),
        configuration: Configuration::default(),
        points: vec![point],
        requirements: Vec::new(),
    }
}

fn compared(a: ComparedSide, b: ComparedSide) -> PointComparison {
    compare(&[a, b], &Ask::default()).others[0].points[0].clone()
}

#[test]
fn two_equal_runs_show_no_difference() {
    // Pauses of 300 ms: a cleaning drive does 30 % less.
    let one = |seed: u64| side(vec![run(seed, 300, 1.0, Nanos::from_millis(300))]);
    let intervals: Vec<_> = (0..TRIALS)
        .map(|trial| compared(one(trial * 2), one(trial * 2 + 1)).rate.interval())
        .collect();
    let equal = intervals
        .iter()
        .flatten()
        .filter(|interval| interval.low <= 1.0 && interval.high >= 1.0)
        .count();
    assert!(equal >= 93, "{equal} of {TRIALS}: {intervals:?}");
}

#[test]
fn a_difference_of_three_percent_is_found_with_five_repeats() {
    let five = |seed: u64, slower: f64| {
        side(
            (0..5)
                .map(|repeat| run(seed * 5 + repeat, 30, slower, Nanos::from_millis(40)))
                .collect(),
        )
    };
    let found = |trial: &u64| {
        compared(five(trial * 2, 1.0), five(trial * 2 + 1, 1.0 / 1.03))
            .rate
            .effect
            == Effect::More
    };
    let found = (0..TRIALS).filter(found).count();
    assert!(found >= 85, "{found} of {TRIALS}");
}
