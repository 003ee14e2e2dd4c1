//! Connections that are lost: opened again, reported once, and in the end given up.

use plimsoll_record::lane::Absence;

use super::*;
use crate::clock::LaneClock;
use crate::runner::events::Events;
use crate::runner::outage::{Loss, Outages};

fn outages(of: impl IntoIterator<Item = (u64, u64)>) -> MockScript {
    let stretch = |(at, lasts)| Stall {
        at: Nanos::from_millis(at),
        lasts: Nanos::from_millis(lasts),
    };
    MockScript {
        outages: of.into_iter().map(stretch).collect(),
        ..latency(10)
    }
}

fn completed(second: &LaneSecond) -> u64 {
    second
        .tallies
        .iter()
        .map(|tally| tally.counts.completed())
        .sum()
}

#[test]
fn a_restart_is_an_event_and_the_users_wait() {
    let lane = run(spec(outages([(6_000, 2_000)]), LoadShape::closed(30)));
    lane.conserved();
    assert_eq!(lane.end, LaneEnd::Complete);
    assert_eq!(lane.all().counts.failed, 30, "what was under way");
    let in_second = |n: usize| completed(&lane.seconds[n]);
    // The transaction that would end at the second's end is counted in the next one.
    assert_eq!(
        (in_second(5), in_second(6), in_second(7), in_second(11)),
        (3_000, 30, 0, 3_000)
    );
    assert_eq!(lane.texts("connection_lost").len(), 1, "{:?}", lane.events);
    let text = lane.texts("reconnected").concat();
    for part in [
        r#""server_away":true"#,
        r#""from_s":6.0"#,
        r#""lost":30,"#,
        r#""reopened":30"#,
    ] {
        assert!(text.contains(part), "{part:?}: {text}");
    }
    assert_eq!(lane.events.len(), 2);
}

/// Who has a connection of their own want the next transaction although it is gone: they wait for it from then on.
#[test]
fn the_wait_for_a_lost_connection_is_response_time_in_a_closed_loop() {
    let lane = run(spec(outages([(6_000, 2_000)]), LoadShape::closed(30)));
    lane.conserved();
    let measured = lane.measured();
    assert!(
        measured.response.max() >= Some(Nanos::from_secs(2)),
        "{:?}",
        measured.response.max()
    );
    assert_eq!(measured.service().max(), Some(Nanos::from_millis(10)));
    let waited = measured.response.sum() - measured.service().sum();
    let each = Nanos((waited / 30) as u64);
    assert!(
        (Nanos::from_secs(2)..Nanos::from_millis(3_100)).contains(&each),
        "one transaction of each user: {each}"
    );
    assert_eq!(lane.texts("late"), [""; 0]);
    assert!(lane.seconds.iter().all(|second| second.late == 0));
}

/// Nothing else shows that users wanted something at the end.
#[test]
fn a_wait_that_lasts_to_the_end_counts_as_dropped() {
    let lane = run(spec(outages([(10_000, 60_000)]), LoadShape::closed(3)));
    lane.conserved();
    assert_eq!(
        (lane.all().counts.failed, lane.all().counts.dropped),
        (3, 3)
    );
    let thinking = || {
        let mut spec = spec(outages([(10_000, 60_000)]), LoadShape::closed(40));
        spec.pacing = Pacing {
            keying: 0.05,
            think: 0.05,
        };
        spec
    };
    let lane = run(thinking());
    lane.conserved();
    assert!(
        lane.all().counts.dropped <= 40 && lane.all().counts.dropped > 20,
        "{:?}",
        lane.all().counts
    );
    let lane = run_ordered(
        thinking(),
        &[(Nanos::from_millis(10_700), LaneControl::Close)],
    );
    lane.conserved();
}

fn absence(lane: &LaneRun) -> Absence {
    lane.seconds
        .iter()
        .fold(Absence::default(), |mut sum, second| {
            sum.server += second.absence.server;
            sum.connections += second.absence.connections;
            sum
        })
}

