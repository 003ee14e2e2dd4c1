//! Power cuts, and servers that are away as planned.

use super::drive::{emulated, verdict};
use super::*;
use plimsoll_record::lane::Absence;
use plimsoll_record::message::FirstLost;
use plimsoll_record::{Outage, PowerCut, Receipt};

pub(super) fn cut(at_ms: u64, receipts: Vec<Receipt>) -> PowerCut {
    PowerCut {
        point: PointId(1),
        at: Nanos::from_millis(at_ms),
        recovery: Some(Nanos::from_millis(1234)),
        lost_writes: 5,
        lost_bytes: 20_480,
        lost_flushed_writes: 2,
        receipts,
    }
}

pub(super) fn receipt(txn: &str, acknowledged: u64, lost: u64) -> Receipt {
    let first_lost = (lost > 0).then_some(FirstLost::OfDistrict {
        lost,
        acknowledged,
        before_load: None,
        warehouse: 1,
        district: 2,
    });
    Receipt {
        txn: txn.into(),
        acknowledged,
        lost,
        in_doubt: 3,
        first_lost,
    }
}

#[test]
fn an_outage_that_the_plan_orders_is_a_note() {
    let mut record = emulated(4);
    let phase = record
        .phases
        .iter()
        .find(|phase| phase.kind == PhaseKind::Measure)
        .unwrap()
        .clone();
    let absence = |ms| Absence {
        server: Nanos::from_millis(ms),
        connections: Nanos::from_millis(ms) * 4,
    };
    let (start, end) = (phase.start, phase.start + Nanos::SECOND);
    let outage = |ms| Outage {
        phase: phase.id,
        subject: record.points[0].system,
        start,
        end,
        absence: absence(ms),
    };
    let outages = [outage(50), outage(500)];
    let severity = |record: &Record| {
        only(record)
            .findings
            .iter()
            .find(|f| f.severity > Severity::Note)
            .map(|f| f.severity)
    };
    record.outages = vec![outages[0]];
    assert_eq!(severity(&record), Some(Severity::Warning), "half a percent");
    record.outages = outages.to_vec();
    let figures = only(&record).outage.unwrap();
    assert!(
        (figures.percent - 5.5).abs() < 0.01 && (figures.connections - 0.22).abs() < 0.001,
        "{figures:?}"
    );
    assert_eq!(
        (severity(&record), only(&record).verdict),
        (Some(Severity::Error), Verdict::Invalid)
    );
    record.cuts = vec![cut(9_200, vec![receipt("new_order", 5210, 0)])];
    assert_eq!(severity(&record), None);
    assert!(kinds(&only(&record)).contains(&"server_away".into()));
}

#[test]
fn after_a_power_cut_errors_are_expected_and_losses_are_not() {
    let mut record = emulated(4);
    // The power fails in the row from 8.4 s to 9.4 s.
    record.drive[8].errors = 99;
    record.phases[0].complete = false;
    record.cuts = vec![cut(
        9_200,
        vec![receipt("new_order", 5210, 0), receipt("payment", 4000, 0)],
    )];
    let lost_connection = Event {
        at: Nanos::from_millis(9_300),
        subject: None,
        severity: Severity::Warning,
        kind: EventKind::stored("connection_lost", "session 1: server closed the connection"),
    };
    record.events = vec![lost_connection];
    let point = only(&record);
    assert_eq!(kinds(&point), ["phase_incomplete", "event"]);
    assert_eq!(point.verdict, Verdict::Valid, "{:?}", point.findings);
    assert_eq!(point.drive.unwrap().ops[0].errors, 0);
    let found = point.power_cut.unwrap();
    assert_eq!(
        (
            found.at_ms,
            found.recovery_ms.unwrap(),
            found.lost_writes,
            found.lost_flushed_writes
        ),
        (9_200, 1_234, 5, 2)
    );
    assert_eq!(
        (found.acknowledged, found.lost, found.in_doubt),
        (9_210, 0, 6)
    );

    record.cuts[0].receipts[0] = receipt("new_order", 5210, 37);
    let point = only(&record);
    assert_eq!(
        (kinds(&point)[0].as_str(), point.verdict),
        ("committed_lost", Verdict::Invalid)
    );
    let FindingKind::CommittedLost {
        txn,
        lost,
        acknowledged,
        first_lost,
    } = &point.findings[0].kind
    else {
        panic!()
    };
    assert_eq!(
        (txn.as_str(), *lost, *acknowledged),
        ("new_order", 37, 5210)
    );
    assert_eq!(first_lost, &record.cuts[0].receipts[0].first_lost);
    assert!(first_lost.is_some());

    record.cuts[0].receipts.clear();
    assert_eq!(verdict(&record).0[0], "cut_unjudged");
    assert_eq!(verdict(&record).1, Verdict::Doubtful);
}

#[test]
fn a_connection_lost_before_the_power_failed_is_a_finding() {
    let mut record = emulated(4);
    record.cuts = vec![cut(9_200, vec![receipt("payment", 10, 0)])];
    record.events = vec![Event {
        at: Nanos::from_millis(9_100),
        subject: None,
        severity: Severity::Warning,
        kind: EventKind::stored("connection_lost", "session 1"),
    }];
    assert_eq!(verdict(&record).1, Verdict::Doubtful);
}
