//! HammerDB and go-tpc: each run, its figures and what defines it.

use super::super::{SourceFile, import};
use super::loads::{is_missing, reported};
use super::{import_options, of, text};
use plimsoll_analysis::summarise;
use plimsoll_analysis::summary::{FigureId, PointSummary};
use plimsoll_record::message::CheckDetail;
use plimsoll_record::{Point, Record, Reported};

/// Users, New-Orders and their rate per minute of each point.
struct OltpRow {
    users: u32,
    new_orders: u64,
    nopm: f64,
}

fn rows(record: &Record) -> Vec<OltpRow> {
    let summary = summarise(record);
    let row = |of: &Point| {
        let same = |own: &&PointSummary| (own.key.load.users, own.repeat) == (of.users, of.repeat);
        let point = summary.figures.points().find(same).unwrap();
        OltpRow {
            users: point.key.load.users,
            new_orders: point.types[0].counts.committed,
            nopm: point.value(FigureId::Nopm).unwrap(),
        }
    };
    record.points.iter().map(row).collect()
}

fn parameters(record: &Record, point: usize) -> Vec<(&str, &str)> {
    record.points[point]
        .parameters
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .collect()
}

#[test]
fn each_run_of_go_tpc_is_a_point() {
    let imported = of(&["go_tpc_two_runs.txt"]);
    let rows = rows(&imported.record);
    assert_eq!(
        rows.iter()
            .map(|row| (row.users, row.new_orders))
            .collect::<Vec<_>>(),
        [(2, 974), (4, 641)]
    );
    // tpmC: 7419.5 and 6428.0
    assert!(
        (rows[0].nopm - 7419.5).abs() < 1.0 && (rows[1].nopm - 6428.0).abs() < 1.0,
        "{} {}",
        rows[0].nopm,
        rows[1].nopm
    );
    assert_eq!(
        parameters(&imported.record, 1),
        [("warehouses", "2"), ("workload", "tpcc")]
    );
    assert_eq!(
        summarise(&imported.record).figures.ladders.len(),
        1,
        "threads are users: one ladder"
    );
    assert_eq!(imported.record.run.started_at, "2026-11-23T16:03:37Z");
    assert!(!is_missing(&imported, "started_at") && !is_missing(&imported, "users"));
    let tpmc = |r: &&Reported| r.name == "tpmC";
    let printed: Vec<&str> = imported
        .record
        .reported
        .iter()
        .filter(tpmc)
        .map(|r| r.printed.as_str())
        .collect();
    assert_eq!(printed, ["7419.5", "6428.0"]);
}

#[test]
fn all_styles_of_go_tpc_are_read() {
    for (name, new_orders, failed, tpmc) in [
        ("go_tpc_json.txt", 952, 0, 7199.5),
        ("go_tpc_table.txt", 1060, 1, 8008.0),
    ] {
        let record = of(&[name]).record;
        let rows = rows(&record);
        assert_eq!(
            (rows.len(), rows[0].users, rows[0].new_orders),
            (1, 4, new_orders),
            "{name}"
        );
        assert!(
            (rows[0].nopm - tpmc).abs() < 1.0,
            "{name}: {}",
            rows[0].nopm
        );
        let orders = record
            .seconds
            .iter()
            .filter(|second| second.txn == 0)
            .map(|second| second.counts.failed);
        assert_eq!(orders.sum::<u64>(), failed, "{name}");
        assert_eq!(reported(&record, "", "tpmC").value, tpmc, "{name}");
        assert_eq!(reported(&record, "PAYMENT", "99.9th").unit, "ms", "{name}");
    }
    let record = of(&["go_tpc_wait.txt"]).record;
    assert_eq!(
        reported(&record, "KEYINGTIME-PAYMENT", "mean").printed,
        "3.0"
    );
    assert!(parameters(&record, 0).contains(&("wait", "true")));
    let cut = text("go_tpc_json.txt").trim_end().trim_end_matches("\"}]");
    let cut = &cut[..cut.len() - 20];
    let error = import(
        &[SourceFile {
            name: "j.txt",
            text: cut,
            tool: None,
        }],
        &import_options(),
    )
    .unwrap_err()
    .to_string();
    assert!(
        error.starts_with("cannot import j.txt, line 8\n") && error.contains("whole in this line"),
        "{error}"
    );
}

