//! sysbench's scripts: every one leaves what it can leave, and plimsoll's data and statements are interchangeable with
//! those of sysbench itself, which has to be installed.

use std::process::Command;

use plimsoll_plan::resolved::{Distribution, Script, Sysbench};

use super::*;
use crate::workload::Source;

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
struct PostgresSysbenchSchema {
    shared: Arc<Shared>,
    schema: &'static str,
}

impl PostgresSysbenchSchema {
    fn new(schema: &'static str) -> Self {
        Self {
            shared: Shared::get(),
            schema,
        }
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

    /// Works as one user for a number of transactions. What has to be tried again is not.
    async fn work(&self, sysbench: &Sysbench, user: u32, transactions: u32) {
        let conninfo = self.shared.conninfo();
        let mut session = PostgresSession::open_sysbench(&conninfo, self.schema, sysbench)
            .await
            .unwrap();
        let mut source = Source::new(&Workload::Sysbench(*sysbench), 7, 0, user);
        for _ in 0..transactions {
            match session.run(&source.next()).await {
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

    async fn one<T: FromSqlOwned>(&self, sql: &str) -> T {
        let client = connect(&self.shared.conninfo()).await.unwrap();
        client
            .batch_execute(&search_path(self.schema))
            .await
            .unwrap();
        one(&client, sql).await
    }

    /// sysbench itself, on the same tables; what it printed.
    fn sysbench(&self, script: Script, command: &str) -> String {
        let config = connect::parse(&self.shared.conninfo()).unwrap();
        let [tokio_postgres::config::Host::Unix(socket)] = config.get_hosts() else {
            panic!("{config:?}")
        };
        let output = Command::new("sysbench")
            .arg(format!("oltp_{}", script.name()))
            .args([
                "--db-driver=pgsql",
                "--threads=2",
                "--events=100",
                "--time=0",
            ])
            .arg(format!("--pgsql-host={}", socket.display()))
            .arg(format!(
                "--pgsql-port={}",
                config.get_ports().first().unwrap_or(&5432)
            ))
            .arg(format!("--pgsql-user={}", config.get_user().unwrap()))
            .arg(format!("--pgsql-db={}", config.get_dbname().unwrap()))
            .args([
                format!("--tables={}", SMALL.tables),
                format!("--table_size={}", SMALL.rows),
            ])
            .args(["--rand-type=uniform", command])
            .env("PGOPTIONS", format!("-csearch_path={}", self.schema))
            .env(
                "PGPASSWORD",
                String::from_utf8_lossy(config.get_password().unwrap_or_default()).as_ref(),
            )
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
    let sbtest = PostgresSysbenchSchema::new("sysbench_scripts");
    for script in Script::ALL {
        let sysbench = Sysbench { script, ..SMALL };
        sbtest.load(&sysbench, IfOther::Replace).unwrap();
        block_on(futures_util::future::join(
            sbtest.work(&sysbench, 0, 50),
            sbtest.work(&sysbench, 1, 50),
        ));
        sbtest.assert_holds(&sysbench);
        let rows: i64 = block_on(
            sbtest.one("SELECT (SELECT count(*) FROM sbtest1) + (SELECT count(*) FROM sbtest2)"),
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
    let sbtest = PostgresSysbenchSchema::new("sysbench_again");
    let load = |script| {
        sbtest
            .load(&Sysbench { script, ..SMALL }, IfOther::Refuse)
            .unwrap()
    };
    assert_eq!(load(Script::ReadWrite), Loaded::Fresh);
    assert_eq!(load(Script::UpdateIndex), Loaded::Reused);
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
fn sysbench_itself_works_on_plimsolls_tables() {
    let sbtest = PostgresSysbenchSchema::new("sysbench_theirs_on_ours");
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
    let sbtest = PostgresSysbenchSchema::new("sysbench_ours_on_theirs");
    let create = "CREATE SCHEMA sysbench_ours_on_theirs";
    block_on(async {
        sbtest
            .shared
            .client()
            .await
            .batch_execute(create)
            .await
            .unwrap()
    });
    sbtest.sysbench(Script::ReadWrite, "prepare");
    for script in Script::ALL.into_iter().filter(|script| script.keeps_rows()) {
        let sysbench = Sysbench { script, ..SMALL };
        assert_eq!(
            sbtest.load(&sysbench, IfOther::Replace).unwrap(),
            Loaded::Reused
        );
        block_on(sbtest.work(&sysbench, 0, 20));
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
    assert_eq!(
        block_on(sbtest.one::<i64>("SELECT count(*) FROM sbtest2")),
        500,
        "nothing of theirs was replaced"
    );
}

/// The columns, keys and indexes are those that sysbench makes.
#[test]
fn the_tables_are_made_as_sysbench_makes_them() {
    let (ours, theirs) = (
        PostgresSysbenchSchema::new("sysbench_ours"),
        PostgresSysbenchSchema::new("sysbench_theirs"),
    );
    ours.load(&SMALL, IfOther::Refuse).unwrap();
    block_on(async {
        ours.shared
            .client()
            .await
            .batch_execute("CREATE SCHEMA sysbench_theirs")
            .await
            .unwrap()
    });
    theirs.sysbench(Script::ReadWrite, "prepare");
    let described = |sbtest: &PostgresSysbenchSchema| {
        let columns = "SELECT string_agg(concat_ws(' ', table_name, column_name, data_type, is_nullable, \
                       character_maximum_length, replace(column_default, table_schema || '.', '')), ', ' \
                       ORDER BY table_name, ordinal_position) FROM information_schema.columns \
                       WHERE table_schema = current_schema AND table_name LIKE 'sbtest%'";
        let indexes = "SELECT string_agg(replace(indexdef, schemaname || '.', ''), ', ' ORDER BY indexname) \
                       FROM pg_indexes WHERE schemaname = current_schema";
        let last = "SELECT string_agg(sequencename || ' ' || last_value, ', ' ORDER BY 1) FROM pg_sequences \
                    WHERE schemaname = current_schema";
        let last = last.replace("ORDER BY 1", "ORDER BY sequencename");
        [columns, indexes, &last].map(|sql| block_on(sbtest.one::<String>(sql)))
    };
    assert_eq!(described(&ours), described(&theirs));
    let forms = "SELECT count(*) FROM sbtest1 WHERE c ~ '^(\\d{11}-){9}\\d{11} *$' AND pad ~ '^(\\d{11}-){4}\\d{11} *$' \
                 AND k BETWEEN 1 AND 500";
    assert_eq!(
        [&ours, &theirs].map(|sbtest| block_on(sbtest.one::<i64>(forms))),
        [500, 500]
    );
}

#[test]
fn a_wrong_table_is_found() {
    let sbtest = PostgresSysbenchSchema::new("sysbench_wrong");
    sbtest.load(&SMALL, IfOther::Refuse).unwrap();
    let failing = |sql: &str| {
        block_on(async {
            let client = connect(&sbtest.shared.conninfo()).await.unwrap();
            client
                .batch_execute(&search_path(sbtest.schema))
                .await
                .unwrap();
            client.batch_execute(sql).await.unwrap();
        });
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
}

#[test]
fn begin_travels_with_the_first_statement() {
    let sbtest = PostgresSysbenchSchema::new("sysbench_trips");
    sbtest.load(&SMALL, IfOther::Refuse).unwrap();
    for (script, trips) in [
        (Script::ReadWrite, 19),
        (Script::ReadOnly, 15),
        (Script::PointSelect, 1),
    ] {
        let sysbench = Sysbench { script, ..SMALL };
        block_on(async {
            let conninfo = sbtest.shared.conninfo();
            let mut session = PostgresSession::open_sysbench(&conninfo, sbtest.schema, &sysbench)
                .await
                .unwrap();
            let input = Source::new(&Workload::Sysbench(sysbench), 7, 0, 0).next();
            assert_eq!(session.run(&input).await, Ok(TxnEnd::Committed));
            assert_eq!(session.take_round_trips(), trips, "{script:?}");
        });
    }
}
