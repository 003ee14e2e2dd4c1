//! sysbench's scripts: every one leaves what it can leave, and plimsoll's data and statements are interchangeable with
//! those of sysbench itself, which has to be installed.

use std::process::Command;

use plimsoll_plan::resolved::{Distribution, Script, Sysbench};

use super::*;
use crate::workload::Source;
use crate::workload::sysbench::input::Operation;

fn load(
    conninfo: &str,
    schema: &str,
    sysbench: &Sysbench,
    seed: u64,
    if_other: IfOther,
    control: &LoadControl,
) -> Result<Loaded, LoadError> {
    target(conninfo, schema).load(&Workload::Sysbench(*sysbench), seed, if_other, control)
}

fn check(
    conninfo: &str,
    schema: &str,
    sysbench: &Sysbench,
) -> Result<Vec<ConditionResult>, LoadError> {
    target(conninfo, schema).check(CheckedData::Sysbench(sysbench))
}

const SMALL: Sysbench = Sysbench {
    script: Script::ReadWrite,
    tables: 2,
    rows: 500,
    distribution: Distribution::Uniform,
    point_selects: 10,
    range_size: 100,
};

/// A server with a schema that no other test uses.
struct MariadbSysbenchSchema {
    shared: Arc<Shared>,
    schema: &'static str,
}

impl MariadbSysbenchSchema {
    fn new(schema: &'static str) -> Self {
        Self {
            shared: Shared::get(),
            schema,
        }
    }

    /// For sysbench, which makes no schema.
    fn create_schema(&self) {
        self.shared
            .client()
            .query_drop(format!("CREATE DATABASE {}", self.schema))
            .unwrap();
    }

    fn client(&self) -> Conn {
        connect_to(&self.shared.conninfo(), self.schema).unwrap()
    }

    fn load(&self, sysbench: &Sysbench, if_other: IfOther) -> Result<Loaded, LoadError> {
        load(
            &self.shared.conninfo(),
            self.schema,
            sysbench,
            7,
            if_other,
            &LoadControl::default(),
        )
    }

    fn session(&self, sysbench: &Sysbench) -> MariadbSession {
        MariadbSession::open_sysbench(&self.shared.conninfo(), self.schema, sysbench).unwrap()
    }

    /// Works as one user for a number of transactions. What has to be tried again is not.
    fn work(&self, sysbench: &Sysbench, user: u32, transactions: u32) {
        let mut session = self.session(sysbench);
        let mut source = Source::new(&Workload::Sysbench(*sysbench), 7, 0, user);
        for _ in 0..transactions {
            match run(&mut session, &source.next()) {
                Ok(TxnEnd::Committed) | Err(SessionError::Retry(_)) => {}
                other => panic!("{:?}: {other:?}", sysbench.script),
            }
        }
    }

    fn assert_holds(&self, sysbench: &Sysbench) {
        let verdicts = check(&self.shared.conninfo(), self.schema, sysbench).unwrap();
        assert!(
            verdicts.len() == 3 && verdicts.iter().all(|verdict| verdict.holds),
            "{verdicts:#?}"
        );
    }

    /// sysbench itself, on the same tables; what it printed.
    fn sysbench(&self, script: Script, command: &str) -> String {
        let opts = connect::parse(&self.shared.conninfo()).unwrap();
        let output = Command::new("sysbench")
            .arg(format!("oltp_{}", script.name()))
            .args([
                "--db-driver=mysql",
                "--threads=2",
                "--events=100",
                "--time=0",
            ])
            .arg(format!("--mysql-socket={}", opts.get_socket().unwrap()))
            .arg(format!("--mysql-user={}", opts.get_user().unwrap()))
            .arg(format!("--mysql-db={}", self.schema))
            .args([
                format!("--tables={}", SMALL.tables),
                format!("--table_size={}", SMALL.rows),
            ])
            .args(["--rand-type=uniform", command])
            .output()
            .expect("sysbench is installed");
        let output_text = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(
            output.status.success() && !output_text.contains("FATAL"),
            "{script:?} {command}: {output_text}"
        );
        output_text
    }
}