#[test]
fn time_without_a_server_is_counted_second_by_second() {
    let lane = run(spec(outages([(6_500, 2_000)]), LoadShape::closed(30)));
    let Absence {
        server,
        connections,
    } = absence(&lane);
    assert!(
        (Nanos::from_secs(2)..Nanos::from_millis(3_100)).contains(&server),
        "{server}"
    );
    assert!(
        connections >= server * 30 && connections < Nanos::from_millis(3_100) * 30,
        "{connections}"
    );
    let in_second = |n: usize| lane.seconds[n].absence;
    assert_eq!(
        (in_second(5), in_second(10)),
        (Absence::default(), Absence::default())
    );
    assert_eq!(
        in_second(7),
        Absence {
            server: Nanos::SECOND,
            connections: Nanos::from_secs(30)
        }
    );
    // Little's law for the time that is left: users × time − time without a connection = Σ service.
    let measured = lane.measured();
    let served = Nanos(measured.service().sum() as u64) + connections;
    assert!(
        served.0.abs_diff(Nanos::from_secs(300).0) < Nanos::from_millis(600).0,
        "{served}"
    );
}

fn silent_events() -> Events {
    Events::new(
        LaneClock::new(Clock::Virtual(VirtualClock::default())),
        mpsc::channel(8).0,
    )
}

fn lose(outages: &Outages, connection: u32, [began, noticed]: [u64; 2]) {
    let [began, noticed] = [began, noticed].map(Nanos::from_millis);
    let loss = Loss {
        connection,
        began,
        noticed,
        why: "gone",
    };
    outages.lost(&loss, &silent_events());
}

/// A server that is killed while it waits for its disk takes a while to go: no transaction completes that contains the time.
#[test]
fn a_transaction_that_ends_with_its_connection_is_time_without_one() {
    let outages = Outages::new(2);
    lose(&outages, 0, [300, 1_200]);
    lose(&outages, 1, [500, 1_200]);
    let absence = outages.take_absence(Nanos::from_millis(1_300));
    assert_eq!(
        absence,
        Absence {
            server: Nanos::from_millis(100),
            connections: Nanos::from_millis(900 + 700 + 2 * 100),
        }
    );
}

/// One connection that an administrator ended is opened again at once, and the server was there all the time.
#[test]
fn a_connection_that_is_lost_alone_is_not_the_servers_absence() {
    let outages = Outages::new(3);
    lose(&outages, 0, [100, 100]);
    outages.refused(true);
    outages.reopened(Nanos::from_millis(140));
    let alone = Absence {
        server: Nanos::ZERO,
        connections: Nanos::from_millis(40),
    };
    assert_eq!(outages.take_absence(Nanos::SECOND), alone);
    for connection in 0..3 {
        let at = 1_000 + 100 * connection;
        lose(&outages, connection as u32, [at, at]);
    }
    outages.reopened(Nanos::from_millis(1_500));
    let all = Absence {
        server: Nanos::from_millis(500),
        connections: Nanos::from_millis(1_200),
    };
    assert_eq!(outages.take_absence(Nanos::from_millis(1_500)), all);
}

