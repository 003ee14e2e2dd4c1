//! sysbench's scripts: every one leaves what it can leave, and plimsoll's data and statements are interchangeable with
//! those of sysbench itself, which has to be installed.

use std::process::Command;

use plimsoll_model::plan::resolved::{Distribution, Script, Sysbench, Workload};

use super::*;
use crate::engine::postgres::sysbench::{check, load};
use crate::workload::Source;

const SMALL: Sysbench = Sysbench {
    script: Script::ReadWrite,
    tables: 2,
    rows: 500,
    distribution: Distribution::Uniform,
    point_selects: 10,
    range_size: 100,
};

/// A server with a schema that no other test uses.
struct Place {
    shared: Arc<Shared>,
    schema: &'static str,
}

impl Place {
    fn new(schema: &'static str) -> Self {
        Self { shared: Shared::get(), schema }
    }

    fn load(&self, sysbench: &Sysbench, if_other: IfOther) -> Result<Loaded, LoadError> {
        load(&self.shared.conninfo(), self.schema, sysbench, 7, if_other, &LoadControl::default())
    }

    /// Works as one user for a number of transactions. What has to be tried again is not.
    async fn work(&self, sysbench: &Sysbench, user: u32, transactions: u32) {
        let conninfo = self.shared.conninfo();
        let mut session = PostgresSession::open_sysbench(&conninfo, self.schema, sysbench).await.unwrap();
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
        assert!(verdicts.len() == 3 && verdicts.iter().all(|verdict| verdict.holds), "{verdicts:#?}");
    }

    async fn one<T: FromSqlOwned>(&self, sql: &str) -> T {
        let client = connect(&self.shared.conninfo()).await.unwrap();
        client.batch_execute(&search_path(self.schema)).await.unwrap();
        one(&client, sql).await
    }

    /// sysbench itself, on the same tables; what it printed.
    fn sysbench(&self, script: Script, command: &str) -> String {
        let config = connect::parse(&self.shared.conninfo()).unwrap();
        let [tokio_postgres::config::Host::Unix(socket)] = config.get_hosts() else { panic!("{config:?}") };
        let output = Command::new("sysbench")
            .arg(format!("oltp_{}", script.name()))
            .args(["--db-driver=pgsql", "--threads=2", "--events=100", "--time=0"])
            .arg(format!("--pgsql-host={}", socket.display()))
            .arg(format!("--pgsql-port={}", config.get_ports().first().unwrap_or(&5432)))
            .arg(format!("--pgsql-user={}", config.get_user().unwrap()))
            .arg(format!("--pgsql-db={}", config.get_dbname().unwrap()))
            .args([format!("--tables={}", SMALL.tables), format!("--table_size={}", SMALL.rows)])
            .args(["--rand-type=uniform", command])
            .env("PGOPTIONS", format!("-csearch_path={}", self.schema))
            .env("PGPASSWORD", String::from_utf8_lossy(config.get_password().unwrap_or_default()).as_ref())
            .output()
            .expect("sysbench is installed");
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && !said.contains("FATAL"), "{script:?} {command}: {said}");
        said
    }
}

#[test]
fn every_script_leaves_what_it_can_leave() {
    let place = Place::new("sysbench_scripts");
    for script in Script::ALL {
        let sysbench = Sysbench { script, ..SMALL };
        place.load(&sysbench, IfOther::Replace).unwrap();
        block_on(futures_util::future::join(place.work(&sysbench, 0, 50), place.work(&sysbench, 1, 50)));
        place.assert_holds(&sysbench);
        let rows: i64 = block_on(place.one("SELECT (SELECT count(*) FROM sbtest1) + (SELECT count(*) FROM sbtest2)"));
        match script {
            Script::Insert => assert_eq!(rows, 1_100),
            Script::Delete => assert!((900..1_000).contains(&rows), "{rows}"),
            _ => assert_eq!(rows, 1_000),
        }
    }
}

#[test]
fn a_data_set_is_used_again_while_its_rows_are_all_there() {
    let place = Place::new("sysbench_again");
    let load = |script| place.load(&Sysbench { script, ..SMALL }, IfOther::Refuse).unwrap();
    assert_eq!(load(Script::ReadWrite), Loaded::Fresh);
    assert_eq!(load(Script::UpdateIndex), Loaded::Reused);
    assert_eq!(load(Script::Insert), Loaded::Reused);
    assert_eq!(load(Script::Insert), Loaded::Fresh, "rows were added");
    assert_eq!(load(Script::ReadOnly), Loaded::Fresh);
    let more = Sysbench { rows: 501, ..SMALL };
    let error = place.load(&more, IfOther::Refuse).unwrap_err();
    assert!(matches!(&error, LoadError::Occupied { .. }), "{error}");
    assert!(error.to_string().contains("2 of 500 rows, uniform, seed 7"), "{error}");
    assert_eq!(place.load(&more, IfOther::Replace).unwrap(), Loaded::Fresh);
    place.assert_holds(&more);
}

#[test]
fn sysbench_itself_works_on_plimsolls_tables() {
    let place = Place::new("sysbench_theirs_on_ours");
    place.load(&SMALL, IfOther::Refuse).unwrap();
    for script in Script::ALL.into_iter().filter(|script| script.keeps_rows()) {
        let said = place.sysbench(script, "run");
        assert!(said.contains("total number of events:              100"), "{said}");
        place.assert_holds(&Sysbench { script, ..SMALL });
    }
    for script in [Script::Insert, Script::Delete] {
        place.load(&Sysbench { script, ..SMALL }, IfOther::Refuse).unwrap();
        place.sysbench(script, "run");
        place.assert_holds(&Sysbench { script, ..SMALL });
    }
}