#[test]
fn every_script_leaves_what_it_can_leave() {
    let sbtest = MariadbSysbenchSchema::new("sysbench_scripts");
    for script in Script::ALL {
        let sysbench = Sysbench { script, ..SMALL };
        sbtest.load(&sysbench, IfOther::Replace).unwrap();
        std::thread::scope(|scope| {
            for user in 0..2 {
                let sbtest = &sbtest;
                scope.spawn(move || sbtest.work(&sysbench, user, 50));
            }
        });
        sbtest.assert_holds(&sysbench);
        let rows: i64 = one(
            &mut sbtest.client(),
            "SELECT (SELECT count(*) FROM sbtest1) + (SELECT count(*) FROM sbtest2)",
        );
        match script {
            Script::Insert => assert_eq!(rows, 1_100),
            Script::Delete => assert!((900..1_000).contains(&rows), "{rows}"),
            _ => assert_eq!(rows, 1_000),
        }
    }
}

#[test]
fn a_data_set_is_used_again_while_its_rows_are_all_there() {
    let sbtest = MariadbSysbenchSchema::new("sysbench_again");
    let load = |script| {
        sbtest
            .load(&Sysbench { script, ..SMALL }, IfOther::Refuse)
            .unwrap()
    };
    assert_eq!(load(Script::ReadWrite), Loaded::Fresh);
    assert_eq!(load(Script::UpdateIndex), Loaded::Reused);
    target(&sbtest.shared.conninfo(), sbtest.schema)
        .forget()
        .unwrap();
    assert_eq!(load(Script::UpdateIndex), Loaded::Fresh, "forgotten");
    assert_eq!(load(Script::Insert), Loaded::Reused);
    assert_eq!(load(Script::Insert), Loaded::Fresh, "rows were added");
    assert_eq!(load(Script::ReadOnly), Loaded::Fresh);
    let more = Sysbench { rows: 501, ..SMALL };
    let error = sbtest.load(&more, IfOther::Refuse).unwrap_err();
    assert!(matches!(&error, LoadError::Occupied { .. }), "{error}");
    assert!(
        error.to_string().contains("2 of 500 rows, uniform, seed 7"),
        "{error}"
    );
    assert_eq!(sbtest.load(&more, IfOther::Replace).unwrap(), Loaded::Fresh);
    sbtest.assert_holds(&more);
}

#[test]
fn a_load_that_was_cut_off_begins_again() {
    let sbtest = MariadbSysbenchSchema::new("sysbench_cut");
    let large = Sysbench {
        tables: 3,
        rows: 1_000_000,
        ..SMALL
    };
    let control = LoadControl::default();
    let conninfo = sbtest.shared.conninfo();
    std::thread::scope(|scope| {
        let loading = scope.spawn(|| {
            load(
                &conninfo,
                sbtest.schema,
                &large,
                7,
                IfOther::Refuse,
                &control,
            )
        });
        assert!(crate::scratch::wait_until(60, || control.rows_done() > 10_000));
        control.cancel();
        let end = loading.join().unwrap();
        assert!(matches!(end, Err(LoadError::Cancelled)), "{end:?}");
    });
    assert_eq!(sbtest.load(&SMALL, IfOther::Refuse).unwrap(), Loaded::Fresh);
    sbtest.assert_holds(&SMALL);
    let tables = texts(&mut sbtest.client(), "SHOW TABLES").concat();
    assert_eq!(tables, ["plimsoll_sysbench", "sbtest1", "sbtest2"]);
}

#[test]
fn tpcc_and_sysbench_share_a_schema() {
    let sbtest = MariadbSysbenchSchema::new("sysbench_and_tpcc");
    sbtest.load(&SMALL, IfOther::Refuse).unwrap();
    let tpcc = Population {
        warehouses: 1,
        seed: 1,
    };
    let load = super::load;
    let loaded = load(
        &sbtest.shared.conninfo(),
        sbtest.schema,
        tpcc,
        IfOther::Refuse,
        &LoadControl::default(),
    )
    .unwrap();
    assert_eq!(loaded, Loaded::Fresh);
    assert_eq!(
        sbtest.load(&SMALL, IfOther::Refuse).unwrap(),
        Loaded::Reused
    );
    sbtest.assert_holds(&SMALL);
    sbtest
        .client()
        .query_drop(format!("DROP DATABASE {}", sbtest.schema))
        .unwrap();
}