#[test]
fn a_server_that_stays_away_ends_the_lane_after_a_minute() {
    let mut spec = spec(outages([(6_000, 1_000_000)]), LoadShape::closed(3));
    spec.timeline.measure = Nanos::from_secs(600);
    let lane = run(spec);
    lane.conserved();
    let LaneEnd::Failed(why) = &lane.end else {
        panic!("{:?}", lane.end)
    };
    for phrase in [
        "lost at 6.00 s",
        "could not be opened again for 6",
        "the script has it away",
    ] {
        assert!(why.contains(phrase), "{phrase:?}: {why}");
    }
    let end = lane.seconds.last().unwrap().tick.end;
    assert!(
        (Nanos::from_secs(66)..Nanos::from_secs(72)).contains(&end),
        "{end}"
    );
    assert_eq!(
        lane.all().counts.completed(),
        3 * 600,
        "what was measured before is kept"
    );
    assert!(
        lane.texts("not_reconnected")[0].contains(r#""away":3"#),
        "{:?}",
        lane.events
    );
}

#[test]
fn a_system_that_is_not_there_at_first_is_not_waited_for() {
    let lane = run(spec(outages([(0, 1_000)]), LoadShape::closed(3)));
    assert!(
        matches!(&lane.end, LaneEnd::Failed(why) if why.contains("cannot be reached")),
        "{:?}",
        lane.end
    );
    assert!(lane.seconds.is_empty() && lane.events.is_empty());
}

#[test]
fn a_flapping_server_is_one_outage_and_not_hopeless() {
    let flaps = (0..400).map(|n| (4_000 + n * 15, 1));
    let lane = run(spec(outages(flaps), LoadShape::closed(2)));
    lane.conserved();
    assert_eq!(lane.end, LaneEnd::Complete);
    assert!(lane.all().counts.failed > 10, "{:?}", lane.all().counts);
    assert_eq!(lane.events.len(), 2, "{:?}", lane.events);
}

/// A system that comes back may refuse for a while what it can do later.
#[test]
fn failures_in_a_row_are_borne_during_an_outage_and_not_after_it() {
    let script = MockScript {
        fail_every: Some(1),
        ..outages([(500, 1_000)])
    };
    let lane = run(spec(script, LoadShape::closed(1)));
    lane.conserved();
    let LaneEnd::Failed(why) = &lane.end else {
        panic!("{:?}", lane.end)
    };
    let in_a_row: u64 = why.split(' ').next().unwrap().parse().unwrap();
    assert!(
        in_a_row > 400
            && why.contains("transactions in a row failed; the last one: the script fails"),
        "{why}"
    );
    let end = lane.seconds.last().unwrap().tick.end;
    assert!(
        (Nanos::from_millis(6_500)..Nanos::from_secs(9)).contains(&end),
        "{end}"
    );
    assert_eq!(lane.texts("reconnected").len(), 1, "it was over by then");
}

#[test]
fn reports_of_outages_are_bounded() {
    let mut spec = spec(
        outages((0..50).map(|n| (10_000 + n * 20_000, 200))),
        LoadShape::closed(4),
    );
    spec.timeline.measure = Nanos::from_secs(1_100);
    let lane = run(spec);
    assert_eq!(lane.end, LaneEnd::Complete);
    assert_eq!(lane.all().counts.failed, 4 * 50);
    for code in ["connection_lost", "reconnected"] {
        assert_eq!(lane.texts(code).len(), 5);
        assert!(
            lane.texts("more_events")
                .iter()
                .any(|text| text.contains(r#""events":45"#) && text.contains(code))
        );
    }
    let lost = lane.texts("connections_lost");
    assert_eq!(lost, [r#"{"lost":200,"outages":50,"reopened":200}"#]);
}

#[test]
fn an_open_loop_queues_and_drops_while_the_server_is_away() {
    let script = || outages([(5_000, 3_000)]);
    let lane = run(spec(script(), open(100.0, 4, 100_000)));
    lane.conserved();
    assert_eq!(
        (lane.measured().counts.offered, lane.all().counts.dropped),
        (1_000, 0)
    );
    assert!(lane.all().counts.failed <= 4, "{:?}", lane.all().counts);
    assert!(
        lane.measured().response.max() > Some(Nanos::from_millis(2_900)),
        "who came then waited"
    );
    assert_eq!(
        lane.measured().service().max(),
        Some(Nanos::from_millis(10))
    );
    let lane = run(spec(script(), open(100.0, 4, 50)));
    lane.conserved();
    assert_eq!(
        lane.measured().counts.offered,
        1_000,
        "the outage does not slow the offered rate"
    );
    assert!(
        lane.all().counts.dropped >= 250 - 4,
        "{:?}",
        lane.all().counts
    );
}

#[test]
fn users_who_share_connections_wait_with_them() {
    let mut spec = spec(
        outages([(5_000, 3_000)]),
        LoadShape::Closed {
            users: 200,
            connections: 10,
        },
    );
    spec.pacing = Pacing {
        keying: 0.1,
        think: 0.1,
    };
    let lane = run(spec);
    lane.conserved();
    assert_eq!(
        (lane.end.clone(), lane.all().counts.dropped),
        (LaneEnd::Complete, 0)
    );
    assert!(
        (1..=10).contains(&lane.all().counts.failed),
        "{:?}",
        lane.all().counts
    );
    assert!(lane.measured().response.max() > Some(Nanos::from_millis(2_500)));
}

#[test]
fn an_outage_at_the_end_does_not_prolong_the_point() {
    let lane = run(spec(outages([(11_500, 60_000)]), LoadShape::closed(3)));
    lane.conserved();
    assert_eq!(lane.end, LaneEnd::Complete);
    assert!(
        lane.seconds.last().unwrap().tick.end <= Nanos::from_millis(12_100),
        "{:?}",
        lane.seconds.last()
    );
    assert!(lane.texts("not_reconnected")[0].contains(r#""away":3,"from_s":11.5"#));
    let orders = [(Nanos::from_secs(7), LaneControl::Close)];
    let lane = run_ordered(
        super::spec(outages([(6_000, 60_000)]), LoadShape::closed(3)),
        &orders,
    );
    lane.conserved();
    assert_eq!(lane.end, LaneEnd::Closed);
    assert!(
        lane.seconds.last().unwrap().tick.end < Nanos::from_millis(7_100),
        "no wait after Ctrl-C"
    );
}