#[test]
fn profiles_of_one_virtual_user_and_of_all_are_apart() {
    let record = of(&["hammerdb_profiles.txt"]).record;
    assert_eq!(reported(&record, "NEWORD", "P95").printed, "104.921");
    assert_eq!(
        reported(&record, "NEWORD, virtual user 2", "P95").printed,
        "2.900"
    );
    assert_eq!(reported(&record, "OSTAT", "P50").printed, "4.711");
    assert_eq!(record.points[0].users, 2);
    // Two reports in one file are two loads; beside one result they cannot be assigned.
    let twice = text("hammerdb_profiles.txt").repeat(2);
    let two = import(
        &[SourceFile {
            name: "p.txt",
            text: &twice,
            tool: None,
        }],
        &import_options(),
    )
    .unwrap()
    .record;
    assert_eq!(two.points.len(), 2);
    let with = format!("{}{twice}", text("hammerdb.txt"));
    let error = import(
        &[SourceFile {
            name: "p.txt",
            text: &with,
            tool: None,
        }],
        &import_options(),
    )
    .unwrap_err()
    .to_string();
    assert!(error.contains("a further time profile"), "{error}");
}

#[test]
fn percentiles_of_etprof_and_the_time_of_a_hammerdb_log_are_read() {
    let imported = of(&["hammerdb_log.txt"]);
    let record = &imported.record;
    let p95: Vec<_> = record
        .reported
        .iter()
        .filter(|r| r.name == "P95")
        .map(|r| (r.txn.as_str(), r.value))
        .collect();
    assert_eq!(
        p95,
        [
            ("NEWORD, virtual user 2", 1286.0),
            ("NEWORD, virtual user 2", 1270.0)
        ]
    );
    assert_eq!(
        record
            .reported
            .iter()
            .filter(|r| r.name == "P99" && r.unit == "us" && r.over.is_some())
            .count(),
        2
    );
    assert_eq!(record.run.started_at, "2024-09-03T08:27:20Z");
    assert!(!is_missing(&imported, "started_at"));
    assert_eq!(parameters(record, 0), [("database", "PostgreSQL")]);
    let jobs = of(&["hammerdb_jobs.txt"]);
    assert_eq!(jobs.record.run.started_at, "2024-05-14T10:20:00Z");
    assert_eq!(reported(&jobs.record, "NEWORD", "p99_ms").printed, "2.537");
}

#[test]
fn results_of_one_hammerdb_log_are_points_by_virtual_users() {
    let settings = "Changed tpcc:pg_count_ware from 1 to 30 for PostgreSQL\nChanged tpcc:pg_pass from tpcc to secret for PostgreSQL\n";
    let second = text("hammerdb.txt")
        .replace("4 Active", "8 Active")
        .replace("33643 NOPM", "41200 NOPM");
    // Printed again by `jobs JOBID result`.
    let again = "[\n  \"8 Active Virtual Users configured\",\n  \"TEST RESULT : System achieved 41200 NOPM from 77404 PostgreSQL TPM\"\n]\n";
    let both = format!("{settings}{}{second}{again}", text("hammerdb.txt"));
    let record = import(
        &[SourceFile {
            name: "h.txt",
            text: &both,
            tool: None,
        }],
        &import_options(),
    )
    .unwrap()
    .record;
    let rows = rows(&record);
    assert_eq!(
        rows.iter()
            .map(|row| (row.users, row.nopm))
            .collect::<Vec<_>>(),
        [(4, 33_643.0), (8, 41_200.0)]
    );
    assert_eq!(
        parameters(&record, 1),
        [("database", "PostgreSQL"), ("warehouses", "30")]
    );
    assert_eq!(
        summarise(&record).figures.ladders.len(),
        1,
        "virtual users are users: one ladder"
    );
}