#[test]
fn sysbench_itself_works_on_plimsolls_tables() {
    let sbtest = MariadbSysbenchSchema::new("sysbench_theirs_on_ours");
    sbtest.load(&SMALL, IfOther::Refuse).unwrap();
    for script in Script::ALL.into_iter().filter(|script| script.keeps_rows()) {
        let output_text = sbtest.sysbench(script, "run");
        assert!(
            output_text.contains("total number of events:              100"),
            "{output_text}"
        );
        sbtest.assert_holds(&Sysbench { script, ..SMALL });
    }
    for script in [Script::Insert, Script::Delete] {
        sbtest
            .load(&Sysbench { script, ..SMALL }, IfOther::Refuse)
            .unwrap();
        sbtest.sysbench(script, "run");
        sbtest.assert_holds(&Sysbench { script, ..SMALL });
    }
}

#[test]
fn plimsoll_works_on_tables_that_sysbench_prepared_and_keeps_them() {
    let sbtest = MariadbSysbenchSchema::new("sysbench_ours_on_theirs");
    sbtest.create_schema();
    sbtest.sysbench(Script::ReadWrite, "prepare");
    for script in Script::ALL.into_iter().filter(|script| script.keeps_rows()) {
        let sysbench = Sysbench { script, ..SMALL };
        assert_eq!(
            sbtest.load(&sysbench, IfOther::Replace).unwrap(),
            Loaded::Reused
        );
        sbtest.work(&sysbench, 0, 20);
        sbtest.assert_holds(&sysbench);
    }
    for (other, output_text) in [
        (
            Sysbench { rows: 499, ..SMALL },
            "500 rows in sbtest1, and the plan wants 499",
        ),
        (
            Sysbench { tables: 3, ..SMALL },
            "2 of 3 tables, sbtest3 is missing",
        ),
    ] {
        let error = sbtest.load(&other, IfOther::Replace).unwrap_err();
        assert!(matches!(&error, LoadError::Occupied { .. }), "{error}");
        assert!(
            error.to_string().contains(output_text)
                && error.to_string().contains("`tables` and `rows`"),
            "{error}"
        );
    }
    let rows: i64 = one(&mut sbtest.client(), "SELECT count(*) FROM sbtest2");
    assert_eq!(rows, 500, "nothing of theirs was replaced");
}

/// The columns, keys, indexes and options are those that sysbench makes.
#[test]
fn the_tables_are_made_as_sysbench_makes_them() {
    let (ours, theirs) = (
        MariadbSysbenchSchema::new("sysbench_ours"),
        MariadbSysbenchSchema::new("sysbench_theirs"),
    );
    ours.load(&SMALL, IfOther::Refuse).unwrap();
    theirs.create_schema();
    theirs.sysbench(Script::ReadWrite, "prepare");
    let described = |sbtest: &MariadbSysbenchSchema| {
        let tables = ["sbtest1", "sbtest2"];
        tables.map(|table| {
            texts(&mut sbtest.client(), &format!("SHOW CREATE TABLE {table}")).concat()
        })
    };
    let (our_tables, their_tables) = (described(&ours), described(&theirs));
    assert!(
        our_tables[0][1].contains("ENGINE=InnoDB AUTO_INCREMENT=501"),
        "{our_tables:?}"
    );
    assert_eq!(our_tables, their_tables);
    let forms = "SELECT count(*) FROM sbtest1 WHERE c REGEXP '^([0-9]{11}-){9}[0-9]{11}$' \
                 AND pad REGEXP '^([0-9]{11}-){4}[0-9]{11}$' AND k BETWEEN 1 AND 500";
    assert_eq!(
        [&ours, &theirs].map(|sbtest| one::<i64>(&mut sbtest.client(), forms)),
        [500, 500]
    );
}