#[test]
fn plimsoll_works_on_tables_that_sysbench_prepared_and_keeps_them() {
    let place = Place::new("sysbench_ours_on_theirs");
    let create = "CREATE SCHEMA sysbench_ours_on_theirs";
    block_on(async { place.shared.client().await.batch_execute(create).await.unwrap() });
    place.sysbench(Script::ReadWrite, "prepare");
    for script in Script::ALL.into_iter().filter(|script| script.keeps_rows()) {
        let sysbench = Sysbench { script, ..SMALL };
        assert_eq!(place.load(&sysbench, IfOther::Replace).unwrap(), Loaded::Reused);
        block_on(place.work(&sysbench, 0, 20));
        place.assert_holds(&sysbench);
    }
    for (other, said) in [
        (Sysbench { rows: 499, ..SMALL }, "500 rows in sbtest1, and the plan says 499"),
        (Sysbench { tables: 3, ..SMALL }, "2 of 3 tables, sbtest3 is missing"),
    ] {
        let error = place.load(&other, IfOther::Replace).unwrap_err();
        assert!(matches!(&error, LoadError::Occupied { .. }), "{error}");
        assert!(error.to_string().contains(said) && error.to_string().contains("`tables` and `rows`"), "{error}");
    }
    assert_eq!(block_on(place.one::<i64>("SELECT count(*) FROM sbtest2")), 500, "nothing of theirs was replaced");
}

/// The columns, keys and indexes are those that sysbench makes.
#[test]
fn the_tables_are_made_as_sysbench_makes_them() {
    let (ours, theirs) = (Place::new("sysbench_ours"), Place::new("sysbench_theirs"));
    ours.load(&SMALL, IfOther::Refuse).unwrap();
    block_on(async { ours.shared.client().await.batch_execute("CREATE SCHEMA sysbench_theirs").await.unwrap() });
    theirs.sysbench(Script::ReadWrite, "prepare");
    let described = |place: &Place| {
        let columns = "SELECT string_agg(concat_ws(' ', table_name, column_name, data_type, is_nullable, \
                       character_maximum_length, replace(column_default, table_schema || '.', '')), ', ' \
                       ORDER BY table_name, ordinal_position) FROM information_schema.columns \
                       WHERE table_schema = current_schema AND table_name LIKE 'sbtest%'";
        let indexes = "SELECT string_agg(replace(indexdef, schemaname || '.', ''), ', ' ORDER BY indexname) \
                       FROM pg_indexes WHERE schemaname = current_schema";
        let last = "SELECT string_agg(sequencename || ' ' || last_value, ', ' ORDER BY 1) FROM pg_sequences \
                    WHERE schemaname = current_schema";
        let last = last.replace("ORDER BY 1", "ORDER BY sequencename");
        [columns, indexes, &last].map(|sql| block_on(place.one::<String>(sql)))
    };
    assert_eq!(described(&ours), described(&theirs));
    let forms = "SELECT count(*) FROM sbtest1 WHERE c ~ '^(\\d{11}-){9}\\d{11} *$' AND pad ~ '^(\\d{11}-){4}\\d{11} *$' \
                 AND k BETWEEN 1 AND 500";
    assert_eq!([&ours, &theirs].map(|place| block_on(place.one::<i64>(forms))), [500, 500]);
}

#[test]
fn a_wrong_table_is_found() {
    let place = Place::new("sysbench_wrong");
    place.load(&SMALL, IfOther::Refuse).unwrap();
    let failing = |sql: &str| {
        block_on(async {
            let client = connect(&place.shared.conninfo()).await.unwrap();
            client.batch_execute(&search_path(place.schema)).await.unwrap();
            client.batch_execute(sql).await.unwrap();
        });
        let verdicts = check(&place.shared.conninfo(), place.schema, &SMALL).unwrap();
        verdicts.iter().filter(|verdict| !verdict.holds).map(|verdict| verdict.clause).collect::<Vec<_>>()
    };
    assert_eq!(failing("UPDATE sbtest2 SET c = 'cut' WHERE id = 5"), ["values"]);
    assert_eq!(failing("UPDATE sbtest2 SET id = 501 WHERE id = 5"), ["ids", "values"]);
    assert_eq!(failing("DELETE FROM sbtest2 WHERE id = 501"), ["rows", "ids"]);
}

#[test]
fn begin_travels_with_the_first_statement() {
    let place = Place::new("sysbench_trips");
    place.load(&SMALL, IfOther::Refuse).unwrap();
    for (script, trips) in [(Script::ReadWrite, 19), (Script::ReadOnly, 15), (Script::PointSelect, 1)] {
        let sysbench = Sysbench { script, ..SMALL };
        block_on(async {
            let conninfo = place.shared.conninfo();
            let mut session = PostgresSession::open_sysbench(&conninfo, place.schema, &sysbench).await.unwrap();
            let input = Source::new(&Workload::Sysbench(sysbench), 7, 0, 0).next();
            assert_eq!(session.run(&input).await, Ok(TxnEnd::Committed));
            assert_eq!(session.take_round_trips(), trips, "{script:?}");
        });
    }
}