/// Lines of the console stand behind its prompt.
#[test]
fn errors_of_hammerdb_belong_to_their_run() {
    let record = of(&["hammerdb_errors.txt"]).record;
    let counts = record.seconds.unpack()[0].counts;
    assert_eq!(
        (counts.committed, counts.failed, counts.offered),
        (2602 * 30, 2, 2602 * 30 + 2)
    );
    assert_eq!(reported(&record, "New Order", "Procedure Error").value, 2.0);
    assert!(record.checks.is_empty());
    let settings = [
        ("database", "PostgreSQL"),
        ("duration", "30"),
        ("rampup", "2"),
        ("warehouses", "400"),
    ];
    assert_eq!(parameters(&record, 0), settings);
    // Of three runs, virtual users of the second end with an error, one of them after the result.
    let one = text("hammerdb_errors.txt").replace(
        "New Order Procedure Error set",
        "Payment Procedure Error set",
    );
    let second = one
        .replace("2602", "2700")
        .replace("Vuser 2:FINISHED SUCCESS", "Vuser 2:FINISHED FAILED");
    let second = second.replace(
        "Vuser 1:26",
        "Error in Virtual User 4: ERROR: invalid\nVuser 4:FINISHED FAILED\nVuser 1:26",
    );
    let all = format!("{one}{second}{}", one.replace("2602", "2650"));
    let record = import(
        &[SourceFile {
            name: "h.txt",
            text: &all,
            tool: None,
        }],
        &import_options(),
    )
    .unwrap()
    .record;
    assert_eq!(record.points.len(), 3);
    let failed: Vec<_> = record
        .checks
        .iter()
        .map(|check| (check.point, &check.detail))
        .collect();
    assert_eq!(
        failed,
        [(
            Some(record.points[1].id),
            &CheckDetail::UsersFailed { users: 2 }
        )]
    );
    assert_eq!(
        record
            .seconds
            .iter()
            .map(|second| second.counts.failed)
            .sum::<u64>(),
        0,
        "only New-Orders are counted"
    );
    assert_eq!(reported(&record, "Payment", "Procedure Error").value, 2.0);
}

#[test]
fn queries_of_go_tpc_ch_are_no_run_of_their_own() {
    let record = of(&["go_tpc_ch.txt"]).record;
    assert_eq!((record.points.len(), record.points[0].users), (1, 50));
    assert_eq!(reported(&record, "Q10", "Avg").printed, "40034.3");
    assert_eq!(record.points[0].parameters["workload"], "ch");
    let twice = text("go_tpc_ch.txt").repeat(2);
    let record = import(
        &[SourceFile {
            name: "g.txt",
            text: &twice,
            tool: None,
        }],
        &import_options(),
    )
    .unwrap()
    .record;
    assert_eq!(
        record
            .points
            .iter()
            .map(|point| point.users)
            .collect::<Vec<_>>(),
        [50, 50]
    );
}

/// New-Orders began 2.3 s after the first payment: `tpmC` is of their own time.
#[test]
fn new_orders_of_go_tpc_are_counted_over_their_own_time() {
    let output = "[Summary] NEW_ORDER - Takes(s): 487.8, Count: 314, TPM: 38.6, Sum(ms): 282377, Avg(ms): 899\n\
                  [Summary] PAYMENT - Takes(s): 490.1, Count: 321, TPM: 39.3, Sum(ms): 144708, Avg(ms): 450\n";
    let record = import(
        &[SourceFile {
            name: "g.txt",
            text: output,
            tool: None,
        }],
        &import_options(),
    )
    .unwrap()
    .record;
    let nopm = rows(&record)[0].nopm;
    assert!((nopm - 38.6).abs() < 0.05, "{nopm}");
    let commented: String = output.lines().map(|line| format!("# {line}\n")).collect();
    let error = import(
        &[SourceFile {
            name: "g.txt",
            text: &commented,
            tool: None,
        }],
        &import_options(),
    )
    .unwrap_err()
    .to_string();
    assert!(
        error.starts_with("cannot import g.txt, line ") && error.contains("`[Summary] TYPE"),
        "{error}"
    );
}