#[test]
fn a_wrong_table_is_found() {
    let sbtest = MariadbSysbenchSchema::new("sysbench_wrong");
    sbtest.load(&SMALL, IfOther::Refuse).unwrap();
    let failing = |sql: &str| {
        sbtest.client().query_drop(sql).unwrap();
        let verdicts = check(&sbtest.shared.conninfo(), sbtest.schema, &SMALL).unwrap();
        verdicts
            .iter()
            .filter(|verdict| !verdict.holds)
            .map(|verdict| verdict.clause)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        failing("UPDATE sbtest2 SET c = 'cut' WHERE id = 5"),
        ["values"]
    );
    assert_eq!(
        failing("UPDATE sbtest2 SET id = 501 WHERE id = 5"),
        ["ids", "values"]
    );
    assert_eq!(
        failing("DELETE FROM sbtest2 WHERE id = 501"),
        ["rows", "ids"]
    );
    sbtest.client().query_drop("DROP TABLE sbtest2").unwrap();
    let gone = [
        check(&sbtest.shared.conninfo(), sbtest.schema, &SMALL).err(),
        MariadbSession::open_sysbench(&sbtest.shared.conninfo(), sbtest.schema, &SMALL).err(),
    ];
    assert!(
        gone.iter()
            .all(|error| matches!(error, Some(LoadError::Missing { .. }))),
        "{gone:?}"
    );
}

#[test]
fn a_transaction_begins_with_its_first_statement_and_a_single_statement_is_one() {
    let sbtest = MariadbSysbenchSchema::new("sysbench_trips");
    sbtest.load(&SMALL, IfOther::Refuse).unwrap();
    for (script, trips) in [
        (Script::ReadWrite, 19),
        (Script::ReadOnly, 15),
        (Script::PointSelect, 1),
        (Script::UpdateIndex, 1),
    ] {
        let sysbench = Sysbench { script, ..SMALL };
        let mut session = sbtest.session(&sysbench);
        let input = Source::new(&Workload::Sysbench(sysbench), 7, 0, 0).next();
        assert_eq!(run(&mut session, &input), Ok(TxnEnd::Committed));
        assert_eq!(session.take_round_trips(), trips, "{script:?}");
    }
}

/// What was done before it is undone, and the session is fit for the next one.
#[test]
fn a_long_wait_is_rolled_back_as_a_whole_and_may_be_tried_again() {
    let sbtest = MariadbSysbenchSchema::new("sysbench_waits");
    let sysbench = Sysbench {
        script: Script::WriteOnly,
        tables: 1,
        ..SMALL
    };
    sbtest.load(&sysbench, IfOther::Refuse).unwrap();
    let sums = "SELECT CAST(sum(k) AS SIGNED) FROM sbtest1";
    let mut client = sbtest.client();
    let before: i64 = one(&mut client, sums);
    let mut session = sbtest.session(&sysbench);
    session.set("SET innodb_lock_wait_timeout = 1");
    let input = Source::new(&Workload::Sysbench(sysbench), 7, 0, 0).next();
    let Input::Sysbench(ref operations) = input else {
        unreachable!()
    };
    let Operation::Insert { id, .. } = operations.operations[3] else {
        panic!("{operations:?}")
    };
    client.query_drop("BEGIN").unwrap();
    client
        .query_drop(format!("SELECT 1 FROM sbtest1 WHERE id = {id} FOR UPDATE"))
        .unwrap();
    let end = run(&mut session, &input);
    assert!(
        matches!(&end, Err(SessionError::Retry(why)) if why.contains("1205")),
        "{end:?}"
    );
    client.query_drop("ROLLBACK").unwrap();
    assert_eq!(one::<i64>(&mut client, sums), before);
    assert_eq!(run(&mut session, &input), Ok(TxnEnd::Committed));
    sbtest.assert_holds(&sysbench);
}

/// The error of innodb_snapshot_isolation, raised by a trigger: older servers do not have that setting.
#[test]
fn a_row_changed_since_the_snapshot_may_be_tried_again() {
    let sbtest = MariadbSysbenchSchema::new("sysbench_snapshot");
    sbtest.load(&SMALL, IfOther::Refuse).unwrap();
    let raise =
        "SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1020, MESSAGE_TEXT = 'Record has changed'";
    let trigger = format!("CREATE TRIGGER changed BEFORE UPDATE ON sbtest1 FOR EACH ROW {raise}");
    sbtest.client().query_drop(trigger).unwrap();
    let sysbench = Sysbench {
        script: Script::UpdateIndex,
        tables: 1,
        ..SMALL
    };
    let input = Source::new(&Workload::Sysbench(sysbench), 7, 0, 0).next();
    let end = run(&mut sbtest.session(&sysbench), &input);
    assert!(
        matches!(&end, Err(SessionError::Retry(why)) if why.contains("1020")),
        "{end:?}"
    );
}
